"""`cpprof record` follows threads and processes, and has no effect on the target."""
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from measuring import between, near
from record_support import (BACKENDS, COUNTED, CPPROF, Recorded, build, build_counted, check_counted, events_of, hits, needs_bpf, needs_perf, needs_whole_perf,
	record, record_counted, record_well, reported, run_cpprof, show)

MEASURED = pytest.mark.measured("other processes change how long a program runs and how many samples it has in a second")

# --- threads: their paths begin with the path that created them, so that one root covers the whole process ---


@pytest.mark.parametrize("backend", BACKENDS)
def test_short_threads(tmp_path, backend):
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "threads.c", event_us=1000), "20"])
	assert "threads 20" in recorded.out
	check_counted(recorded, 20 * 4)


@pytest.mark.parametrize("how", ["two", "nested", "detached", "waiting"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_hang_below_their_creators(tmp_path, backend, how):
	check_counted(record_counted(backend, tmp_path, [build_counted(backend, "spawners.c", event_us=3000), how]), 80)


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_of_cpp(tmp_path, backend):
	check_counted(record_counted(backend, tmp_path, [build_counted(backend, "std_threads.cpp", event_us=3000)]), 80)


@pytest.mark.parametrize("backend", BACKENDS)
def test_chain_of_threads(tmp_path, backend):
	"""100 threads, each created by the thread before: a path holds as many creators as the longest path allows, below main."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "spawners.c", event_us=4000), "chain"])
	[(path, count)] = events_of(recorded).items()
	assert count == 50 and path[:4] == ("main", "chain", "start_chain", "start") and path[-2:] == ("work", "burn"), path
	assert path.count("link_of_chain") == 16, path


@pytest.mark.parametrize("backend", BACKENDS)
def test_reports_of_threads(tmp_path, backend):
	"""The paths below main include the workers. With --no-stitch, the same file shows threads as separate roots."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "spawners.c", event_us=3000), "two"])
	below = {path: count for path, count in reported(recorded.path, "--down", "main").items() if path.endswith(";work")}
	assert sorted(below.values()) == [20, 60], below
	for path, count in below.items():
		assert ("heavy_spawner" if count == 60 else "light_spawner") in path and ";worker;" in path, below
	down = run_cpprof("report", "--no-stitch", "--down", "main", recorded.path)
	assert down.returncode == 0 and "worker" not in down.stdout, down
	tree = run_cpprof("report", "--no-stitch", "--tree", recorded.path).stdout
	assert re.search(r"^worker \(.*\[80\]$", tree, re.MULTILINE), tree
	assert reported(recorded.path, "--no-stitch", "--functions")["worker"] == 80


@pytest.mark.parametrize("backend", BACKENDS)
def test_changed_names(tmp_path, backend):
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "renamed.c", event_us=10000)])
	names = {thread["name"] for thread in recorded.info()["threads"]}
	assert {"chameleon", "crunching"} <= names, names
	assert "chameleon" in {process["name"] for process in recorded.info()["processes"]}
	for thread in ("chameleon", "crunching"):
		functions = reported(recorded.path, "--functions", "--thread", thread)
		assert functions["burn"] == 20 and ("worker" in functions) == (thread == "crunching"), functions


@needs_bpf
def test_waits_hang_below_their_creators(tmp_path):
	"""A wait has the path of its thread's creator, too."""
	recorded = record_well(tmp_path, [build("waits.c"), "1"], "--backend", "bpf", "-r", "blocked/1ms")
	paths = recorded.paths("blocked")
	for names in (["main", "sleeper", "sleep_long"], ["main", "lock_waiter", "take_lock"], ["main", "waits_on"]):
		assert hits(paths, *names) == hits(paths, *names[1:]) > 0, show(paths)


# --- processes ---

@pytest.mark.parametrize("backend", BACKENDS)
def test_fork_tree(tmp_path, backend):
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "fork_tree.c", event_us=2000), "6"])
	check_counted(recorded, 6 * 10)
	processes = re.findall(r"^process (\d+)$", recorded.out, re.MULTILINE)
	assert len(processes) == 6
	for number, process in enumerate(processes):
		functions = reported(recorded.path, "--functions", "--process", process)
		own, other = ("odd_generation", "even_generation") if number % 2 else ("even_generation", "odd_generation")
		assert own in functions and other not in functions and functions["countable_event"] == 10, functions


@pytest.mark.parametrize("backend", BACKENDS)
def test_clone_with_a_stack(tmp_path, backend):
	"""A process that clone(2) starts on a stack of its own is below its creator, as one that fork starts."""
	paths = check_counted(record_counted(backend, tmp_path, [build_counted(backend, "cloned.c", event_us=4000)]), 8 * 10)
	assert hits(paths, "forks", "main") == hits(paths, "clones", "main") == 0, show(paths)


@pytest.mark.parametrize("how", ["vfork", "posix_spawn", "fork"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_spawned_program(tmp_path, backend, how):
	check_counted(record_counted(backend, tmp_path, [build_counted(backend, "spawn.c", event_us=5000), how]), 80)


@pytest.mark.parametrize("backend", BACKENDS)
def test_exec_chain(tmp_path, backend):
	"""A shell executes another program, and this itself again: the functions of each program are named, in one process."""
	program = build_counted(backend, "exec_chain.c", event_us=5000)
	recorded = record_counted(backend, tmp_path, ["/bin/sh", "-c", 'exec "$0"', program], status=3)
	check_counted(recorded, 100)


@pytest.mark.parametrize("ending", [
	*(f"exit {status}" for status in (0, 1, 126, 127, 128, 129, 255)),
	*(f"signal {int(number)}" for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT)),
])
@pytest.mark.parametrize("backend", BACKENDS)
def test_exit_status(tmp_path, backend, ending):
	"""The status is the program's, or 128 and its signal; no event is lost."""
	how, number = ending.split()
	status = int(number) + (128 if how == "signal" else 0)
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "ending.c", event_us=1000), how, number], status=status)
	assert events_of(recorded) == {("main", "burn"): 20}


@needs_whole_perf
def test_faults_in_processes_shorter_than_the_interval(tmp_path):
	"""A hundred faults each, at an interval of three hundred: an interval goes on in the next process, so each has its sample."""
	short = ["sh", "-c", "for i in $(seq 50); do /bin/true; done"]
	recorded = record(tmp_path, short, "--backend", "perf", "-r", "page-faults/300")
	faults = recorded.resource("page-faults")
	assert recorded.closing()[1] == 0 and "not sampled" not in recorded.err, recorded.err
	assert faults["total"] > 2000 and abs(faults["hits"] - faults["total"] / 300) <= 1, faults


@MEASURED
@needs_perf
def test_total_of_a_set_user_id_program(tmp_path):
	"""When a process executes a set-user-ID program, the kernel closes its threads' events: the total then comes from the
	process's resource usage."""
	if os.geteuid() != 0 or os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
		pytest.skip("needs root, and a folder where set-user-ID programs work")
	program = tmp_path / "forms"
	shutil.copy(build("forms.c"), program)
	os.chown(program, 65534, 65534)
	program.chmod(0o4755)
	before = resource.getrusage(resource.RUSAGE_CHILDREN)
	subprocess.run([program, "40"], check=True, stdout=subprocess.DEVNULL)
	after = resource.getrusage(resource.RUSAGE_CHILDREN)
	used_ns = (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e9
	recorded = record(tmp_path, [program, "40"], "-r", "cpu")
	between(recorded.resource("cpu")["total"], used_ns / 3, None, recorded.err)


def stolen_ms():
	"""Returns the time that the host has taken from the processors of this machine."""
	return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) * 1000 / os.sysconf("SC_CLK_TCK")


@MEASURED
@needs_bpf
def test_total_of_each_run(tmp_path):
	"""The total agrees with the hits in each of many runs, also where the kernel did not report that the thread was back on a CPU."""
	program = build("forms.c")
	for _ in range(40):
		before = stolen_ms()
		recorded = record(tmp_path, [program, "4"], "--backend", "bpf", "-r", "cpu")
		cpu = recorded.resource("cpu")
		# Some 50 hits of 1 ms. Each time that the thread is on a CPU may have a part of a hit more or less. No timer expires while the host
		# runs others in place of this machine, but that time counts as the thread's.
		allowed = 15 + stolen_ms() - before
		near(cpu["total"] / cpu["interval"], cpu["hits"], allowed, (recorded.err, allowed))


@MEASURED
@needs_perf
def test_samples_that_slow_the_program(tmp_path):
	"""A sample at every page fault of a program that does little else: a finding reports the cost, but not where samples are few."""
	many = [build("page_faults.c"), "20000"]
	recorded = record(tmp_path, many, "-r", "page-faults/1")
	assert re.search(r"\d samples a second slow the program", recorded.err), recorded.err
	assert "samples a second slow the program: longer intervals cost less" in run_cpprof("info", recorded.path).stdout
	assert "slow the program" not in record(tmp_path, many, "-r", "page-faults/1000").err


# --- the target's surroundings ---

def test_input_and_output_pass_through(tmp_path):
	data = bytes(range(256)) * 4000
	result = run_cpprof("record", "-o", tmp_path / "out.data", "--", "cat", input=data, text=False, cwd=tmp_path)
	assert result.returncode == 0
	assert result.stdout == data


def test_target_inherits_the_same(tmp_path):
	"""Descriptors, signal mask and dispositions, environment, folder and limits are as in a bare run."""
	program = build("inherited.c")
	options = {"cwd": tmp_path, "stdin": subprocess.DEVNULL, "env": {"PATH": os.environ["PATH"], "WORD": "two words"}}
	bare = subprocess.run([program], capture_output=True, text=True, check=True, **options)
	recorded = record(tmp_path, [program], **options)
	assert recorded.status == 0
	assert sorted(recorded.out.splitlines()) == sorted(bare.stdout.splitlines())


def test_ignored_signals_stay_ignored(tmp_path):
	"""As under nohup: signals that are ignored or blocked before the recorder starts are so in the target."""
	def settings():
		signal.signal(signal.SIGHUP, signal.SIG_IGN)
		signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

	recorded = record(tmp_path, [build("inherited.c")], preexec_fn=settings)
	assert f"ignored {int(signal.SIGHUP)}\n" in recorded.out
	assert f"blocked {int(signal.SIGUSR2)}\n" in recorded.out


def read_until(fd, wanted, seconds=60):
	text = b""
	end = time.monotonic() + seconds
	while wanted not in text:
		assert time.monotonic() < end, f"{wanted!r} did not come: {text!r}"
		if select.select([fd], [], [], 1)[0]:
			try:
				text += os.read(fd, 4096)
			except OSError: # the other side of the terminal is closed
				break
	assert wanted in text, text
	return text


def has_taken(process, number):
	"""Returns whether no such signal is pending for a process, which sleeps: it has read the signal, and acted on it."""
	status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
	return not int(status["ShdPnd"], 16) & 1 << (number - 1) and status["State"].startswith("S")


@pytest.mark.parametrize("backend", BACKENDS)
def test_interrupt_reaches_the_target_once(tmp_path, backend):
	"""^C on a terminal: the target receives it once and continues; its profile and status are as in a normal run."""
	program = build_counted(backend, "interrupted.c", event_us=1000)
	path = tmp_path / "out.data"
	child, terminal = pty.fork()
	if child == 0:
		os.execv(CPPROF, [CPPROF, "record", "--backend", backend, "-r", COUNTED[backend][1], "-o", str(path), "--", program])
	try:
		read_until(terminal, b"ready")
		os.write(terminal, b"\x03")
		read_until(terminal, b"^C")
		end = time.monotonic() + 60
		while not has_taken(child, signal.SIGINT):
			assert time.monotonic() < end
			time.sleep(0.001)
		os.write(terminal, b"\n")
		text = read_until(terminal, b" % whole")
		assert b"interrupts 1\r" in text, text
		assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
	finally:
		os.close(terminal)
	assert events_of(Recorded(subprocess.CompletedProcess([], 42, "", ""), path)) == {("main", "burn"): 20}


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_recorders_at_once(tmp_path, backend):
	"""Two recorders record two programs at the same time, each into its own file."""
	program = build_counted(backend, "threads.c", event_us=1000)
	recorders = []
	for count in ("10", "20"):
		folder = tmp_path / count
		folder.mkdir()
		recorders.append(subprocess.Popen([CPPROF, "record", "--backend", backend, "-r", COUNTED[backend][1], "--", program, count], cwd=folder,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
	for count, recorder in zip(("10", "20"), recorders):
		out, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
		check_counted(Recorded(subprocess.CompletedProcess([], 0, out, err), tmp_path / count / "cpprof.data"), int(count) * 4)


def test_older_profile_is_kept(tmp_path):
	ending = build("ending.c")
	assert run_cpprof("record", "--", ending, "exit", 0, cwd=tmp_path).returncode == 0
	first = (tmp_path / "cpprof.data").read_bytes()
	assert run_cpprof("record", "--", ending, "exit", 0, cwd=tmp_path).returncode == 0
	assert (tmp_path / "cpprof.data.old").read_bytes() == first
	assert (tmp_path / "cpprof.data").read_bytes() != first
	assert sorted(os.listdir(tmp_path)) == ["cpprof.data", "cpprof.data.old"]


def test_command_without_dashes_keeps_its_options(tmp_path):
	"""Words after the command belong to the command, even if they look like options of cpprof."""
	result = run_cpprof("record", "-o", tmp_path / "out.data", "echo", "-r", "cpu", "--", "-o")
	assert result.returncode == 0
	assert result.stdout == "-r cpu -- -o\n"


def test_status_where_children_are_ignored(tmp_path):
	"""The recorder inherits an ignored SIGCHLD from its parent, and still returns the command's status."""
	script = f"trap '' CHLD; {CPPROF} record -o {tmp_path}/out.data sh -c 'exit 6'"
	assert subprocess.run(["bash", "-c", script], check=False, capture_output=True).returncode == 6


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_signal_to_the_recorder_alone(tmp_path, name):
	"""The recorder forwards the signal to the command, which ends by it."""
	path = tmp_path / "out.data"
	recorder = subprocess.Popen([CPPROF, "record", "-o", str(path), "--", "cat"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	end = time.monotonic() + 60
	while not path.exists():
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.02)
	number = getattr(signal, f"SIG{name}")
	recorder.send_signal(number)
	# The test closes the command's input only after the end: cat must end by the signal, not by the end of its input.
	assert recorder.wait(timeout=60) == 128 + number
	_, err = recorder.communicate()
	assert re.search(r"\d+ samples?,", err)
