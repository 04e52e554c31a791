"""`cpprof trace` prints one line per event, with the path at which the program states it and the event's details."""
import os
import re
import subprocess
from collections import Counter

import pytest
from measuring import near
from record_support import CPPROF, amounts, build, frame_is, holds, needs_bpf, run_cpprof

MEASURED = pytest.mark.measured("the events of a moment are counted, and another process may delay the program")

pytestmark = needs_bpf

LINE = re.compile(r"^(\d+\.\d{6}) (\d+)/(\S+) (\S+) (\d+) (\S+) (?:(\w+) = (-?\w+|\?) )?(?:at (0x[0-9a-f]+) )?\((.*)\)$")


class Event:
	def __init__(self, found):
		self.time, self.tid, self.amount = float(found[1]), int(found[2]), int(found[5])
		self.thread, self.resource, self.unit, self.syscall, self.result, self.address = found[3], *found.group(4, 6, 7, 8, 9)
		self.path = tuple(found[10].split(";"))


def trace(folder, *words, status=0):
	"""Returns (events, the command's own output)."""
	log = folder / "trace.txt"
	result = run_cpprof("trace", "-o", log, *words, cwd=folder)
	assert result.returncode == status, result.stderr
	events = []
	for line in log.read_text().splitlines():
		if not line.startswith("cpprof"):
			found = LINE.match(line)
			assert found, line
			events.append(Event(found))
	return events, result.stdout


def test_each_system_call(tmp_path):
	"""One line per system call, in order of time, with its name, result and path."""
	events, out = trace(tmp_path, "-r", "syscalls", "--", build("syscalls.c"), "20")
	for resource, names, gticks in amounts(out):
		if not resource.startswith("syscalls"):
			continue
		wanted = resource.partition(":")[2]
		found = [event for event in events if holds(event.path, names) and wanted in ("", event.syscall)]
		assert sum(event.amount for event in found) == len(found) == gticks, f"{resource} {names}: {len(found)}"
	assert [event.time for event in events] == sorted(event.time for event in events)
	failing = [event for event in events if holds(event.path, ["main", "heavy", "fail_once"])]
	assert {(event.syscall, event.result) for event in failing} == {("close", "-EBADF")}
	parents = [event for event in events if event.syscall == "getppid" and holds(event.path, ["main", "heavy"])]
	assert {event.result for event in parents} == {str(os.getpid())} or len({event.result for event in parents}) == 1


def test_bytes(tmp_path):
	"""The amount of each read is its result."""
	events, out = trace(tmp_path, "-r", "read-bytes", "--", build("io_bytes.c"), "1")
	for resource, names, gticks in amounts(out):
		if resource == "read-bytes":
			assert sum(event.amount for event in events if holds(event.path, names)) == gticks, names
	by_read = [event for event in events if holds(event.path, ["main", "light", "by_read"])]
	assert [(event.syscall, event.result, event.amount) for event in by_read] == [("read", "100", 100)]
	assert {event.syscall for event in events if holds(event.path, ["by_recvmsg"])} == {"recvmsg"}


def test_least_amount(tmp_path):
	events, out = trace(tmp_path, "-r", "alloc-bytes", "--min", "640", "--", build("allocations.c", "-fno-builtin"), "2")
	within = [event.amount for event in events if holds(event.path, ["allocate_all"])]
	assert sorted(set(within)) == [640, 8192]
	assert len(within) == 2 * 2 * 4, within
	assert all(event.amount >= 640 for event in events)


def test_names(tmp_path):
	events, _ = trace(tmp_path, "-r", "syscalls", "--name", "get*pid", "--name", "tgkill", "--", build("syscalls.c"), "5")
	assert {event.syscall for event in events} == {"getppid", "getpid", "tgkill"}


def test_paths(tmp_path):
	events, _ = trace(tmp_path, "-r", "syscalls", "--path", "light", "--", build("syscalls.c"), "5")
	assert len(events) == 10
	assert all(any(frame_is(frame, "light") for frame in event.path) for event in events)
	events, _ = trace(tmp_path, "-r", "syscalls", "--path", "light", "--path", "fail_once", "--", build("syscalls.c"), "5")
	assert len(events) == 5 and {event.syscall for event in events} == {"close"}


def test_touched_pages(tmp_path):
	"""The addresses are one page apart, from the first touched page to the last."""
	events, out = trace(tmp_path, "-r", "page-faults", "--", build("touched_pages.c"), tmp_path / "mapped")
	start, pages = re.search(r"anonymous (0x[0-9a-f]+) pages (\d+)", out).groups()
	found = [int(event.address, 16) for event in events if holds(event.path, ["touch_anonymous", "touch"])]
	assert found == [int(start, 16) + 4096 * i for i in range(int(pages))]


@MEASURED
def test_waits(tmp_path):
	"""Each wait is one line, and its amount is the duration of the wait."""
	events, out = trace(tmp_path, "-r", "lock-wait", "--min", "5ms", "--", build("waits.c"), "1")
	waits = [event for event in events if holds(event.path, ["lock_waiter", "take_lock"])]
	assert len(waits) == 10
	stated = next(gticks for resource, names, gticks in amounts(out) if resource == "lock-wait" and "take_lock" in names)
	near(sum(event.amount for event in waits), stated, 0.03 * stated + 4000)
	assert {event.unit for event in waits} == {"us"}
	assert {event.thread for event in waits} == {"waits"}


def test_threads(tmp_path):
	events, _ = trace(tmp_path, "-r", "allocs", "--path", "worker", "--", build("allocations.c", "-fno-builtin"), "2", "3")
	events = [event for event in events if holds(event.path, ["allocate_all"])]
	assert len({event.tid for event in events}) == 3
	assert len(events) == 3 * 4 * 2 * 9
	assert all(holds(event.path, ["main", "worker", "allocate_all"]) for event in events), "below what started them"


def test_status_is_the_commands(tmp_path):
	trace(tmp_path, "-r", "syscalls", "--", build("ending.c"), "exit", "77", status=77)


def test_output_is_not_mixed(tmp_path):
	"""Without -o the lines go to standard error, and standard output has only what the command prints."""
	result = run_cpprof("trace", "-r", "syscalls:write", "--", "echo", "hello", cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	assert result.stdout == "hello\n"
	found = [LINE.match(line) for line in result.stderr.splitlines()]
	assert [Event(line).result for line in found if line] == ["6"]


def test_running_process(tmp_path):
	target = subprocess.Popen([build("server.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert target.stdout.readline() == "ready\n"
	log = tmp_path / "trace.txt"
	result = subprocess.run([CPPROF, "trace", "-r", "syscalls:clone3", "-p", str(target.pid), "--duration", "0.5", "-o", str(log)],
		capture_output=True, text=True, check=False, timeout=60)
	target.stdin.close()
	assert target.wait(timeout=60) == 5
	target.stdout.close()
	assert result.returncode == 0, result.stderr
	lines = [line for line in log.read_text().splitlines() if LINE.match(line)]
	assert lines
	assert all(holds(LINE.match(line)[10].split(";"), ["main", "pthread_create"]) for line in lines), lines[:3]


@pytest.mark.parametrize("words", [["-r", "syscalls", "--min", "soon"], ["-r", "syscalls", "--min", "5ms"], ["-r", "nothing"],
	["-r", "syscalls", "--nothing"]], ids=" ".join)
def test_wrong_words(tmp_path, words):
	result = run_cpprof("trace", *words, "--", "touch", "ran", cwd=tmp_path)
	assert result.returncode == 2, result.stderr
	assert not (tmp_path / "ran").exists()


def test_the_text_is_imported(tmp_path):
	"""The imported profile has each line's amount on its path."""
	events, _ = trace(tmp_path, "-r", "syscalls", "-r", "read-bytes", "--", build("syscalls.c"), "20")
	expected = Counter()
	for event in events:
		expected[event.resource, ";".join(event.path if event.syscall in (None, event.path[-1]) else (*event.path, event.syscall))] += event.amount
	result = run_cpprof("import", "-o", "trace.data", "trace.txt", cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	for resource in ("syscalls", "read-bytes"):
		lines = run_cpprof("export", "--format", "folded", "--untrimmed", "--kernel", "show", "-r", resource, "trace.data", cwd=tmp_path).stdout.splitlines()
		found = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
		assert found == {path: amount for (name, path), amount in expected.items() if name == resource}
