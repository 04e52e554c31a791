"""Counts in the kernel equal what the program did: exactly at interval 1; at other intervals the totals are exact and the shares are
within their error."""
import os
import re
import subprocess
from pathlib import Path

import pytest
from measuring import between, near
from record_support import (BUILD, PROGRAMS, Recorded, amounts, build, check_amounts, hits, needs_bpf, record,
	record_well, run_cpprof, show, tolerance)

MEASURED = pytest.mark.measured("elapsed and waiting times are compared with the clock of the program, which may be preempted between two readings")

# The first samples of a program carry copies of its stack.
LOSSES = pytest.mark.measured("a recorder that gets no processor for long loses what its rings cannot hold; it counts the loss, which is not the error here")

pytestmark = needs_bpf

BPF = ["--backend", "bpf"]


def calls_program():
	library = build("calls_library.c", linkage="shared", name="libcalls_library.so")
	return build("calls.c", library)


def at(interval, *resources):
	return [*BPF, *(word for resource in resources for word in ("-r", f"{resource}/{interval}"))]


def stated(text):
	"""The resources for which a program states how much it used."""
	return sorted({resource for resource, _, _ in amounts(text)})


def run_bare(command):
	return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_exactly(folder, command, resources=None):
	"""Checks that each gtick of these resources (default: all that the program states) is at the path that the program states."""
	resources = resources or stated(run_bare(command))
	recorded = record(folder, command, *at(1, *resources))
	assert recorded.status == 0, recorded.err
	for resource in resources:
		check_amounts(recorded, resource)
	return recorded


@pytest.mark.parametrize("resource", ["read-bytes", "write-bytes", "io-bytes", "read-bytes:requested", "write-bytes:requested",
	"io-calls"])
def test_bytes_of_each_system_call(tmp_path, resource):
	"""Counts the bytes that each system call really moved, also in messages. A call that fails moves none, but counts as a call."""
	check_exactly(tmp_path, [build("io_bytes.c"), "2"], [resource])


def test_system_calls(tmp_path):
	"""Counts all system calls: calls that fail, calls of child processes, and returns from signal handlers."""
	check_exactly(tmp_path, [build("syscalls.c"), "50"])


@pytest.mark.parametrize("linkage", ["static", "no-pie"])
def test_system_calls_of_other_linkages(tmp_path, linkage):
	check_exactly(tmp_path, [build("syscalls.c", linkage=linkage), "50"], ["syscalls", "syscalls:getppid"])


def test_signals(tmp_path):
	"""Counts delivered signals, but not those that the program ignores or blocks."""
	check_exactly(tmp_path, [build("signals_received.c"), "50"])


def test_traps(tmp_path):
	"""Page faults are CPU exceptions: below the function that touches fresh pages there are as many traps as pages. On a busy machine the kernel
	lets some faults happen again, because a lock was taken: each is a trap more, and one page fault."""
	recorded = record(tmp_path, [build("page_faults.c"), "500"], *at(1, "traps", "page-faults"))
	assert recorded.status == 0, recorded.err
	check_close(recorded, "traps", 250)
	check_close(recorded, "page-faults", 5)


def check_close(recorded, resource, most):
	"""Checks the stated amounts, with up to `most` more each: calls of library functions touch pages too."""
	reported, paths = recorded.resource(resource), recorded.paths(resource)
	assert reported["lost"] == 0
	assert reported["total"] == reported["hits"] == hits(paths)
	for name, names, gticks in amounts(recorded.out):
		if name == resource:
			assert 0 <= hits(paths, *names) - gticks <= most, f"{names}: {hits(paths, *names)}, not {gticks}\n{show(paths)}"


@pytest.mark.measured("the file system writes blocks of its own at moments of its own")
def test_disk_bytes(tmp_path):
	place = BUILD / "tests/disk_bytes.tmp"
	device = os.stat(place.parent).st_dev
	if not Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").exists():
		pytest.skip(f"{place.parent} is on no block device")
	try:
		recorded = record(tmp_path, [build("disk_bytes.c"), place, "10"], *at(512, "disk-bytes"))
		if recorded.status == 77:
			pytest.skip("the file system has no direct writes")
		assert recorded.status == 0, recorded.err
		paths = recorded.paths("disk-bytes")
		for _, names, gticks in amounts(recorded.out):
			near(hits(paths, *names) * 512, gticks, 512, f"{hits(paths, *names) * 512}, not {gticks}\n{show(paths)}")
	finally:
		place.unlink(missing_ok=True)


def test_calls_of_functions(tmp_path):
	"""Counts calls of global, static, recursive and library functions, and sums their arguments and return values."""
	check_exactly(tmp_path, [calls_program(), "50"])


def test_calls_of_methods(tmp_path):
	check_exactly(tmp_path, [build("methods.cpp"), "50"])


@LOSSES
@pytest.mark.parametrize("linkage", ["pie", "static"])
def test_allocations(tmp_path, linkage):
	"""Each allocation call of the program counts once, with the bytes that it requests, even if the C library's allocator calls itself."""
	check_exactly(tmp_path, [build("allocations.c", "-fno-builtin", linkage=linkage), "20"])


@LOSSES
def test_allocations_of_threads(tmp_path):
	check_exactly(tmp_path, [build("allocations.c", "-fno-builtin"), "10", "4"])


def test_sizes_and_failures_count_as_from_inside(tmp_path):
	"""The same amounts as test_preload_calls.py requires."""
	check_exactly(tmp_path, [build("odd_allocations.c", "-fno-builtin")])


@LOSSES
def test_allocations_of_an_allocator_of_its_own(tmp_path):
	"""The program's own functions replace the functions of the C library, whose allocations call them too."""
	check_exactly(tmp_path, [build("allocations.c", "-fno-builtin", str(PROGRAMS / "own_allocator.c")), "20", "2"])


@LOSSES
def test_allocations_of_a_preloaded_allocator(tmp_path, monkeypatch):
	library = build("own_allocator.c", linkage="shared", name="libown.so")
	command = [build("allocations.c", "-fno-builtin"), "20"]
	monkeypatch.setenv("LD_PRELOAD", library)
	check_exactly(tmp_path, command)


def test_calls_of_a_library_loaded_while_running(tmp_path):
	"""The program is not linked with the library, so the resource names it. The program loads and unloads it thirty times."""
	plugins = [build("plugin.c", f"-DNAME={name}", linkage="shared", name=f"{name}.so") for name in ("alpha", "bravo")]
	resource = f"calls:plugin_run@{plugins[0]}"
	recorded = record(tmp_path, [build("dlclose.c"), *plugins], *at(1, resource))
	assert recorded.status == 0, recorded.err
	paths = recorded.paths(resource)
	assert recorded.resource(resource)["total"] == hits(paths, "main", "run_plugin", "plugin_run") == hits(paths) == 30, show(paths)


@pytest.mark.parametrize("flags", [[], ["-DSEMAPHORE"]], ids=["plain", "semaphore"])
def test_static_probes(tmp_path, flags):
	program = build("usdt.c", *flags)
	resources = ["usdt:cpprof_test:consumed", "usdt:cpprof_test:consumed:arg2"]
	check_exactly(tmp_path, [program, "50"], resources)


def test_fields_of_tracepoints(tmp_path):
	"""Sums a field of a tracepoint: the results of reads, where negative results count nothing."""
	field, same = "tracepoint:syscalls:sys_exit_read:ret", "syscalls:read"
	recorded = record(tmp_path, [build("io_bytes.c"), "2"], *at(1, field, same))
	assert recorded.status == 0, recorded.err
	paths = recorded.paths(field)
	assert recorded.resource(field)["total"] == hits(paths)
	by_read = [gticks for name, names, gticks in amounts(recorded.out) if name == "read-bytes" and names[-1] == "by_read"]
	assert [hits(paths, "main", caller, "by_read") for caller in ("heavy", "light")] == by_read, show(paths)
	assert hits(paths, "by_failing") == 0, show(paths)


def test_several_resources_of_one_probe(tmp_path):
	"""The events of a tracepoint and two of its fields, in one run, are as in separate runs; a function and a static probe are
	shared in the same way."""
	event, result, enter, asked = (f"tracepoint:syscalls:sys_{name}" for name in
		("exit_read", "exit_read:ret", "enter_read", "enter_read:count"))
	recorded = record(tmp_path, [build("io_bytes.c"), "2"], *at(1, event, result, enter, asked, "syscalls:read"))
	assert recorded.status == 0, recorded.err
	by_read = [gticks for name, names, gticks in amounts(recorded.out) if name == "read-bytes" and names[-1] == "by_read"]
	paths = recorded.paths(result)
	assert [hits(paths, "main", caller, "by_read") for caller in ("heavy", "light")] == by_read, show(paths)
	total = {name: recorded.resource(name)["total"] for name in (event, enter, asked, "syscalls:read")}
	assert total[event] == total[enter] == total["syscalls:read"] > 4
	assert total[asked] == record(tmp_path, [build("io_bytes.c"), "2"], *at(1, asked)).resource(asked)["total"] > sum(by_read)
	for one, other, program in [("calls:malloc", "uprobe:libc:malloc:arg1", ["allocations.c", "3"]),
			("usdt:cpprof_test:consumed", "usdt:cpprof_test:consumed:arg2", ["usdt.c", "20"])]:
		recorded = record(tmp_path, [build(program[0]), program[1]], *at(1, one, other))
		assert recorded.status == 0, recorded.err
		together = [recorded.resource(name)["total"] for name in (one, other)]
		alone = [record(tmp_path, [build(program[0]), program[1]], *at(1, name)).resource(name)["total"] for name in (one, other)]
		assert together == alone and 0 < alone[0] < alone[1]


@pytest.mark.parametrize("words", [
	["read-bytes/4KiB", "io_bytes.c", "100"],
	["io-bytes/8KiB", "io_bytes.c", "100"],
	["write-bytes:requested/20k", "io_bytes.c", "100"],
	["syscalls/20", "syscalls.c", "2000"],
	["signals/5", "signals_received.c", "1000"],
	["page-faults/20", "page_faults.c", "4000"],
	["allocs/20", "allocations.c", "300"],
	["alloc-bytes/16KiB", "allocations.c", "300"],
	["usdt:cpprof_test:consumed:arg2/30", "usdt.c", "2000"],
], ids=lambda words: words[0])
@MEASURED
def test_shares_and_totals_at_an_interval(tmp_path, words):
	"""The total is exact. The hits represent it up to the last interval of each thread, and the shares are within their error."""
	resource, source, rounds = words
	name = resource.rsplit("/", 1)[0]
	flags = ["-fno-builtin"] if source == "allocations.c" else []
	command = [build(source, *flags), rounds]
	recorded = record_well(tmp_path, command, *BPF, "-r", resource)
	reported, paths = recorded.resource(name), recorded.paths(name)
	assert reported["hits"] == hits(paths)
	processes = len(recorded.info()["threads"])
	near(reported["hits"] * reported["interval"], reported["total"], processes * reported["interval"], reported)
	of = {tuple(names): gticks for stated, names, gticks in amounts(recorded.out) if stated == name}
	between(reported["total"] - sum(of.values()), 0, 0.05 * reported["total"] + 20000, "startup and the end are little")
	for names, gticks in of.items():
		fraction = gticks / reported["total"]
		measured = hits(paths, *names) / hits(paths)
		near(measured, fraction, tolerance(fraction, reported["hits"]), f"{names}: {measured}, not {fraction}\n{show(paths)}")


def functions_reported(recorded, resource, *options):
	result = run_cpprof("report", "-r", resource, "--threshold", 0, "--limit", 0, *options, recorded.path)
	assert result.returncode == 0, result.stderr
	return result.stdout


@MEASURED
def test_reports_of_bytes(tmp_path):
	"""`report` prints the correct shares, both down from main and by function."""
	recorded = record_well(tmp_path, [build("io_bytes.c"), "300"], *BPF, "-r", "read-bytes/16KiB")
	samples = recorded.resource("read-bytes")["hits"]
	functions = functions_reported(recorded, "read-bytes", "--functions")
	down = functions_reported(recorded, "read-bytes", "--down", "main")
	for name, fraction in (("heavy", 0.75), ("light", 0.25)):
		by_function = float(re.search(rf"^([\d.]+) .*?\b{name} \[", functions, re.MULTILINE)[1])
		from_main = float(re.search(rf"^([\d.]+) .*?\(main {name}\) \[", down, re.MULTILINE)[1])
		for measured in (by_function, from_main):
			near(measured, fraction, tolerance(fraction, samples), f"{functions}\n{down}")


def us_near(measured, expected, turns):
	"""Compares a wait's time. The program times its waits from outside: it sees when it ran again, not when the kernel woke it."""
	assert abs(measured - expected) <= 0.03 * expected + turns * 400, f"{measured} us, not {expected}"


WAITS = ["real", "blocked", "io-time", "lock-wait"]


@MEASURED
@pytest.mark.parametrize("interval", ["50us", "1ms"])
def test_waiting(tmp_path, interval):
	"""Sleeping, and waiting for a lock, for a pipe and for threads: each wait has its duration, at the path that waited."""
	units = dict.fromkeys(WAITS, {"50us": 50, "1ms": 1000}[interval])
	# Real time includes time on the CPU, which a clock samples: on some machines one of its ticks takes longer than 50 us.
	units["real"] = 1000
	options = [word for name in WAITS for word in ("-r", f"{name}/{units[name]}us")]
	recorded = record_well(tmp_path, [build("waits.c"), "1"], *BPF, *options)
	for name, names, gticks in amounts(recorded.out):
		found = hits(recorded.paths(name), *names) * units[name]
		if "compute" in names: # time on the CPU is sampled by a clock, whose ticks come late on a busy machine
			near(found, gticks, 0.4 * gticks + 8000, f"{found} us, not {gticks}")
		else:
			us_near(found, gticks, 10)
	assert hits(recorded.paths("io-time"), "sleeper") == 0
	assert hits(recorded.paths("io-time"), "lock_waiter") == 0
	assert hits(recorded.paths("lock-wait"), "reader") == 0
	assert hits(recorded.paths("lock-wait"), "sleeper", "sleep_long") == 0
	threads = len(recorded.info()["threads"])
	for name, unit in units.items():
		reported = recorded.resource(name)
		# In real time, the time on the CPU is sampled, not counted.
		sampled_us = 60000 if name == "real" else 0
		# On a busy machine ticks are sometimes late: allow a hundredth of the total for them.
		late_us = reported["total"] / 100 if name == "real" else 0
		most = threads * unit + 4 * (sampled_us * unit) ** 0.5 + 0.1 * sampled_us + late_us
		near(reported["hits"] * unit, reported["total"], most, reported)


@MEASURED
def test_real_time_is_running_and_waiting(tmp_path):
	"""Real time without blocked time is about the CPU time."""
	recorded = record_well(tmp_path, [build("waits.c"), "1"], *BPF, "-r", "real/100us", "-r", "blocked/100us", "-r", "cpu/100us")
	real, blocked = (recorded.resource(name)["total"] for name in ("real", "blocked"))
	cpu_us = recorded.resource("cpu")["total"] / 1000
	near(real - blocked, cpu_us, 0.25 * cpu_us + 20000, f"{real} - {blocked} us, and {cpu_us} us of CPU")


@MEASURED
def test_still_waiting_when_the_recording_ends(tmp_path):
	"""A process that sleeps during the whole recording: the profile has all of this time, at the path that sleeps."""
	target = subprocess.Popen(["sleep", "1000"])
	try:
		path = tmp_path / "out.data"
		options = [*BPF, "-r", "real/1ms", "-r", "blocked/1ms", "-p", target.pid, "--duration", "0.5", "-o", path]
		recorded = Recorded(run_cpprof("record", *options), path)
		assert recorded.status == 0, recorded.err
		for name in ("real", "blocked"):
			between(hits(recorded.paths(name)), 400, 700, recorded.resource(name))
			between(hits(recorded.paths(name), "main"), 0.9 * hits(recorded.paths(name)), None, show(recorded.paths(name)))
			assert recorded.resource(name)["total"] >= 400000
		assert target.poll() is None
	finally:
		target.kill()
		target.wait()


TOGETHER = ["page-faults", "syscalls", "read-bytes", "alloc-bytes"]


@pytest.mark.measured("the totals of two recordings are compared")
def test_all_in_one_run(tmp_path):
	"""Six resources in one recording: each total equals the total of a recording of this resource alone, and what the program states."""
	command = [build("everything.c", "-fno-builtin"), "/proc/self/exe", "50"]
	together = record(tmp_path, command, *BPF, "-r", "cpu", "-r", "real", *at(1, *TOGETHER)[2:])
	assert together.status == 0, together.err
	for resource in TOGETHER:
		check_close(together, resource, 20 if resource == "page-faults" else 0)
		(tmp_path / resource).mkdir()
		alone = record(tmp_path / resource, command, *BPF, "-r", resource)
		# The positions of stack and heap vary between runs, and so do the pages at their ends.
		most = 10 if resource == "page-faults" else 0
		near(alone.resource(resource)["total"], together.resource(resource)["total"], most, resource)
	for resource in ("cpu", "real"):
		assert together.resource(resource)["total"] > 0
	between(together.resource("real")["total"] * 1000, together.resource("cpu")["total"], None)


@MEASURED
def test_touched_pages(tmp_path):
	"""Heap, mapped file, stack and anonymous memory: below each function there are as many page faults as it touches pages."""
	file = tmp_path / "mapped"
	recorded = record(tmp_path, [build("touched_pages.c"), file], *at(1, "page-faults"))
	assert recorded.status == 0, recorded.err
	paths = recorded.paths("page-faults")
	for function, count in touched(recorded.out).items():
		assert hits(paths, "main", *TOUCHING[function]) == count, f"{function}\n{show(paths)}"


TOUCHING = {
	"touch_heap": ["touch_heap", "touch"],
	"touch_file": ["touch_file", "touch"],
	"touch_stack": ["touch_stack"],
	"touch_anonymous": ["touch_anonymous", "touch"],
}


def touched(text):
	"""{function: pages that it touched}, as the program states."""
	return {name: int(pages) for name, pages in re.findall(r"^pages (\S+) (\d+)$", text, re.MULTILINE)}


@MEASURED
@pytest.mark.parametrize("backend", ["perf", "bpf"])
def test_mappings_of_touched_pages(tmp_path, backend):
	"""`report --pages` lists all pages of each function under the right mapping, and under no other."""
	file = tmp_path / "mapped"
	recorded = record(tmp_path, [build("touched_pages.c"), file], "--backend", backend, "-r", "page-faults/1")
	result = run_cpprof("report", "--pages", "--limit", 0, "--threshold", 0, "-r", "page-faults", recorded.path)
	assert result.returncode == 0, result.stderr
	found, mapping = {}, None
	for line in result.stdout.splitlines():
		if line.startswith("  "):
			path, pages = re.search(r"\(([^)]*)\) \[\d+\] (\d+) pages?$", line).groups()
			found[mapping, path] = int(pages)
		elif heading := re.match(r"[\d.]+ ±[\d.]+ (\S+) \[", line):
			mapping = heading[1]
	where = {"touch_heap": "[heap]", "touch_file": str(file), "touch_stack": "[stack]", "touch_anonymous": "[anon]"}
	for function, count in touched(recorded.out).items():
		path = " ".join(["main", *TOUCHING[function]])
		assert {at: pages for (at, of), pages in found.items() if of == path} == {where[function]: count}, result.stdout


def test_faults_of_text_and_of_data(tmp_path):
	"""Each page fault is one or the other."""
	recorded = record(tmp_path, [build("far_functions.c")], "-r", "page-faults/1", "-r", "text-faults/1", "-r", "data-faults/1", "--no-kernel")
	assert recorded.status == 0, recorded.err
	everything, text, data = (recorded.resource(name)["hits"] for name in ("page-faults", "text-faults", "data-faults"))
	assert everything == text + data and data > 0
	paths = recorded.paths("text-faults")
	assert {name: hits(paths, "main", name) for name in ("first", "second", "third", "fourth", "fifth")} == {"first": 0, "second": 1, "third": 0, "fourth": 1, "fifth": 1}, show(paths)
	assert hits(recorded.paths("data-faults"), "main", "second") == 0


def test_order_of_first_faults(tmp_path):
	"""A linker places the functions in the order in which they first had a page fault."""
	flags = ["-ffunction-sections", "-fuse-ld=lld"]
	recorded = record(tmp_path, [build("far_functions.c", *flags)], "-r", "text-faults/1", "--no-kernel")
	result = run_cpprof("export", "--format", "symbol-order", "-o", tmp_path / "order", recorded.path)
	assert result.returncode == 0, result.stderr
	listed = (tmp_path / "order").read_text().split()
	called = ["fourth", "second", "fifth"]
	assert [name for name in listed if name in called] == called and len(listed) == len({*listed})
	subprocess.run(["gcc", "-O2", "-o", tmp_path / "placed", PROGRAMS / "far_functions.c", *flags, f"-Wl,--symbol-ordering-file={tmp_path}/order", "-Wl,--no-warn-symbol-ordering"], check=True)
	symbols = subprocess.run(["nm", "--numeric-sort", "--defined-only", tmp_path / "placed"], capture_output=True, text=True, check=True).stdout.split()
	assert [name for name in symbols if name in {*called, "first", "third"}] == [*called, "first", "third"]
