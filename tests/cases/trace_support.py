"""A trace for the tests of formats, and its events as `export --format events` lists them."""
from collections import namedtuple

import pytest
from hooks_support import Counted, Program, compile_once
from record_support import BUILD, PROGRAMS, REPOSITORY, run_cpprof

EventLine = namedtuple("EventLine", "time_ns process thread kind name")


def program(name):
	"""The command of a program with hooks: `mutual` calls itself over others, `events` has two threads, a jump and events of its own."""
	if name == "mutual":
		return Program("mutual", "cyg").command
	runtime = BUILD / "src/collect/agent"
	return [compile_once(["gcc", "-O2", "-g", "-pthread", "-finstrument-functions", f"-Wl,-rpath,{runtime}", f"-I{REPOSITORY}/include"],
		[PROGRAMS / "events.c"], "events", [runtime / "libcpprof.so"]), "known"]


@pytest.fixture(scope="module", params=["mutual", "events"])
def traced(request, tmp_path_factory):
	"""The file of a trace."""
	run = Counted(program(request.param), tmp_path_factory.mktemp("trace"), "trace", name=f"{request.param}.data")
	assert run.status == 0, run.err
	return run.path


def seconds(nanoseconds):
	return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09}"


def inclusive_times(path):
	"""{function: ns in its calls, once where it is below itself}, from the list of events, by a stack machine of the tests' own: a call
	whose end is missing ends with its caller or with its thread's last event."""
	found, lanes = {}, {}
	lines = event_lines(path)
	last = {}
	for line in lines:
		last[line.process, line.thread] = line.time_ns

	def end(stack, time_ns):
		name, start = stack.pop()
		if all(name != outer for outer, _ in stack):
			found[name] = found.get(name, 0) + time_ns - start

	for line in lines:
		stack = lanes.setdefault((line.process, line.thread), [])
		if line.kind == "enter":
			stack.append((line.name, line.time_ns))
		elif line.kind == "leave" and any(name == line.name for name, _ in stack):
			while stack[-1][0] != line.name:
				end(stack, line.time_ns)
			end(stack, line.time_ns)
	for lane, stack in lanes.items():
		while stack:
			end(stack, last[lane])
	return {name: time for name, time in found.items() if time}


def event_lines(path, *words):
	found = []
	for line in run_cpprof("export", "--format", "events", *words, path).stdout.splitlines():
		seconds, process, thread, kind, name = line.split(" ", 4)
		whole, part = seconds.split(".")
		found.append(EventLine(int(whole) * 10**9 + int(part), int(process), int(thread), kind, name))
	return found
