"""Threads that compiler hooks count: no call is lost, however many threads run at a time, and each call is counted in its
thread."""
import json

import pytest
from hooks_support import HOOKS, Counted, Program, by_base_name
from record_support import folded, run_cpprof


@pytest.mark.parametrize("measurement", ["arcs", "paths"])
@pytest.mark.parametrize("hook", HOOKS)
def test_80_million_calls_on_4_threads(hook, measurement, tmp_path):
	counted = Counted([Program("steps", hook).path, "4", "20000000"], tmp_path, measurement)
	assert counted.status == 0, counted.err
	calls = by_base_name(counted.calls())
	assert (calls["step"], calls["count"], calls["main"]) == (80_000_000, 4, 1)


@pytest.mark.parametrize("hook", HOOKS)
def test_each_thread_has_its_own_calls(hook, tmp_path):
	counted = Counted([Program("steps", hook).path, "6", "1000", "10"], tmp_path, "paths")
	assert counted.status == 0, counted.err
	threads = counted_threads(counted.path)
	assert sorted(threads) == [1, 1001, 1011, 1021, 1031, 1041, 1051]


def counted_threads(path):
	"""The number of calls of each thread."""
	info = json.loads(run_cpprof("info", "--format", "json", path).stdout)
	found = []
	for number in range(1, len(info["threads"]) + 1): # an id may be given to a second thread
		result = run_cpprof("report", "--body", "-r", "calls", "--thread", f"#{number}", "-n", 0, "-t", 0, "--format", "json", path)
		assert result.returncode == 0, result.stderr
		found.append(sum(entry["hits"] for entry in json.loads(result.stdout)["results"][0]["entries"]))
	return found


@pytest.mark.parametrize("hook", HOOKS)
def test_more_threads_than_tables(hook, tmp_path):
	counted = Counted([Program("short_threads", hook).path], tmp_path, "paths")
	assert counted.status == 0, counted.err
	calls = by_base_name(counted.calls())
	assert (calls["step"], calls["count"], calls["main"]) == (2000 * 7, 2000, 1)


@pytest.mark.parametrize("hook", HOOKS)
def test_paths_of_threads_begin_where_they_were_created_and_end_with_them(hook, tmp_path):
	"""Applies also to a child process that such a thread has forked, and to functions that run after pthread_exit."""
	counted = Counted(Program("thread_paths", hook).command, tmp_path, "paths")
	assert counted.status == 0, counted.err
	foreign = "__nptl_deallocate_tsd"
	threads = {creator + below for creator in (("again",), ("again", "again")) for below in (
		(), ("thread",), ("thread", "forks"), ("thread", "forks", "leaf"), ("thread", "ends"), ("thread", "ends", "ends"),
		("thread", "ends", "ends", "ends"), (foreign, "at_end"), (foreign, "at_end", "leaf"))}
	assert folded(counted.path, "calls") == {("main", *path): 1 for path in {()} | threads}
