"""Threads that end soon: the library samples their waits in proportion to what the waits use, like all other code."""
import pytest
from measuring import between
from record_support import agrees, build, hits, record, record_well, show, tolerance, truths

THREADS = 300


@pytest.mark.parametrize("resource", ["cpu/1s", "sys/1s", "real/1s", "blocked/1s"])
def test_first_waits(tmp_path, resource):
	"""Each of 300 threads waits for a millisecond and ends, all in all within a second of real time and hundredths of a second of CPU
	time. So there are a few samples at intervals of a second, not one of each thread's first wait."""
	recorded = record(tmp_path, [build("requests.c"), str(THREADS), "0"], "--backend", "preload", "-r", resource)
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = recorded.paths(resource.split("/")[0])
	assert hits(paths, "wait_for_client", "poll") < THREADS / 3, show(paths)


@pytest.mark.measured("the waits and the work of a thread are timed by its own clock")
def test_shares(tmp_path):
	"""Threads that each use a fraction of an interval: the shares are true, and the hits are not more than the total. (The library does
	not observe the first and the last moments of a thread.)"""
	recorded = record_well(tmp_path, [build("requests.c"), "3000", "300"], "--backend", "preload", "-r", "cpu/1ms")
	paths = recorded.paths()
	for names, fraction in truths(recorded.out):
		agrees(paths, names, fraction, ["compute", "wait_for_client"])
	cpu = recorded.resource("cpu")
	expected = cpu["total"] / 1e6
	sampled = hits(paths) - hits(paths, "[not sampled]")
	between(sampled / expected, 0.5, 1 + 2 * tolerance(0.5, expected), cpu)
	assert "sampled than counted" not in recorded.err, recorded.err
