"""The output on a terminal: reports that fit its width, names that can be read, the pager, progress, completion out of a
profile. docs/languages.md has the rules."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import unicodedata

import pytest
from cli_support import CPPROF, SECONDS_ALLOWED, done, run
from record_support import build, needs_perf
from terminal_support import on_terminal, open_terminal, read_to_the_end

NAMES = ["main", "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)", "f(int)", "f(char)",
	"void std::sort<__gnu_cxx::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > >, main::{lambda(Rec const&)#1}>(int)"]
REPORTS = [["report"], ["report", "--functions"], ["report", "--body"], ["report", "--down", "main"], ["report", "--up", "f(int)"],
	["report", "--tree"], ["report", "--modules"], ["info"], ["diff"], ["whatif", "main;f(int)=0"]]
# These need lines, instructions, processes and threads: of a recording.
ALL = ["-n", "0", "-t", "0"]
RECORDED = [["--source", "work"], ["--asm", "work"], *([kind, *ALL] for kind in ("--lines", "--modules", "--processes", "--threads"))]


def columns_of(line):
	return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.fixture(scope="module")
def stacks(tmp_path_factory):
	folder = tmp_path_factory.mktemp("stacks")
	(folder / "in.folded").write_text(f"{';'.join(NAMES[:3])} 40\n{NAMES[0]};{NAMES[4]};{NAMES[3]} 30\n" +
		";".join(["main", *(f"deep{i}" for i in range(40))]) + " 20\nmain;中文函数;f(int) 5\n" + "main;" + "x" * 300 + " 5\n")
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=folder)
	return folder


@pytest.mark.parametrize("columns", [40, 80, 133])
@pytest.mark.parametrize("words", REPORTS, ids=" ".join)
def test_reports_fit_the_terminal(stacks, words, columns):
	files = ["in.data", "in.data"] if words[0] == "diff" else ["in.data"]
	order = [words[0], *files, *words[1:]] if words[0] in ("whatif", "info", "diff") else [*words, *files]
	text = on_terminal(*order, folder=stacks, columns=columns)
	assert text and max(map(columns_of, text.splitlines())) <= columns, text


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
	"""A recording of tests/programs/spawners.c, whose processes, modules and source files have long names."""
	folder = tmp_path_factory.mktemp("recorded")
	program = folder / ("a-program-with-a-long-name-" * 6)
	program.symlink_to(build("spawners.c"))
	subprocess.run([CPPROF, "record", "-r", "cpu/100us", "-o", "a.data", program, "two"], cwd=folder, check=True, capture_output=True, timeout=SECONDS_ALLOWED)
	return folder


@needs_perf
@pytest.mark.parametrize("words", RECORDED, ids=" ".join)
def test_reports_of_a_recording_fit_the_terminal(recorded, words):
	whole = on_terminal("report", *words, "-r", "cpu", "a.data", folder=recorded, columns=1000)
	assert len(whole.splitlines()) > 4 and max(map(columns_of, whole.splitlines())) > 40, whole
	for columns in (40, 80, 133):
		text = on_terminal("report", *words, "-r", "cpu", "a.data", folder=recorded, columns=columns)
		assert max(map(columns_of, text.splitlines())) <= columns, text


def test_the_width_is_that_of_COLUMNS(stacks):
	text = on_terminal("report", "--functions", "in.data", folder=stacks, COLUMNS="50")
	assert 40 < max(map(columns_of, text.splitlines())) <= 50
	for nonsense in ("", "x", "-3", "0"):
		assert max(map(columns_of, on_terminal("report", "--functions", "in.data", folder=stacks, COLUMNS=nonsense).splitlines())) > 50


def test_names_are_in_full_elsewhere(stacks):
	long = on_terminal("report", "--functions", "--long", "in.data", folder=stacks)
	assert long == done("report", "--functions", "in.data", directory=stacks)
	for name in NAMES:
		assert name in long
		assert name in done("report", "--functions", "--format", "json", "in.data", directory=stacks)
		assert name in done("export", "--format", "folded", "in.data", directory=stacks)
	short = on_terminal("report", "--functions", "in.data", folder=stacks)
	assert " std::vector<Rec>::push_back [40]" in short
	assert " f(char) [30]" in short and " f(int) [45]" in short # "f" would be both


def shown_names(text):
	return re.findall(r"^[\d.]+ ±[\d.]+ (.*) \[\d+\]$", text, re.MULTILINE)


@pytest.mark.parametrize("columns", [34, 80])
def test_a_shown_name_is_found(stacks, columns):
	names = shown_names(on_terminal("report", "--functions", "-n", "6", "in.data", folder=stacks, columns=columns))
	assert len(names) == 6
	for name in names:
		for word in {name, name.replace("…", "...")}:
			if "x…" not in word and "…x" not in word and not word.startswith("x"):
				done("report", "--down", word, "in.data", directory=stacks)


def test_a_short_name_of_several_functions_is_refused(tmp_path):
	(tmp_path / "in.folded").write_text("main;g<int>(int) 1\nmain;g<Long>(int) 2\n")
	done("import", "--format", "folded", "-o", "in.data", "in.folded", directory=tmp_path)
	result = run("report", "--down", "g<...>", "in.data", directory=tmp_path)
	assert result.returncode == 1 and "g<int>(int), g<Long>(int)" in result.stderr.replace("g<Long>(int), g<int>(int)", "g<int>(int), g<Long>(int)")


def test_chains_share_a_row(stacks):
	tree = on_terminal("report", "--tree", "-n", "0", "in.data", folder=stacks)
	assert re.search(r"^  deep0 → .*\.\.\. \d+ frames \.\.\. .*→ deep39 \(0\.2000 ±[\d.]+\) \[20\]$", tree, re.MULTILINE), tree
	# deep0 to deep39, the two paths of two frames, and the path of the wide characters
	assert "... 42 frames share the row of their only caller: --long" in tree.replace("\n    ", " ")
	assert "→" not in on_terminal("report", "--tree", "--long", "in.data", folder=stacks)
	assert "→" not in done("report", "--tree", "in.data", directory=stacks)
	down = on_terminal("report", "--down", "main", "-n", "0", "in.data", folder=stacks)
	assert len(re.findall(r"deep39\)", down)) == 1 and "deep0)" not in down and "deep20)" not in down
	assert "paths are part of a longer one with as many hits: --long" in down.replace("\n    ", " ")
	up = on_terminal("report", "--up", "deep39", "-n", "0", "in.data", folder=stacks)
	assert len(re.findall(r"\[20\]", up)) == 1


def test_folded_rows_have_the_hits_of_all_their_frames(stacks):
	"""The rows of the terminal are rows of the full list."""
	full = json.loads(done("report", "--down", "main", "-n", "0", "-t", "0", "--format", "json", "in.data", directory=stacks))["results"][0]["entries"]
	hits = sorted({entry["hits"] for entry in full})
	shown = re.findall(r"\[(\d+)\]$", on_terminal("report", "--down", "main", "-n", "0", "-t", "0", "in.data", folder=stacks), re.MULTILINE)
	assert sorted(set(map(int, shown))) == hits and len(shown) < len(full)


def test_explore_fits_and_can_show_all(stacks):
	commands = stacks / "commands"
	commands.write_text("tree\nlong on\ntree\n")
	master, slave = open_terminal(columns=60)
	with open(commands, "rb") as given:
		process = subprocess.Popen([CPPROF, "explore", "in.data"], cwd=stacks, stdin=given, stdout=slave, stderr=slave,
			env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"})
	data = read_to_the_end(process, master, slave)
	assert process.returncode == 0
	short, long = data.decode().replace("\r\n", "\n").split("long: on\n")
	assert max(map(columns_of, short.splitlines())) <= 60 and "→" in short
	assert "→" not in long and "deep7 (" in long


# --- the pager ---

MARKED = "sed s/^/paged:/"


def test_reports_go_through_the_pager(stacks):
	for words in (["report"], ["report", "--functions"], ["info"], ["diff", "in.data"], ["whatif", "main=0"]):
		text = on_terminal(*words, "in.data", folder=stacks, CPPROF_PAGER=MARKED, PAGER="false")
		assert text and all(line.startswith("paged:") for line in text.splitlines()), text
	assert on_terminal("report", "in.data", folder=stacks, CPPROF_PAGER=None, PAGER=MARKED).startswith("paged:")


@pytest.mark.parametrize("words, settings", [
	(["--no-pager"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": None}), ([], {"CPPROF_PAGER": "cat"}), ([], {"CPPROF_PAGER": ""}),
	(["--format", "csv"], {}), (["--format", "json"], {})], ids=str)
def test_there_is_no_pager(stacks, words, settings):
	text = on_terminal("report", "--functions", *words, "in.data", folder=stacks, **{"CPPROF_PAGER": MARKED, **settings})
	assert text and "paged:" not in text


def test_there_is_no_pager_for_a_pipe(stacks):
	assert "paged:" not in done("report", "in.data", directory=stacks, CPPROF_PAGER=MARKED, TERM="xterm")


@pytest.fixture(scope="module")
def many(stacks):
	"""A profile whose tree has more bytes than a pipe takes."""
	(stacks / "many.folded").write_text("".join(f"main;f{i};{'y' * 60}{i} 1\n" for i in range(5000)))
	done("import", "--format", "folded", "-o", "many.data", "many.folded", directory=stacks)
	return "many.data"


def test_a_pager_that_is_left_early_is_no_error(stacks, many):
	text = on_terminal("report", "--tree", "-n", "0", "-t", "0", many, folder=stacks, CPPROF_PAGER="head -n 1")
	assert text.splitlines() == ["Sample Tree Profile for resource: Samples"]


@pytest.mark.parametrize("pager, status", [("/nowhere/pager", 127), ("/dev/null", 126), ("less '", 2), ("exit 3", 3)])
def test_the_text_of_a_pager_that_fails_is_shown(stacks, many, pager, status):
	"""Also where it has more bytes than the pipe takes."""
	warning = f"cpprof: warning: the pager '{pager}' failed with status {status}; the text is shown without it"
	for file in ("in.data", many):
		words = ["report", "--tree", "-n", "0", "-t", "0", file]
		text = on_terminal(*words, folder=stacks, CPPROF_PAGER=pager)
		plain = on_terminal(*words, "--no-pager", folder=stacks)
		assert warning in text and len(plain) > (1 << 17 if file == many else 500)
		assert text.endswith(plain)


def test_a_pager_that_reads_a_part_and_fails_is_no_error(stacks, many):
	assert on_terminal("report", "--tree", "-n", "0", "-t", "0", many, folder=stacks, CPPROF_PAGER="head -n 1; exit 3").count("\n") == 1


@pytest.mark.parametrize("settings", [{"PAGER": None}, {"PAGER": None, "PATH": None}], ids=["no-less", "no-PATH"])
def test_there_is_no_pager_where_there_is_no_less(stacks, tmp_path, settings):
	text = on_terminal("report", "in.data", folder=stacks, **{"PATH": str(tmp_path), "CPPROF_PAGER": None, **settings})
	assert text == on_terminal("report", "--no-pager", "in.data", folder=stacks)


def test_the_pager_is_a_command_of_the_shell(stacks):
	text = on_terminal("report", "in.data", folder=stacks, CPPROF_PAGER="sed 's/^/$x /' | cat; echo \"a;b\"")
	assert text.endswith("\na;b\n") and all(line.startswith("$x ") for line in text.splitlines()[:-1])


# A shell that gets a signal just before it starts a program may lose it, so the program itself says when it is there.
WAITS = sys.executable + """ -c 'import signal, time; signal.signal(2, signal.SIG_DFL); print("ready", flush=True); time.sleep(1000)'"""


@pytest.mark.parametrize("pager", [f"exec {WAITS}", f"{WAITS}; exit 3"], ids=["program", "shell"])
def test_interrupt_ends_a_pager_that_reads_nothing(stacks, many, pager):
	"""^C is the pager's: its end is the command's end, and nothing is printed after it."""
	for file in ("in.data", many):
		pid, terminal = pty.fork()
		if pid == 0:
			signal.signal(signal.SIGINT, signal.SIG_DFL) # a test in the background may have inherited that it is ignored
			os.execve(CPPROF, [CPPROF, "report", "--tree", "-n", "0", "-t", "0", f"{stacks}/{file}"],
				{**os.environ, "TERM": "xterm", "CPPROF_PAGER": pager})
		before, seen = termios.tcgetattr(terminal), b""
		while b"ready\r\n" not in seen: # ^C discards what the terminal has not shown
			seen += os.read(terminal, 4096)
		os.write(terminal, b"\x03")
		try:
			while more := os.read(terminal, 4096):
				seen += more
			assert termios.tcgetattr(terminal) == before
		except OSError:
			pass # the end of a terminal's output
		os.close(terminal)
		assert os.waitpid(pid, 0)[1] == 0 and seen.replace(b"\r\n", b"\n") == b"ready\n^C", seen


def test_an_error_needs_no_pager(stacks):
	text = on_terminal("report", "--down", "nothing", "in.data", folder=stacks, status=1, CPPROF_PAGER=MARKED)
	assert "paged:" not in text and "no function" in text


# --- a program of C++ ---

@needs_perf
def test_a_program_of_cxx_is_readable(tmp_path):
	"""Every line fits, and of the first ten none is of library code alone: a library function has its caller beside it."""
	program = build("terminal_names.cpp", "-std=c++17", name="terminal_names")
	subprocess.run([CPPROF, "record", "-F", "4000", "-o", "a.data", program], cwd=tmp_path, check=True, capture_output=True, timeout=SECONDS_ALLOWED)
	for words in (["report"], ["report", "--tree"], ["report", "--down", "main"], ["report", "--functions"], ["report", "--lines"]):
		text = on_terminal(*words, "a.data", folder=tmp_path)
		assert max(map(columns_of, text.splitlines())) <= 80
	text = on_terminal("report", "a.data", folder=tmp_path)
	own = re.compile(r"\b(main|Rec|Proc)\b")
	rows = [line for line in text.splitlines()[:10] if "%" in line and not line.startswith("stacks:")]
	assert rows and all(own.search(row) for row in rows), text
	assert "main" in rows[0] and "allocator" not in text and "__cxx11" not in text
	for command in re.findall(r"^  (cpprof report .*?)   ", text, re.MULTILINE):
		subprocess.run(["sh", "-c", command.replace("cpprof", CPPROF, 1)], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


# --- progress ---

def progress_of(folder, stdout, *words):
	"""Records a program that waits until a line of progress was seen, or ends after a second. Returns what the terminal got."""
	os.mkfifo(folder / "gate")
	master, slave = open_terminal()
	process = subprocess.Popen([CPPROF, "record", "-o", "a.data", *words, "sh", "-c", "read line < gate"], cwd=folder, stdin=subprocess.DEVNULL,
		stdout=slave if stdout == "terminal" else subprocess.DEVNULL, stderr=slave, start_new_session=True)
	seen = b""
	if stdout != "terminal":
		while b" lost; ^C ends the command" not in seen:
			seen += os.read(master, 4096)
	with open(folder / "gate", "w") as gate:
		gate.write("go\n")
	seen += read_to_the_end(process, master, slave)
	assert process.returncode == 0
	return seen.decode()


def test_recording_names_the_next_command(tmp_path):
	"""On a terminal only, and as it can be typed."""
	command = ["record", "--instrumented=counts"], ["--", build("forms.c", "-finstrument-functions"), "1"]
	for words, following in (([], "cpprof report"), (["-o", "x.data"], "cpprof report x.data"), (["-o", "my x.data"], "cpprof report 'my x.data'")):
		shown = on_terminal(*command[0], *words, *command[1], folder=tmp_path)
		assert re.search(rf"\ncpprof: \d+ calls, .*\nnext: {following}\n$", shown), shown
	assert "next:" not in run(*command[0], *command[1], directory=tmp_path).stderr


@needs_perf
def test_recording_shows_its_progress(tmp_path):
	seen = progress_of(tmp_path, "null")
	assert re.search(r"\rrecording \S+ \.\.\. \d+ s, \d+ samples?, 0 lost; \^C ends the command\x1b\[K", seen)
	assert seen.rindex("\r\x1b[K") < seen.index("cpprof: ") # the line is erased before the closing line


@needs_perf
def test_a_command_has_its_terminal_for_itself(tmp_path):
	assert "recording" not in progress_of(tmp_path, "terminal")


@needs_perf
@pytest.mark.parametrize("words", [["-p", None], pytest.param(["-a"], marks=pytest.mark.skipif(os.geteuid() != 0, reason="not root"))],
	ids=["process", "machine"])
def test_recording_what_runs_shows_its_progress(tmp_path, server, words):
	"""It has no terminal of its own, so the line is shown wherever its standard output goes. ^C ends the recording, and nothing else."""
	master, slave = open_terminal()
	process = subprocess.Popen([CPPROF, "record", "-o", "a.data", *(word or str(server.pid) for word in words)], cwd=tmp_path,
		stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, start_new_session=True)
	seen = b""
	while b" lost; ^C ends it\x1b[K" not in seen:
		seen += os.read(master, 4096)
	process.send_signal(signal.SIGINT)
	seen = (seen + read_to_the_end(process, master, slave)).decode()
	assert process.returncode == 0 and server.poll() is None, seen
	assert re.search(r"\rrecording \S+ \.\.\. \d+ s, \d+ samples?, 0 lost; \^C ends it\x1b\[K", seen)
	assert seen.rindex("\r\x1b[K") < seen.index("cpprof: ") # the line is erased before the closing line


@needs_perf
def test_there_is_no_progress_without_a_terminal(tmp_path):
	result = run("record", "-o", "a.data", "--duration", "2", "-p", str(os.getpid()), directory=tmp_path)
	assert result.returncode == 0 and "recording" not in result.stderr and "\r" not in result.stderr


# --- completion out of a profile ---

SHELLS = {
	"bash": """source <("$CPPROF" completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=$((${#COMP_LINE}))
_cpprof
printf '%s\\n' "${COMPREPLY[@]}"
""",
	"fish": """"$CPPROF" completion fish | source
complete -C "$argv"
""",
}


@pytest.fixture(scope="module")
def completions(tmp_path_factory):
	folder = tmp_path_factory.mktemp("completions")
	(folder / "in.folded").write_text("main;ns::first(int);ns::Klass<int>::second(char) 3\nmain;first_one 2\nmain;odd'name 1\n")
	done("import", "--format", "folded", "-o", "cpprof.data", "in.folded", directory=folder)
	(folder / "other.folded").write_text("other_main 3\n")
	done("import", "--format", "folded", "-o", "other.data", "other.folded", directory=folder)
	(folder / "cpprof").symlink_to(CPPROF)
	return folder


def test_words_of_a_profile(completions):
	def offered(*words, folder=completions):
		return sorted(done("complete", "fish", *words, directory=folder).split("\t\n"))
	assert offered("report", "--down", "") == ["", "first_one", "main", "ns::Klass::second", "ns::first"]
	assert offered("report", "--down", "ns::K") == ["", "ns::Klass::second"]
	assert offered("report", "other.data", "--down", "") == ["", "other_main"]
	assert offered("report", "-r", "") == ["", "samples"]
	(completions / "empty").mkdir()
	assert run("complete", "fish", "report", "--down", "", directory=completions / "empty").returncode == 1
	assert done("complete", "zsh", "report", "--down", "ns::f", directory=completions) == "ns\\:\\:first:\n"


def bash(folder, *words):
	script = SHELLS["bash"].replace("$CPPROF", CPPROF)
	result = subprocess.run(["bash", "-c", script, "bash", "./cpprof", *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS_ALLOWED)
	assert result.stderr == ""
	return result.stdout.split()


def test_bash_offers_functions(completions):
	assert bash(completions, "report", "--down", "fir") == ["first_one"]
	assert sorted(bash(completions, "report", "--up", "ns::")) == ["Klass::second", "first"] # bash keeps what is before the last ':'
	assert bash(completions, "report", "other.data", "--source", "") == ["other_main"]
	assert bash(completions, "report", "--resource", "sa") == ["samples"]
	assert bash(completions, "record", "--resource", "page-f") == ["page-faults"]


@pytest.mark.needs("fish")
def test_fish_offers_functions(completions):
	script = SHELLS["fish"].replace("$CPPROF", CPPROF)
	result = subprocess.run(["fish", "--no-config", "-c", script, "cpprof report --down fir"], cwd=completions, capture_output=True, text=True,
		timeout=SECONDS_ALLOWED, env={**os.environ, "PATH": f"{completions}:{os.environ.get('PATH', '/usr/bin:/bin')}", "HOME": str(completions)})
	assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["first_one"], result.stderr
