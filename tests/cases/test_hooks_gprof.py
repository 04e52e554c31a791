"""gprof's assumption against the truth: what call paths know of a caller's time."""
import re
import subprocess

import pytest
from record_support import run_cpprof

SOURCE = """\
volatile long sink;
__attribute__((noinline)) void work(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void cheap(void) { work(1); }
__attribute__((noinline)) void dear(void) { work(EVEN_LONGER); }
__attribute__((noinline)) void deep(int n) { if (n > 0) deep(n - 1); else work(1); }
int main(void) { cheap(); dear(); deep(10); return 0; }
"""


@pytest.fixture(name="paths", params=[["-pg"], ["-finstrument-functions"]], ids=["mcount", "cyg"])
def paths_fixture(tmp_path, request):
	"""The 1983 paper's program under other names, and its profile."""
	(tmp_path / "example.c").write_text(SOURCE)
	program, profile = tmp_path / "example", tmp_path / "example.data"
	subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", "-DEVEN_LONGER=150000000", *request.param, tmp_path / "example.c", "-o", program],
		check=True)
	result = run_cpprof("record", "--instrumented", "-o", profile, program)
	assert result.returncode == 0, result.stderr
	return program, profile


def entry(text, name):
	"""The lines of a function's entry: {of whom: (self, children, called)}; its own under its name."""
	for part in text.split("-----------------------------------------------\n"):
		lines = re.findall(r"^(\[\d+\])?[ \d.]*? +([\d.]+) +([\d.]+) +([\d/+]+) +(\S+).* \[\d+\]$", part, re.MULTILINE)
		if any(number and who == name for number, *_, who in lines):
			return {who: (float(own), float(below), called) for _, own, below, called, who in lines}
	raise AssertionError(f"{name} has no entry:\n{text}")


def test_half_and_half_is_all_and_nothing(paths):
	program, profile = paths
	said = run_cpprof("gprof", "-b", "-q", program, profile)
	assert said.returncode == 0, said.stderr
	shares = entry(said.stdout, "work")
	total = sum(shares["work"][:2])
	assert total > 0.02
	assert shares["cheap"][2] == shares["dear"][2] == "1/3"
	assert abs(sum(shares["cheap"][:2]) - total / 3) < 0.011
	# What is wrong with it is said: two thirds of work's time are at the wrong callers.
	error = float(re.search(r"puts up to ([\d.]+) % of all time at the wrong caller", said.stderr).group(1))
	assert 60 < error < 67
	assert "of 'work' called by 'dear'" in said.stderr

	true = run_cpprof("gprof", "-b", "-q", "--true", program, profile)
	shares = entry(true.stdout, "work")
	assert sum(shares["cheap"][:2]) <= 0.005
	assert sum(shares["dear"][:2]) >= 0.95 * total
	assert shares["work"][2] == "3"
	assert entry(true.stdout, "deep")["deep"][2] == "1+10"
	assert run_cpprof("report", "--call-graph", profile).stdout.strip() == true.stdout.strip()

	# Of a part of it there is none: gprof's choices are made before time is passed on.
	refused = run_cpprof("gprof", "--true", "-f", "work", profile)
	assert refused.returncode == 2 and "report --call-graph" in refused.stderr
