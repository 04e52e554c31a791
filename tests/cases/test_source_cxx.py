"""
The source instrumenter and C++: programs with every construct are compiled by both compilers for each standard with a Profiler
object in each function, without a warning. They print the same output, and have the numbers of calls that they state (which are
callgrind's).

Each compiler builds each program once; the standards and the levels of optimisation alternate from program to program.
CPPROF_SOURCE_MATRIX=full in the environment builds all combinations.
"""
import os
import re
import subprocess

import pytest
from source_cxx_support import FOLDER, Stated, counted
from record_support import CHECKED, CPPROF, SECONDS_ALLOWED

COMPILERS = ["g++", "clang++"]
# At -O2 gcc and clang inline almost all functions, with their objects.
LEVELS = ["-O0", "-O2"]
SPELLED = {23: "2b"}
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
IS_FULL = os.environ.get("CPPROF_SOURCE_MATRIX") == "full"
PROGRAMS = {path.stem: Stated(path) for path in sorted(FOLDER.glob("*.cc"))}


def builds(name):
	"""Returns [(compiler, standard, level)] for a program."""
	standards = PROGRAMS[name].standards
	number = list(PROGRAMS).index(name)
	if IS_FULL:
		return [(compiler, standard, level) for compiler in COMPILERS for standard in standards for level in LEVELS]
	return [(compiler, standards[(number + order * 2) % len(standards)], LEVELS[(number // 2 + order) % 2]) for order, compiler in enumerate(COMPILERS)]


class Built:
	"""A program that is compiled through `cpprof cxx`."""

	def __init__(self, stated, compiler, standard, level, folder, options=()):
		self.path, self.folder = folder / stated.path.stem, folder
		self.report = folder / "report"
		command = [CPPROF, "cxx", "--rule", "tiny on", "--report", self.report, "--", compiler, f"-std=c++{SPELLED.get(standard, standard)}",
			level, "-g", *CHECKED, *WARNINGS, *stated.options, *options, stated.path, "-o", self.path]
		result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_ALLOWED, cwd=stated.path.parent)
		assert result.returncode == 0, result.stderr
		self.said = result.stderr

	def run(self, **environment):
		self.data = self.folder / "run.data"
		return subprocess.run([self.path], capture_output=True, text=True, check=False, timeout=SECONDS_ALLOWED, cwd=self.folder,
			env={**os.environ, "CPPROF_OUTPUT": str(self.data), "CPPROF_MEASURE": "paths", **environment})


def differences_of(stated, compiler, standard, level, folder):
	folder = folder / f"{compiler}-{standard}{level}"
	folder.mkdir()
	built = Built(stated, compiler, standard, level, folder)
	what = f"{compiler} {standard} {level}"
	found = [f"{what}: said {built.said}"] if built.said else []
	result = built.run()
	if result.returncode != 0 or result.stdout.splitlines() != stated.prints(standard):
		return [*found, f"{what}: status {result.returncode}: {result.stdout}{result.stderr}"]
	calls, wanted = counted(built.data), stated.counts(standard)
	found += [f"{what}: {name}: {calls.get(name, 0)} calls, not {wanted.get(name, 0)}" for name in sorted({*calls, *wanted})
		if calls.get(name, 0) != wanted.get(name, 0)]
	report = built.report.read_text()
	for statement in stated.skipped(standard):
		name, reason = statement.split(maxsplit=1)
		if not re.search(rf"{re.escape(name)}: skipped: .*{re.escape(reason)}", report):
			found.append(f"{what}: {name} was not skipped for {reason}: {report}")
	return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_constructs(name, tmp_path):
	found = [line for build in builds(name) for line in differences_of(PROGRAMS[name], *build, tmp_path)]
	assert not found, "\n".join(found)


def test_what_cannot_be_constant_yet_is_left_alone(tmp_path):
	stated = PROGRAMS["constants"]
	report = Built(stated, "g++", 11, "-O0", tmp_path).report.read_text()
	assert re.search(r": square: skipped: constexpr before C\+\+14", report)
	assert re.search(r": plain: instrumented", report)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_classes_are_called(compiler, tmp_path):
	"""cpprof_enter adds 1 and cpprof_leave 100, for each object: there are four calls of each class's functions."""
	result = Built(PROGRAMS["member_hooks"], compiler, 14, "-O1", tmp_path).run()
	assert result.stderr == "counted 404404\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_finer_levels(compiler, tmp_path):
	"""Loops, statements and blocks are instrumented in code that may be constant, and in code into which nothing can be inlined."""
	for name in ["constants", "attributes", "templates", "control"]:
		stated, folder = PROGRAMS[name], tmp_path / name
		folder.mkdir()
		rules = folder / "rules"
		rules.write_text("level 4\n")
		os.environ["CPPROF_SELECT"] = str(rules)
		try:
			built = Built(stated, compiler, 17, "-O1", folder)
		finally:
			del os.environ["CPPROF_SELECT"]
		assert not built.said
		assert built.run().stdout.splitlines() == stated.prints(17)
