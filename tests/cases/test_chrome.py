"""Chrome's trace events: their form is as in its documentation, and their counts and amounts are as in `report` and `export --format events`."""
import json
from collections import Counter

import pytest
from cli_support import done
from hooks_support import Counted, Program
from json_support import valid_json
from trace_support import event_lines, seconds, traced  # noqa: F401 (a fixture)

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
# "Trace Event Format": the fields of each kind of event that are required.
FIELDS = {"B": {"name", "cat"}, "E": set(), "i": {"name", "cat", "s"}, "M": {"name", "args"}}


def exported(path, *words):
	"""The document, each of whose events has the fields of its kind; a frame's parent is another frame."""
	document = json.loads(done("export", "--format", "chrome", *words, path))
	frames = document["stackFrames"]
	for event in document["traceEvents"]:
		assert FIELDS[event["ph"]] | {"ph", "pid", "tid", "ts"} <= set(event), event
		assert event["ts"] >= 0 and isinstance(event["pid"], int) and isinstance(event["tid"], int)
		assert "sf" not in event or str(event["sf"]) in frames
	for frame in frames.values():
		assert set(frame) <= {"name", "category", "parent"} and ("parent" not in frame or str(frame["parent"]) in frames)
	return document


def stack(document, event):
	at, found = event.get("sf"), []
	while at is not None:
		frame = document["stackFrames"][str(at)]
		found.append(frame["name"])
		at = frame.get("parent")
	return found


@pytest.mark.parametrize("name", ["whole", "server", "forms", "recursion", "labels"])
def test_figures_are_those_of_report(profiles, name):
	document = exported(profiles / f"{name}.data")
	samples = [event for event in document["traceEvents"] if event["ph"] == "i"]
	for result in valid_json(done("report", "--functions", *ALL, profiles / f"{name}.data"))["results"]:
		sums, interval = Counter(), result.get("interval", 1)
		of_resource = [event for event in samples if event["cat"] == result["resource"]]
		for event in of_resource:
			assert event["args"]["unit"] == result["unit"] and event["name"] == (stack(document, event) or ["[no stack]"])[0]
			for function in set(stack(document, event)):
				sums[function] += event["args"]["amount"]
		assert sum(event["args"]["amount"] for event in of_resource) == result["total_hits"] * interval
		assert sums == {entry["path"][0]: entry["hits"] * interval for entry in result["entries"] if entry["hits"]}


def test_times_threads_and_labels(profiles):
	"""Each sample is in the lane of its thread, which has a name, at its time; the times of a selection are in its range."""
	document = exported(profiles / "server.data", "--to", "0.002")
	names = {(event["pid"], event["tid"]) for event in document["traceEvents"] if event["ph"] == "M" and event["name"] == "thread_name"}
	samples = [event for event in document["traceEvents"] if event["ph"] == "i"]
	assert samples and all((event["pid"], event["tid"]) in names and event["ts"] < 2000 for event in samples)
	labels = {}
	for event in exported(profiles / "labels.data")["traceEvents"]:
		for label in event.get("args", {}).get("labels", {}).items():
			labels[label] = labels.get(label, 0) + event["args"]["amount"]
	assert labels
	for (key, value), amount in labels.items():
		result = valid_json(done("report", "--functions", "--label", f"{key}={value}", *ALL, profiles / "labels.data"))["results"]
		assert amount == sum(one["total_hits"] * one.get("interval", 1) for one in result)


def test_calls_of_a_trace(traced):
	"""Each call that begins ends, in the order of a stack; there are as many as `export --format events` lists, at the same times."""
	events = exported(traced)["traceEvents"]
	lines = event_lines(traced)
	assert Counter(event["ph"] for event in events)["B"] == sum(line.kind == "enter" for line in lines) > 5
	begins = sorted((event["tid"], round(event["ts"] * 1000), event["name"]) for event in events if event["ph"] == "B")
	assert begins == sorted((line.thread, line.time_ns, line.name) for line in lines if line.kind == "enter")
	stacks, last = {}, {}
	for event in events:
		lane = event["tid"]
		if event["ph"] in "BEi":
			assert event["ts"] >= last.get(lane, 0)
			last[lane] = event["ts"]
		if event["ph"] == "B":
			stacks.setdefault(lane, []).append(event["name"])
		elif event["ph"] == "E":
			stacks[lane].pop()
	assert stacks and not any(stacks.values())
	assert document_threads(traced, "--thread", str(lines[-1].thread)) == {lines[-1].thread}


def test_lists_of_events_follow_the_selection(traced):
	"""Each selection has the events that match, in the same order."""
	lines = event_lines(traced)
	times = sorted(line.time_ns for line in lines)
	start, end = times[len(times) // 3], times[2 * len(times) // 3]
	assert event_lines(traced, "--from", seconds(start), "--to", seconds(end)) == [line for line in lines if start <= line.time_ns < end]
	for thread in {line.thread for line in lines}:
		assert event_lines(traced, "--thread", str(thread)) == [line for line in lines if line.thread == thread]
	(process,) = {line.process for line in lines}
	assert event_lines(traced, "--process", str(process)) == lines != []


def document_threads(path, *words):
	return {event["tid"] for event in exported(path, *words)["traceEvents"] if event["ph"] in "BE"}


@pytest.mark.parametrize("hooks", ["mcount", "fentry"])
def test_calls_without_ends_do_not_nest(hooks, tmp_path):
	"""-pg reports entries only: a call ends at the latest where one begins that it does not contain, so that each call is below its caller."""
	run = Counted(Program("mutual", hooks).command, tmp_path, "trace", name="trace.data")
	assert run.status == 0, run.err
	paths = {}
	for line in done("export", "--format", "folded", "-r", "calls", run.path).splitlines():
		path, calls = line.rsplit(" ", 1)
		paths[tuple(path.split(";"))] = int(calls)
	stacks, begun = {}, Counter()
	for event in exported(run.path)["traceEvents"]:
		calls = stacks.setdefault(event["tid"], [])
		if event["ph"] == "B":
			calls.append(event["name"])
			begun[tuple(calls)] += 1
		elif event["ph"] == "E":
			calls.pop()
	assert begun == paths and sum(begun.values()) > 100


def test_events_of_the_program(traced):
	marks = [event for event in exported(traced)["traceEvents"] if event["ph"] == "i" and event["cat"] == "event"]
	expected = [line for line in event_lines(traced) if line.kind == "event"]
	assert expected or "events" not in traced.name
	assert [(event["args"]["id"], event["args"]["value"]) for event in marks] == [tuple(map(int, line.name.split())) for line in expected]


def test_a_range_of_time_cuts_calls(traced):
	"""A call that reaches into the range begins and ends at its bounds."""
	lines = event_lines(traced)
	times = sorted(line.time_ns for line in lines)
	start, end = times[len(times) // 3], times[2 * len(times) // 3]
	events = [event for event in exported(traced, "--from", seconds(start), "--to", seconds(end))["traceEvents"] if event["ph"] in "BE"]
	assert events and all(start <= round(event["ts"] * 1000) <= end for event in events)
	kinds = Counter(event["ph"] for event in events)
	inside = sum(line.kind == "enter" and start <= line.time_ns < end for line in lines)
	assert kinds["B"] == kinds["E"] and inside < kinds["B"]
