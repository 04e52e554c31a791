"""Counts of interposed calls are exact: to the last byte, for every way in which a program ends, in each thread."""
import os
import re
import subprocess

import pytest
from measuring import between, near
from record_support import PROGRAMS, amounts, build, check_amounts, hits, needs_bpf, record, record_well, run_cpprof, show

MEASURED = pytest.mark.measured("waiting times are compared with the clock of the program, which may be preempted between two readings")

PRELOAD = ["--backend", "preload"]
ALLOCATED = ["allocs", "alloc-bytes"]
MOVED = ["read-bytes", "write-bytes", "io-bytes", "read-bytes:requested", "write-bytes:requested"]


def at(interval, *resources, backend="preload"):
	return ["--backend", backend, *(word for resource in resources for word in ("-r", f"{resource}/{interval}"))]


def check_exactly(folder, command, resources, status=0, **settings):
	"""Checks that each gtick of these resources belongs to the function that the program names."""
	recorded = record(folder, command, *at(1, *resources), **settings)
	assert recorded.status == status, recorded.err
	for resource in resources:
		check_amounts(recorded, resource)
	return recorded


# --- allocations ---

@pytest.mark.parametrize("arguments", [["20"], ["10", "4"]], ids=["one-thread", "five-threads"])
def test_allocations(tmp_path, arguments):
	"""Each call of the program is one allocation, with the number of bytes that it requests."""
	check_exactly(tmp_path, [build("allocations.c", "-fno-builtin"), *arguments], ALLOCATED)


@pytest.mark.parametrize("order", [("own",), ("own", "cpprof")], ids=["needed", "preloaded"])
def test_an_allocator_in_a_library(tmp_path, monkeypatch, order):
	"""An allocator in a library comes after ours, whether the program needs it or preloads it. Calls inside its functions are not
	counted again."""
	library = build("own_allocator.c", linkage="shared", name="libown.so")
	flags = [library] if order == ("own",) else []
	if not flags:
		monkeypatch.setenv("LD_PRELOAD", library)
	check_exactly(tmp_path, [build("allocations.c", "-fno-builtin", *flags), "20", "2"], ALLOCATED)


def test_an_allocator_in_the_program(tmp_path):
	"""An allocator in the program comes before ours: no call is counted, and the profile reports why."""
	recorded = record(tmp_path, [build("allocations.c", "-fno-builtin", str(PROGRAMS / "own_allocator.c")), "5"], *at(1, "allocs"))
	assert recorded.status == 0, recorded.err
	reported = run_cpprof("info", recorded.path).stdout
	assert "the program has a malloc of its own" in reported, reported


def test_sizes_and_failures(tmp_path):
	"""Zero bytes, requests that fail, products that overflow: each is a call. Allocations before main and at the end count too. A
	request of 2^47 - 1 bytes is one sample, whose hits are as many."""
	recorded = check_exactly(tmp_path, [build("odd_allocations.c", "-fno-builtin")], ALLOCATED)
	samples, lost, complete = recorded.closing()
	assert samples < 100 and lost == 0 and complete == 100, recorded.err
	assert recorded.path.stat().st_size < 20000
	assert hits(recorded.paths("allocs"), "before_main") == 2, show(recorded.paths("allocs"))


@MEASURED
@pytest.mark.parametrize("words", ["alloc-bytes/16KiB", "allocs/20"])
def test_allocations_at_an_interval(tmp_path, words):
	"""Totals equal the totals of interval 1 at any boundaries. Hits differ from them by less than an interval in each thread."""
	name = words.split("/", maxsplit=1)[0]
	command = [build("allocations.c", "-fno-builtin"), "300", "3"]
	recorded = record_well(tmp_path, command, *PRELOAD, "-r", words)
	reported, paths = recorded.resource(name), recorded.paths(name)
	stated = sum(gticks for resource, _, gticks in amounts(recorded.out) if resource == name)
	between(reported["total"] - stated, 0, 20000)
	near(reported["hits"] * reported["interval"], reported["total"], 5 * reported["interval"], reported)
	for caller, fraction in (("heavy", 0.75), ("light", 0.25)):
		near(hits(paths, caller) / hits(paths), fraction, 4 * (fraction * (1 - fraction) / hits(paths)) ** 0.5)


@pytest.mark.parametrize("ending", ["return", "_exit", "kill", "abort", "exec", "pthread_exit"])
def test_nothing_is_lost_at_the_end(tmp_path, ending):
	"""The total includes the gticks after the last boundary, for every way in which the program ends."""
	status = {"kill": 137, "abort": 134}.get(ending, 0)
	recorded = record(tmp_path, [build("sudden_ending.c", "-fno-builtin"), ending], *at(1000, *ALLOCATED, "write-bytes", "io-calls"))
	assert recorded.status == status, recorded.err
	for resource, _, gticks in amounts(recorded.out):
		more = recorded.resource(resource)["total"] - gticks
		# The C library makes a few allocations of its own.
		assert 0 <= more <= (30000 if resource in ALLOCATED else 100), f"{resource}: {gticks} and {more}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can go so far away")
def test_forked_from_nowhere(tmp_path):
	"""A process closes all files, changes folder, root and user, and then forks: both processes still have the channel mapped."""
	recorded = record(tmp_path, [build("forks_nowhere.c", "-fno-builtin")], *at(1, "allocs"))
	assert recorded.status == 7, recorded.err
	check_amounts(recorded, "allocs")
	info = run_cpprof("info", recorded.path).stdout
	assert "warning" not in info, info


# --- transfers ---

@pytest.mark.parametrize("resource", MOVED)
def test_bytes_of_each_call(tmp_path, resource):
	"""The program is also used in the tests of the bpf backend."""
	check_exactly(tmp_path, [build("io_bytes.c"), "2"], [resource])


def test_bytes_of_checked_calls(tmp_path):
	"""Compiled as distributions do: a read into a buffer of known size calls another function."""
	check_exactly(tmp_path, [build("io_bytes.c", "-D_FORTIFY_SOURCE=2"), "2"], MOVED)


def us_of_a_call(printed):
	return float(re.search(r"each took ([\d.]+) us", printed).group(1))


@MEASURED
def test_failing_vectors(tmp_path):
	"""A failing call with 500 vectors: `:requested` counts all of them, and other resources do not read them."""
	command = [build("failing_vectors.c")]
	check_exactly(tmp_path, command, ["write-bytes:requested"])
	bare = subprocess.run(command, capture_output=True, text=True, check=True)
	took = {"bare": us_of_a_call(bare.stderr)}
	for name, wanted in {"moved": ["write-bytes/1MiB"], "requested": ["write-bytes:requested/1GiB"]}.items():
		(tmp_path / name).mkdir()
		recorded = record(tmp_path / name, command, *PRELOAD, "-r", *wanted)
		took[name] = us_of_a_call(recorded.err)
	between(took["moved"], None, 3 * took["bare"], took)
	between(took["requested"], None, 20 * took["bare"], took)


@needs_bpf
def test_calls_are_those_of_the_kernel(tmp_path):
	"""preload and bpf count the same calls. Only bpf sees the program being started."""
	counted = {}
	for backend in ("preload", "bpf"):
		(tmp_path / backend).mkdir()
		recorded = record(tmp_path / backend, [build("io_bytes.c"), "2"], *at(1, "io-calls", backend=backend))
		assert recorded.status == 0, recorded.err
		counted[backend] = {caller: hits(recorded.paths("io-calls"), caller) for caller in ("heavy", "light")}
	assert counted["preload"] == counted["bpf"]


def test_transfers_that_ticks_cut_short_go_on(tmp_path):
	"""A tick interrupts a write that waits for room in a full pipe. The program sees no effect."""
	recorded = record(tmp_path, [build("long_transfers.c")], *PRELOAD, "-r", "real/100us", "-r", "cpu/100us")
	assert recorded.status == 0, f"{recorded.out}{recorded.err}"


# --- waits ---

@MEASURED
@pytest.mark.parametrize("resource", ["io-time", "lock-wait"])
def test_waiting(tmp_path, resource):
	"""Waits for a lock and for a pipe have the time that they took, in the functions that waited."""
	recorded = record_well(tmp_path, [build("waits.c"), "1"], *PRELOAD, "-r", f"{resource}/50us")
	paths = recorded.paths(resource)
	checked = 0
	for name, names, us in amounts(recorded.out):
		# A wait that has not returned when the program ends is not measured.
		if name == resource and names != ["waits_on"]:
			near(hits(paths, *names) * 50, us, 0.03 * us + 10 * 400, f"{names}: {us}\n{show(paths)}")
			checked += 1
	assert checked == 1
	assert hits(paths, "sleeper", "sleep_long") == 0


def test_locks_stay_what_they_are(tmp_path):
	"""Each kind of lock returns the same results with and without a recording. Locks that were free cost no wait."""
	program = build("lock_answers.c")
	bare = subprocess.run([program], capture_output=True, text=True, check=True).stdout
	recorded = record(tmp_path, [program], *PRELOAD, "-r", "lock-wait/1us")
	assert recorded.status == 0, recorded.err
	assert recorded.out == bare
	assert hits(recorded.paths("lock-wait"), "uncontended") == 0


@MEASURED
def test_locks_of_other_makers(tmp_path):
	"""Semaphores with a timeout, and futexes by the system call, as Rust's locks and C++'s atomics use them."""
	recorded = record_well(tmp_path, [build("other_locks.c")], *PRELOAD, "-r", "lock-wait/50us")
	paths = recorded.paths("lock-wait")
	for _, names, us in amounts(recorded.out):
		near(hits(paths, *names) * 50, us, 0.03 * us + 10 * 400, f"{names}: {us}\n{show(paths)}")


# --- threads ---

def test_threads_that_end_in_each_way(tmp_path):
	"""Threads end by return, pthread_exit, cancellation in read, and thrd_create's return: their counts are complete, including
	their destructors'."""
	check_exactly(tmp_path, [build("thread_endings.c", "-fno-builtin")], ["alloc-bytes", "read-bytes", "write-bytes"])


def test_names_of_threads(tmp_path):
	recorded = record(tmp_path, [build("thread_endings.c", "-fno-builtin")], *at(1, "alloc-bytes"))
	names = {thread["name"] for thread in recorded.info()["threads"]}
	assert {"by_itself", "by_another", "by_prctl"} <= names, names


# --- code that is loaded at run time ---

@pytest.mark.parametrize("watched", [False, True], ids=["bare", "recorded"])
def test_search_paths_of_callers(tmp_path, watched):
	"""Libraries beside the caller, found by its RUNPATH, its RPATH and $ORIGIN: only the right caller finds each, recorded or
	not."""
	middle = {}
	for tag in ("runpath", "rpath"):
		folder = tmp_path / tag
		folder.mkdir()
		found = build("allocating_plugin.c", "-fno-builtin", linkage="shared", name=f"libfound_by_{tag}.so")
		(folder / f"libfound_by_{tag}.so").write_bytes(open(found, "rb").read())
		option = "--enable-new-dtags" if tag == "runpath" else "--disable-new-dtags"
		middle[tag] = folder / "libmiddle.so"
		middle[tag].write_bytes(open(build("opens_beside.c", f"-Wl,{option},-rpath,$ORIGIN", linkage="shared", name=f"lib{tag}.so"), "rb").read())
	program = build("opens_from.c")
	command = [program, middle["runpath"], "libfound_by_runpath.so", middle["rpath"], "libfound_by_rpath.so"]
	if not watched:
		subprocess.run(command, check=True)
		return
	recorded = record(tmp_path, command, *at(1, "allocs"))
	assert recorded.status == 0, f"{recorded.out}{recorded.err}"
	paths = recorded.paths("allocs")
	assert hits(paths, "main", "allocate_beside", "plugin_allocate") == 4, show(paths)


@pytest.mark.parametrize("way, is_seen", [("", True), ("base", True), ("deep", False), ("apart", False)])
def test_libraries_that_call_past_us(way, is_seen, tmp_path):
	"""A library in a namespace of its own, or with RTLD_DEEPBIND, does not call the agent's definitions: a finding reports it,
	where calls are counted."""
	finding = "calls of a library that was opened with RTLD_DEEPBIND or by dlmopen are missing"
	command = [build("opens_apart.c"), way, build("allocating_plugin.c", "-fno-builtin", linkage="shared")]
	recorded = record(tmp_path, command, *at(1, "allocs"))
	assert recorded.status == 0, recorded.err
	assert (hits(recorded.paths("allocs"), "plugin_allocate") == 1, finding in recorded.err) == (is_seen, not is_seen), recorded.err
	assert finding not in record(tmp_path, command, *PRELOAD).err


# --- time ---

@pytest.mark.parametrize("resource", ["real", "blocked"])
def test_stopped_time_counts(resource, tmp_path):
	"""No tick comes while a process is stopped (^Z): the time belongs to where it continues. The program is stopped for at least 300 ms."""
	recorded = record(tmp_path, [build("stopped.c"), "300"], *at("1ms", resource))
	assert recorded.status == 0, recorded.err
	paths = recorded.paths(resource)
	between(hits(paths, "main", "stop", "kill"), 250, None, show(paths))
