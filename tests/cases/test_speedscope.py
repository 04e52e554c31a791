"""speedscope's JSON: its frames, stacks and weights add up to the figures of `report`."""
import json

import pytest
from cli_support import done

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
