"""The shares of threads, processes and lines agree with the second decoder and the definitions."""
import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from cli_support import BUILD, REPOSITORY, done, run

sys.path.insert(0, str(REPOSITORY / "tests/decoder"))
import decode  # noqa: E402

WRITE_SAMPLE = str(BUILD / "tests/unit/write_sample")


@pytest.fixture(scope="module", params=range(1, 8))
def sample(request, tmp_path_factory):
	"""Returns a random profile: its file, and the result of the second decoder."""
	path = tmp_path_factory.mktemp("shares") / f"{request.param}.data"
	subprocess.run([WRITE_SAMPLE, str(request.param), path], check=True)
	return path, decode.Profile(path.read_bytes())


def results(path, report, *options):
	return json.loads(done("report", f"--{report}", "--format", "json", "-n", "0", "-t", "0", *options, path))["results"]


def plain(text):
	"""Replaces each run of non-ASCII characters, because decoders may use different numbers of U+FFFD for broken UTF-8."""
	return re.sub("[^ -~]+", "?", text)


def hits_of(profile, result):
	"""Returns the hits of the result's resource: the first one with its name and as many hits."""
	for number, resource in enumerate(profile.resources):
		hits = [hit for hit in profile.hits if hit["resource"] == number]
		name = profile.strings[resource["name"]].decode(errors="replace")
		if plain(name) == plain(result["resource"]) and sum(hit["count"] for hit in hits) == result["total_hits"]:
			return hits
	raise AssertionError(result["resource"])


def test_threads_have_the_hits_of_their_samples(sample):
	path, profile = sample
	for result in results(path, "threads"):
		expected = Counter()
		for hit in hits_of(profile, result):
			thread = profile.threads[hit["thread"]] if hit["thread"] is not None else None
			expected[thread["tid"] if thread else 0] += hit["count"]
		shown = Counter()
		for entry in result["entries"]:
			shown[entry["tid"]] += entry["hits"]
			assert entry["fraction"] == pytest.approx(entry["hits"] / result["total_hits"], rel=1e-5)
		assert shown == expected
		assert [entry["hits"] for entry in result["entries"]] == sorted((entry["hits"] for entry in result["entries"]), reverse=True)


def test_processes_have_the_hits_of_their_threads(sample):
	path, profile = sample
	for result in results(path, "processes"):
		expected = Counter()
		for hit in hits_of(profile, result):
			thread = profile.threads[hit["thread"]] if hit["thread"] is not None else None
			expected[profile.processes[thread["process"]]["pid"] if thread else 0] += hit["count"]
		shown = Counter()
		for entry in result["entries"]:
			shown[entry["pid"]] += entry["hits"]
		assert shown == expected


def test_each_line_is_listed_once_with_the_figures_of_its_functions(profiles):
	"""Within one function, the figures are as with --source; a line has the body hits of all its functions."""
	path = profiles / "whole.data"
	functions = {entry["path"][0] for entry in results(path, "functions", "-r", "cpu")[0]["entries"]}
	bodies = Counter()
	for name in functions:
		lines = json.loads(done("report", "--source", name, "--format", "json", "-r", "cpu", path))["results"][0]["entries"]
		for entry in lines:
			bodies[entry["file"], entry["line"]] += entry["body_hits"]
	(result,) = results(path, "lines", "-r", "cpu")
	shown = {(entry["file"], entry["line"]): entry["body_hits"] for entry in result["entries"]}
	assert len(shown) == len(result["entries"]) > 3
	assert shown == {line: hits for line, hits in bodies.items() if hits}
	assert sum(shown.values()) == result["total_hits"]
	assert all(entry["total_hits"] >= entry["body_hits"] for entry in result["entries"])


def test_selections_hold_for_the_shares(profiles):
	path = profiles / "whole.data"
	(all_threads,) = results(path, "threads", "-r", "cpu")
	for entry in all_threads["entries"]:
		(alone,) = results(path, "threads", "-r", "cpu", "--thread", entry["tid"])
		assert [(row["tid"], row["hits"], row["fraction"]) for row in alone["entries"]] == [(entry["tid"], entry["hits"], 1)]
	ranges = [results(path, "processes", "-r", "cpu", "--from", start, "--to", end)[0] for start, end in (("0", "0.2"), ("0.2", "9"))]
	(whole,) = results(path, "processes", "-r", "cpu")
	sums = Counter()
	for part in ranges:
		for entry in part["entries"]:
			sums[entry["pid"]] += entry["hits"]
	assert sums == {entry["pid"]: entry["hits"] for entry in whole["entries"]}


def test_the_explorer_prints_the_same(profiles, tmp_path):
	for command, option in (("by-thread", "--threads"), ("by-process", "--processes"), ("modules", "--modules"), ("lines", "--lines")):
		answer = run("explore", "whole.data", directory=profiles, stdin=make_stdin(tmp_path, f"resource cpu\n{command}\n"))
		assert answer.returncode == 0, answer.stderr
		assert done("report", option, "-r", "cpu", "whole.data", directory=profiles) in answer.stdout


def make_stdin(folder, text):
	path = folder / "commands"
	path.write_text(text)
	return path.open()
