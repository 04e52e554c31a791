"""Floating point exceptions by the preload backend: exact, or sampled where they are frequent, on the paths that raise them, and
without an effect that the program can see."""
import math
import re
import subprocess

import pytest
from measuring import between, near

from json_support import valid_json
from record_support import BUILD, FALSE_ALARM, REPOSITORY, amounts, build, check_amounts, hits, record, record_well, run_cpprof

MEASURED = pytest.mark.measured("the total of sampled exceptions follows from the program's CPU time, which other processes disturb")

FP = ["--backend", "preload"]
CALLS, FIRST = 200, 10000
LIBRARIES = BUILD / "src/collect/agent"


def known(level="-O2"):
	return build("fp_known.c", "-lm", f"-I{REPOSITORY / 'include'}", f"-L{LIBRARIES}", "-lcpprof", f"-Wl,-rpath,{LIBRARIES}",
		level=level)


def dear(command, microseconds=25):
	"""Returns a command that runs another one with signals that cost so much more."""
	return [build("dear_signals.c"), str(microseconds), *command]


def bare(command):
	return subprocess.run(command, capture_output=True, text=True, check=False)


KINDS = pytest.mark.parametrize("kind, functions", [
	("invalid", ["sse_invalid", "sse_invalid_integer", "x87_invalid", "x87_stored_invalid_integer",
		"packed_invalid_divzero_inexact"]),
	("divzero", ["x87_divzero", "packed_invalid_divzero_inexact"]),
	("overflow", ["sse_overflow_inexact", "x87_overflow_inexact", "x87_stored_overflow_inexact"]),
	("underflow", ["x87_underflow_inexact"]),
	("inexact", ["x87_overflow_inexact", "packed_invalid_divzero_inexact", "sse_overflow_inexact"]),
])


@KINDS
def test_each_kind_on_its_path(tmp_path, kind, functions):
	command = [build("fp_kinds.c", "-lm")]
	recorded = record_well(tmp_path, command, *FP, "-r", f"fp-{kind}/1")
	assert recorded.out == bare(command).stdout
	paths = recorded.paths(f"fp-{kind}")
	for function in functions:
		assert hits(paths, "main", function) == CALLS, (function, paths)
	assert hits(paths, "sse_exact") == hits(paths, "x87_exact") == 0


@KINDS
def test_first_exceptions_are_exact_where_signals_are_dear(tmp_path, kind, functions):
	"""The first 10,000 of a thread are counted one by one whatever that costs, and no path has some that raised none."""
	command = dear([build("fp_kinds.c", "-lm")])
	recorded = record(tmp_path, command, *FP, "-r", f"fp-{kind}/1")
	if recorded.status == 77:
		pytest.skip("tracing is not permitted")
	assert recorded.status == 0 and "sampled" not in recorded.err, recorded.err
	paths, reported = recorded.paths(f"fp-{kind}"), recorded.resource(f"fp-{kind}")
	assert reported["note"] == "exact" and reported["total"] == hits(paths), reported
	for function in functions:
		assert hits(paths, "main", function) == CALLS, (function, paths)
	assert hits(paths, "exit") == hits(paths, "_dl_fini") == 0


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


def sampled(recorded, resource):
	"""Returns the total of a resource that was sampled, and its relative error."""
	reported = recorded.resource(resource)
	found = re.fullmatch(r"([\d.]+) % estimated, ±([\d.]+) %", reported["note"])
	assert found and "sampled" in recorded.err, (reported, recorded.err)
	return reported["total"], float(found[2]) / 100


# Half the width of the interval that a normal variable leaves with a probability of FALSE_ALARM, in those of a 95 % interval.
WIDER = 5.33 / 1.96
assert math.erfc(WIDER * 1.96 / math.sqrt(2)) < FALSE_ALARM


@pytest.mark.parametrize("what, times, per_time, level", [
	("dense", 60000000, 2, "-O2"),
	("dense", 60000000, 2, "-O0"),
	("dense", 2000000, 2, "-O2"),
	("threads", 30000000, 4, "-O2"),
	("split", 1000000, 1, "-O2"),
	("split", 20000000, 1, "-O2"),
])
@MEASURED
def test_frequent_kinds_are_sampled(tmp_path, what, times, per_time, level):
	kind = "divzero" if what == "split" else "inexact"
	command = [known(level), what, str(times)]
	recorded = record_well(tmp_path, command, *FP, "-r", f"fp-{kind}/100")
	total, error = sampled(recorded, f"fp-{kind}")
	within = 2 * (1 + WIDER * error)
	between(total, times * per_time / within, times * per_time * within, (total, error))
	paths = recorded.paths(f"fp-{kind}")
	assert hits(paths, "divide" if what == "split" else "dense") == hits(paths)


@MEASURED
def test_few_exceptions_among_much_code(tmp_path):
	"""Exceptions that are too frequent to be counted, and of which few are met: the first 10,000 are counted, and the rest is not
	called exact."""
	recorded = record_well(tmp_path, [known(), "sparse", "1000000"], *FP, "-r", "fp-inexact/100")
	reported = recorded.resource("fp-inexact")
	between(reported["total"], FIRST, None, reported)
	assert reported["note"] != "exact", reported
	between(reported["total"], None, 2 * 1000000 * (1 + WIDER * 2), reported)


def split_shares(recorded):
	"""Returns {function: (true share, reported share, its error)} of a run of "split"."""
	truth = {names[-1]: gticks for name, names, gticks in amounts(recorded.out) if name == "fp-divzero"}
	result = run_cpprof("report", "--functions", "-r", "fp-divzero", "-t", 0, "-n", 0, "--format", "json", recorded.path)
	entries = {entry["path"][0]: entry for entry in valid_json(result.stdout)["results"][0]["entries"]}
	return {function: (truth[function] / sum(truth.values()), entries[function]["fraction"], entries[function]["error"])
		for function in truth}


@pytest.mark.parametrize("more_us", [0, 10, 100])
@MEASURED
def test_shares_of_sampled_paths(tmp_path, more_us):
	"""70 % of the exceptions are one function's, 30 % another's; the error has the number of windows, not of exceptions in them. 10 us
	more for each signal are four times the usual cost."""
	command = [known(), "split", "20000000"]
	recorded = record(tmp_path, dear(command, more_us) if more_us else command, *FP, "-r", "fp-divzero/1")
	if recorded.status == 77:
		pytest.skip("tracing is not permitted")
	assert recorded.status == 0, recorded.err
	sampled(recorded, "fp-divzero")
	for function, (true, share, error) in split_shares(recorded).items():
		assert error > 0.01, (function, true, share, error)
		near(share, true, WIDER * error, (function, true, share, error))
	paths = recorded.paths("fp-divzero")
	assert hits(paths, "divide") == hits(paths)
	if more_us: # the first 10,000 are counted one by one, and what comes until the cost of a signal is noticed
		assert int(re.search(r"dear_signals: (\d+) signals", recorded.err)[1]) < 30000


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


@pytest.mark.parametrize("how", ["work", "fenv", "jump"])
def test_signals_between_two_stepped_instructions(tmp_path, how):
	"""A handler that interrupts a step returns to it, or does not: neither ends the program."""
	recorded = record(tmp_path, [build("fp_handlers.c", "-lm"), how], *FP, "-r", "fp-inexact/100")
	assert recorded.status == 0, recorded.err
	assert re.fullmatch(r"handled \d+, wrong 0\n", recorded.out)
