"""`cpprof browse`: the screens of each page, its keys, and how it leaves the terminal."""
import contextlib
import os
import re
import select
import signal
import subprocess
import termios

import pytest
from browse_support import SECONDS_ALLOWED, Browser, percent
from cli_support import CPPROF, done
from code_support import Code, profile_of
from json_support import valid_json
from record_support import build

FOLDED = """\
main;a;qsort 10
main;a;qsort;cmp 5
main;b;qsort 3
main;b;ns::f(int, char) 7
main;b;c;b;qsort 4
other 2
main 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
	directory = tmp_path_factory.mktemp("browse")
	(directory / "a.folded").write_text(FOLDED)
	(directory / "b.folded").write_text(FOLDED.replace("cmp 5", "cmp 5000"))
	for name in "ab":
		done("import", "--format", "folded", "-o", directory / f"{name}.data", directory / f"{name}.folded")
	return directory


def entries(path, *options, resource=None):
	chosen = ["-r", resource] if resource else []
	text = done("report", *options, *chosen, "--format", "json", "-n", "0", "-t", "0", path)
	return valid_json(text)["results"][0]["entries"]


def rounded(fraction):
	return float(f"{100 * fraction:.1f}")


def shown_row(browser):
	return int(re.search(r"row (\d+)", browser.text())[1])


def test_tree_is_that_of_report(folder):
	expected = [(rounded(entry["fraction"]), entry["depth"], entry["name"]) for entry in entries(folder / "a.data", "--tree")]
	with Browser("a.data", folder=folder) as browser:
		browser.wait(r"▾ main$")
		browser.press("L", until="names are shown in full")
		# Opens every row that is closed.
		while "▸" in browser.text():
			row = next(i for i, line in enumerate(browser.lines()) if "▸" in line) - 3
			count = len(browser.rows())
			browser.send("home", *["down"] * row, "right")
			browser.wait_for(lambda: len(browser.rows()) > count, "another row")
		shown = [(total, depth, name) for total, _, depth, name in browser.rows()]
		assert sorted(shown) == sorted(expected), browser.text()
		own = {name: own for _, own, depth, name in browser.rows() if depth == 0}
		assert own == {"main": rounded(1 / 32), "other": rounded(2 / 32)}
		# Siblings are in the order of their hits.
		assert [name for _, _, depth, name in browser.rows() if depth == 1] == ["a", "b"]
		assert browser.end("q") == 0


def test_functions_are_those_of_report(profiles):
	path = profiles / "whole.data"
	totals = {entry["path"][0]: entry for entry in entries(path, "--functions", resource="cpu")}
	owns = {entry["path"][0]: entry for entry in entries(path, "--body", resource="cpu")}
	with Browser(path) as browser:
		browser.wait("tree")
		browser.press("f", until=r"^functions")
		browser.press("L", until="names are shown in full")
		shown = {}
		for line in browser.lines()[3:-1]:
			row = re.match(r"(.{14})(.{14})(.{11})  (\S.*)$", line)
			if row:
				shown[row[4]] = row
		assert shown.keys() == totals.keys()
		for name, row in shown.items():
			total, own = totals[name], owns.get(name)
			assert row[2].split() == [f"{100 * total['fraction']:.1f}", "%", f"±{100 * total['error']:.1f}"]
			assert percent(row[1]) == (rounded(own["fraction"]) if own else 0)
			assert row[3].strip() == f"{total['hits']} ms"
		assert [name for name in shown][0] == max(owns, key=lambda name: owns[name]["hits"])
		# The order changes with o: by name, then by use with callees.
		browser.press("o", until=r"function\n.*  compare\n")
		names = [row[4] for line in browser.lines()[3:-1] if (row := re.match(r"(.{14})(.{14})(.{11})  (\S.*)$", line))]
		assert names == sorted(names)
		browser.press("o", until=r"amount  function\n.*  main$")
		assert browser.end("q") == 0


def test_functions_without_hits(profiles):
	"""--zeros shows them in the list of functions."""
	def names(*options):
		with Browser(profiles / "whole.data", "-r", "page-faults", *options) as browser:
			browser.press("f", until=r"^functions")
			return [line.split("  ")[-1] for line in browser.lines()[3:-1] if line]
	assert [set(names(*options)) for options in ([], ["--zeros"])] == [
		{"main", "ns::sort", "print", "qsort"}, {"main", "ns::sort", "print", "qsort", "compare", "work"}]


def test_callers_callees_and_the_way_back(folder):
	with Browser("a.data", folder=folder) as browser:
		browser.wait("▾ main")
		browser.press("/", "qsort", "enter", until=r"row 3 of")
		browser.press("u", until=r"^callers of qsort  row 1")
		rows = browser.rows()
		# 22 of 32 hits end in qsort or below it: 15 by a, 7 by b.
		assert rows[0] == (rounded(22 / 32), 0.0, 0, "qsort")
		assert (rounded(15 / 32), 0.0, 1, "a") in rows and (rounded(7 / 32), 0.0, 1, "b") in rows
		browser.press("c", until=r"^callees of qsort")
		assert browser.rows() == [(rounded(22 / 32), rounded(17 / 32), 0, "qsort"), (rounded(5 / 32), rounded(5 / 32), 1, "cmp")]
		browser.press("backspace", until=r"^callers of qsort")
		browser.press("escape", until=r"^tree  row 3 of")
		browser.press("backspace", until="this is the first page")
		assert browser.end("q") == 0


def test_q_leaves_the_keys_and_then_ends(folder):
	with Browser("a.data", folder=folder) as browser:
		browser.wait("▾ main")
		browser.press("f", until=r"^functions")
		browser.press("?", until=r"^help")
		browser.press("q", until=r"^functions")
		assert browser.end("q") == 0


def test_the_keys_of_each_page_fit_80_columns(code):
	with Browser(code) as browser:
		browser.wait("q end$")
		for key, page in {"f": "functions", "u": "callers", "c": "callees", "s": "source", "a": "disassembly", "r": "resources", "i": "info", "?": "help"}.items():
			browser.press("t", until=r"^tree")
			browser.press(key, until=rf"^{page}")
			assert browser.lines()[-1].endswith("q end"), browser.text()


def test_search_finds_what_is_not_open(folder):
	with Browser("a.data", folder=folder) as browser:
		browser.wait("▾ main")
		browser.press("home", "left", until=r"▸ main$")
		browser.press("/", "QSORT", "enter", until=r"▾ a$")  # the largest first
		found = [shown_row(browser)]
		for _ in range(2):
			browser.send("n")
			browser.wait_for(lambda: shown_row(browser) != found[-1], "another match")
			found.append(shown_row(browser))
		names = [browser.rows()[row - 1] for row in found]
		assert [(name, total) for total, _, _, name in names] == [("qsort", rounded(hits / 32)) for hits in (15, 4, 3)]
		browser.press("n", until="no more 'QSORT'")
		browser.press("/", "nowhere", "enter", until="no more 'nowhere'")
		browser.press("f", until="^functions")
		browser.press("/", "cm", "enter", until=r"row \d+ of 8")
		assert browser.end("q") == 0


def test_source_lines_have_their_hits_and_text(profiles):
	result = done("report", "--source", "ns::sort", "-r", "cpu", "--format", "json", profiles / "whole.data")
	lines = valid_json(result)["results"][0]["entries"]
	with Browser("whole.data", folder=profiles, columns=120) as browser:
		browser.wait("▾ main")
		browser.press("/", "ns::sort", "enter", until=r"row 2 of")
		browser.press("s", until=r"^source of ns::sort")
		text = (profiles / "inputs/demo.cpp").read_text().splitlines()
		for entry in lines:
			share = rf"{100 * entry['total_fraction']:.1f} % ±\d+\.\d"
			row = browser.wait(rf"^.{{14}}\s+{share}\s+{entry['line']}\b(.*)$")
			assert row[1].strip() == text[entry["line"] - 1].replace("\t", " ").strip()
		assert browser.end("q") == 0


@pytest.fixture(scope="module")
def code(tmp_path_factory):
	"""A program, and a profile of samples in `caller`, which has a loop: 3 at its first instruction, 1 in its call of `leaf`."""
	program = build("asm.c", level="-O1")
	path = tmp_path_factory.mktemp("code") / "code.data"
	known = Code(program)
	instructions = known.instructions("caller")
	call = next(end - 1 for _, end, text in instructions if text.endswith("<leaf>"))
	first = [(instructions[0][0], ["caller"])]
	inner = [(call, ["caller"]), (known.instructions("leaf")[0][0], ["leaf"])]
	return profile_of(path, known, [(first, 3), (inner, 1)])


def test_instructions_have_their_hits(code):
	found = valid_json(done("report", "--asm", "caller", "--format", "json", code))["results"][0]["entries"]
	with Browser(code, rows=60, columns=120) as browser:
		browser.wait("caller")
		browser.press("f", until="^functions")
		browser.press("/", "caller", "enter", until="caller")
		browser.press("a", until=r"^disassembly of caller  row \d+")
		browser.wait(r"^caller in asm$")
		for entry in found:
			own = rf"{100 * entry['body_fraction']:.1f} % ±\d+\.\d" if entry["body_hits"] else ""
			total = rf"{100 * entry['total_fraction']:.1f} % ±\d+\.\d" if entry["total_hits"] else ""
			mark = ">" if entry["is_target"] else " "
			callee = f"  <{entry['callee']}>" if entry["callee"] else ""
			assert re.search(rf"^ *{own} *{total} *{mark} +{entry['address'][2:]}  {re.escape(entry['instruction'] + callee)}$",
				browser.text(), re.MULTILINE), (entry, browser.text())
		# Source lines are between them; the cursor begins at the hottest instruction.
		assert re.search(r"^ +asm\.c:\d+  +sum \+= leaf\(i\);$", browser.text(), re.MULTILINE)
		assert found[0]["address"][2:] in browser.lines()[3 + shown_row(browser) - 1]
		# Enter follows a jump.
		jump = next(entry for entry in found if entry["target"] and not entry["callee"])
		row = next(number for number, line in enumerate(browser.lines()) if f" {jump['address'][2:]}  " in line)
		browser.send("home", *["down"] * (row - 3))
		browser.wait_for(lambda: shown_row(browser) == row - 2, "the jump")
		target = next(number for number, line in enumerate(browser.lines()) if f" {jump['target'][2:]}  " in line)
		browser.send("enter")
		browser.wait_for(lambda: shown_row(browser) == target - 2, "its target")
		assert browser.end("q") == 0


def test_a_file_that_is_gone_has_no_instructions(folder):
	with Browser("a.data", folder=folder) as browser:
		browser.wait("▾ main")
		browser.press("a", until="cannot disassemble 'main': the profile was imported and has no addresses")
		assert browser.end("q") == 0


def test_the_mouse_chooses_rows_and_opens_them(folder):
	with Browser("a.data", folder=folder, TERM="xterm") as browser:
		browser.wait("▾ main")
		browser.press("home", until="row 1 of")
		browser.press(browser.click(5), until="row 3 of")
		browser.press(browser.click(3), until="row 1 of")
		browser.press(browser.click(3), until="▸ main")
		browser.press(browser.click(3), until="▾ main")
		browser.press(browser.click(65, wheel=True), until="row 4 of")
		browser.press(browser.click(64, wheel=True), until="row 1 of")
		# Clicks elsewhere do nothing.
		browser.send(browser.click(0), browser.click(22))
		browser.press("m", until="the mouse selects text")
		assert b"1000l" in browser.written
		browser.press("m", until="the mouse chooses rows")
		assert browser.end("q") == 0
		# The terminal no longer reports its mouse.
		assert browser.written.rfind(b"1000l") > browser.written.rfind(b"1000h")


def test_other_resources_threads_processes_and_times(profiles):
	path = profiles / "whole.data"
	with Browser(path) as browser:
		browser.wait(r"cpu 412 ms, 412 samples")
		browser.press("r", until=r"^resources  row 1")
		browser.press("down", "enter", until=r"page-faults 700 faults, 30 samples")
		assert browser.rows()[0][0] == 100.0
		browser.press("r", until=r"^resources  row 2")
		browser.press("home", "enter", until=r"cpu 412 ms")
		browser.press("T", until=r"all threads")
		browser.press("/", "helper", "enter", until=r"row [2-5] of 5")
		browser.press("enter", until=r"thread helper")
		hits = sum(entry["hits"] for entry in entries(path, "--body", "--thread", "200", resource="cpu"))
		browser.wait(rf"cpu {hits} ms, {hits} sample")
		browser.press("T", until=r"all threads")
		browser.press("home", "enter", until=r"cpu 412 ms, 412 samples *\n")
		browser.press("P", until=r"all processes")
		browser.press("/", "helper", "enter", until=r"row [23] of 3")
		browser.press("enter", until=rf"cpu {hits} ms, {hits} samples?  process helper")
		browser.press("P", until=r"all processes")
		browser.press("home", "enter", until=r"cpu 412 ms, 412 samples *\n")
		hits = sum(entry["hits"] for entry in entries(path, "--body", "--from", "0.1", "--to", "0.2", resource="cpu"))
		browser.press("R", until=r"seconds FROM-TO")
		browser.press("0.1-0.2", "enter", until=rf"cpu {hits} ms, {hits} samples  from 0.1 s  to 0.2 s")
		browser.press("R", "2-1", "enter", until=r"2.*1")
		browser.wait(rf"cpu {hits} ms")  # a range that is refused changes nothing
		browser.press("R", "enter", until=r"cpu 412 ms, 412 samples *\n")
		assert browser.end("q") == 0


def test_frames_by_line_and_module(profiles):
	with Browser(profiles / "whole.data", "--by", "module") as browser:
		browser.wait(r", by module$")
		browser.wait(r" demo$")
		browser.press("b", until=r"shown by function")
		browser.wait(r"▾ main$")
		browser.press("b", until=r"main@demo\.cpp:|, by callsite")
		assert browser.end("q") == 0


def test_what_changed_between_two_profiles(folder):
	changes = valid_json(done("diff", "--body", "--format", "json", "-n", "0", "-t", "0", folder / "a.data", folder / "b.data"))
	significant = {entry["path"][0] for entry in changes["results"][0]["entries"] if entry["significant"]}
	assert "cmp" in significant
	with Browser("a.data", "b.data", folder=folder) as browser:
		browser.wait(r"^changes")
		browser.wait(r" ns::f$")
		browser.press("L", until="names are shown in full")
		browser.wait(r" ns::f\(int, char\)$")
		shown = {row[2]: bool(row[1].strip()) for line in browser.lines()[3:-1] if (row := re.match(r".{30} (.) (\S.*)$", line))}
		assert {name for name, is_marked in shown.items() if is_marked} == significant
		assert shown.keys() == {entry["path"][0] for entry in changes["results"][0]["entries"]}
		browser.press("t", until=r"^A: a.data  samples 32 samples *$")
		browser.press("x", until=r"^B: b.data  samples 5027 samples *$")
		assert browser.end("q") == 0


def test_a_narrow_screen_keeps_the_names(folder):
	"""The columns of own use and of the amount go first."""
	with Browser("a.data", "b.data", folder=folder, columns=40) as browser:
		browser.wait(r"^ +B - A  \*: significant")
		browser.wait(r" \* cmp$")
		browser.press("f", until=r"^  with callees  function$")
		browser.wait(r"^.{14}  main$")
		browser.press("t", until=r"^  with callees  call path$")
		browser.wait(r"^.{16}▾ main$")
		browser.resize(24, 56)
		browser.wait(r"^  with callees     amount  call path$")
		browser.press("u", until=r"^  on this path     amount  function, and its callers")
		browser.resize(24, 60)
		browser.wait(r"^  on this path   begins here     amount  function, an")
		assert browser.end("q") == 0


def test_only_one_profile(folder):
	with Browser("a.data", folder=folder) as browser:
		browser.wait("tree")
		browser.press("d", until="no second profile")
		browser.press("x", until="no second profile")
		browser.press("?", until="^help")
		browser.press("end", until=r"sort by own use")
		browser.press("u", until="no function is chosen")
		browser.press("i", until=r"^file: +a.data")
		assert browser.end("q") == 0


@pytest.mark.parametrize("rows, columns", [(24, 80), (5, 20), (2, 4), (60, 300), (1, 1)])
def test_every_size_and_resizes(folder, rows, columns):
	with Browser("a.data", folder=folder, rows=rows, columns=columns) as browser:
		browser.wait_for(lambda: browser.written, "anything")
		browser.send("f", "down", "page down", "?", "end", "t", "u", "s")
		browser.resize(24, 80)
		browser.press("t", until=r"^tree.*\n.*\n.*▾ main$")
		browser.resize(10, 40)
		browser.wait(r"^tree(.*\n){8}Enter")
		assert all(len(line) <= 40 for line in browser.lines())
		assert browser.end("q") == 0


def test_without_utf8_and_without_colour(folder):
	with Browser("a.data", folder=folder, LC_ALL="C") as browser:
		browser.wait(r"% .* v main$")
		assert b"\x1b[31m" in browser.written  # red
		browser.end("q")
		assert browser.written.isascii()
	with Browser("a.data", folder=folder, NO_COLOR="1") as browser:
		browser.wait(r"▾ main$")
		browser.end("q")
		assert not re.search(rb"\x1b\[[0-9;]*3[1-7]m", browser.written)


def test_hostile_names_command_nothing(tmp_path):
	names = ["\x1b[2Jclear", "\x1b]0;title\x07", "‮evil", "x" * 100_000, "a\tb", "\u0301\u0301", "漢字" * 300, "\xff"]
	(tmp_path / "in.folded").write_bytes(b"".join(f"main;{name} {10 - i}\n".encode() for i, name in enumerate(names)))
	done("import", "--format", "folded", "-o", tmp_path / "in.data", tmp_path / "in.folded")
	with Browser("in.data", folder=tmp_path) as browser:
		browser.wait(r"\\x1b\[2Jclear")
		browser.press("f", until="^functions")
		browser.press("u", until="^callers")
		assert browser.end("q") == 0
		assert b"\x1b[2Jclear" not in browser.written and b"\x1b]0;" not in browser.written and "‮".encode() not in browser.written


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_leaves_the_terminal_as_it_was(folder, number):
	with Browser("a.data", folder=folder, TERM="xterm") as browser:
		browser.wait("▾ main")
		during = termios.tcgetattr(browser.terminal)
		os.kill(browser.pid, number)
		assert browser.end() == -number
		assert b"\x1b[?1049h" in browser.written and browser.written.rindex(b"\x1b[?1049l") > browser.written.rindex(b"\x1b[?1049h")
		assert not during[3] & termios.ECHO


@contextlib.contextmanager
def on_a_terminal(folder):
	"""Yields (process, terminal, function that reads until a text was written, function that returns the terminal's settings, and the settings
	before the start) of a browser on a terminal that stays when it ends, like a shell's terminal."""
	master, slave = os.openpty()
	before = termios.tcgetattr(slave)
	with subprocess.Popen([CPPROF, "browse", "a.data"], cwd=folder, stdin=slave, stdout=slave, stderr=slave, preexec_fn=become_a_job,
			env={**os.environ, "TERM": "xterm"}) as process:
		def read_until(text):
			found = b""
			while text not in found:
				assert select.select([master], [], [], SECONDS_ALLOWED)[0], found
				found += os.read(master, 65536)
			return found

		try:
			yield process, master, read_until, lambda: termios.tcgetattr(slave), before
		finally:
			process.kill()
	os.close(master)
	os.close(slave)


def become_a_job():
	"""A process group of its own, as a shell makes one, and no signals that our parent may ignore, as nohup does."""
	os.setpgid(0, 0)
	for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
		signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_the_terminal_has_its_settings_again(folder, number):
	"""A shell of the terminal that runs browse has the settings of before, however browse ends."""
	with on_a_terminal(folder) as (process, terminal, read_until, settings, before):
		read_until(b"main")
		assert settings() != before
		if number:
			process.send_signal(number)
		else:
			os.write(terminal, b"q")
		read_until(b"\x1b[?1049l")
		assert process.wait(SECONDS_ALLOWED) == (-number if number else 0)
		assert settings() == before


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_a_stopped_browser_goes_on(folder, number):
	"""^Z gives the terminal back. After each kind of stop, the screen and its settings are there again; the end restores the settings of the shell."""
	with on_a_terminal(folder) as (process, terminal, read_until, settings, before):
		read_until(b"main")
		during = settings()
		for _ in range(2):
			process.send_signal(number)
			assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
			if number == signal.SIGTSTP:
				read_until(b"\x1b[?1049l")
				assert settings() == before
			termios.tcsetattr(terminal, termios.TCSANOW, before) # what a shell does that reads a line
			process.send_signal(signal.SIGCONT)
			assert b"\x1b[?1049h" in read_until(b"main")
			assert settings() == during
		os.write(terminal, b"q")
		read_until(b"\x1b[?1049l")
		assert process.wait(SECONDS_ALLOWED) == 0
		assert settings() == before


def test_it_ends_with_its_terminal(folder):
	"""Also where SIGHUP, which reports that, is ignored: nothing else would end it."""
	master, slave = os.openpty()
	process = subprocess.Popen([CPPROF, "browse", "a.data"], cwd=folder, stdin=slave, stdout=slave, stderr=slave,
		env={**os.environ, "TERM": "xterm"}, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
	os.close(slave)
	found = b""
	while b"main" not in found:
		found += os.read(master, 65536)
	os.close(master)
	try:
		assert process.wait(60) >= 0
	finally:
		process.kill()


def test_what_it_refuses(folder, tmp_path):
	result = subprocess.run([CPPROF, "browse", "a.data"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
	assert result.returncode == 2 and "browse needs a terminal" in result.stderr
	with Browser("a.data", folder=folder, TERM="no-such-terminal") as browser:
		assert browser.end() == 1
		assert b"the terminal's type 'no-such-terminal' is unknown (set TERM)" in browser.written
	with Browser(tmp_path / "absent.data") as browser:
		assert browser.end() == 1 and b"cannot read" in browser.written


def test_a_terminal_that_cannot_show_a_screen(folder):
	with Browser("a.data", folder=folder, TERM="dumb") as browser:
		assert browser.end() == 1
		assert browser.written == (b"cpprof browse: cannot show a screen: a terminal of the type 'dumb' cannot move its cursor "
			b"(set TERM, or use 'cpprof report')\r\n")


def test_an_empty_profile(profiles):
	with Browser(profiles / "empty.data") as browser:
		browser.wait(r"nothing: no samples")
		for key in "fucsTPri?":
			browser.send(key)
		browser.press("t", until="nothing: no samples")
		assert browser.end("q") == 0


def test_names_are_short_until_asked(tmp_path):
	full = "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)"
	(tmp_path / "in.folded").write_text(f"main;{full} 5\nmain;f(int) 2\nmain;f(char) 1\n")
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	with Browser("in.data", folder=tmp_path, columns=120) as browser:
		browser.wait(r"std::vector<Rec>::push_back$")
		assert full not in browser.text()
		assert "f(int)" in browser.text() and "f(char)" in browser.text()  # "f" would be both
		browser.press("L", until=re.escape(full) + "$")
		browser.press("f", until=r"^functions(.*\n)*.*" + re.escape(full) + "$")
		browser.press("L", until=r"std::vector<Rec>::push_back$")
		assert full not in browser.text()
