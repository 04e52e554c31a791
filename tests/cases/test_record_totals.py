"""The hits of a resource add up to its counted total, also for processes that end before their first interval."""
import math
import re
import sys

import pytest
from measuring import between, near
from record_support import BACKENDS, COUNTED, build_counted, hits, needs_bpf, record, record_counted

MEASURED = pytest.mark.measured("a process that begins within an interval has a part of it, which varies")
PROCESSES = 300
SHORT_PROCESSES = ["sh", "-c", f"i=0; while [ $i -lt {PROCESSES} ]; do /bin/true; i=$((i+1)); done"]
# The probability of a difference beyond this is below record_support.FALSE_ALARM. Clocks at even intervals vary less.
STANDARD_ERRORS = 5.3


@pytest.mark.parametrize("backend", BACKENDS)
def test_events(tmp_path, backend):
	"""The total of a counter is exact."""
	recorded = record_counted(backend, tmp_path, ["sh", "-c", f"for i in 1 2; do {build_counted(backend, 'spawn.c', event_us=10000)} fork; done"])
	counted = recorded.resource(COUNTED[backend][1].removesuffix("/1"))
	assert counted["total"] == counted["hits"] == hits(recorded.paths()), counted
	assert hits(recorded.paths(), "countable_event") == 2 * 40


# Prints the kernel's account of itself and of the processes below it, in ms.
ACCOUNT = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print("account", 1000 * sum(one.ru_utime + one.ru_stime for one in of))"""


@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
def test_total_and_account(tmp_path, backend):
	"""The total is the account (perf and preload, which have no better source), or more, by what the account charges to the
	recorder that is woken. The hits add up to it: where intervals begin with the thread, or the library is loaded late, the
	rest is one row."""
	recorded = record(tmp_path, [sys.executable, "-c", ACCOUNT, *SHORT_PROCESSES], "--backend", backend, "-r", "cpu/1ms")
	account = float(re.search(r"^account ([\d.]+)$", recorded.out, re.MULTILINE)[1])
	cpu, paths = recorded.resource("cpu"), recorded.paths("cpu")
	total = cpu["total"] / 1e6
	assert account > 100, cpu
	between(total, 0.98 * account, None, cpu)
	exit_ms = 100 # of the interpreter, after its last look at the account
	between(total, None, (1.3 if backend == "bpf" else 1.02) * account + exit_ms, f"{account} ms {cpu}")
	near(hits(paths) + cpu["lost"], total, STANDARD_ERRORS * math.sqrt(PROCESSES / 12) + 0.03 * total, cpu)
	if backend == "bpf":
		assert hits(paths, "[not sampled]") == 0
	else:
		between(hits(paths, "[not sampled]"), 0.2 * total, None, cpu)
		assert "% of cpu not sampled" in recorded.err, cpu


@MEASURED
@needs_bpf
def test_whole_machine(tmp_path):
	"""With -a the time on a processor is counted too, without the idle time of the processors."""
	recorded = record(tmp_path, SHORT_PROCESSES, "--backend", "bpf", "-a", "-r", "cpu/500us")
	cpu = recorded.resource("cpu")
	expected = cpu["total"] / 500e3
	assert expected > 100, cpu
	near(cpu["hits"] + cpu["lost"], expected, STANDARD_ERRORS * math.sqrt(expected), cpu)


@MEASURED
def test_whole_time_is_sampled(tmp_path):
	"""A program with one long thread has no row of time that was not sampled."""
	recorded = record(tmp_path, ["sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done"], "--backend", "preload")
	assert hits(recorded.paths("cpu"), "[not sampled]") == 0
