"""
C functions whose exits the instrumenter marks explicitly: for a compiler without GNU C (tcc), and for gcc and clang with an
option. Counts and paths are the same as with objects that the compiler destroys at the exits.
"""
import os
import re
import subprocess

import pytest
from record_support import CPPROF, PROGRAMS, SECONDS_ALLOWED, run_cpprof
from source_cxx_support import Stated

FOLDER = PROGRAMS / "source/c"
INCLUDE = PROGRAMS.parents[1] / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
OWN = ["-Wno-ignored-qualifiers", "-Wno-unknown-warning-option", "-Wno-infinite-recursion", "-Wno-shadow", "-Wno-deprecated-non-prototype"]
PLAIN = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-DCPPROF_PORTABLE"]


def output_of(words, folder, **environment):
	result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=SECONDS_ALLOWED, cwd=folder,
		env={**os.environ, **environment})
	assert result.returncode == 0, result.stderr
	return result.stdout


def paths(program, folder):
	"""Runs the program. Returns its output, and {call path: calls}."""
	data = folder / f"{program.name}.data"
	printed = output_of([program], folder, CPPROF_OUTPUT=str(data), CPPROF_MEASURE="paths")
	folded = run_cpprof("export", "-r", "calls", "--no-inlines", "--format", "folded", data)
	assert folded.returncode == 0, folded.stderr
	return printed.splitlines(), {path: int(count) for path, count in (line.rsplit(maxsplit=1) for line in folded.stdout.splitlines())}


def counts(found):
	totals = {}
	for path, count in found.items():
		name = path.split(";")[-1]
		totals[name] = totals.get(name, 0) + count
	return totals


def build(name, options, compiler, folder, program="program"):
	"""Builds the program. Returns it, and the report of its instrumentation."""
	report = folder / f"{program}.report"
	output_of([CPPROF, "cc", "--rule", "tiny on", "--report", report, *options, "--", *compiler, FOLDER / f"{name}.c", "-o", folder / program], folder)
	return folder / program, report.read_text()


@pytest.mark.parametrize("options, compiler", [(["--explicit"], ["gcc", "-O2", "-g", *WARNINGS, *OWN]), (["--explicit"], ["clang", "-O0", "-g", *WARNINGS, *OWN]),
	([], ["tcc", "-Wall", "-lm"])])
def test_all_exits(options, compiler, tmp_path):
	stated = Stated(FOLDER / "exits.c")
	program, report = build("exits", options, compiler, tmp_path)
	printed, found = paths(program, tmp_path)
	assert printed == stated.prints(0)
	assert counts(found) == stated.counts(0)
	assert found["main;catcher;deep;deep;deep;deep"] == 1
	assert found["main;catcher;after"] == found["main;after"] == 1 # the frames that the jump left are gone
	assert sum(count for path, count in found.items() if re.fullmatch(r"main;sorted;(.*;)?compare", path)) == 3 # qsort may be between them
	for statement in stated.skipped(0):
		function, reason = statement.split(maxsplit=1)
		assert re.search(rf": {function}: skipped: .*{re.escape(reason)}", report), report


def test_functions_of_all_forms(tmp_path):
	program, _ = build("functions", ["--explicit"], ["gcc", "-O2", "-std=gnu17", *WARNINGS, "-Wno-unknown-pragmas"], tmp_path)
	printed, found = paths(program, tmp_path)
	assert printed == Stated(FOLDER / "functions.c").prints(0) and counts(found) == Stated(FOLDER / "functions.c").counts(0)


def test_paths_are_those_of_objects(tmp_path):
	usual = paths(build("levels", ["--rule", "level 4"], ["gcc", "-O0", "-g"], tmp_path, "usual")[0], tmp_path)
	for options, compiler in [(["--explicit"], ["gcc", "-O2", "-g"]), ([], ["tcc", "-g"])]:
		program, report = build("levels", [*options, "--rule", "level 4"], compiler, tmp_path, compiler[0])
		skipped, found = re.findall(r": (jumps: loop at \d+) .*a goto may lead out of it", report), paths(program, tmp_path)
		assert len(skipped) == 1
		assert found[0] == usual[0]
		assert counts(found[1]) == {name: count for name, count in counts(usual[1]).items() if name not in skipped}


def test_annotations(tmp_path):
	stated = Stated(FOLDER / "annotated.c")
	printed, found = paths(build("annotated", [], ["tcc", "-I", INCLUDE], tmp_path)[0], tmp_path)
	assert printed == stated.prints(0) and counts(found) == stated.counts(0)


def test_copies(tmp_path):
	source = tmp_path / "short.c"
	source.write_text("int f(int a)\n{\n\tif (a)\n\t\treturn 1;\n\tif (a > 1)\n\t\treturn a;\n}\nvoid g(void)\n{\n}\n")
	copy = output_of([CPPROF, "instrument", "--explicit", "--rule", "tiny on", source, "--", "gcc"], tmp_path)
	assert re.search(r"\) int cpprof_value_1;", copy)
	assert len(re.findall(r"return \(cpprof_value_1=\( \w\),CPPROF_TOOL_LEAVE\(1\),cpprof_value_1\);", copy)) == 2
	assert len(re.findall(r"^CPPROF_TOOL_LEAVE\(\d\);}$", copy, re.M)) == 2
	assert copy.count("\n") <= source.read_text().count("\n") + 3 # #include, #line, and the end of the last line
	assert "LEAVE" not in output_of([CPPROF, "instrument", "--rule", "tiny on", source, "--", "gcc"], tmp_path)
	assert "LEAVE" in output_of([CPPROF, "instrument", "--rule", "tiny on", source, "--", "tcc"], tmp_path)


@pytest.mark.parametrize("compiler", [["gcc", *PLAIN], ["gcc", "-O2", *PLAIN[:-1]], ["clang", *PLAIN], ["tcc", "-Wall", "-Werror"]])
def test_by_hand(compiler, tmp_path):
	source = tmp_path / "hand.c"
	source.write_text("""#include <cpprof/runtime.h>
static cpprof_counter *rows;
static int leaf(int n)
{
	CPPROF_ENTER;
	cpprof_tick(rows, 1);
	CPPROF_LEAVE;
	return n;
}
static int work(int n)
{
	int done = 0;
	CPPROF_ENTER;
	if (n == 0) {
		CPPROF_LEAVE;
		return 0;
	}
	for (int i = 0; i < n; i++) {
		CPPROF_ENTER_REGION(row, "row");
		done += leaf(i);
		CPPROF_LEAVE_REGION(row);
	}
	done += work(n - 1);
	CPPROF_LEAVE;
	return done;
}
int main(void)
{
	CPPROF_ENTER;
	rows = cpprof_resource("rows", "row");
	CPPROF_EVENT(1, 2);
	work(3);
	CPPROF_LEAVE;
	return 0;
}
""")
	# The header alone is enough, also for a compiler without attributes.
	output_of([*compiler, "-I", INCLUDE, "-c", source, "-o", tmp_path / "hand.o"], tmp_path)
	linker = "gcc" if compiler[0] != "tcc" else "tcc"
	output_of([CPPROF, "cc", "--", linker, tmp_path / "hand.o", "-o", tmp_path / "hand"], tmp_path)
	expected = {"main": 1}
	for depth in range(4):
		path = "main" + ";work" * (depth + 1)
		expected[path] = 1
		if depth < 3:
			expected[path + ";work: row"] = expected[path + ";work: row;leaf"] = 3 - depth
	assert paths(tmp_path / "hand", tmp_path)[1] == expected


def test_nothing_of_gnu_c_in_the_portable_part():
	text = output_of(["gcc", "-E", "-P", "-std=c99", "-DCPPROF_PORTABLE", "-x", "c", INCLUDE / "cpprof/profiler.h"], INCLUDE)
	assert "cpprof_probe_enter" in text and not re.search(r"__\w|\basm\b", text)
