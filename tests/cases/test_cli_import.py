"""import and export of folded stacks."""
import os
import subprocess
import threading

import pytest
from cli_support import CPPROF, INPUTS, check_failure, done, run


@pytest.mark.parametrize("format_name, data", [
	("folded", b"# x\n"), ("folded", b"#"), ("folded", b"main 0\n"), ("strace", b"\x80\x01\0\xff\n" * 20), ("strace", b"hello\n"), ("perf-script", b"# x\n"),
	("chrome", b'{"traceEvents":[]}'), ("callgrind", b"events: Ir\n"), ("heaptrack", b"v 10400 3\n")])
def test_import_without_data(tmp_path, format_name, data):
	"""A file without data is refused with the name of the format, and the profile that exists stays."""
	(tmp_path / "a").write_bytes(data)
	(tmp_path / "cpprof.data").write_text("precious")
	check_failure(run("import", "--format", format_name, "a", directory=tmp_path), f"cpprof import: cannot import 'a': it has no samples or counts in the format {format_name} (")
	assert (tmp_path / "cpprof.data").read_text() == "precious" and sorted(path.name for path in tmp_path.iterdir()) == ["a", "cpprof.data"]


def test_folded_text_without_a_last_line_feed(tmp_path):
	"""Whether it was cut cannot be known: it is read, and the profile says so."""
	note = "the file does not end in a line feed: if it was cut, its last count is too small"
	for text, is_open in (("main;f 12", True), ("main;f 12\n", False), ("main;g 1\nmain;f 12\r\n", False), ("main;f 12\n# end", False), ("main;f 12\n\t ", False)):
		(tmp_path / "a").write_text(text)
		done("import", "a", directory=tmp_path)
		assert (note in done("report", directory=tmp_path)) == is_open
		assert "f 12" in done("export", "--format", "folded", directory=tmp_path)


def test_first_byte_of_a_profile_is_none(tmp_path):
	(tmp_path / "a").write_bytes(b"\x89")
	check_failure(run("import", "a", directory=tmp_path), "cannot import 'a': its format is unknown (known formats: ")


def test_import_keeps_every_line(tmp_path):
	lines = [f"main;f{i};g{i % 7};h 1\n" for i in range(100000)]
	(tmp_path / "many.folded").write_text("".join(lines))
	done("import", "--format", "folded", "-o", "many.data", "many.folded", directory=tmp_path)
	exported = done("export", "--format", "folded", "many.data", directory=tmp_path)
	assert sorted(exported.splitlines(keepends=True)) == sorted(lines)


def test_import_from_standard_input_and_export_to_a_file(tmp_path):
	with open(INPUTS / "forms.folded") as stdin:
		done("import", "-", directory=tmp_path, stdin=stdin)
	done("export", "-o", "out.folded", directory=tmp_path)
	exported = (tmp_path / "out.folded").read_text()
	assert sorted(exported.splitlines()) == sorted((INPUTS / "forms.folded").read_text().splitlines())


def test_import_keeps_the_older_profile(tmp_path):
	for name in ("forms", "recursion"):
		done("import", INPUTS / f"{name}.folded", directory=tmp_path)
	assert "[614]" in done("report", "--functions", "cpprof.data.old", directory=tmp_path)
	assert "[614]" not in done("report", "--functions", directory=tmp_path)


def test_failed_import_replaces_nothing(tmp_path):
	(tmp_path / "cpprof.data").write_text("precious")
	(tmp_path / "bad.folded").write_text("main;f 3\nmain;g many\n")
	check_failure(run("import", "bad.folded", directory=tmp_path), "bad.folded:2")
	check_failure(run("import", "absent.folded", directory=tmp_path), "absent.folded")
	assert (tmp_path / "cpprof.data").read_text() == "precious"
	assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.folded", "cpprof.data"]


def test_failed_export_replaces_nothing(profiles, tmp_path):
	(tmp_path / "out.folded").write_text("precious")
	check_failure(run("export", "-r", "xyzzy", "-o", tmp_path / "out.folded", profiles / "whole.data"), "xyzzy")
	assert (tmp_path / "out.folded").read_text() == "precious"
	check_failure(run("export", "-o", tmp_path / "no/such/out.folded", profiles / "forms.data"), "no/such/out.folded")
	assert [path.name for path in tmp_path.iterdir()] == ["out.folded"]


def test_export_to_a_pipe_and_to_a_link(profiles, tmp_path):
	(tmp_path / "real").write_text("old")
	(tmp_path / "link").symlink_to("real")
	done("export", "-o", tmp_path / "link", profiles / "forms.data")
	assert (tmp_path / "link").is_symlink()
	assert "db_read_record" in (tmp_path / "real").read_text()
	os.mkfifo(tmp_path / "pipe")
	read = []
	reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
	reader.start()
	done("export", "-o", tmp_path / "pipe", profiles / "forms.data")
	reader.join()
	assert read[0] == (tmp_path / "real").read_text()


def test_export_of_one_of_several_resources_says_which(profiles):
	result = run("export", "whole.data", directory=profiles)
	assert result.returncode == 0
	assert "exported 'cpu'" in result.stderr and "page-faults" in result.stderr


@pytest.mark.parametrize("options", [[], ["--format", "gmon", "--image", "/bin/true"]], ids=["folded", "gmon"])
@pytest.mark.parametrize("way", ["file", "standard input", "pipe"])
def test_import_of_a_cpprof_profile(profiles, tmp_path, options, way):
	"""import refuses a cpprof profile, and names the command that opens it."""
	profile = profiles / "whole.data"
	if way == "file":
		result = run("import", *options, profile, directory=tmp_path)
		name = f"'{profile}'"
	elif way == "pipe":
		result = subprocess.run([CPPROF, "import", *options, "-"], cwd=tmp_path, input=profile.read_bytes(), capture_output=True)
		result.stderr, result.stdout = result.stderr.decode(), result.stdout.decode()
		name = way = "standard input"
	else:
		with open(profile) as stdin:
			result = run("import", *options, "-", directory=tmp_path, stdin=stdin)
		name = way
	opened = "-" if way == "standard input" else profile
	check_failure(result, f"cpprof import: cannot import {name}: it is a cpprof profile already (cpprof report {opened})\n")
	assert not [*tmp_path.iterdir()]


def test_import_of_a_folder(tmp_path):
	check_failure(run("import", ".", directory=tmp_path), "Is a directory")
