"""`cpprof record -p` and --comm: several processes, those that they have started before, and those that they start later."""
import re
import shutil
import subprocess

import pytest
from attach_support import EACH, EVENT_US, Running, attach, begin, end
from record_support import BACKENDS, COUNTED, build_counted, events_of, hits, needs_bpf, needs_whole_perf, record_counted, run_cpprof, show

of_backends = pytest.mark.parametrize("backend", BACKENDS[:2])


@pytest.fixture
def start(backend):
	"""Starts programs that run until the test ends."""
	programs = []

	def start_one(how):
		programs.append(Running(build_counted(backend, "attached.c", event_us=EVENT_US), how))
		return programs[-1]

	yield start_one
	for program in programs:
		program.__exit__()


# Where each function has its events. The creator of threads that run already is not known.
PATHS = {
	"first_duty": "first_thread;serve",
	"second_duty": "second_thread;serve",
	"passing_duty": "main;threads;start_thread;passing_thread",
	"lonely_duty": "left_alone",
	"child_duty": "main;processes;family;serve",
	"grandchild_duty": "main;processes;family;serve",
	"later_duty": "main;processes",
}


def check_events(recorded, **turns):
	"""Checks that these functions, and no others, have the events of so many turns, on whole paths."""
	found = {";".join(frame for frame in path if frame != "pthread_create"): count for path, count in events_of(recorded).items()}
	assert found == {f"{PATHS[name]};{name};burn": number * EACH for name, number in turns.items()}, found


# --- one process ---

@of_backends
def test_attach(tmp_path, backend, start):
	"""The threads of the process, and those that it starts later. The process is not disturbed."""
	server = start("threads")
	recorder, path = begin(tmp_path, "--backend", backend, "-r", COUNTED[backend][1], "-p", server.pid)
	server.turn(3)
	check_events(end(recorder, path), first_duty=3, second_duty=3, passing_duty=3)
	server.turn()
	assert server.end() == 5


@of_backends
def test_attach_while_threads_come_and_go(tmp_path, backend, start):
	"""The server ends and starts threads during the attachment: each one that remains is recorded, once, with its maps."""
	for attempt in range(6):
		server = start("crowd")
		recorded = attach(tmp_path, backend, "-p", server.pid, until=server.turn, name=f"{attempt}.data")
		paths, duty, events = events_of(recorded), ("crowd_thread", "serve", "crowd_duty", "burn"), 32 * (EACH // 4)
		assert {path[-4:] for path in paths} == {duty}, show(paths)
		assert hits(paths, *duty) == events, show(paths)
		assert server.end() == 5


@of_backends
def test_attach_when_the_first_thread_has_ended(tmp_path, backend, start):
	server = start("leaderless")
	recorder, path = begin(tmp_path, "--backend", backend, "-r", COUNTED[backend][1], "-p", server.pid)
	server.turn(4)
	check_events(end(recorder, path), lonely_duty=4)


@of_backends
def test_attach_to_one_that_ends(tmp_path, backend, start):
	"""The recording ends with the process, not with the duration."""
	server = start("threads")
	recorder, path = begin(tmp_path, "--backend", backend, "-r", COUNTED[backend][1], "-p", server.pid, "--duration", 1000)
	server.turn(2)
	assert server.end() == 5
	check_events(end(recorder, path, interrupt=False), first_duty=2, second_duty=2, passing_duty=2)


@of_backends
def test_attach_for_a_while(tmp_path, backend, start):
	"""The recording ends after the duration, and the process goes on."""
	server = start("threads")
	end(*begin(tmp_path, "--backend", backend, "-p", server.pid, "--duration", "0.1"), interrupt=False)
	server.turn()
	assert server.end() == 5


@of_backends
def test_two_recorders_of_one_process(tmp_path, backend, start):
	"""Each has all events. (Of two events of perf that count the same page faults, Linux 6.18 samples one.)"""
	server = start("threads")
	kinds = {"one": COUNTED[backend][1], "two": COUNTED[backend][1].replace("page-faults", "minor-faults")}
	recorders = [begin(tmp_path, "--backend", backend, "-r", kind, "-p", server.pid, name=name) for name, kind in kinds.items()]
	server.turn()
	for recorder in recorders:
		check_events(end(*recorder), first_duty=1, second_duty=1, passing_duty=1)
	assert server.end() == 5


# --- several processes ---

@of_backends
def test_children_that_run_already(tmp_path, backend, start):
	"""The events of the processes that run already are counted once: they are not watched by inheritance, and by themselves."""
	server = start("processes")
	recorded = attach(tmp_path, backend, "-p", server.pid, until=lambda: server.turn(3))
	check_events(recorded, child_duty=3, grandchild_duty=3, later_duty=3)


@of_backends
def test_without_children(tmp_path, backend, start):
	"""The server only waits and forks. A recording without samples is not called complete."""
	server = start("processes")
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children", until=lambda: server.turn(2))
	assert "0 samples" in recorded.err or not events_of(recorded), recorded.err
	assert run_cpprof("info", recorded.path).stdout.count("--no-children") == 1


@of_backends
def test_threads_without_children(tmp_path, backend, start):
	"""Threads that start later are part of the process."""
	server = start("threads")
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children", until=server.turn)
	check_events(recorded, first_duty=1, second_duty=1, passing_duty=1)


@of_backends
def test_command_without_children(tmp_path, backend):
	program = build_counted(backend, "spawn.c", event_us=5000)
	recorded = record_counted(backend, tmp_path, [program, "fork"], "--no-children")
	assert events_of(recorded) == {("main", "parent_work", "burn"): 20}
	recorded = record_counted(backend, tmp_path, ["sh", "-c", f"{program} fork; exit 3"], "--no-children", status=3)
	assert "0 samples" in recorded.err or not events_of(recorded), recorded.err


@of_backends
def test_no_sample_is_not_complete(tmp_path, backend):
	with subprocess.Popen(["sleep", "60"]) as waiting:
		try:
			recorded = attach(tmp_path, backend, "-p", waiting.pid, until=lambda: None)
		finally:
			waiting.kill()
	assert re.match(r"cpprof: 0 samples, 0 lost, \d+ ", recorded.err) and "% complete" not in recorded.err, recorded.err


@of_backends
def test_several_processes(tmp_path, backend, start):
	"""Both are recorded, and the recording ends when both have ended."""
	first, second = start("threads"), start("processes")
	recorder, path = begin(tmp_path, "--backend", backend, "-r", COUNTED[backend][1], "-p", first.pid, "-p", second.pid, "-p", first.pid)
	first.turn()
	second.turn(2)
	assert second.end() == 5
	first.turn()
	assert first.end() == 5
	recorded = end(recorder, path, interrupt=False)
	check_events(recorded, first_duty=2, second_duty=2, passing_duty=2, child_duty=2, grandchild_duty=2, later_duty=2)
	info = run_cpprof("info", path).stdout
	assert f"-p {first.pid} -p {second.pid}" in info, info


@of_backends
def test_by_name(tmp_path, backend, start):
	"""All processes with the name, and their children; the kernel keeps 15 bytes of a name."""
	named = tmp_path / f"{tmp_path.stat().st_ino}-of-this-test-alone"
	shutil.copy(build_counted(backend, "attached.c", event_us=EVENT_US), named)
	other = start("threads")
	with Running(named, "processes") as one, Running(named, "processes") as two:
		recorded = attach(tmp_path, backend, "--comm", named.name, until=lambda: (one.turn(), other.turn(), two.turn(2)))
	check_events(recorded, child_duty=3, grandchild_duty=3, later_duty=3)
	pids = {process["pid"] for process in recorded.info()["processes"]}
	assert {one.pid, two.pid} <= pids and other.pid not in pids, pids


@needs_bpf
@pytest.mark.parametrize("backend", ["bpf"])
def test_calls_in_several_processes(tmp_path, backend, start):
	"""A function of one of the programs, called in a process that is not the first, and in its children."""
	first, second = start("threads"), start("processes")
	recorder, path = begin(tmp_path, "-r", "calls:later_duty/1", "-p", first.pid, "-p", second.pid)
	second.turn(3)
	paths = end(recorder, path).paths()
	assert hits(paths, "main", "later_duty") == hits(paths) == 3, show(paths)


def test_nobody_has_the_name(tmp_path):
	result = run_cpprof("record", "--comm", "no-such-proces", "-o", tmp_path / "out.data")
	assert result.returncode == 1 and "no running process has the name 'no-such-proces'" in result.stderr, result.stderr
	assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words, message", [
	(["-p", "1", "--comm", "x", "-a"], "-p cannot be combined with -a"),
	(["--comm", "x", "true"], "--comm cannot be combined with a command"),
	(["--comm", ""], "the name of a process is empty"),
	(["-a", "--no-children"], "--no-children cannot be combined with -a"),
	(["--instrumented", "--no-children", "true"], "--instrumented cannot be combined with --no-children"),
	(["--backend", "preload", "--no-children", "true"], "the preload backend cannot record with --no-children"),
])
def test_usage(tmp_path, words, message):
	result = run_cpprof("record", *words, cwd=tmp_path)
	assert result.returncode in (1, 2) and message in result.stderr, result.stderr
	assert list(tmp_path.iterdir()) == []
