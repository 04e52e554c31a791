"""Real programs, each with one kind of frame: their paths are complete, and the shares are those that the programs state."""
import functools
import hashlib
import os
import re
import subprocess

import pytest
from record_support import (BUILD, PROGRAMS, agrees, build, check_truths, have, hits, holds, most_by_chance, needs_bpf, needs_perf, of_main, of_work, record,
	record_well, run_cpprof, show, tolerance, truths)

pytestmark = [needs_perf]

FINE = ["-r", "cpu/250us"]
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
COMPILERS = ["gcc", "clang"]


@pytest.mark.parametrize("linkage", ["pie", "no-pie", "static"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_kinds_of_frames(tmp_path, compiler, level, linkage):
	program = build("mixture.c", compiler=compiler, level=level, linkage=linkage)
	check_truths(record_well(tmp_path, [program], *FINE))


def test_static_pie(tmp_path):
	check_truths(record_well(tmp_path, [build("mixture.c", linkage="static-pie")], *FINE))


@pytest.mark.parametrize("flags", [
	["-fno-asynchronous-unwind-tables", "-gdwarf-4"],
	["-gdwarf-5", "-gz=zlib", "-fno-asynchronous-unwind-tables"],
], ids=["debug_frame", "compressed_debug_frame"])
def test_debug_frame(tmp_path, flags):
	"""Without .eh_frame the unwind rules come from .debug_frame."""
	check_truths(record_well(tmp_path, [build("mixture.c", *flags)], *FINE))


@pytest.mark.parametrize("flags", [["-fno-omit-frame-pointer"], ["-fomit-frame-pointer"], ["-Os"]], ids=["fp", "sp", "Os"])
def test_without_unwind_information(tmp_path, flags):
	"""Code without unwind information gets rows from its instructions, except functions that realign their stack."""
	program = build("mixture.c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g0", *flags)
	recorded = record(tmp_path, [program], *FINE)
	assert recorded.status == 0, recorded.err
	paths, stated = recorded.paths(), truths(recorded.out)
	realigned = sum(fraction for names, fraction in stated if any("realigned" in name for name in names))
	assert 0 < realigned < 0.3
	for names, fraction in stated:
		if not any("realigned" in name for name in names):
			agrees(paths, names, fraction, {names[-1] for names, _ in stated})
	samples, _, whole, *_ = recorded.closing_shares()
	assert (100 - whole) / 100 * samples <= most_by_chance(realigned + 0.01, samples), recorded.err


def test_guessed_paths_are_not_whole(tmp_path):
	"""A walk by frame pointers through code of which nothing is known may miss a frame: such paths are a share of their own."""
	recorded = record(tmp_path, [build("unknown_frame.c")], *FINE)
	assert recorded.status == 0, recorded.err
	samples, _, whole, guessed, broken = recorded.closing_shares()
	info = recorded.info()
	assert info["whole"] + info["guessed"] + info["broken"] == info["stacks"] and info["stacks"] >= samples, info
	assert guessed > 60 and abs(guessed - 100 * info["guessed"] / info["stacks"]) < 0.02, recorded.err
	assert whole < 10 and abs(whole + guessed + broken - 100) < 0.001, recorded.err
	assert f"guessed:      {guessed:.2f} % (" in run_cpprof("info", recorded.path).stdout
	for cause in info["causes"]:
		assert cause["guessed"] == ("without unwind rules" in cause["cause"]) and not (cause["whole"] and cause["guessed"]), cause


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf)])
def test_start_code_without_rules(tmp_path, backend):
	"""Start code without unwind information, as musl's, is the root: it is known by its place, where the stack begins."""
	program = build("bare_start.c", "-nostdlib", linkage="static")
	recorded = record(tmp_path, [program], "--backend", backend, *FINE)
	assert recorded.status == 0, recorded.err
	samples, _, whole, _, _ = recorded.closing_shares()
	assert samples > 100 and whole >= 98, f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"
	paths = recorded.paths()
	sampled = hits(paths) - hits(paths, "[not sampled]")
	assert hits(paths, "program", "outer", "inner") >= 0.98 * sampled, show(paths)
	if backend == "bpf":
		walked, stacks = re.search(r"(\d+) of (\d+) stacks were unwound in the kernel", run_cpprof("info", recorded.path).stdout).groups()
		assert int(walked) >= 0.98 * int(stacks)


LIBRARY_USERS = ["sorts", "prints", "allocates", "computes", "compares"]


@pytest.mark.skipif(not have("musl-gcc"), reason="musl-gcc is not installed (it is in Debian's musl-tools)")
@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf)])
@pytest.mark.parametrize("strip", [False, True], ids=["symbols", "stripped"])
@pytest.mark.parametrize("linkage", ["pie", "static"])
def test_code_without_unwind_information(tmp_path, linkage, strip, backend):
	"""musl's functions have none: their rows follow from their code. Each path reaches the root through our own functions."""
	program = build("library_code.c", "-lm", compiler="musl-gcc", linkage=linkage, strip=strip)
	recorded = record(tmp_path, [program], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	samples, lost, whole, _, broken = recorded.closing_shares()
	assert samples > 200 and lost == 0, recorded.err
	assert (100 - whole) / 100 * samples <= most_by_chance(0.01, samples), f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"
	assert broken / 100 * samples <= most_by_chance(0.002, samples), recorded.err
	paths = recorded.paths()
	below = sum(hits(paths, "main", user) for user in LIBRARY_USERS)
	assert strip or below >= 0.95 * hits(paths), show(paths)


def test_large_frame_of_two_callers(tmp_path):
	"""Frames above a frame that is larger than the stack copy are read from the process, and never guessed from earlier callers."""
	check_truths(record_well(tmp_path, [build("large_frame.c")], *FINE))


@pytest.mark.parametrize("how", ["once", "updown", "callers"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_deep_recursion(tmp_path, how, level):
	flags = ["-fno-optimize-sibling-calls", "-fno-inline"]
	recorded = record_well(tmp_path, [build("recursion.c", *flags, level=level), how])
	paths = check_truths(recorded)
	# Only broken paths may start elsewhere. record_well has checked that these are below 1 %.
	starts = {path[0] for path in paths if holds(path, ["descend"])}
	assert starts <= {"main", "[incomplete stack]"}, show(paths)
	if how != "updown":
		depths = {sum(frame == "descend" for frame in path) for path in paths if holds(path, ["bottom"])}
		assert depths == {10000}
	info = run_cpprof("info", recorded.path).stdout
	assert re.search(r"completed", info), info


@pytest.mark.parametrize("stack", ["normal", "alternate"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_signal_handler(tmp_path, compiler, level, stack):
	program = build("signals.c", compiler=compiler, level=level)
	paths = check_truths(record_well(tmp_path, [program, stack], *FINE))
	handled = hits(paths, "main", "victim", "handler", "handler_work")
	# 80 handlers of 2 ms each
	assert abs(handled * 0.25 - 160) <= 0.15 * 160, show(paths)
	broken = hits(paths, "[incomplete stack]", "handler_work")
	assert handled + broken == hits(paths, "handler_work"), "the handler's paths go on through what it interrupted"


@pytest.mark.parametrize("linkage", ["pie", "static"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_exceptions_in_flight(tmp_path, compiler, level, linkage):
	program = build("exceptions.cpp", compiler=compiler, level=level, linkage=linkage)
	recorded = record_well(tmp_path, [program], *FINE)
	paths = recorded.paths()
	assert "caught 15000 released 600000" in recorded.out
	in_flight = of_work(paths, ["attempt", "descend", "_Unwind_RaiseException", "_Unwind_Resume"])
	total = hits(in_flight)
	assert hits(in_flight, "main", "attempt") > 0.97 * total > 100, show(paths)
	# While an exception is in flight, the unwinder runs below the deepest frame, or below the frame whose destructors have just
	# run.
	assert hits(paths, "main", "attempt", "descend") > 0.7 * total, show(paths)


def test_plt(tmp_path):
	callee = build("plt_callee.c", linkage="shared", name="libplt_callee.so")
	caller = build("plt_caller.c", "-Wl,-z,lazy", "-fplt", callee, linkage="shared", name="libplt_caller.so")
	recorded = record_well(tmp_path, [build("plt.c"), caller], *FINE)
	paths = recorded.paths()
	calls = of_main(paths)
	total = hits(calls)
	assert hits(calls, "main", "bind_lazily") + hits(calls, "main", "call_bound") > 0.95 * total > 100, show(paths)
	assert hits(paths, "main", "call_bound", "use", "call_all") > 0.1 * total, show(paths)


def test_vdso(tmp_path):
	paths = check_truths(record_well(tmp_path, [build("vdso.c")], *FINE))
	# More frames than the reader's: the C library's wrapper, and the vDSO below it.
	assert any(holds(path, ["main", "read_clock"]) and len(path) >= 4 for path in paths), show(paths)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_callback(tmp_path, compiler):
	paths = record_well(tmp_path, [build("callback.c", compiler=compiler)], *FINE).paths()
	work = hits(paths, "compare")
	assert hits(paths, "main", "sort_them", "compare") > 0.97 * work > 100, show(paths)
	libc_between = sum(count for path, count in paths.items()
		if holds(path, ["sort_them", "compare"]) and path.index("compare") - path.index("sort_them") > 1)
	assert libc_between > 0.97 * work, show(paths)


def test_library_replaced_at_the_same_address(tmp_path):
	plugins = [build("plugin.c", f"-DNAME={name}", linkage="shared", name=f"{name}.so") for name in ("alpha", "bravo")]
	recorded = record_well(tmp_path, [build("dlclose.c"), *plugins], *FINE)
	same = re.search(r"same (\d+) of (\d+)", recorded.out)
	assert int(same.group(1)) >= 10, "the libraries must come to the same address for this test to say anything"
	check_truths(recorded)


def test_stripped(tmp_path):
	"""A stripped function is still one function, named by module and start. The paths are as complete as with symbols."""
	plain = record_well(tmp_path, [build("forms.c"), "40"], *FINE).paths()
	stripped = record_well(tmp_path, [build("forms.c", name="bare", strip=True), "40"], *FINE).paths()
	names = {frame for path in stripped for frame in path if frame.startswith("bare+0x")}
	# Five forms, address_information, and three db_ functions. main is named because the C library's start code calls it.
	assert 9 <= len(names) <= 12, sorted(names)
	by_weight = lambda paths, names: sorted(
		sum(count for path, count in paths.items() if name in path) / hits(paths) for name in names)
	nine = ["invoice", "loan_application", "envelope", "form_US_1040", "form_NJ_1040", "address_information",
		"db_get_property", "db_read_record", "db_update_record"]
	for measured, expected in zip(by_weight(stripped, names)[-9:], by_weight(plain, nine)):
		assert abs(measured - expected) < 0.06, show(stripped)


def test_cpp_names_and_inlines(tmp_path):
	recorded = record_well(tmp_path, [build("names.cpp")], *FINE)
	paths = recorded.paths()
	inlined = ["main", "holds_inlined", "inlined_once", "inlined_twice"]
	for names in (["main", "render", "draw", "burn"], inlined, ["main", "call"]):
		agrees(paths, names, 1 / 3, ["burn", "inlined_twice"])
	everything = {frame for path in paths for frame in path}
	assert any("shapes::circle::draw" in frame for frame in everything), everything
	assert any("shapes::render<shapes::circle>" in frame for frame in everything), everything
	assert not any(frame.startswith("_Z") for frame in everything), everything
	without = run_cpprof("report", "--functions", "--no-inlines", "--threshold", 0, recorded.path).stdout
	assert "holds_inlined" in without and "inlined_twice" not in without, without


@pytest.mark.skipif(not have("rustc"), reason="rustc is not installed")
def test_rust_names(tmp_path):
	recorded = record_well(tmp_path, [build("names.rs", name="names_rs")], *FINE)
	everything = {frame for path in recorded.paths() for frame in path}
	assert any("names::main" in frame or "names_rs::main" in frame for frame in everything), everything
	assert any("shapes::Circle" in frame and "draw" in frame for frame in everything), everything
	assert not any(frame.startswith("_ZN") or frame.startswith("_R") for frame in everything), everything
	# Names contain no hash of the old mangling scheme.
	assert not any(re.search(r"::h[0-9a-f]{16}$", frame) for frame in everything), everything


def test_coroutine(tmp_path):
	"""A coroutine's first function was never called: its return address is the start of another function."""
	check_truths(record_well(tmp_path, [build("coroutine.c")], *FINE))


def test_holes_in_the_stack(tmp_path):
	"""A stack with pages that were never touched: the copy ends at the first of them, once."""
	recorded = record_well(tmp_path, [build("holes.c")], *FINE)
	check_truths(recorded)
	completed = re.search(r"completed: +(\d+)", run_cpprof("info", recorded.path).stdout)
	assert completed and int(completed[1]) < 0.2 * recorded.closing()[0]


def test_exec_and_start(tmp_path):
	"""The kernel's work at exec has no user stack, and the dynamic linker's first instruction has no caller."""
	record_well(tmp_path, ["/bin/true"], "-r", "page-faults/1")


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_starts_of_threads(tmp_path, backend):
	"""A new thread has no caller until it has left the system call that made it: its path is whole, and that of its creator too."""
	recorded = record(tmp_path, [build("many_starts.c")], "-r", "cpu/200us", "--backend", backend)
	assert recorded.status == 0, recorded.err
	samples, _, whole, _, broken = recorded.closing_shares()
	assert samples > 100, recorded.err
	assert broken / 100 * samples <= most_by_chance(0.001, samples), recorded.err
	assert (100 - whole) / 100 * samples <= most_by_chance(0.005, samples), recorded.err


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_conventions_of_assembler(tmp_path, backend):
	"""Where assembler keeps a register that the ABI lets a callee change, its caller is verified: by a direct call exactly, otherwise partly."""
	recorded = record(tmp_path, [build("own_convention.c")], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = check_truths(recorded)
	assert hits(paths, "[incomplete stack]") == 0, show(paths)
	causes = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"]}
	partly, samples = causes.get("reached the root, partly without unwind rules", 0), sum(causes.values())
	assert abs(partly / samples - 0.5) <= tolerance(0.5, samples), causes


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_assembler_without_types(tmp_path, backend):
	"""A global symbol without a type begins a function; one in the middle of it does no harm."""
	recorded = record(tmp_path, [build("untyped.c")], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = check_truths(recorded)
	samples, _, whole, *_ = recorded.closing_shares()
	assert (100 - whole) / 100 * samples <= most_by_chance(0.001, samples), f"{recorded.err}\n{show(paths)}"


GOROUTINE = ["goroutine", "calls_thread", "call_on_thread", "on_thread", "burn"]


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_other_stack_of_a_call(tmp_path, backend):
	"""A call that changes stacks as Go's calls of C do: the callee's path begins on the first stack."""
	recorded = record(tmp_path, [build("switched.c")], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = recorded.paths()
	agrees(paths, ["on_own_stack"], 0.5, ["burn"])
	whole = hits(paths, "leave", *GOROUTINE)
	# Where stacks are unwound later (perf), the other stack may have changed: then the path is broken, not wrong.
	broken = hits(paths, "[incomplete stack]", "on_thread")
	assert whole + broken == hits(paths, "on_thread"), show(paths)
	assert broken == 0 if backend != "perf" else whole > broken, show(paths)


@functools.cache
def build_go(name="main.go", *flags):
	"""Builds a program of tests/programs/cgo once for each text and list of flags."""
	source = PROGRAMS / "cgo" / name
	output = BUILD / "tests/programs" / hashlib.sha256(source.read_bytes() + repr(flags).encode()).hexdigest()[:16] / "cgo"
	if not output.exists():
		output.parent.mkdir(parents=True, exist_ok=True)
		partial = output.with_name(f"cgo.{os.getpid()}")
		subprocess.run(["go", "build", *flags, "-o", partial, source], check=True,
			env={**os.environ, "GOCACHE": str(BUILD / "tests/go-cache"), "GO111MODULE": "off", "CGO_ENABLED": "1"})
		partial.rename(output)
	return str(output)


@pytest.mark.skipif(not have("go"), reason="go is not installed")
@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_c_below_goroutines(tmp_path, backend):
	"""C below Go, Go below that C, Go below a thread of C, and the runtime's work on the thread's own stack."""
	recorded = record(tmp_path, [build_go()], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = recorded.paths()
	below_c = hits(paths, "c_work")
	whole = hits(paths, "runtime.goexit.abi0", "main.worker", "main.caller", "runtime.cgocall", "runtime.asmcgocall.abi0", "c_outer", "c_work")
	assert below_c > 20 and whole >= (0.5 if backend == "perf" else 0.99) * below_c, show(paths)
	# Go's runtime continues on the goroutine's stack, so that the C frames between two Go frames are not on it.
	back = hits(paths, "main.goBack", "main.goWork")
	of_goroutine = hits(paths, "runtime.goexit.abi0", "main.worker", "runtime.cgocall", "runtime.cgocallback.abi0", "main.goBack", "main.goWork")
	of_thread = hits(paths, "runtime.goexit.abi0", "c_on_own_thread", "runtime.cgocallback.abi0", "main.goBack", "main.goWork")
	assert min(of_goroutine - of_thread, of_thread) > 15 and of_goroutine >= (0.5 if backend == "perf" else 0.99) * back, show(paths)


@pytest.mark.skipif(not have("go"), reason="go is not installed")
@pytest.mark.parametrize("flags", [(), ("-buildmode=pie",)], ids=["exe", "pie"])
@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_go_runtime_on_the_threads_stack(tmp_path, backend, flags):
	"""Go's runtime leaves the stack of a goroutine for its own work and for the clock: the paths begin with the goroutine's functions. Where
	stacks are unwound later (perf), the goroutine may run again: then the path is broken with that cause, not wrong."""
	recorded = record(tmp_path, [build_go("stacks.go", *flags)], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = {}
	for path, count in recorded.paths().items(): # without the path that made the thread
		root = max((i for i, frame in enumerate(path) if frame == "runtime.goexit.abi0"), default=0)
		paths[path[root:]] = paths.get(path[root:], 0) + count
	for work in (["main.large", "runtime.systemstack.abi0"], ["main.clock", "time.now"]):
		below = {path: count for path, count in paths.items() if holds(path, work)}
		assert all(path[0] == "runtime.goexit.abi0" for path in below if path[0] != "[incomplete stack]"), show(below)
	# The clock is read in known shares; the function that collects garbage is chance. With perf, so is how many paths are whole.
	if backend != "perf" or hits(below) > 50:
		agrees(below, ["main.often", *work], 0.75)
	switched = {path: count for path, count in paths.items() if {"runtime.systemstack.abi0", "time.now"} & set(path)}
	assert hits(switched, "runtime.goexit.abi0") >= (0.5 if backend == "perf" else 0.98) * hits(switched), show(switched)
	# The other backends unwind a stack later only where the walk meets memory that is not there.
	later = most_by_chance(0.001, hits(paths))
	assert backend == "perf" or hits(paths, "[unknown code]", "runtime.systemstack.abi0") <= later, show(paths)
	growing = {path: count for path, count in paths.items() if holds(path, ["runtime.newstack", "runtime.copystack"])}
	others = hits(growing) - hits(growing, "main.deep", "runtime.morestack.abi0")
	assert backend == "perf" or others <= most_by_chance(0.05, hits(growing)), show(growing)
	broken = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"] if not cause["whole"]}
	expected = ("Go's runtime, for a goroutine that is not known", "the copied stack is too short") if backend == "perf" else ()
	unexpected = sum(count for cause, count in broken.items() if cause not in expected)
	assert unexpected <= most_by_chance(0.02, recorded.closing_shares()[0]), broken
