"""The script for `git bisect run`, on a small history whose program calls a function more often from one commit on."""
import os
import subprocess

import pytest
from cli_support import CPPROF, REPOSITORY

SCRIPT = REPOSITORY / "examples/bisect/bisect_gate"
COMMITS = 9
FIRST_BAD = 6
NO_BUILD = 4
GATE = ["-b", "gcc -O1 -finstrument-functions -o work work.c", "-n", "2", "-l", "3", "-p", "parse", "-r", "--instrumented=counts",
	"-d", "-r calls --threshold 0", "--", "./work"]



def git(folder, *words, status=0):
	result = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=folder, capture_output=True, text=True,
		env={**os.environ, "CPPROF": CPPROF, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"})
	assert result.returncode == status, result.stdout + result.stderr
	return result.stdout


def script(folder, *words):
	return subprocess.run([SCRIPT, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, "CPPROF": CPPROF})


@pytest.fixture
def history(tmp_path):
	"""A repository whose commits 1 to 9 are tagged c1 to c9. Commit 4 does not compile; from commit 6 on, parse is called 5 % more often."""
	folder = tmp_path / "repository"
	folder.mkdir()
	git(folder, "init", "-q")
	for number in range(1, COMMITS + 1):
		calls = 1050 if number >= FIRST_BAD else 1000
		(folder / "work.c").write_text(f"""static volatile int sum;
static __attribute__((noinline)) void parse(int i) {{ sum += i; }}
static __attribute__((noinline)) void store(int i) {{ sum -= i; }}
int main(void) {{ for (int i = 0; i < {calls}; i++) parse(i); for (int i = 0; i < {9000 + number}; i++) store(i); {"!" if number == NO_BUILD else ""} }}
""")
		git(folder, "add", "work.c")
		git(folder, "commit", "-q", "-m", f"change {number}")
		git(folder, "tag", f"c{number}")
	return folder


def gate(*paths):
	words = list(GATE)
	at = words.index("-p")
	words[at:at + 2] = [word for path in paths for word in ("-p", path)]
	return words


@pytest.mark.parametrize("paths", [["parse"], ["store", "main;parse"], []])
def test_bisect_finds_the_commit(tmp_path, history, paths):
	words = ["-g", tmp_path / "it's a gate", *gate(*paths)]
	git(history, "checkout", "-q", "c1")
	first = script(history, *words)
	assert first.returncode == 0 and first.stdout == "", first.stderr
	assert sorted(path.name for path in (tmp_path / "it's a gate").iterdir()) == ["good-1.data", "good-2.data"]
	git(history, "bisect", "start", f"c{COMMITS}", "c1")
	out = git(history, "bisect", "run", SCRIPT, *words)
	assert f"{git(history, 'rev-parse', f'c{FIRST_BAD}').strip()} is the first bad commit" in out
	assert "calls +5.0 % " in out


def test_statuses(tmp_path, history):
	folder = tmp_path / "gate"
	words = ["-g", folder, *gate("parse")]
	git(history, "checkout", "-q", "c1")
	assert script(history, *words).returncode == 0
	for commit, status in (("c2", 0), (f"c{NO_BUILD}", 125), ("c5", 0), ("c6", 1), ("c9", 1)):
		git(history, "checkout", "-q", commit)
		assert script(history, *words).returncode == status, commit
	assert script(history, "-g", folder, *gate("parse")[:-1], "./absent").returncode == 125
	assert script(history, "-g", folder, *gate("absent")).returncode == 128
	for wrong in ([], ["-g", folder], ["-x"], ["--", "true"]):
		result = script(history, *wrong)
		assert result.returncode == 128 and result.stderr.count("usage: bisect_gate -g FOLDER") == 1
