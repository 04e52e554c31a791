"""`cpprof merge`: the figures of the sum are for all recordings together."""
import collections
import json
import re
import shutil

import pytest
from cli_support import check_failure, done, run
from store_support import add, without_suffixes

ALL = ("--limit", 0, "--threshold", 0)
REPORTS = ["--functions", "--body", "--lines", "--modules", "--down main", "--up main", "--tree", "--pages", "--by-label",
	"--by-label=tenant --down main", "--call-graph", "--counts", "--groups", "--source main", "--by line", "--kernel hide"]
KINDS = ["whole", "lossy", "programs", "program", "server", "labels"]


def folded(folder, name, paths):
	(folder / f"{name}.folded").write_text("".join(f"{path} {count}\n" for path, count in paths.items()))
	done("import", "--format", "folded", "-o", folder / f"{name}.data", folder / f"{name}.folded")
	return folder / f"{name}.data"


def paths_of(profile, *options):
	"""{path: hits}. A line has at most 2^48 hits."""
	sums = collections.Counter()
	for path, count in (line.rsplit(" ", 1) for line in done("export", "--format", "folded", profile, *options).splitlines()):
		sums[path] += int(count)
	return sums


def is_alike(one, other):
	"""Whether two reports are equal but for the order of entries with equal figures."""
	return sorted(without_suffixes(one.stdout).splitlines()) == sorted(without_suffixes(other.stdout).splitlines()) and \
		one.returncode == other.returncode


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_of_one_recording(profiles, tmp_path, report):
	for kind in KINDS:
		shutil.copy(profiles / f"{kind}.data", tmp_path / "one.data")
		done("merge", "-o", tmp_path / "sum.data", profiles / f"{kind}.data")
		words = ("report", *report.split(), *ALL)
		assert is_alike(run(*words, tmp_path / "sum.data", directory=profiles), run(*words, tmp_path / "one.data", directory=profiles)), kind


@pytest.mark.parametrize("report", REPORTS)
def test_the_sum_is_that_of_a_store(profiles, tmp_path, report):
	"""A store adds up recordings by another way."""
	files = [profiles / f"{kind}.data" for kind in ("whole", "labels", "programs")]
	store = tmp_path / "store.db"
	add(profiles, store, "--service", "one", *files)
	done("merge", "-o", tmp_path / "sum.data", *files)
	words = ("report", *report.split(), *ALL)
	assert is_alike(run(*words, tmp_path / "sum.data", directory=profiles), run(*words, "--store", store, directory=profiles))


def test_samples_of_several_hits(profiles, tmp_path):
	"""The error depends on the samples, not on the hits: two equal runs have 1 / sqrt(2) of the error of one."""
	done("merge", "-o", tmp_path / "sum.data", profiles / "whole.data", profiles / "whole.data")
	figures = []
	for path in (profiles / "whole.data", tmp_path / "sum.data"):
		line = re.search(r"^([\d.]+) ±([\d.]+) qsort \[(\d+)\]", done("report", "--functions", *ALL, path), re.MULTILINE)
		figures.append(tuple(map(float, line.groups())))
	(fraction, error, hits), (sum_fraction, sum_error, sum_hits) = figures
	assert sum_fraction == fraction and sum_hits == 2 * hits
	assert abs(sum_error / error - 0.5 ** 0.5) < 0.05, figures


def test_many_files(tmp_path):
	expected = collections.Counter()
	files = []
	for i in range(21):
		paths = {"main;all": 1 + i, f"main;own{i}": 5, f"main;shared{i % 3};leaf": 7}
		expected.update(paths)
		files.append(folded(tmp_path, f"rank{i}", paths))
	result = run("merge", "-o", tmp_path / "sum.data", *files)
	assert result.returncode == 0 and " of 21 recordings, " in result.stderr, result.stderr
	assert paths_of(tmp_path / "sum.data") == expected
	done("merge", "--label", "rank", "-o", tmp_path / "job.data", *files)
	assert paths_of(tmp_path / "job.data") == expected
	labels = dict(re.findall(r" rank=(rank\d+) \[(\d+)\]", done("report", "--by-label", "rank", *ALL, tmp_path / "job.data")))
	assert labels == {f"rank{i}": str(1 + i + 5 + 7) for i in range(21)}


def test_the_programs_own_label_remains(profiles, tmp_path):
	before = re.findall(r" (tenant=\S+) \[(\d+)\]", done("report", "--by-label", "tenant", *ALL, profiles / "labels.data"))
	done("merge", "--label", "tenant", "-o", tmp_path / "sum.data", profiles / "labels.data")
	after = re.findall(r" (tenant=\S+) \[(\d+)\]", done("report", "--by-label", "tenant", *ALL, tmp_path / "sum.data"))
	assert before and set(before) <= set(after)


def test_sum_of_sums(profiles, tmp_path):
	one, two = profiles / "whole.data", profiles / "labels.data"
	done("merge", "-o", tmp_path / "a.data", one, two)
	done("merge", "-o", tmp_path / "b.data", tmp_path / "a.data", one)
	done("merge", "-o", tmp_path / "c.data", one, two, one)
	words = ("report", "--functions", *ALL)
	assert is_alike(run(*words, tmp_path / "b.data"), run(*words, tmp_path / "c.data"))


def test_recordings_that_cannot_be_added_up(tmp_path):
	one = folded(tmp_path, "one", {"main": 1})
	shutil.copy(one, tmp_path / "damaged.data")
	content = (tmp_path / "damaged.data").read_bytes()
	(tmp_path / "damaged.data").write_bytes(content[:len(content) // 2] + b"\xff" * 8 + content[len(content) // 2 + 8:])
	out = tmp_path / "out.data"
	out.write_bytes(one.read_bytes())
	check_failure(run("merge", "-o", out, one, tmp_path / "damaged.data"), "damaged.data")
	check_failure(run("merge", "-o", out, one, tmp_path / "none.data"), "cannot read", "none.data")
	check_failure(run("merge", "-o", out, *[one] * 9, tmp_path / "none.data"), "cannot read", "none.data")
	check_failure(run("merge", "-o", tmp_path / "nowhere/out.data", one), "nowhere/out.data")
	assert out.read_bytes() == one.read_bytes() and sorted(path.name for path in tmp_path.glob("out*")) == ["out.data"]


def test_exact_amounts_and_sums_of_samples_are_sums(tmp_path):
	"""Amounts that Valgrind counted, and amounts of an unknown number of samples."""
	text = "# callgrind format\n{}events: Ir\n{}fl=a.c\nfn=main\n1 1000\ntotals: 1000\n"
	(tmp_path / "exact.cg").write_text(text.format("creator: callgrind-3.19.0\n", ""))
	(tmp_path / "sums.cg").write_text(text.format("creator: cpprof 0\n", "event: Ir : Ir (event)\n"))
	out = tmp_path / "out.data"
	for names, kind in (["exact.cg", "sums.cg"], "sums"), (["sums.cg", "exact.cg"], "sums"), (["exact.cg", "exact.cg"], "exact"):
		done("merge", "-o", out, *[tmp_path / name for name in names])
		resource, = json.loads(done("info", "--format", "json", out))["resources"]
		assert (resource["kind"], resource["hits"], "how many samples" in resource["note"]) == (kind, 2000, kind == "sums")


def test_different_resources(tmp_path, profiles):
	one = folded(tmp_path, "one", {"main": 3})
	result = run("merge", "-o", tmp_path / "out.data", one, profiles / "whole.data")
	assert result.returncode == 0 # resources of other names stand beside each other
	resources = [resource["name"] for resource in json.loads(done("info", "--format", "json", tmp_path / "out.data"))["resources"]]
	assert "samples" in resources and "cpu" in resources


def test_more_hits_than_a_profile_can_have(tmp_path):
	"""The sum does not wrap around, whatever the number of files."""
	some, more, large = folded(tmp_path, "some", {"main": 1 << 48}), tmp_path / "more.data", tmp_path / "large.data"
	done("merge", "-o", more, *[some] * 64)
	done("merge", "-o", large, *[more] * 64)
	assert paths_of(large) == {"main": 1 << 60}
	done("merge", "-o", tmp_path / "out.data", *[large] * 4)
	assert paths_of(tmp_path / "out.data") == {"main": 1 << 62}
	for count in (5, 16, 17): # 16 of them are 2^64
		check_failure(run("merge", "-o", tmp_path / "none.data", *[large] * count), "cannot add", "large.data", "a limit was reached")


def test_times_and_processes(profiles, tmp_path):
	"""The duration is the sum of the durations, if all are known; the start is the earliest. Nothing depends on the times of files."""
	for files, duration in ((["whole", "labels", "programs"], None), (["whole", "whole"], 2), (["whole", "imported"], 0)):
		if "imported" in files:
			shutil.copy(folded(tmp_path, "imported", {"main": 3}), profiles / "imported.data")
		sums = []
		for order in (files, files[::-1]):
			done("merge", "-o", tmp_path / "sum.data", *(profiles / f"{name}.data" for name in order))
			sums.append(json.loads(done("info", "--format", "json", tmp_path / "sum.data")))
		one = json.loads(done("info", "--format", "json", profiles / "whole.data"))
		assert sums[0]["duration_s"] == sums[1]["duration_s"] and sums[0]["start"] == sums[1]["start"] == one["start"]
		assert duration is None or abs(sums[0]["duration_s"] - duration * one["duration_s"]) < 1e-6
	(profiles / "imported.data").unlink()
	done("merge", "-o", tmp_path / "sum.data", profiles / "programs.data", profiles / "program.data")
	assert json.loads(done("info", "--format", "json", tmp_path / "sum.data"))["processes"] == []


def test_findings_of_the_sum(profiles, tmp_path):
	"""Losses are of the sum, in one line."""
	done("merge", "-o", tmp_path / "sum.data", *(profiles / f"{name}.data" for name in ("lossy", "lossy", "whole")))
	lost = [json.loads(done("info", "--format", "json", path))["lost"] for path in (profiles / "lossy.data", tmp_path / "sum.data")]
	info = json.loads(done("info", "--format", "json", tmp_path / "sum.data"))
	found = [finding for finding in info["findings"] if finding["code"] == "samples-lost"]
	assert lost[1] == 2 * lost[0] > 0 and [finding["count"] for finding in found] == [lost[1]]
	assert f"besides {info['samples']} recorded" in found[0]["text"]


def test_usage():
	result = run("merge", "a.data")
	assert result.returncode == 2 and "missing option -o FILE (cpprof merge -o all.data run.*.data)" in result.stderr
	result = run("merge", "-o", "out.data", "--label", "", "a.data")
	assert result.returncode == 2 and "the key of a label is empty" in result.stderr
	result = run("merge", "-o", "out.data", "--label", "a=b", "a.data")
	assert result.returncode == 2 and "the key 'a=b' of a label has a '='" in result.stderr


@pytest.mark.unsanitized("a sanitizer's allocator ends the process where memory is limited")
def test_memory(tmp_path):
	files = [folded(tmp_path, f"large{i}", {f"main;f{i}_{j}": 1 for j in range(20000)}) for i in range(3)]
	check_failure(run("merge", "--memory", "6M", "-o", tmp_path / "out.data", *files), "--memory")
	assert not (tmp_path / "out.data").exists()
