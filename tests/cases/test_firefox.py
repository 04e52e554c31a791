"""Firefox profiles: a reader of the tests' own and the Firefox Profiler (profiler-cli) find the figures of `report` and of a trace's events."""
import gzip
import json

import pytest
from cli_support import done
from json_support import valid_json
from npm_support import Profiler
from trace_support import event_lines, inclusive_times, seconds, traced  # noqa: F401 (a fixture)

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
NAMES = ["whole", "server", "forms", "recursion", "labels"]
NS_IN_MS = 10**6
PARTS_OF_MS = {"ns": NS_IN_MS, "us": 1000, "ms": 1}


def results(path, *words):
	return valid_json(done("report", *ALL, *words, path))["results"]


class Firefox:
	"""Checks that each column of each table is as long as the table says, and that indexes are in range."""

	def __init__(self, data):
		self.document = json.loads(gzip.decompress(data))
		self.meta, self.shared = self.document["meta"], self.document["shared"]
		self.tables = {name: table for name, table in self.shared.items() if isinstance(table, dict)}
		for table in [*self.tables.values(), *(thread[name] for thread in self.document["threads"] for name in ("samples", "markers"))]:
			assert all(len(column) == table["length"] for column in table.values() if isinstance(column, list)), table.keys()
		stacks, functions = self.tables["stackTable"], self.tables["funcTable"]
		assert all(prefix is None or prefix < row for row, prefix in enumerate(stacks["prefix"]))
		self.names = [self.shared["stringArray"][name] for name in functions["name"]]
		self.stacks = []
		for frame, prefix in zip(stacks["frame"], stacks["prefix"]):
			own = [self.names[self.tables["frameTable"]["func"][frame]]]
			self.stacks.append((self.stacks[prefix] if prefix is not None else []) + own)

	def thread_kinds(self):
		return {thread["name"].rsplit(": ", 1)[-1] for thread in self.document["threads"]}

	def threads(self, kind):
		"""The threads of a resource's title, or of the calls of a trace."""
		found = [thread for thread in self.document["threads"] if thread["name"].endswith(f": {kind}")]
		return found or [thread for thread in self.document["threads"] if ": " not in thread["name"]]

	def inclusive(self, kind, unit="ns"):
		"""{function: weight in the resource's unit}."""
		found = {}
		for thread in self.threads(kind):
			samples = thread["samples"]
			assert samples["weightType"] == ("tracing-ms" if unit in PARTS_OF_MS else "bytes" if unit == "byte" else "samples")
			factor = PARTS_OF_MS.get(unit, 1)
			assert samples["time"] == sorted(samples["time"])
			for stack, weight in zip(samples["stack"], samples["weight"]):
				for name in set(self.stacks[stack] if stack is not None else ["[no stack]"]):
					found[name] = found.get(name, 0) + round(weight * factor)
		return found


def exported(path, *words):
	return Firefox(done("export", "--format", "firefox", *words, path, text=False))


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_report(profiles, name):
	path = profiles / f"{name}.data"
	found = exported(path)
	for result in results(path, "--functions"):
		if not result["total_hits"]:
			continue
		sums = found.inclusive(result["title"], result["unit"])
		expected = {entry["path"][0]: entry["hits"] * result.get("interval", 1) for entry in result["entries"] if entry["hits"]}
		assert {name: weight for name, weight in sums.items() if name != "[no stack]"} == expected


def test_lines_categories_and_modules(profiles):
	found = exported(profiles / "whole.data", "-r", "cpu")
	frames, functions = found.tables["frameTable"], found.tables["funcTable"]
	assert any(line for line in frames["line"]) and any(frames["inlineDepth"])
	lines = {(found.shared["stringArray"][found.tables["sources"]["filename"][functions["source"][function]]], line)
		for function, line in zip(frames["func"], frames["line"]) if line and functions["source"][function] is not None}
	reported = {(entry["file"], entry["line"]) for entry in results(profiles / "whole.data", "--lines", "-r", "cpu")[0]["entries"]}
	assert lines & reported
	modules = {module["path"]: module["build_id"] for module in valid_json(done("info", "--format", "json", profiles / "whole.data"))["modules"]}
	assert found.document["libs"] and all((library["codeId"] or "") == modules[library["path"]] for library in found.document["libs"])
	assert [category["name"] for category in found.meta["categories"]] == ["Other", "Program", "Library", "Kernel", "JIT", "Interpreter"]
	names = {found.shared["stringArray"][functions["name"][function]]: found.meta["categories"][category]["name"]
		for function, category in zip(frames["func"], frames["category"])}
	assert names == {name: "Library" if name == "_start" else "Program" for name in names} and {"_start", "main"} < set(names)


def test_times_and_threads(profiles):
	path = profiles / "server.data"
	found = exported(path, "-r", "page-faults")
	for entry in results(path, "--threads", "-r", "page-faults")[0]["entries"]:
		weights = [sum(thread["samples"]["weight"]) for thread in found.document["threads"] if thread["tid"] == (entry["tid"] or 0)]
		assert sum(weights) == entry["hits"] * results(path, "-r", "page-faults", "--functions")[0].get("interval", 1)
	early = exported(path, "-r", "page-faults", "--to", "0.002")
	assert early.document["threads"] and all(time < 2 for thread in early.document["threads"] for time in thread["samples"]["time"])


def test_calls_and_events_of_a_trace(traced):
	"""The time of each function is the time of its calls; each event of the program and each tick is a marker."""
	found = exported(traced)
	assert found.inclusive("Trace") == inclusive_times(traced)
	lines = event_lines(traced)
	markers = [(round(time * NS_IN_MS), data) for thread in found.threads("Trace")
		for time, data in zip(thread["markers"]["startTime"], thread["markers"]["data"])]
	events = sorted((time, data["id"], data["value"]) for time, data in markers if data["type"] == "cpprof_event")
	assert events == sorted((line.time_ns, *map(int, line.name.split())) for line in lines if line.kind == "event")
	ticks = sorted((time, data["function"]) for time, data in markers if data["type"] == "tick")
	assert ticks == sorted((line.time_ns, line.name) for line in lines if line.kind == "sample")


def test_a_function_of_a_trace_is_the_one_of_the_counts(traced, tmp_path):
	"""Its calls and its counts have the same library and file, so that a reader finds one function and not two."""
	shared = exported(traced).document["shared"]
	table, places = shared["funcTable"], {}
	for name, resource, source in zip(table["name"], table["resource"], table["source"]):
		places.setdefault(shared["stringArray"][name], set()).add((resource, source))
	assert "main" in places and all(len(found) == 1 for name, found in places.items() if name), places
	assert all(resource >= 0 for name, found in places.items() if name for resource, _ in found), places
	output = tmp_path / "trace.json.gz"
	done("export", "--format", "firefox", "-o", output, traced)
	assert "@[imported]" not in done("report", "--functions", output)


def test_a_range_of_a_trace(traced):
	times = sorted(line.time_ns for line in event_lines(traced))
	start, end = times[len(times) // 3], times[2 * len(times) // 3]
	found = exported(traced, "--from", seconds(start), "--to", seconds(end))
	whole = inclusive_times(traced)
	part = found.inclusive("Trace")
	assert part and all(0 < time <= min(end - start, whole[name]) * 2 for name, time in part.items())
	for thread in found.threads("Trace"):
		samples = thread["samples"]
		assert all(start <= round(time * NS_IN_MS) and round((time + weight) * NS_IN_MS) <= end for time, weight in zip(samples["time"], samples["weight"]))


def shown_by_profiler(path, home):
	"""{thread's name: {function: weight}} as the Firefox Profiler adds it up."""
	found = {}
	with Profiler(path, home) as profiler:
		for thread in json.loads(profiler.ask("thread", "list", "--json"))["threads"]:
			answer = json.loads(profiler.ask("thread", "functions", "--limit", "0", "--include-idle", "--thread", thread["threadHandle"], "--json"))
			sums = found.setdefault(thread["name"], {})
			for function in answer["functions"]:
				sums[function["name"]] = sums.get(function["name"], 0) + function["totalSamples"]
	return found


def agrees(shown, document, kind, expected):
	sums = {}
	for name in {thread["name"] for thread in document.threads(kind)}:
		for function, weight in shown[name].items():
			sums[function] = sums.get(function, 0) + weight
	assert sums == pytest.approx(expected, rel=1e-6)


@pytest.mark.needs("profiler-cli")
@pytest.mark.parametrize("name", ["whole", "recursion"])
def test_the_firefox_profiler_shows_the_same_figures(profiles, name, tmp_path):
	path, output = profiles / f"{name}.data", tmp_path / "profile.json.gz"
	done("export", "--format", "firefox", "-o", output, path)
	shown, document = shown_by_profiler(output, tmp_path), exported(path)
	for result in results(path, "--functions"):
		factor = PARTS_OF_MS.get(result["unit"], 1)
		agrees(shown, document, result["title"], {entry["path"][0]: entry["hits"] * result.get("interval", 1) / factor for entry in result["entries"] if entry["hits"]})


@pytest.mark.needs("profiler-cli")
def test_the_firefox_profiler_shows_the_calls_of_a_trace(traced, tmp_path):
	output = tmp_path / "profile.json.gz"
	done("export", "--format", "firefox", "-o", output, traced)
	expected = {name: time / NS_IN_MS for name, time in inclusive_times(traced).items()}
	agrees(shown_by_profiler(output, tmp_path), exported(traced), "Trace", expected)
