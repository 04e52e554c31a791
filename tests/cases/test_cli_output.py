"""Output to files, pipes, terminals and full disks."""
import fcntl
import json
import os
import re
import signal
import stat
import subprocess
import termios

import pytest
from cli_support import CPPROF, SECONDS_ALLOWED, done


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_is_noticed(profiles):
	for words in (["report", profiles / "forms.data"], ["--help"], ["export", profiles / "forms.data"],
			["export", "-o", "/dev/full", profiles / "forms.data"]):
		with open("/dev/full", "w") as full:
			result = subprocess.run([CPPROF, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
		assert result.returncode == 1, words
		assert "No space left on device" in result.stderr, words


def test_reader_that_hangs_up_hears_nothing(profiles):
	for ignored in (False, True):
		end, start = os.pipe()
		os.close(end)
		for command in ("report", "export"):
			result = subprocess.run([CPPROF, command, str(profiles / "forms.data")], stdout=start,
				stderr=subprocess.PIPE, restore_signals=not ignored)
			assert result.returncode == (1 if ignored else -signal.SIGPIPE)
			assert result.stderr == b""
		os.close(start)


def test_closed_output_is_noticed(profiles, tmp_path):
	data = (profiles / "forms.data").read_bytes()
	(tmp_path / "a.data").write_bytes(data)
	result = subprocess.run(["sh", "-c", '"$1" report a.data >&-', "sh", CPPROF], cwd=tmp_path, capture_output=True,
		text=True)
	assert result.returncode == 1
	assert "standard output" in result.stderr
	assert (tmp_path / "a.data").read_bytes() == data


def test_long_reading_is_reported_on_a_terminal(tmp_path):
	"""On a terminal, cpprof shows a progress line after 1 s of reading. The test writes the input only when it has seen this
	line."""
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, "import", "--format", "folded", "-"], cwd=tmp_path, stderr=slave, stdin=subprocess.PIPE,
		stdout=subprocess.DEVNULL, text=True)
	os.close(slave)
	with process.stdin as slow:
		shown = b""
		while b"reading standard input ... 1 s" not in shown:
			shown += os.read(master, 4096)
		slow.write("main;f 3\n")
	try:
		while chunk := os.read(master, 4096):
			shown += chunk
	except OSError:
		pass  # the end of a terminal's output
	os.close(master)
	assert process.wait(timeout=SECONDS_ALLOWED) == 0
	assert shown.count(b"\r\x1b[K") == 1 and shown.index(b" s") < shown.index(b"\r\x1b[K")


def on_a_terminal(*words, directory, **environment):
	"""The output of a command whose standard output is a terminal."""
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, *words], cwd=directory, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE,
		env={**os.environ, "TERM": "xterm", "CPPROF_PAGER": "", **environment}, start_new_session=True,
		preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0)) # /dev/tty is this terminal
	os.close(slave)
	output = b""
	try:
		while chunk := os.read(master, 65536):
			output += chunk
	except OSError:
		pass  # the end of a terminal's output
	process.communicate(timeout=SECONDS_ALLOWED)
	os.close(master)
	return output.decode()


def test_colour_only_on_a_terminal(profiles):
	environment = {"NO_COLOR": ""}
	assert "\x1b[" in on_a_terminal("report", "forms.data", directory=profiles, **environment)
	assert "\x1b[" not in on_a_terminal("report", "forms.data", directory=profiles, NO_COLOR="1")
	assert "\x1b[" not in done("report", "forms.data", directory=profiles, **environment)


# A command to the terminal, an 8-bit one, text that runs backwards, an isolate, a character of no width, and a tag.
HOSTILE = ["\x1b]0;title\x07", "\x9b2J", "\u202egnp.exe", "\u2066x\u2069", "a\u200bb", "\U000e0041"]
UNSAFE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
	"""A folder with a profile whose functions have hostile names."""
	folder = tmp_path_factory.mktemp("hostile")
	text = "".join(f"main;{name.replace(';', ':')} {count}\n" for count, name in enumerate(HOSTILE, 5))
	(folder / "stacks.folded").write_text(text)
	done("import", "--format", "folded", "-o", "a.data", "stacks.folded", directory=folder)
	return folder


PRINTING = ["report a.data", "report --body a.data", "report --down main a.data", "report --tree a.data", "report --format csv a.data",
	"report --body --format csv a.data", "report --format json a.data", "report --call-graph a.data",
	"report --call-graph --format csv a.data", "diff a.data a.data", "diff --format csv a.data a.data", "info a.data", "export a.data",
	"export -o /dev/tty a.data", "explain a.data", "explain --format json a.data", "export --format callgrind a.data", "export --format chrome a.data"]


@pytest.mark.parametrize("words", PRINTING)
def test_names_do_not_command_a_terminal(hostile, words):
	shown = on_a_terminal(*words.split(), directory=hostile, NO_COLOR="1")
	assert not UNSAFE.search(shown), shown
	if "info" not in words:
		assert "u202egnp.exe" in shown or "?gnp.exe" in shown, shown


def test_names_are_whole_where_no_terminal_is(hostile):
	names = {name.replace(";", ":") for name in HOSTILE}
	for words in (["report", "--body", "--format", "csv"], ["export"]):
		text = done(*words, "a.data", directory=hostile)
		assert all(name in text for name in names), text
	document = json.loads(done("report", "--body", "--format", "json", "a.data", directory=hostile))
	assert {entry["path"][0] for entry in document["results"][0]["entries"]} == names


def test_same_file_prints_the_same_bytes(profiles):
	words = ("report", "--down", "main", "--limit", "0", "--threshold", "0", "forms.data")
	assert done(*words, directory=profiles) == done(*words, directory=profiles)


def test_a_page_is_as_private_as_the_profile(profiles, tmp_path):
	done("html", "-o", tmp_path / "page.html", "forms.data", directory=profiles)
	assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600
