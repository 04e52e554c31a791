"""The trace of hooks: it has the same statistics as counts without a trace, and a truncated trace is refused or read up to its
end."""
import os
import re
import signal
import struct
import subprocess

import pytest
from hooks_support import HOOKS, Counted, Program, compile_once, counted_calls
from record_support import BUILD, PROGRAMS, REPOSITORY, build, folded, run_cpprof

TALLY_HEADER_BYTES = 65536
MAGIC = 0x6b6e6843
EVENTS, RING = 5, 6  # enum tally_chunk_kind


def info(path):
	result = run_cpprof("info", path)
	assert result.returncode == 0, result.stderr
	return result.stdout


def words_of(path):
	"""The words of all events in a trace, one list per thread, by a reader of the test's own."""
	data = path.read_bytes()
	at, words = TALLY_HEADER_BYTES, {}
	rings = {}
	while at + 56 <= len(data):
		magic, kind, size, used, _, process, thread, second, first = struct.unpack_from("=IIQQQIIQQ", data, at)
		if magic == MAGIC and kind == EVENTS:
			words.setdefault((process, thread), []).extend(struct.unpack_from(f"={(used - 56) // 8}Q", data, at + 56))
		elif magic == MAGIC and kind == RING:
			room = struct.unpack_from(f"={(size - 56) // 8}Q", data, at + 56)
			rings[process, thread] = [word for word in room if word]
		at += size if magic == MAGIC and size else 65536
	for thread, last in rings.items():
		words.setdefault(thread, []).extend(last)
	return list(words.values())


OPERANDS = {1: 1, 2: 3, 3: 3} # number of an event of kind 0: its operands


def events_of(path):
	"""[(kind, number, operands)] of all events."""
	found = []
	for of_thread in words_of(path):
		words = iter(of_thread)
		for word in words:
			kind, number = word & 3, (word & 0xffffffff) >> 2
			found.append((kind, number, [next(words) for _ in range(OPERANDS.get(number, 0) if kind == 0 else 0)]))
	return found


def kinds_of(path):
	"""[number of events of each kind], without a list of the events."""
	counts = [0, 0, 0, 0]
	for of_thread in words_of(path):
		words = iter(of_thread)
		for word in words:
			counts[word & 3] += 1
			if not word & 3:
				for _ in range(OPERANDS.get((word & 0xffffffff) >> 2, 0)):
					next(words)
	return counts


@pytest.mark.parametrize("name", ["recursion", "mutual", "longjmp_many", "exceptions", "callbacks", "library", "nested", "structs"])
def test_a_trace_has_the_counts_of_paths_timed(name, tmp_path):
	program = Program(name, "cyg")
	timed = Counted(program.command, tmp_path, "paths-timed", name="timed.data")
	trace = Counted(program.command, tmp_path, "trace", name="trace.data")
	assert (timed.status, trace.status) == (0, 0), trace.err
	assert folded(trace.path, "calls") == folded(timed.path, "calls")
	assert trace.calls() == timed.calls()
	# Each call is exactly one event of kind 1.
	entered = [number for kind, number, _ in events_of(trace.path) if kind == 1]
	assert len(entered) == sum(trace.calls().values())


def test_each_thread_has_its_events(tmp_path):
	program = Program("threads", "cyg")
	trace = Counted(program.command, tmp_path, "trace")
	assert trace.status == 0, trace.err
	calls = trace.calls()
	assert {name: calls[name] for name in trace.stated()} == trace.stated()
	assert sum(kind == 1 for kind, _, _ in events_of(trace.path)) == sum(calls.values())


def test_times_come_from_the_events(tmp_path):
	program = Program("recursion", "cyg")
	trace = Counted(program.command, tmp_path, "trace")
	times = folded(trace.path, "real")
	assert sum(times.values()) > 0
	# Only functions that were called have time, at the paths of their calls.
	assert {path[-1] for path in times} <= set(trace.calls())
	assert set(times) <= {path[:length] for path in folded(trace.path, "calls") for length in range(len(path) + 1)}


def test_hooks_that_know_entries_alone_give_counts_and_say_that_there_are_no_times(tmp_path):
	trace = Counted(Program("recursion", "mcount").command, tmp_path, "trace")
	paths = Counted(Program("recursion", "mcount").command, tmp_path, "paths", name="paths.data")
	assert trace.calls() == paths.calls()
	assert {kind for kind, _, _ in events_of(trace.path)} <= {0, 1, 2}
	assert " real " not in info(trace.path)
	assert "compile with -finstrument-functions" in " ".join(info(trace.path).split())


def test_of_a_killed_program_no_event_is_missing(tmp_path):
	trace = Counted([*Program("dying", "cyg").command, "50000", "dies"], tmp_path, "trace")
	assert trace.status == 128 + signal.SIGKILL
	assert trace.calls() == {"main": 1, "many": 1, "step": 50000}
	events = events_of(trace.path)
	assert sum(kind == 1 for kind, _, _ in events) == 50002
	assert sum(kind == 2 for kind, _, _ in events) == 50001
	assert "lost" not in info(trace.path).split("threads (")[1]
	assert sum(folded(trace.path, "real").values()) > 0


def test_a_call_takes_16_bytes(tmp_path):
	trace = Counted([*Program("dying", "cyg").command, "200000"], tmp_path, "trace")
	events = events_of(trace.path)
	words = sum(1 + len(operands) for _, _, operands in events)
	calls = 200002
	# 8 bytes at the entry and 8 at the exit. Each chunk has one event that sets the time, and there are few ticks.
	assert sum(kind == 1 for kind, _, _ in events) == sum(kind == 2 for kind, _, _ in events) - 2 == calls
	assert 2 * calls <= words < 2 * calls * 1.01


def test_a_trace_that_was_cut_is_refused_or_read_as_far_as_it_goes(tmp_path):
	trace = Counted([*Program("dying", "cyg").command, "50000"], tmp_path, "trace")
	data = trace.path.read_bytes()
	for size in (len(data) - 65536, len(data) - 5, TALLY_HEADER_BYTES + 100, 4000, 9):
		cut = tmp_path / "cut.data"
		cut.write_bytes(data[:size])
		result = run_cpprof("info", cut)
		assert result.returncode in (0, 1), result.stderr
		if result.returncode == 1:
			assert "cut.data" in result.stderr
		elif "the file is truncated" not in result.stdout.replace("\n", " "):
			# Only unused bytes are missing.
			assert counted_calls(cut) == trace.calls()
			assert sum(folded(cut, "real").values()) == sum(folded(trace.path, "real").values())


def test_a_trace_that_lies_is_refused(tmp_path):
	trace = Counted([*Program("dying", "cyg").command, "50000"], tmp_path, "trace")
	data = bytearray(trace.path.read_bytes())
	at = TALLY_HEADER_BYTES
	while struct.unpack_from("=II", data, at) != (MAGIC, EVENTS):
		at += 65536
	for event in (3, 17 << 2, 0xfffffff << 2 | 1):
		lie = data[:]
		struct.pack_into("=Q", lie, at + 56 + 100 * 8, event)
		path = tmp_path / "lie.data"
		path.write_bytes(lie)
		result = run_cpprof("info", path)
		assert result.returncode == 1
		assert "the trace is damaged" in result.stderr


def test_without_disk_space_calls_are_counted_and_lost_events_are_reported(tmp_path):
	program = Program("dying", "cyg")
	result = Counted(["sh", "-c", f"ulimit -f 2400; exec {program.path} 300000"], tmp_path, "trace")
	assert result.status == 0, result.err
	assert counted_calls(result.path)["step"] == 300000
	assert "events of the trace were lost" in info(result.path).replace("\n", " ")


# --- the list of events ---

RUNTIME = BUILD / "src/collect/agent"
KNOWN = """enter main
enter known
event 18446744073709551615 18446744073709551615
enter leaf
event 0 0
leave leaf
enter handler
enter leaf
event 4 16
leave leaf
event 2 0
leave handler
enter jumps
enter leaf
event 3 9
leave leaf
leave jumps
enter leaf
event 7 49
leave leaf
event 0 7
leave known
"""
THREAD = """enter thread
enter leaf
event 5 25
leave leaf
leave thread
"""


def telling(hook="-finstrument-functions", library="libcpprof.so"):
	"""Builds events.c, which reports events of its own, and links it with the library."""
	linkage = ["-static"] if library.endswith(".a") else [f"-Wl,-rpath,{RUNTIME}"]
	return compile_once(["gcc", "-O2", "-g", "-pthread", hook, *linkage, f"-I{REPOSITORY}/include"], [PROGRAMS / "events.c"], "events",
		[RUNTIME / library])


def listed(path):
	"""{thread: [(time, text)]} from the list of events, without samples, because their moments vary. Checks the form of each
	line."""
	result = run_cpprof("export", "--format", "events", path)
	assert (result.returncode, result.stderr) == (0, "")
	threads = {}
	for line in result.stdout.splitlines():
		found = re.fullmatch(r"(\d+\.\d{9}) (\d+ \d+) ((?:enter|leave|sample) \S+|event \d+ \d+)", line)
		assert found, line
		threads.setdefault(found[2], []).append((found[1], found[3]))
	return {thread: [(time, what) for time, what in lines if not what.startswith("sample")] for thread, lines in threads.items()}


def texts(lines):
	return "".join(f"{what}\n" for _, what in lines)


def check_known(threads, knows_code=True):
	first, second = threads.values()
	if knows_code:
		assert texts(first) == KNOWN
	else:  # the exit of a function that a jump left is detected only when its caller returns
		assert sorted(texts(first).splitlines()) == sorted(KNOWN.splitlines())
	assert texts(second) == THREAD
	assert [thread.split()[0] == thread.split()[1] for thread in threads] == [True, False]
	for lines in (first, second):
		assert lines == sorted(lines, key=lambda line: float(line[0]))


def test_events_are_listed(tmp_path):
	trace = Counted([telling(), "known"], tmp_path, "trace")
	assert trace.status == 0, trace.err
	check_known(listed(trace.path))


@pytest.mark.parametrize("library", ["libcpprof.so", "libcpprof.a"])
def test_a_program_that_runs_alone_writes_events(library, tmp_path):
	for measure in ("trace", "paths"):
		environment = {**os.environ, "CPPROF_MEASURE": measure, "CPPROF_OUTPUT": str(tmp_path / measure)}
		assert subprocess.run([telling(library=library), "known"], check=False, env=environment).returncode == 0
	# A static program may lack the table of its functions' code.
	check_known(listed(tmp_path / "trace"), knows_code=library != "libcpprof.a")


def test_hooks_that_know_entries_alone_have_no_returns_in_the_list(tmp_path):
	trace = Counted([telling("-pg"), "known"], tmp_path, "trace")
	assert trace.status == 0, trace.err
	assert [texts(lines) for lines in listed(trace.path).values()] == [re.sub(r"leave .*\n", "", text) for text in (KNOWN, THREAD)]


def test_no_event_of_a_handler_is_lost_or_displaced(tmp_path):
	steps = 100000
	trace = Counted([telling(), "interrupted", str(steps)], tmp_path, "trace")
	assert trace.status == 0, trace.err
	[lines] = listed(trace.path).values()
	handled = int(trace.out)
	assert handled > 10
	counts = {}
	for _, what in lines:
		counts[what] = counts.get(what, 0) + 1
	assert [what for _, what in lines if what.startswith("event 1 ")] == [f"event 1 {n}" for n in range(steps)]
	assert [what for _, what in lines if what.startswith("event 2 ")] == [f"event 2 {n}" for n in range(handled)]
	calls = {"main": 1, "interrupted": 1, "step": steps, "interrupts": handled}
	calls = {name: count for name, count in calls.items() if name != "interrupted" or f"enter {name}" in counts}
	assert {name: counts.pop(f"enter {name}") for name in calls} == calls
	assert {name: counts.pop(f"leave {name}", 0) for name in calls} == calls
	assert all(what.startswith("event ") for what in counts)


@pytest.mark.parametrize("hook, steps", [("mcount", 80), ("fentry", 80), ("cyg", 130)])
def test_wherever_a_handler_comes_that_fills_the_ring(hook, steps, tmp_path):
	"""A handler that fills the ring loses no event, also between the two instructions that reserve an event's room and write it."""
	program = build("hook_steps.c", *HOOKS[hook], *(["-fno-omit-frame-pointer"] if hook != "cyg" else []), level="-O2")
	open_calls = set()
	for count in (1, steps):
		trace = Counted([program, str(count), "4200" if hook == "cyg" else "8400"], tmp_path, "trace", name=f"{count}.data")
		assert trace.status == 0, trace.err
		calls = trace.calls()
		assert {name: calls[name] for name in trace.stated()} == trace.stated()
		_, enters, leaves, _ = kinds_of(trace.path)
		assert enters == sum(calls.values())
		open_calls.add(enters - leaves if hook == "cyg" else 0)
		assert "were lost" not in info(trace.path)
	# The handlers leave no call without its return.
	assert len(open_calls) == 1


@pytest.mark.parametrize("measurement", ["paths", "trace"])
@pytest.mark.parametrize("hook, steps", [("mcount", 100), ("fentry", 100), ("cyg", 160)])
def test_wherever_a_handler_comes_that_jumps(hook, steps, measurement, tmp_path):
	"""A handler comes before each instruction of a call and its hooks, and jumps to the function that called. No later call is missed,
	and each is on the path of the function that it returned to."""
	program = build("hook_steps.c", "-DJUMPS", *HOOKS[hook], *(["-fno-omit-frame-pointer"] if hook != "cyg" else []), level="-O2")
	counted = Counted([program, str(steps), "3"], tmp_path, measurement)
	assert counted.status == 0, counted.err
	calls = counted.calls()
	assert {name: calls[name] for name in counted.stated()} == counted.stated()
	assert 2 * steps < calls["step"] < 3 * steps # the handler came before and after a call was counted
	found = {}
	for frames, count in folded(counted.path, "calls").items():
		if frames[-1] == "after":
			found[frames[-2:]] = found.get(frames[-2:], 0) + count
	assert found == {("stepped", "after"): steps}


def user_events(path):
	"""[(time stamp, id, value)] of the program's own events that are complete, in the order of the file; all are of one thread."""
	[of_thread] = filter(None, map(user_events_of, words_of(path)))
	return of_thread


def user_events_of(of_thread):
	words, high, found = iter(of_thread), 0, []
	for word in words:
		kind, number = word & 3, (word & 0xffffffff) >> 2
		operands = [next(words) for _ in range(OPERANDS.get(number, 0) if kind == 0 else 0)]
		if kind == 0 and number == 1:
			high = operands[0] >> 32
		elif kind == 0 and number == 3 and operands[2] & 1:
			found.append((high << 32 | word >> 32, *(0 if operands[2] & 2 << place else operands[place] for place in (0, 1))))
	return found


def test_wherever_a_handler_interrupts_an_event_of_the_program(tmp_path):
	"""A handler that fills the ring comes before each instruction of cpprof_event. No event is lost, written twice or damaged, and none
	has an earlier time than the event before it."""
	steps, handled = 130, 2200
	program = build("hook_steps.c", "-DEVENTS", *HOOKS["mcount"], "-fno-omit-frame-pointer", level="-O2")
	trace = Counted([program, str(steps), str(handled)], tmp_path, "trace")
	assert trace.status == 0, trace.err
	events = user_events(trace.path)
	assert [value for _, number, value in events if number == 1] == list(range(3 * steps))
	assert [value for _, number, value in events if number == 2] == list(range(steps * handled))
	assert all(first[0] <= second[0] for first, second in zip(events, events[1:]))
	lines = run_cpprof("export", "--format", "events", trace.path).stdout.splitlines()
	assert sum(" event 1 " in line for line in lines) == 3 * steps and sum(" event 2 " in line for line in lines) == steps * handled
	assert "were lost" not in info(trace.path)


MANY = """#include <cpprof/runtime.h>
#include <stdlib.h>
int main(int count, char **words)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < atoi(words[count - 1]); i++)
		cpprof_event(1, (uint64_t)i);
	return 0;
}
"""


def test_an_event_makes_no_system_call(tmp_path):
	"""It costs a few stores: signals need not be blocked. The room for many events costs a few system calls."""
	(tmp_path / "many.c").write_text(MANY)
	program = compile_once(["gcc", "-O2", "-g", f"-Wl,-rpath,{RUNTIME}", f"-I{REPOSITORY}/include"], [tmp_path / "many.c"], "many", [RUNTIME / "libcpprof.so"])
	def system_calls(events):
		log, output = tmp_path / "log", tmp_path / f"{events}.data"
		subprocess.run(["strace", "-qq", "-o", log, program, str(events)], check=True, env={**os.environ, "CPPROF_MEASURE": "trace", "CPPROF_OUTPUT": str(output)})
		assert len(user_events(output)) == events
		return len(log.read_text().splitlines())
	more = 100000
	assert system_calls(1000 + more) - system_calls(1000) < more / 100


def test_events_of_a_handler_are_in_the_order_of_their_times(tmp_path):
	trace = Counted([telling(), "interrupted", "200000"], tmp_path, "trace")
	assert trace.status == 0, trace.err
	times = [time for time, _, _ in user_events(trace.path)]
	assert len(times) == 200000 + int(trace.out)
	assert [time for time, following in zip(times, times[1:]) if time > following] == []
	shown = [int(line.split()[0].replace(".", "")) for line in run_cpprof("export", "--format", "events", trace.path).stdout.splitlines()]
	assert shown == sorted(shown)


def test_what_is_no_trace_has_no_events(tmp_path):
	counted = Counted([telling(), "known"], tmp_path, "paths")
	alone = tmp_path / "alone.data"
	subprocess.run([telling(), "known"], check=True, env={**os.environ, "CPPROF_OUTPUT": str(alone)})
	for path in (counted.path, alone):
		result = run_cpprof("export", "--format", "events", "-o", tmp_path / "list", path)
		assert (result.returncode, result.stdout) == (1, "")
		assert f"'{path}' is not a trace" in result.stderr and "cpprof record --instrumented=trace" in result.stderr
		assert not (tmp_path / "list").exists()


def test_a_list_of_a_trace_that_lies_is_refused(tmp_path):
	"""With hooks that report entries alone, a trace has no times, so no other part of the reader has checked its events before."""
	trace = Counted([telling("-pg"), "interrupted", "50000"], tmp_path, "trace")
	data = bytearray(trace.path.read_bytes())
	at = TALLY_HEADER_BYTES
	while struct.unpack_from("=II", data, at) != (MAGIC, EVENTS):
		at += 65536
	struct.pack_into("=Q", data, at + 56 + 2 * 8, 0xfffffff << 2 | 1)
	trace.path.write_bytes(data)
	result = run_cpprof("export", "--format", "events", "-o", tmp_path / "list", trace.path)
	assert result.returncode == 1 and "the trace is damaged" in result.stderr
	assert not (tmp_path / "list").exists()
