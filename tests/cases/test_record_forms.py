"""The forms program of the 1993 paper (its Figure 1): the measured profiles agree with the figures that the paper prints."""
import re
from collections import Counter

import pytest
from record_support import build, needs_perf, record_well, run_cpprof, tolerance, truths, agrees

pytestmark = [needs_perf]

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


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
	return record_well(tmp_path_factory.mktemp("forms"), [build("forms.c")])


def report(recorded, *options):
	result = run_cpprof("report", *options, "--threshold", 0, "--limit", 0, recorded.path)
	assert result.returncode == 0, result.stderr
	return result.stdout


def check(figures, printed, samples):
	for name, count in figures.items():
		assert name in printed, f"{name} is not in {sorted(printed)}"
		expected = count / SAMPLES
		assert abs(printed[name] - expected) <= tolerance(expected, samples), name


def samples_of(text):
	return int(re.search(r"^(\d+) samples", text, re.MULTILINE).group(1))


def test_shares(forms):
	paths = forms.paths()
	for names, fraction in truths(forms.out):
		agrees(paths, names, fraction, ["db_read_record"])


def test_function_profile(forms):
	text = report(forms, "--functions")
	lines = re.findall(r"^([\d.]+) ±[\d.]+ (\S+) \[\d+\]$", text, re.MULTILINE)
	printed = {name: float(fraction) for fraction, name in lines}
	check(FUNCTIONS, printed, samples_of(text))


def test_upward_profile(forms):
	text = report(forms, "--up", "db_read_record")
	lines = re.findall(r"^([\d.]+) ±[\d.]+ \(([^)]*)\) \[\d+\]$", text, re.MULTILINE)
	printed = {path: float(fraction) for fraction, path in lines}
	check(UPWARD, printed, samples_of(text))


def test_sample_tree_profile(forms):
	"""The lines are `frame (fraction ...) [hits]`, indented by depth, ordered by weight."""
	text = report(forms, "--tree")
	samples = samples_of(text)
	path, printed, indents = [], {}, []
	for indent, name, fraction in re.findall(r"^( *)([A-Za-z_]\w*) \(([\d.]+)[^)]*\) \[\d+\]$", text, re.MULTILINE):
		while indents and indents[-1] >= len(indent):
			indents.pop()
			path.pop()
		indents.append(len(indent))
		path.append(name)
		printed[" ".join(path)] = float(fraction)
	figures = {"main": SAMPLES, "main db_update_record": 84, "main db_update_record db_read_record": 84}
	for form, (whole, by_address, directly) in TREE.items():
		figures[f"main {form}"] = whole
		figures[f"main {form} address_information"] = by_address
		figures[f"main {form} address_information db_get_property db_read_record"] = by_address
		figures[f"main {form} db_get_property db_read_record"] = directly
	check(figures, printed, samples)


def test_four_call_sites(forms):
	"""address_information calls db_get_property from four lines, a quarter each; the paper's profiler could not show this. The
	five forms call address_information from a line each, so that each of the four call sites appears below five labels of the
	root."""
	text = report(forms, "--down", "address_information", "--by", "callsite")
	lines = re.findall(r"^([\d.]+) ±[\d.]+ \((.*)\) \[\d+\]$", text, re.MULTILINE)
	quarters, roots = Counter(), set()
	for fraction, path in lines:
		root, *below = path.split()
		roots.add(root)
		if len(below) == 1 and below[0].startswith("db_get_property@"):
			quarters[below[0]] += float(fraction)
	assert len(roots) == 5 and all(root.startswith("address_information@") for root in roots), text
	assert len(quarters) == 4, text
	expected = 422 / SAMPLES / 4
	assert all(abs(quarter - expected) <= tolerance(expected, samples_of(text)) for quarter in quarters.values()), text
