"""Labels that a program sets appear in the reports with the shares that tests/programs/labels.c states."""
import pytest
import json
import re

from record_support import BUILD, REPOSITORY, build, record_well, run_cpprof, tolerance, truths

MEASURED = pytest.mark.measured("the shares of labels are compared with elapsed time")

LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
PRELOAD = ["--backend", "preload", "-r", "cpu"]


def labelled():
	return build("labels.c", f"-I{REPOSITORY}/include", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}")


def report(path, *words):
	result = run_cpprof("report", "--format", "json", "--threshold", "0", "--limit", "0", *words, path)
	assert result.returncode == 0, result.stderr
	return json.loads(result.stdout)["results"]


@MEASURED
def test_shares(tmp_path):
	recorded = record_well(tmp_path, [labelled()], *PRELOAD)
	for ((label,), fraction) in truths(recorded.out):
		key, value = label.split("=")
		(table,) = report(recorded.path, f"--by-label={key}")
		entries = {entry["labels"].get(key): entry["fraction"] for entry in table["entries"]}
		assert abs(entries[value] - fraction) <= tolerance(fraction, table["total_hits"]), (label, entries)
	# Threads begin without labels: a label that was set before a thread started is only on samples of the main thread.
	both = report(recorded.path, "--by-label")[0]["entries"]
	assert not [entry for entry in both if "phase" in entry["labels"] and "tenant" in entry["labels"]], both
	assert {"tenant": "acme", "kind": "search"} in [entry["labels"] for entry in both]


@MEASURED
def test_each_kind_has_its_own_functions(tmp_path):
	recorded = record_well(tmp_path, [labelled()], *PRELOAD)
	sections = {part["labels"].get("kind"): part for part in report(recorded.path, "--by-label=kind", "--functions")}
	assert set(sections) == {"search", "buy", None}
	for kind, other in (("search", "buy"), ("buy", "search")):
		functions = {entry["path"][0]: entry["fraction"] for entry in sections[kind]["entries"]}
		assert functions[kind] > 0.95, functions
		assert other not in functions, functions
	unlabelled = {entry["path"][0] for entry in sections[None]["entries"]}
	assert "batch" in unlabelled and not {"search", "buy"} & unlabelled


def test_trace_shows_them(tmp_path):
	result = run_cpprof("trace", *PRELOAD, "-o", tmp_path / "out.txt", "--", labelled(), "50")
	assert result.returncode == 0, result.stderr
	lines = (tmp_path / "out.txt").read_text().splitlines()
	kinds = [re.search(r" kind=(search|buy) tenant=(acme|zeta) \(.*\b(search|buy)\b", line) for line in lines]
	found = [match for match in kinds if match]
	assert found, lines[:5]
	assert all(match[1] == match[3] for match in found)
	assert any(" phase=batch (" in line for line in lines)
