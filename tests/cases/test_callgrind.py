"""callgrind.out: callgrind_annotate and an independent reader find the figures of `report`."""
import re
import subprocess

import pytest
from cli_support import done
from json_support import valid_json

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
NAMES = ["whole", "server", "forms", "recursion", "labels"]


def exported(profiles, name, *words):
	return done("export", "--format", "callgrind", *words, f"{name}.data", directory=profiles)


def results(profiles, name, *words):
	return valid_json(done("report", *ALL, *words, f"{name}.data", directory=profiles))["results"]


class Callgrind:
	"""`inclusive`: {function: [cost for each event]} of calls; `exclusive`: {(function, file, line): [cost]}; `calls`: {(caller, callee): number}."""

	def __init__(self, text):
		head, body = re.split(r"(?m)^(?=summary:)", text, maxsplit=1)
		self.events = re.search(r"^events: (.*)$", head, re.MULTILINE).group(1).split()
		self.names = {"ob": {}, "fl": {}, "fn": {}}
		self.inclusive, self.exclusive, self.calls = {}, {}, {}
		now, calls = {}, None
		for line in body.splitlines():
			found = re.fullmatch(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?", line)
			if found:
				kind = {"fi": "fl", "fe": "fl"}.get(found[2], found[2])
				if found[4] is not None:
					assert int(found[3]) not in self.names[kind], line
					self.names[kind][int(found[3])] = found[4]
				now[found[1] + kind] = self.names[kind][int(found[3])]
			elif line.startswith("calls="):
				calls = int(line[6:].split()[0])
				assert calls > 0
			elif line.startswith("summary:"):
				self.summary = [int(number) for number in line.split()[1:]]
			elif line.startswith("totals:"):
				assert line == body.splitlines()[-1] and [int(number) for number in line.split()[1:]] == self.summary
			elif line:
				number, *costs = map(int, line.split())
				assert len(costs) == len(self.events)
				if calls is None:
					assert (now["fn"], now["fl"], number) not in self.exclusive and any(costs)
					self.exclusive[now["fn"], now["fl"], number] = costs
				else:
					sums = self.inclusive.setdefault(now["cfn"], [0] * len(costs))
					self.inclusive[now["cfn"]] = [a + b for a, b in zip(sums, costs)]
					self.calls[now["fn"], now["cfn"]] = self.calls.get((now["fn"], now["cfn"]), 0) + calls
				calls = None


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_report(profiles, name):
	found = Callgrind(exported(profiles, name))
	reports = results(profiles, name, "--functions")
	assert found.events == [re.sub(r"\W", "_", result["resource"]) for result in reports]
	for index, result in enumerate(reports):
		interval = result.get("interval", 1)
		assert found.summary[index] == result["total_hits"] * interval
		inclusive = {name: costs[index] for name, costs in found.inclusive.items() if costs[index] and not re.search(r"'\d+$", name)}
		assert inclusive == {entry["path"][0]: entry["hits"] * interval for entry in result["entries"] if entry["hits"]}
		assert sum(costs[index] for costs in found.exclusive.values()) == found.summary[index]


def test_lines_are_those_of_report(profiles):
	found = Callgrind(exported(profiles, "whole", "-r", "cpu"))
	lines = {}
	for (_, file, line), costs in found.exclusive.items():
		lines[file, line] = lines.get((file, line), 0) + costs[0]
	result = results(profiles, "whole", "--lines", "-r", "cpu")[0]
	expected = {(entry["file"] or "???", entry["line"]): entry["body_hits"] * result["interval"] for entry in result["entries"] if entry["body_hits"]}
	assert len(expected) > 3 and lines == expected


def annotated(path, *words):
	result = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", *words, path], capture_output=True, text=True, check=True)
	assert "WARNING" not in result.stderr and result.stderr == "", result.stderr
	rows = {}
	for line in result.stdout.splitlines():
		found = re.fullmatch(r"((?: *(?:[\d,]+|\.) )+) *(.*?)(?: \[.*\])?", line)
		if found and (":" in found[2] or "TOTALS" in found[2]):
			name = "TOTALS" if "TOTALS" in found[2] else found[2].split(":", 1)[1]
			rows[name] = [0 if number == "." else int(number.replace(",", "")) for number in found[1].split()]
	return rows


@pytest.mark.parametrize("name", NAMES)
def test_callgrind_annotate_shows_the_same_figures(profiles, name, tmp_path):
	path = tmp_path / "callgrind.out.1"
	path.write_text(exported(profiles, name))
	rows = annotated(path, "--inclusive=yes")
	for index, result in enumerate(results(profiles, name, "--functions")):
		interval = result.get("interval", 1)
		assert rows["TOTALS"][index] == result["total_hits"] * interval
		for entry in result["entries"]:
			# The tool has no row for a function without cost in the first event.
			if entry["hits"] and entry["path"][0] in rows:
				assert rows[entry["path"][0]][index] == entry["hits"] * interval, entry
			assert index > 0 or entry["path"][0] in rows, entry


def test_recursion_has_levels(profiles):
	"""A function below itself is another one there, so that no cost of it is counted twice."""
	found = Callgrind(exported(profiles, "recursion"))
	assert any(name.endswith("'2") for name in found.inclusive)
	total = found.summary[0]
	assert all(costs[0] <= total for costs in found.inclusive.values())


def test_selection(profiles):
	whole = Callgrind(exported(profiles, "server", "-r", "page-faults")).summary
	early, late = (Callgrind(exported(profiles, "server", "-r", "page-faults", *words)).summary for words in (["--to", "0.002"], ["--from", "0.002"]))
	assert early[0] and late[0] and early[0] + late[0] == whole[0]
