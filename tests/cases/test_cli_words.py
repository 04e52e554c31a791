"""Options and arguments in each of their forms, and the usage errors."""
import re
import shutil

import pytest
from cli_support import done, run


def test_version():
	assert re.fullmatch(r"cpprof \d+\.\d+\.\d+\n", done("--version"))


def test_short_version():
	assert done("-V") == done("--version")


WRONG_WORDS = [
	(["repotr"], "cpprof: unknown command 'repotr' (did you mean 'report'?)"),
	(["xyzzy"], "cpprof: unknown command 'xyzzy'; try 'cpprof --help'"),
	(["--verbose"], "unknown option '--verbose'"),
	(["help", "repotr"], "did you mean 'report'?"),
	(["report", "--forma", "json"],
		"cpprof report: unknown option '--forma' (did you mean '--format'?)"),
	(["report", "--xyzzy"], "cpprof report: unknown option '--xyzzy'; try 'cpprof report --help'"),
	(["report", "-fz"], "unknown option '-z'"),
	(["report", "--down"], "option '--down' needs a value (FN)"),
	(["report", "-d"], "option '-d' needs a value (FN)"),
	(["report", "--tree=yes"], "option '--tree' takes no value"),
	(["report", "--tree", "--body"], "--tree cannot be combined with --body"),
	(["report", "--source", "main", "--limit", "3"], "--limit cannot be combined with --source: it shows all lines of a function"),
	(["report", "--threshold", "2"], "threshold"),
	(["report", "--threshold", "-1"], "threshold"),
	(["report", "--threshold", "nan"], "threshold"),
	(["report", "--limit", "many"], "limit"),
	(["report", "--limit", "99999999999999999999"], "limit"),
	(["report", "--by", "colour"], "(function, callsite, line, module or group)"),
	(["report", "--format", "xml"], "unknown format 'xml' (text, json or csv)"),
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
	(["diff", "--up", "main", "--down", "main", "whole.data", "whole.data"], "--up cannot be combined with --down"),
	(["import"], "missing argument"),
	(["import", "--format", "pprof2", "-"], "unknown format 'pprof2' (folded, perf-script, trace, strace, heaptrack, gmon, pprof, speedscope, firefox, callgrind, chrome or perf)"),
	(["export", "--format", "svg"], "unknown format 'svg' (folded, gmon, events, pprof, speedscope"),
	(["export", "--format", "events", "-r", "cpu"], "--resource cannot be combined with --format events"),
]


@pytest.fixture(scope="module")
def workplace(profiles, tmp_path_factory):
	"""A directory in which cpprof.data is a copy of whole.data."""
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


def test_empty_times_are_none(profiles):
	for words in (("--from", ""), ("--to", ""), ("--from=", "--to", "2")):
		result = run("report", *words, "whole.data", directory=profiles)
		assert (result.returncode, result.stdout) == (2, "") and "missing time in seconds" in result.stderr


@pytest.mark.parametrize("words, meant", [
	(["--versio"], "(did you mean '--version'?)"),
	(["/bin/true"], "(did you mean 'cpprof record /bin/true'?)"),
	(["true"], "(did you mean 'cpprof record true'?)"),
	(["repotr"], "(did you mean 'report'?)"),
	(["version"], "unknown command 'version' (did you mean 'cpprof --version'?)"),
	(["-v"], "unknown option '-v' (did you mean '-V'?)"),
	(["diff", "whole.data"], "missing argument B (usage: cpprof diff"),
	(["diff", "whole.data", "whole.data", "--"], "no recordings of B follow '--' (cpprof diff A1 A2 -- B1 B2)"),
	(["html", "whole.data", "whole.data", "--"], "no recordings of B follow '--' (cpprof html A1 A2 -- B1 B2)"),
	(["merge"], "missing argument PROFILE... (usage: cpprof merge -o FILE"),
	(["optimize", "--run", "true"], "missing argument BUILD-COMMAND (usage: cpprof optimize --run"),
	(["whatif"], "missing argument 'FN;FN;FN=FACTOR'..."),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_usage_errors_name_what_is_meant(profiles, words, meant):
	result = run(*words, directory=profiles)
	assert result.returncode == 2
	assert meant in result.stderr
	assert "try 'cpprof" not in result.stderr, "the remedy is in the message already"


def test_a_program_of_this_folder(tmp_path):
	(tmp_path / "lorem").write_text("#!/bin/sh\n")
	assert "'lorem'; try 'cpprof --help'" in run("lorem", directory=tmp_path).stderr, "it is not executable"
	(tmp_path / "lorem").chmod(0o755)
	assert "(did you mean 'cpprof record ./lorem'?)" in run("lorem", directory=tmp_path).stderr


def test_a_function_in_place_of_a_file(profiles, tmp_path):
	shutil.copy(profiles / "whole.data", tmp_path / "cpprof.data")
	result = run("report", "main", directory=tmp_path)
	assert result.returncode == 1
	assert "cpprof report --down main" in result.stderr


@pytest.mark.parametrize("words", [["nofile.data"], ["--groups", "main"], ["--", "--help"], [""], ["--down", "main", "main"]],
	ids=" ".join)
def test_a_missing_file_is_not_called_a_function(workplace, words):
	"""The profile has no such function, or the command line chooses a report already."""
	result = run("report", *words, directory=workplace)
	assert (result.returncode, result.stdout) == (1, "")
	assert result.stderr.endswith(": No such file or directory\n") and "--down" not in result.stderr


@pytest.mark.parametrize("words, message", [
	(["record", "-F", "1e9", "true"], "-F 1e9 is out of range (0.02 to 50000 Hz)"),
	(["record", "-F", "fast", "true"], "'fast' is not a frequency (samples per second of CPU time, as -F 1000)"),
	(["record", "-r", "cpu/1us", "true"], "interval 1us of cpu is out of range (20us to 60s)"),
	(["record", "-r", "cpu/1x", "true"], "'1x' is not an interval of cpu (a time with its unit, as 1ms, 500us or 0.1s)"),
	(["record", "-r", "cpus", "true"], "unknown resource 'cpus' (did you mean cpu?)"),
	(["record", "-r"], "option '-r' needs a value (RES[/INTERVAL])"),
	(["record", "--backend", "perv", "true"], "unknown backend 'perv' (did you mean perf?)"),
	(["record", "-o", "-", "true"], "cannot write the profile to standard output: the command writes there (-o FILE)"),
	(["record", "-p", "many"], "'many' is not a process id (-p PID)"),
	(["record", "--duration", "1"], "--duration needs a running target (-p PID, or record -a)"),
	(["record", "--gmon", "true"], "--gmon needs --instrumented, which counts the calls that gprof shows (record --instrumented --gmon COMMAND)"),
	(["record", "--wrap", "true"], "--wrap needs --instrumented, which counts calls (record --instrumented --wrap COMMAND)"),
	(["record", "--paused", "-a"],
		"--paused needs a command: only a program that cpprof starts can choose when to begin (record --paused COMMAND)"),
	(["record", "-r", "own:", "true"], "resource 'own:' is not valid (own:NAME)"),
	(["record", "-r", "cpu", "-r", "cpu", "true"], "resource cpu is given twice (give it once)"),
	(["record", "-p", "1", "true"], "-p cannot be combined with a command (give one of them)"),
	(["record", "--duration", "1", "true"],
		"--duration cannot be combined with a command, which is recorded until it ends (leave out --duration)"),
	(["record", "-o", "", "true"], "the name of the output file is empty (-o FILE)"),
	(["instrument", "--format", "json", "p.c"], "--format needs --report (add --report)"),
	(["report", "--from", "1", "--to", "0.5"], "the time range from 1 s to 0.5 s is empty (its end comes after its start)"),
	(["report", "--tree", "--body"], "--tree cannot be combined with --body (choose one report)"),
	(["report", "--tree=yes"], "option '--tree' takes no value (--tree)"),
	(["instrument"], "missing argument FILE (or -p compile_commands.json, for all that it lists)"),
	(["instrument", "--report", "--format", "xml", "a.c"], "unknown format 'xml' (text, json or csv)"),
	(["control", "1", "foo"], "unknown verb 'foo' (list, on, off, group, level or throttle)"),
	(["control", "1", "on"], "missing argument PATTERN (on 'parse_*')"),
	(["control", "init"], "'init' is not a process id; try 'cpprof control --help'"),
	(["report", "--by", "colour", "whole.data"], "unknown kind of frame 'colour' (function, callsite, line, module or group)"),
	(["resources", "--format", "csv"], "--format csv is not available here (--format text or json)"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_usage_error_has_one_remedy(workplace, words, message):
	"""The whole line: a remedy in parentheses needs no reference to --help."""
	result = run(*words, directory=workplace)
	assert (result.returncode, result.stdout) == (2, "")
	assert result.stderr == f"cpprof {words[0]}: {message}\n"


def test_a_missing_folder_is_named_first(tmp_path):
	result = run("instrument", "-p", "nodir", directory=tmp_path)
	assert (result.returncode, result.stderr) == (1, "cpprof instrument: cannot read 'nodir': No such file or directory\n")


def test_a_compiler_that_does_not_exist(tmp_path):
	for words in (["cc", "--", "nogcc", "p.c"], ["record", "nogcc"]):
		result = run(*words, directory=tmp_path)
		assert (result.returncode, result.stderr) == (127, f"cpprof {words[0]}: cannot run 'nogcc': command not found\n")


def test_group_that_the_profile_lacks(workplace):
	result = run("report", "--group", "io", directory=workplace)
	assert (result.returncode, result.stdout) == (1, "")
	assert result.stderr == "cpprof report: no function of this profile belongs to a group (the source declares groups: docs/instrumented.md)\n"


def test_one_of_each_is_singular(tmp_path):
	"""A profile of one sample, as each command counts it."""
	(tmp_path / "one.folded").write_text("main 1\n")
	imported = run("import", "one.folded", directory=tmp_path)
	assert "1 sample, 1 call path, " in imported.stderr
	assert "\n1 sample, sampled every 1 gtick (1 gtick = 1 sample)\n" in done("report", directory=tmp_path)
	assert "every 1 sample, 1 sample, 1 hit, 0 lost; total 1 sample " in done("info", directory=tmp_path)
