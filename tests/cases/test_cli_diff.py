"""diff: the resources, functions and paths of two profiles that it compares."""
import csv
import io
import json
import random
from collections import Counter

from cli_support import check_failure, done, run
from json_support import valid_json


def changes(*words, directory):
	"""The only section that `diff` prints, and its rows: {path: (fraction in A, fraction in B, significant)}."""
	(section,) = json.loads(done("diff", *words, "--limit", "0", "--threshold", "0", "--format", "json", directory=directory))["results"]
	rows = {tuple(row["path"]): (row["fraction_a"], row["fraction_b"], row["significant"]) for row in section["entries"]}
	assert len(rows) == len(section["entries"])
	return section, rows


def test_diff_of_a_resource_that_one_lacks(profiles):
	check_failure(run("diff", "whole.data", "forms.data", directory=profiles), "no resource in common",
		"'forms.data' has no resource 'cpu'")
	check_failure(run("diff", "-r", "cpu", "whole.data", "forms.data", directory=profiles),
		"'forms.data' has no resource 'cpu'")


def test_diff_compares_the_resources_that_both_have(profiles):
	result = run("diff", "programs.data", "program.data", directory=profiles)
	assert result.returncode == 0
	assert "some resources were not compared: 'program.data' has no resource 'calls'" in result.stderr
	assert "CPU Time" in result.stdout and "Page Faults" in result.stdout and "Calls" not in result.stdout


def test_diff_matches_functions_whatever_else_ran(profiles):
	"""diff pairs main of one profile with main@pack of the other, which recorded more programs. Its amount is the same: 80 ms."""
	section, rows = changes("--down", "main", "-r", "cpu", "program.data", "programs.data", directory=profiles)
	assert rows == {
		("main@pack",): (1, 0.4, False), ("main@pack", "parse@pack"): (0.75, 0.3, False),
		("main@sort",): (0, 0.6, True), ("main@sort", "parse@sort"): (0, 0.5, True),
		("main@sort", "finish;all@sort"): (0, 0.1, True)}
	assert (section["a"]["total_hits"], section["b"]["total_hits"]) == (80, 200)
	assert (section["a"]["samples"], section["b"]["interval"]) == (80, 1000000)
	row = next(row for row in section["entries"] if row["path"] == ["main@sort"])
	assert (row["gticks_a"], row["gticks_b"]) == (0, 120000000)
	_, back = changes("--functions", "-r", "cpu", "programs.data", "program.data", directory=profiles)
	assert back[("parse@pack",)] == (0.3, 0.75, False)


def test_diff_takes_labels_by_callsite_and_line(profiles):
	for by in ("callsite", "line", "module"):
		_, rows = changes("--functions", "-r", "cpu", "--by", by, "program.data", "programs.data", directory=profiles)
		assert rows[("main@pack",) if by != "module" else ("pack",)] == (1, 0.4, False)


def test_diff_of_several_programs(profiles):
	"""By default diff compares the paths below main, also if main is several functions."""
	text = done("diff", "programs.data", "programs.data", "-r", "cpu", directory=profiles)
	assert "  0 ns ±25.4 ms (120 ms 120 ms) (0.6000 0.6000) main@sort" in text and "*" not in text.split("-----")[-1]


def test_diff_keeps_different_paths_apart(tmp_path):
	for name, lines in (("a", "main;a b 10\nmain;a;b 10\n"), ("b", "main;a b 20\n")):
		(tmp_path / f"{name}.folded").write_text(lines)
		done("import", "--format", "folded", "-o", tmp_path / f"{name}.data", tmp_path / f"{name}.folded")
	_, rows = changes("--down", "main", "a.data", "b.data", directory=tmp_path)
	assert {path: row[:2] for path, row in rows.items()} == {
		("main",): (1, 1), ("main", "a b"): (0.5, 1), ("main", "a"): (0.5, 0), ("main", "a", "b"): (0.5, 0)}
	table = list(csv.DictReader(io.StringIO(done("diff", "--down", "main", "a.data", "b.data", "--format", "csv",
		directory=tmp_path))))
	assert {row["path"] for row in table} == {"main", "main;a b", "main;a", "main;a;b"}


def test_diff_prints_nothing_if_any_part_fails(profiles):
	"""parse is one function in page faults and two in CPU time: diff prints nothing for either if one of them fails."""
	for words in (("-r", "page-faults", "-r", "cpu"), ()):
		result = run("diff", *words, "--up", "parse", "--format", "json", "programs.data", "programs.data", directory=profiles)
		check_failure(result, "'parse' fits 2 functions")
		assert result.stdout == ""


def make_runs(folder, runs):
	"""Imports a profile for each run, {name: {function: hits}}."""
	for name, hits in runs.items():
		(folder / f"{name}.folded").write_text("".join(f"main;{function} {count}\n" for function, count in hits.items()))
		done("import", "--format", "folded", "-o", folder / f"{name}.data", folder / f"{name}.folded")


RUNS = {"a1": {"f": 1000, "g": 500, "h": 300}, "a2": {"f": 1040, "g": 480, "h": 310}, "a3": {"f": 990, "g": 520, "h": 295},
	"b1": {"f": 1010, "g": 260, "h": 305}, "b2": {"f": 1020, "g": 240, "h": 290}, "b3": {"f": 1000, "g": 250, "h": 310}}


def test_diff_of_several_recordings(tmp_path):
	make_runs(tmp_path, RUNS)
	names = ["a1.data", "a2.data", "a3.data", "--", "b1.data", "b2.data", "b3.data"]
	text = done("diff", "--down", "main", *names, directory=tmp_path)
	lines = text.splitlines()
	assert lines[1].startswith("total: 1812 samples -> 1562 samples, -13.8 % ±")
	assert [line[:4] for line in lines[2:8]] == ["A1: ", "A2: ", "A3: ", "B1: ", "B2: ", "B3: "]
	(result,) = valid_json(done("diff", "--down", "main", "--format", "json", *names, directory=tmp_path))["results"]
	assert (result["a"]["recordings"], result["b"]["recordings"]) == (3, 3)
	assert (result["a"]["total_hits"], result["b"]["total_hits"]) == (5435, 4685)
	assert abs(result["change"] - (4685 / 5435 - 1)) < 1e-5 and 0.01 < result["change_error"] < 0.05
	rows = {row["path"][-1]: row for row in result["entries"]}
	assert [row["path"][-1] for row in result["entries"]][:2] in (["main", "g"], ["g", "main"])
	assert rows["g"]["significant"] and rows["g"]["change"] == -250 and 0 < rows["g"]["error"] < 60
	assert (rows["g"]["hits_a"], rows["g"]["gticks_a"]) == (1500, 500)
	assert not rows["f"]["significant"] and not rows["h"]["significant"] and rows["f"]["error"] > abs(rows["f"]["change"])


def test_diff_of_single_recordings_states_the_spread(tmp_path):
	"""Single recordings show the error of sampling only; what runs differ by is stated, 5 % unless --spread is given, and not used for shares."""
	make_runs(tmp_path, RUNS)
	for names in (["a1.data", "b1.data"], ["a1.data", "--", "b1.data"], ["--", "a1.data", "b1.data"]):
		(result,) = valid_json(done("diff", "--down", "main", "--format", "json", *names, directory=tmp_path))["results"]
		assert result["spread"] == 0.05 and abs(result["change"] - (1575 / 1800 - 1)) < 1e-5
		assert abs(result["change_error"] - 1.959964 * 0.05 * 2**0.5 * 1575 / 1800) < 1e-6
		(g,) = [row for row in result["entries"] if row["path"] == ["main", "g"]]
		e2 = 500 * (1 - 500 / 1800) + 260 * (1 - 260 / 1575) + 0.05**2 * (500**2 + 260**2)
		assert abs(g["error"] - 1.959964 * e2**0.5) < 1e-3 and g["significant"]
	text = done("diff", "a1.data", "b1.data", directory=tmp_path)
	assert "total: 1800 samples -> 1575 samples, -12.5 % ±12.1 %\n" in text
	assert text.count("sampling and an assumed spread of 5 % between runs explain;") == text.count("format: mark change ±error") == 2
	wide = done("diff", "--spread", "20%", "a1.data", "b1.data", directory=tmp_path)
	assert "an assumed spread of 20 % between" in wide and "\n  -240 samples" in wide and "\n* -240 samples" in text
	(shares,) = valid_json(done("diff", "--shares", "--down", "main", "--format", "json", "a1.data", "b1.data", directory=tmp_path))["results"]
	assert "spread" not in shares and shares["change_error"] is None
	assert "by more than sampling explains\n" in done("diff", "--shares", "a1.data", "b1.data", directory=tmp_path)
	assert "spread of 5 % between runs" in done("diff", "--markdown", "a1.data", "b1.data", directory=tmp_path)
	for text in ("2", "x", "-1", "nan"):
		result = run("diff", f"--spread={text}", "a1.data", "b1.data", directory=tmp_path)
		assert result.returncode == 2 and f"spread '{text}' is not a fraction from 0 to 1" in result.stderr, result.stderr


def marked(folder, a, b):
	"""Returns {function: whether its change is marked} of two recordings, {function: hits} each."""
	make_runs(folder, {"a": a, "b": b})
	(result,) = json.loads(done("diff", "--functions", "--format", "json", "--limit", "0", "--threshold", "0", "a.data", "b.data",
		directory=folder))["results"]
	return {row["path"][0]: row["significant"] for row in result["entries"]}


def test_a_new_function_is_marked_and_equal_amounts_are_not(tmp_path):
	"""Other functions grow, so the shares of the equal amounts become smaller. Their amounts are compared."""
	assert marked(tmp_path, {"same": 87, "grown": 122}, {"same": 88, "grown": 211, "new": 89}) == {
		"main": True, "new": True, "grown": True, "same": False}
	assert marked(tmp_path, {"same": 300, "little": 95, "grown": 200}, {"same": 310, "little": 99, "grown": 836}) == {
		"main": True, "grown": True, "same": False, "little": False}


def test_few_samples_of_a_faster_program_are_marked(tmp_path):
	"""From 280 samples to 4: their shares say nothing, their amounts everything."""
	assert marked(tmp_path, {"strlen": 258, "format": 22}, {"format": 4}) == {"main": True, "strlen": True, "format": True}
	assert marked(tmp_path, {"f": 6}, {"f": 1}) == {"main": False, "f": False}


def test_diff_of_one_recording_with_several(tmp_path):
	make_runs(tmp_path, RUNS)
	text = done("diff", "--functions", "a1.data", "--", "b1.data", "b2.data", "b3.data", directory=tmp_path)
	assert "total: 1800 samples -> 1562 samples, -13.2 % ±" in text


def test_diff_needs_to_know_the_sides(tmp_path):
	make_runs(tmp_path, RUNS)
	result = run("diff", "a1.data", "a2.data", "b1.data", directory=tmp_path)
	assert result.returncode == 2 and "(cpprof diff A1 A2 -- B1 B2)" in result.stderr
	check_failure(run("diff", "a1.data", "a2.data", "--", "none.data", directory=tmp_path), "none.data")


def test_equal_runs_have_no_marks(tmp_path):
	"""Rows that differ by sampling alone: of 200 tests, one in twenty has p < 0.05, but no mark may stay."""
	rng = random.Random(4)
	def shares():
		drawn = Counter(rng.choices(range(100), k=20_000))
		return {f"f{index}": drawn[index] for index in range(100)}
	make_runs(tmp_path, {"a": shares(), "b": shares()})
	results = json.loads(done("diff", "--limit", "0", "--threshold", "0", "--spread", "0", "--format", "json", "a.data", "b.data",
		directory=tmp_path))["results"]
	rows = [row for result in results for row in result["entries"]]
	assert any(row["p"] < 0.05 for row in rows) and not any(row["significant"] for row in rows)
