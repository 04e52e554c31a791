"""diff: which resources, functions and paths of two profiles it compares."""
import csv
import io
import json

from cli_support import check_failure, done, run


def changes(*words, directory):
	"""path -> (fraction in A, fraction in B, marked), of the one section that is printed."""
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
	"""main of one profile is main@pack of the other, which ran more programs."""
	section, rows = changes("--down", "main", "-r", "cpu", "program.data", "programs.data", directory=profiles)
	assert rows == {
		("main@pack",): (1, 0.4, True), ("main@pack", "parse@pack"): (0.75, 0.3, True),
		("main@sort",): (0, 0.6, True), ("main@sort", "parse@sort"): (0, 0.5, True),
		("main@sort", "finish;all@sort"): (0, 0.1, True)}
	assert (section["a"]["total_hits"], section["b"]["total_hits"]) == (80, 200)
	assert (section["a"]["samples"], section["b"]["interval"]) == (80, 1000000)
	row = next(row for row in section["entries"] if row["path"] == ["main@sort"])
	assert (row["gticks_a"], row["gticks_b"]) == (0, 120000000)
	_, back = changes("--functions", "-r", "cpu", "programs.data", "program.data", directory=profiles)
	assert back[("parse@pack",)] == (0.3, 0.75, True)


def test_diff_takes_labels_by_callsite_and_line(profiles):
	for by in ("callsite", "line", "module"):
		_, rows = changes("--functions", "-r", "cpu", "--by", by, "program.data", "programs.data", directory=profiles)
		assert rows[("main@pack",) if by != "module" else ("pack",)] == (1, 0.4, True)


def test_diff_of_several_programs(profiles):
	"""The paths below main are compared without being asked for, also if main is several functions."""
	text = done("diff", "programs.data", "programs.data", "-r", "cpu", directory=profiles)
	assert "+0.0000 (0.6000 0.6000) 0 ns main@sort" in text and "*" not in text.split("-----")[-1]


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
	"""parse is one function where page faults are counted, and several for cpu time."""
	for words in (("-r", "page-faults", "-r", "cpu"), ()):
		result = run("diff", *words, "--up", "parse", "--format", "json", "programs.data", "programs.data", directory=profiles)
		check_failure(result, "'parse' fits 2 functions")
		assert result.stdout == ""
