"""Very many waiting threads: their ticks must not take the time of the processors."""
import os
import re
import subprocess

import pytest
from measuring import between
from record_support import CPPROF, build, hits, record_well, show

INTERVAL_US = 1000
FINDING = "fewer ticks"
SECONDS = 60
TRIES, MOST_TIMES = 3, 12


def budget_of_a_second():
	"""As src/collect/agent/ticks/budget.c."""
	return max(4000, len(os.sched_getaffinity(0)) * min(4000, 4 * 1_000_000 // INTERVAL_US))


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
@pytest.mark.parametrize("resource", ["real", "blocked"])
def test_ticks_have_a_budget(resource, tmp_path):
	"""900 threads that wait at a barrier: the samples stay within twice the budget and six of each thread, which are taken before the
	rate is known; one for each ms of each thread would be 900,000 a second. Their hits are as of the longer distances."""
	threads, meetings = 900, 60
	program = [build("thread_crowd.c"), str(threads), str(meetings)]
	recorded = record_well(tmp_path, program, "--backend", "preload", "-r", f"{resource}/{INTERVAL_US}us")
	assert recorded.out == f"{threads} threads met {meetings} times\n"
	between(recorded.closing()[0], None, 2 * budget_of_a_second() * recorded.info()["duration_s"] + 6 * threads, recorded.err)
	assert FINDING in recorded.err, recorded.err
	total, found = recorded.resource(resource)["total"] / INTERVAL_US, hits(recorded.paths(resource))
	between(found, 0.5 * total, 1.05 * total, recorded.err)
	between(hits(recorded.paths(resource), "meet", "pthread_barrier_wait"), 0.8 * found, None, show(recorded.paths(resource)))


def test_a_crowd_takes_little_longer(tmp_path):
	"""900 threads that meet three times take a few times as long as without cpprof, by the program's own clock. With a tick for each ms
	of each thread, they took 47 times as long."""
	program = [build("thread_crowd.c"), "900", "3"]
	command = [CPPROF, "record", "--backend", "preload", "-r", f"real/{INTERVAL_US}us", "-o", tmp_path / "out.data", "--"]
	def seconds(before):
		"""Returns the shortest of some runs: other programs of the machine may take its processors."""
		runs = [subprocess.run([*before, *program], check=True, capture_output=True, text=True, timeout=SECONDS).stderr for _ in range(TRIES)]
		return min(float(re.search(r"^took ([\d.]+) s$", run, re.MULTILINE)[1]) for run in runs)
	bare = seconds([])
	assert seconds(command) < MOST_TIMES * bare


def test_a_short_interval_takes_no_more(tmp_path):
	"""The budget is one of the processors' time: with a tenth of the interval, the threads do not have ten times the ticks. They had 30 times
	as many, because the program took 30 times as long."""
	def samples(interval):
		recorded = record_well(tmp_path, [build("thread_crowd.c"), "600", "3"], "--backend", "preload", "-r", f"real/{interval}us", timeout=SECONDS)
		assert FINDING in recorded.err, recorded.err
		return recorded.closing()[0]
	assert samples(INTERVAL_US // 10) < 10 * samples(INTERVAL_US)


def test_a_larger_crowd_ends(tmp_path):
	program = [build("thread_crowd.c"), "1500", "3"]
	subprocess.run(program, check=True, capture_output=True, timeout=SECONDS)
	recorded = record_well(tmp_path, program, "--backend", "preload", "-r", f"real/{INTERVAL_US}us", timeout=SECONDS)
	assert recorded.out == "1500 threads met 3 times\n"


def test_few_threads_keep_their_interval(tmp_path):
	recorded = record_well(tmp_path, [build("thread_crowd.c"), "4", "300"], "--backend", "preload", "-r", f"real/{INTERVAL_US}us")
	assert FINDING not in recorded.err, recorded.err
