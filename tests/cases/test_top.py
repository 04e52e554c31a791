"""`cpprof top`: the last seconds of a running program on the screen, its keys, its ends, and what it refuses."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from measuring import near
from browse_support import Browser, percent
from cli_support import CPPROF
from record_support import build, needs_bpf, needs_perf, tolerance
from user_support import as_user, open_folder

pytestmark = [needs_perf, pytest.mark.long("waits for pictures of programs that run")]

BACKENDS = [pytest.param("bpf", marks=needs_bpf), "perf", "preload"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: other processes are recorded")


class Top(Browser):
	command = "top"

	def samples(self):
		found = re.search(r"([\d,]+) samples?, last ", self.lines()[0])
		return int(found[1].replace(",", "")) if found else 0

	def shares(self):
		"""{function: (own percent, percent with callees)} of the list of functions."""
		found = {}
		for line in self.lines()[3:-1]:
			row = re.match(r"(.{14})(.{14}).{11}(?:.{8})?  (\S.*)$", line) # without CPU % for other resources
			if row:
				found[row[3]] = (percent(row[1]), percent(row[2]))
		return found

	def refreshed(self, times=2):
		"""Waits for so many newer profiles."""
		for _ in range(times):
			before = self.lines()[0]
			self.wait_for(lambda: self.lines()[0] != before, "a newer profile")

	def still(self, seconds):
		"""Reads for so long. Returns whether nothing on the screen has changed."""
		before, end = self.text(), time.monotonic() + seconds
		while time.monotonic() < end:
			self.read()
		return self.text() == before


def pid_in(path):
	"""Waits until the program has written its process id."""
	end = time.monotonic() + 60
	while not (found := re.search(r"^pid (\d+)\n", path.read_text() if path.exists() else "", re.MULTILINE)):
		assert time.monotonic() < end
		select.select([], [], [], 0.01)
	return int(found[1])


def is_running(pid):
	"""Whether the process is there, and not only waits for its parent."""
	try:
		with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
			return file.read().rsplit(")", 1)[1].split()[0] != "Z"
	except OSError:
		return False


@pytest.fixture
def command(tmp_path):
	"""The words that show tests/programs/phases.c; its output is in tmp_path/out. Ends it afterwards. Functions of the kernel would
	fill the screen with single samples."""
	program = build("phases.c")
	yield ["--no-kernel", "-o", tmp_path / "out", program]
	if (tmp_path / "out").exists() and (found := re.search(r"^pid (\d+)", (tmp_path / "out").read_text(), re.MULTILINE)) and is_running(found[1]):
		os.kill(int(found[1]), signal.SIGKILL)


@pytest.fixture
def running(tmp_path):
	"""tests/programs/phases.c, started without cpprof."""
	with open(tmp_path / "out", "wb") as out, subprocess.Popen([build("phases.c")], stdout=out, stderr=subprocess.DEVNULL) as process:
		pid_in(tmp_path / "out")
		yield process
		assert process.poll() is None, "the target was harmed"
		process.kill()


@pytest.mark.measured("shares of sampled CPU time vary")
@pytest.mark.parametrize("backend", BACKENDS)
def test_shares_of_functions(command, tmp_path, backend):
	"""The functions have the shares of CPU time that the program states, and the command's output is in the file, not on the screen."""

	def is_named(shares):
		"""Whether the list has all functions: names are searched after the first pictures."""
		return {"heavy", "light", "burn"} <= shares.keys() and abs(shares["burn"][0] - shares["heavy"][1] - shares["light"][1]) < 1

	with Top("--backend", backend, *command) as top:
		top.wait_for(lambda: top.samples() > 1000 and is_named(top.shares()), "a thousand samples and all names")
		shares, samples, stated = top.shares(), top.samples(), (tmp_path / "out").read_text()
		total = shares["heavy"][1] + shares["light"][1]
		for path, fraction in re.findall(r"^share (\S+) (\S+)$", stated, re.MULTILINE):
			name = path.split(";")[1]
			allowed = 100 * tolerance(float(fraction), samples * total / 100) + 0.1
			near(100 * shares[name][1] / total, 100 * float(fraction), allowed, top.text())
		assert top.end("q") == 0
		assert b"must not be" not in top.written and "this must not be on the screen" in stated
		pid = pid_in(tmp_path / "out")
		assert f"the command goes on as process {pid}" in top.text() and is_running(pid)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_window_slides(command, tmp_path, backend):
	"""A function that stops leaves the screen when the window has passed, and what began fills it."""
	with Top("--backend", backend, "--window", "2", *command) as top:
		top.wait(r" heavy$")
		os.kill(pid_in(tmp_path / "out"), signal.SIGUSR1)
		top.wait(r" later$")
		top.wait_for(lambda: "heavy" not in top.shares() and "later" in top.shares(), "the later phase alone")
		assert re.search(r", last 2 s", top.lines()[0]), top.text()
		assert top.shares()["later"][1] > 99, top.text()
		top.end("q")


def test_freeze(command):
	"""z stops all changes of the screen, whatever is pressed; z again shows the present."""
	with Top(*command) as top:
		top.wait(" heavy$")
		top.press("z", until="FROZEN")
		samples = top.samples()
		assert top.still(3), top.text()
		top.press("t", until="^tree")
		assert top.samples() == samples
		top.send("z")
		top.wait_for(lambda: top.samples() != samples and "FROZEN" not in top.text(), "the present")
		top.end("q")


def test_paths_stay_open(command):
	"""The tree shows the hot path; rows that the user opens or closes stay so from profile to profile, and so does the cursor."""
	with Top(*command) as top:
		top.wait(" heavy$")
		top.press("t", until=r"▸ light$")
		top.wait_for(lambda: [name for *_, name in top.rows()][:5] == ["main", "first", "heavy", "burn", "light"], "the hot path")
		top.press("/", "light", "enter", "right", until=r"▾ light$")
		top.refreshed()
		assert re.search(r"▾ light$", top.text(), re.M), top.text()
		row = int(re.search(r"row (\d+)", top.text())[1])
		assert "light" in top.lines()[2 + row], top.text()
		top.press("home", "left", until=r"▸ main$")
		top.refreshed()
		assert re.search(r"▸ main$", top.text(), re.M) and "heavy" not in top.text(), top.text()
		top.press("right", until=r"▸ first$")
		top.end("q")


def test_pages_of_a_function(command, tmp_path):
	"""Callers, callees and lines of a function are refreshed; without samples the page waits, and comes back."""
	with Top("--window", "1", *command) as top:
		top.wait(" heavy$")
		top.press("/", "heavy", "enter", "u", until="^callers of heavy")
		top.refreshed()
		assert "first" in top.text(), top.text()
		top.press("s", until=r"burn\(750\)")
		top.refreshed()
		assert "burn(750)" in top.text(), top.text()
		os.kill(pid_in(tmp_path / "out"), signal.SIGUSR1)
		top.wait(r"^waiting for samples of heavy")
		top.wait(r"no samples in these seconds")
		top.press("f", until=" later$")
		top.end("q")


def test_resources(command):
	"""The key r shows another resource, in the same run. Only CPU time is a percentage of a processor."""
	with Top("-r", "cpu", "-r", "page-faults/1", *command) as top:
		top.wait(" heavy$")
		assert "CPU %" in top.lines()[2], top.text()
		top.press("r", "down", until=r"page-faults")
		top.press("enter", until=r"^page-faults ")
		assert "CPU %" not in top.text()
		top.wait_for(lambda: top.shares().get("touch", (0, 0))[0] > 90, "the faults")
		top.end("q")


def test_sort_and_search(command):
	"""The order that the user chose stays, and the cursor stays on its function."""
	with Top(*command, rows=60) as top:
		top.wait(" heavy$")
		assert top.lines()[3].endswith(" burn"), top.text()
		top.press("o", until="function")
		top.refreshed()
		names = list(top.shares())
		assert names == sorted(names), top.text()
		top.press("/", "light", "enter", until="functions")
		top.refreshed()
		assert "light" in top.lines()[2 + int(re.search(r"row (\d+)", top.text())[1])], top.text()
		top.end("q")


@pytest.mark.parametrize("backend", BACKENDS[:2])
def test_attached(running, backend):
	"""A process that runs already is shown, and goes on when top ends: by a key or a signal."""
	for number in (None, signal.SIGTERM, signal.SIGKILL):
		with Top("--backend", backend, "--no-kernel", "-p", running.pid) as top:
			top.wait(" heavy$")
			if number:
				os.kill(top.pid, number)
			assert top.end(*(() if number else ("q",))) == -(number or 0)
			assert "goes on" not in top.text()


@needs_root
@needs_bpf
def test_machine(running):
	"""-a first shows the processes, by their use; one of them can be chosen, and stays chosen."""
	with Top("-a", rows=50) as top:
		top.wait(rf"^ .* {running.pid}  phases$")
		assert top.lines()[1].startswith("processes")
		top.press("/", "phases", "enter", "enter", until=r"^tree")
		top.wait(r"process phases")
		top.wait(r" heavy$")
		top.refreshed()
		assert [name for *_, name in top.rows()][:2] in (["main", "first"], ["main@phases", "first"]), top.text()
		top.press("i", until=rf"every {2.5 * os.sysconf('SC_NPROCESSORS_ONLN'):g} ms") # 400 a second in all
		assert "stopped before its end" not in top.text(), top.text()
		top.end("q")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(command, tmp_path, number):
	"""The screen is left, the settings are as before, and the command goes on."""
	master, slave = os.openpty()
	before = termios.tcgetattr(slave)
	with subprocess.Popen([CPPROF, "top", *map(str, command)], stdin=slave, stdout=slave, stderr=slave,
		env={**os.environ, "TERM": "xterm"}) as process:
		found = b""
		while b"heavy" not in found:
			found += os.read(master, 65536)
		assert termios.tcgetattr(slave) != before
		os.kill(process.pid, number)
		while select.select([master], [], [], 0.2)[0] or process.poll() is None:
			if select.select([master], [], [], 0)[0]:
				found += os.read(master, 65536)
		assert process.wait(60) == -number
	assert found.rindex(b"\x1b[?1049l") > found.rindex(b"\x1b[?1049h")
	assert termios.tcgetattr(slave) == before
	os.close(master)
	os.close(slave)
	assert is_running(pid_in(tmp_path / "out"))


def test_interrupt_key_ends_both(command, tmp_path):
	"""^C is for the command too, as in a shell."""
	with Top(*command) as top:
		top.wait(" heavy$")
		pid = pid_in(tmp_path / "out")
		assert top.end("\x03") == -signal.SIGINT
		end = time.monotonic() + 60
		while is_running(pid):
			assert time.monotonic() < end


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_command_that_ends(tmp_path, backend):
	"""Its last seconds stay on the screen, and it was not disturbed."""
	bare = subprocess.run([build("steady.c"), tmp_path / "bare"], check=True)
	with Top("--backend", backend, "--no-kernel", build("steady.c"), tmp_path / "file", rows=200) as top: # all functions
		top.wait("ENDED")
		assert bare.returncode == 0 and (tmp_path / "file").read_text() == (tmp_path / "bare").read_text()
		top.wait(" work$")
		assert top.still(1.5), top.text()
		top.press("t", until="▾ main$")
		assert top.end("q") == 0
		assert "goes on" not in top.text()


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_that_a_runtime_generates(tmp_path, backend):
	"""Code that a run-time compiler generates has the names of its map and of its dump, which the program writes after it has begun."""
	for program, names in (("jit_map.c", ["first", "second", "stale"]), ("jit_dump.c", ["inner", "third"])):
		with Top("--backend", backend, "--no-kernel", "-o", tmp_path / "out", build(program), folder=tmp_path, rows=60) as top:
			top.wait("ENDED")
			top.wait_for(lambda: set(names) <= set(top.shares()), f"the names of {program}") # pylint: disable=cell-var-from-loop
			assert "[anon]" not in top.shares(), top.text()
			assert top.end("q") == 0
		for path in re.findall(r"^(/tmp/perf-\d+\.map)$", (tmp_path / "out").read_text(), re.MULTILINE):
			os.unlink(path)


def test_resize(command):
	with Top(*command, rows=24, columns=80) as top:
		top.wait(" heavy$")
		top.resize(10, 40)
		os.kill(top.pid, signal.SIGWINCH)
		top.refreshed()
		assert top.lines()[9].startswith("Enter: its callees"), top.text()
		top.end("q")


def test_ascii_without_colour(command):
	with Top(*command, LC_ALL="C", NO_COLOR="1") as top:
		top.wait(" heavy$")
		top.refreshed(1)
		top.end("q")
		assert top.written.isascii() and not re.search(rb"\x1b\[[0-9;]*3[1-7]m", top.written)


def test_a_process_that_ends(tmp_path):
	"""The last seconds of a process that was attached to stay, and the screen says that it has ended."""
	with open(tmp_path / "out", "wb") as out, subprocess.Popen([build("phases.c")], stdout=out, stderr=subprocess.DEVNULL) as process:
		pid_in(tmp_path / "out")
		with Top("-p", process.pid, "--no-kernel") as top:
			top.wait(" heavy$")
			process.kill()
			process.wait()
			top.wait("ENDED")
			assert top.still(1.5), top.text()
			top.press("t", until=r"^ .* heavy$")
			assert top.end("q") == 0


def test_tiny_terminals(command):
	"""No size of the terminal ends top, whatever is pressed; it is of use again when it is large enough."""
	with Top(*command, rows=24, columns=80) as top:
		top.wait(" heavy$")
		for rows, columns in ((1, 1), (2, 3), (4, 12), (1, 80), (24, 1)):
			fcntl.ioctl(top.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
			for key in ("t", "enter", "u", "escape", "c", "s", "T", "P", "r", "escape", "i", "?", "f"):
				top.send(key)
				assert top.read() and is_running(top.pid)
		top.resize(24, 80)
		top.press("f", until=" heavy$")
		assert top.end("q") == 0


def test_an_idle_process():
	"""A process that does nothing has an empty page, which says so."""
	with subprocess.Popen(["sleep", "100"]) as process:
		with Top("-p", process.pid) as top:
			top.wait("no samples in these seconds")
			for key in "tfucsTPri?":
				top.send(key)
			top.press("t", until="no samples in these seconds")
			assert top.end("q") == 0
		assert process.poll() is None
		process.kill()


def last_line(*words, **environment):
	"""Runs top with words that it refuses. Returns (its exit status, what it prints)."""
	with Top(*words, columns=200, **environment) as top:
		return top.end(), top.text()


def test_what_it_refuses(command, tmp_path):
	status, text = last_line("-p", "999999999")
	assert status == 1 and "there is no process 999999999" in text
	status, text = last_line("/no/such/command")
	assert status == 127 and "cannot run '/no/such/command'" in text
	status, text = last_line()
	assert status == 2 and "missing argument COMMAND" in text
	status, text = last_line("--window", "0.5", "true")
	assert status == 2 and "--window 0.5 is out of range (1 to 3600 seconds)" in text
	status, text = last_line("-o", "file", "-a")
	assert status == 2 and "-o needs a command" in text
	status, text = last_line("-o", tmp_path / "none/file", "true")
	assert status == 1 and "cannot write" in text
	if os.geteuid() == 0:
		(tmp_path / "link").symlink_to(tmp_path / "target")
		os.chown(tmp_path / "link", 54321, 54321, follow_symlinks=False)
		status, text = last_line("-o", tmp_path / "link", "true")
		assert status == 1 and "a symbolic link of another user" in text and not (tmp_path / "target").exists()
	status, text = last_line(*command, TERM="no-such-terminal")
	assert status == 1 and "the terminal's type 'no-such-terminal' is unknown (set TERM)" in text
	result = subprocess.run([CPPROF, "top", "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
	assert result.returncode == 2 and "top needs a terminal" in result.stderr


@needs_root
def test_another_users_process(running):
	"""Without the right to observe a process, top says so, and the screen is not touched."""
	master, slave = os.openpty()
	with open_folder() as folder:
		result = subprocess.run([*as_user(), folder / "bin/cpprof", "top", "-p", str(running.pid)], stdin=slave, stdout=slave, stderr=subprocess.PIPE,
			text=True, check=False, timeout=60)
	assert result.returncode == 1 and "cannot" in result.stderr, result.stderr
	assert not select.select([master], [], [], 0)[0]
	os.close(master)
	os.close(slave)
