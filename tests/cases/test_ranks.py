"""Ranks of parallel jobs: the names and the labels of their recordings, and `report --ranks`."""
import csv
import itertools
import json
import os
import random
import re
import subprocess

import pytest
from cli_support import BUILD, CPPROF, REPOSITORY, check_failure, done, run
from record_support import BACKENDS, COUNTED, build_counted
from terminal_support import on_terminal

VARIABLES = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"]
ALL = ("--limit", 0, "--threshold", 0)
SOLVERS = ["main;solve;sweep 100\nmain;solve;exchange 20\nmain;init 5\n", "main;solve;sweep 40\nmain;solve;exchange 80\nmain;init 5\n",
	"main;solve;sweep 40\nmain;solve;exchange 80\n"]
# path: sum, min, mean, max, rank of the max, imbalance, (max - mean) / max * 3 / 2; the order is that of max - mean: 40, 20, 5/3, 5/3, 0
EXPECTED = {
	"main;solve;sweep": (180, 40, 60, 100, 0, 2 / 3, 0.6),
	"main;solve;exchange": (180, 20, 60, 80, 1, 1 / 3, 0.375),
	"main": (370, 120, 370 / 3, 125, 0, 5 / 370, 0.02),
	"main;init": (10, 0, 10 / 3, 5, 0, 0.5, 0.5),
	"main;solve": (360, 120, 120, 120, 0, 0, 0),
}


@pytest.fixture(autouse=True)
def _no_rank(monkeypatch):
	for name in VARIABLES:
		monkeypatch.delenv(name, raising=False)


def imported(folder, name, text):
	(folder / "a.folded").write_text(text)
	done("import", "--format", "folded", "-o", folder / name, folder / "a.folded")
	return folder / name


@pytest.fixture(name="solver")
def the_solver(tmp_path):
	return [imported(tmp_path, f"{rank}.data", text) for rank, text in enumerate(SOLVERS)]


def results(*words, **options):
	return json.loads(done("report", "--format", "json", *ALL, *words, **options))["results"]


def figures(*words):
	(result,) = results("--ranks", *words)
	return {";".join(entry["path"]): tuple(entry[name] for name in ("sum", "min", "mean", "max", "max_rank", "imbalance", "imbalance_share"))
		for entry in result["entries"]}


def test_a_file_twice(solver, tmp_path):
	"""Files that count as one rank, or twice, are named."""
	assert f"warning: '{solver[0]}' is given twice, and counts twice" in run("report", "--ranks", *solver, solver[0]).stderr
	assert "warning" not in run("report", "--ranks", *solver).stderr
	done("merge", "--label", "rank", "-o", tmp_path / "one", solver[0])
	done("merge", "--label", "rank", "-o", tmp_path / "two", solver[0])
	assert f"'{tmp_path}/one' and '{tmp_path}/two' are both of rank 0, and are added up" in \
		run("report", "--ranks", tmp_path / "one", tmp_path / "two").stderr


# --- recording ---

def recorded(folder, name, *options, status=0, backend="preload", times=3, **environment):
	"""Records 2 * times events; returns the new files."""
	before = set(folder.iterdir())
	result = run("record", "--backend", backend, "-r", COUNTED[backend][1], *options, "-o", name, "--", build_counted(backend, "halves.c"), times,
		directory=folder, **environment)
	assert result.returncode == status, result.stderr
	return sorted(set(folder.iterdir()) - before)


def labels(path, *options):
	return [(entry["labels"], entry["hits"]) for entry in results("--by-label", *options, path)[0]["entries"]]


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_rank_of_each_launcher(tmp_path, variable):
	assert recorded(tmp_path, "job.%r.data", **{variable: "7"}) == [tmp_path / "job.7.data"]
	assert labels(tmp_path / "job.7.data") == [({"rank": "7"}, 6)]


def test_the_first_variable_that_has_a_number(tmp_path):
	both = {name: str(number) for number, name in enumerate(VARIABLES)}
	assert recorded(tmp_path, "%r", **both) == [tmp_path / "0"]
	assert recorded(tmp_path, "%r", **{**both, "OMPI_COMM_WORLD_RANK": "", "PMIX_RANK": "../x"}) == [tmp_path / "2"]


def test_placeholders(tmp_path):
	(path,) = recorded(tmp_path, "%%r.%h.%p.%d%.%")
	host, process = re.fullmatch(r"%r\.(.+)\.(\d+)\.%d%\.%", path.name).groups()
	assert host == os.uname().nodename and process.isdigit()


def test_no_rank(tmp_path):
	result = run("record", "-o", "job.%r.data", "--", "true", directory=tmp_path)
	assert result.returncode == 2 and not list(tmp_path.iterdir())
	assert "cannot name the profile 'job.%r.data': no rank (start cpprof record by mpirun or srun, or set " + " or ".join(VARIABLES) + ")" in result.stderr


def test_repeated_recordings_of_a_rank(tmp_path):
	assert [path.name for path in recorded(tmp_path, "%r.data", "--repeat", 2, PMI_RANK="5")] == ["5-1.data", "5-2.data"]
	assert labels(tmp_path / "5-2.data") == [({"rank": "5"}, 6)]


def test_a_rank_that_the_name_lacks(tmp_path):
	"""It is a label nevertheless, unless the variable may be that of a batch script, which is no rank."""
	(path,) = recorded(tmp_path, "a.data", PMI_RANK="4", SLURM_PROCID="0")
	assert labels(path) == [({"rank": "4"}, 6)]
	(path,) = recorded(tmp_path, "b.data", SLURM_PROCID="0")
	assert "the profile has no labels" in run("report", "--by-label", path).stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_hit_has_the_label(tmp_path, backend):
	(path,) = recorded(tmp_path, "%r", backend=backend, PMI_RANK="2")
	((pairs, hits),) = labels(path)
	assert pairs == {"rank": "2"} and hits >= 6
	assert done("export", "--format", "folded", "--label", "rank=2", path) == done("export", "--format", "folded", path)


def test_beside_the_labels_of_a_program(tmp_path):
	(path,) = recorded(tmp_path, "x")
	orders = ("record", "-r", "own:orders/1", "--", BUILD / "examples/orders", 3)
	done(*orders, directory=tmp_path)
	(tmp_path / "cpprof.data").rename(path)
	done(*orders, directory=tmp_path, PMI_RANK="8")
	expected = [({"rank": "8", **pairs}, hits) for pairs, hits in labels(path)]
	assert len(expected) == 3 and labels(tmp_path / "cpprof.data") == expected


def test_counted_calls_have_the_label(tmp_path):
	program = build_counted("preload", "halves.c", "-finstrument-functions")
	done("record", "--instrumented=counts", "-o", "%r.data", "--", program, 3, directory=tmp_path, PMI_RANK="1")
	((pairs, calls),) = labels(tmp_path / "1.data", "-r", "calls")
	assert pairs == {"rank": "1"} and calls >= 6


# --- reporting ---

def test_figures(solver):
	found = figures(*solver)
	assert list(found) == list(EXPECTED)
	for path, row in EXPECTED.items():
		assert found[path] == (*row[:2], pytest.approx(row[2]), row[3], str(row[4]), pytest.approx(row[5], abs=1e-5), pytest.approx(row[6], abs=1e-5))


def test_text_and_csv(solver):
	text = done("report", "--ranks", *ALL, *solver)
	assert text.startswith("3 Ranks, Call Path Profile for resource: Samples\n370 samples")
	rows = [re.fullmatch(r"(\S+) +(\S+) ±(\S+) +(\d+) +(\S+) +(\d+) (\d+) \((.*)\) \[(\d+)\]", line).groups()
		for line in text.splitlines() if line.endswith("]") and not line.startswith("format")]
	assert {row[7].replace(" ", ";"): (int(row[8]), int(row[3]), float(row[4]), int(row[5]), int(row[6])) for row in rows} == \
		{path: (*row[:2], round(row[2], 1), *row[3:5]) for path, row in EXPECTED.items()}
	table = list(csv.DictReader(done("report", "--ranks", "--format", "csv", *ALL, *solver).splitlines()))
	assert {row["path"]: (int(row["sum"]), int(row["min"]), int(row["max"]), int(row["max_rank"])) for row in table} == \
		{path: (row[0], row[1], row[3], row[4]) for path, row in EXPECTED.items()}
	assert [row["path"] for row in table] == list(EXPECTED)


def test_a_merged_profile_has_the_same_figures(solver, tmp_path):
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *solver)
	assert figures(tmp_path / "job.data") == figures(*solver)
	assert figures("--label", "rank=0", "--label", "rank=1", tmp_path / "job.data") == figures(*solver[:2])


def test_a_store_has_the_ranks(tmp_path):
	for rank, times in enumerate((1, 4)):
		recorded(tmp_path, "%r.data", times=times, PMI_RANK=str(rank))
	done("store", "add", "--store", "job.db", "0.data", "1.data", directory=tmp_path)
	expected = figures("--body", tmp_path / "0.data", tmp_path / "1.data")
	assert expected["countable_event"][:4] == (10, 2, 5, 8)
	assert figures("--body", "--store", tmp_path / "job.db") == expected
	assert " rank=1 [8]\n" in done("report", "--by-label=rank", "--store", tmp_path / "job.db")


def test_hits_without_a_rank(solver, tmp_path):
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *solver[:2])
	done("merge", "-o", tmp_path / "sum.data", tmp_path / "job.data", solver[2])
	assert figures(tmp_path / "sum.data") == figures(tmp_path / "job.data")
	notice = "hits without the label 'rank' are left out"
	assert [notice in run("report", "--ranks", tmp_path / f"{name}.data").stderr for name in ("sum", "job")] == [True, False]


def test_the_order_of_ranks(tmp_path):
	"""The first number of the ranks with most hits is named; 10 comes after 9."""
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *[imported(tmp_path, f"{rank}.data", "main 3\n") for rank in (10, 9, 11)])
	assert figures(tmp_path / "job.data") == {"main": (9, 3, 3, 3, "9", 0, 0)}


def test_a_rank_without_hits(tmp_path):
	"""It has 0 hits of each path, whether its recording states its rank or its file has a place."""
	for rank, times in enumerate((0, 4, 0)):
		recorded(tmp_path, "%r.data", times=times, PMI_RANK=str(rank))
		recorded(tmp_path, f"file{rank}.data", times=times)
	done("merge", "-o", tmp_path / "job.data", *[tmp_path / f"{rank}.data" for rank in range(3)])
	for files in (["job.data"], ["0.data", "1.data", "2.data"], ["file0.data", "file1.data", "file2.data"]):
		found = figures("--body", *[tmp_path / name for name in files])
		assert found["countable_event"] == (8, 0, pytest.approx(8 / 3), 8, "1", pytest.approx(2), pytest.approx(1)), files


LISTS = ["--functions", "--body", "--down main", "--up main", "--modules", "--functions --by line", "--down main --by callsite", "--body --no-inlines",
	"--functions --transform drop=main", "--body --untrimmed", "--functions --by module"]


@pytest.mark.parametrize("words", LISTS)
def test_every_list_of_every_resource(profiles, tmp_path, words):
	"""The figures are those of the same list of each rank."""
	kinds = ["whole", "programs", "labels", "lossy"]
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *[profiles / f"{kind}.data" for kind in kinds])
	own = {kind: results(*words.split(), "--label", f"rank={kind}", tmp_path / "job.data") for kind in kinds}
	whole = results("--ranks", *words.split(), tmp_path / "job.data")
	assert len(whole) == len(own["whole"]) > 1
	some = 0
	for number, result in enumerate(whole):
		hits = {kind: {tuple(entry["path"]): entry["hits"] for entry in own[kind][number]["entries"]} for kind in kinds}
		expected = {}
		for path in set(itertools.chain(*hits.values())):
			amounts = [hits[kind].get(path, 0) for kind in sorted(kinds)]
			expected[path] = (sum(amounts), min(amounts), max(amounts), sorted(kinds)[amounts.index(max(amounts))])
		assert {tuple(entry["path"]): (entry["sum"], entry["min"], entry["max"], entry["max_rank"]) for entry in result["entries"]} == expected
		above = [entry["max"] - entry["sum"] / len(kinds) for entry in result["entries"]]
		assert above == sorted(above, reverse=True)
		some += len(expected)
	assert some > 0


def test_the_kernel(tmp_path):
	"""A rank's hits in the kernel are of the rank's code that entered it, if the kernel is hidden."""
	for rank, (read, fault) in enumerate(((3, 1), (0, 8))):
		sample = "job 10 1.0: 1 cpu-clock:\n\tffff {} ([kernel.kallsyms])\n\t4010 read (/usr/lib/libc.so.6)\n\t4020 main (/bin/job)\n\n"
		(tmp_path / "script").write_text(sample.format("do_read") * read + sample.format("do_fault") * fault)
		done("import", "-o", tmp_path / f"{rank}.data", tmp_path / "script")
	files = [tmp_path / "0.data", tmp_path / "1.data"]
	found = {kernel: {path.rpartition(";")[2]: row[:2] + row[3:5] for path, row in figures("--body", "--kernel", kernel, *files).items()} for kernel in ("show", "hide", "only")}
	assert found["show"] == found["only"] == {"do_fault": (9, 1, 8, "1"), "do_read": (3, 0, 3, "0")}
	assert found["hide"] == {"read": (12, 4, 8, "1")}


def test_sections_by_another_label(profiles, tmp_path):
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", profiles / "labels.data", profiles / "whole.data")
	for result in results("--ranks", "--body", "--by-label=tenant", "-r", "cpu", tmp_path / "job.data"):
		pairs = [word for key, value in result["labels"].items() for word in ("--label", f"{key}={value}")]
		if pairs:
			assert result["entries"] == results("--ranks", "--body", *pairs, "-r", "cpu", tmp_path / "job.data")[0]["entries"]
			assert result["ranks"] == 1


@pytest.mark.parametrize("mean, least", [(3, 10), (50, 50), (200, 60)])
def test_chance(tmp_path, mean, least):
	"""One path in 20 of equal ranks exceeds the bound, or fewer where whole numbers are small: among 2,000 paths 100, give or take 5 standard deviations."""
	generator, ranks, paths = random.Random(7), 8, 2000

	def poisson():
		time, count = generator.expovariate(1), 0
		while time < mean:
			time, count = time + generator.expovariate(1), count + 1
		return count
	for rank in range(ranks):
		rows = ((path, poisson()) for path in range(paths))
		imported(tmp_path, f"{rank}.data", "".join(f"f{path} {count}\n" for path, count in rows if count))
	(result,) = results("--ranks", "--body", *[tmp_path / f"{rank}.data" for rank in range(ranks)])
	beyond = sum(entry["imbalance"] > entry["chance"] for entry in result["entries"])
	assert least < beyond < 150, beyond


def test_combinations_that_are_refused(solver):
	for words, reason in ((["--tree"], "--ranks cannot be combined with --tree, which is no list"), (["--zeros"], "--zeros cannot be combined with --ranks"),
			(["--process", "x"], "--process cannot be combined with several files"), (["--from", "1"], "--from cannot be combined with several files"),
			(["--lines"], "--ranks cannot be combined with --lines")):
		result = run("report", "--ranks", *words, *solver)
		assert result.returncode == 2 and reason in result.stderr, result.stderr
	result = run("report", *solver)
	assert result.returncode == 2 and "one argument too many: " in result.stderr
	check_failure(run("report", "--ranks", solver[0]), "the profile has no ranks (record a job by 'mpirun")


def test_files_of_which_some_state_their_rank(solver, tmp_path):
	done("merge", "--label", "rank", "-o", tmp_path / "a.data", solver[0])
	for files in ([tmp_path / "a.data", solver[1]], [solver[1], tmp_path / "a.data"]):
		check_failure(run("report", "--ranks", *files), "cannot compare the ranks: of ", ", only one states its rank")
	check_failure(run("report", "--ranks", *solver, tmp_path / "none.data"), "cannot read", "none.data")


def test_a_terminal_folds_paths_of_equal_figures(tmp_path):
	"""Only into a path that contains them: (x) has as many hits as (a b)."""
	files = [imported(tmp_path, f"{rank}.data", f"a;b;c {5 + rank}\nx {5 + rank}\n") for rank in range(2)]
	text = on_terminal("report", "--ranks", *map(str, files), folder=tmp_path, columns=100)
	assert re.findall(r"\((.*)\) \[11\]", text) == ["a b c", "x"]
	assert "... 2 paths are part of a longer one with equal figures: --long" in text
	(tmp_path / "a.folded").write_text("main;a;b 5\nmain;x 5\n")
	done("import", "--format", "folded", "-o", tmp_path / "one.data", tmp_path / "a.folded")
	text = on_terminal("report", "--down", "main", "one.data", folder=tmp_path, columns=100)
	assert re.findall(r"\((.*)\) \[5\]", text) == ["main a b", "main x"]


def test_explore(solver, tmp_path):
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *solver)
	process = subprocess.run([CPPROF, "explore", tmp_path / "job.data"], input="ranks\n", capture_output=True, text=True, timeout=60, check=True)
	assert process.stdout.splitlines()[1:] == done("report", "--ranks", tmp_path / "job.data").splitlines()


# --- the example ---

def test_the_grid(tmp_path):
	"""Each of 4 ranks has 40 rows of 100 cells. In 5 sweeps, each relaxes 20,000; of the 40 burning rows, 10 are the third's and 30 the last one's."""
	job = [REPOSITORY / "examples/grid/run_ranks", 4, CPPROF, "record", "-r", "own:cells/1", "-o", "job.%r.data", BUILD / "examples/grid", 5]
	result = subprocess.run([*map(str, job)], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
	assert "5 sweeps" in result.stdout and result.stderr.count(" 0 lost") == 4, result.stderr
	found = figures(*[tmp_path / f"job.{rank}.data" for rank in (2, 0, 3, 1)])
	assert found == {
		"main": (100000, 20000, 25000, 35000, "3", pytest.approx(0.4), pytest.approx(10 / 35 * 4 / 3, abs=1e-5)),
		"main;solve": (100000, 20000, 25000, 35000, "3", pytest.approx(0.4), pytest.approx(10 / 35 * 4 / 3, abs=1e-5)),
		"main;solve;react_row": (20000, 0, 5000, 15000, "3", pytest.approx(2), pytest.approx(8 / 9, abs=1e-5)),
		"main;solve;relax_row": (80000, 20000, 20000, 20000, "0", 0, 0),
	}


def test_run_ranks_reports_a_failure():
	script = REPOSITORY / "examples/grid/run_ranks"
	assert subprocess.run([script, "3", "sh", "-c", "exit $((OMPI_COMM_WORLD_RANK == 1 ? 5 : 0))"], check=False).returncode == 5
	assert subprocess.run([script, "3"], capture_output=True, check=False).returncode == 2


def traced(folder, name, *lines):
	(folder / "a.txt").write_text("".join(f"0.00{i} 1/a {line}\n" for i, line in enumerate(lines)))
	done("import", "--format", "trace", "-o", folder / name, folder / "a.txt")
	return folder / name


def test_a_program_that_states_its_rank_late(tmp_path):
	"""Its earlier hits are of the same rank, in whatever order the files stand."""
	files = [traced(tmp_path, f"{rank}.data", f"moves 5 moves (main;init{rank})", f"moves {count} moves rank={rank} (main;run)") for rank, count in ((7, 10), (8, 30))]
	expected = {"main": (50, 15, 25, 35, "8", 0.4, pytest.approx(4 / 7)), "main;run": (40, 10, 20, 30, "8", 0.5, pytest.approx(2 / 3)),
		"main;init7": (5, 0, 2.5, 5, "7", 1, 1), "main;init8": (5, 0, 2.5, 5, "8", 1, 1)}
	for order in (files, files[::-1]):
		assert figures(*order) == expected


def test_a_rank_without_the_resource(tmp_path):
	"""It counts as 0, with a word."""
	files = [traced(tmp_path, "a.data", "moves 5 moves (main)", "steps 2 steps (main)"), traced(tmp_path, "b.data", "moves 5 moves (main)")]
	result = run("report", "--ranks", "-r", "steps", *files)
	assert result.returncode == 0 and f"warning: '{files[1]}' has no resource 'steps', which counts as 0 on its rank" in result.stderr, result.stderr
	assert "warning" not in run("report", "--ranks", *files[::-1]).stderr
