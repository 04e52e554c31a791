"""Labels of samples in all reports agree with the second decoder and the naive definitions."""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/decoder"))
sys.path.insert(0, str(REPOSITORY / "tests/naive"))
import decode  # noqa: E402
import definitions  # noqa: E402

BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
WRITE_SAMPLE = str(BUILD / "tests/unit/write_sample")
MAKE_PROFILE = str(BUILD / "tests/unit/make_profile")
SECONDS_ALLOWED = 60
SEEDS = range(1, 8)
ALL = ["--threshold", "0", "--limit", "0"]


def run(*words, **options):
	return subprocess.run([CPPROF, *map(str, words)], capture_output=True, text=True, timeout=SECONDS_ALLOWED,
		check=False, **options)


def done(*words, **options):
	result = run(*words, **options)
	assert result.returncode == 0, result.stderr
	return result.stdout


def as_json(*words, **options):
	"""Returns the results of a report: one object for each resource, or each section."""
	return json.loads(done("report", "--format", "json", *ALL, *words, **options))["results"]


def shown(name):
	"""Returns a string of the profile in the form of plain()."""
	return plain(name.decode(errors="replace"))


def plain(text):
	"""Replaces each run of non-ASCII characters by one U+FFFD, because decoders may use different numbers of U+FFFD for broken
	UTF-8."""
	return re.sub("[^ -~]+", "\ufffd", text)


def samples_of(profile, resource):
	"""Returns [(labels, hits)] of a resource."""
	return [({shown(key): shown(value) for key, value in profile.labels_of_hit(hit).items()}, hit["count"])
		for hit in profile.hits if hit["resource"] == resource]


@pytest.fixture(scope="module", params=SEEDS)
def sample(request, tmp_path_factory):
	"""Returns a random profile: its file, and the result of the second decoder."""
	path = tmp_path_factory.mktemp("labels") / f"{request.param}.data"
	subprocess.run([WRITE_SAMPLE, str(request.param), path], check=True)
	return path, decode.Profile(path.read_bytes())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
	path = tmp_path_factory.mktemp("made") / "labels.data"
	subprocess.run([MAKE_PROFILE, "labels", path], check=True)
	return path


def keys_of(profile):
	return sorted({shown(profile.strings[label["key"]]) for label in profile.labels})


def by_label(entries):
	return Counter({tuple(sorted((plain(key), plain(value)) for key, value in entry["labels"].items())): entry["hits"]
		for entry in entries})


def test_shares_are_the_naive_ones(sample):
	path, profile = sample
	for key in [None, *keys_of(profile)]:
		if not profile.labels:
			assert "the profile has no labels" in run("report", "--by-label", path).stderr
			continue
		option = "--by-label" if key is None else f"--by-label={key}"
		for resource, part in enumerate(as_json(option, path)):
			naive = definitions.by_label(samples_of(profile, resource), key)
			assert by_label(part["entries"]) == naive
			assert part["total_hits"] == sum(naive.values())
			hits = [entry["hits"] for entry in part["entries"]]
			assert hits == sorted(hits, reverse=True)


def test_sections_are_selections(sample):
	"""A section shows the same as --label, and the same as a profile of these hits alone."""
	path, profile = sample
	for key in keys_of(profile)[:2]:
		sections = as_json(f"--by-label={key}", "--body", path)
		assert any(section["labels"] for section in sections)
		for section in sections[:8]:
			if not section["labels"]:
				continue
			(value,) = map(plain, section["labels"].values())
			if "\ufffd" in value or section["resource"] != plain(section["resource"]):
				continue
			resource = [shown(profile.strings[row["name"]]) for row in profile.resources].index(section["resource"])
			(selected,) = as_json("--body", f"--label={key}={value}", "-r", section["resource"], path)
			assert selected["entries"] == section["entries"]
			assert selected["total_hits"] == sum(hits for labels, hits in samples_of(profile, resource)
				if definitions.is_labelled(labels, [(key, value)]))


def test_several_labels(sample):
	"""A sample is selected if it has one of the given values of each given key."""
	path, profile = sample
	chance = random.Random(1)
	keys = keys_of(profile)
	for _ in range(6 if keys else 0):
		sets = [dict(profile.labels_of(number)) for number in range(1, len(profile.label_sets))]
		pairs = [pair for chosen in chance.sample(sets, 2) for pair in chosen.items()]
		pairs = [(shown(key), shown(value)) for key, value in pairs]
		words = [(key, value if chance.random() < 0.7 else None) for key, value in chance.sample(pairs, min(3, len(pairs)))]
		if any("\ufffd" in (value or "") for _, value in words):
			continue
		options = [f"--label={key}" if value is None else f"--label={key}={value}" for key, value in words]
		result = run("report", "--by-label", *options, path)
		expected = [definitions.by_label([row for row in samples_of(profile, resource)
			if definitions.is_labelled(row[0], words)]) for resource in range(len(profile.resources))]
		if result.returncode:
			assert "no hit has all these labels" in result.stderr and not any(expected)
			continue
		assert [by_label(part["entries"]) for part in as_json("--by-label", *options, path)] == expected


def test_the_word_behind_by_label(made, tmp_path):
	"""The word after --by-label is a key, unless it names a file or is an option. After '=' it is always a key."""
	table = done("report", "--by-label", "tenant", "-r", "cpu", made)
	assert "tenant=acme" in table and "kind" not in table
	assert done("report", made, "-r", "cpu", "--by-label", "tenant") == table
	assert done("report", "-r", "cpu", "--by-label=tenant", made) == table
	sets = done("report", "--by-label", made, "-r", "cpu")
	assert "kind=buy tenant=acme" in sets
	assert done("report", made, "--by-label", "-r", "cpu") == done("report", made, "-r", "cpu", "--by-label") == sets
	(tmp_path / "tenant").write_bytes(made.read_bytes())
	assert done("report", "-r", "cpu", "--by-label", "tenant", cwd=tmp_path) == sets


@pytest.mark.parametrize("words, complaint", [
	(["--by-label", "tenent"], "no label 'tenent' in this profile; it has \\x1b[31m, kind, tenant"),
	(["--label", "owner=x"], "no label 'owner=x' in this profile"),
	(["--label", "tenant=Acme"], "no hits with the label 'tenant=Acme'; the values of tenant are acme, b \"&\" co; Ltd"),
	(["--label", "tenant=b \"&\" co; Ltd", "--label", "kind"], "no hit has all these labels"),
	(["--label", ""], "no label '' in this profile"),
])
def test_what_is_not_there(made, words, complaint):
	result = run("report", made, *words)
	assert result.returncode == 1
	assert complaint in result.stderr


@pytest.mark.parametrize("words", [["--by-label"], ["--label", "tenant=acme"]])
def test_touched_memory_has_no_labels(made, words):
	result = run("report", "--pages", *words, made)
	assert result.returncode == 2
	assert "touched memory has no labels" in result.stderr


def test_csv_of_sections(made):
	text = done("report", "--by-label", "tenant", "--body", "--format", "csv", *ALL, made)
	rows = list(csv.DictReader(io.StringIO(text), strict=True))
	assert {row["labels"] for row in rows} == {"tenant=acme", "", "tenant=b \"&\" co; Ltd"}
	sections = as_json("--by-label=tenant", "--body", made)
	assert [int(row["hits"]) for row in rows] == [entry["hits"] for part in sections for entry in part["entries"]]


def test_explore(made, tmp_path):
	def answer(*commands):
		result = run("explore", made, input="\n".join(commands) + "\n")
		assert (result.returncode, result.stderr) == (0, "")
		return result.stdout.split("\n", 1)[1]

	assert answer("label") == "label: all\n"
	assert answer("labels tenant") == done("report", "--by-label=tenant", "-r", "cpu", made)
	assert answer("labels") == done("report", "--by-label", "-r", "cpu", made)
	assert answer("label tenant=acme kind=buy", "body", "label all") == "label: tenant=acme kind=buy\n" + done(
		"report", "--body", "--label", "tenant=acme", "--label", "kind=buy", "-r", "cpu", made) + "label: all\n"
	answer("label 'tenant=b \"&\" co; Ltd'", f"export folded {tmp_path}/out")
	profile = decode.Profile(made.read_bytes())
	assert (tmp_path / "out").read_bytes() == profile.folded(
		chosen=lambda hit: profile.labels_of_hit(hit).get(b"tenant") == b'b "&" co; Ltd')
