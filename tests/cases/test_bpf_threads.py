"""The paths of a thread begin with the path that created it, with each backend: one root covers the whole process."""
import re

import pytest
from record_support import build, check_truths, hits, holds, needs_bpf, needs_perf, record_well, run_cpprof, show



@pytest.fixture(params=[pytest.param("perf", marks=needs_perf), pytest.param("bpf", marks=needs_bpf)])
def fine(request):
	return ["--backend", request.param, "-r", "cpu/250us"]


@pytest.mark.parametrize("how", ["two", "nested", "detached", "waiting"])
def test_threads_hang_below_their_creators(tmp_path, fine, how):
	check_truths(record_well(tmp_path, [build("spawners.c"), how], *fine))


def test_threads_of_cpp(tmp_path, fine):
	check_truths(record_well(tmp_path, [build("std_threads.cpp")], *fine))


def test_chain_of_threads(tmp_path, fine):
	"""100 threads, each created by the one before: all paths begin at main and hold as many creators as the longest path allows."""
	recorded = record_well(tmp_path, [build("spawners.c"), "chain"], *fine)
	paths = recorded.paths()
	assert hits(paths, "main", "start_chain", "link_of_chain", "work") == hits(paths, "work") > 0.9 * 200_000 / 250, show(paths)
	links = {sum(frame == "link_of_chain" for frame in path) for path in paths if holds(path, ["work"])}
	assert min(links) >= 16, links


def report(recorded, *options):
	result = run_cpprof("report", "--threshold", 0, "--limit", 0, *options, recorded.path)
	assert result.returncode == 0, result.stderr
	return result.stdout


def test_down_main_covers_workers(tmp_path, fine):
	recorded = record_well(tmp_path, [build("spawners.c"), "two"], *fine)
	down = report(recorded, "--down", "main")
	found = {path: float(share) for share, path in re.findall(r"^([\d.]+) .*?\((main[^)]*)\)", down, re.MULTILINE)}
	below = {path: share for path, share in found.items() if path.endswith(" work")}
	assert len(below) == 2, down
	for path, share in below.items():
		assert "pthread_create" in path and "worker" in path, down
		assert abs(share / sum(below.values()) - (0.75 if "heavy_spawner" in path else 0.25)) < 0.08, down


def test_apart_on_request(tmp_path, fine):
	"""With --no-stitch, the same file shows threads as separate roots."""
	recorded = record_well(tmp_path, [build("spawners.c"), "two"], *fine)
	down = report(recorded, "--no-stitch", "--down", "main")
	assert "worker" not in down, down
	tree = report(recorded, "--no-stitch", "--tree")
	assert re.search(r"^worker \(", tree, re.MULTILINE), tree
	functions = report(recorded, "--no-stitch", "--functions")
	assert float(re.search(r"^([\d.]+) .*?\bworker \[", functions, re.MULTILINE)[1]) > 0.95, functions


def test_threads_keep_their_names(tmp_path, fine):
	recorded = record_well(tmp_path, [build("renamed.c")], *fine)
	names = {thread["name"] for thread in recorded.info()["threads"]}
	assert {"chameleon", "crunching"} <= names, names
	for name in ("chameleon", "crunching"):
		assert "burn" in report(recorded, "--thread", name)


@needs_bpf
def test_waits_hang_below_their_creators(tmp_path):
	"""Stitching applies to each resource of a thread, not only to CPU time."""
	recorded = record_well(tmp_path, [build("waits.c"), "1"], "--backend", "bpf", "-r", "blocked/1ms")
	paths = recorded.paths("blocked")
	for names in (["main", "sleeper", "sleep_long"], ["main", "lock_waiter", "take_lock"], ["main", "waits_on"]):
		assert hits(paths, *names) > 0.95 * hits(paths, *names[1:]) > 0, show(paths)
