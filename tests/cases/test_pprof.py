"""pprof profiles: an independent decoder and Go's own tool find the figures of `report`."""
import re
import subprocess

import pytest
from cli_support import done, run
from json_support import valid_json
from pprof_support import Pprof

SAMPLED = ["whole", "server", "forms", "recursion"]
ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]
UNITS = {"ns": "ns", "byte": "B"} # what Go's tool calls them


def exported(profiles, name, *words):
	return Pprof(done("export", "--format", "pprof", *words, f"{name}.data", directory=profiles, text=False))


def results(profiles, name, *words):
	return valid_json(done("report", *ALL, *words, f"{name}.data", directory=profiles))["results"]


@pytest.mark.parametrize("name", SAMPLED)
def test_totals_and_functions_are_those_of_report(profiles, name):
	profile = exported(profiles, name)
	reports = results(profiles, name, "--functions")
	assert [kind for kind, _ in profile.types] == [result["resource"] for result in reports]
	for index, result in enumerate(reports):
		interval = result.get("interval", 1)
		assert profile.totals()[index] == result["total_hits"] * interval
		assert profile.inclusive(index) == {entry["path"][0]: entry["hits"] * interval for entry in result["entries"] if entry["hits"]}
	units = dict(profile.types)
	assert units.get("cpu", "nanoseconds") == "nanoseconds"


def test_lines_inlined_functions_and_modules(profiles):
	profile = exported(profiles, "whole", "-r", "cpu")
	assert any(len(lines) > 1 for lines in profile.locations.values()), "no location has inlined functions"
	assert any(line > 0 and file for lines in profile.locations.values() for _, file, line in lines)
	info = valid_json(done("info", "--format", "json", "whole.data", directory=profiles))
	known = {(module["path"], module["build_id"]) for module in info["modules"]}
	assert profile.mappings and set(profile.mappings.values()) <= known
	assert profile.comments == ["./demo 'two words'"]


def test_threads_and_labels(profiles):
	"""Each sample has its process and thread; the values of a thread add up to what report counts for it."""
	profile = exported(profiles, "server", "-r", "page-faults")
	for option, label, field in (("--threads", "tid", "tid"), ("--processes", "pid", "pid")):
		first = results(profiles, "server", option, "-r", "page-faults")[0]
		found = {}
		for _, values, labels in profile.samples:
			found[labels.get(label)] = found.get(labels.get(label), 0) + values[0]
		assert found == {entry[field]: entry["hits"] * first["interval"] for entry in first["entries"]}


def test_selection(profiles):
	whole = exported(profiles, "server", "-r", "page-faults")
	tids = sorted({labels["tid"] for _, _, labels in whole.samples if "tid" in labels})
	parts = [exported(profiles, "server", "-r", "page-faults", "--thread", f"{tid}") for tid in tids]
	assert len(tids) > 1
	for tid, part in zip(tids, parts):
		assert {labels["tid"] for _, _, labels in part.samples} == {tid}
	assert sum(part.totals()[0] for part in parts) <= whole.totals()[0]
	early, late = (exported(profiles, "server", "-r", "page-faults", *words) for words in (["--to", "0.002"], ["--from", "0.002"]))
	assert early.totals()[0] + late.totals()[0] == whole.totals()[0]
	refused = run("export", "--format", "events", "--label", "a=b", "server.data", directory=profiles)
	assert refused.returncode == 2 and "--label cannot be combined with --format events" in refused.stderr


@pytest.mark.needs("go")
@pytest.mark.parametrize("name", SAMPLED)
def test_go_shows_the_same_figures(profiles, name, tmp_path):
	path = tmp_path / "run.pb.gz"
	done("export", "--format", "pprof", "-o", path, f"{name}.data", directory=profiles)
	for result in results(profiles, name, "--functions"):
		shown = subprocess.run(["go", "tool", "pprof", "-top", "-cum", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", f"-unit={UNITS.get(result['unit'], result['unit'])}",
			f"-sample_index={result['resource']}", path], capture_output=True, text=True, check=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
		rows = re.findall(r"^ *(\S+) +\S+% +\S+% +(\S+) +\S+%  (.*)$", shown.stdout, re.MULTILINE)
		number = lambda text: int(re.match(r"-?\d+", text).group())
		found = {re.sub(r" \((partial-)?inline\)$", "", name): number(total) for _, total, name in rows}
		interval = result.get("interval", 1)
		for entry in result["entries"][:20]:
			assert found[entry["path"][0]] == entry["hits"] * interval, (entry, shown.stdout)


def test_strings_are_utf8(folded_bytes):
	"""proto3 demands it: the decoder, as others do, refuses any other bytes. A name may have any, and a name of a thread may be cut."""
	assert set(exported(folded_bytes, "bytes").inclusive(0)) == {"main", "f\ufffd\ufffdg", "\u00fc\ufffd"}


def test_a_binary_format_is_not_for_a_terminal(profiles):
	assert "pprof" in done("export", "--help")
	profile = exported(profiles, "recursion")
	assert profile.samples
