"""Stacks that the kernel side unwinds are as complete as those that the monitor unwinds: the stack forms of test_record_unwind.py, with
bpf."""
import re

import pytest
from record_support import (agrees, build, check_truths, hits, holds, needs_bpf, of_main, of_work, record, record_well, run_cpprof, show, tolerance)

pytestmark = [needs_bpf]

FINE = ["--backend", "bpf", "-r", "cpu/250us"]

FRAMES = {
	"gcc-O0": {"level": "-O0"},
	"gcc-O1-no-pie": {"level": "-O1", "linkage": "no-pie"},
	"gcc-O2": {},
	"gcc-O3": {"level": "-O3"},
	"gcc-static": {"linkage": "static"},
	"gcc-static-pie": {"linkage": "static-pie"},
	"clang-O0": {"compiler": "clang", "level": "-O0"},
	"clang-O2": {"compiler": "clang"},
	"clang-O3-no-pie": {"compiler": "clang", "level": "-O3", "linkage": "no-pie"},
}


@pytest.mark.parametrize("form", FRAMES)
def test_kinds_of_frames(tmp_path, form):
	check_truths(record_well(tmp_path, [build("mixture.c", **FRAMES[form]), "60"], *FINE))


def test_debug_frame(tmp_path):
	program = build("mixture.c", "-fno-asynchronous-unwind-tables", "-gdwarf-4")
	check_truths(record_well(tmp_path, [program, "60"], *FINE))


def test_forms_of_the_paper(tmp_path):
	check_truths(record_well(tmp_path, [build("forms.c"), "80"], *FINE))


def test_large_frame_of_two_callers(tmp_path):
	check_truths(record_well(tmp_path, [build("large_frame.c")], *FINE))


NO_TAILS = ["-fno-optimize-sibling-calls", "-fno-inline"]


@pytest.mark.parametrize("how", ["once", "callers"])
@pytest.mark.parametrize("depth", [500, 1000])
def test_deep_recursion(tmp_path, how, depth):
	recorded = record_well(tmp_path, [build("recursion.c", *NO_TAILS), how, str(depth)], *FINE)
	paths = check_truths(recorded)
	assert {sum(frame == "descend" for frame in path) for path in paths if holds(path, ["bottom"])} == {depth}


@pytest.mark.parametrize("depth", [5000, 10000])
def test_deeper_than_is_promised(tmp_path, depth):
	"""A stack beyond the documented depth is complete, or counted as too deep. No path looks complete and is not."""
	recorded = record(tmp_path, [build("recursion.c", *NO_TAILS), "once", str(depth)], "--backend", "bpf", "-r", "cpu/2ms")
	assert recorded.status == 0, recorded.err
	samples, lost, complete = recorded.closing()
	assert samples > 100 and lost == 0, recorded.err
	paths = recorded.paths()
	for path, count in paths.items():
		depth_seen = sum(frame == "descend" for frame in path)
		if holds(path, ["bottom"]):
			assert depth_seen == depth if path[0] == "main" else depth_seen >= 1000, f"{path[0]}: {depth_seen}"
	if complete < 99:
		causes = [cause for cause in recorded.info()["causes"] if not cause["whole"]]
		assert any(re.search("frames|deep", cause["cause"]) for cause in causes), causes


@pytest.mark.parametrize("stack", ["normal", "alternate"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_signal_handler(tmp_path, compiler, stack):
	paths = check_truths(record_well(tmp_path, [build("signals.c", compiler=compiler), stack], *FINE))
	handled = hits(paths, "main", "victim", "handler", "handler_work")
	# 80 handlers of 2 ms each
	assert abs(handled * 0.25 - 160) <= 0.15 * 160, show(paths)
	assert handled + hits(paths, "[incomplete stack]", "handler_work") == hits(paths, "handler_work")


@pytest.mark.parametrize("linkage", ["pie", "static"])
def test_exceptions_in_flight(tmp_path, linkage):
	recorded = record_well(tmp_path, [build("exceptions.cpp", linkage=linkage)], *FINE)
	paths = recorded.paths()
	in_flight = of_work(paths, ["attempt", "descend", "_Unwind_RaiseException", "_Unwind_Resume"])
	assert hits(in_flight, "main", "attempt") > 0.97 * hits(in_flight) > 100, show(paths)
	assert hits(in_flight, "main", "attempt", "descend") > 0.7 * hits(in_flight), show(paths)


def test_plt(tmp_path):
	callee = build("plt_callee.c", linkage="shared", name="libplt_callee.so")
	caller = build("plt_caller.c", "-Wl,-z,lazy", "-fplt", callee, linkage="shared", name="libplt_caller.so")
	paths = record_well(tmp_path, [build("plt.c"), caller], *FINE).paths()
	calls = of_main(paths)
	assert hits(calls, "main", "bind_lazily") + hits(calls, "main", "call_bound") > 0.95 * hits(calls) > 100, show(paths)


def test_vdso(tmp_path):
	check_truths(record_well(tmp_path, [build("vdso.c")], *FINE))


def test_callback(tmp_path):
	paths = record_well(tmp_path, [build("callback.c")], *FINE).paths()
	work = hits(paths, "compare")
	assert hits(paths, "main", "sort_them", "compare") == work > 100, show(paths)


def test_library_replaced_at_the_same_address(tmp_path):
	"""Code is unloaded and replaced at the same address: the unwind rows of the new code are installed shortly after, and those of the
	old code are not used."""
	plugins = [build("plugin.c", f"-DNAME={name}", linkage="shared", name=f"{name}.so") for name in ("alpha", "bravo")]
	recorded = record_well(tmp_path, [build("dlclose.c"), *plugins], *FINE)
	assert int(re.search(r"same (\d+) of", recorded.out)[1]) >= 10
	check_truths(recorded)


def test_coroutine(tmp_path):
	check_truths(record_well(tmp_path, [build("coroutine.c")], *FINE))


def test_holes_in_the_stack(tmp_path):
	check_truths(record_well(tmp_path, [build("holes.c")], *FINE))


def test_cpp_names_and_inlines(tmp_path):
	paths = record_well(tmp_path, [build("names.cpp")], *FINE).paths()
	for names in (["main", "render", "draw", "burn"], ["main", "holds_inlined", "inlined_once", "inlined_twice"]):
		agrees(paths, names, 1 / 3, ["burn", "inlined_twice"])


def test_stripped(tmp_path):
	paths = record_well(tmp_path, [build("forms.c", name="bare", strip=True), "40"], *FINE).paths()
	names = {frame for path in paths for frame in path if frame.startswith("bare+0x")}
	assert 9 <= len(names) <= 12, sorted(names)


@pytest.mark.parametrize("how", ["framed", "bare"])
def test_code_without_unwind_rules(tmp_path, how):
	"""Code made at run time has no unwind rows: its work is charged to the functions that it calls, and paths that end in it are marked
	incomplete."""
	recorded = record(tmp_path, [build("jit.c"), how], *FINE)
	assert recorded.status == 0, recorded.err
	assert recorded.closing()[1] == 0
	paths = recorded.paths()
	for names, fraction in (["called_back", "burn"], 0.5), (["main", "directly", "burn"], 0.5):
		agrees(paths, names, fraction, ["burn"])
	for path in paths:
		if holds(path, ["called_back"]):
			assert not holds(path, ["directly"]), show(paths)
			assert path[0] in ("main", "[incomplete stack]") or path[0].startswith("["), show(paths)


@pytest.mark.parametrize("how", ["vfork", "posix_spawn", "fork"])
def test_spawned_program(tmp_path, how):
	check_truths(record_well(tmp_path, [build("spawn.c"), how], *FINE))


def test_exec_chain(tmp_path):
	check_truths(record_well(tmp_path, [build("exec_chain.c")], *FINE, status=3))


def test_fork_tree(tmp_path):
	recorded = record_well(tmp_path, [build("fork_tree.c")], *FINE)
	check_truths(recorded)
	processes = {process["pid"] for process in recorded.info()["processes"]}
	assert {int(pid) for pid in re.findall(r"^process (\d+)$", recorded.out, re.MULTILINE)} <= processes


def test_burst_of_short_threads(tmp_path):
	"""Threads that run shorter than the interval are sampled in proportion: a new thread does not start a new interval."""
	recorded = record_well(tmp_path, [build("threads.c"), "1000", "400"], "--backend", "bpf", "-r", "cpu/250us")
	paths = recorded.paths()
	short, long = hits(paths, "worker", "short_work"), hits(paths, "worker", "long_work")
	assert short + long >= 0.3 / 0.00025, recorded.err
	# Each burn() reads the clock once more than it needs, which costs 100 us of work as much as 300 us.
	assert abs(short / (short + long) - 0.25) <= tolerance(0.25, short + long) + 0.05, show(paths)
	assert "not sampled" not in recorded.err


def test_exec_and_start(tmp_path):
	record_well(tmp_path, ["/bin/true"], "--backend", "bpf", "-r", "page-faults/1")


def test_high_rate(tmp_path):
	check_truths(record_well(tmp_path, [build("mixture.c"), "60"], "--backend", "bpf", "-F", "10000"))


def test_short_sleeps(tmp_path):
	"""A sample of a wait has the path that led to the wait, including the C library's functions."""
	recorded = record_well(tmp_path, [build("waits.c"), "1"], "--backend", "bpf", "-r", "blocked/200us")
	paths = recorded.paths("blocked")
	for names in (["sleeper", "sleep_long"], ["lock_waiter", "take_lock"], ["reader", "read_late"], ["napping_worker", "nap"]):
		assert hits(paths, *names) > 100, show(paths)
	assert run_cpprof("info", recorded.path).returncode == 0
