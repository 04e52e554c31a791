"""Call paths of programs in other languages than C: their shares are known, and their paths reach the root."""
import re
import subprocess
import sys

import pytest
from record_support import BUILD, PROGRAMS, agrees, holds, most_by_chance, needs_bpf, needs_perf, of_work, record, run_cpprof, show

sys.path.insert(0, str(PROGRAMS / "languages"))
import languages # noqa: E402

BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
BUILT = BUILD / "tests/languages"


def record_language(tmp_path, name, backend, *options):
	"""Records a language's program. Returns (row, recorded, {path in the words of its source: hits})."""
	row = languages.language(name)
	missing = languages.missing_tool(row)
	if missing:
		pytest.skip(f"{missing} is not installed (it is in Debian's {row.packages})")
	recorded = record(tmp_path, row.run, "--backend", backend, "-r", "cpu/1ms", *options, cwd=languages.build(row, BUILT))
	assert recorded.status == 0, recorded.err
	return row, recorded, languages.in_source_words(row, recorded.paths())


def check_shares(paths):
	"""Checks the three shares, and that each call of the recursion is a frame."""
	for names, fraction in languages.SHARES:
		agrees(paths, names, fraction, ["work"])
	below = of_work({path: count for path, count in paths.items() if holds(path, ["descend", "work"])}, ["work"])
	complete = {path: count for path, count in below.items() if path[0] != "[incomplete stack]"}
	assert {path.count("descend") for path in complete} == {languages.RECURSIONS}, show(complete)


def check_whole(recorded):
	"""Requires that at least 99 % of the paths reach their root by rules that are exact (with a binomial tolerance)."""
	samples, lost, whole, *_ = recorded.closing_shares()
	assert lost == 0 and samples > 200, recorded.err
	assert (100 - whole) / 100 * samples <= most_by_chance(0.01, samples), f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["Rust", "Go", "OCaml"])
def test_whole_paths(tmp_path, name, backend):
	_, recorded, paths = record_language(tmp_path, name, backend)
	check_shares(paths)
	check_whole(recorded)


def test_each_program_runs():
	"""Each program that can be built here prints the shares that its source is written for."""
	expected = [";".join(names) + f" {fraction}" for names, fraction in languages.SHARES]
	for row in languages.LANGUAGES:
		if languages.missing_tool(row):
			continue
		result = subprocess.run([*row.run, "2"], cwd=languages.build(row, BUILT), capture_output=True, text=True, check=True, timeout=120)
		assert re.findall(r"^share (.*)$", result.stdout, re.MULTILINE) == expected, (row.name, result.stdout)
