"""`cpprof trace` with the perf backend: one line for each event, filters, outputs, ends and usage errors."""
import os
import re
import signal
import subprocess
import time

import pytest
from measuring import near
from record_support import CPPROF, build, frame_is, holds, needs_whole_perf, run_cpprof

pytestmark = needs_whole_perf

LINE = re.compile(r"(?P<time>\d+\.\d{6}) (?P<tid>\d+)/(?P<thread>\S+) (?P<resource>\S+) (?P<amount>\d+) (?P<unit>\S+) "
	r"(?:at (?P<address>0x[0-9a-f]+) )?\((?P<path>[^()]*)\)")
SUM = re.compile(r"^cpprof: (\S+): (\d+) of (\d+) events? shown, (\d+) (\S+) in all, (\d+) lost, by (\S+)$", re.MULTILINE)


def parse(text):
	"""Returns the events in these lines. Each line must be an event."""
	found = [LINE.fullmatch(line) for line in text.splitlines()]
	assert all(found), text
	return [event.groupdict() | {"path": event["path"].split(";")} for event in found]


def trace(folder, *words, status=0):
	"""Runs `cpprof trace`. Returns (events, {resource: (shown, events, amount, lost)}, the command's output)."""
	result = run_cpprof("trace", "--backend", "perf", "-o", folder / "events", *words, cwd=folder)
	assert result.returncode == status, result.stderr
	sums = {found[0]: tuple(int(number) for number in (*found[1:4], found[5])) for found in SUM.findall(result.stderr)}
	return parse((folder / "events").read_text()), sums, result.stdout


@pytest.mark.measured("faults of the C library and of the kernel are counted too")
def test_each_fault(tmp_path):
	"""There is one line for each touched page, at the function that touches it, ordered by time."""
	events, sums, out = trace(tmp_path, "-r", "page-faults", "--", build("page_faults.c"), "100")
	for function, pages in re.findall(r"^faults (\w+) (\d+)$", out, re.MULTILINE):
		here = [event for event in events if holds(event["path"], ["main", function, "touch_pages"])]
		# One more or less, because the stack's own page may be new.
		near(len(here), int(pages), 1, f"{function}: {len(here)}")
		addresses = {int(event["address"], 16) // 4096 for event in here}
		assert len(addresses) == len(here), "a page is touched for the first time once"
	assert [float(event["time"]) for event in events] == sorted(float(event["time"]) for event in events)
	assert {(event["amount"], event["unit"]) for event in events} == {("1", "fault")}
	shown, of, amount, lost = sums["page-faults"]
	assert shown == of == len(events) == amount and lost == 0
	assert not any(frame_is(frame, "__libc_start_main") for event in events for frame in event["path"])


@pytest.mark.measured("the number of samples at an interval varies")
def test_interval(tmp_path):
	"""A request's own interval is kept: every tenth fault is printed."""
	events, sums, _ = trace(tmp_path, "-r", "page-faults/10", "--", build("page_faults.c"), "1000")
	amount = sums["page-faults"][2]
	near(len(events), amount / 10, 2)
	assert {event["amount"] for event in events} == {"10"}


def test_filters(tmp_path):
	"""--path requires all of its functions, --name one of its patterns, --min the amount. Events that are not shown are counted."""
	command = ["--", build("page_faults.c"), "50"]
	everything = ["-r", "page-faults", "-r", "context-switches"]
	events, sums, _ = trace(tmp_path, *everything, "--path", "touch_some", "--path", "touch_pages", *command)
	assert 49 <= len(events) <= 75, "what the kernel takes away meanwhile comes back by a fault"
	assert all(holds(event["path"], ["touch_some", "touch_pages"]) for event in events)
	assert sums["page-faults"][1] >= 100 + len(events), "touch_twice_as_many has 100 pages"
	events, _, _ = trace(tmp_path, *everything, "--path", "touch_some", "--path", "touch_twice_as_many", *command)
	assert events == []
	events, sums, _ = trace(tmp_path, *everything, "--name", "page*", "--name", "xyzzy", *command)
	assert {event["resource"] for event in events} == {"page-faults"}
	assert sums["context-switches"][0] == 0
	events, sums, _ = trace(tmp_path, "-r", "page-faults", "--min", "2", *command)
	assert events == [] and sums["page-faults"][1] >= 150


def test_threads(tmp_path):
	"""Each event names its thread. Its path begins with the path that created the thread."""
	events, _, _ = trace(tmp_path, "-r", "context-switches", "-r", "page-faults", "--path", "worker", "--", build("threads.c"), "4")
	assert 2 <= len({event["tid"] for event in events}) <= 4, "a thread may use neither"
	assert {event["thread"] for event in events} == {"threads"}
	assert all(event["path"][0] == "main" for event in events), events[:3]
	assert not any(frame_is(frame, name) for event in events for frame in event["path"] for name in ("clone3", "start_thread"))


def test_processes(tmp_path):
	events, _, _ = trace(tmp_path, "-r", "context-switches", "--", build("switches.c"), "20")
	both = {event["tid"] for event in events if holds(event["path"], ["main", "ping_pong", "pass"])}
	assert len(both) == 2


def test_standard_error(tmp_path):
	"""Without -o, lines and sums are on standard error, together with the command's own."""
	result = run_cpprof("trace", "--backend", "perf", "-r", "page-faults", "--", "sh", "-c", "echo out; echo err >&2", cwd=tmp_path)
	assert result.returncode == 0
	assert result.stdout == "out\n"
	lines = result.stderr.splitlines()
	assert "err" in lines and any(SUM.match(line) for line in lines[-2:]) # the last line may report that a path is incomplete
	assert len(parse("\n".join(line for line in lines if line != "err" and not line.startswith("cpprof")))) > 20
	assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("words, status", [(["exit", "77"], 77), (["kill", "15"], 143)], ids=["exit", "signal"])
def test_status(tmp_path, words, status):
	command = ["sh", "-c", {"exit": f"exit {words[1]}", "kill": f"kill -{words[1]} $$"}[words[0]]]
	trace(tmp_path, "-r", "page-faults", "--", *command, status=status)


def wait_for(what, seconds=60):
	end = time.monotonic() + seconds
	while not what():
		assert time.monotonic() < end
		time.sleep(0.01)


def test_running_process_while_it_runs(tmp_path):
	"""With -p, lines are printed while the process runs. An interrupt ends the tracing, not the process."""
	target = subprocess.Popen([build("switches.c"), "100000000"], stdout=subprocess.DEVNULL, start_new_session=True)
	log = tmp_path / "events"
	tracer = subprocess.Popen([CPPROF, "trace", "--backend", "perf", "-r", "context-switches/1000", "-p", str(target.pid), "-o", log],
		stderr=subprocess.PIPE, text=True)
	try:
		wait_for(lambda: log.exists() and log.stat().st_size > 0)
		assert tracer.poll() is None
		tracer.send_signal(signal.SIGINT)
		_, err = tracer.communicate(timeout=60)
		assert tracer.returncode == 0, err
		assert SUM.search(err)
		assert target.poll() is None
		# A tracer that gets no processor for long states how many events it lost.
		lines = [line for line in log.read_text().splitlines(keepends=True) if not re.search(r"^[\d.]+ lost \d+ events?: ", line)]
		events = parse("".join(lines))
		assert any(holds(event["path"], ["main", "ping_pong", "pass"]) for event in events)
	finally:
		os.killpg(target.pid, signal.SIGKILL)
		target.wait()


def test_nothing_is_left_of_a_failure(tmp_path):
	"""If nothing could be traced, an older file stays unchanged, and no new one is created."""
	older = tmp_path / "older"
	older.write_text("precious")
	for output in ("older", "newer"):
		result = run_cpprof("trace", "--backend", "perf", "-r", "page-faults", "-o", output, "--", "./no-such-command", cwd=tmp_path)
		assert result.returncode == 127 and "no-such-command" in result.stderr
	assert older.read_text() == "precious"
	assert os.listdir(tmp_path) == ["older"]


def test_output_that_cannot_be_written(tmp_path):
	result = run_cpprof("trace", "--backend", "perf", "-r", "page-faults", "-o", "missing/events", "--", "touch", "ran", cwd=tmp_path)
	assert result.returncode == 1 and "missing/events" in result.stderr
	assert os.listdir(tmp_path) == []
	result = run_cpprof("trace", "--backend", "perf", "-r", "page-faults", "-o", "/dev/full", "--", "touch", "ran", cwd=tmp_path)
	assert result.returncode == 1 and "No space left" in result.stderr
	assert os.listdir(tmp_path) == ["ran"], "the command goes on"


@pytest.mark.parametrize("words, said", [
	(["--min", "soon"], "soon"), (["--min", "5ms"], "5ms"), (["--min", ""], "--min"), (["-r", "page-fault"], "page-faults"),
	(["--backend", "perff"], "perf"), (["--backend", ""], "none"), (["-a"], "-a"), (["-p", "1"], "-p cannot be combined with a command"),
	(["--duration", "1"], "--duration"), (["-r", "page-faults"], "twice"),
], ids=lambda words: " ".join(words) if isinstance(words, list) else "")
def test_wrong_words(tmp_path, words, said):
	result = run_cpprof("trace", "-r", "page-faults", *words, "--", "touch", "ran", cwd=tmp_path)
	assert result.returncode == 2, result.stderr
	assert said in result.stderr
	assert os.listdir(tmp_path) == []


def test_nothing_to_trace(tmp_path):
	result = run_cpprof("trace", cwd=tmp_path)
	assert result.returncode == 2 and "-p PID" in result.stderr


def test_system_calls_are_the_default(tmp_path):
	"""perf cannot show system calls: the message names a backend that can."""
	result = run_cpprof("trace", "--backend", "perf", "--", "touch", "ran", cwd=tmp_path)
	assert result.returncode == 1
	assert "syscalls" in result.stderr and "bpf" in result.stderr
	assert os.listdir(tmp_path) == []


@needs_whole_perf
def test_missing_function_is_reported(tmp_path):
	"""--path names a function that no event has: the trace reports it, with similar names."""
	result = run_cpprof("trace", "--path", "db_read_recrod", "-r", "page-faults", "--", build("forms.c"), "5", cwd=tmp_path)
	assert result.returncode == 0
	assert "no event has the function 'db_read_recrod' in its call path" in result.stderr
	words = ["--path", "touch_sme", "--path", "zzzzzz", "--path", "main", "-r", "page-faults"]
	result = run_cpprof("trace", *words, "--", build("page_faults.c"), "5", cwd=tmp_path)
	assert "cpprof: no event has the function 'touch_sme' in its call path (did you mean touch_some" in result.stderr
	assert "cpprof: no event has the function 'zzzzzz' in its call path\n" in result.stderr
	assert "'main'" not in result.stderr


def test_time_without_a_time_resource(tmp_path):
	result = run_cpprof("trace", "--min", "1ms", "-r", "page-faults", "--", "true", cwd=tmp_path)
	assert result.returncode == 2
	assert "page-faults is not measured in time (add a resource that is, as -r blocked" in result.stderr
	assert "--help" not in result.stderr
