"""Output to files, pipes, terminals and full disks."""
import os
import signal
import subprocess

import pytest
from cli_support import CPPROF, SECONDS_ALLOWED, done, run


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
	os.mkfifo(tmp_path / "slow")
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, "import", "--format", "folded", "slow"], cwd=tmp_path, stderr=slave,
		stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
	os.close(slave)
	with open(tmp_path / "slow", "w") as slow:
		shown = b""
		while b"reading slow ... 1 s" not in shown:
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
	process = subprocess.Popen([CPPROF, *words], cwd=directory, stdin=subprocess.DEVNULL, stdout=slave,
		stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm", **environment})
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


def test_same_file_prints_the_same_bytes(profiles):
	words = ("report", "--down", "main", "--limit", "0", "--threshold", "0", "forms.data")
	assert done(*words, directory=profiles) == done(*words, directory=profiles)
