"""The hits of CPU time add up to its counted total, also for processes that end before their first interval."""
import math
import re
import sys

import pytest
from record_support import hits, needs_bpf, needs_perf, record

PROCESSES = 300
SHORT_PROCESSES = ["sh", "-c", f"i=0; while [ $i -lt {PROCESSES} ]; do /bin/true; i=$((i+1)); done"]
# The probability of a difference beyond this is below record_support.FALSE_ALARM. Clocks at even intervals vary less.
STANDARD_ERRORS = 5.3


@needs_bpf
def test_bpf(tmp_path):
	"""The kernel's account lacks 7 to 15 % of such processes' time: it charges the time between a wakeup of the monitor and the
	switch to it to the monitor. The total comes from the same switches as the samples' threads, and lacks nothing."""
	recorded = record(tmp_path, SHORT_PROCESSES, "--backend", "bpf", "-r", "cpu/1ms")
	cpu = recorded.resource("cpu")
	expected = cpu["total"] / 1e6
	assert expected > 100, cpu
	# Each process begins within an interval, at any point of it; this is the standard deviation of their sum.
	chance = math.sqrt(PROCESSES / 12)
	assert abs(cpu["hits"] + cpu["lost"] - expected) <= STANDARD_ERRORS * chance + 0.03 * expected, cpu
	assert hits(recorded.paths("cpu"), "[not sampled]") == 0


# Prints the kernel's account of itself and of the processes below it, in ms.
ACCOUNT = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print("account", 1000 * sum(one.ru_utime + one.ru_stime for one in of))"""


@pytest.mark.parametrize("backend", [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"])
def test_total_and_account(tmp_path, backend):
	"""The total is the account (perf and preload, which have no better source), or more, by what the account charges to the
	recorder that is woken. The hits, with those that were not sampled, add up to it."""
	recorded = record(tmp_path, [sys.executable, "-c", ACCOUNT, *SHORT_PROCESSES], "--backend", backend, "-r", "cpu/1ms")
	account = float(re.search(r"^account ([\d.]+)$", recorded.out, re.MULTILINE)[1])
	cpu = recorded.resource("cpu")
	total = cpu["total"] / 1e6
	assert account > 100 and total >= 0.98 * account, cpu
	exit_ms = 100 # of the interpreter, after its last look at the account
	assert total <= (1.3 if backend == "bpf" else 1.02) * account + exit_ms, f"{account} ms {cpu}"
	assert abs(hits(recorded.paths("cpu")) + cpu["lost"] - total) <= STANDARD_ERRORS * math.sqrt(PROCESSES / 12) + 0.03 * total, cpu


@needs_bpf
def test_whole_machine(tmp_path):
	"""With -a the time on a processor is counted too, without the idle time of the processors."""
	recorded = record(tmp_path, SHORT_PROCESSES, "--backend", "bpf", "-a", "-r", "cpu/500us")
	cpu = recorded.resource("cpu")
	expected = cpu["total"] / 500e3
	assert expected > 100, cpu
	assert abs(cpu["hits"] + cpu["lost"] - expected) <= STANDARD_ERRORS * math.sqrt(expected), cpu


@pytest.mark.parametrize("backend", [pytest.param("perf", marks=needs_perf), "preload"])
def test_time_without_samples(tmp_path, backend):
	"""Where intervals begin with the thread, or the library is loaded late, the rest is one row: fractions are of all the time."""
	recorded = record(tmp_path, SHORT_PROCESSES, "--backend", backend, "-r", "cpu/1ms")
	cpu = recorded.resource("cpu")
	expected = cpu["total"] / 1e6
	paths = recorded.paths("cpu")
	assert expected > 100, cpu
	assert abs(hits(paths) - expected) <= max(5, 0.02 * expected), cpu
	assert hits(paths, "[not sampled]") > 0.2 * expected, cpu
	assert "% of cpu not sampled" in recorded.err


def test_whole_time_is_sampled(tmp_path):
	"""A program with one long thread has no such row."""
	recorded = record(tmp_path, ["sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done"], "--backend", "preload")
	assert hits(recorded.paths("cpu"), "[not sampled]") == 0
