"""Control of the probe points of a running program: by `cpprof control` over its socket, by rules at the start, by the program
itself, and by throttling; and implementations that users write."""
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from record_support import BUILD, PROGRAMS, REPOSITORY, SECONDS_ALLOWED, folded, run_cpprof
from user_support import as_user, is_root, only_root, open_folder, unprivileged

FOLDER = PROGRAMS / "source"
RUNTIME = BUILD / "src/collect/agent"
LINKED = [f"-L{RUNTIME}", f"-Wl,-rpath,{RUNTIME}", "-Wl,--push-state,--no-as-needed", "-lcpprof", "-Wl,--pop-state"]
OWN_SOCKETS = Path(f"/tmp/cpprof-{os.geteuid()}")


def build(name, source, *flags, compiler="gcc"):
	"""Compiles into a file of its own and renames it, because parallel tests may build the same program."""
	output = BUILD / "tests/programs/source" / name
	output.parent.mkdir(parents=True, exist_ok=True)
	partial = output.with_name(f"{name}.{os.getpid()}")
	subprocess.run([compiler, "-O2", "-g", "-Wall", "-Wextra", f"-I{REPOSITORY}/include", "-o", partial, source, *flags], check=True)
	partial.rename(output)
	return output


@pytest.fixture(scope="module")
def program():
	return build("steered", FOLDER / "steered.c", *LINKED)


@pytest.fixture(scope="module")
def plugin():
	return build("libsteered.so", FOLDER / "steered.lib.c", "-shared", "-fPIC", *LINKED)


class Steered:
	"""One run of steered.c without `cpprof record`. It executes the commands that the test sends."""

	def __init__(self, program, folder, **variables):
		self.output = Path(folder) / "out.data"
		environment = {**os.environ, "CPPROF_OUTPUT": str(self.output), **variables}
		self.process = subprocess.Popen([program], cwd=folder, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		assert self.process.stdout.readline() == "ready\n"
		self.pid = self.process.pid
		self.is_controlled = environment.get("CPPROF_CONTROL") != "0"
		self.socket = OWN_SOCKETS / str(self.pid)

	def __enter__(self):
		if self.is_controlled:
			wait_until_listening(self.pid)
		return self

	def __exit__(self, *_):
		if self.process.poll() is None:
			self.end()

	def command(self, line):
		self.process.stdin.write(line + "\n")
		self.process.stdin.flush()
		return self.process.stdout.readline().strip()

	def end(self):
		self.process.stdin.close()
		assert self.process.wait(SECONDS_ALLOWED) == 0

	def control(self, *words):
		return control(self.pid, *words)

	def calls(self):
		"""{function: calls}, after the program has ended."""
		return calls(self.output)


def wait_until_listening(pid):
	"""Waits for the socket. The first probe point starts the thread that listens, but the thread may run later."""
	path = OWN_SOCKETS / str(pid)
	with subprocess.Popen(["timeout", str(SECONDS_ALLOWED), "sh", "-c", f"until test -S {path}; do :; done"]) as waiting:
		assert waiting.wait() == 0


def control(pid, *words, **settings):
	return run_cpprof("control", pid, *words, **settings)


def calls(path):
	found = Counter()
	for frames, count in folded(path, "calls").items():
		found[frames[-1]] += count
	return dict(found)


def states(text):
	"""{probe point: state} from the output of `list`."""
	return {re.split("  +", line)[2]: line.split()[0] for line in text.splitlines()[1:]}


def test_probe_points_are_listed_and_switched(program, tmp_path):
	with Steered(program, tmp_path) as run:
		run.command("work 10")
		listed = run.control("list").stdout
		assert states(listed) == {"main": "on", "work": "on", "work: row": "on", "tiny": "on", "grouped": "on"}
		assert re.search(r"^on +1 +grouped +\{io\} +.*steered\.c:\d+$", listed, re.M), listed
		assert re.search(r"^on +2 +work: row +.*steered\.c:\d+$", listed, re.M), listed
		assert states(run.control("list", "ti*", "group:io").stdout) == {"tiny": "on", "grouped": "on"}
		assert run.control("off", "tiny").stdout == "off tiny: 1 of 5 probe points, 1 switched\n"
		run.command("work 10")
		assert states(run.control().stdout)["tiny"] == "off"
		assert run.control("off", "t?ny").stdout == "off t?ny: 1 of 5 probe points, 0 switched\n"
		for name, found in ("work: row", 1), ("w*: *", 1), ("main: row", 0), ("work:row", 0):
			assert f" {found} of 5 probe points" in run.control("on", name).stdout, name
		run.control("on", "*")
		run.command("work 10")
		run.control("level", "1")
		run.command("work 10")
		run.control("level", "4")
		run.control("group", "io", "off")
		run.control("off", "file:steered.c")
		run.command("work 10")
		run.control("on", "file:programs/source/steered.c", "work")
		run.command("work 10")
		run.end()
		assert run.calls() == {"main": 1, "work": 50, "work: row": 80, "tiny": 80, "grouped": 40 + 10}


def test_rules_hold_for_what_comes_later_and_the_last_one_wins(program, tmp_path):
	with Steered(program, tmp_path) as run:
		nothing = run.control("off", "l*e")
		assert nothing.stdout == "off l*e: 0 of 1 probe point, 0 switched\n"
		assert "the rule applies to those reached later" in nothing.stderr
		run.command("late 3")
		run.control("on", "late")
		run.command("late 4")
		run.end()
		assert run.calls() == {"main": 1, "late": 4}


def test_rules_of_a_file(program, tmp_path):
	rules = tmp_path / "rules"
	rules.write_text("# only these\n\noff *\non work  # that\non main\nlevel 1 #\nthrottle 1000000 1\n")
	with Steered(program, tmp_path, CPPROF_PROBES=str(rules)) as run:
		run.command("work 10")
		run.end()
		assert run.calls() == {"main": 1, "work": 10}


WRONG_RULES = [
	("off tiny\nof x\n", ":2: a rule begins with on, off, group, level or throttle"),
	("level 5", ":1: a level is a number from 0"),
	("on", ":1: a pattern is missing"),
	("off " + 250 * "x", ":1: the pattern is too long"),
	("\ngroup io", ":2: expected 'group NAME on' or 'group NAME off'"),
	("throttle 0 1", ":1: expected 'throttle CALLS NS'"),
	("level 1 2", ":1: there is more on the line"),
	("off \0", ":1: there is a NUL in it"),
	("".join(f"off f{number}\n" for number in range(300)), ":257: there are too many rules"),
	(None, ": there is no such file"),
]


# {rule pattern: the probe points of named.cpp that `off` with this pattern turns off}
NAMES = {
	"work": {"work(int)", "work(double)"},
	"C<T>::work": {"work(int)", "work(double)"},
	"space::C<*>::work": {"work(int)", "work(double)"},
	"pace::C<*>::work": set(),
	"*with T = double*": {"work(double)", "operator bool"},
	"int space::C<T>::work(T) [with T = int]": {"work(int)"},
	"operator()": {"operator()"},
	"C<*>::operator()": {"operator()"},
	"operator bool": {"operator bool"},
	"plain": {"plain"},
	"int* plain(int (*)(int))": {"plain"},
	"called(int)": set(),
	"file:named.cpp": {"work(int)", "work(double)", "operator()", "operator bool", "plain", "called"},
	"file:amed.cpp": set(),
}


def kinds_of(path):
	"""The kinds of functions of named.cpp that were counted."""
	marks = {"work(int)": "C<int>::work", "work(double)": "C<double>::work", "operator()": "C<int>::operator()", "operator bool": "operator bool", "plain": "plain",
		"called": "called"}
	counted = calls(path)
	return {kind for kind, mark in marks.items() if any(name.startswith(mark) or f"::{mark}" in name for name in counted)}


def test_names_of_cxx(tmp_path):
	named = build("named", FOLDER / "named.cpp", *LINKED, compiler="g++")
	everything = NAMES["file:named.cpp"]
	for number, (pattern, turned_off) in enumerate(NAMES.items()):
		(tmp_path / "rules").write_text(f"off {pattern}\n")
		output = tmp_path / f"{number}.data"
		subprocess.run([named], env={**os.environ, "CPPROF_PROBES": str(tmp_path / "rules"), "CPPROF_OUTPUT": str(output)}, check=True)
		# If all probe points are off, nothing is counted.
		assert (set() if turned_off == everything else kinds_of(output)) == everything - turned_off, pattern


@pytest.mark.parametrize("number", range(len(WRONG_RULES)))
def test_errors_in_rules_are_reported(program, tmp_path, number):
	text, reported = WRONG_RULES[number]
	rules = tmp_path / "rules"
	if text is not None:
		rules.write_text(text)
	with Steered(program, tmp_path, CPPROF_PROBES=str(rules)) as run:
		run.command("work 1")
		run.end()
		assert f"{rules}{reported}" in run_cpprof("info", run.output).stdout
		assert run.calls()["main"] == 1


def test_the_program_itself(program, tmp_path):
	with Steered(program, tmp_path, CPPROF_CONTROL="0") as run:
		run.command("work 1")
		assert run.command("turn_off tiny") == "1"
		assert run.command("turn_off " + 250 * "x") == "-1"
		run.command("work 5")
		assert run.command("list") == "5: 4 on, 1 off, 0 throttled, 0 wrong"
		assert run.command("turn_on *") == "5"
		assert run.command("level 1") == "5"
		assert run.command("level 5") == "-1"
		run.command("work 5")
		run.end()
		assert not run.socket.exists()
		assert run.calls() == {"main": 1, "work": 11, "work: row": 12, "tiny": 12, "grouped": 11}


def test_what_is_called_often_for_little_turns_itself_off(program, tmp_path):
	with Steered(program, tmp_path) as run:
		assert run.control("throttle", "100", "1000").stdout.startswith("throttle 100 1000: from now on")
		run.command("tiny 1000")
		run.command("slow 150")
		assert states(run.control("list").stdout) == {"main": "on", "tiny": "throttled", "slow": "on"}
		run.control("throttle", "off")
		run.control("on", "tiny")
		run.command("tiny 1000")
		run.end()
		assert run.calls() == {"main": 1, "tiny": 1100, "slow": 150}


def test_arcs_are_not_throttled(program, tmp_path):
	with Steered(program, tmp_path, CPPROF_MEASURE="arcs") as run:
		assert run.command("throttle 1000") == "-1"
		refused = run.control("throttle", "100", "1000")
		assert refused.returncode != 0 and "where arcs" in refused.stderr
		assert run.control("throttle", "off").returncode == 0
		run.end()


def test_a_report_has_what_turned_itself_off(program, tmp_path):
	with Steered(program, tmp_path) as run:
		assert run.command("throttle 1000") == "0"
		run.command("tiny 1000")
		run.end()
		calls = run.calls()
		# Another process may make the first hundreds slow.
		assert calls.keys() == {"main", "tiny"} and calls["tiny"] in range(100, 1000, 100)
		assert "turned" in run_cpprof("report", "-r", "calls", run.output).stdout
		assert "tiny" in run_cpprof("info", run.output).stdout


def test_the_socket_is_private_and_goes_with_the_program(program, tmp_path):
	with Steered(program, tmp_path) as run:
		assert stat.S_IMODE(OWN_SOCKETS.stat().st_mode) == 0o700
		assert stat.S_IMODE(run.socket.stat().st_mode) == 0o600
		# The program sees no effect: it has its own three descriptors and the descriptor of the folder, and one thread.
		assert run.command("state") == "4 1"
		run.end()
		assert not run.socket.exists()


def test_what_was_killed_leaves_nothing_for_long(program, tmp_path):
	with Steered(program, tmp_path) as run:
		run.process.kill()
		run.process.wait()
		gone = run.control("list")
		assert (gone.returncode, gone.stdout) == (1, "")
		assert f"there is no process {run.pid}" in gone.stderr
	with Steered(program, tmp_path) as other:
		# The other program has removed the dead socket before it listens.
		assert other.control("list").returncode == 0
		assert not run.socket.exists()


def test_a_program_that_becomes_another_listens_again(program, tmp_path):
	with Steered(program, tmp_path) as run:
		run.control("off", "tiny")
		assert run.command("again") == "ready"
		run.command("tiny 7")
		assert re.search(r"^on +1 +tiny", retried(lambda: run.control("list")), re.M)
		run.end()


def retried(ask):
	"""The output of a request that is repeated until it succeeds, because the old socket may not be replaced yet."""
	for _ in range(1000):
		result = ask()
		if result.returncode == 0:
			return result.stdout
	raise AssertionError(result.stderr)


def test_forked_processes_are_controlled_by_themselves(program, tmp_path):
	with Steered(program, tmp_path) as run:
		run.command("tiny 1")
		run.control("off", "late")
		child = int(run.command("fork"))
		wait_until_listening(child)
		assert control(child, "off", "tiny").stdout == "off tiny: 1 of 2 probe points, 1 switched\n"
		assert states(control(child).stdout) == {"main": "on", "tiny": "off"}
		assert states(run.control().stdout) == {"main": "on", "tiny": "on"}
		run.command("late 2")
		run.command("tiny 10")
		run.end()
	with socket.socket(socket.AF_UNIX) as ended: # the child ends when its parent has ended
		while ended.connect_ex(str(OWN_SOCKETS / str(child))) == 0:
			ended.close()
			ended = socket.socket(socket.AF_UNIX)
	assert run.calls() == {"main": 1, "tiny": 12}


def test_code_that_was_unloaded(program, plugin, tmp_path):
	with Steered(program, tmp_path) as run:
		assert run.command(f"plugin {plugin}") == "0"
		assert states(run.control("list", "plugged").stdout) == {"plugged": "on"}
		assert run.control("off", "plugged").stdout == "off plugged: 1 of 2 probe points, 1 switched\n"
		assert run.command(f"plugin {plugin}") == "0"
		assert run.control("on", "*").returncode == 0
		assert run.command(f"plugin {plugin}") == "0"
		assert run.command("state") == "4 1"
		run.end()
		assert run.calls()["plugged"] == 6


def test_odd_clients_do_no_harm(program, tmp_path):
	with Steered(program, tmp_path) as run:
		clients = []
		for text in [b"", b"list", b"\0\n", b"\n", b"\xff" * 100 + b"\n", b"off " + b"*" * 3000, b"on " + b"*?" * 100 + b"z\n", b"list\t\t\t*\n", b"list\n"]:
			client = socket.socket(socket.AF_UNIX)
			client.connect(str(run.socket))
			client.sendall(text)
			if text[-1:] != b"\n":
				client.shutdown(socket.SHUT_WR)
			clients.append(client)
		run.command("work 10")
		assert states(run.control().stdout)["tiny"] == "on"
		for client in clients:
			client.close()
		with socket.socket(socket.AF_UNIX) as silent: # sends nothing; the program drops it before the next client's timeout
			silent.connect(str(run.socket))
			assert run.control("off", "tiny").returncode == 0
		run.end()
		assert run.calls()["tiny"] == 20


def test_who_cannot_be_controlled(program, tmp_path):
	with Steered(program, tmp_path) as run:
		assert run.control("bla").returncode == 2
		assert "unknown verb 'bla' (list, on, off" in run.control("bla").stderr
		assert "missing argument PATTERN (on 'parse_*')" in run.control("on").stderr
		assert "a level is a number" in run.control("level", "x").stderr
		if is_root:
			with open_folder() as folder:
				nobody = unprivileged(folder, "control", run.pid)
			assert nobody.returncode == 1
			assert f"cannot control process {run.pid}: it belongs to user root" in nobody.stderr
	assert "'12x' is not a process id" in control("12x").stderr
	assert control(2 ** 22 + 1).stderr == f"cpprof control: there is no process {2 ** 22 + 1}\n"
	none = control(os.getpid())
	assert (none.returncode, none.stdout) == (1, "")
	assert f"process {os.getpid()} has no probe points to control" in none.stderr


def test_a_stopped_program_is_said_to_be(program, tmp_path):
	with Steered(program, tmp_path) as run:
		os.kill(run.pid, signal.SIGSTOP)
		os.waitid(os.P_PID, run.pid, os.WSTOPPED)
		stopped = run.control()
		assert (stopped.returncode, stopped.stdout) == (1, "")
		assert stopped.stderr == f"cpprof control: cannot control process {run.pid}: it is stopped\n"
		os.kill(run.pid, signal.SIGCONT)


@only_root
def test_somebody_else_s_folder_is_not_used(program):
	user = 54321
	folder = Path(f"/tmp/cpprof-{user}")
	shutil.rmtree(folder, ignore_errors=True)
	folder.mkdir(mode=0o700)
	try:
		with open_folder(program) as reached:
			os.chown(reached / "own", user, user)
			environment = {**os.environ, "CPPROF_OUTPUT": str(reached / "own/out.data"), "LD_LIBRARY_PATH": str(reached / "bin")}
			result = subprocess.run([*as_user(user), reached / "bin" / program.name], input="work 10\n", env=environment, text=True, capture_output=True,
				check=True, cwd="/")
			assert result.stdout == "ready\ndone\n"
			assert list(folder.iterdir()) == []
			assert calls(reached / "own/out.data")["tiny"] == 20
	finally:
		folder.rmdir()


# --- implementations that users write ---

def histories(path):
	"""{probe point: (entered, left, wrong)}, from the file that histories.c writes."""
	return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in Path(f"{path}.histories").read_text().splitlines()}


def build_histories(*flags):
	return build(f"libhistories{''.join(flags)}.so", FOLDER / "histories.c", "-Werror", "-shared", "-fPIC", *flags)


def test_an_implementation_is_called_at_probe_points(program, tmp_path):
	library = build_histories()
	expected = {"work": (10, 10, 0), "row": (20, 20, 0), "tiny": (23, 23, 0), "grouped": (10, 10, 0), "jump": (3, 3, 0), "leap": (3, 0, 0)}
	with Steered(program, tmp_path, CPPROF_MEASURE=str(library)) as run:
		run.command("work 10")
		run.command("jump 3")
		run.end()
		reported = histories(run.output)
		assert reported.pop("main") == (1, 1, 0)
		assert reported == expected
		counted = run.calls()
		assert (counted["tiny"], counted["leap"], counted["work: row"]) == (23, 3, 20)
	output = tmp_path / "recorded.data"
	result = run_cpprof("record", "-o", output, f"--instrumented={os.path.relpath(library, tmp_path)}", program, input="work 10\njump 3\n", cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	assert histories(output) == {"main": (1, 1, 0), **expected}
	assert calls(output)["tiny"] == 23
	assert "histories" in run_cpprof("info", output).stdout


def test_an_implementation_is_not_called_for_what_interrupts_it(program, tmp_path):
	with Steered(program, tmp_path, CPPROF_MEASURE=str(build_histories())) as run:
		run.command("interrupt 2")
		run.end()
		assert histories(run.output) == {"main": (1, 1, 0), "interrupted": (2, 2, 0), "tiny": (2, 2, 0)}
		assert run.calls()["handle"] == 2


def test_implementations_that_cannot_be_used(program, tmp_path):
	missing = run_cpprof("record", "-o", tmp_path / "out.data", "--instrumented=./missing.so", program, input="", cwd=tmp_path)
	assert missing.returncode == 1
	assert "cannot load './missing.so'" in missing.stderr
	for library, variables, reported in [
			(build_histories("-DWRONG_VERSION"), {}, "it is of another version"),
			(build_histories(), {"HISTORIES_REFUSE": "1"}, "its begin() has refused"),
			(RUNTIME / "libcpprof.so", {}, "it defines no cpprof_implementation"),
			(FOLDER / "histories.c", {}, "it cannot be loaded")]:
		path = str(library) if library.suffix == ".so" else str(library) + "/../histories.c"
		with Steered(program, tmp_path, CPPROF_MEASURE=path, **variables) as run:
			run.command("work 10")
			run.end()
			assert run.calls()["tiny"] == 20
			assert reported in run_cpprof("info", run.output).stdout


def test_the_example_implementation(program, tmp_path):
	library = build("libexample.so", REPOSITORY / "examples/implementation.c", "-Werror", "-shared", "-fPIC", *LINKED)
	result = run_cpprof("record", "-o", tmp_path / "out.data", f"--instrumented={library}", program, input="tiny 1000\n", cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	assert sum(int(count) for count in re.findall(r"^tiny: (\d+) calls", result.stderr, re.M)) == 1000


def test_what_a_probe_costs_is_measured_where_calls_are_timed(program, tmp_path):
	for measurement, is_timed in [("paths", False), ("paths-timed", True), ("trace", True)]:
		with Steered(program, tmp_path, CPPROF_MEASURE=measurement) as run:
			run.command("work 10")
			run.end()
			assert ("without the probes' time" in run_cpprof("info", run.output).stdout) == is_timed
			assert run.calls() == {"main": 1, "work": 10, "work: row": 20, "tiny": 20, "grouped": 10}
	events = run_cpprof("export", "--format", "events", run.output).stdout  # the measurement's own events are in no file
	assert Counter(re.findall(r"^\S+ \d+ \d+ enter (.*)$", events, re.M)) == run.calls(), events
