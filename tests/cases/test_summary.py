"""The first report: which command line gets it, what it says, and that it fits the terminal."""
import fcntl
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from cli_support import CPPROF, done
from record_support import PROGRAMS, build, needs_bpf, record_well

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "naive"))
import definitions  # noqa: E402

ROW = re.compile(r"^ *([\d.]+) % (?:±([\d.]+))? +(\S+ \w+)  ( *)(\S.*)$")


def part(text, title):
	"""Returns the lines below a title."""
	return text.split(f"\n{title}\n")[1].split("\n\n")[0].splitlines() if f"\n{title}\n" in text else []


def rounded(fraction):
	return f"{100 * fraction:.1f}"


def test_only_a_command_line_without_more_gets_it(profiles):
	summary = done("report", "-r", "cpu", "whole.data", directory=profiles)
	assert summary.startswith("CPU Time: 412 ms in 450 ms of ./demo 'two words'\n")
	assert done("report", "-r", "cpu", "--thread", "101", "whole.data", directory=profiles).startswith("CPU Time: 30 ms")
	functions = done("report", "--functions", "-r", "cpu", "whole.data", directory=profiles)
	for option in (["--limit", "40"], ["--threshold", "0.005"], ["--by", "function"]):
		assert done("report", "-r", "cpu", *option, "whole.data", directory=profiles) == functions
	for form in ("json", "csv"):
		assert done("report", "--format", form, "whole.data", directory=profiles) == done("report", "--functions", "--format", form,
			"whole.data", directory=profiles)
	assert done("report", "--format", "text", "-r", "cpu", "whole.data", directory=profiles) == summary


def test_its_figures_are_those_of_the_lists(profiles):
	for name in ("whole", "server", "recursion"):
		text = done("report", f"{name}.data", directory=profiles)
		result = json.loads(done("report", "--body", "--format", "json", "-t", "0", f"{name}.data", directory=profiles))["results"][0]
		has_libraries = "\nhottest in the program's own code" in text
		expected = [(rounded(entry["fraction"]), rounded(entry["error"]), entry["path"][0]) for entry in result["entries"]]
		rows = [ROW.match(line) for line in part(text, "hottest functions, by their own use")]
		assert [(row[1], row[2], row[5].split(" from ")[0]) for row in rows] == expected[:5 if has_libraries else 7]
	text = done("report", "whole.data", directory=profiles)
	processes = [ROW.match(line)[5] for line in part(text, "processes")]
	assert processes == ["demo (100)", "helper (200)"]
	assert "also recorded: page-faults 700 faults, calls 120012 calls (-r NAME)" in text


def hot_path(entries):
	"""The definition, on the rows of --tree: (depth, name, hits), parents before children."""
	path, parent, children = [], None, [i for i, entry in enumerate(entries) if entry["depth"] == 0]
	while children:
		best = max(children, key=lambda i: (entries[i]["hits"], -i))
		if parent is not None and 2 * entries[best]["hits"] < entries[parent]["hits"]:
			break
		path.append(entries[best])
		end = next((i for i in range(best + 1, len(entries)) if entries[i]["depth"] <= entries[best]["depth"]), len(entries))
		parent, children = best, [i for i in range(best + 1, end) if entries[i]["depth"] == entries[best]["depth"] + 1]
	return path


@pytest.mark.parametrize("seed", range(12))
def test_the_hot_path_is_the_defined_one(seed, tmp_path):
	rng = random.Random(seed)
	stacks = {";".join(["main", *(rng.choice("abcd") for _ in range(rng.randint(0, 6)))]): rng.randint(1, 40) for _ in range(25)}
	(tmp_path / "in.folded").write_text("".join(f"{stack} {hits}\n" for stack, hits in stacks.items()))
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	tree = json.loads(done("report", "--tree", "--format", "json", "-t", "0", "-n", "0", "in.data", directory=tmp_path))
	expected = hot_path(tree["results"][0]["entries"])
	total = sum(stacks.values())
	rows = [ROW.match(line) for line in part(done("report", "in.data", directory=tmp_path), "the hot path")]
	shown = [(row[1], row[5]) for row in rows if row]
	listed = [(rounded(entry["hits"] / total), entry["name"]) for entry in expected]
	# Frames between two with equal hits are only counted.
	assert shown and [row for row in listed if row in shown][:len(shown)] == shown or len(listed) > 8
	assert shown[0] == listed[0] and (len(listed) > 8 or shown[-1] == listed[-1])
	assert len(shown) + sum(int(re.search(r"\.\.\. (\d+) frames", line)[1]) for line in part(
		done("report", "in.data", directory=tmp_path), "the hot path") if "..." in line) >= min(len(listed), 8)


def test_frames_that_pass_calls_on_are_counted(tmp_path):
	(tmp_path / "in.folded").write_text("main;a;b;c;d;e 90\nmain;x 10\n")
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	path = part(done("report", "in.data", directory=tmp_path), "the hot path")
	assert [re.sub(r"^.*?(?=main|a$|e$|\.\.\.)", "", line) for line in path] == ["main", "a", "... 3 frames", "e"]


def test_proposed_commands_work(profiles):
	text = done("report", "whole.data", directory=profiles)
	commands = [line.split("   ")[0].strip() for line in part(text, "next")]
	assert len(commands) >= 3 and all(command.startswith("cpprof ") for command in commands)
	for command in commands:
		if command.split()[1] == "report":
			subprocess.run(["sh", "-c", command.replace("cpprof", CPPROF, 1)], cwd=profiles, check=True, stdout=subprocess.DEVNULL)
	lossy = part(done("report", "lossy.data", directory=profiles), "next")
	assert any(line.startswith("  cpprof info lossy.data   ") for line in lossy), lossy


def on_terminal(columns, *words, directory):
	"""Runs a command on a terminal. Returns what it prints."""
	master, slave = pty.openpty()
	fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
	process = subprocess.Popen([CPPROF, *words], cwd=directory, stdin=slave, stdout=slave, stderr=slave,
		env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8", "CPPROF_PAGER": ""})
	os.close(slave)
	data = b""
	while True:
		try:
			more = os.read(master, 65536)
		except OSError:
			more = b""
		if not more:
			break
		data += more
	assert process.wait(60) == 0
	os.close(master)
	return data.decode().replace("\r\n", "\n")


def test_rows_end_where_the_terminal_ends(tmp_path):
	names = ["std::map<std::__cxx11::basic_string<char>, std::vector<std::function<int (int)> > >::operator[]" + str(i) for i in range(8)]
	(tmp_path / "in.folded").write_text("".join(f"{';'.join(names[:n + 1])} {10 + n * n}\n" for n in range(8)))
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	text = on_terminal(72, "report", "in.data", directory=tmp_path)
	rows = [line for line in text.splitlines() if ROW.match(line)]
	assert len(rows) > 8 and all(len(row) <= 72 for row in rows) and any("…" in row for row in rows)
	assert "…" not in done("report", "in.data", directory=tmp_path)


@pytest.mark.parametrize("seed", range(8))
def test_own_code_is_the_defined_one(seed, tmp_path):
	rng = random.Random(seed)
	names = ["main", "a", "b", "std::x", "std::y", "core::z"]
	stacks = {tuple(rng.choice(names) for _ in range(rng.randint(1, 7))): rng.randint(1, 40) for _ in range(30)}
	(tmp_path / "in.folded").write_text("".join(f"{';'.join(stack)} {hits}\n" for stack, hits in stacks.items()))
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	charged = definitions.charged(stacks.items(), lambda name: "::" not in name)
	total = sum(stacks.values())
	expected = sorted((rounded(hits / total), name) for name, hits in charged.items() if name)
	rows = [ROW.match(line) for line in part(done("report", "in.data", directory=tmp_path), "hottest in the program's own code, with what it calls in libraries")]
	assert sorted((row[1], row[5].split(": ")[0]) for row in rows) == expected
	for row in rows:
		name, _, most = row[5].partition(": ")
		pairs = {leaf: sum(hits for stack, hits in stacks.items() if stack[-1] == leaf and [f for f in stack if "::" not in f][-1:] == [name])
			for leaf in names if "::" in leaf}
		assert most == "" and not any(pairs.values()) or most.startswith(f"{rounded(max(pairs.values()) / total)} % in ") and pairs[
			most.split(" in ")[1]] == max(pairs.values())


def test_hot_lines_are_those_of_the_program(tmp_path):
	"""A program that computes in the C library: the summary shows its own lines that call it, and proposes commands for its own
	functions. The inlined wrappers of _FORTIFY_SOURCE are no second functions of the same names."""
	program = build("own_lines.c", "-D_FORTIFY_SOURCE=2")
	recorded = record_well(tmp_path, [program])
	source = (PROGRAMS / "own_lines.c").read_text().splitlines()
	hot = {f"own_lines.c:{i + 1}  {text.strip()}" for i, text in enumerate(source) if text.endswith("/* hot */")}
	text = done("report", "out.data", directory=tmp_path)
	rows = part(text, "hot lines of the program's own code, with what they call in libraries")
	assert {ROW.match(row)[5] for row in rows[:2]} == hot and all("own_lines.c:" in row for row in rows), text
	proposed = [line.split("   ")[0].strip() for line in part(text, "next")]
	assert "cpprof report --source take out.data" in proposed or "cpprof report --source measure out.data" in proposed, text
	for command in proposed:
		if command.split()[1] == "report":
			subprocess.run(["sh", "-c", command.replace("cpprof", CPPROF, 1)], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
	callers = done("report", "--up", "read", "out.data", directory=tmp_path)
	assert "(main take read)" in callers and "@" not in callers, callers
	assert recorded.status == 0


def test_a_stripped_program_has_no_hot_lines(tmp_path):
	"""The hottest functions have names, those of the C library. The program's own functions have none, and it is named."""
	program = build("own_lines.c", strip=True)
	record_well(tmp_path, [program])
	text = done("report", "out.data", directory=tmp_path)
	assert "\nhot lines" not in text and f"  {program} has no symbols: compile it with -g, and do not strip it\n" in text, text
	assert "--source" not in text, text


@needs_bpf
def test_the_shown_resource_is_not_proposed(tmp_path):
	"""Half of the program's time is the kernel's. A summary of system time does not propose itself."""
	record_well(tmp_path, [build("own_lines.c")], "-r", "cpu", "-r", "sys")
	command = "\n  cpprof report -r sys out.data   the kernel computes for "
	assert command in done("report", "out.data", directory=tmp_path)
	assert command not in done("report", "-r", "sys", "out.data", directory=tmp_path)
