"""Hooks do not change the program that contains them, and each call is counted on the path on which it was made."""
import re

import pytest
from hooks_support import HOOKS, Counted
from record_support import PROGRAMS, build, folded

MEASUREMENTS = ["arcs", "paths", "paths-timed", "trace", "blocks"]
COMPILERS = ["gcc", "clang"]


@pytest.mark.parametrize("measurement", [*MEASUREMENTS, "off"])
def test_all_registers_are_kept(measurement, tmp_path):
	program = build("hook_registers.c", "-Wl,-z,lazy")
	counted = Counted([program], tmp_path, measurement)
	assert counted.status == 0, counted.err
	if measurement != "off":
		calls = int(re.search(r"^calls (\d+)$", counted.out, re.MULTILINE)[1])
		assert f"cpprof: {calls} calls" in counted.err


def own_paths(path, source, without=()):
	"""{"outermost;...;innermost": calls}, with the program's own functions only."""
	own = set(re.findall(r"(\w+)\([^;{}]*\)\n\{", source)) - set(without)
	found = {}
	for frames, count in folded(path, "calls").items():
		names = [re.sub(r"\..*$", "", frame) for frame in frames]
		name = ";".join(name for name in names if name in own)
		found[name] = found.get(name, 0) + count
	return found


@pytest.mark.parametrize("words", [[], ["busy"]])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("hook", HOOKS)
def test_calls_are_on_their_paths(hook, compiler, words, tmp_path):
	"""A call is on the path of the functions that are active. Returned functions, and those that a jump left, have no calls,
	whatever the stack still holds; a handler that interrupts at any point does not change the callers."""
	for level in ["-O0", "-O2"] if not words else ["-O2"]:
		flags = [*HOOKS[hook], "-fno-optimize-sibling-calls", *(["-fno-omit-frame-pointer"] if hook != "cyg" else [])]
		program = build("hook_paths.c", *flags, compiler=compiler, level=level)
		counted = Counted([program, *words], tmp_path, "paths", name=f"out{level}.data")
		assert counted.status == 0, counted.err
		found = own_paths(counted.path, (PROGRAMS / "hook_paths.c").read_text(encoding="utf-8"), ["interrupt", "start_timer", "stop_timer"])
		wanted = {path: int(calls) for path, calls in re.findall(r"^path (\S+) (\d+)$", counted.out, re.MULTILINE)}
		assert len(wanted) >= 12
		assert {path: found.get(path, 0) for path in wanted} == wanted
		handled = int(re.search(r"^handled (\d+)$", counted.out, re.MULTILINE)[1])
		within = {path: calls for path, calls in found.items() if path.endswith(";handler;in_handler")}
		assert sum(within.values()) == handled
		assert within["main;is_interrupted;handler;in_handler"] >= 400


@pytest.mark.parametrize("where", ["below", "above"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("hook", HOOKS)
def test_handlers_at_each_instruction_of_a_hook(hook, compiler, where, tmp_path):
	"""Handlers that come in the middle of a hook, one or two of them, on the alternate stack or the current one, leave all later calls
	on their paths. The instructions are drawn, always the same instructions."""
	flags = ["-pthread", "-fno-optimize-sibling-calls", *HOOKS[hook], *(["-fno-omit-frame-pointer"] if hook != "cyg" else [])]
	program = build("hook_interrupts.c", *flags, compiler=compiler, level="-O2")
	counted = Counted([program, "7", "100", where], tmp_path, "paths")
	assert counted.status == 0, counted.err
	hidden = ["main", "begin", "begin_below", "draw", "check", "count_trap", "set_handlers"]
	found = own_paths(counted.path, (PROGRAMS / "hook_interrupts.c").read_text(encoding="utf-8"), hidden)
	wanted = {path: int(calls) for path, calls in re.findall(r"^path (\S+) (\d+)$", counted.out, re.MULTILINE)}
	assert len(wanted) == 5
	assert {path: found.get(path, 0) for path in wanted} == wanted
	# A handler is below the calls that it has interrupted, maybe one of them the other handler; no call is below a handler.
	active = {"", *(path[:end] for path in wanted for end in range(len(path) + 1) if path[end:end + 1] in ("", ";"))}
	assert {re.sub(r"(;handler(;in_handler)?)*$", "", path) for path, calls in found.items() if calls} <= active
	handled = int(re.search(r"^handled (\d+)$", counted.out, re.MULTILINE)[1])
	assert sum(calls for path, calls in found.items() if path.endswith(";in_handler")) == handled >= 120
