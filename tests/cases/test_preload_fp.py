"""Floating point exceptions by the preload backend: exact, on the paths that raise them, and without an effect that the program
can see."""
import subprocess

import pytest

from record_support import BUILD, REPOSITORY, build, check_amounts, hits, record, record_well, run_cpprof

MEASURED = pytest.mark.measured("frequent exceptions are estimated, within a factor of two for usual code")

FP = ["--backend", "preload"]
CALLS = 200
LIBRARIES = BUILD / "src/collect/agent"


def known(level="-O2"):
	return build("fp_known.c", "-lm", f"-I{REPOSITORY / 'include'}", f"-L{LIBRARIES}", "-lcpprof", f"-Wl,-rpath,{LIBRARIES}",
		level=level)


def bare(command):
	return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind, functions", [
	("invalid", ["sse_invalid", "sse_invalid_integer", "x87_invalid", "x87_stored_invalid_integer",
		"packed_invalid_divzero_inexact"]),
	("divzero", ["x87_divzero", "packed_invalid_divzero_inexact"]),
	("overflow", ["sse_overflow_inexact", "x87_overflow_inexact", "x87_stored_overflow_inexact"]),
	("underflow", ["x87_underflow_inexact"]),
	("inexact", ["x87_overflow_inexact", "packed_invalid_divzero_inexact", "sse_overflow_inexact"]),
])
def test_each_kind_on_its_path(tmp_path, kind, functions):
	command = [build("fp_kinds.c", "-lm")]
	recorded = record_well(tmp_path, command, *FP, "-r", f"fp-{kind}/1")
	assert recorded.out == bare(command).stdout
	paths = recorded.paths(f"fp-{kind}")
	for function in functions:
		assert hits(paths, "main", function) == CALLS, (function, paths)
	assert hits(paths, "sse_exact") == hits(paths, "x87_exact") == 0


def test_denormal_operands(tmp_path):
	recorded = record_well(tmp_path, [build("fp_kinds.c", "-lm")], *FP, "-r", "fp-denormal/1")
	assert hits(recorded.paths("fp-denormal"), "main", "sse_denormal") == 2 * CALLS


def test_the_programs_own_traps_are_its_own(tmp_path):
	command = [build("fp_own.c", "-lm", level="-O1")]
	recorded = record(tmp_path, command, *FP, "-r", "fp-exceptions/1", "-r", "fp-inexact/1")
	assert (recorded.status, recorded.out) == (0, bare(command).stdout)


@pytest.mark.parametrize("how", ["int", "fpe"])
def test_death_by_the_programs_own_trap(tmp_path, how):
	recorded = record(tmp_path, [build("fp_own.c", "-lm", level="-O1"), how], *FP, "-r", "fp-inexact/1")
	assert recorded.status == 128 + 8, recorded.err


@pytest.mark.parametrize("what, times, per_time, level", [
	("dense", 60000000, 2, "-O2"),
	("dense", 60000000, 2, "-O0"),
	("dense", 2000000, 2, "-O2"),
	("threads", 30000000, 4, "-O2"),
	("threads", 2000000, 4, "-O2"),
	("sparse", 1000000, 1, "-O2"),
	("sparse", 1000000, 1, "-O0"),
])
@MEASURED
def test_frequent_kinds_are_estimated(tmp_path, what, times, per_time, level):
	command = [known(level), what, times]
	recorded = record_well(tmp_path, list(map(str, command)), *FP, "-r", "fp-inexact/1000")
	reported = recorded.resource("fp-inexact")
	assert 0.45 < reported["total"] / (times * per_time) < 2.2, reported
	assert "estimated" in recorded.err or "estimated" in run_cpprof("info", recorded.path).stdout
	function = what if what != "threads" else "dense"
	assert hits(recorded.paths("fp-inexact"), function) > 0.9 * reported["hits"]


def test_windows_of_start_and_stop(tmp_path):
	recorded = record_well(tmp_path, [known(), "windows"], *FP, "--paused", "-r", "fp-divzero/1")
	check_amounts(recorded, "fp-divzero")


def test_forked_and_executed_processes(tmp_path):
	recorded = record_well(tmp_path, [known(), "forks"], *FP, "-r", "fp-divzero/1")
	assert "status 0" in recorded.out
	check_amounts(recorded, "fp-divzero")


def test_packed_instructions_in_threads(tmp_path):
	recorded = record(tmp_path, [known(), "avx"], *FP, "-r", "fp-divzero/1", "-r", "fp-inexact/1")
	if recorded.status == 77:
		pytest.skip("the processor has no AVX")
	assert recorded.status == 0, recorded.err
	check_amounts(recorded, "fp-divzero")
	check_amounts(recorded, "fp-inexact")


def test_blocked_signals_do_not_end_it(tmp_path):
	command = [known(), "blocked"]
	recorded = record_well(tmp_path, command, *FP, "-r", "fp-divzero/1")
	assert recorded.out == bare(command).stdout
	check_amounts(recorded, "fp-divzero")
