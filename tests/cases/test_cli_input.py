"""Input profiles that are missing, damaged, truncated or lossy, and where the commands look for them."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import CPPROF, INPUTS, check_failure, done, make_input, run
from record_support import HITS, blocks_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
from corpus_profile_file import block, blocks, column, file_header, varint # noqa: E402


def test_lossless_profile_has_no_warning(profiles):
	assert run("report", "whole.data", directory=profiles).stderr == ""


def test_losses_are_reported(profiles):
	result = run("report", "lossy.data", directory=profiles)
	assert result.returncode == 0
	assert re.fullmatch(r"cpprof report: warning: lossy\.data: 17 samples were lost besides \d+ recorded\n"
		r"cpprof report: warning: lossy\.data: only 88\.40 % of the call paths reach their root\n", result.stderr)
	document = json.loads(run("report", "--format", "json", "lossy.data", directory=profiles).stdout)
	counts = {finding["code"]: finding["count"] for finding in document["findings"]}
	assert counts["samples-lost"] == 17 and counts["paths-broken"] > 0


def test_killed_recorder_is_reported(profiles):
	result = run("report", "killed.data", directory=profiles)
	assert result.returncode == 0
	assert "killed.data: the recording is incomplete: it ends after" in result.stderr
	assert "naming 8 addresses" in result.stderr
	assert "demo+0x" in result.stdout


def test_no_profile_yet(tmp_path):
	for command in (["report"], ["info"], ["explore"], ["whatif", "main=0"], ["export"]):
		check_failure(run(*command, directory=tmp_path), "cpprof.data", "(cpprof record COMMAND writes it)")
	check_failure(run("report", "other.data", directory=tmp_path), "other.data", "No such file")


def test_directory_for_a_profile(tmp_path):
	check_failure(run("report", tmp_path), str(tmp_path))


def test_foreign_file():
	assert "main [614]" in done("report", "--functions", INPUTS / "forms.folded")


def test_empty_file(tmp_path):
	(tmp_path / "a.data").touch()
	check_failure(run("report", tmp_path / "a.data"), "a.data")


def test_damaged_file(profiles, tmp_path):
	whole = (profiles / "whole.data").read_bytes()
	damaged = bytearray(whole)
	damaged[len(whole) // 2] ^= 0xff
	(tmp_path / "a.data").write_bytes(damaged)
	check_failure(run("report", tmp_path / "a.data"), "a.data")


def test_truncated_file_reads_up_to_its_cut(profiles, tmp_path):
	whole = (profiles / "whole.data").read_bytes()
	(tmp_path / "a.data").write_bytes(whole[:-7])
	result = run("info", tmp_path / "a.data")
	assert result.returncode == 0, result.stderr
	assert "warning" in result.stderr


WITH_SAMPLES = (["report"], ["report", "-r", "cpu"], ["report", "--format", "csv"], ["whatif", "main=0"], ["html", "-o", "out.html"], ["export", "-o", "out.folded"],
	["merge", "-o", "out.data"], ["explain"], ["name"])


@pytest.mark.parametrize("size", [17, 60, 200, 400, 600])
def test_a_file_without_its_samples(profiles, tmp_path, size):
	"""Nothing is shown of it, so it is an error. `info` describes what is left."""
	(tmp_path / "a.data").write_bytes((profiles / "whole.data").read_bytes()[:size])
	for words in WITH_SAMPLES:
		result = run(*words[:1], "a.data", *words[1:], directory=tmp_path)
		check_failure(result, "cannot use 'a.data': the recording was cut before its first sample was written (record again; 'cpprof info' shows what is left)")
		assert "whole" not in result.stderr and "naming" not in result.stderr
	assert run("diff", profiles / "whole.data", "a.data", directory=tmp_path).returncode == 1
	with make_input("functions\n") as questions:
		assert run("explore", "a.data", directory=tmp_path, stdin=questions).returncode == 1
	assert [path.name for path in tmp_path.iterdir()] == ["a.data"]
	shown = run("info", "a.data", directory=tmp_path)
	assert shown.returncode == 0 and "the recorder was stopped before its end" in shown.stdout


def test_what_a_cut_file_lacks(profiles, tmp_path):
	"""A warning states how many samples the last block had, and that the names are missing that the recorder adds at its end."""
	whole = (profiles / "whole.data").read_bytes()
	hits = [found for found in blocks_of(whole) if found[2] == HITS]
	at, size, _, rows = hits[-1]
	(tmp_path / "a.data").write_bytes(whole[:at + size - 1])
	shown = run("info", "a.data", directory=tmp_path)
	assert shown.returncode == 0 and f"skipped {size - 1} trailing bytes of an incomplete block, which had {rows} samples\n" in shown.stderr
	last = blocks_of(whole)[-1]
	for data, names in ((whole[:last[0]], ""), (whole[:hits[-1][0] + hits[-1][1]], ", without the names that the recorder adds at its end")):
		(tmp_path / "a.data").write_bytes(data)
		result = run("report", "--format", "json", "a.data", directory=tmp_path)
		assert result.returncode == 0, result.stderr
		assert re.search(rf"warning: a\.data: the recording is incomplete: it ends after \S+ s{names}\n", result.stderr), result.stderr
		assert "recording-cut" in {finding["code"] for finding in json.loads(result.stdout)["findings"]}


def test_an_endless_file(tmp_path):
	check_failure(run("report", "/dev/zero"), "cannot read '/dev/zero': it is not a regular file (/dev/stdin reads a pipe)")
	with open("/dev/zero") as stdin:
		for name in ("-", "/dev/stdin"):
			check_failure(run("report", name, stdin=stdin), "is not a cpprof profile")


@pytest.mark.parametrize("words", [["report", "fifo"], ["html", "fifo"], ["info", "fifo"], ["diff", "forms.data", "fifo"], ["merge", "-o", "out.data", "fifo"],
	["whatif", "fifo", "main=0"], ["export", "fifo"], ["import", "-o", "out.data", "fifo"]], ids=lambda words: words[0])
def test_a_fifo_is_refused(profiles, tmp_path, words):
	"""To open it would wait for a writer for ever. A shell's <(COMMAND) is a descriptor of our own, and is read."""
	os.mkfifo(tmp_path / "fifo")
	(tmp_path / "forms.data").symlink_to(profiles / "forms.data")
	check_failure(run(*words, directory=tmp_path), "cannot read 'fifo': it is not a regular file")
	assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "forms.data"]
	with open(profiles / "forms.data", "rb") as file:
		piped = subprocess.run([CPPROF, "report", "--functions", "/dev/stdin"], input=file.read(), capture_output=True, check=True).stdout
	assert b"main [614]" in piped


OUTPUTS = [
	(["html"], []), (["html", "other.data"], []), (["merge", "other.data"], []), (["merge", "./link.data"], []), (["export"], []), (["export", "--format", "pprof"], []),
	(["import"], []), (["import", "--format", "gmon", "--image"], ["other.data"]),
]


@pytest.mark.parametrize("before, behind", OUTPUTS, ids=lambda words: " ".join(words))
def test_output_that_is_an_input(profiles, tmp_path, before, behind):
	"""It is refused before anything is read, by whichever name, and is unchanged."""
	for name in ("a.data", "other.data"):
		(tmp_path / name).write_bytes((profiles / "forms.data").read_bytes())
	(tmp_path / "link.data").symlink_to("a.data")
	bytes_before = (tmp_path / "a.data").read_bytes()
	for output in ("a.data", "./a.data", "link.data"):
		result = run(*before, "a.data", *behind, "-o", output, directory=tmp_path)
		assert result.returncode == 2 and f"cannot write '{output}': it is the input '" in result.stderr, result.stderr
		assert "(-o OTHER)" in result.stderr and result.stdout == ""
	with open(tmp_path / "a.data") as stdin:
		result = run(*before, "-", *behind, "-o", "a.data", directory=tmp_path, stdin=stdin)
	assert result.returncode == 2 and "cannot write 'a.data': it is the input '" in result.stderr, result.stderr
	assert (tmp_path / "a.data").read_bytes() == bytes_before
	assert sorted(path.name for path in tmp_path.iterdir()) == ["a.data", "link.data", "other.data"]


def test_output_that_is_the_program(tmp_path):
	"""It is not run. A file of the folder is not the program that is found by its name alone."""
	for name in ("program", "true"):
		(tmp_path / name).write_bytes(Path("/bin/true").read_bytes())
		(tmp_path / name).chmod(0o755)
	for output in ("program", "./program"):
		result = run("record", "--backend", "preload", "-o", output, "./program", directory=tmp_path)
		assert result.returncode == 2 and f"cannot write '{output}': it is the program './program' (-o OTHER)" in result.stderr, result.stderr
	(tmp_path / "3").symlink_to("program")
	result = run("record", "--backend", "preload", "-o", "%r", "./3", directory=tmp_path, OMPI_COMM_WORLD_RANK="3")
	assert result.returncode == 2 and "cannot write '3': it is the program './3' (-o OTHER)" in result.stderr, result.stderr
	assert (tmp_path / "program").read_bytes() == Path("/bin/true").read_bytes()
	assert run("record", "--backend", "preload", "-o", "true", "true", directory=tmp_path).returncode == 0


def test_output_that_is_the_store(profiles, tmp_path):
	done("store", "add", "--store", "s.db", "--service", "x", profiles / "forms.data", directory=tmp_path)
	for store in ("s.db", "sqlite://s.db"):
		result = run("export", "--store", store, "-o", "s.db", directory=tmp_path)
		assert result.returncode == 2 and f"cannot write 's.db': it is the input '{store}'" in result.stderr, result.stderr
	assert "main" in done("report", "--store", "s.db", directory=tmp_path)


def test_spread_needs_two_sides(profiles, tmp_path):
	result = run("html", "--spread", "0.1", "-o", tmp_path / "page.html", "forms.data", directory=profiles)
	assert result.returncode == 2 and "--spread needs two sides, which it compares (cpprof html --spread 0.1 A B)" in result.stderr
	assert not list(tmp_path.iterdir())


def test_names_of_files_are_quoted(profiles, tmp_path):
	(tmp_path / "short").write_bytes((profiles / "whole.data").read_bytes()[:9])
	(tmp_path / "text").write_text("text")
	for words, text in ((["report", "no"], "cannot read 'no': No such file"), (["report", "short"], "'short' is cut off within"),
			(["report", "text"], "cannot open 'text': it is not a cpprof profile"), (["report", "."], "cannot read '.': Is a directory"),
			(["import", "-o", "no/where", "text"], "cannot write 'no/where': ")):
		assert text in run(*words, directory=tmp_path).stderr, words
	with make_input("text") as stdin:
		assert "cannot open standard input: it is not a cpprof profile" in run("report", "-", stdin=stdin).stderr
	words = ["import", "--format", "gmon", "--image", "/bin/true"]
	assert ": 'text' is not a gmon.out file" in run(*words, "text", directory=tmp_path).stderr
	with make_input("text") as stdin:
		assert ": standard input is not a gmon.out file" in run(*words, "-", directory=tmp_path, stdin=stdin).stderr


def test_profile_from_standard_input(profiles):
	with open(profiles / "forms.data") as stdin:
		assert "main [614]" in done("report", "--functions", "-", stdin=stdin)


ROWS = 65536 # the most that one block has


def many_hits(count):
	"""Returns a profile of some kilobytes with count * 65,536 equal hits of one node."""
	hits = b"".join(column([value]) for value in (10**6, 1, 1, 0, 1))
	return file_header(minor=4) + b"".join(blocks()[:9] + [block(14, ROWS, ROWS * index, hits) for index in range(count)])


def long_chain(count):
	"""Returns a profile of some kilobytes with a path of count * 65,536 frames, each of which has a hit."""
	def rising(start):
		return bytes([128]) + varint(start - 1) + varint(1)
	found = blocks()[:8]
	for index in range(count):
		found.append(block(10, ROWS, 1 + ROWS * index, rising(ROWS * index) + column([0])))
	for index in range(count):
		columns = [column([10**6]), column([1]), rising(1 + ROWS * index), column([0]), column([1])]
		found.append(block(14, ROWS, ROWS * index, b"".join(columns)))
	return file_header(minor=4) + b"".join(found + blocks()[19:])


READERS = [["report"], ["info"], ["export"], ["whatif", "main=0"], ["explore"], ["gprof", CPPROF], ["html"], ["browse"], ["explain"], ["contextualize"], ["name"]]


@pytest.mark.parametrize("words", READERS, ids=lambda words: words[0])
def test_a_small_file_with_large_tables(tmp_path, words):
	hostile = tmp_path / "hits.data"
	hostile.write_bytes(many_hits(600))
	assert hostile.stat().st_size < 100000
	check_failure(run(*words, "hits.data", directory=tmp_path), "hits.data", "its tables take 1.17", "more than the limit of 1 GiB",
		"(--memory SIZE raises it)")


def test_a_small_file_with_large_tables_is_not_compared(tmp_path):
	(tmp_path / "hits.data").write_bytes(many_hits(600))
	(tmp_path / "one.data").write_bytes(many_hits(1))
	check_failure(run("diff", "one.data", "hits.data", directory=tmp_path), "hits.data", "(--memory SIZE raises it)")


@pytest.mark.unsanitized("a sanitizer's allocator ends the process where memory is limited")
def test_memory_that_an_analysis_needs_counts(tmp_path):
	(tmp_path / "chain.data").write_bytes(long_chain(4))
	assert "main" in done("report", "chain.data", directory=tmp_path)
	result = run("report", "--memory", "12M", "chain.data", directory=tmp_path)
	check_failure(result, "out of memory", "the limit is 12 MiB (--memory SIZE raises it)")
	explored = run("explore", "--memory", "16M", "chain.data", directory=tmp_path, stdin=make_input("down main\n"))
	assert explored.returncode == 1 and "the limit is 16 MiB (--memory SIZE raises it)" in explored.stderr


def test_the_limit_can_be_raised(tmp_path):
	(tmp_path / "hits.data").write_bytes(many_hits(16))
	check_failure(run("info", "--memory", "16M", "hits.data", directory=tmp_path), "more than the limit of 16 MiB")
	for limit in ("256M", "1G", "0"):
		assert "1048576 samples" in done("info", "--memory", limit, "hits.data", directory=tmp_path)


def test_memory_that_is_none(profiles):
	result = run("report", "--memory", "much", "whole.data", directory=profiles)
	assert result.returncode == 2 and "'much' is not an amount of memory (--memory 512M, or 4G; 0: no limit)" in result.stderr
