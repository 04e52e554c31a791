"""report: the functions, modules, threads, processes and control groups that an option selects."""
import re

import pytest

from cli_support import check_failure, done, make_input, run
from json_support import valid_json


def test_missing_source_is_reported(profiles, tmp_path):
	result = run("report", "--source", "work", "-r", "cpu", profiles / "whole.data", directory=tmp_path)
	assert result.returncode == 0
	assert "cannot show the text of '/nowhere/demo/inputs/demo.cpp': source file not found" in result.stderr
	assert re.search(r"^ +0\.\d+ ±0\.\d+ +0\.\d+ ±0\.\d+ +41 +30$", result.stdout, re.MULTILINE)


def test_unknown_function_gets_near_ones(profiles):
	for option in ("--down", "--up", "--source"):
		check_failure(run("report", option, "qsrot", "whole.data", directory=profiles), "'qsrot'", "qsort")
	check_failure(run("whatif", "whole.data", "main;qsrot=0", directory=profiles), "'qsrot'", "qsort")


ZEROS = {
	"--functions": ["1.0000 main [70]", "0.8571 ns::sort(int*, int*) [60]", "0.8571 qsort [60]", "0.1429 print [10]", "0.0000 compare [0]", "0.0000 work [0]"],
	"--body": ["0.8571 qsort [60]", "0.1429 print [10]", "0.0000 compare [0]", "0.0000 main [0]", "0.0000 ns::sort(int*, int*) [0]", "0.0000 work [0]"],
	"--down main": ["1.0000 (main) [70]", "0.8571 (main ns::sort(int*, int*)) [60]", "0.8571 (main ns::sort(int*, int*) qsort) [60]",
		"0.1429 (main print) [10]", "0.0000 (main ns::sort(int*, int*) compare) [0]", "0.0000 (main print qsort) [0]"],
	"--up qsort": ["0.8571 (main ns::sort(int*, int*) qsort) [60]", "0.8571 (ns::sort(int*, int*) qsort) [60]", "0.8571 (qsort) [60]",
		"0.0000 (main print qsort) [0]", "0.0000 (print qsort) [0]", "0.0000 (work qsort) [0]"],
	"--up qsort --by callsite": ["0.8571 (main ns::sort(int*, int*)@demo.cpp:22 qsort@demo.cpp:12) [60]", "0.8571 (ns::sort(int*, int*)@demo.cpp:22 qsort@demo.cpp:12) [60]",
		"0.8571 (qsort@demo.cpp:12) [60]", "0.0000 (main print@demo.cpp:23 qsort@demo.cpp:17) [0]", "0.0000 (print@demo.cpp:23 qsort@demo.cpp:17) [0]",
		"0.0000 (qsort@demo.cpp:17) [0]", "0.0000 (qsort@demo.cpp:30) [0]", "0.0000 (work qsort@demo.cpp:30) [0]"],
	"--tree": ["main (1.0000) [70]", "  ns::sort(int*, int*) (0.8571) [60]", "    qsort (0.8571) [60]", "    compare (0.0000) [0]",
		"  print (0.1429) [10]", "    qsort (0.0000) [0]", "work (0.0000) [0]", "  qsort (0.0000) [0]"],
}


@pytest.mark.parametrize("words", ZEROS)
def test_zeros(profiles, words):
	"""With --zeros, a list has the rows without hits too, below the others, which do not change."""
	options = ["-r", "page-faults", *words.split()]
	rows = [re.sub(r" ±\d\.\d{4}", "", line) for line in done("report", *options, "--zeros", profiles / "whole.data").splitlines()[4:]]
	assert rows == ZEROS[words]
	usual = done("report", *options, "--threshold", 0, profiles / "whole.data").splitlines()[4:]
	assert [re.sub(r" ±\d\.\d{4}", "", line) for line in usual] == [row for row in rows if not row.endswith(" [0]")]
	explored = run("explore", profiles / "whole.data", stdin=make_input(f"resource page-faults\n{'by callsite' if '--by' in words else ''}\nzeros on\n"
		f"{words.removeprefix('--').split(' --')[0]}\n")).stdout
	assert [re.sub(r" ±\d\.\d{4}", "", line) for line in explored.splitlines()][-len(rows):] == rows


def test_zeros_of_a_selection(profiles):
	"""Rows without hits are of the selected threads, processes, labels and times. A limit counts them."""
	def zeros(*options):
		text = done("report", "--functions", "--zeros", "--format", "csv", *options, profiles / "whole.data")
		return [line.split('"')[3] for line in text.splitlines()[1:] if line.endswith(",0")]
	assert zeros("-r", "page-faults") == ["compare", "work"]
	assert zeros("-r", "page-faults", "--limit", 5) == ["compare"]
	assert zeros("-r", "page-faults", "--process", "helper") == ["main"]
	assert zeros("-r", "cpu", "--process", "helper") == []
	assert zeros("-r", "migrations") == ["compare", "main", "ns::sort(int*, int*)", "print", "qsort", "work"]
	assert "used less than one interval" in done("report", "--functions", "--zeros", "-r", "migrations", profiles / "whole.data")


def test_zeros_are_refused_where_no_paths_are_listed(profiles):
	for words in ["--lines"], ["--threads"], ["--path", "main"], ["--source", "qsort"], ["--threshold", "0.1"]:
		result = run("report", "--zeros", *words, profiles / "whole.data")
		assert result.returncode == 2 and f"--zeros cannot be combined with {words[0]}: " in result.stderr
	text = done("report", "--zeros", "-r", "page-faults", profiles / "whole.data") # the summary has none
	assert "work [0]" in text
	# A session's setting changes nothing else.
	words = "resource page-faults\n{}lines\nby-thread\nsource print\nsummary\nwhatif main;qsort=0\n"
	without, zeros = (run("explore", profiles / "whole.data", stdin=make_input(words.format(setting))).stdout for setting in ("", "zeros on\n"))
	assert zeros.replace("zeros: on\n", "") == without


def test_near_names(tmp_path):
	names = ("qsort_r", "std::vector<int, std::allocator<int> >::push_back(int const&)", "main", "read", "uniquify_db")
	(tmp_path / "a.folded").write_text("".join(f"{name} 1\n" for name in names))
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for typed, near in {"qsrt": names[0], "qsort": names[0], "std::vector<int": names[1], "uniqify": names[4],
		"vector<int, std": names[1], "reed": "read"}.items():
		result = run("report", "--down", typed, tmp_path / "a.data")
		assert f"(did you mean {near}?)\n" in result.stderr, typed
	for typed in ("xyz", "m", "zzzzzzzzzzzz", "x" * 300):
		assert "did you mean" not in run("report", "--down", typed, tmp_path / "a.data").stderr, typed
	assert "did you mean" not in run("explore", tmp_path / "a.data", stdin=make_input("x" * 300 + "\n")).stderr


def test_ambiguous_function_gets_the_list(profiles):
	result = run("report", "--down", "ns::f", "names.data", directory=profiles)
	check_failure(result, "'ns::f' fits 2 functions", "ns::f(int)", "ns::f(long)")


def test_main_is_the_main_of_every_program(profiles):
	"""In a recording of several programs, `main` means the main of each program. Their labels stay distinct, and a main without
	hits is not among them."""
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


def test_only_functions_with_hits_compete(profiles):
	text = done("report", "--up", "parse", "-r", "page-faults", "programs.data", directory=profiles)
	assert "(parse@pack) [8]" in text
	assert "(finish;all@sort) [20]" in done("report", "--up", "finish;all", "-r", "cpu", "programs.data", directory=profiles)
	check_failure(run("report", "--up", "parse", "-r", "cpu", "programs.data", directory=profiles),
		"'parse' fits 2 functions: parse@pack, parse@sort")


def test_function_is_a_root_whatever_frames_show(profiles):
	"""The name of a function selects all its labels, and a label selects itself. The outermost frame that matches starts the
	path."""
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
	assert "'main' is a function, not a module (give a module, as 'demo')" in result.stderr
	assert "(demo) [" in done(*words, "--down", "demo", directory=profiles)
	check_failure(run(*words, "--up", "nothing", directory=profiles), "no module 'nothing'")


def test_root_without_hits_is_reported(profiles):
	for option in ("--down", "--up", "--source"):
		text = done("report", option, "compare", "-r", "calls", "whole.data", directory=profiles)
		assert text.endswith("-\nno hits of compare in this selection\n")


def test_name_without_parameters_is_enough(profiles):
	text = done("report", "--down", "sort", "-r", "cpu", "whole.data", directory=profiles)
	assert "(ns::sort(int*, int*) qsort) [200]" in text


def test_unknown_resource_gets_those_there_are(profiles):
	check_failure(run("report", "-r", "minor-faults", "whole.data", directory=profiles), "'minor-faults'", "cpu",
		"page-faults", "calls")


def test_pages_need_addresses(profiles):
	check_failure(run("report", "--pages", "whole.data", directory=profiles), "record with -r page-faults")
	result = run("report", "--pages", "-r", "read-bytes", "server.data", directory=profiles)
	check_failure(result, "'read-bytes'", "record with -r page-faults")
	result = run("report", "--pages", "--tree", "server.data", directory=profiles)
	assert result.returncode == 2 and "--pages cannot be combined with --tree" in result.stderr
	for word in ("--by-label", "--label=kind"):
		result = run("report", "--pages", word, "server.data", directory=profiles)
		option = word.split("=")[0]
		assert result.returncode == 2 and f"{option} cannot be combined with --pages: touched memory" in result.stderr


def test_unknown_control_groups_get_those_there_are(profiles):
	result = run("report", "--cgroup", "/nowhere", "server.data", directory=profiles)
	check_failure(result, "'/nowhere'", "/system.slice/server.service, /user.slice/session-2.scope")
	check_failure(run("report", "--cgroup", "/", "whole.data", directory=profiles), "no control groups")
	result = run("report", "--process", "server", "--cgroup", "user.slice", "server.data", directory=profiles)
	check_failure(result, "no selected process")


def test_unknown_thread_and_process_get_those_there_are(profiles):
	check_failure(run("report", "--thread", "9", "whole.data", directory=profiles), "'9'", "101 (worker)")
	check_failure(run("report", "--process", "x", "whole.data", directory=profiles), "'x'", "200 (helper)")


def test_ambiguous_thread_gets_the_list(profiles):
	check_failure(run("report", "--thread", "worker", "whole.data", directory=profiles), "TID 101", "TID 102")


def test_a_time_beyond_the_end_names_the_length(profiles):
	for words in (["report"], ["report", "--format", "csv"], ["report", "--format", "json"], ["report", "--call-graph"], ["whatif"]):
		terms = ["main=0"] if words == ["whatif"] else []
		result = run(*words, "--from", "500", "whole.data", *terms, directory=profiles)
		warning = f"cpprof {words[0]}: warning: --from 500 selects nothing: the recording lasts 0."
		assert result.returncode == 0 and result.stderr.startswith(warning), words
		assert run(*words, "--from", "0.2", "whole.data", *terms, directory=profiles).stderr.count("selects nothing") == 0
	assert "it begins at 500 s, the recording lasts 0." in done("report", "-r", "cpu", "--from", "500", "whole.data", directory=profiles)


def test_the_inverted_tree_begins_with_bodies(profiles):
	"""Functions by their own use, each with the paths to it, outwards."""
	def results(*options):
		return valid_json(done("report", *options, "--format", "json", "-n", 0, "-t", 0, profiles / "whole.data"))["results"]
	for inverted, body, tree in zip(results("--inverted"), results("--body"), results("--tree"), strict=True):
		rows = inverted["entries"]
		assert {row["name"]: row["hits"] for row in rows if row["depth"] == 0} == {entry["path"][0]: entry["hits"] for entry in body["entries"]}
		assert sum(row["own_hits"] for row in rows) == sum(row["own_hits"] for row in tree["entries"]) == inverted["total_hits"]
	rows = [re.sub(r" ±\d\.\d{4}", "", line) for line in done("report", "--inverted", "-r", "page-faults", profiles / "whole.data").splitlines()[4:]]
	assert rows == ["qsort (0.8571) [60]", "  ns::sort(int*, int*) (0.8571) [60]", "    main (0.8571) [60]", "print (0.1429) [10]", "  main (0.1429) [10]"]
