"""Input profiles that are missing, damaged, truncated or lossy, and where the commands look for them."""
import json
import re

from cli_support import INPUTS, check_failure, done, run


def test_lossless_profile_has_no_warning(profiles):
	assert run("report", "whole.data", directory=profiles).stderr == ""


def test_losses_are_reported(profiles):
	result = run("report", "lossy.data", directory=profiles)
	assert result.returncode == 0
	assert re.fullmatch(r"cpprof report: warning: lossy\.data: 17 samples were lost besides \d+ recorded\n"
		r"cpprof report: warning: lossy\.data: only 88\.40 % of the call paths are complete\n", result.stderr)
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


def test_profile_from_standard_input(profiles):
	with open(profiles / "forms.data") as stdin:
		assert "main [614]" in done("report", "-", stdin=stdin)
