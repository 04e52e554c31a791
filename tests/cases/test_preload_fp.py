"""Floating point exceptions by the preload backend: exact, up to a limit where they are frequent, on the paths that raise them, and
without an effect that the program can see."""
import re
import subprocess

import pytest

from record_support import BUILD, REPOSITORY, build, check_amounts, hits, record, record_well

FP = ["--backend", "preload"]
# Each thread counts so many of a kind at any time, and as many more in each second.
CALLS, LIMIT = 200, 10000
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
	assert recorded.status == 0 and "frequent" not in recorded.err, recorded.err
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


FREQUENT = "at least so many: frequent, not counted further"


def record_frequent(folder, what, *options, times=1000000, kind="divzero"):
	"""Records a mode of fp_known.c that raises too many exceptions. Checks that their total is a lower bound, and that each is a hit or, where the
	recorder got no processor for long, a lost one."""
	recorded = record(folder, [known(), what, str(times)], *FP, "-r", f"fp-{kind}/1", *options)
	reported = recorded.resource(f"fp-{kind}")
	assert recorded.status == 0 and reported["note"] == FREQUENT and "not counted further" in recorded.err, (reported, recorded.err)
	assert reported["total"] == reported["hits"] + reported["lost"] and reported["hits"] == hits(recorded.paths(f"fp-{kind}")), reported
	return recorded


def lost_of(recorded, kind):
	return recorded.resource(f"fp-{kind}")["lost"]


def allowed(recorded, threads=1):
	"""Returns how many exceptions of a kind so many threads count at most."""
	return threads * LIMIT * (1 + recorded.info()["duration_s"])


def test_frequent_kinds_are_counted_up_to_the_limit(tmp_path):
	"""Each counted one of a million exceptions is on its path: 700 of each thousand in one function and 300 in the other."""
	recorded = record_frequent(tmp_path, "split")
	paths = recorded.paths("fp-divzero")
	lost = lost_of(recorded, "divzero")
	total = hits(paths) + lost
	assert LIMIT <= total <= allowed(recorded), total
	thousands, rest = divmod(total, 1000)
	for function, count in (("seven_tenths", 700 * thousands + min(rest, 700)), ("three_tenths", 300 * thousands + max(rest - 700, 0))):
		assert count - lost <= hits(paths, "main", "split", function, "divide") <= count, (total, lost, paths)


def test_each_thread_has_a_limit(tmp_path):
	recorded = record_frequent(tmp_path, "threads", kind="inexact")
	paths = recorded.paths("fp-inexact")
	for within in (["dense_thread", "dense"], ["dense"]):
		threads = 1 if len(within) > 1 else 2
		assert threads * LIMIT - lost_of(recorded, "inexact") <= hits(paths, *within) <= allowed(recorded, threads), paths


def test_exceptions_of_a_long_run_are_exact(tmp_path):
	"""More than the limit in the whole run, but not at any time."""
	recorded = record_well(tmp_path, [known(), "pause", "8000"], *FP, "-r", "fp-divzero/1")
	reported = recorded.resource("fp-divzero")
	assert (reported["note"], reported["total"], reported["hits"]) == ("exact", 16000, 16000), reported


def test_a_frequent_kind_does_not_hide_others(tmp_path):
	recorded = record_frequent(tmp_path, "kinds", "-r", "fp-divzero/1", kind="inexact")
	reported = recorded.resource("fp-divzero")
	assert (reported["note"], reported["total"]) == ("exact", 500), reported
	assert hits(recorded.paths("fp-divzero"), "few", "divide") == 500 - reported["lost"]


@pytest.mark.measured("the limit of the unit is a rate, which a slow machine does not reach")
def test_frequent_instructions_of_the_legacy_unit(tmp_path):
	"""They trap whether or not they raise something. Nothing is known about the kinds that they raise later: each total is a lower bound. On a
	machine so slow that the unit's own limit, which is a rate, is not reached, the rare kind is exact."""
	recorded = record_frequent(tmp_path, "x87", "-r", "fp-divzero/1", kind="inexact", times=100000)
	rare, inexact = recorded.resource("fp-divzero"), recorded.resource("fp-inexact")
	assert rare["total"] == 500 and rare["note"] in (FREQUENT, "exact"), rare
	assert LIMIT <= inexact["total"] < 100000, inexact


def test_each_start_begins_anew(tmp_path):
	recorded = record_frequent(tmp_path, "again", "--paused")
	assert hits(recorded.paths("fp-divzero"), "main", "second_time", "divide") == 5000


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
