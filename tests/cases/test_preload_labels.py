"""Labels that a program sets appear in the reports with the shares that tests/programs/labels.c states."""
import json
import re
import subprocess

import pytest
from measuring import near
from record_support import BUILD, REPOSITORY, bpf_refusal, build, needs_bpf, record, record_well, run_cpprof, tolerance, truths

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
		near(entries[value], fraction, tolerance(fraction, table["total_hits"]), (label, entries))
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


# --- backends that do not record labels ---

def test_backend_is_chosen_for_labels(tmp_path):
	"""Without --backend, a program that labels its work is recorded by the backend that records labels."""
	recorded = record(tmp_path, [labelled(), "50"])
	assert recorded.status == 0 and "warning" not in recorded.err, recorded.err
	assert ", by preload" in recorded.err, recorded.err
	if bpf_refusal() is None:
		assert "not by bpf: the program sets labels" in recorded.err, recorded.err
	entries = [entry["labels"] for entry in report(recorded.path, "--by-label")[0]["entries"]]
	assert any("tenant" in labels for labels in entries), entries


@needs_bpf
@pytest.mark.parametrize("words", [["--backend", "bpf"], ["-r", "syscalls"], ["--no-children"]], ids=lambda words: words[0])
def test_warning_before_the_run(tmp_path, words):
	"""Where another backend is required, the warning comes before the program's own output."""
	text = run_cpprof("record", *words, "-o", tmp_path / "out.data", "--", labelled(), "50",
		capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
	warning, output = text.find("sets labels, which the bpf backend does not record (--backend preload does)"), text.find("share ")
	assert 0 <= warning < output, text
	assert "; labels are not recorded by bpf" in text, text


@needs_bpf
def test_labels_of_a_child(tmp_path):
	"""The command is a shell: which programs it starts is known at the end only."""
	recorded = record(tmp_path, ["sh", "-c", f"{labelled()} 50; :"], "--backend", "bpf")
	assert "warning" not in recorded.err and "; labels are not recorded by bpf" in recorded.err, recorded.err


@needs_bpf
def test_labels_of_a_running_process(tmp_path):
	with subprocess.Popen([labelled(), "2000"], stdout=subprocess.DEVNULL) as target:
		result = run_cpprof("record", "-p", target.pid, "--duration", "0.1", "-o", tmp_path / "out.data")
		target.kill()
	assert f"process {target.pid} sets labels, which the bpf backend does not record" in result.stderr, result.stderr


@needs_bpf
@pytest.mark.parametrize("linkage", ["pie", "static"])
def test_other_programs_set_no_labels(tmp_path, linkage):
	recorded = record(tmp_path, [build("forms.c", linkage=linkage), "2"])
	assert "by bpf" in recorded.err and "label" not in recorded.err, recorded.err


@needs_bpf
def test_static_program_with_labels(tmp_path):
	program = build("labels.c", f"-I{REPOSITORY}/include", str(LIBRARY.with_suffix(".a")), linkage="static")
	recorded = record(tmp_path, [program, "50"])
	assert recorded.status == 0 and "sets labels, which the bpf backend does not record" in recorded.err, recorded.err
