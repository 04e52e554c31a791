"""The file format: a decoder written from docs/format.md alone agrees with the product on every kind of file."""
import collections
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from record_support import build, needs_whole_perf

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/decoder"))
import decode  # noqa: E402

BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
WRITE_SAMPLE = str(BUILD / "tests/unit/write_sample")
SECONDS_ALLOWED = 120


def cpprof(*words, **options):
	result = subprocess.run([CPPROF, *map(str, words)], capture_output=True, timeout=SECONDS_ALLOWED, **options)
	assert result.returncode == 0, result.stderr.decode(errors="replace")
	return result.stdout


def exported(path, *words):
	return cpprof("export", "--format", "folded", "-o", "-", *words, path)


def depths(folded):
	"""Hits by the number of frames. They stay the same when the product adds names, as it reads, that the recorder did not
	write."""
	hits = collections.Counter()
	for line in folded.splitlines():
		path, count = line.rsplit(b" ", 1)
		hits[0 if path == b"[no stack]" else path.count(b";") + 1] += int(count)
	return hits


SEVERITIES = ["note", "warning", "error"]
# The product adds these findings as it reads.
FOUND_IN_READING = {b"recording-cut", b"bytes-skipped", b"blocks-skipped", b"file-unreadable", b"samples-lost", b"paths-broken"}


def shown_findings(path):
	rows = json.loads(cpprof("info", "--format", "json", path))["findings"]
	return [(SEVERITIES.index(row["severity"]), row["code"].encode(), row["count"], row["text"].encode()) for row in rows]


def findings_agree(profile, path):
	shown = shown_findings(path)
	assert [row[0] for row in shown] == sorted((row[0] for row in shown), reverse=True)
	stored = profile.all_findings()
	assert sorted(row for row in shown if row[1] not in FOUND_IN_READING or row in stored) == sorted(stored)


def agree(path):
	"""Decodes a file in both ways, with each option of an export. Returns the decoder's profile."""
	profile = decode.Profile(path.read_bytes())
	assert profile.folded() == exported(path)
	assert profile.folded(inlines=False) == exported(path, "--no-inlines")
	assert profile.folded(trim=False) == exported(path, "--untrimmed")
	assert profile.folded(stitch=False) == exported(path, "--no-stitch")
	assert profile.folded(trim=False, stitch=False) == exported(path, "--no-stitch", "--untrimmed")
	findings_agree(profile, path)
	return profile


def random_folded(seed):
	chance = random.Random(seed)
	names = ["main", "a b", "std::vector<int, std::allocator<int> >::push_back", "f", "é", "f()"]
	lines = {}
	for _ in range(chance.randrange(1, 3000)):
		path = ";".join(chance.choice(names) for _ in range(chance.randrange(1, 12)))
		lines[path] = lines.get(path, 0) + chance.choice([1, 1, 2, 1000, 1 << 33])
	return "".join(f"{path} {count}\n" for path, count in lines.items()).encode()


@pytest.mark.parametrize("seed", range(8))
def test_random_profiles(tmp_path, seed):
	"""Profiles with every table and with unusual values, in several flushes."""
	path = tmp_path / "sample.data"
	subprocess.run([WRITE_SAMPLE, str(seed + 1), path], check=True)
	profile = agree(path)
	assert profile.ended and profile.totals[0]["symbolized"]


def test_killed(tmp_path):
	"""The file of a killed recorder has no end block and no names."""
	path = tmp_path / "killed.data"
	subprocess.run([WRITE_SAMPLE, "77", path, "killed"], check=True)
	profile = decode.Profile(path.read_bytes())
	assert depths(profile.folded()) == depths(exported(path))
	assert not profile.ended and not profile.totals[0]["symbolized"]


@pytest.mark.long("reads a file that is cut at each byte")
def test_cut_anywhere(tmp_path):
	whole, cut = tmp_path / "whole.data", tmp_path / "cut.data"
	subprocess.run([WRITE_SAMPLE, "5", whole], check=True)
	data = whole.read_bytes()
	blocks = list(decode.blocks_of(data))
	# Cuts on both sides of each block's end, after the first block with a resource to export.
	first = next(block.offset for block in blocks if block.type == 14)
	for block in blocks:
		for size in (block.offset - 1, block.offset, block.offset + 39, block.offset + 40):
			if first < size < len(data):
				cut.write_bytes(data[:size])
				found = decode.Profile(data[:size]).folded()
				if found:
					assert depths(found) == depths(exported(cut))
				else:
					assert b"was cut before its first sample" in subprocess.run([CPPROF, "export", "-o", "-", cut], capture_output=True, check=False).stderr


@pytest.mark.parametrize("seed", range(4))
def test_imported_stacks(tmp_path, seed):
	"""Folded stacks are imported, and both decoders export them unchanged."""
	text, path = random_folded(seed), tmp_path / "imported.data"
	cpprof("import", "--format", "folded", "-o", path, "-", input=text)
	profile = decode.Profile(path.read_bytes())
	assert sorted(profile.folded().splitlines()) == sorted(text.splitlines())
	assert profile.folded() == exported(path)


def test_a_million_lines(tmp_path):
	"""A million stacks are imported and exported without loss."""
	lines = 1_000_000
	path, source = tmp_path / "million.data", tmp_path / "million.folded"
	with open(source, "w", encoding="ascii") as file:
		file.writelines(f"main;f{i % 1000};g{i // 1000} {i % 7 + 1}\n" for i in range(lines))
	cpprof("import", "--format", "folded", "-o", path, source)
	out = exported(path)
	assert out.count(b"\n") == lines
	assert sorted(out.splitlines()) == sorted(source.read_bytes().splitlines())


@needs_whole_perf
def test_a_real_recording(tmp_path):
	path = tmp_path / "real.data"
	cpprof("record", "-r", "cpu", "-r", "page-faults/1", "-o", path, "--", build("forms.c"))
	profile = agree(path)
	assert profile.ended and profile.hits
	for number, resource in enumerate(profile.resources):
		name = profile.strings[resource["name"]].decode()
		assert profile.folded(number) == exported(path, "-r", name)


def test_newer_blocks_are_skipped(tmp_path):
	"""Both decoders skip a block of an unknown type."""
	path, newer = tmp_path / "sample.data", tmp_path / "newer.data"
	subprocess.run([WRITE_SAMPLE, "9", path], check=True)
	data = path.read_bytes()
	header = decode.struct.pack("<HHIIIQQ", 999, 0, 1, 3, 3, 0, decode.xxh64(b"new"))
	block = header + decode.struct.pack("<Q", decode.xxh64(header)) + b"new"
	newer.write_bytes(data[:16] + block + data[16:])
	assert decode.Profile(newer.read_bytes()).unknown == 1
	assert exported(newer) == exported(path)


def test_documented_types():
	"""docs/format.md has one section for each block type of the decoder, and no others."""
	text = (REPOSITORY / "docs/format.md").read_text()
	sections = {int(line.split()[1]) for line in text.splitlines() if line.startswith("### ") and line.split()[1].isdigit()}
	assert sections == set(decode.TABLES) | {decode.END, decode.STRINGS}


def test_disk_full(tmp_path):
	"""On a full disk the command reports the error and exits with status 1."""
	source = tmp_path / "in.folded"
	source.write_bytes(random_folded(1))
	result = subprocess.run([CPPROF, "import", "--format", "folded", "-o", "/dev/full", source], capture_output=True,
		timeout=SECONDS_ALLOWED, check=False)
	assert result.returncode == 1
	assert b"No space left on device" in result.stderr
