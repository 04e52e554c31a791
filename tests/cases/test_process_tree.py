"""The tree of processes: report --process-tree, and --process NAME+."""
import json

import pytest
from cli_support import check_failure, done, run


@pytest.fixture(scope="module")
def log(tmp_path_factory):
	"""A make (10) with two shells, each with two compilers; 4 + 2 * 3 + 4 * 5 + 1 calls of close. g++ (30) was started by nobody who was traced."""
	folder = tmp_path_factory.mktemp("tree")
	lines = ['10 execve("/bin/make", ["make"], 0x1) = 0', *["10 close(3) = 0"] * 4]
	for shell in (11, 12):
		lines += [f"10 fork() = {shell}", f'{shell} execve("/bin/sh", ["sh"], 0x1) = 0', *[f"{shell} close(3) = 0"] * 3]
		for compiler in (shell * 10, shell * 10 + 1):
			lines += [f"{shell} fork() = {compiler}", f'{compiler} execve("/bin/cc", ["cc"], 0x1) = 0', *[f"{compiler} close(3) = 0"] * 5]
	lines += ['30 execve("/bin/g++", ["g++"], 0x1) = 0', "30 close(3) = 0"]
	(folder / "log").write_text("\n".join([*lines, ""]))
	done("import", "--format", "strace", "-o", "log.data", "log", directory=folder)
	return folder / "log.data"


def calls(path, *words):
	"""The selected calls of close."""
	lines = done("export", "--format", "folded", "-r", "syscalls", *words, path).splitlines()
	return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith("close "))


def test_each_row_has_what_it_started(log):
	(result,) = json.loads(done("report", "--process-tree", "-r", "syscalls", "-n", "0", "-t", "0", "--format", "json", log))["results"]
	rows = [(row["depth"], row["name"], row["processes"], row["pid"], row["hits"], row["own_hits"]) for row in result["entries"]]
	# each process has an execve, and 1 fork for each process that it started
	assert rows == [(0, "make", 1, 10, 43, 7), (1, "sh", 2, 0, 36, 12), (2, "cc", 4, 0, 24, 24), (0, "g++", 1, 30, 2, 2)]
	assert [row["own_fraction"] * result["total_hits"] for row in result["entries"]] == pytest.approx([row["own_hits"] for row in result["entries"]])
	for row in result["entries"]:
		(selected,) = json.loads(done("report", "--functions", "-r", "syscalls", "--process", row["selector"], "--format", "json", log))["results"]
		assert selected["total_hits"] == row["hits"], row


def test_the_text_is_indented(log):
	text = done("report", "--process-tree", "-r", "syscalls", log)
	names = [line.split(" ", 2)[2].rpartition(" [")[0] for line in text.splitlines() if line[:1] in "01"]
	assert names == ["make (process 10)", "  sh (2 processes)", "    cc (4 processes)", "g++ (process 30)"]


def test_below_a_name(log):
	assert calls(log, "--process", "make") == 4
	assert calls(log, "--process", "make+") == 4 + 2 * 3 + 4 * 5
	assert calls(log, "--process", "sh+") == calls(log, "--process", "11+") == 2 * 3 + 4 * 5
	assert calls(log, "--process", "110+") == calls(log, "--process", "cc") == 4 * 5
	assert calls(log, "--process", "110+", "--process", "make") == 4 * 5 + 4
	assert calls(log, "--process", "g++") == calls(log, "--process", "g+++") == 1


def test_a_name_that_no_process_has(log):
	check_failure(run("report", "--process", "ld+", log), "no process 'ld'; there are 10 (make), 11 (sh)")
