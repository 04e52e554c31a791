"""The same program, measured in the kernel by perf and bpf and inside the process by preload: the profiles agree within their
errors."""
import json
import os
import subprocess

import pytest
from measuring import between, near
from record_support import amounts, bpf_refusal, build, check_amounts, check_truths, hits, perf_refusal, record_well, run_cpprof, show, tolerance, truths

pytestmark = pytest.mark.measured("times of two recordings are compared, and another process may delay either")


# The kernel backends that are permitted here. preload always is.
KERNEL = [name for name, refusal in (("perf", perf_refusal()), ("bpf", bpf_refusal())) if refusal is None]
needs_another = pytest.mark.skipif(not KERNEL, reason="the kernel permits neither perf events nor eBPF here: nothing to compare with")
needs_bpf_too = pytest.mark.skipif("bpf" not in KERNEL, reason="eBPF is refused here: nothing to compare with")


def by_each(folder, backends, command, *options):
	"""Returns {backend: its recording}, and checks that the profile names the backend."""
	recorded = {}
	for backend in backends:
		(folder / backend).mkdir()
		recorded[backend] = record_well(folder / backend, command, "--backend", backend, *options)
		assert all(resource["backend"] == backend for resource in recorded[backend].info()["resources"])
	return recorded


def share_of(paths, names):
	"""Returns (the share of these names, its error)."""
	total = hits(paths)
	share = hits(paths, *names) / total
	return share, tolerance(share, total)


def alike(one, other, names):
	(share, error), (other_share, other_error) = share_of(one, names), share_of(other, names)
	assert abs(share - other_share) <= (error**2 + other_error**2) ** 0.5, (
		f"{';'.join(names)}: {share:.4f} and {other_share:.4f}\n{show(one)}\n{show(other)}")


@needs_another
@pytest.mark.parametrize("program, arguments, functions", [
	("forms.c", ["60"], [["main", "invoice"], ["main", "db_update_record"], ["address_information", "db_get_property"],
		["db_read_record"]]),
	("mixture.c", ["60"], [["main", "chain"], ["main", "with_alloca"], ["main", "frame_100k"], ["by_callback", "compare"]]),
	("std_threads.cpp", [], [["main"], ["burn"]]),
], ids=["forms", "mixture", "threads"])
def test_cpu(tmp_path, program, arguments, functions):
	"""The program's own statements hold for each backend, and the shares of both agree."""
	recorded = by_each(tmp_path, [*KERNEL, "preload"], [build(program), *arguments], "-r", "cpu/500us")
	paths = {backend: check_truths(one) for backend, one in recorded.items()}
	for backend in KERNEL:
		for names in functions:
			alike(paths["preload"], paths[backend], names)


@pytest.mark.parametrize("turns, microseconds", [(5000, 100), (20000, 100), (60000, 100)])
def test_work_between_naps(tmp_path, turns, microseconds):
	"""
	Of the work between naps two thirds belong to the function that does two thirds of it. The time of the naps themselves agrees
	approximately with perf's: both backends use clocks of the threads. perf's own work at a nap counts as well, which takes more than
	the nap itself where timers are slow: perf gives the work a third less of the time there.
	"""
	command = [build("naps.c"), "1500", str(turns), str(microseconds)]
	shares = {}
	backends = [name for name in KERNEL if name == "perf"]
	for backend, one in by_each(tmp_path, [*backends, "preload"], command, "-r", "cpu/200us").items():
		paths = one.paths("cpu")
		first, second = hits(paths, "main", "twice"), hits(paths, "main", "once")
		near(first / (first + second), 2 / 3, tolerance(2 / 3, first + second) + 0.05, show(paths))
		shares[backend] = (first + second) / hits(paths)
	assert "perf" not in shares or -0.2 < shares["preload"] - shares["perf"] < 0.45, shares


@pytest.mark.parametrize("burst, nap", [(50, 100), (250, 100), (250, 1000), (1000, 300)])
def test_work_between_naps_that_no_library_sees(tmp_path, burst, nap):
	"""A tick may come during such a nap, and work in step with the naps: that must not favour a part of the work."""
	recorded = record_well(tmp_path, [build("raw_naps.c"), "1500", str(burst), str(nap)], "--backend", "preload", "-r", "cpu/1ms")
	paths = recorded.paths("cpu")
	stated = truths(recorded.out)
	work = sum(hits(paths, *names) for names, _ in stated)
	between(work, hits(paths) / 3, None, show(paths))
	for names, fraction in stated:
		near(hits(paths, *names) / work, fraction, 0.15, f"{names[-1]}: {fraction}\n{show(paths)}")


@needs_another
def test_user_and_system_time(tmp_path):
	recorded = by_each(tmp_path, [*KERNEL, "preload"], [build("user_sys.c"), "10"], "-r", "user/250us", "-r", "sys/250us")
	for backend in KERNEL:
		for resource, function in (("user", "compute"), ("sys", "call_system")):
			ours, theirs = recorded["preload"].paths(resource), recorded[backend].paths(resource)
			near(hits(ours, function), hits(theirs, function), 0.2 * hits(theirs, function) + 80, f"{show(ours)}\n{show(theirs)}")


@pytest.mark.parametrize("resource", ["read-bytes", "write-bytes", "io-bytes", "read-bytes:requested", "write-bytes:requested",
	"io-calls"])
@needs_bpf_too
def test_bytes(tmp_path, resource):
	"""
	Both backends charge each byte to the functions that the program names. bpf also counts what the dynamic linker reads, and
	what printf writes.
	"""
	recorded = by_each(tmp_path, ["bpf", "preload"], [build("io_bytes.c"), "5"], "-r", f"{resource}/1")
	for one in recorded.values():
		check_amounts(one, resource)


@pytest.mark.parametrize("resource", ["allocs", "alloc-bytes"])
@needs_bpf_too
def test_allocations(tmp_path, resource):
	program = build("allocations.c", "-fno-builtin")
	recorded = by_each(tmp_path, ["bpf", "preload"], [program, "20", "2"], "-r", f"{resource}/1")
	for one in recorded.values():
		check_amounts(one, resource)
	assert len({hits(one.paths(resource), "allocate_all") for one in recorded.values()}) == 1


@pytest.mark.parametrize("resource", ["alloc-bytes/4KiB", "allocs/10"])
@needs_bpf_too
def test_weighted_allocations(tmp_path, resource):
	"""At an interval the totals agree approximately, and the shares within their errors."""
	program = build("allocations.c", "-fno-builtin")
	recorded = by_each(tmp_path, ["bpf", "preload"], [program, "300", "2"], "-r", resource)
	name = resource.partition("/")[0]
	totals = [one.resource(name)["total"] for one in recorded.values()]
	near(totals[0], totals[1], 0.01 * totals[0] + 80_000, totals)
	paths = [one.paths(name) for one in recorded.values()]
	for names in (["heavy"], ["light"], ["worker"]):
		alike(*paths, names)


@pytest.mark.parametrize("resource", ["real", "blocked"])
@needs_bpf_too
def test_waits(tmp_path, resource):
	"""Threads that sleep, wait and compute: both backends measure the times that the program states."""
	interval_us = 1000
	recorded = by_each(tmp_path, ["bpf", "preload"], [build("waits.c"), "4"], "-r", f"{resource}/{interval_us}us")
	for backend, one in recorded.items():
		paths = one.paths(resource)
		for name, names, us in amounts(one.out):
			if name == resource:
				measured_us = hits(paths, *names) * interval_us
				near(measured_us, us, 0.1 * us + 20 * interval_us, f"{backend} {names}: {measured_us} us, not {us}\n{show(paths)}")


def test_real_is_the_whole_time_of_a_thread(tmp_path):
	"""A thread that computes has as much of real as time passes, also while other processes have the processor."""
	recorded = record_well(tmp_path, [build("forms.c"), "60"], "--backend", "preload", "-r", "cpu/500us", "-r", "real/500us")
	real, cpu = (hits(recorded.paths(resource)) for resource in ("real", "cpu"))
	elapsed = recorded.info()["duration_s"] / 500e-6
	between(real, 0.95 * cpu, None, run_cpprof("info", recorded.path).stdout)
	near(real, elapsed, 0.05 * elapsed + 100, run_cpprof("info", recorded.path).stdout)


def test_shared_processor(tmp_path):
	"""While other programs take the processor away, user time stays user time, and all of it is charged."""
	processor = str(min(os.sched_getaffinity(0)))
	others = [subprocess.Popen(["taskset", "-c", processor, "sh", "-c", "while :; do :; done"]) for _ in range(2)]
	try:
		recorded = record_well(tmp_path, ["taskset", "-c", processor, build("user_sys.c"), "10"], "--backend", "preload", "-r", "user/250us",
			"-r", "sys/250us")
	finally:
		for other in others:
			other.kill()
			other.wait()
	user, system = recorded.paths("user"), recorded.paths("sys")
	computed = 10 * 30e-3 / 250e-6
	near(hits(user, "compute"), computed, 0.12 * computed, f"{show(user)}\n{show(system)}")
	between(hits(system, "compute"), None, 0.12 * computed, show(system))


@pytest.mark.parametrize("backend", [*KERNEL, "preload"])
def test_errors_of_a_known_split(tmp_path, backend):
	"""The program measures its own shares, and takes turns at random, so that samples are independent. Of 16 intervals of 95 %, more
	than 8 miss the true share with a probability below 1e-7. bench/calibration.py has the exact figures."""
	misses = []
	for _ in range(4):
		recorded = record_well(tmp_path, [build("split.c"), "150"], "--backend", backend, "-r", "cpu/1ms")
		report = run_cpprof("report", "--body", "-r", "cpu", "--threshold", "0", "--limit", "0", "--format", "json", recorded.path)
		(result,) = json.loads(report.stdout)["results"]
		entries = {entry["path"][0]: entry for entry in result["entries"]}
		for (name,), share in truths(recorded.out):
			entry = entries[name]
			if abs(entry["fraction"] - share) > entry["error"]:
				misses.append((name, share, entry["fraction"], entry["error"]))
	assert len(misses) <= 8, misses
