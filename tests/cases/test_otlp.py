"""OTLP profiles: an independent decoder finds the figures of `report`."""
import json

import pytest
from cli_support import done
from json_support import valid_json
from otlp_support import Otlp

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]


def exported(profiles, name, *words):
	return Otlp(done("export", "--format", "otlp", *words, f"{name}.data", directory=profiles, text=False))


def results(profiles, name, *words):
	return valid_json(done("report", *ALL, *words, f"{name}.data", directory=profiles))["results"]


@pytest.mark.parametrize("name", ["whole", "server", "forms", "recursion", "labels"])
def test_totals_and_functions_are_those_of_report(profiles, name):
	found = exported(profiles, name)
	reports = results(profiles, name, "--functions")
	assert {sample[0] for sample in found.samples} == {result["resource"] for result in reports if result["total_hits"]}
	for result in reports:
		interval = result.get("interval", 1)
		assert found.total(result["resource"]) == result["total_hits"] * interval
		assert found.inclusive(result["resource"]) == {entry["path"][0]: entry["hits"] * interval for entry in result["entries"] if entry["hits"]}
	assert {sample[1] for sample in found.samples if sample[0] == "cpu"} <= {"nanoseconds"}


def test_lines_inlined_functions_and_modules(profiles):
	found = exported(profiles, "whole", "-r", "cpu")
	assert any(len(lines) > 1 for lines in found.locations), "no location has inlined functions"
	assert any(line > 0 and file for lines in found.locations for _, file, line in lines)
	info = valid_json(done("info", "--format", "json", "whole.data", directory=profiles))
	known = {module["path"]: module["build_id"] for module in info["modules"]}
	assert found.mappings
	for path, attributes in found.mappings.items():
		assert attributes == ({"process.executable.build_id.gnu": known[path]} if known[path] else {})


def test_processes_threads_and_times(profiles):
	found = exported(profiles, "server", "-r", "page-faults")
	for option, field in (("--threads", "tid"), ("--processes", "pid")):
		first = results(profiles, "server", option, "-r", "page-faults")[0]
		sums = {}
		for _, _, process, _, values, _, attributes in found.samples:
			key = attributes.get("thread.id") if field == "tid" else process.get("process.pid")
			sums[key] = sums.get(key, 0) + sum(values)
		assert sums == {entry[field]: entry["hits"] * first["interval"] for entry in first["entries"]}
	start = found.profiles[0].get("time_unix_nano", 0)
	marks = json.loads(done("export", "--format", "chrome", "-r", "page-faults", "server.data", directory=profiles))["traceEvents"]
	assert sorted(time - start for sample in found.samples for time in sample[5]) == sorted(round(mark["ts"] * 1000) for mark in marks if mark["ph"] == "i")
	early = sum(value for sample in found.samples for value, time in zip(sample[4], sample[5]) if time - start < 2000000)
	assert 0 < early < found.total("page-faults") and early == exported(profiles, "server", "-r", "page-faults", "--to", "0.002").total("page-faults")


def test_labels_are_attributes(profiles):
	found = exported(profiles, "labels")
	sums = {}
	for name, _, _, _, values, _, attributes in found.samples:
		for key, value in attributes.items():
			if not key.startswith("thread."):
				sums[name, key, value] = sums.get((name, key, value), 0) + sum(values)
	assert sums
	for (name, key, value), amount in sums.items():
		result = results(profiles, "labels", "--functions", "-r", name, "--label", f"{key}={value}")[0]
		assert amount == result["total_hits"] * result.get("interval", 1)


def test_strings_are_utf8(folded_bytes):
	assert set(exported(folded_bytes, "bytes").inclusive("samples")) == {"main", "f\ufffd\ufffdg", "\u00fc\ufffd"}
