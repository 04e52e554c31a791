"""`cpprof record` follows threads and processes, attaches to running ones, and has no effect on the target."""
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
from record_support import CPPROF, Recorded, build, check_truths, hits, needs_bpf, needs_perf, record, record_well, run_cpprof, show, tolerance

pytestmark = [needs_perf]

FINE = ["-r", "cpu/250us"]


def test_short_threads(tmp_path):
	recorded = record_well(tmp_path, [build("threads.c"), "200"], "-r", "cpu/100us")
	assert "threads 200" in recorded.out
	paths = recorded.paths()
	# A thread's timers start with it, so that about one of its 40 hits is missed, at its start: in short_work.
	work = hits(paths, "worker", "short_work") + hits(paths, "worker", "long_work")
	share = hits(paths, "worker", "short_work") / work
	assert 0.22 - tolerance(0.22, work) < share < 0.265 + tolerance(0.265, work), show(paths)


def test_threads_shorter_than_the_interval(tmp_path):
	"""perf's clocks begin again in each thread, so such threads are seldom sampled: their time is in the profile, or reported as
	missing."""
	recorded = record(tmp_path, [build("threads.c"), "1000", "400"], "-r", "cpu/1ms")
	assert hits(recorded.paths()) >= 0.3 / 0.001 or re.search(r"\d %.*not sampled|shorter than the interval", recorded.err)


def test_faults_in_processes_shorter_than_the_interval(tmp_path):
	"""A hundred faults each, at an interval of three hundred: they are not sampled, and a finding reports that."""
	many = ["sh", "-c", "for i in $(seq 200); do /bin/true; done"]
	recorded = record(tmp_path, many, "--backend", "perf", "-r", "page-faults/300")
	assert re.search(r"\d % of page-faults not sampled", recorded.err), recorded.err
	info = run_cpprof("info", recorded.path).stdout
	assert re.search(r"\d % of page-faults not sampled: .*\n.*a shorter interval", info), info
	assert "not sampled" not in record(tmp_path, many, "--backend", "perf", "-r", "page-faults/1").err


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
	assert recorded.resource("cpu")["total"] > used_ns / 3, recorded.err


def stolen_ms():
	"""Returns the time that the host has taken from the processors of this machine."""
	return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) * 1000 / os.sysconf("SC_CLK_TCK")


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
		assert abs(cpu["total"] / cpu["interval"] - cpu["hits"]) <= allowed, (recorded.err, allowed)


def test_samples_that_slow_the_program(tmp_path):
	"""A sample at every page fault of a program that does little else: a finding reports the cost, but not where samples are few."""
	many = [build("page_faults.c"), "20000"]
	recorded = record(tmp_path, many, "-r", "page-faults/1")
	assert re.search(r"\d samples a second slow the program", recorded.err), recorded.err
	assert "samples a second slow the program: longer intervals cost less" in run_cpprof("info", recorded.path).stdout
	assert "slow the program" not in record(tmp_path, many, "-r", "page-faults/1000").err


def test_fork_tree(tmp_path):
	recorded = record_well(tmp_path, [build("fork_tree.c")], *FINE)
	check_truths(recorded)
	processes = re.findall(r"^process (\d+)$", recorded.out, re.MULTILINE)
	assert len(processes) == 12
	info = run_cpprof("info", recorded.path).stdout
	missing = [process for process in processes if not re.search(rf"\b{process}\b", info)]
	assert not missing, info


@pytest.mark.parametrize("backend", ["perf", pytest.param("bpf", marks=needs_bpf), "preload"])
def test_clone_with_a_stack(tmp_path, backend):
	"""A process that clone(2) starts on a stack of its own is below its creator, as one that fork starts."""
	recorded = record_well(tmp_path, [build("cloned.c")], *FINE, "--backend", backend)
	check_truths(recorded)
	paths = recorded.paths()
	assert hits(paths, "forks", "main") == hits(paths, "clones", "main") == 0, show(paths)


@pytest.mark.parametrize("how", ["vfork", "posix_spawn", "fork"])
def test_spawned_program(tmp_path, how):
	check_truths(record_well(tmp_path, [build("spawn.c"), how], *FINE))


def test_exec_chain(tmp_path):
	check_truths(record_well(tmp_path, [build("exec_chain.c")], *FINE, status=3))


def test_exec_of_another_program(tmp_path):
	"""A shell executes another program: that program's functions are named, not the shell's."""
	recorded = record_well(tmp_path, ["/bin/sh", "-c", 'exec "$0" 30', build("forms.c")], *FINE)
	check_truths(recorded, within=["db_read_record"])


def test_changed_names(tmp_path):
	recorded = record_well(tmp_path, [build("renamed.c")])
	info = run_cpprof("info", recorded.path).stdout
	assert "chameleon" in info
	for thread in ("chameleon", "crunching"):
		report = run_cpprof("report", "--thread", thread, recorded.path)
		assert report.returncode == 0, report.stderr
		assert "burn" in report.stdout


@pytest.mark.parametrize("status", [0, 1, 2, 3, 77, 126, 127, 128, 129, 200, 255])
def test_exit_status(tmp_path, status):
	recorded = record(tmp_path, [build("ending.c"), "exit", str(status)])
	assert recorded.status == status
	assert recorded.closing()[0] > 0


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_ended_by_signal(tmp_path, number):
	recorded = record(tmp_path, [build("ending.c"), "signal", str(int(number))])
	assert recorded.status == 128 + number
	assert recorded.closing()[0] > 0
	assert hits(recorded.paths(), "main") > 0


def test_input_and_output_pass_through(tmp_path):
	data = bytes(range(256)) * 4000
	result = run_cpprof("record", "-o", tmp_path / "out.data", "--", "cat", input=data, text=False, cwd=tmp_path)
	assert result.returncode == 0
	assert result.stdout == data


def test_target_inherits_the_same(tmp_path):
	"""Descriptors, signal mask and dispositions, environment, folder and limits are those of a bare run."""
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


def test_interrupt_reaches_the_target_once(tmp_path):
	"""^C on a terminal: the target receives it once and continues; its profile and status are those of a normal run."""
	program = build("interrupted.c")
	child, terminal = pty.fork()
	if child == 0:
		os.chdir(tmp_path)
		os.execv(CPPROF, [CPPROF, "record", "-o", "out.data", "--", program])
	try:
		read_until(terminal, b"ready")
		os.write(terminal, b"\x03")
		text = read_until(terminal, b" % whole")
		assert b"interrupts 1\r" in text, text
		assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
	finally:
		os.close(terminal)
	recorded = run_cpprof("report", "--functions", tmp_path / "out.data")
	assert "main" in recorded.stdout


def left_running(server):
	"""Checks that the server still runs, and that it ends normally when its input ends. Returns its output."""
	assert server.poll() is None
	server.stdin.close()
	assert server.wait(timeout=60) == 5
	return server.stdout.read()


def test_attach(tmp_path, server):
	path = tmp_path / "out.data"
	recorded = Recorded(run_cpprof("record", "-p", server.pid, "--duration", 1, "-o", path, *FINE, cwd=tmp_path), path)
	assert recorded.status == 0, recorded.err
	samples, _, complete = recorded.closing()
	assert samples > 500
	assert complete >= 99
	assert re.search(r"stopped \d+", left_running(server))
	paths = recorded.paths()
	for duty in ("first_duty", "second_duty", "passing_duty"):
		assert hits(paths, duty) > 0.1 * hits(paths), show(paths)
	assert hits(paths, "first_thread", "first_duty") == hits(paths, "first_duty")


def test_attach_while_threads_come_and_go(tmp_path):
	"""The server starts short-lived threads during the attachment: no thread may be recorded twice, and no map may be lost."""
	for attempt in range(6):
		server = subprocess.Popen([build("server.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
		assert server.stdout.readline() == "ready\n"
		path = tmp_path / f"{attempt}.data"
		recorded = Recorded(run_cpprof("record", "-p", server.pid, "--duration", 0.2, "-o", path, *FINE), path)
		server.stdin.close()
		server.wait(timeout=60)
		paths = recorded.paths()
		assert hits(paths, "[kernel: exec or exit]") < 0.02 * hits(paths), show(paths)
		counted = re.search(r"([\d.]+) (m?s) counted", run_cpprof("info", path).stdout)
		expected = float(counted[1]) * (1 if counted[2] == "ms" else 1000) / 0.25
		assert hits(paths) < 1.1 * expected + 20, "a thread that is watched twice has twice the samples"


def test_attach_when_the_first_thread_has_ended(tmp_path):
	target = subprocess.Popen([build("leaderless.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert target.stdout.readline() == "ready\n"
	path = tmp_path / "out.data"
	recorded = Recorded(run_cpprof("record", "-p", target.pid, "--duration", 0.3, "-o", path, *FINE), path)
	target.stdin.close()
	assert target.wait(timeout=60) == 0
	paths = recorded.paths()
	assert hits(paths, "left_alone", "duty") > 0.95 * hits(paths), show(paths)


def test_attach_until_interrupted(tmp_path, server):
	path = tmp_path / "out.data"
	command = [CPPROF, "record", "-p", str(server.pid), "-o", str(path)]
	recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
	end = time.monotonic() + 60
	while not path.exists() or path.stat().st_size == 0:
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.02)
	time.sleep(0.3) # not to avoid a race, but to record something
	recorder.send_signal(signal.SIGINT)
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 0, err
	assert re.search(r"\d+ samples?,", err)
	left_running(server)
	assert run_cpprof("report", path).returncode == 0


def test_attach_to_one_that_ends(tmp_path):
	"""The recording ends with the process, not with the duration."""
	target = subprocess.Popen([build("forms.c"), "40"], stdout=subprocess.DEVNULL)
	path = tmp_path / "out.data"
	recorded = Recorded(run_cpprof("record", "-p", target.pid, "--duration", 50, "-o", path), path)
	assert target.wait(timeout=60) == 0
	assert recorded.status == 0, recorded.err
	assert recorded.closing()[0] > 0


def test_two_recorders_at_once(tmp_path):
	"""Two recorders record two programs at the same time, each into its own file."""
	recorders = []
	for name in ("one", "two"):
		folder = tmp_path / name
		folder.mkdir()
		recorders.append(subprocess.Popen([CPPROF, "record", "-r", "cpu/250us", "--", build("mixture.c"), "60"], cwd=folder,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
	for name, recorder in zip(("one", "two"), recorders):
		out, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
		recorded = Recorded(subprocess.CompletedProcess([], 0, out, err), tmp_path / name / "cpprof.data")
		check_truths(recorded)


def test_two_recorders_of_one_process(tmp_path, server):
	command = [CPPROF, "record", "-p", str(server.pid), "--duration", "0.5", "-o"]
	recorders = [subprocess.Popen([*command, str(tmp_path / name)], stderr=subprocess.PIPE, text=True)
		for name in ("one", "two")]
	for name, recorder in zip(("one", "two"), recorders):
		_, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
		assert run_cpprof("report", tmp_path / name).returncode == 0
	left_running(server)


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


def test_program_removed_while_it_runs(tmp_path):
	"""A program whose file is deleted while it runs is still unwound and named."""
	program = tmp_path / "vanishing"
	program.write_bytes(open(build("forms.c"), "rb").read())
	program.chmod(0o755)
	recorded = record_well(tmp_path, ["/bin/sh", "-c", '"$0" 40 & sleep 0.1; rm "$0"; wait', str(program)], *FINE)
	check_truths(recorded, within=["db_read_record"])


def test_status_where_children_are_ignored(tmp_path):
	"""The recorder inherits an ignored SIGCHLD from its parent, and still returns the command's status."""
	script = f"trap '' CHLD; {CPPROF} record -o {tmp_path}/out.data sh -c 'exit 6'"
	assert subprocess.run(["bash", "-c", script], check=False, capture_output=True).returncode == 6


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_signal_to_the_recorder_alone(tmp_path, name):
	"""The recorder forwards the signal to the command, which ends by it."""
	path = tmp_path / "out.data"
	recorder = subprocess.Popen([CPPROF, "record", "-o", str(path), "--", build("forms.c"), "100000"],
				    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	end = time.monotonic() + 60
	while not path.exists():
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.02)
	number = getattr(signal, f"SIG{name}")
	recorder.send_signal(number)
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 128 + number, err
	assert re.search(r"\d+ samples?,", err)
