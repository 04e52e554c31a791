"""
Programs that use signals, masks, timers, alternate stacks and calls that signals interrupt are measured from the inside, by
signals. Each program of tests/programs/signals checks itself and prints the same as without a recorder.
"""
import re
import signal
import subprocess

import pytest
from measuring import between, near
from record_support import BUILD, build, hits, record, record_well, run_cpprof, show

MEASURED = pytest.mark.measured("waiting times are compared with the clock of the program, which may be preempted between two readings")

RATE = 5000
TICK_US = 1_000_000 // RATE
EVERYTHING = ["--backend", "preload", "-r", f"cpu/{TICK_US}us", "-r", f"real/{TICK_US}us", "-r", f"blocked/{TICK_US}us"]
ENDED_BY_NUMBER_OF_TICKS = 128 + signal.SIGRTMAX - 3

# {name: (status, least CPU seconds that it uses)}
PROGRAMS = {
	"masks": (0, 0.02),
	"awaiting": (0, 0.03),
	"own_functions": (0, 0.05),
	"own_actions": (ENDED_BY_NUMBER_OF_TICKS, 0.06),
	"never_restarted": (0, 0.1),
	"socket_timeouts": (0, 0.03),
	"stacks": (0, 0.2),
	"go_stacks": (0, 0.04),
	"own_timers": (0, 0.3),
	"cancelled": (0, 0.7),
	"unreported_forks": (0, 0.1),
	"closes_last": (0, 0.1),
}


@pytest.mark.long("lets a program run for seconds below ticks")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_sees_no_ticks(name, tmp_path):
	status, least_seconds = PROGRAMS[name]
	command = [build(f"signals/{name}.c")]
	alone = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
	assert "NO" not in alone.stdout and alone.stdout.count("yes") > 2, alone.stdout
	recorded = record(tmp_path, command, *EVERYTHING)
	assert recorded.out == alone.stdout, recorded.err
	assert recorded.status == status, recorded.err
	found = hits(recorded.paths("cpu"))
	assert found * TICK_US > 0.5e6 * least_seconds, f"{found} hits\n{recorded.err}"


def test_the_library_calls_its_own_definitions():
	"""The preloaded library has no call that a definition of the program could take, but those that join two copies of the runtime."""
	library = BUILD / "src/collect/agent/libcpprof-preload.so"
	listed = subprocess.run(["readelf", "--relocs", "--wide", library], capture_output=True, text=True, check=True).stdout
	called = set(re.findall(r"R_X86_64_(?:JUMP_SLOT?|GLOB_DAT)\s+(?!0{16})[0-9a-f]+ (\w+)", listed))
	assert called == {"cpprof_runtime_begin", "cpprof_tick_measured"}, called


@MEASURED
@pytest.mark.parametrize("way", ["stack", "alternate", "context"])
def test_jumps_out_of_handlers_leave_nothing_undone(way, tmp_path):
	"""A program makes 400 jumps, many out of our own code. Afterwards its 0.4 s of work and 1,000 calls are measured completely."""
	recorded = record_well(tmp_path, [build("signals/jumps.c"), way], "--backend", "preload", "-r", f"cpu/{TICK_US}us", "-r", "io-calls/10")
	cpu, calls = recorded.paths("cpu"), recorded.paths("io-calls")
	near(hits(cpu, "used_behind", "busy") * TICK_US / 1e6, 0.4, 0.06, show(cpu))
	near(hits(calls, "used_behind", "write"), 100, 12, show(calls))


@MEASURED
def test_cancelled_threads_clean_up_in_sight(tmp_path):
	"""Five cancelled threads clean up for 150 ms each: the call in which each was cancelled no longer delays ticks."""
	paths = record_well(tmp_path, [build("signals/cancelled.c")], *EVERYTHING).paths("cpu")
	found = hits(paths, "clean_up") * TICK_US / 1e6
	near(found, 5 * 0.15, 0.08, show(paths))


@MEASURED
def test_waits_are_charged_to_their_calls(tmp_path):
	"""Waiting time is charged to the calls for which the program states it."""
	recorded = record_well(tmp_path, [build("signals/never_restarted.c")], *EVERYTHING)
	waited_us = {}
	for name, time in re.findall(r"^waited (\w+)(?: with a mask)?: ([\d.]+) s$", recorded.err, re.MULTILINE):
		waited_us[name] = waited_us.get(name, 0) + float(time) * 1e6
	assert len(waited_us) > 10, recorded.err
	real, blocked = recorded.paths("real"), recorded.paths("blocked")
	for call, wanted in waited_us.items():
		found = hits(real, "waits_to_the_end", call) * TICK_US
		near(found, wanted, 0.12 * wanted, f"{call}: {found} us, not {wanted}\n{show(real, 40)}")
		# blocked includes the time for which the thread waited for a processor before
		found = hits(blocked, "waits_to_the_end", call) * TICK_US
		between(found, 0.88 * wanted, None, f"blocked, {call}: {found} us, not {wanted}\n{show(blocked, 40)}")


@MEASURED
def test_ticks_come_late_behind_handlers_on_small_stacks(tmp_path):
	"""Late ticks lose no time: the time of such a handler is charged to the code that it interrupted."""
	recorded = record_well(tmp_path, [build("signals/stacks.c")], *EVERYTHING)
	paths = recorded.paths("cpu")
	total = hits(paths)
	handlers, handlers_with_room = 16 * 20, 6 * 20 # ms: the first one, on no stack, and those on the first stack
	everything = handlers + 15 * 5 + 20
	near(hits(paths, "raise") / total, handlers / everything, 0.1, show(paths))
	near(hits(paths, "use_stack") / total, handlers_with_room / everything, 0.1, show(paths))
	assert "ticks came late" in run_cpprof("info", recorded.path).stdout + recorded.err, recorded.err
