"""speedscope's JSON: its frames, stacks, weights and events add up to the figures of `report` and of a trace's events, for a reader of the
tests' own and for speedscope itself, which runs in a headless Chromium."""
import base64
import json
import re

import jsonschema
import pytest
from cli_support import done
from npm_support import SPEEDSCOPE
from trace_support import event_lines, inclusive_times, seconds, traced  # noqa: F401 (a fixture)

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def exported(profiles, name, *words):
	return json.loads(done("export", "--format", "speedscope", *words, f"{name}.data", directory=profiles))


@pytest.mark.parametrize("name", ["whole", "server", "forms", "recursion"])
def test_figures_are_those_of_report(profiles, name):
	document = exported(profiles, name)
	frames = document["shared"]["frames"]
	reports = json.loads(done("report", "--functions", *ALL, f"{name}.data", directory=profiles))["results"]
	found = {}
	for profile in document["profiles"]:
		assert profile["type"] == "sampled" and profile["unit"] in UNITS and profile["startValue"] == 0
		assert len(profile["samples"]) == len(profile["weights"]) > 0 and sum(profile["weights"]) == profile["endValue"]
		title = profile["name"].rsplit(": ", 1)[0] if ": " in profile["name"] else profile["name"]
		sums = found.setdefault(title, {})
		for stack, weight in zip(profile["samples"], profile["weights"]):
			for function in {frames[index]["name"] for index in stack}:
				sums[function] = sums.get(function, 0) + weight
	assert len(found) == len([result for result in reports if result["total_hits"]])
	for result in reports:
		expected = {entry["path"][0]: entry["hits"] * result.get("interval", 1) for entry in result["entries"] if entry["hits"]}
		assert found.get(result["title"], {}) == expected


def test_lines_and_threads(profiles):
	document = exported(profiles, "whole", "-r", "cpu")
	assert any(frame.get("line", 0) > 0 and frame["file"] for frame in document["shared"]["frames"])
	threads = exported(profiles, "server", "-r", "page-faults")["profiles"]
	assert len(threads) == len({profile["name"] for profile in threads}) > 1


def call_times(document):
	"""{function: ns in its calls}, of the evented profiles, each of which is a stack."""
	found, names = {}, [frame["name"] for frame in document["shared"]["frames"]]
	for profile in document["profiles"]:
		if profile["type"] != "evented":
			continue
		stack, last = [], profile["startValue"]
		assert profile["unit"] == "nanoseconds" and profile["events"]
		for event in profile["events"]:
			assert profile["startValue"] <= last <= event["at"] <= profile["endValue"]
			last = event["at"]
			if event["type"] == "O":
				stack.append((event["frame"], event["at"]))
				continue
			frame, start = stack.pop()
			assert frame == event["frame"]
			if all(names[frame] != names[outer] for outer, _ in stack):
				found[names[frame]] = found.get(names[frame], 0) + event["at"] - start
		assert not stack
	return {name: time for name, time in found.items() if time}


def test_calls_of_a_trace(traced):
	document = json.loads(done("export", "--format", "speedscope", traced))
	assert call_times(document) == inclusive_times(traced)
	opened = sum(event["type"] == "O" for profile in document["profiles"] for event in profile.get("events", ()))
	assert opened == sum(line.kind == "enter" for line in event_lines(traced))
	assert any(profile["type"] == "sampled" for profile in document["profiles"])
	of_resource = json.loads(done("export", "--format", "speedscope", "-r", "calls", traced))["profiles"]
	assert {profile["type"] for profile in of_resource} == {"sampled"}


def test_a_range_of_a_trace(traced):
	times = sorted(line.time_ns for line in event_lines(traced))
	start, end = times[len(times) // 3], times[2 * len(times) // 3]
	document = json.loads(done("export", "--format", "speedscope", "--from", seconds(start), "--to", seconds(end), traced))
	evented = [profile for profile in document["profiles"] if profile["type"] == "evented"]
	assert evented and all(start <= event["at"] <= end for profile in evented for event in profile["events"])
	assert call_times(document)


# --- speedscope itself ---

PARTS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9, "": 1}


def bounds(text):
	"""The least and the largest number that speedscope prints like this: "201.00ms (56%)"."""
	number, unit = re.fullmatch(r"([\d,.]+)(ns|µs|ms|s|) \(.*\)", text).groups()
	exact, half = float(number.replace(",", "")), 0.5 * 10 ** -len(number.partition(".")[2])
	return (exact - half) * PARTS[unit] - 1, (exact + half) * PARTS[unit] + 1


def shown_by_speedscope(chromium, document, folder):
	"""Yields, for each profile, its name and {function: (least, largest) total} of the view "Sandwich"."""
	for index, profile in enumerate(document["profiles"]):
		text = base64.b64encode(json.dumps({**document, "activeProfileIndex": index}).encode()).decode()
		(folder / "load.js").write_text(f'speedscope.loadFileFromBase64("it.json", "{text}")')
		chromium.driver.get("about:blank")
		chromium.driver.get(f"{(SPEEDSCOPE / 'index.html').as_uri()}#localProfilePath={folder / 'load.js'}")
		count = len(document["profiles"])
		title = profile["name"] + (f" ({index + 1}/{count})" if count > 1 else "")
		chromium.wait(lambda _: title in chromium.text())
		chromium.driver.execute_script("window.dispatchEvent(new KeyboardEvent('keypress', {key: '3'}))")
		chromium.wait(lambda _: "Symbol Name\n" in chromium.text())
		lines = chromium.text().split("Symbol Name\n", 1)[1].splitlines()
		sums = {}
		for total, name in zip(lines[0::3], lines[2::3]):
			low, high = sums.get(name, (0, 0))
			least, largest = bounds(total)
			sums[name] = (low + least, high + largest)
		yield profile, sums


@pytest.mark.needs("speedscope")
def test_the_form_is_that_of_its_schema(profiles, traced):
	schema = json.loads((SPEEDSCOPE / "file-format-schema.json").read_text())
	for document in (exported(profiles, "whole"), exported(profiles, "labels"), json.loads(done("export", "--format", "speedscope", traced))):
		jsonschema.validate(document, schema)


def within(sums, expected):
	assert set(sums) == set(expected)
	for name, value in expected.items():
		assert sums[name][0] <= value <= sums[name][1], (name, value, sums[name])


@pytest.mark.needs("speedscope")
def test_speedscope_shows_the_same_figures(chromium, profiles, tmp_path):
	document = exported(profiles, "whole")
	frames, seen = document["shared"]["frames"], 0
	for profile, sums in shown_by_speedscope(chromium, document, tmp_path):
		expected = {}
		for stack, weight in zip(profile["samples"], profile["weights"]):
			for name in {frames[index]["name"] for index in stack}:
				expected[name] = expected.get(name, 0) + weight
		within(sums, expected)
		seen += 1
	assert seen == len(document["profiles"]) > 3


@pytest.mark.needs("speedscope")
def test_speedscope_shows_the_calls_of_a_trace(chromium, traced, tmp_path):
	document = json.loads(done("export", "--format", "speedscope", traced))
	document["profiles"] = [profile for profile in document["profiles"] if profile["type"] == "evented"]
	times = {}
	for _, sums in shown_by_speedscope(chromium, document, tmp_path):
		for name, (least, largest) in sums.items():
			low, high = times.get(name, (0, 0))
			times[name] = (low + least, high + largest)
	within({name: times[name] for name in inclusive_times(traced)}, inclusive_times(traced))
