"""The forms program of the 1993 paper (its Figure 1): reports have exactly the figures that the paper prints. Shares of CPU time agree with
them, with each backend."""
import re
from collections import Counter

import pytest
from measuring import between
from measuring import near
from record_support import BACKENDS, build, build_counted, check_truths, hits, needs_bpf, record_counted, record_well, run_cpprof, show, tolerance

MEASURED = pytest.mark.measured("shares of CPU time, sampled by a clock")

FUNCTIONS = {
	"main": 614, "db_read_record": 614, "db_get_property": 530, "address_information": 422, "invoice": 107,
	"form_US_1040": 106, "envelope": 106, "loan_application": 106, "form_NJ_1040": 105, "db_update_record": 84,
}
UPWARD = {
	"db_read_record": 614,
	"db_get_property db_read_record": 530,
	"address_information db_get_property db_read_record": 422,
	"envelope address_information db_get_property db_read_record": 85,
	"invoice address_information db_get_property db_read_record": 85,
	"loan_application address_information db_get_property db_read_record": 84,
	"form_US_1040 address_information db_get_property db_read_record": 84,
	"form_NJ_1040 address_information db_get_property db_read_record": 84,
	"db_update_record db_read_record": 84,
}
TREE = {form: (by_address + directly, by_address, directly) for form, by_address, directly in [
	("invoice", 85, 22), ("loan_application", 84, 22), ("envelope", 85, 21), ("form_US_1040", 84, 22),
	("form_NJ_1040", 84, 21)]}
SAMPLES = 614
EACH = 4 # events for each sample of the paper


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
	return record_counted("preload", tmp_path_factory.mktemp("forms"), [build_counted("preload", "forms.c"), "1"])


def report(recorded, *options):
	result = run_cpprof("report", *options, "--threshold", 0, "--limit", 0, recorded.path)
	assert result.returncode == 0, result.stderr
	assert f"{EACH * SAMPLES} samples" in result.stdout
	return result.stdout


def check(figures, printed):
	"""Checks {name: (fraction, hits)} as printed against the paper's samples."""
	for name, count in figures.items():
		assert printed.get(name) == (f"{count / SAMPLES:.4f}", str(EACH * count)), f"{name}: {printed.get(name)}, not {count}"


def test_function_profile(forms):
	lines = re.findall(r"^([\d.]+) ±[\d.]+ (\S+) \[(\d+)\]$", report(forms, "--functions"), re.MULTILINE)
	check(FUNCTIONS, {name: (fraction, count) for fraction, name, count in lines})


def test_upward_profile(forms):
	lines = re.findall(r"^([\d.]+) ±[\d.]+ \(([^)]*)\) \[(\d+)\]$", report(forms, "--up", "db_read_record"), re.MULTILINE)
	check(UPWARD, {path: (fraction, count) for fraction, path, count in lines})


def test_sample_tree_profile(forms):
	"""The lines are `frame (fraction ...) [hits]`, indented by depth, ordered by weight."""
	path, printed, indents = [], {}, []
	for indent, name, fraction, count in re.findall(r"^( *)([A-Za-z_]\w*) \(([\d.]+)[^)]*\) \[(\d+)\]$", report(forms, "--tree"), re.MULTILINE):
		while indents and indents[-1] >= len(indent):
			indents.pop()
			path.pop()
		indents.append(len(indent))
		path.append(name)
		printed[" ".join(path)] = fraction, count
	figures = {"main": SAMPLES, "main db_update_record": 84, "main db_update_record db_read_record": 84}
	for form, (whole, by_address, directly) in TREE.items():
		figures[f"main {form}"] = whole
		figures[f"main {form} address_information"] = by_address
		figures[f"main {form} address_information db_get_property db_read_record"] = by_address
		figures[f"main {form} db_get_property db_read_record"] = directly
	check(figures, printed)


def test_four_call_sites(forms):
	"""address_information calls db_get_property from four lines, a quarter each; the paper's profiler could not show this. The
	five forms call address_information from a line each, so that each of the four call sites appears below five labels of the
	root."""
	text = report(forms, "--down", "address_information", "--by", "callsite")
	quarters, roots = Counter(), set()
	for path, count in re.findall(r"^[\d.]+ ±[\d.]+ \((.*)\) \[(\d+)\]$", text, re.MULTILINE):
		root, *below = path.split()
		roots.add(root)
		if len(below) == 1 and below[0].startswith("db_get_property@"):
			quarters[below[0]] += int(count)
	assert len(roots) == 5 and all(root.startswith("address_information@") for root in roots), text
	assert list(quarters.values()) == [EACH * 422 // 4] * 4, text


# --- shares of CPU time ---

@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
def test_shares(tmp_path, backend):
	check_truths(record_well(tmp_path, [build("forms.c"), "80"], "--backend", backend, "-r", "cpu/250us"))


@MEASURED
@needs_bpf
def test_high_rate(tmp_path):
	check_truths(record_well(tmp_path, [build("mixture.c"), "60"], "--backend", "bpf", "-F", "10000"))


@MEASURED
@needs_bpf
def test_burst_of_short_threads(tmp_path):
	"""Threads that run shorter than the interval are sampled in proportion: a new thread does not start a new interval."""
	recorded = record_well(tmp_path, [build("threads.c"), "1000", "400"], "--backend", "bpf", "-r", "cpu/250us")
	paths = recorded.paths()
	short, long = hits(paths, "worker", "short_work"), hits(paths, "worker", "long_work")
	between(short + long, 0.3 / 0.00025, None, recorded.err)
	# Each burn() reads the clock once more than it needs, which costs 100 us of work as much as 300 us.
	near(short / (short + long), 0.25, tolerance(0.25, short + long) + 0.05, show(paths))
	assert "not sampled" not in recorded.err
