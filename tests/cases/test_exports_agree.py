"""Three real profiles through every format: sqlite3 with four resources, a C++ program with threads and labels, and a trace. What each format
can hold has the figures of `report`."""
import json
import re
import shutil
from collections import namedtuple

import pytest
from cli_support import done, run
from hooks_support import Counted
from json_support import valid_json
from otlp_support import Otlp
from pprof_support import Pprof
from record_support import BUILD, REPOSITORY, build, record
from test_callgrind import Callgrind
from test_chrome import stack
from test_firefox import Firefox
from trace_support import event_lines, inclusive_times, program

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
FORMATS = ["folded", "pprof", "firefox", "speedscope", "callgrind", "chrome", "otlp"]
SQL = """WITH RECURSIVE seq(i, x) AS (SELECT 1, 12345 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM seq WHERE i < 300000)
SELECT count(*), sum(length(t)) FROM (SELECT hex(x) AS t FROM seq ORDER BY x);"""


@pytest.mark.parametrize("format_name", ["folded", "pprof"])
def test_a_second_resource_is_refused(profiles, format_name):
	"""The last one alone would be written."""
	result = run("export", "--format", format_name, "-r", "cpu", "-r", "calls", "-o", "-", profiles / "whole.data")
	assert result.returncode == 2 and "-r can be given once to 'export' (run it once for each resource)" in result.stderr


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
	"""{name: path of the profile}."""
	folder = tmp_path_factory.mktemp("recorded")
	paths = {}
	if shutil.which("sqlite3"):
		(folder / "sqlite3").mkdir()
		run = record(folder / "sqlite3", ["sqlite3", ":memory:", SQL], "--backend", "preload", "-r", "cpu", "-r", "real", "-r", "alloc-bytes", "-r", "allocs")
		assert run.status == 0, run.err
		paths["sqlite3"] = run.path
	(folder / "tenants").mkdir()
	runtime = BUILD / "src/collect/agent"
	tenants = build("tenants.cpp", f"-I{REPOSITORY}/include", f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-Wl,--no-as-needed", "-lcpprof")
	run = record(folder / "tenants", [tenants], "--backend", "preload", "-r", "cpu", "-r", "alloc-bytes/16")
	assert run.status == 0, run.err
	paths["tenants"] = run.path
	counted = Counted(program("events"), folder, "trace", name="trace.data")
	assert counted.status == 0, counted.err
	paths["trace"] = counted.path
	return paths


Figures = namedtuple("Figures", "title unit interval functions")


def figures_of_report(path):
	"""{resource: Figures} of the resources that reports show."""
	found = {}
	for result in valid_json(done("report", "--functions", *ALL, path))["results"]:
		interval = result.get("interval", 1)
		functions = {entry["path"][0]: entry["hits"] * interval for entry in result["entries"] if entry["hits"]}
		found[result["resource"]] = Figures(result["title"], result["unit"], interval, functions)
	return found


def from_folded(path, resource, figures):
	sums = {}
	for line in done("export", "--format", "folded", "-r", resource, path).splitlines():
		frames, hits = line.rsplit(" ", 1)
		for name in set(frames.split(";")) - {"[no stack]"}:
			sums[name] = sums.get(name, 0) + int(hits) * figures.interval
	return sums


def from_pprof(path, resource, _figures):
	profile = Pprof(done("export", "--format", "pprof", path, text=False))
	return profile.inclusive([name for name, _ in profile.types].index(resource))


def from_firefox(path, _resource, figures):
	return {name: weight for name, weight in Firefox(done("export", "--format", "firefox", path, text=False)).inclusive(figures.title, figures.unit).items() if name != "[no stack]"}


def from_speedscope(path, _resource, figures):
	document, sums = json.loads(done("export", "--format", "speedscope", path)), {}
	for profile in document["profiles"]:
		if profile["type"] != "sampled" or profile["name"].split(": ")[0] != figures.title:
			continue
		for frames, weight in zip(profile["samples"], profile["weights"]):
			for name in {document["shared"]["frames"][frame]["name"] for frame in frames}:
				sums[name] = sums.get(name, 0) + weight
	return sums


def from_callgrind(path, resource, _figures):
	found = Callgrind(done("export", "--format", "callgrind", path))
	index = found.events.index(re.sub(r"\W", "_", resource))
	return {name: costs[index] for name, costs in found.inclusive.items() if costs[index] and not re.search(r"'\d+$", name)}


def from_chrome(path, resource, _figures):
	document, sums = json.loads(done("export", "--format", "chrome", "-r", resource, path)), {}
	for event in document["traceEvents"]:
		for name in set(stack(document, event)) if event["ph"] == "i" else ():
			sums[name] = sums.get(name, 0) + event["args"]["amount"]
	return sums


def from_otlp(path, resource, _figures):
	return Otlp(done("export", "--format", "otlp", path, text=False)).inclusive(resource)


READERS = {"folded": from_folded, "pprof": from_pprof, "firefox": from_firefox, "speedscope": from_speedscope, "callgrind": from_callgrind,
	"chrome": from_chrome, "otlp": from_otlp}


@pytest.mark.parametrize("name", ["sqlite3", "tenants", "trace"])
@pytest.mark.parametrize("format_name", FORMATS)
def test_figures_agree(recorded, name, format_name):
	if name not in recorded:
		pytest.skip("sqlite3 is not installed")
	reported = figures_of_report(recorded[name])
	assert sum(bool(figures.functions) for figures in reported.values()) >= {"sqlite3": 4, "tenants": 2, "trace": 2}[name]
	for resource, figures in reported.items():
		expected, found = figures.functions, READERS[format_name](recorded[name], resource, figures)
		# folded merges functions that reports distinguish by module or file ("parse@liba.so"); "memcpy@plt" is a bare name.
		if format_name == "folded":
			bare = {}
			for function, amount in expected.items():
				bare.setdefault(function if function in found else function.split("@")[0], []).append(amount)
			expected = {function: amounts[0] for function, amounts in bare.items() if len(amounts) == 1}
			found = {function: found.get(function) for function in expected}
		assert found == expected, resource


def test_labels_and_threads_of_a_program_in_c_plus_plus(recorded):
	"""The work of each tenant, by the formats that keep labels; and of each thread."""
	path = recorded["tenants"]
	sums = {}
	for tenant in ("acme", "globex", "initech"):
		result = valid_json(done("report", "--functions", "-r", "alloc-bytes", "--label", f"tenant={tenant}", *ALL, path))["results"][0]
		sums[tenant] = result["total_hits"] * result.get("interval", 1)
	assert all(sums.values())
	found = {"pprof": {}, "otlp": {}, "chrome": {}}
	profile = Pprof(done("export", "--format", "pprof", "-r", "alloc-bytes", path, text=False))
	for _, values, labels in profile.samples:
		found["pprof"][labels.get("tenant")] = found["pprof"].get(labels.get("tenant"), 0) + values[0]
	for name, _, _, _, values, _, attributes in Otlp(done("export", "--format", "otlp", path, text=False)).samples:
		if name == "alloc-bytes":
			found["otlp"][attributes.get("tenant")] = found["otlp"].get(attributes.get("tenant"), 0) + sum(values)
	for event in json.loads(done("export", "--format", "chrome", "-r", "alloc-bytes", path))["traceEvents"]:
		if event["ph"] == "i":
			tenant = event["args"].get("labels", {}).get("tenant")
			found["chrome"][tenant] = found["chrome"].get(tenant, 0) + event["args"]["amount"]
	for name, amounts in found.items():
		assert {tenant: amounts.get(tenant) for tenant in sums} == sums, name


def test_calls_of_the_trace(recorded):
	"""As many calls and the same times in each format that has them."""
	path = recorded["trace"]
	calls = sum(line.kind == "enter" for line in event_lines(path))
	chrome = json.loads(done("export", "--format", "chrome", path))
	assert sum(event["ph"] == "B" for event in chrome["traceEvents"]) == calls
	speedscope = json.loads(done("export", "--format", "speedscope", path))
	assert sum(event["type"] == "O" for profile in speedscope["profiles"] for event in profile.get("events", ())) == calls
	assert Firefox(done("export", "--format", "firefox", path, text=False)).inclusive("Trace") == inclusive_times(path)
