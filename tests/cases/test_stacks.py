"""Real programs, each with one form of stack: every event has its exact path, with each backend."""
import functools
import hashlib
import itertools
import os
import re
import subprocess

import pytest
from measuring import between
from record_support import (BACKENDS, BUILD, BURST_BACKENDS, COUNTED, PROGRAMS, agrees, build, build_counted, check_counted,
	events_of, hits, holds, most_by_chance, needs_bpf, needs_whole_perf, of_work, record, record_counted, record_held, run_cpprof, show, truths)

LEVELS = ["-O0", "-O1", "-O2", "-O3"]
COMPILERS = ["gcc", "clang"]
# perf walks in the monitor, which reads the unwind information of each form. bpf and preload walk by the same rows.
FORMS = [*itertools.product(COMPILERS, LEVELS, ["pie", "no-pie", "static"]), ("gcc", "-O2", "static-pie")]
WALKED = [("gcc", "-O0", "pie"), ("gcc", "-O1", "no-pie"), ("gcc", "-O2", "pie"), ("gcc", "-O3", "pie"), ("gcc", "-O2", "static"),
	("gcc", "-O2", "static-pie"), ("clang", "-O0", "pie"), ("clang", "-O2", "pie"), ("clang", "-O3", "no-pie")]
# preload is in no static program.
DYNAMIC = [form for form in WALKED if "static" not in form[2]]
# The backends whose events are page faults of the kernel, wherever they happen.
KERNEL = BACKENDS[:2]
IS_ROOT = os.geteuid() == 0
# For these frames a copied stack may be too short. perf copies every stack, bpf the stacks of a program that has just started.
LARGE = {"perf": ("frame_20k", "frame_100k"), "bpf": ("frame_20k", "frame_100k")}


def on(backend, forms):
	marks = {"perf": needs_whole_perf, "bpf": needs_bpf}.get(backend, ())
	return [pytest.param(backend, *(form if isinstance(form, tuple) else (form,)), marks=marks) for form in forms]


def totals_of(*totals):
	"""Conditions of record_held: the program has made so many events."""
	return [lambda recorded, total=total: hits(events_of(recorded)) == total for total in totals]


def record_still(backend, folder, command, *totals):
	"""The same, each time that there are so many events. preload walks at the event, and need not hold."""
	if backend == "preload":
		return record_counted(backend, folder, command, stdin=subprocess.DEVNULL)
	return record_held(backend, folder, command, *totals_of(*totals))


def completed(recorded):
	"""Returns how many stacks were completed from memory outside the copy."""
	return sum(cause["count"] for cause in recorded.info()["causes"] if "completed" in cause["cause"])


def walked_in_kernel(recorded):
	return int(re.search(r"(\d+) of \d+ stacks were unwound in the kernel", run_cpprof("info", recorded.path).stdout)[1])


# --- kinds of frames and of unwind information ---

@pytest.mark.parametrize("backend, compiler, level, linkage", [*on("perf", FORMS), *on("bpf", WALKED), *on("preload", DYNAMIC)])
def test_kinds_of_frames(tmp_path, backend, compiler, level, linkage):
	program = build_counted(backend, "mixture.c", event_us=400, compiler=compiler, level=level, linkage=linkage)
	check_counted(record_counted(backend, tmp_path, [program, "10"]), 9 * 10, may_break=LARGE.get(backend, ()))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("flags", [
	["-fno-asynchronous-unwind-tables", "-gdwarf-4"],
	["-gdwarf-5", "-gz=zlib", "-fno-asynchronous-unwind-tables"],
], ids=["debug_frame", "compressed_debug_frame"])
def test_debug_frame(tmp_path, backend, flags):
	"""Without .eh_frame the unwind rules come from .debug_frame."""
	program = build_counted(backend, "mixture.c", *flags, event_us=400)
	check_counted(record_counted(backend, tmp_path, [program, "10"]), 9 * 10, may_break=LARGE.get(backend, ()))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("flags", [["-fno-omit-frame-pointer"], ["-fomit-frame-pointer"], ["-Os"]], ids=["fp", "sp", "Os"])
def test_without_unwind_information(tmp_path, backend, flags):
	"""Code without unwind information gets rows from its instructions, except a function that realigns a stack of variable length: its
	paths do not count as whole."""
	program = build_counted(backend, "mixture.c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g0", *flags, event_us=400)
	recorded = record_counted(backend, tmp_path, [program, "10"])
	paths = events_of(recorded)
	broken = {kind: hits(paths, "[incomplete stack]", kind) for kind in LARGE.get(backend, ())}
	for names, _ in truths(recorded.out):
		assert "realigned_variable" in names or hits(paths, *names) + broken.get(names[1], 0) == 10, show(paths)
	assert hits(paths) == 9 * 10
	info = recorded.info()
	assert backend == "perf" or info["whole"] + sum(broken.values()) == 8 * 10, info


@pytest.mark.parametrize("backend", BACKENDS)
def test_guessed_paths_are_not_whole(tmp_path, backend):
	"""A walk by frame pointers through code of which nothing is known may miss a frame: such paths are a share of their own."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "unknown_frame.c", event_us=20000)])
	check_counted(recorded, 30)
	_, _, whole, guessed, broken = recorded.closing_shares()
	info = recorded.info()
	assert info["guessed"] == 30 and info["whole"] + info["guessed"] + info["broken"] == info["stacks"], info
	assert abs(guessed - 100 * 30 / info["stacks"]) < 0.02 and abs(whole + guessed + broken - 100) < 0.001, recorded.err
	assert f"guessed:      {guessed:.2f} % (" in run_cpprof("info", recorded.path).stdout
	for cause in info["causes"]:
		assert cause["guessed"] == ("without unwind rules" in cause["cause"]) and not (cause["whole"] and cause["guessed"]), cause


@pytest.mark.parametrize("backend", BACKENDS)
def test_zero_frame_pointer_is_no_root(tmp_path, backend):
	"""A caller without rules whose frame pointer is 0 may use that register for anything: its path is broken, not whole."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "unknown_frame.c", "-DZERO_FRAME", event_us=20000)])
	assert events_of(recorded) == {("[incomplete stack]", "unknown", "below", "burn"): 30}, show(events_of(recorded))
	causes = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"]}
	assert causes["no unwind rule at the address"] == 30, causes


@pytest.mark.needs("musl-gcc")
@pytest.mark.parametrize("backend", KERNEL)
def test_threads_without_rules(tmp_path, backend):
	"""The function that starts a thread is the root, without unwind information too (musl): the code at its return address ends the thread."""
	program = build_counted(backend, "threads.c", event_us=1000, compiler="musl-gcc")
	recorded = record_counted(backend, tmp_path, [program, "8"])
	paths = events_of(recorded)
	assert hits(paths, "worker") == hits(paths) == 8 * 4 and not any("[incomplete stack]" in path for path in paths), show(paths)


@pytest.mark.parametrize("backend", KERNEL)
def test_start_code_without_rules(tmp_path, backend):
	"""Start code without unwind information, as musl's, is the root: it is known by its place, where the stack begins. The kernel's work
	at exec has no user stack."""
	path = ("start_code", "program", "outer", "inner")
	program = build("bare_start.c", "-nostdlib", linkage="static")
	recorded = record_held(backend, tmp_path, [program], lambda recorded: recorded.paths().get(path) == 50, resource="page-faults/1")
	paths = recorded.paths()
	assert paths[path] == 100 and {path[0] for path in paths} <= {"start_code", "_start", "[kernel: exec or exit]"}, show(paths)
	assert recorded.closing_shares()[2] == 100, recorded.err
	if backend == "bpf": # The kernel has the rows at the latest when the monitor has walked.
		assert walked_in_kernel(recorded) >= 50, recorded.err


LIBRARY_USERS = ["sorts", "prints", "allocates", "computes", "compares"]


@pytest.mark.needs("musl-gcc")
@pytest.mark.measured("samples fall on any instruction of the C library, and a few of these have no row")
@pytest.mark.parametrize("backend", KERNEL)
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_conventions_of_assembler(tmp_path, backend):
	"""Where assembler keeps a register that the ABI lets a callee change, its caller is verified: by a direct call exactly, otherwise partly."""
	resource = "fp-divzero/1" if backend == "preload" else "page-faults/1"
	recorded = record(tmp_path, [build("own_convention.c")], "--backend", backend, "-r", resource)
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = {path: count for path, count in recorded.paths().items() if path[-1] == "routine"}
	assert paths == {("main", caller, "assembler", "routine"): 100 for caller in ("directly", "by_pointer")}, show(paths)
	assert recorded.info()["guessed"] == 100, recorded.err


@pytest.mark.parametrize("backend", BACKENDS)
def test_assembler_without_types(tmp_path, backend):
	"""A global symbol without a type begins a function; one in the middle of it does no harm."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "untyped.c", event_us=1000)])
	check_counted(recorded, 200)
	assert recorded.info()["guessed"] == 0, recorded.err


@pytest.mark.parametrize("how", ["framed", "bare"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_code_without_unwind_rules(tmp_path, backend, how):
	"""Code made at run time has no unwind rows: its work is charged to the functions that it calls, and paths through it are partly guessed,
	by its frame pointers, or broken."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "jit.c", event_us=1000), how])
	paths = events_of(recorded)
	assert paths.pop(("main", "directly", "burn")) == 150, show(paths)
	roots = ("main",) if how == "framed" else ("main", "[incomplete stack]")
	assert hits(paths) == 150, show(paths)
	for path in paths:
		assert path[0] in roots and path[1:] in (("[anon]", "called_back", "burn"), ("[unknown code]", "called_back", "burn")), show(paths)
	assert how == "bare" or recorded.info()["guessed"] == 150, recorded.err


def test_code_that_the_program_maps_itself(tmp_path):
	"""The preload backend finds code that the program maps without a call that it interposes, when a walk reaches it."""
	program = build_counted("preload", "remapped.c", event_us=1000)
	recorded = record_held("preload", tmp_path, [program], lambda recorded: hits(recorded.paths(), "main", "calls_back", "at_first"))
	paths = events_of(recorded)
	at_first = hits(paths, "at_first")
	assert hits(paths) == at_first + 300, show(paths)
	assert {path: count for path, count in paths.items() if "at_first" not in path} == {
		("main", "calls_back", "called_back", "burn"): 150, ("main", "directly", "burn"): 150}, show(paths)


# --- large and deep stacks ---

@pytest.mark.parametrize("backend", BACKENDS)
def test_large_frame_of_two_callers(tmp_path, backend):
	"""Frames above a frame that is larger than the stack copy are read from the process, and never guessed from earlier callers."""
	program = build_counted(backend, "large_frame.c", event_us=1000)
	check_counted(record_still(backend, tmp_path, [program], 10, 20), 20)


@pytest.mark.parametrize("backend", BACKENDS)
def test_holes_in_the_stack(tmp_path, backend):
	"""A stack with pages that were never touched: the copy ends at the first of them, once."""
	recorded = record_still(backend, tmp_path, [build_counted(backend, "holes.c", event_us=1000)], 10)
	check_counted(recorded, 20)
	# The first read above the copy touches the pages, so that later copies have them.
	assert backend != "perf" or 0 < completed(recorded) < 20, recorded.err


NO_TAILS = ["-fno-optimize-sibling-calls", "-fno-inline"]


@pytest.mark.parametrize("backend, level, depth", [*on("perf", [("-O0", 5000), ("-O2", 5000)]), *on("bpf", [("-O2", 1000), ("-O2", 5000)]),
	*on("preload", [("-O2", 1000), ("-O2", 5000)])])
def test_deep_recursion(tmp_path, backend, level, depth):
	"""bpf and preload walk 1000 frames at the event. A deeper stack than that, and than a copy, is completed from the target's memory, and
	not from an earlier stack."""
	program = build_counted(backend, "recursion.c", *NO_TAILS, event_us=5000, level=level)
	recorded = record_held(backend, tmp_path, [program, "held", str(depth)], *totals_of(2, 4, 6))
	paths = check_counted(recorded, 6)
	assert sorted(path.count("descend") for path in paths) == [depth // 2, depth, depth], show(paths)
	if depth == 5000:
		assert completed(recorded) >= 4, recorded.err
	elif backend == "bpf": # The kernel has the rows at the latest when the monitor has walked.
		assert walked_in_kernel(recorded) >= 4, recorded.err
	else:
		assert completed(recorded) == 0, recorded.err


# --- transfers of control ---

@pytest.mark.parametrize("stack", ["normal", "alternate"])
@pytest.mark.parametrize("backend, compiler, level", [*on("perf", itertools.product(COMPILERS, ["-O0", "-O2"])),
	*on("bpf", itertools.product(COMPILERS, ["-O2"])), *on("preload", itertools.product(COMPILERS, ["-O2"]))])
def test_signal_handler(tmp_path, backend, compiler, level, stack):
	"""A handler's path goes on through what it interrupted: a system call, the middle of a function, or its first instruction."""
	program = build_counted(backend, "signals.c", event_us=1000, compiler=compiler, level=level)
	check_counted(record_still(backend, tmp_path, [program, stack], 30), 30)


@pytest.mark.parametrize("backend, compiler, level, linkage", [*on("perf", itertools.product(COMPILERS, ["-O0", "-O2"], ["pie", "static"])),
	*on("bpf", [("gcc", "-O2", "pie"), ("gcc", "-O2", "static")]), *on("preload", [("gcc", "-O2", "pie")])])
def test_exceptions_in_flight(tmp_path, backend, compiler, level, linkage):
	"""While an exception is in flight, the unwinder runs below the deepest frame, and then below each frame whose destructors have just run."""
	program = build_counted(backend, "exceptions.cpp", "-Wl,--wrap=__gxx_personality_v0", compiler=compiler, level=level, linkage=linkage)
	recorded = record_counted(backend, tmp_path, [program, "2"])
	assert recorded.out == "caught 2 released 80\n"
	raised, resumed = {}, {}
	for path, count in events_of(recorded).items():
		depth = sum("descend" in frame for frame in path)
		assert holds(path[:2], ["main", "attempt"]) and all("descend" in frame for frame in path[2:2 + depth]), path
		into = raised if "_Unwind_RaiseException" in path else resumed
		assert into is raised or "_Unwind_Resume" in path, path
		into[depth] = into.get(depth, 0) + count
	# First the unwinder visits all frames below `main`. Then it visits the frame that throws or resumes, if that called a function which may
	# do so, and its caller.
	assert raised == {41: 2 * (42 + 1)} and resumed == {depth: 2 * 2 for depth in range(1, 42)}, (raised, resumed)


def plt_caller(callee):
	return build("plt_caller.c", "-Wl,-z,lazy", "-fplt", callee, linkage="shared", name="libplt_caller.so")


@pytest.mark.parametrize("backend", BACKENDS)
def test_lazy_binding(tmp_path, backend):
	"""The dynamic linker binds a function at its first call, with its resolver above the caller."""
	callee = build_counted(backend, "plt_callee.c", linkage="shared", name="libplt_callee.so")
	paths = check_counted(record_counted(backend, tmp_path, [build_counted(backend, "plt.c"), plt_caller(callee)]), 128)
	# The resolver, the function that it calls, and `callee_NN`.
	assert all(path[:3] == ("main", "bind_lazily", "call_all") and path[-1] == "choose" and len(path) >= 7 for path in paths), show(paths)


@pytest.mark.parametrize("backend", KERNEL)
def test_plt_stub(tmp_path, backend):
	"""At the first instruction of a PLT stub, its path goes on with the caller's frame."""
	callee = build_counted(backend, "plt_callee.c", linkage="shared", name="libplt_callee.so")
	recorded = record(tmp_path, [build_counted(backend, "plt.c"), plt_caller(callee)], "--backend", backend, "-r", "page-faults/1")
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = {path: count for path, count in recorded.paths().items() if path[-1].endswith("@plt") and "call_bound" in path}
	assert paths == {("main", "call_bound", "call_all", f"callee_{i // 8}{i % 8}@plt"): 2 for i in range(64)}, show(paths)


@pytest.mark.parametrize("backend", KERNEL)
def test_vdso(tmp_path, backend):
	recorded = record(tmp_path, [build("vdso.c")], "--backend", backend, "-r", "page-faults/1")
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = {path: count for path, count in recorded.paths().items() if "read_clock" in path}
	# The C library's wrapper has a frame, and the vDSO below it.
	assert [(path[:3], count) for path, count in paths.items()] == [(("main", "read_clock", "clock_gettime"), 100)], show(paths)
	assert all(len(path) > 3 for path in paths), show(paths)


@pytest.mark.parametrize("backend, compiler", [*on("perf", COMPILERS), *on("bpf", ["gcc"]), *on("preload", ["gcc"])])
def test_callback(tmp_path, backend, compiler):
	"""A comparator's path goes on through the frames of the C library that calls it."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "callback.c", compiler=compiler), "1"])
	paths = check_counted(recorded, int(re.search(r"compared (\d+)", recorded.out)[1]))
	assert all(path.index("compare") - path.index("sort_them") > 1 for path in paths), show(paths)


@pytest.mark.parametrize("backend", BURST_BACKENDS)
def test_library_replaced_at_the_same_address(tmp_path, backend):
	"""Code is unloaded and replaced at the same address: the unwind rows of the old code are not used for the new."""
	plugins = [build_counted(backend, "plugin.c", f"-DNAME={name}", event_us=2500, linkage="shared", name=f"{name}.so") for name in ("alpha", "bravo")]
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "dlclose.c", event_us=2500), *plugins])
	assert "same 30 of 30" in recorded.out, "the libraries must come to the same address for this test to say anything"
	check_counted(recorded, 30 * (2 + 4))


PLACED = ["", "map", "protect"]


# preload notices only what dlclose unloads.
@pytest.mark.parametrize("backend, way", [*on("perf", PLACED), *on("bpf", PLACED), *on("preload", [""])])
def test_generated_code_at_the_address_of_a_library(tmp_path, backend, way):
	"""Code that a program generates where a library was, or is loaded, does not get the library's names."""
	plugin = build_counted(backend, "plugin.c", "-DNAME=alpha", event_us=2500, linkage="shared", name="alpha.so")
	paths = events_of(record_counted(backend, tmp_path, [build_counted(backend, "reused.c", event_us=2500), plugin, *[way] * bool(way)]))
	# preload looks for new code every 10 ms at most. Until then it is unknown.
	ends = {(path[-2].replace("[unknown code]", "[anon]"), path[-1]): count for path, count in paths.items()}
	assert ends == {("alpha_work", "burn"): 10, ("[anon]", "called_by_generated_code"): 10}, show(paths)


@pytest.mark.parametrize("backend", BACKENDS)
def test_coroutine(tmp_path, backend):
	"""A coroutine's first function was never called: its return address is the start of another function."""
	check_counted(record_counted(backend, tmp_path, [build_counted(backend, "coroutine.c", event_us=500), "80"]), 160)


@pytest.mark.skipif(not IS_ROOT, reason="only root may see the kernel's own page faults")
@pytest.mark.parametrize("backend", KERNEL)
def test_starts_of_threads(tmp_path, backend):
	"""A new thread has no caller until it has left the system call that made it: its path is whole, and the path of its creator too."""
	recorded = record(tmp_path, [build("many_starts.c")], "--backend", backend, "-r", "page-faults/1", "--no-kernel")
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = {path: count for path, count in recorded.paths().items() if path[-1] in ("clone", "__clone")}
	assert sorted(paths.values()) == [40, 40] and all(path[:2] == ("main", "start") for path in paths), show(paths)


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_stack_of_a_call(tmp_path, backend):
	"""A call that changes stacks as Go's calls of C do: the callee's path begins on the first stack."""
	paths = check_counted(record_still(backend, tmp_path, [build_counted(backend, "switched.c", event_us=1000)], 20), 40)
	assert {path[0] for path in paths} == {"leave"}, show(paths)


@pytest.mark.parametrize("backend", KERNEL)
def test_exec_and_start(tmp_path, backend):
	"""The kernel's work at exec has no user stack, and the dynamic linker's first instruction has no caller."""
	recorded = record(tmp_path, ["/bin/true"], "--backend", backend, "-r", "page-faults/1")
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = recorded.paths()
	assert ("_start",) in paths and (not IS_ROOT or "[kernel: exec or exit]" in {path[0] for path in paths}), show(paths)
	# perf copies no stack if the page fault is one of the stack itself. The memory that it reads later may have changed.
	broken = {path: count for path, count in paths.items() if path[0] == "[incomplete stack]"}
	assert backend == "perf" or not broken, show(broken)
	assert not any(len(path) == 1 or path[1] == "_start" for path in broken), show(broken)


# --- names ---

@pytest.mark.parametrize("backend", BACKENDS)
def test_stripped(tmp_path, backend):
	"""A stripped function is still one function, named by module and start. The paths are as complete as with symbols."""
	programs = [build_counted(backend, "forms.c", event_us=100, name=name, strip=name == "bare") for name in ("forms", "bare")]
	plain, stripped = (record_counted(backend, tmp_path, [program, "2"]).paths() for program in programs)
	symbols = subprocess.run(["nm", programs[0]], capture_output=True, text=True, check=True).stdout
	names = {f"bare+0x{int(address, 16):x}": name for address, name in re.findall(r"^(\w+) [tT] (\w+)$", symbols, re.MULTILINE)}
	# main is named because the C library's start code calls it.
	named = {tuple(names.get(frame, frame) for frame in path): count for path, count in stripped.items()}
	plain, named = (of_work(paths, ["countable_event"]) for paths in (plain, named))
	assert named == plain and hits(plain, "main", "db_read_record") == hits(plain) == 2 * 116, f"{show(stripped)}\n{show(plain)}"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("linkage", ["pie", "no-pie"])
def test_functions_that_the_linker_removed(tmp_path, compiler, version, linkage):
	"""Their DWARF, which begins at address 0, gives neither names nor lines to the code that stays."""
	program = build_counted("preload", "removed.c", PROGRAMS / "removed_rest.c", f"-gdwarf-{version}", "-ffunction-sections", "-Wl,--gc-sections",
		compiler=compiler, linkage=linkage)
	recorded = record_counted("preload", tmp_path, [program])
	paths = check_counted(recorded, 1000)
	assert {path[-3:] for path in paths} == {("main", "live", "live_inline")}, show(paths)
	lines = run_cpprof("report", "--functions", "--by", "line", "--format", "csv", recorded.path).stdout
	source = (PROGRAMS / "removed_rest.c").read_text().split("\n")
	for function, code in [("live_inline", "BURN_HERE(5000);"), ("main", "live();")]:
		assert f'"{function}:{source.index(chr(9) + code) + 1}"' in lines


@pytest.mark.parametrize("backend", BACKENDS)
def test_cpp_names_and_inlines(tmp_path, backend):
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "names.cpp", event_us=500), "50"])
	paths = events_of(recorded)
	for names in ["render", "draw", "burn"], ["holds_inlined", "inlined_once", "inlined_twice"], ["call", "operator()", "burn"]:
		assert hits(paths, "main", *names) == 50, show(paths)
	everything = {frame for path in paths for frame in path}
	assert any("shapes::circle::draw" in frame for frame in everything), everything
	assert any("shapes::render<shapes::circle>" in frame for frame in everything), everything
	assert not any(frame.startswith("_Z") for frame in everything), everything
	without = run_cpprof("report", "--functions", "--no-inlines", "--threshold", 0, recorded.path).stdout
	assert "holds_inlined" in without and "inlined_twice" not in without, without


@pytest.mark.needs("rustc")
@pytest.mark.parametrize("backend", KERNEL)
def test_rust_names(tmp_path, backend):
	recorded = record(tmp_path, [build("names.rs", name="names_rs")], "--backend", backend, "-r", "page-faults/1")
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	paths = of_work(recorded.paths(), ["draw"])
	assert hits(paths, "main", "render", "draw") == hits(paths, "main", "call", "draw") == hits(paths) / 2 == 50, show(paths)
	everything = {frame for path in paths for frame in path}
	assert any("names::main" in frame or "names_rs::main" in frame for frame in everything), everything
	assert any("shapes::Circle" in frame and "draw" in frame for frame in everything), everything
	assert not any(frame.startswith("_ZN") or frame.startswith("_R") for frame in everything), everything
	# Names contain no hash of the old mangling scheme.
	assert not any(re.search(r"::h[0-9a-f]{16}$", frame) for frame in everything), everything


# --- Go ---

MEASURED_IN_GO = pytest.mark.measured("shares of samples in a runtime that changes stacks, collects garbage and moves goroutines when it wants")


@functools.cache
def build_go(name="main.go", *flags, of_c=""):
	"""Builds a program of tests/programs/cgo once for each text and list of flags. `of_c`: flags for its C."""
	source = PROGRAMS / "cgo" / name
	output = BUILD / "tests/programs" / hashlib.sha256(source.read_bytes() + repr((flags, of_c)).encode()).hexdigest()[:16] / "cgo"
	if not output.exists():
		output.parent.mkdir(parents=True, exist_ok=True)
		partial = output.with_name(f"cgo.{os.getpid()}")
		subprocess.run(["go", "build", *flags, "-o", partial, source], check=True,
			env={**os.environ, "GOCACHE": str(BUILD / "tests/go-cache"), "GO111MODULE": "off", "CGO_ENABLED": "1",
				"CGO_CFLAGS_ALLOW": ".*", "CGO_LDFLAGS_ALLOW": ".*", "CGO_CFLAGS": f"-O2 -g -I{source.parent} {of_c}", "CGO_LDFLAGS": of_c})
		partial.rename(output)
	return str(output)


@pytest.mark.needs("go")
@MEASURED_IN_GO
@pytest.mark.parametrize("backend", BACKENDS)
def test_c_below_goroutines(tmp_path, backend):
	"""C below Go, Go below that C, Go below a thread of C, and the runtime's work on the thread's own stack."""
	recorded = record(tmp_path, [build_go()], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	paths = recorded.paths()
	below_c = hits(paths, "c_work")
	whole = hits(paths, "runtime.goexit.abi0", "main.worker", "main.caller", "runtime.cgocall", "runtime.asmcgocall.abi0", "c_outer", "c_work")
	assert below_c > 20, show(paths)
	between(whole, (0.5 if backend == "perf" else 0.99) * below_c, None, show(paths))
	back = hits(paths, "main.goBack", "main.goWork")
	of_goroutine = hits(paths, "runtime.goexit.abi0", "main.worker", "runtime.cgocall", "c_calls_back", "runtime.cgocallback.abi0", "main.goBack", "main.goWork")
	of_thread = hits(paths, "runtime.goexit.abi0", "c_on_own_thread", "c_thread", "c_calls_back", "runtime.cgocallback.abi0", "main.goBack", "main.goWork")
	assert min(of_goroutine - of_thread, of_thread) > 15, show(paths)
	between(of_goroutine, (0.5 if backend == "perf" else 0.99) * back, None, show(paths))


# The frames of a call of C by Go, of a call of Go by C, and what is in C's function that calls Go.
GO_TO_C = ["runtime.cgocall", "runtime.asmcgocall.abi0"]
C_TO_GO = ["c_back", "goBack", "crosscall2", "runtime.cgocallback.abi0", "runtime.cgocallbackg", "runtime.cgocallbackg1", "main.goBack"]


@pytest.mark.needs("go")
@pytest.mark.parametrize("flags", [(), ("-buildmode=pie",)], ids=["exe", "pie"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_go_below_c_below_go(tmp_path, backend, flags):
	"""Where C calls Go back, the path has the C functions between, in order, in each depth; on a thread of C, it begins with that thread."""
	program = build_go("callbacks.go", *flags, of_c=" ".join(COUNTED[backend][0]))
	turns = [lambda so_far, events=events: hits(events_of(so_far)) == events for events in (20, 40, 60)]
	paths = {}
	for path, count in events_of(record_held(backend, tmp_path, [program], *turns)).items():
		named = tuple(re.sub(r"@.*", "", frame) for frame in path)
		paths[named] = paths.get(named, 0) + count
	assert sum(paths.values()) == 60, show(paths)
	for first, depth in ("main.once", 1), ("main.nested", 4), ("c_thread", 2):
		names = [first, *(GO_TO_C if first != "c_thread" else []), *[*C_TO_GO, *GO_TO_C] * depth, "c_work"]
		of_first = {path: count for path, count in paths.items() if holds(path, names)}
		assert hits(of_first) == 20 and len(of_first) == 1, f"{names}\n{show(paths)}"
		path = next(iter(of_first))
		assert path[0] != "[incomplete stack]" and [path.count(name) for name in ("c_back", "main.goBack", "c_work")] == [depth, depth, 1], show(of_first)
		assert not {"runtime.systemstack_switch", "runtime.systemstack_switch.abi0"} & set(path), show(of_first)


@pytest.mark.needs("go")
@MEASURED_IN_GO
@pytest.mark.parametrize("flags", [(), ("-buildmode=pie",)], ids=["exe", "pie"])
@pytest.mark.parametrize("backend", BACKENDS)
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
	between(hits(switched, "runtime.goexit.abi0"), (0.5 if backend == "perf" else 0.98) * hits(switched), None, show(switched))
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
