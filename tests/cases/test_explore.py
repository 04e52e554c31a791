"""The interactive loop: from a pipe it runs a script, and on a terminal it edits lines."""
import os
import pty
import re
import select
import signal
import stat
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
SECONDS_ALLOWED = 60
FOLDED = """\
main;a;qsort 10
main;a;qsort;cmp 5
main;b;qsort 3
main;b;ns::f(int, char) 7
main;b;ns::f(double) 2
main;b;c;b;qsort 4
main 1
"""
GREETING = "x.data: samples 32 samples; type help\n"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
	directory = tmp_path_factory.mktemp("explore")
	(directory / "in.folded").write_text(FOLDED)
	subprocess.run([CPPROF, "import", "--format", "folded", "-o", "x.data", "in.folded"], cwd=directory, check=True)
	return directory


def explore(directory, commands, **options):
	if isinstance(commands, str):
		commands = commands.encode()
	result = subprocess.run([CPPROF, "explore", "x.data"], cwd=directory, input=commands, capture_output=True,
		timeout=SECONDS_ALLOWED, **options)
	return result.returncode, result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")


def answer(directory, *commands):
	"""The output of the commands without the greeting. Fails unless all of them succeed."""
	status, out, err = explore(directory, "\n".join(commands) + "\n")
	assert (status, err) == (0, "")
	assert out.startswith(GREETING)
	return out[len(GREETING):]


def complaint(directory, *commands):
	"""The error message of the last command. Fails unless all commands before it succeed."""
	status, _, err = explore(directory, "\n".join(commands) + "\n")
	assert status == 1
	prefix = f"cpprof: line {len(commands)}: "
	assert err.startswith(prefix)
	return err[len(prefix):]


def entries(text):
	"""{name or path: samples} of a report."""
	rows = re.findall(r"^\d\.\d{4} ±\d\.\d{4} (.*) \[(\d+)\]$", text, re.MULTILINE)
	return {name[1:-1] if name[0] == "(" else name: int(samples) for name, samples in rows}


@pytest.mark.parametrize("command, words", [
	("functions", "--functions"), ("body", "--body"), ("down main", "--down main"), ("up qsort", "--up qsort"),
	("tree", "--tree"), ("source qsort", "--source qsort"), ("down ns::f(int, char)", None),
])
def test_reports_are_those_of_report(directory, command, words):
	words = words.split() if words else ["--down", command.split(" ", 1)[1]]
	words += [] if command.startswith("source") else ["--threshold", "0", "--limit", "0"]
	report = subprocess.run([CPPROF, "report", "x.data", *words], cwd=directory, capture_output=True, text=True,
		check=True).stdout
	assert answer(directory, "threshold 0", "limit 0", command) == "threshold: 0\nlimit: 0 (all)\n" + report


def test_call_graph_is_that_of_report(directory):
	"""explore appends the note that report prints on standard error."""
	report = subprocess.run([CPPROF, "report", "x.data", "--call-graph"], cwd=directory, capture_output=True, text=True, check=True)
	note = report.stderr.removeprefix("cpprof report: ")
	assert note.startswith("calls were not counted")
	assert answer(directory, "call-graph") == report.stdout + note


def test_reports_refuse_as_report_does(directory):
	assert complaint(directory, "time 0 1", "counts qsort").startswith(
		"counts cannot be combined with a time: it shows all lines of a function")
	assert complaint(directory, "counts qsort").startswith("no executions of lines were counted")
	assert complaint(directory, "groups").startswith("no function of this profile belongs to a group")
	assert complaint(directory, "pages").startswith("no touched addresses were recorded")
	assert complaint(directory, "resource samples", "pages").startswith("no addresses were recorded with 'samples'")
	assert complaint(directory, "labels tenant").startswith("the profile has no labels")


def test_whatif(directory):
	quoted = answer(directory, "whatif 'main;b=0' \"main;b;ns::f(int, char)=50%\"")
	assert "predicted total: 0.5000" in quoted
	assert quoted == answer(directory, "whatif main;b=0 main;b;ns::f(int, char)=50%")
	assert "as in 'main;qsort=0.5'" in complaint(directory, "whatif main;b")


def test_tree_below_a_function(directory):
	text = answer(directory, "tree b")
	assert [line for line in text.splitlines() if line.lstrip().startswith(("b ", "c "))] == [
		"b (0.5000 ±0.1637) [16]", "  c (0.1250 ±0.1155) [4]", "    b (0.1250 ±0.1155) [4]"]


def test_names(directory):
	assert entries(answer(directory, "d 'ns::f(double)'")) == {"ns::f(double)": 2}
	assert complaint(directory, "down qsrot") == "no function 'qsrot' (did you mean qsort?)\n"
	assert complaint(directory, "down") == "missing function name\n"
	listed = complaint(directory, "down f").splitlines()
	assert listed[0] == "'f' fits 2 functions; type one in full, or its number"
	assert listed[1:] == ["  #1  ns::f(double)  [imported]", "  #2  ns::f(int, char)  [imported]"]
	status, out, _ = explore(directory, "down f\ndown #2\n")
	assert status == 1 and entries(out) == {"ns::f(int, char)": 7}
	assert "no '#3' in the last list" in explore(directory, "down f\ndown #3\n")[2]


def test_settings_hold(directory):
	assert set(entries(answer(directory, "threshold 40%", "functions"))) == {"main", "qsort", "b", "a"}
	assert set(entries(answer(directory, "limit 2", "functions"))) == {"main", "qsort"}
	assert entries(answer(directory, "by module", "functions")) == {"[imported]": 32}
	assert answer(directory, "limit 7", "limit") == "limit: 7\nlimit: 7\n"
	assert answer(directory, "time 1.5 2", "time all", "time 0 end") == "time: 1.5 s to 2 s\ntime: all\ntime: all\n"
	assert answer(directory, "inlines off", "trim off") == "inlines: off\ntrim: off\n"
	# A wrong value does not change the setting.
	assert "limit: 40\n" in explore(directory, "limit -3\nlimit\n")[1]


@pytest.mark.parametrize("command, wanted", [
	("quti", "no command 'quti' (did you mean quit?)"), ("xyzzy", "no command 'xyzzy'; 'help' lists them"),
	("b", "command 'b' may be body, by"), ("functions 3", "functions takes no argument"),
	("threshold 2", "threshold '2' is not a fraction"), ("limit x", "limit 'x' is not a number"),
	("by colour", "unknown kind of frame 'colour' (function, callsite, line, module or group)"), ("resource cpu", "no resource 'cpu' in this profile; it has samples"),
	("time 2 1", "the time range from 2 s to 1 s is empty (its end comes after its start)"), ("time 1", "time takes FROM and TO"),
	("thread 5", "the profile has no threads"), ("inlines maybe", "'maybe' is not a switch (on or off)"),
	("export", "export takes a format and a file"), ("export nonsense x", "unknown format 'nonsense' (folded, "),
	("export folded x.data", "'x.data' is the profile being read"), ("export folded no/where", "cannot write 'no/where': "),
	("help quti", "no command 'quti'"), ("resource 'samples", "the quote before 'samples' is not closed"),
	("functions |", "a shell command is missing after '|'"),
])
def test_bad_input_is_named_and_survived(directory, command, wanted):
	assert wanted in complaint(directory, command)
	status, out, err = explore(directory, f"{command}\nlimit\n")
	assert status == 1 and err.count("cpprof: ") == 1 and out.endswith("limit: 40\n")


def test_hostile_lines(directory):
	status, out, err = explore(directory, b"a" * 200000 + b"\nlim\0it\n\xff\xfe\x1b[2J\nlimit")
	assert status == 1 and out == GREETING + "limit: 40\n"
	assert re.findall(r"line (\d): (.{10})", err) == [("1", "a line of "), ("2", "a NUL byte"), ("3", "no command")]
	assert "\x1b" not in err
	# The longest accepted line.
	assert explore(directory, b" " * 65530 + b"limit\n") [0] == 0


def test_comments_ends_and_abbreviations(directory):
	assert answer(directory, "", "  ", "# down main", "lim", "quit", "nonsense") == "limit: 40\n"
	assert answer(directory, "exit", "nonsense") == ""
	assert explore(directory, "limit")[1] == GREETING + "limit: 40\n"
	assert explore(directory, "")[:2] == (0, GREETING)


def test_help_knows_every_command(directory):
	text = answer(directory, "help")
	for name in ("resource functions body down up tree source threshold limit by thread process time inlines whatif "
			"export info help quit").split():
		assert re.search(rf"^  {name} ", text, re.MULTILINE), name
		assert answer(directory, f"help {name}").startswith(name)
	assert "ns::f(int, char)" in answer(directory, "help down")


def test_export_and_info(directory):
	assert sorted(answer(directory, "export folded -").splitlines()) == sorted(FOLDED.splitlines())
	assert answer(directory, "export folded y.folded") == ""
	assert sorted((directory / "y.folded").read_text().splitlines()) == sorted(FOLDED.splitlines())
	info = subprocess.run([CPPROF, "info", "x.data"], cwd=directory, capture_output=True, text=True, check=True).stdout
	assert answer(directory, "info") == info


def test_pipe(directory):
	assert answer(directory, "functions | grep -c '^[01]'", "limit") == "8\nlimit: 40\n"
	# A reader that exits early is no failure, and the output stays in order.
	assert answer(directory, "limit 3", "tree | head -1 | cut -c 1-11", "limit 4").split("\n") == [
		"limit: 3", "Sample Tree", "limit: 4", ""]
	assert answer(directory, "help | true") == ""
	# The programs in the pipe have the default action for SIGPIPE.
	assert answer(directory, "functions | (yes; echo $? >&3) 3>&1 | head -1") in ("y\n", "141\ny\n", "y\n141\n")
	assert "could not run" in explore(directory, "functions | no-such-command-here\n")[2]


def test_reader_that_goes_away(directory):
	with subprocess.Popen([CPPROF, "explore", "x.data"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			stderr=subprocess.PIPE) as process:
		process.stdout.close()
		try:
			process.stdin.write(b"help\n" * 100000)
			process.stdin.close()
		except BrokenPipeError:
			pass # correct: explore may exit before it has read everything
		assert process.stderr.read() == b""
		assert process.wait(SECONDS_ALLOWED) >= 0


def test_full_disk(directory):
	with open("/dev/full", "wb") as full:
		result = subprocess.run([CPPROF, "explore", "x.data"], cwd=directory, input=b"functions\n", stdout=full,
			stderr=subprocess.PIPE, timeout=SECONDS_ALLOWED)
	assert result.returncode == 1 and b"cannot write the report: No space left" in result.stderr


def test_unreadable_commands(directory):
	folder = os.open(directory, os.O_RDONLY)
	result = subprocess.run([CPPROF, "explore", "x.data"], cwd=directory, stdin=folder, capture_output=True,
		timeout=SECONDS_ALLOWED)
	os.close(folder)
	assert result.returncode == 1 and b"cannot read the commands: Is a directory" in result.stderr


class Terminal:
	"""cpprof explore on a terminal of its own."""

	def __init__(self, directory, **environment):
		self.seen = ""
		self.pid, self.fd = pty.fork()
		if self.pid == 0:
			os.chdir(directory)
			os.execve(CPPROF, [CPPROF, "explore", "x.data"], {
				**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": str(directory), **environment})

	def read(self):
		"""Reads more output. Returns False at its end."""
		ready, _, _ = select.select([self.fd], [], [], SECONDS_ALLOWED)
		assert ready, f"nothing more came after {self.seen!r}"
		try:
			data = os.read(self.fd, 65536)
		except OSError: # the other side is closed
			data = b""
		self.seen += data.decode(errors="replace")
		return bool(data)

	def until(self, text):
		"""Waits for the text. Returns the output before it."""
		while text not in self.seen:
			assert self.read(), f"ended before {text!r}: {self.seen!r}"
		before, self.seen = self.seen.split(text, 1)
		return before

	def type(self, keys):
		os.write(self.fd, keys.encode())

	def ask(self, line):
		"""Types a line. Returns all output up to the next prompt."""
		self.type(line + "\n")
		return self.until("cpprof> ").replace("\r\n", "\n")

	def end(self):
		while self.read():
			pass
		status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
		os.close(self.fd)
		return status


@pytest.fixture
def terminal(directory, tmp_path):
	terminal = Terminal(directory, XDG_STATE_HOME=str(tmp_path / "state"))
	terminal.until("type help\r\n")
	terminal.until("cpprof> ")
	yield terminal
	try:
		os.kill(terminal.pid, signal.SIGKILL)
		os.waitpid(terminal.pid, 0)
	except (ProcessLookupError, ChildProcessError):
		pass # correct: it has ended


def test_terminal_gives_the_same_answers(terminal, directory):
	assert terminal.ask("limit 3").endswith("limit: 3\n")
	colourless = re.sub(r"\x1b\[[0-9;]*[mK]", "", terminal.ask("down main"))
	assert answer(directory, "limit 3", "down main").split("\n", 1)[1] in colourless
	assert "cpprof: no command 'nonsense'" in terminal.ask("nonsense")
	terminal.type("quit\n")
	assert terminal.end() == 0 # on a terminal, failed commands do not change the status


def test_no_colour_into_a_pipe(terminal):
	assert "\x1b[" in terminal.ask("down main")
	piped = terminal.ask("down main | sed 's/^/piped /'")
	assert "piped 1.0000" in piped
	assert not any("\x1b[" in line for line in piped.splitlines() if line.startswith("piped"))
	assert "\x1b[" in terminal.ask("down main")


def test_end_of_input_quits(terminal):
	terminal.type("\x04")
	assert terminal.end() == 0


def test_completion(terminal):
	terminal.type("lim\t")
	terminal.until("it ")
	assert "limit: 40" in terminal.ask("")
	terminal.type("up qs\t")
	assert "(main b qsort)" in terminal.ask("")
	terminal.type("down ns::f(i\t")
	assert "(ns::f(int, char))" in terminal.ask("")
	terminal.type("down f(d\t") # the beginning of a part of the name
	assert "(ns::f(double))" in terminal.ask("")
	terminal.type("whatif main;b;c\t;qs\t")
	assert "no function" not in terminal.ask("=0")


def test_completion_lists_what_fits(terminal):
	terminal.type("t\t")
	assert terminal.until("trim").split()[-5:] == ["thread", "threshold", "time", "transform", "tree"]
	terminal.type("\x15down ns::f(\t\t") # ^U empties the line
	terminal.until("ns::f(double)")
	terminal.until("ns::f(int, char)")
	terminal.type("\x15limit\n")
	terminal.until("limit: 40")


def test_interrupt_ends_the_line_and_not_the_loop(terminal):
	terminal.type("nonsense that is never")
	terminal.until("never")
	terminal.type("\x03")
	terminal.until("cpprof> ")
	assert "no command" not in terminal.ask("limit")
	# ^C ends a program in a pipe; the loop continues.
	terminal.type("limit | (echo started; cat >/dev/null; exec sleep 1000)\n")
	terminal.until("\nstarted")
	terminal.type("\x03")
	terminal.until("cpprof> ")
	assert "limit: 40" in terminal.ask("limit")


def test_interrupt_cuts_a_report_short(directory, tmp_path):
	lines = 30000
	(tmp_path / "in.folded").write_text("".join(f"main;a_function_with_a_name_{i} 1\n" for i in range(lines)))
	subprocess.run([CPPROF, "import", "--format", "folded", "-o", "x.data", "in.folded"], cwd=tmp_path, check=True)
	terminal = Terminal(tmp_path, XDG_STATE_HOME=str(tmp_path))
	terminal.until("cpprof> ")
	terminal.ask("threshold 0")
	terminal.ask("limit 0")
	terminal.type("tree\n")
	terminal.until("Sample Tree Profile") # the rest does not fit into the terminal's buffer
	terminal.type("\x03")
	assert terminal.until("cpprof> ").count("\n") < lines / 2
	assert terminal.ask("limit").endswith("limit: 0 (all)\n")
	terminal.type("quit\n")
	assert terminal.end() == 0


def test_history_is_kept_and_private(directory, tmp_path):
	state = {"XDG_STATE_HOME": str(tmp_path / "new" / "state")}
	first = Terminal(directory, **state)
	first.until("cpprof> ")
	first.ask("limit 17")
	first.ask("threshold 0.25")
	first.type("quit\n")
	assert first.end() == 0
	path = tmp_path / "new/state/cpprof/history"
	assert stat.S_IMODE(path.stat().st_mode) == 0o600
	assert os.listdir(path.parent) == ["history"]
	second = Terminal(directory, **state)
	second.until("cpprof> ")
	second.type("\x1b[A\x1b[A\x1b[A") # up, past quit and threshold
	assert "limit: 17\n" in second.ask("")
	second.type("\x04")
	assert second.end() == 0


def test_history_that_cannot_be_kept(directory, tmp_path):
	(tmp_path / "cpprof").write_text("a file where the folder should be")
	for state in (str(tmp_path), "relative", "/dev/null/x"):
		terminal = Terminal(directory, XDG_STATE_HOME=state, HOME="/dev/null")
		terminal.until("cpprof> ")
		assert "limit: 40" in terminal.ask("limit")
		terminal.type("quit\n")
		assert terminal.end() == 0
	assert not (directory / "relative").exists()


def test_dumb_terminal(directory, tmp_path):
	terminal = Terminal(directory, XDG_STATE_HOME=str(tmp_path), TERM="dumb")
	terminal.until("cpprof> ")
	assert "limit: 40" in terminal.ask("limit")
	terminal.type("quit\n")
	assert terminal.end() == 0
