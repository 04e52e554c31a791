"""Compares each option with Debian's gprof: the same text, and so the same figures. Programs are compiled with -pg in the usual
ways. gmon.out files come from the C library's runtime, or are made up with hundreds of functions in cycles."""
import re
import shutil

import pytest
from gprof_support import Gmon, expect_same, made_up, our_gprof, program, real_gprof, run_of, symbols, text_range


BUILDS = {
	"gcc": {},
	"gcc-no-pie": {"flags": ["-no-pie"]},
	"gcc-O2": {"level": "-O2", "flags": ["-fno-inline"]},
	"gcc-static": {"flags": ["-static"]},
	"clang": {"compiler": "clang"},
	"clang-O1-no-pie": {"compiler": "clang", "level": "-O1", "flags": ["-no-pie", "-fno-inline"]},
}


def built(name, build):
	options = dict(BUILDS[build])
	return program(name, *options.pop("flags", []), **options)


@pytest.fixture(name="many")
def many_fixture(tmp_path):
	"""A program of some hundred functions, and a file with calls between all of them."""
	path = program("many")
	return path, made_up(path, seed=1).write(tmp_path / "many.gmon")


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", ["expressions", "shapes"])
def test_runs_of_the_c_library(name, build):
	path = built(name, build)
	gmon = run_of(path)
	for options in [["-b"], ["-b", "-p"], ["-b", "-q"], ["-b", "-p", "-z"], ["-b", "-q", "-z"], ["-b", "-a"], ["-b", "-T"],
			["-b", "--no-demangle"], ["-b", "-p", "--inline-file-names"],
			["-b", "-q", "--inline-file-names", "-L"]]:
		expect_same(*options, path, gmon)


@pytest.mark.parametrize("seed", range(12))
def test_made_up_calls(tmp_path, seed):
	"""Numbers of calls from none to so many that nearly all functions are in one cycle."""
	path = program("many")
	arcs = [0, 1, 20, 60, 120, 200, 300, 400, 600, 1000, 2000, 5000][seed]
	gmon = made_up(path, seed, arcs=arcs, samples=[0, 5, 500, 30000][seed % 4], bin_bytes=[1, 2, 4, 8, 64][seed % 5])
	gmon.write(tmp_path / "gmon.out")
	expect_same("-b", path, tmp_path / "gmon.out")
	expect_same("-b", "-z", "-T", path, tmp_path / "gmon.out")


OPTIONS = {
	"flat-one": ["-pf100"],
	"flat-several": ["-pf100", "-pf101", "-p_s113"],
	"not-flat-one": ["-Pf100"],
	"not-flat": ["-P"],
	"flat-and-not": ["-pf100", "-Pf100"],
	"graph-one": ["-qf120"],
	"graph-several": ["-qf120", "-qf121"],
	"graph-to": ["-qf120/f121"],
	"graph-from": ["-qf120/"],
	"not-graph-one": ["-Qf120"],
	"not-graph": ["-Q"],
	"not-flat-nor-graph": ["-P", "-Q"],
	"f": ["-f", "f120"],
	"F": ["-F", "f120"],
	"e": ["-e", "f120"],
	"E": ["-E", "f120"],
	"f-F": ["-f", "f120", "-F", "f121"],
	"e-E": ["-e", "f120", "-E", "f121"],
	"F-E": ["-F", "f120", "-E", "f120"],
	"time": ["-nf120"],
	"time-several": ["-nf120", "-nf130", "-nf140"],
	"not-time": ["-Nf120"],
	"not-time-several": ["-Nf120", "-Nf121", "-N_s123"],
	"cut": ["-k", "f120/f121"],
	"cut-many": ["-k", "f120/f121", "-k", "f122/f124", "-k", "main/f100"],
	"no-static": ["-a"],
	"functions-only": ["-D"],
	"unused": ["-z"],
	"unused-flat": ["-z", "-p"],
	"traditional": ["-T"],
	"traditional-flat": ["-T", "-p"],
	"traditional-static": ["-T", "-a", "-q"],
	"width": ["-w", "40", "-q"],
	"wide": ["-w", "200", "-q"],
	"counts": ["-C"],
	"counts-one": ["-Cf120"],
	"counts-not-one": ["-Zf120"],
	"not-counts": ["-Z"],
	"counts-unused": ["-C", "-z"],
	"counts-and-flat": ["-C", "-p"],
	"source": ["-A"],
	"source-one": ["-Af120"],
	"source-not-one": ["-Jf120"],
	"not-source": ["-J"],
	"source-all-lines": ["-A", "-x"],
	"source-table": ["-A", "-t", "3"],
	"source-long-table": ["-A", "-t", "1000"],
	"source-no-table": ["-A", "-t", "0"],
	"source-and-all": ["-A", "-C", "-p", "-q"],
	"file": ["-pmany.c"],
	"file-function": ["-pmany.c:f120"],
	"file-line": ["-Cmany.c:22"],
	"line": ["-C22"],
	"inline-names": ["--inline-file-names"],
	"inline-paths": ["--inline-file-names", "-L"],
	"long-names": ["--flat-profile=f100", "--graph=f100", "--no-time=f101", "--no-static"],
	"info": ["-i"],
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(many, name):
	path, gmon = many
	expect_same("-b", *OPTIONS[name], path, gmon)


def test_names_that_fit_nothing(many):
	path, gmon = many
	for option in ["-pnosuch", "-qnosuch", "-Pnosuch", "-nnosuch", "-Cnosuch", "-Anosuch"]:
		expect_same("-b", option, path, gmon)


def test_figures_of_runs(tmp_path):
	"""Compares rows by their columns instead of the text; a row may have an additional column for the statistical error."""
	path = program("many")
	gmon = made_up(path, 3).write(tmp_path / "gmon.out")
	row = re.compile(r"^ *([\d.]+) +([\d.]+) +([\d.]+)(?: +\S+%?)?? +(\d+) +([\d.]+) +([\d.]+) +(\S+)$", re.MULTILINE)
	expected = row.findall(real_gprof("-b", "-p", path, gmon))
	assert len(expected) > 50
	assert row.findall(our_gprof("-b", "-p", path, gmon)) == expected


def test_several_files_are_added_up(tmp_path):
	path = program("many")
	files = [made_up(path, seed).write(tmp_path / f"gmon.{seed}") for seed in range(4)]
	expect_same("-b", path, *files)
	expect_same("-b", "-i", path, *files)


def test_sums_are_read_by_either(tmp_path):
	path = program("many")
	files = [made_up(path, seed).write(tmp_path / f"gmon.{seed}") for seed in range(4)]
	for folder, tool in [("real", real_gprof), ("ours", our_gprof)]:
		(tmp_path / folder).mkdir()
		tool("-s", path, *files, cwd=tmp_path / folder)
		assert (tmp_path / folder / "gmon.sum").stat().st_size > 0
	# Entries with equal figures are in the order of the records, which differs in a sum.
	expected = sorted(real_gprof("-b", "-p", path, *files).splitlines())
	for folder in ["real", "ours"]:
		text = expect_same("-b", path, tmp_path / folder / "gmon.sum")
		assert sorted(text[:text.index("Call graph")].splitlines())[-len(expected) + 10:] == expected[-len(expected) + 10:]


def test_default_names(tmp_path):
	"""The default files are a.out and gmon.out in the current folder."""
	path = program("expressions")
	shutil.copy(path, tmp_path / "a.out")
	shutil.copy(run_of(path), tmp_path / "gmon.out")
	expect_same("-b", cwd=tmp_path)
	expect_same("-b", "a.out", cwd=tmp_path)


def test_arcs_from_nowhere_and_into_the_middle(tmp_path):
	path = program("many")
	low, high = text_range(path)
	names = symbols(path)
	arcs = [(0, names["f100"], 5), (low - 4096, names["f101"], 6), (high + 4096, names["f102"], 7), (names["f104"] + 9, names["f105"] + 3, 8),
		(names["main"] + 20, high + 64, 9), (names["main"] + 20, names["f100"], 4)]
	gmon = Gmon([(low, high, [1] * (high - low))], arcs).write(tmp_path / "gmon.out")
	expect_same("-b", path, gmon)


def test_histograms_of_part_of_the_program(tmp_path):
	"""Two histograms with a gap between them, one of which begins inside a function."""
	path = program("many")
	low, high = text_range(path)
	middle = symbols(path)["f150"] + 5
	middle -= (middle - low) % 4
	gmon = Gmon([(low + 64, low + 264, [3] * 50), (middle, middle + 400, [2] * 100)], [(symbols(path)["main"] + 20, symbols(path)["f150"], 3)])
	gmon.write(tmp_path / "gmon.out")
	expect_same("-b", path, tmp_path / "gmon.out")


def test_sources_to_files(tmp_path):
	path = program("expressions")
	gmon = run_of(path)
	written = {}
	for tool in [real_gprof, our_gprof]:
		folder = tmp_path / tool.__name__
		folder.mkdir()
		assert tool("-b", "-A", "-y", path, gmon, cwd=folder) == ""
		written[tool] = {copy.name: copy.read_text() for copy in folder.iterdir()}
	assert sorted(written[our_gprof]) == ["expressions.c-ann", "other.c-ann", "shared.h-ann"]
	assert written[our_gprof] == written[real_gprof]


def test_order_of_options(many):
	"""Options of one kind add up in any order, and options may follow the files."""
	path, gmon = many
	for words in [[path, gmon, "-b", "-p"], ["-p", path, "-b", gmon], ["-bpz", path, gmon], ["-q", "-p", "-b", path, gmon],
			["-P", "-p", "-b", path, gmon], ["-p", "-P", "-b", path, gmon], ["-b", "-Qf100", "-qf101", path, gmon],
			["-b", "-Ff120", "-k", "f120/f121", "-a", path, gmon], ["-b", "-e", "f120", "-e", "f121", "-f", "f122", path, gmon],
			["-b", "-E", "f120", "-E", "f130", path, gmon], ["-b", "-F", "f120", "-F", "f130", "-F", "main", path, gmon],
			["-b", "-nf120", "-Nf121", path, gmon], ["-b", "-pf100", "-qf120", "-z", path, gmon]]:
		expect_same(*words)


def unused_arcs(text):
	"""{(caller, callee)} of the call graph's lines with a count of 0, from the callees' entries."""
	arcs = set()
	for entry in re.split(r"^-{20,}$", text, flags=re.MULTILINE):
		lines = [line for line in entry.splitlines() if re.search(r"\[\d+\]$", line)]
		primary = next((i for i, line in enumerate(lines) if line.startswith("[")), None)
		if primary is None:
			continue
		callee = re.sub(r" <cycle.*| \[.*", "", lines[primary][45:].strip())
		for line in lines[:primary]:
			if re.match(r" +(?:[\d.]+ +[\d.]+ +)?0(?:/\d+)? ", line):
				arcs.add((re.sub(r" <cycle.*| \[.*", "", line[45:].strip()), callee))
	return arcs


@pytest.mark.parametrize("build", ["gcc", "clang"])
def test_calls_that_the_code_has(build):
	"""With -c ours finds the calls that gprof finds, and also the calls of functions at lower addresses than the caller. gprof
	misses these, because it treats the distance as an unsigned number."""
	path = built("expressions", build)
	theirs = unused_arcs(real_gprof("-b", "-q", "-c", "-z", path, run_of(path)))
	ours = unused_arcs(our_gprof("-b", "-q", "-c", "-z", path, run_of(path)))
	# clang places static functions behind their callers.
	assert theirs <= ours and (theirs or build == "gcc")
	assert {("unused", "other"), ("unused", "compare"), ("unused_caller", "sort")} <= ours
	places = symbols(path)
	assert all(places[callee] < places[caller] for caller, callee in ours - theirs if {caller, callee} <= set(places) and "compare" != callee)


# --- by source line ---

LINE_OPTIONS = {
	"all": ["-l"],
	"flat": ["-l", "-p"],
	"graph": ["-l", "-q"],
	"unused": ["-l", "-p", "-z"],
	"paths": ["-l", "-L"],
	"no-static": ["-l", "-a"],
	"counts": ["-l", "-C"],
	"counts-unused": ["-l", "-C", "-z"],
	"one": ["-l", "-pmain", "-qmain"],
	"source": ["-l", "-A"],
	"source-all-lines": ["-l", "-A", "-x"],
	"source-one": ["-l", "-Aexpression"],
	"traditional": ["-l", "-T"],
}


@pytest.mark.parametrize("name", LINE_OPTIONS)
def test_lines(tmp_path, name):
	for build in ["gcc", "clang"]:
		path = built("expressions", build)
		expect_same("-b", *LINE_OPTIONS[name], path, run_of(path))
		expect_same("-b", *LINE_OPTIONS[name], path, made_up(path, 5, arcs=100).write(tmp_path / "gmon.out"))


def test_counts_of_blocks(tmp_path):
	"""One block at the start of each row of the line table: gprof has all of them, one for each of its symbols."""
	path = built("expressions", "gcc-no-pie")
	gmon = made_up(path, 7, arcs=60, blocks=10000).write(tmp_path / "gmon.out")
	text = expect_same("-b", "-l", "-C", path, gmon)
	assert len(text.splitlines()) > 60
	expect_same("-b", "-l", "-C", "-z", path, gmon)
	expect_same("-b", "-i", path, gmon)


def test_lines_of_mangled_names(tmp_path):
	"""With -C, and in the tables of -A, gprof does not demangle."""
	path = built("shapes", "gcc")
	gmon = made_up(path, 9, arcs=60).write(tmp_path / "gmon.out")
	expect_same("-b", "-C", path, gmon, ours=["--no-demangle"])
	expect_same("-b", "-A", path, gmon)
	expect_same("-b", "-l", "-p", "--no-demangle", path, gmon)
