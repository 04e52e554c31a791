"""Waits and calls that are unfinished when the program ends are in the profile."""
import pytest
from measuring import between
from record_support import build, hits, record, run_cpprof, show

pytestmark = pytest.mark.measured("the samples of threads that end at once are counted")



@pytest.mark.parametrize("resource", ["real", "blocked"])
def test_waits_that_do_not_end(tmp_path, resource):
	"""Three threads wait for a second each until they are killed: two would wait forever, one would return at that moment."""
	recorded = record(tmp_path, [build("waits_at_end.c")], "--backend", "preload", "-r", f"{resource}/1ms")
	assert recorded.status == 128 + 9, recorded.err
	paths = recorded.paths()
	between(hits(paths, "main", "waits", "poll"), 1980, 2200, show(paths))
	between(hits(paths, "main", "ends", "poll"), 990, 1100, show(paths))
	reported = recorded.resource(resource)
	between(reported["total"] * 1e-6, 2.97, 3.4, reported)


def test_nothing_of_a_resource(tmp_path):
	"""A resource that was never used has no missing part."""
	recorded = record(tmp_path, ["/bin/true"], "--backend", "preload", "-r", "write-bytes", "-r", "own:nothing")
	reported = run_cpprof("info", recorded.path)
	assert "nan" not in reported.stdout + reported.stderr + recorded.err, reported.stdout


def test_many_samples_of_what_is_short_or_nobody_waits_for(tmp_path):
	"""A program that ends at once is not reported as slowed by its samples, nor is a daemon, whose CPU time is unknown."""
	copy = "dd if=/dev/zero of=/dev/null bs=1 count=600 status=none" # 1,200 calls: enough samples for the report
	for command in (copy, f"setsid {copy} & sleep 0.5"):
		recorded = record(tmp_path, ["/bin/sh", "-c", command], "--backend", "preload", "-r", "io-calls/1")
		assert recorded.closing()[0] > 1000, recorded.err
		assert "slow the program" not in recorded.err, recorded.err
