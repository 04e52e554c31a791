"""Input profiles that are missing, damaged, truncated or lossy, and where the commands look for them."""
import json
import re

from cli_support import INPUTS, check_failure, done, make_input, run


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
	check_failure(run("report", INPUTS / "forms.folded"), "forms.folded", "cpprof import")


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


def test_a_file_that_ends_before_its_resources(profiles, tmp_path):
	whole = (profiles / "whole.data").read_bytes()
	for size in (17, 60, 200, 400):
		(tmp_path / "a.data").write_bytes(whole[:size])
		for words in (["report"], ["report", "-r", "cpu"], ["report", "--format", "csv"], ["export"]):
			result = run(*words, "a.data", directory=tmp_path)
			text = result.stdout + result.stderr
			assert "the recording was cut before its resources were written" in text, (size, words, text)
			assert "naming 0 addresses" not in text
		with make_input("functions\n") as questions:
			text = run("explore", "a.data", directory=tmp_path, stdin=questions)
			assert "cut before its resources were written" in text.stdout + text.stderr
	(tmp_path / "a.data").write_bytes(whole[:600])
	result = run("report", "a.data", directory=tmp_path)
	assert result.returncode == 0 and "cut before its first sample" in result.stdout
	assert "naming" not in result.stderr


def test_an_endless_file(tmp_path):
	check_failure(run("report", "/dev/zero"), "'/dev/zero' is not a cpprof profile")


def test_names_of_files_are_quoted(profiles, tmp_path):
	(tmp_path / "short").write_bytes((profiles / "whole.data").read_bytes()[:9])
	(tmp_path / "text").write_text("text")
	for words, text in ((["report", "no"], "cannot read 'no': No such file"), (["report", "short"], "'short' is cut off within"),
			(["report", "text"], "'text' is not a cpprof profile"), (["report", "."], "'.' is a directory"),
			(["import", "-o", "no/where", "text"], "cannot write 'no/where': ")):
		assert text in run(*words, directory=tmp_path).stderr, words
	with make_input("text") as stdin:
		assert "standard input is not a cpprof profile" in run("report", "-", stdin=stdin).stderr
	words = ["import", "--format", "gmon", "--image", "/bin/true"]
	assert ": 'text' is not a gmon.out file" in run(*words, "text", directory=tmp_path).stderr
	with make_input("text") as stdin:
		assert ": standard input is not a gmon.out file" in run(*words, "-", directory=tmp_path, stdin=stdin).stderr


def test_profile_from_standard_input(profiles):
	with open(profiles / "forms.data") as stdin:
		assert "main [614]" in done("report", "-", stdin=stdin)
