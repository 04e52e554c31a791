"""The commands that read profiles: what they print (tests/golden/), and what they say to bad input.

UPDATE_GOLDEN=1 writes the golden files instead of comparing with them; `git diff` then shows what changed.
"""
import csv
import functools
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tests/golden"
INPUTS = GOLDEN / "inputs"
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
MAKE_PROFILE = str(BUILD / "tests/unit/make_profile")
SECONDS_ALLOWED = 60
COMMANDS = ("record", "trace", "report", "explore", "info", "whatif", "diff", "import", "export", "help")


def run(*words, directory=None, stdin=subprocess.DEVNULL, text=True, **environment):
	return subprocess.run([CPPROF, *map(str, words)], cwd=directory, stdin=stdin, capture_output=True, text=text,
		timeout=SECONDS_ALLOWED, env={**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8", **environment})


def done(*words, **options):
	result = run(*words, **options)
	assert result.returncode == 0, result.stderr
	return result.stdout


@pytest.fixture(scope="session")
def profiles(tmp_path_factory):
	"""A directory with one profile for each input: NAME.data."""
	directory = tmp_path_factory.mktemp("profiles")
	for source in sorted(INPUTS.glob("*.folded")):
		done("import", "--format", "folded", "-o", directory / f"{source.stem}.data", source)
	for kind in ("whole", "killed", "lossy", "empty", "programs", "program", "server", "labels"):
		subprocess.run([MAKE_PROFILE, kind, directory / f"{kind}.data"], check=True)
	# The source that the made profiles speak of, where they are looked for: below the current directory.
	(directory / "inputs").mkdir()
	(directory / "inputs/demo.cpp").write_text((INPUTS / "demo.cpp").read_text())
	return directory


# (input, command line without the profile's name); the golden file's name comes from both.
TABLE = [
	("forms", "report"),
	("forms", "report --functions --threshold 17.2%"),
	("forms", "report --body"),
	("forms", "report --up db_read_record --threshold 0.1"),
	("forms", "report --up db_read_record --threshold 0.1 --limit 3"),
	("forms", "report --down main --limit 0 --threshold 0"),
	("forms", "report --tree --limit 0 --threshold 0"),
	("forms", "report --tree --limit 8"),
	("forms", "report --tree --threshold 5% --format json"),
	("forms", "report --tree --limit 3 --format csv"),
	("forms", "report --down invoice --format json"),
	("forms", "report --down invoice --format csv"),
	("recursion", "report"),
	("recursion", "report --down a"),
	("recursion", "report --up a"),
	("recursion", "report --tree"),
	("recursion", "export --format folded"),
	("names", "report"),
	("names", "report --down main --format json"),
	("names", "report --down main --format csv"),
	("names", "report --tree"),
	("whole", "report"),
	("whole", "report --down main"),
	("whole", "report --down main --no-inlines -r cpu"),
	("whole", "report --down main --by callsite -r cpu"),
	("whole", "report --functions --by line -r cpu"),
	("whole", "report --functions --by module -r cpu"),
	("whole", "report --down main --untrimmed -r cpu"),
	("whole", "report --down _start --untrimmed -r cpu"),
	("whole", "report --body -r page-faults -r cpu"),
	("whole", "report -r cpu --format json"),
	("whole", "report --format json"),
	("whole", "report --format csv"),
	("whole", "report --thread 101 -r cpu"),
	("whole", "report --thread helper -r cpu"),
	("whole", "report --process helper -r cpu"),
	("whole", "report --process 100 -r cpu"),
	("whole", "report -r cpu --from 0.2 --to 0.35"),
	("whole", "report -r cpu --from 2"),
	("whole", "report --source ns::sort -r cpu"),
	("whole", "report --source work -r cpu"),
	("whole", "report --source main -r cpu --format json"),
	("whole", "report --source main -r cpu --format csv"),
	("whole", "report --source qsort -r cpu"),
	("whole", "report --up qsort"),
	("whole", "info"),
	("whole", "info --format json"),
	("lossy", "info"),
	("empty", "info"),
	("empty", "report"),
	("empty", "report --down main"),
	("empty", "report --tree --format json"),
	("empty", "report --format csv"),
	("server", "report --down main"),
	("server", "report --down main --no-stitch -r page-faults"),
	("server", "report --tree --untrimmed -r page-faults"),
	("server", "report --process helper -r page-faults"),
	("server", "report --process 300 --process 310 -r page-faults"),
	("server", "report --cgroup /system.slice -r page-faults"),
	("server", "report --cgroup user* -r page-faults"),
	("server", "report --pages"),
	("server", "report --pages --format json --thread worker"),
	("server", "report --pages --format csv --limit 1"),
	("server", "report --pages --by callsite --threshold 10% --process server"),
	("server", "report --pages --no-stitch --to 0.002"),
	("server", "export -r page-faults"),
	("server", "export -r page-faults --no-stitch"),
	("server", "info"),
	("server", "info --format json"),
	("labels", "report --by-label"),
	("labels", "report --by-label tenant -r cpu"),
	("labels", "report --by-label=kind --format json"),
	("labels", "report --by-label --format csv -r cpu --limit 3"),
	("labels", "report --by-label tenant --down main -r cpu --threshold 0.1"),
	("labels", "report --by-label tenant --body -r cpu --limit 2"),
	("labels", "report --by-label tenant --body -r cpu --limit 2 --format json"),
	("labels", "report --by-label --tree -r page-faults --limit 2 --format csv"),
	("labels", "report --label tenant=acme --label kind=buy -r cpu"),
	("labels", "report --label kind=search --label kind=buy --by-label -r cpu"),
	("labels", "whatif main;sort;qsort=0 -r cpu --label tenant"),
	("labels", "info"),
	("labels", "info --format json"),
	("whole", "report --down qsort --by callsite -r cpu"),
	("whole", "report --up sort --by line -r cpu"),
	("whole", "report --down compare"),
	("whole", "report --source compare -r calls"),
	("whole", "export -r cpu"),
	("whole", "export -r page-faults --untrimmed --no-inlines"),
	("forms", "whatif main;invoice=0"),
	("forms", "whatif main;invoice=0.5 main;invoice;address_information=0 db_update_record=50%"),
	("forms", "whatif main;invoice=0.5 main;envelope=0 --format json"),
	("forms", "whatif main;invoice=0.5 main;envelope=0 --format csv"),
	("whole", "whatif main;sort;qsort=0"),
	("whole", "whatif main;print=2 -r cpu"),
	("forms recursion", "diff"),
	("whole empty", "diff -r cpu"),
	("whole lossy", "diff -r cpu --body"),
	("recursion forms", "diff --down main --format json"),
	("recursion forms", "diff --limit 2 --format csv"),
	("recursion forms", "diff --functions --limit 3"),
]


def slug(inputs, line):
	return re.sub(r"[^A-Za-z0-9.%_=-]+", "_", f"{inputs} {line}").strip("_")


def golden_command(inputs, line):
	command, *flags = line.split()
	files = [f"{name}.data" for name in inputs.split()]
	return [command, *files, *flags]


def compare_golden(path, actual):
	if os.environ.get("UPDATE_GOLDEN"):
		path.write_text(actual)
	assert path.exists(), f"{path} is missing: UPDATE_GOLDEN=1 writes it"
	assert actual == path.read_text()


def without_what_varies(text):
	"""A compressor of another version may make a file of another size."""
	text = re.sub(r'^size: .*$', "size:         (size)", text, flags=re.MULTILINE)
	return re.sub(r'"file_bytes": \d+', '"file_bytes": 1', text)


@pytest.mark.parametrize("inputs,line", TABLE, ids=lambda value: value)
def test_golden(profiles, inputs, line):
	actual = done(*golden_command(inputs, line), directory=profiles)
	compare_golden(GOLDEN / f"{slug(inputs, line)}.txt", without_what_varies(actual))


def test_golden_files_are_all_used():
	expected = {f"{slug(*row)}.txt" for row in TABLE}
	assert {path.name for path in GOLDEN.glob("*.txt")} == expected


@pytest.mark.parametrize("inputs,line", [row for row in TABLE if "json" in row[1]], ids=lambda value: value)
def test_json_is_json(profiles, inputs, line):
	json.loads(done(*golden_command(inputs, line), directory=profiles))


@pytest.mark.parametrize("inputs,line", [row for row in TABLE if "csv" in row[1]], ids=lambda value: value)
def test_csv_is_a_table(profiles, inputs, line):
	rows = list(csv.reader(io.StringIO(done(*golden_command(inputs, line), directory=profiles)), strict=True))
	assert all(len(row) == len(rows[0]) for row in rows)


def test_json_keeps_what_text_shows(profiles):
	report = json.loads(done("report", "--down", "main", "--format", "json", "names.data", directory=profiles))
	names = {entry["path"][-1] for entry in report["entries"]}
	assert {'"quoted", or not', "back\\slash", "\ufffd\ufffdbroken", "\x1b[31mred\x07", "café"} <= names
	assert report["total_hits"] == 14


def test_text_has_no_control_characters(profiles):
	for command in (["report"], ["report", "--tree"], ["info"]):
		for name in ("names", "lossy"):
			text = done(*command, f"{name}.data", directory=profiles)
			assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), (command, name)


# --- what was wrong with the recording ---


def test_lossless_profile_has_no_warning(profiles):
	assert run("report", "whole.data", directory=profiles).stderr == ""


def test_losses_are_told(profiles):
	result = run("report", "lossy.data", directory=profiles)
	assert result.returncode == 0
	assert re.fullmatch(r"cpprof report: warning: lossy.data: 17 samples were lost .* only 88\.40 % .*\n", result.stderr)


def test_killed_recorder_is_told(profiles):
	result = run("report", "killed.data", directory=profiles)
	assert result.returncode == 0
	assert "killed.data: the recording is incomplete: it ends after" in result.stderr
	assert "naming 8 addresses" in result.stderr
	assert "demo+0x" in result.stdout


def test_missing_source_is_told(profiles, tmp_path):
	result = run("report", "--source", "work", "-r", "cpu", profiles / "whole.data", directory=tmp_path)
	assert result.returncode == 0
	assert "source file '/nowhere/demo/inputs/demo.cpp' was not found" in result.stderr
	assert re.search(r"^ +0\.\d+ ±0\.\d+ +0\.\d+ ±0\.\d+ +41 +30$", result.stdout, re.MULTILINE)


# --- the words ---


def test_help_lists_every_command():
	text = done("--help")
	assert done() == text
	assert done("help") == text
	for command in COMMANDS:
		assert re.search(rf"^  {command} ", text, re.MULTILINE)
	assert not re.search(r"^  (man|completion) ", text, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
	text = done(command, "--help")
	assert text == done(command, "-h") == done("help", command)
	assert text.startswith(f"cpprof {command}: ")
	assert "--help" in text
	assert max(map(len, text.splitlines())) <= 110


def test_version():
	assert re.fullmatch(r"cpprof \d+\.\d+\.\d+\n", done("--version"))


WRONG_WORDS = [
	(["repotr"], "cpprof: unknown command 'repotr' (did you mean 'report'?)"),
	(["xyzzy"], "cpprof: unknown command 'xyzzy'; try 'cpprof --help'"),
	(["--verbose"], "unknown option '--verbose'"),
	(["help", "repotr"], "did you mean 'report'?"),
	(["report", "--forma", "json"],
		"cpprof report: unknown option '--forma' (did you mean '--format'?)"),
	(["report", "--xyzzy"], "cpprof report: unknown option '--xyzzy'; try 'cpprof report --help'"),
	(["report", "-fz"], "unknown option '-z'"),
	(["report", "--down"], "option '--down' needs a value: FN"),
	(["report", "-d"], "option '-d' needs a value: FN"),
	(["report", "--tree=yes"], "option '--tree' takes no value"),
	(["report", "--tree", "--body"], "--tree and --body do not go together"),
	(["report", "--source", "main", "--limit", "3"], "--limit does not go with it"),
	(["report", "--threshold", "2"], "threshold"),
	(["report", "--threshold", "-1"], "threshold"),
	(["report", "--threshold", "nan"], "threshold"),
	(["report", "--limit", "many"], "limit"),
	(["report", "--limit", "99999999999999999999"], "limit"),
	(["report", "--by", "colour"], "function, callsite, line, module or group"),
	(["report", "--format", "xml"], "unknown format 'xml': text, json or csv"),
	(["report", "--from", "soon"], "'soon'"),
	(["report", "--from", "2", "--to", "1"], "empty"),
	(["report", "whole.data", "whole.data"], "one argument too many: 'whole.data'"),
	(["info", "--format", "csv"], "--format text or json"),
	(["whatif"], "missing argument"),
	(["whatif", "whole.data"], "missing argument"),
	(["whatif", "main;qsort"], "missing argument"),
	(["whatif", "whole.data", "main;print"], "'main;qsort=0.5'"),
	(["whatif", "main;print="], "'main;qsort=0.5'"),
	(["whatif", "main;print=cheap"], "'main;qsort=0.5'"),
	(["whatif", "main;print=-1"], "'main;qsort=0.5'"),
	(["diff", "whole.data"], "missing argument"),
	(["diff", "--up", "main", "--down", "main", "whole.data", "whole.data"], "do not go together"),
	(["import"], "missing argument"),
	(["import", "--format", "pprof2", "-"], "unknown format 'pprof2'; there is: folded, gmon"),
	(["export", "--format", "svg"], "unknown format 'svg'; there is: folded, gmon, events"),
	(["export", "--format", "events", "-r", "cpu"], "--resource says nothing to the format 'events'"),
]


@pytest.fixture(scope="module")
def workplace(profiles, tmp_path_factory):
	"""A directory in which cpprof.data is the whole profile."""
	directory = tmp_path_factory.mktemp("workplace")
	for name in ("whole.data", "cpprof.data"):
		(directory / name).write_bytes((profiles / "whole.data").read_bytes())
	return directory


@pytest.mark.parametrize("words,message", WRONG_WORDS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_wrong_words(workplace, words, message):
	result = run(*words, directory=workplace)
	assert result.returncode == 2, result.stderr
	assert message in result.stderr
	assert result.stdout == ""
	assert result.stderr.count("\n") == 1


def test_options_in_every_form(workplace):
	expected = done("report", "--resource", "cpu", "--limit", "2", "--body", "cpprof.data", directory=workplace)
	for words in (["-rcpu", "-n2", "-b"], ["-brcpu", "-n", "2"], ["--resource=cpu", "whole.data", "--limit=2", "--body"],
			["-b", "-r", "cpu", "-n2", "--", "whole.data"]):
		assert done("report", *words, directory=workplace) == expected, words


def test_option_behind_two_dashes_is_a_file(workplace):
	result = run("report", "--", "--tree", directory=workplace)
	assert result.returncode == 1
	assert "--tree" in result.stderr


# --- bad input ---


def check_failure(result, *parts):
	assert result.returncode == 1, result.stderr
	assert result.stdout == ""
	for part in parts:
		assert part in result.stderr, result.stderr
	assert result.stderr.startswith("cpprof ")


def test_no_profile_yet(tmp_path):
	for command in (["report"], ["info"], ["explore"], ["whatif", "main=0"], ["export"]):
		check_failure(run(*command, directory=tmp_path), "cpprof.data", "(cpprof record COMMAND makes it)")
	check_failure(run("report", "other.data", directory=tmp_path), "other.data", "No such file")


def test_directory_for_a_profile(tmp_path):
	check_failure(run("report", tmp_path), str(tmp_path))


def test_foreign_file():
	check_failure(run("report", INPUTS / "forms.folded"), "forms.folded", "cpprof import")


def test_empty_file(tmp_path):
	(tmp_path / "a.data").touch()
	check_failure(run("report", tmp_path / "a.data"), "a.data")


def test_damaged_file(profiles, tmp_path):
	whole = (profiles / "whole.data").read_bytes()
	damaged = bytearray(whole)
	damaged[len(whole) // 2] ^= 0xff
	(tmp_path / "a.data").write_bytes(damaged)
	check_failure(run("report", tmp_path / "a.data"), "a.data")


def test_truncated_file_reads_up_to_its_cut(profiles, tmp_path):
	whole = (profiles / "whole.data").read_bytes()
	(tmp_path / "a.data").write_bytes(whole[:-7])
	result = run("info", tmp_path / "a.data")
	assert result.returncode == 0, result.stderr
	assert "warning" in result.stderr


def test_unknown_function_gets_near_ones(profiles):
	for option in ("--down", "--up", "--source"):
		check_failure(run("report", option, "qsrot", "whole.data", directory=profiles), "'qsrot'", "qsort")
	check_failure(run("whatif", "whole.data", "main;qsrot=0", directory=profiles), "'qsrot'", "qsort")


def test_near_names(tmp_path):
	names = ("qsort_r", "std::vector<int, std::allocator<int> >::push_back(int const&)", "main", "read", "uniquify_db")
	(tmp_path / "a.folded").write_text("".join(f"{name} 1\n" for name in names))
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for typed, near in {"qsrt": names[0], "qsort": names[0], "std::vector<int": names[1], "uniqify": names[4],
		"vector<int, std": names[1], "reed": "read"}.items():
		result = run("report", "--down", typed, tmp_path / "a.data")
		assert f"near: {near}\n" in result.stderr, typed
	for typed in ("xyz", "m", "zzzzzzzzzzzz", "x" * 300):
		assert "near" not in run("report", "--down", typed, tmp_path / "a.data").stderr, typed
	assert "near" not in run("explore", tmp_path / "a.data", stdin=make_input("x" * 300 + "\n")).stderr


def make_input(text):
	file = tempfile.TemporaryFile("w+")
	file.write(text)
	file.seek(0)
	return file


def test_whatif_profile_behind_the_terms(profiles):
	before = run("whatif", "forms.data", "main;invoice=0", directory=profiles)
	behind = run("whatif", "main;invoice=0", "-r", "samples", "forms.data", directory=profiles)
	assert behind.returncode == 0, behind.stderr
	assert behind.stdout == before.stdout
	check_failure(run("whatif", "main;invoice=0", "nosuch.data", directory=profiles), "nosuch.data")


def test_whatif_names_that_hold_marks(tmp_path):
	(tmp_path / "a.folded").write_text("main;a=5 2\nmain;back\\slash;x 1\nmain;operator== 1\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for term, predicted in ((r"main;a\=5=0", "0.5000"), (r"main;a=5=0", "0.5000"), (r"main;back\slash;x=0", "0.7500"),
		(r"main;back\\slash;x=0", "0.7500"), (r"main;operator===5e-1", "0.8750"), ("main=1e-1", "0.1000")):
		assert f"predicted total: {predicted}" in done("whatif", tmp_path / "a.data", term), term
	words = "whatif main;a\\=5=0 main;x=1e0\nwhatif main;back\\slash=1e-1 main;a=5=1\n"
	result = run("explore", tmp_path / "a.data", stdin=make_input(words))
	assert "predicted total: 0.5000" in result.stdout and "predicted total: 0.7750" in result.stdout
	for term in ("main=1e308", "main=inf", "main=-1", "main=1000001", r"main\=0", "main;=0"):
		result = run("whatif", tmp_path / "a.data", term)
		assert result.returncode in (1, 2) and not result.stdout, term


def test_semicolon_in_a_name(profiles):
	"""Only a recording can hold one."""
	text = done("whatif", "programs.data", r"main;finish\;all=0", "-r", "cpu", directory=profiles)
	assert "predicted total: 0.9000" in text and "(main finish;all@sort) [20] x 0" in text


def test_empty_times_are_none(profiles):
	for words in (("--from", ""), ("--to", ""), ("--from=", "--to", "2")):
		result = run("report", *words, "whole.data", directory=profiles)
		assert (result.returncode, result.stdout) == (2, "") and "a time in seconds is missing" in result.stderr


def test_empty_import_says_so(tmp_path):
	(tmp_path / "a.folded").write_text("# nothing\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	assert "no samples: what was imported has none" in done("report", tmp_path / "a.data")


def test_ambiguous_function_gets_the_list(profiles):
	result = run("report", "--down", "ns::f", "names.data", directory=profiles)
	check_failure(result, "'ns::f' fits 2 functions", "ns::f(int)", "ns::f(long)")


def test_main_is_the_main_of_every_program(profiles):
	"""Of a recording of several programs: labels stay told apart, and what has no hits does not compete."""
	text = done("report", "--down", "main", "-r", "cpu", "programs.data", directory=profiles)
	assert "(main@sort) [120]" in text and "(main@pack) [80]" in text and "(main@pack parse@pack) [60]" in text
	assert "main@sh" not in text
	text = done("report", "--up", "main", "-r", "cpu", "--process", "pack", "programs.data", directory=profiles)
	assert "1.0000" in text and "(main@pack) [80]" in text and "@sort" not in text
	text = done("whatif", "programs.data", "main;parse@pack=0", "-r", "cpu", directory=profiles)
	assert "0.7000" in text
	text = done("whatif", "programs.data", "main=0.5", "-r", "cpu", directory=profiles)
	assert "0.5000" in text
	text = done("whatif", "programs.data", "main;parse=0", "-r", "cpu", "--process", "sort", directory=profiles)
	assert "0.1667" in text


def test_main_of_every_program_when_exploring(profiles):
	words = ("explore", "programs.data")
	result = subprocess.run([CPPROF, *words], input="resource cpu\nd main\nwhatif main=0.5\nd parse\n", cwd=profiles,
		capture_output=True, text=True, timeout=SECONDS_ALLOWED)
	assert "(main@sort) [120]" in result.stdout and "(main@pack) [80]" in result.stdout
	assert "0.5000" in result.stdout and "'parse' fits 2 functions" in result.stderr


def test_only_functions_with_hits_compete(profiles):
	text = done("report", "--up", "parse", "-r", "page-faults", "programs.data", directory=profiles)
	assert "(parse@pack) [8]" in text
	assert "(finish;all@sort) [20]" in done("report", "--up", "finish;all", "-r", "cpu", "programs.data", directory=profiles)
	check_failure(run("report", "--up", "parse", "-r", "cpu", "programs.data", directory=profiles),
		"'parse' fits 2 functions: parse@pack, parse@sort")


def test_function_is_a_root_whatever_frames_show(profiles):
	"""A name means all labels of the function, a label itself; the outermost of them starts the path."""
	words = ("report", "-r", "cpu", "--limit", "0", "--threshold", "0", "whole.data")
	text = done(*words, "--down", "sort", "--by", "line", directory=profiles)
	assert "(ns::sort(int*, int*):12) [200]" in text and "(ns::sort(int*, int*):13) [100]" in text
	text = done(*words, "--down", "ns::sort(int*, int*):13", "--by", "line", directory=profiles)
	assert "(ns::sort(int*, int*):12" not in text and "(ns::sort(int*, int*):13) [100]" in text
	text = done(*words, "--up", "qsort", "--by", "callsite", directory=profiles)
	assert "(qsort@demo.cpp:12) [200]" in text and "(qsort@demo.cpp:30) [11]" in text
	text = done(*words, "--up", "qsort@demo.cpp:30", "--by", "callsite", directory=profiles)
	assert "(qsort@demo.cpp:12)" not in text and "(qsort@demo.cpp:30) [11]" in text
	check_failure(run("report", "--down", "ns::f", "--by", "callsite", "names.data", directory=profiles),
		"'ns::f' fits 2 functions", "ns::f(int)", "ns::f(long)")


def test_root_by_module_is_a_module(profiles):
	words = ("report", "-r", "cpu", "--by", "module", "whole.data")
	result = run(*words, "--down", "main", directory=profiles)
	assert (result.returncode, result.stdout) == (2, "")
	assert "'main' is a function; by module, give the name of a module, as 'demo'" in result.stderr
	assert "(demo) [" in done(*words, "--down", "demo", directory=profiles)
	check_failure(run(*words, "--up", "nothing", directory=profiles), "no module 'nothing'")


def test_root_without_hits_is_told(profiles):
	for option in ("--down", "--up", "--source"):
		text = done("report", option, "compare", "-r", "calls", "whole.data", directory=profiles)
		assert text.endswith("-\nno hits of compare in this selection\n")


def test_name_without_parameters_is_enough(profiles):
	text = done("report", "--down", "sort", "-r", "cpu", "whole.data", directory=profiles)
	assert "(ns::sort(int*, int*) qsort) [200]" in text


def test_unknown_resource_gets_those_there_are(profiles):
	check_failure(run("report", "-r", "minor-faults", "whole.data", directory=profiles), "'minor-faults'", "cpu",
		"page-faults", "calls")


def test_explore_chooses_processes_and_stitches(profiles):
	commands = ("resource page-faults\ncgroup system.slice\nprocess helper\nprocess 300\nprocess all\ndown worker\n"
		"stitch off\ndown worker\ncgroup nowhere\n")
	result = subprocess.run([CPPROF, "explore", "server.data"], input=commands, cwd=profiles, capture_output=True,
		text=True, timeout=SECONDS_ALLOWED)
	assert result.stdout.count("process: 2 of 3\n") == 2
	assert "process: 300 (server)\nprocess: all\n" in result.stdout
	assert result.stdout.count("(worker fill_table malloc) [13]") == 2
	assert "stitch: off\n" in result.stdout
	assert "no process in a control group 'nowhere'" in result.stderr and result.returncode == 1


def test_pages_need_addresses(profiles):
	check_failure(run("report", "--pages", "whole.data", directory=profiles), "record with -r page-faults")
	result = run("report", "--pages", "-r", "read-bytes", "server.data", directory=profiles)
	check_failure(result, "'read-bytes'", "record with -r page-faults")
	result = run("report", "--pages", "--tree", "server.data", directory=profiles)
	assert result.returncode == 2 and "do not go together" in result.stderr


def test_explore_shows_the_pages_that_report_does(profiles):
	"""Whether or not another report was shown before, for which no places were kept."""
	wanted = run("report", "--pages", "-r", "page-faults", "server.data", directory=profiles).stdout
	for before in ["", "functions\n"]:
		result = subprocess.run([CPPROF, "explore", "server.data"], input=f"resource page-faults\n{before}pages\n",
			cwd=profiles, capture_output=True, text=True, timeout=SECONDS_ALLOWED)
		assert result.returncode == 0 and result.stdout.endswith(wanted), result.stdout + result.stderr
	result = subprocess.run([CPPROF, "explore", "whole.data"], input="pages\n", cwd=profiles, capture_output=True,
		text=True, timeout=SECONDS_ALLOWED)
	assert result.returncode == 1 and "record with -r page-faults" in result.stderr


def test_unknown_control_groups_get_those_there_are(profiles):
	result = run("report", "--cgroup", "/nowhere", "server.data", directory=profiles)
	check_failure(result, "'/nowhere'", "/system.slice/server.service, /user.slice/session-2.scope")
	check_failure(run("report", "--cgroup", "/", "whole.data", directory=profiles), "no control groups")
	result = run("report", "--process", "server", "--cgroup", "user.slice", "server.data", directory=profiles)
	check_failure(result, "none of the chosen processes")


def test_unknown_thread_and_process_get_those_there_are(profiles):
	check_failure(run("report", "--thread", "9", "whole.data", directory=profiles), "'9'", "101 (worker)")
	check_failure(run("report", "--process", "x", "whole.data", directory=profiles), "'x'", "200 (helper)")


def test_ambiguous_thread_gets_the_list(profiles):
	check_failure(run("report", "--thread", "worker", "whole.data", directory=profiles), "TID 101", "TID 102")


def test_diff_of_a_resource_that_one_lacks(profiles):
	check_failure(run("diff", "whole.data", "forms.data", directory=profiles), "no resource in common",
		"'forms.data' has no resource 'cpu'")
	check_failure(run("diff", "-r", "cpu", "whole.data", "forms.data", directory=profiles),
		"'forms.data' has no resource 'cpu'")


def test_diff_compares_the_resources_that_both_have(profiles):
	result = run("diff", "programs.data", "program.data", directory=profiles)
	assert result.returncode == 0
	assert "not every resource is compared: 'program.data' has no resource 'calls'" in result.stderr
	assert "CPU Time" in result.stdout and "Page Faults" in result.stdout and "Calls" not in result.stdout


def changes(*words, directory):
	"""path -> (fraction in A, fraction in B, marked), of the one section that is printed."""
	section = json.loads(done("diff", *words, "--limit", "0", "--threshold", "0", "--format", "json", directory=directory))
	rows = {tuple(row["path"]): (row["fraction_a"], row["fraction_b"], row["significant"]) for row in section["entries"]}
	assert len(rows) == len(section["entries"])
	return section, rows


def test_diff_matches_functions_whatever_else_ran(profiles):
	"""main of one profile is main@pack of the other, which ran more programs."""
	section, rows = changes("--down", "main", "-r", "cpu", "program.data", "programs.data", directory=profiles)
	assert rows == {
		("main@pack",): (1, 0.4, True), ("main@pack", "parse@pack"): (0.75, 0.3, True),
		("main@sort",): (0, 0.6, True), ("main@sort", "parse@sort"): (0, 0.5, True),
		("main@sort", "finish;all@sort"): (0, 0.1, True)}
	assert (section["a"]["total_hits"], section["b"]["total_hits"]) == (80, 200)
	assert (section["a"]["samples"], section["b"]["interval"]) == (80, 1000000)
	row = next(row for row in section["entries"] if row["path"] == ["main@sort"])
	assert (row["gticks_a"], row["gticks_b"]) == (0, 120000000)
	_, back = changes("--functions", "-r", "cpu", "programs.data", "program.data", directory=profiles)
	assert back[("parse@pack",)] == (0.3, 0.75, True)


def test_diff_takes_labels_by_callsite_and_line(profiles):
	for by in ("callsite", "line", "module"):
		_, rows = changes("--functions", "-r", "cpu", "--by", by, "program.data", "programs.data", directory=profiles)
		assert rows[("main@pack",) if by != "module" else ("pack",)] == (1, 0.4, True)


def test_diff_of_several_programs(profiles):
	"""The paths below main are compared without being asked for, also if main is several functions."""
	text = done("diff", "programs.data", "programs.data", "-r", "cpu", directory=profiles)
	assert "+0.0000 (0.6000 0.6000) 0 ns main@sort" in text and "*" not in text.split("-----")[-1]


def test_diff_keeps_different_paths_apart(tmp_path):
	for name, lines in (("a", "main;a b 10\nmain;a;b 10\n"), ("b", "main;a b 20\n")):
		(tmp_path / f"{name}.folded").write_text(lines)
		done("import", "--format", "folded", "-o", tmp_path / f"{name}.data", tmp_path / f"{name}.folded")
	_, rows = changes("--down", "main", "a.data", "b.data", directory=tmp_path)
	assert {path: row[:2] for path, row in rows.items()} == {
		("main",): (1, 1), ("main", "a b"): (0.5, 1), ("main", "a"): (0.5, 0), ("main", "a", "b"): (0.5, 0)}
	table = list(csv.DictReader(io.StringIO(done("diff", "--down", "main", "a.data", "b.data", "--format", "csv",
		directory=tmp_path))))
	assert {row["path"] for row in table} == {"main", "main;a b", "main;a", "main;a;b"}


def test_diff_prints_nothing_if_any_part_fails(profiles):
	"""parse is one function where page faults are counted, and several for cpu time."""
	for words in (("-r", "page-faults", "-r", "cpu"), ()):
		result = run("diff", *words, "--up", "parse", "--format", "json", "programs.data", "programs.data", directory=profiles)
		check_failure(result, "'parse' fits 2 functions")
		assert result.stdout == ""


# --- import and export ---


def test_import_keeps_every_line(tmp_path):
	lines = [f"main;f{i};g{i % 7};h 1\n" for i in range(100000)]
	(tmp_path / "many.folded").write_text("".join(lines))
	done("import", "--format", "folded", "-o", "many.data", "many.folded", directory=tmp_path)
	exported = done("export", "--format", "folded", "many.data", directory=tmp_path)
	assert sorted(exported.splitlines(keepends=True)) == sorted(lines)


def test_import_from_standard_input_and_export_to_a_file(tmp_path):
	with open(INPUTS / "forms.folded") as stdin:
		done("import", "-", directory=tmp_path, stdin=stdin)
	done("export", "-o", "out.folded", directory=tmp_path)
	exported = (tmp_path / "out.folded").read_text()
	assert sorted(exported.splitlines()) == sorted((INPUTS / "forms.folded").read_text().splitlines())


def test_import_keeps_the_older_profile(tmp_path):
	for name in ("forms", "recursion"):
		done("import", INPUTS / f"{name}.folded", directory=tmp_path)
	assert "[614]" in done("report", "cpprof.data.old", directory=tmp_path)
	assert "[614]" not in done("report", directory=tmp_path)


def test_failed_import_replaces_nothing(tmp_path):
	(tmp_path / "cpprof.data").write_text("precious")
	(tmp_path / "bad.folded").write_text("main;f 3\nmain;g many\n")
	check_failure(run("import", "bad.folded", directory=tmp_path), "bad.folded:2")
	check_failure(run("import", "absent.folded", directory=tmp_path), "absent.folded")
	assert (tmp_path / "cpprof.data").read_text() == "precious"
	assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.folded", "cpprof.data"]


def test_failed_export_replaces_nothing(profiles, tmp_path):
	(tmp_path / "out.folded").write_text("precious")
	check_failure(run("export", "-r", "xyzzy", "-o", tmp_path / "out.folded", profiles / "whole.data"), "xyzzy")
	assert (tmp_path / "out.folded").read_text() == "precious"
	check_failure(run("export", "-o", tmp_path / "no/such/out.folded", profiles / "forms.data"), "no/such/out.folded")
	assert [path.name for path in tmp_path.iterdir()] == ["out.folded"]


def test_export_to_a_pipe_and_to_a_link(profiles, tmp_path):
	(tmp_path / "real").write_text("old")
	(tmp_path / "link").symlink_to("real")
	done("export", "-o", tmp_path / "link", profiles / "forms.data")
	assert (tmp_path / "link").is_symlink()
	assert "db_read_record" in (tmp_path / "real").read_text()
	os.mkfifo(tmp_path / "pipe")
	read = []
	reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
	reader.start()
	done("export", "-o", tmp_path / "pipe", profiles / "forms.data")
	reader.join()
	assert read[0] == (tmp_path / "real").read_text()


def test_export_of_one_of_several_resources_says_which(profiles):
	result = run("export", "whole.data", directory=profiles)
	assert result.returncode == 0
	assert "this is 'cpu'" in result.stderr and "page-faults" in result.stderr


def test_profile_from_standard_input(profiles):
	with open(profiles / "forms.data") as stdin:
		assert "main [614]" in done("report", "-", stdin=stdin)


# --- where the output goes ---


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_is_noticed(profiles):
	for words in (["report", profiles / "forms.data"], ["--help"], ["export", profiles / "forms.data"],
			["export", "-o", "/dev/full", profiles / "forms.data"]):
		with open("/dev/full", "w") as full:
			result = subprocess.run([CPPROF, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
		assert result.returncode == 1, words
		assert "No space left on device" in result.stderr, words


def test_reader_that_hangs_up_hears_nothing(profiles):
	for ignored in (False, True):
		end, start = os.pipe()
		os.close(end)
		for command in ("report", "export"):
			result = subprocess.run([CPPROF, command, str(profiles / "forms.data")], stdout=start,
				stderr=subprocess.PIPE, restore_signals=not ignored)
			assert result.returncode == (1 if ignored else -signal.SIGPIPE)
			assert result.stderr == b""
		os.close(start)


def test_closed_output_is_noticed(profiles, tmp_path):
	data = (profiles / "forms.data").read_bytes()
	(tmp_path / "a.data").write_bytes(data)
	result = subprocess.run(["sh", "-c", '"$1" report a.data >&-', "sh", CPPROF], cwd=tmp_path, capture_output=True,
		text=True)
	assert result.returncode == 1
	assert "standard output" in result.stderr
	assert (tmp_path / "a.data").read_bytes() == data


def test_long_reading_is_told_on_a_terminal(tmp_path):
	"""The input comes only when the line has been seen, so that reading takes as long as the line needs."""
	os.mkfifo(tmp_path / "slow")
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, "import", "--format", "folded", "slow"], cwd=tmp_path, stderr=slave,
		stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
	os.close(slave)
	with open(tmp_path / "slow", "w") as slow:
		shown = b""
		while b"reading slow ... 1 s" not in shown:
			shown += os.read(master, 4096)
		slow.write("main;f 3\n")
	try:
		while chunk := os.read(master, 4096):
			shown += chunk
	except OSError:
		pass  # the end of a terminal's output
	os.close(master)
	assert process.wait(timeout=SECONDS_ALLOWED) == 0
	assert shown.count(b"\r\x1b[K") == 1 and shown.index(b" s") < shown.index(b"\r\x1b[K")


def on_a_terminal(*words, directory, **environment):
	"""The output of a command whose standard output is a terminal."""
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, *words], cwd=directory, stdin=subprocess.DEVNULL, stdout=slave,
		stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm", **environment})
	os.close(slave)
	output = b""
	try:
		while chunk := os.read(master, 65536):
			output += chunk
	except OSError:
		pass  # the end of a terminal's output
	process.communicate(timeout=SECONDS_ALLOWED)
	os.close(master)
	return output.decode()


def test_colour_only_on_a_terminal(profiles):
	environment = {"NO_COLOR": ""}
	assert "\x1b[" in on_a_terminal("report", "forms.data", directory=profiles, **environment)
	assert "\x1b[" not in on_a_terminal("report", "forms.data", directory=profiles, NO_COLOR="1")
	assert "\x1b[" not in done("report", "forms.data", directory=profiles, **environment)


def test_same_file_prints_the_same_bytes(profiles):
	words = ("report", "--down", "main", "--limit", "0", "--threshold", "0", "forms.data")
	assert done(*words, directory=profiles) == done(*words, directory=profiles)


# --- what is made from the command table ---


@functools.cache
def long_options(command):
	return set(re.findall(r"--[a-z-]+", done(command, "--help").split("\nexamples:")[0].split("\noptions:")[1]))


@pytest.mark.parametrize("command", COMMANDS)
def test_manual_page_has_every_option(command):
	page = done("man", command, REPOSITORY / f"docs/man/cpprof-{command}.scd.in")
	assert not re.search(r"^@[A-Z_]+@$", page, re.MULTILINE)
	missing = [option for option in long_options(command) if f"*{option}*" not in page]
	assert not missing
	made = subprocess.run(["scdoc"], input=page, capture_output=True, text=True)
	assert made.returncode == 0, made.stderr


def test_help_and_manual_of_explore_list_its_commands(profiles):
	"""The loop's own list, word for word, and the exit status."""
	(profiles / "commands").write_text("help\n")
	with open(profiles / "commands") as commands:
		listed = done("explore", "forms.data", directory=profiles, stdin=commands)
	rows = [line for line in listed.splitlines() if line.startswith("  ")]
	assert len(rows) > 15
	manual = done("man", "explore", REPOSITORY / "docs/man/cpprof-explore.scd.in")
	for text in (done("help", "explore"), manual):
		assert all(row in text for row in rows)
		assert "1 if any failed" in text


def test_completion_is_bash():
	script = done("completion")
	result = subprocess.run(["bash"], input=script + """
		COMP_WORDS=(cpprof rep); COMP_CWORD=1; _cpprof; echo "${COMPREPLY[@]}"
		COMP_WORDS=(cpprof report --thr); COMP_CWORD=2; _cpprof; echo "${COMPREPLY[@]}"
		COMP_WORDS=(cpprof report --by m); COMP_CWORD=3; _cpprof; echo "${COMPREPLY[@]}"
		""", capture_output=True, text=True, check=True)
	assert result.stdout.splitlines() == ["report", "--threshold --thread", "module"]


def completed(*words):
	"""What bash would offer in the place of the last word."""
	script = done("completion") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cpprof; echo "${COMPREPLY[*]}"\n'
	result = subprocess.run(["bash", "-c", script, "bash", "cpprof", *words], capture_output=True, text=True,
		timeout=SECONDS_ALLOWED)
	assert result.returncode == 0, result.stderr
	return result.stdout.split()


def test_completion_offers_what_the_command_takes():
	assert completed("di") == ["diff"]
	assert completed("report", "--li") == ["--limit"]
	assert completed("import", "--format", "") == ["folded", "gmon"]
	assert completed("export", "--format", "") == ["folded", "gmon", "events"]
	assert completed("info", "--format", "") == ["text", "json"]
	assert completed("diff", "--format", "c") == ["csv"]
	assert completed("record", "--", "ls", "--f") == []


# --- what is meant ---


@pytest.mark.parametrize("words, meant", [
	(["--versio"], "(did you mean '--version'?)"),
	(["/bin/true"], "(did you mean 'cpprof record /bin/true'?)"),
	(["true"], "(did you mean 'cpprof record true'?)"),
	(["repotr"], "(did you mean 'report'?)"),
	(["diff", "whole.data"], "missing argument B (usage: cpprof diff"),
	(["whatif"], "missing argument 'FN;FN;FN=FACTOR'..."),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_usage_errors_name_what_is_meant(profiles, words, meant):
	result = run(*words, directory=profiles)
	assert result.returncode == 2
	assert meant in result.stderr
	assert "try 'cpprof" not in result.stderr, "the remedy is in the message already"


def test_short_version():
	assert done("-V") == done("--version")


def test_a_function_in_place_of_a_file(profiles, tmp_path):
	shutil.copy(profiles / "whole.data", tmp_path / "cpprof.data")
	result = run("report", "main", directory=tmp_path)
	assert result.returncode == 1
	assert "cpprof report --down main" in result.stderr


def test_a_time_beyond_the_end_names_the_length(profiles):
	assert "it begins at 500 s, the recording lasts 0." in done("report", "-r", "cpu", "--from", "500", "whole.data", directory=profiles)
