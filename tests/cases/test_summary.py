"""The first report: which command line gets it, what it says, and that it fits the terminal."""
import itertools
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import CPPROF, done
from record_support import PROGRAMS, build, needs_bpf, record_well
from terminal_support import on_terminal

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
		expected = [(rounded(entry["fraction"]), rounded(entry["error"]), entry["path"][0]) for entry in result["entries"]]
		rows = [ROW.match(line) for line in part(text, "hottest functions, by their own use")]
		assert [(row[1], row[2], row[5].split(" from ")[0]) for row in rows] == expected[:len(rows)]
		assert len(rows) >= min(5, len(expected)), text
	text = done("report", "whole.data", directory=profiles)
	processes = [ROW.match(line)[5] for line in part(text, "processes")]
	assert processes == ["demo (100)", "helper (200)"]
	assert "also recorded: page-faults 700 faults, calls 120012 calls (-r NAME)" in text


@needs_bpf
def test_processes_of_one_name_are_one_row(tmp_path):
	recorded = record_well(tmp_path, ["sh", "-c", "for i in 1 2 3; do /bin/true; done; exit 0"], "-r", "page-faults/1", "--backend", "bpf")
	text = done("report", recorded.path)
	assert {ROW.match(line)[5].split(" (")[1] for line in part(text, "processes")} - {"3 processes)"} == {f"{min(pids_of(recorded))})"}
	assert [row["processes"] for row in json.loads(done("explain", "--format", "json", recorded.path))["processes"] if row["name"] == "true"] == [3]


def pids_of(recorded):
	return [process["pid"] for process in recorded.info()["processes"]]


BRANCH = re.compile(r"^[├└] ")


def path_rows(text):
	"""Returns the rows of the hot path itself, and those of its branches."""
	rows = part(text, "the hot path")
	branches = [row for row in rows if ROW.match(row) and BRANCH.match(ROW.match(row)[5])]
	return [row for row in rows if row not in branches], branches


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


def expand(rows):
	"""The frames of the rows of a hot path: (share, name); None for those that are only counted. In a cycle, only the first frame has a
	share."""
	frames = []
	for line in rows:
		counted, row = re.fullmatch(r" +\.\.\. (\d+) frames?", line), ROW.match(line)
		cycle = row and re.fullmatch(r"(.*), (\d+) times", row[5])
		if counted:
			frames += [None] * int(counted[1])
		elif cycle:
			names = cycle[1].split(" → ")
			frames += [(row[1], names[0])] + [(None, name) for name in (names * int(cycle[2]))[1:]]
		else:
			frames.append((row[1], row[5]))
	return frames


def imported(folder, stacks):
	"""Makes in.data of stacks with their hits."""
	(folder / "in.folded").write_text("".join(f"{stack} {hits}\n" for stack, hits in stacks.items()))
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=folder)


@pytest.mark.parametrize("seed", range(12))
def test_the_hot_path_is_the_defined_one(seed, tmp_path):
	rng = random.Random(seed)
	stacks = {";".join(["main", *(rng.choice("abcd") for _ in range(rng.randint(0, 6)))]): rng.randint(1, 40) for _ in range(25)}
	if seed % 2:
		stacks = {"main;a;b;c;d;a;c;" * 3 + stack: hits for stack, hits in stacks.items()}
	imported(tmp_path, stacks)
	tree = json.loads(done("report", "--tree", "--format", "json", "-t", "0", "-n", "0", "in.data", directory=tmp_path))
	total = sum(stacks.values())
	expected = [(rounded(entry["hits"] / total), entry["name"]) for entry in hot_path(tree["results"][0]["entries"])]
	rows, branches = path_rows(done("report", "in.data", directory=tmp_path))
	shown = expand(rows)
	assert len(rows) + len(branches) <= 9 and len(shown) == len(expected) and shown[0] and shown[-1]
	for row, frame in zip(shown, expected):
		assert row is None or row[1] == frame[1] and row[0] in (None, frame[0])


def test_the_hot_path_shows_where_it_parts(tmp_path):
	imported(tmp_path, {"main;run;a;x": 30, "main;run;b": 40, "main;run;rare": 4, "main;run": 6, "main;run;c": 20})
	rows = part(done("report", "in.data", directory=tmp_path), "the hot path")
	assert [(ROW.match(row)[1], ROW.match(row)[5]) for row in rows] == [
		("100.0", "main"), ("100.0", "run"), ("40.0", "├ b"), ("30.0", "├ a"), ("20.0", "└ c")], rows
	# A third of the rows may be branches where the path itself has more rows than fit.
	names = [f"f{i}" for i in range(12)]
	stacks = {";".join(names[:i + 1]): 1 for i in range(12)}
	imported(tmp_path, {**stacks, **{";".join([*names, f"leaf{i}"]): 20 - i for i in range(5)}})
	rows, branches = path_rows(done("report", "in.data", directory=tmp_path))
	assert [ROW.match(row)[5] for row in branches] == ["├ leaf0", "├ leaf1", "└ leaf2"] and len(rows) == 6 and rows[-1].endswith(" f11"), rows


@pytest.mark.parametrize("cycle", ["a", "a;b", "a;b;c", ";".join("abcdefghijklmnop")])
def test_recursion_is_one_row(cycle, tmp_path):
	"""The hits end at different depths, so the shares along the path differ."""
	imported(tmp_path, {f"main;{';'.join([cycle] * times)};end": times for times in range(1, 40)})
	tree = json.loads(done("report", "--tree", "--format", "json", "-t", "0", "-n", "0", "in.data", directory=tmp_path))
	frames = [entry["name"] for entry in hot_path(tree["results"][0]["entries"])]
	names = cycle.split(";")
	times = frames.count(names[0])
	assert frames[1:1 + times * len(names)] == names * times and times > 10
	rows = [ROW.match(line)[5] for line in part(done("report", "in.data", directory=tmp_path), "the hot path")]
	assert rows[:2] == ["main", f"{' → '.join(names)}, {times} times"]


def test_frames_that_pass_calls_on_are_counted(tmp_path):
	imported(tmp_path, {"main;a;b;c;d;e": 90, "main;x": 10})
	path = part(done("report", "in.data", directory=tmp_path), "the hot path")
	assert [re.sub(r"^.*?(?=main|a$|e$|\.\.\.)", "", line) for line in path] == ["main", "a", "... 3 frames", "e"]


def hot_rows(folder, rows):
	"""The rows of the hot path on a terminal, where no blank line follows them if it is small."""
	lines = part(on_terminal("report", "in.data", folder=folder, rows=rows), "the hot path")
	return [line for line in itertools.takewhile(lambda line: line.startswith(" "), lines) if not BRANCH.search(line.split("  ")[-1].strip())]


def test_the_hot_path_shows_the_programs_own_code(tmp_path):
	"""Between main and a leaf of a library, the last frame of the program's own code has a row, also on a small screen."""
	own = ";".join(f"own{i}" for i in range(8))
	library = ";".join(f"std::x{i}" for i in range(12))
	imported(tmp_path, {f"main;{own};{library}": 90, "main;other": 10})
	path = hot_rows(tmp_path, 24)
	assert [re.sub(r"^.*?(?=main$|own|std::|\.\.\.)", "", line) for line in path] == [
		"main", "own0", "... 6 frames", "own7", "... 11 frames", "std::x11"]
	# Shares that decrease from frame to frame, which have a row each on a large screen.
	stacks = {";".join(["main", *own.split(";")[:i]]): 1 for i in range(9)}
	stacks.update({f"main;{own};" + ";".join(library.split(";")[:i]): 10 for i in range(1, 13)})
	imported(tmp_path, stacks)
	names = ["main", *own.split(";"), *library.split(";")]
	for rows in (24, 40):
		path = hot_rows(tmp_path, rows)
		found = [re.sub(r"^.*?(?=main$|own|std::|\.\.\.)", "", line) for line in path]
		counted = [int(line.split()[1]) if line.startswith("...") else 1 for line in found]
		assert "own7" in found and "main" == found[0] and len(found) <= 9, found
		at = 0
		for line, count in zip(found, counted):
			assert line.startswith("...") or line == names[at]
			at += count


def test_proposed_commands_work(profiles):
	text = done("report", "whole.data", directory=profiles)
	commands = [line.split("   ")[0].strip() for line in part(text, "next")]
	assert len(commands) >= 3 and all(command.startswith("cpprof ") for command in commands)
	for command in commands:
		if command.split()[1] == "report":
			subprocess.run(["sh", "-c", command.replace("cpprof", CPPROF, 1)], cwd=profiles, check=True, stdout=subprocess.DEVNULL)
	lossy = part(done("report", "lossy.data", directory=profiles), "next")
	assert len([line for line in lossy if line.startswith("  cpprof info lossy.data   ")]) == 1, lossy


def test_proposed_commands_show_the_same_selection(profiles, tmp_path):
	"""Each shows what the summary shows; those of the whole recording have no selection."""
	(tmp_path / "it's one.folded").write_text("main;work;hot 50\nmain;work 30\nmain;rest 20\n")
	subprocess.run([CPPROF, "import", "-o", "it's one.data", "it's one.folded"], cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
	text = done("report", "--transform", "drop=rest", "--kernel", "hide", "it's one.data", directory=tmp_path)
	commands = [line.split("   ")[0].strip() for line in part(text, "next")]
	end = " --transform drop=rest --kernel hide 'it'\\''s one.data'"
	assert f"cpprof report --up hot{end}" in commands and f"cpprof browse{end}" in commands, text
	assert "cpprof html --open 'it'\\''s one.data'" in commands, text
	shown = subprocess.run(["sh", "-c", next(each for each in commands if "--up" in each).replace("cpprof", CPPROF, 1)],
		cwd=tmp_path, check=True, capture_output=True, text=True).stdout
	assert "transforms: drop=rest" in shown and "0.6250" in shown, shown


PARTS = ("hottest functions, by their own use", "the hot path", "next")


@pytest.mark.parametrize("lines, columns", [(24, 80), (30, 80), (40, 100), (60, 200), (24, 72)])
def test_it_is_one_screen(profiles, lines, columns):
	"""It leaves a line for the next prompt, and its most important parts have rows on every screen."""
	for name in ("whole", "server", "recursion", "labels", "lossy"):
		text = on_terminal("report", f"{name}.data", folder=profiles, columns=columns, rows=lines)
		report = [row for row in text.splitlines() if ": warning: " not in row]
		assert max(map(len, report)) <= columns and sum(1 + (len(row) - 1) // columns for row in text.splitlines()) < lines, text
		assert all(f"\n{title}\n" in text for title in PARTS), text
		assert len(done("report", f"{name}.data", directory=profiles).splitlines()) <= 40


def test_it_fills_the_screen(tmp_path):
	"""More than fits: each further line of the terminal shows one more, until there is no more to show."""
	imported(tmp_path, {f"main;{name}{i};{name}{i}{i};std::x{i}": 40 - i for i in range(20) for name in "ab"})
	full = len(on_terminal("report", "in.data", folder=tmp_path, columns=80, rows=30).splitlines())
	for lines in range(5, full + 2):
		assert len(on_terminal("report", "in.data", folder=tmp_path, columns=80, rows=lines).splitlines()) == lines - 1


def test_the_height_is_that_of_LINES(profiles):
	text = on_terminal("report", "whole.data", folder=profiles, columns=80, rows=60, LINES="20")
	assert 15 < len(text.splitlines()) < 20
	for nonsense in ("0", "-5", "x", ""):
		usual = on_terminal("report", "whole.data", folder=profiles, columns=80, rows=60, LINES=nonsense)
		assert len(usual.splitlines()) > 25, (nonsense, usual)


def test_long_first_rows_are_cut(tmp_path):
	"""A command of many words takes no lines of the screen."""
	loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
	record_well(tmp_path, ["/bin/sh", "-c", loop, *("a long word" for _ in range(60))])
	text = on_terminal("report", "out.data", folder=tmp_path, columns=80)
	assert text.splitlines()[0].endswith("…") and len(text.splitlines()[0]) == 80 and "sampled every" in text.splitlines()[1], text


def test_rows_end_where_the_terminal_ends(tmp_path):
	names = ["std::map<std::__cxx11::basic_string<char>, std::vector<std::function<int (int)> > >::operator[]" + str(i) for i in range(8)]
	(tmp_path / "in.folded").write_text("".join(f"{';'.join(names[:n + 1])} {10 + n * n}\n" for n in range(8)))
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	text = on_terminal("report", "in.data", folder=tmp_path, columns=72)
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
	"""The hottest functions have names, in the C library. The program's own functions have none, and it is named."""
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


def test_a_selection_is_told_from_the_recording(profiles):
	"""With a range of time, the length is the range's, and the totals of the other resources are those of the recording."""
	whole, part = (done("report", "-r", "page-faults", *words, profiles / "server.data") for words in ([], ["--to", "0.002"]))
	assert "\nalso recorded: " in whole and "\nalso recorded, in all of the recording: " in part
	assert " in 2 ms" in part.splitlines()[0] and " in 0.002 s" in done("explain", "-r", "page-faults", "--to", "0.002", profiles / "server.data").splitlines()[0]
