"""
The source instrumenter and C: programs with every construct are compiled by both compilers with Profiler objects, without a
warning. They print the same output, and have the numbers of calls that they state.
"""
import json
import os
import re
import subprocess

import pytest
from record_support import CPPROF, PROGRAMS, SECONDS_ALLOWED, run_cpprof
from source_cxx_support import Stated

FOLDER = PROGRAMS / "source/c"
INCLUDE = PROGRAMS.parents[1] / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
MARK = re.compile(r"/\* (loop|call|block) (\d+) \*/")
WITHIN = re.compile(r".*: (loop|call|block)(?: of \w+)? at (\d+)$")


class Built:
	"""A program that is compiled through `cpprof cc`."""

	def __init__(self, source, compiler, options, folder, rules=("tiny on",)):
		folder.mkdir()
		self.path, self.report, self.folder = folder / "program", folder / "report", folder
		chosen = [word for rule in rules for word in ("--rule", rule)]
		result = subprocess.run([CPPROF, "cc", *chosen, "--report", self.report, "--", compiler, "-g", *WARNINGS, *options, source, "-o", self.path],
			capture_output=True, text=True, check=False, timeout=SECONDS_ALLOWED, cwd=FOLDER)
		assert result.returncode == 0 and not result.stderr, result.stderr

	def run(self):
		"""Runs the program. Returns its output, and {probe point: count}."""
		data = self.folder / "run.data"
		result = subprocess.run([self.path], capture_output=True, text=True, check=False, timeout=SECONDS_ALLOWED, cwd=self.folder,
			env={**os.environ, "CPPROF_OUTPUT": str(data), "CPPROF_MEASURE": "paths"})
		assert result.returncode == 0, result.stderr
		report = run_cpprof("report", "--body", "-r", "calls", "--no-inlines", "--untrimmed", "-n", 0, "-t", 0, "--format", "json", data)
		assert report.returncode == 0, report.stderr
		return result.stdout.splitlines(), {entry["path"][-1]: entry["hits"] for entry in json.loads(report.stdout)["results"][0]["entries"]}


def check(name, compiler, options, folder):
	stated = Stated(FOLDER / f"{name}.c")
	built = Built(stated.path, compiler, options, folder)
	output, counts = built.run()
	assert output == stated.prints(0)
	assert counts == stated.counts(0)
	report = built.report.read_text()
	for statement in stated.skipped(0):
		function, reason = statement.split(maxsplit=1)
		assert re.search(rf": {function}: skipped: .*{re.escape(reason)}", report), report
	return report


def test_functions_that_the_library_calls_too(tmp_path):
	check("library", "gcc", ["-std=gnu17", "-O1", "-fno-builtin"], tmp_path / "built")


@pytest.mark.parametrize("compiler, options", [("gcc", ["-std=gnu89", "-O0"]), ("gcc", ["-std=gnu17", "-O2"]), ("clang", ["-std=gnu99", "-O3"])])
def test_functions(compiler, options, tmp_path):
	own = ["-Wno-old-style-definition" if compiler == "clang" else "-Wno-unknown-pragmas"]
	report = check("functions", compiler, [*options, *own], tmp_path / "built")
	assert re.search(r": self: .*calls itself last", report)


def test_functions_of_gnu_c_within_functions(tmp_path):
	check("nested", "gcc", ["-O1"], tmp_path / "built")


@pytest.mark.parametrize("compiler, options", [("gcc", ["-O2"]), ("clang", ["-O0"])])
def test_places_within_functions(compiler, options, tmp_path):
	source = FOLDER / "levels.c"
	wanted = {}
	for number, line in enumerate(source.read_text().splitlines(), 1):
		for kind, count in MARK.findall(line):
			wanted[kind, number] = int(count)
	output, counts = Built(source, compiler, options, tmp_path / "built", ["level 4", "tiny on"]).run()
	assert output == Stated(source).prints(0)
	found = {}
	for name, count in counts.items():
		match = WITHIN.match(name)
		if match:
			key = match.group(1), int(match.group(2))
			found[key] = found.get(key, 0) + count
	assert found == wanted


def test_annotations(tmp_path):
	built = Built(FOLDER / "annotated.c", "gcc", ["-I", INCLUDE], tmp_path / "built")
	output, counts = built.run()
	assert output == Stated(FOLDER / "annotated.c").prints(0)
	assert counts == Stated(FOLDER / "annotated.c").counts(0)
	report = built.report.read_text()
	assert re.search(r": quiet: skipped: switched off in the source", report)
	assert re.search(r": fine: skipped: finer than the selected level", report)
	groups = run_cpprof("report", "--groups", "-r", "calls", built.folder / "run.data").stdout
	assert re.search(r"\bio\b", groups) and re.search(r"\bnet\b", groups)


def test_branches_that_clang_does_not_take(tmp_path):
	source = tmp_path / "branches.c"
	source.write_text("""#ifdef __clang__
int f(void) { return 1; }
#elif __GNUC__ >= 7
int f(void) { return 0; }
#endif
#if 0
int g(void) { return 3; }
#endif
int main(void) { return f(); }
""")
	report = Built(source, "gcc", [], tmp_path / "gcc").report.read_text()
	assert re.findall(r":(\d+): lines 3 to 5 \(region\): skipped: a branch of #if that clang does not take", report) == ["3"]
	assert "lines" not in Built(source, "clang", [], tmp_path / "clang").report.read_text()


def test_what_clang_does_not_understand_outside_of_functions(tmp_path):
	"""Code outside of functions that clang does not accept is an error, also with loops after it. (An error inside a function
	affects only that function.)"""
	source = tmp_path / "outside.c"
	source.write_text("""register long kept __asm__("r15");
int main(void)
{
	for (kept = 0; kept < 3; kept++)
		;
	return 0;
}
""")
	for level in ("1", "4"):
		result = run_cpprof("instrument", "--rule", f"level {level}", source, "--", "gcc")
		assert result.returncode == 1 and re.search(r"outside\.c:1: .*r15", result.stderr), result.stderr
