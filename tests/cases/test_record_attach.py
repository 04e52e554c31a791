"""`cpprof record -p` and --comm: several processes, those that they have started before, and those that they start later."""
import itertools
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from record_support import CPPROF, Recorded, bpf_refusal, build, hits, perf_refusal, run_cpprof, show

REFUSALS = {"perf": perf_refusal(), "bpf": bpf_refusal()}
DUTIES = ["child_duty", "grandchild_duty", "later_duty"]


@pytest.fixture(params=list(REFUSALS))
def backend(request):
	if REFUSALS[request.param]:
		pytest.skip(str(REFUSALS[request.param]))
	return request.param


def started(*program):
	process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert process.stdout.readline() == "ready\n"
	return process


@pytest.fixture
def start():
	"""Starts programs that run until their input ends, and ends them after the test."""
	processes = []

	def start_one(*program):
		processes.append(started(*program))
		return processes[-1]

	yield start_one
	for process in processes:
		process.stdin.close()
		process.wait(timeout=60)
		process.stdout.close()


def begin(folder, *words):
	"""Starts a recording, and returns when it has begun."""
	path = folder / "out.data"
	recorder = subprocess.Popen([CPPROF, "record", "-o", path, *map(str, words)], cwd=folder, stderr=subprocess.PIPE, text=True)
	while not path.exists():
		assert recorder.poll() is None, recorder.stderr.read()
		time.sleep(0.005)
	return recorder, path


def end(recorder, path):
	"""Waits for the end of a recording, and returns it."""
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 0, err
	return Recorded(subprocess.CompletedProcess([], 0, "", err), path)


def pass_children(*servers):
	"""Waits until each server has started some children from now on, and these have ended: its other children ran, too."""
	now, wanted = time.monotonic_ns(), 3
	for server in servers:
		starts = (int(line.split()[1]) for line in iter(server.stdout.readline, ""))
		assert len(list(itertools.islice((start for start in starts if start > now), wanted))) == wanted


def use_cpu(process, seconds=0.1):
	"""Waits until the process has used so much more CPU time, with its threads."""
	def used():
		fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

	before = used()
	while used() < before + seconds:
		time.sleep(0.01)


def attach(folder, backend, *words, until):
	recorder, path = begin(folder, "--backend", backend, "-r", "cpu/500us", *words)
	until()
	recorder.send_signal(signal.SIGINT)
	return end(recorder, path)


def test_children_that_run_already(tmp_path, backend, start):
	server = start(build("prefork.c"))
	recorded = attach(tmp_path, backend, "-p", server.pid, until=lambda: pass_children(server))
	paths = recorded.paths()
	for duty in DUTIES:
		assert hits(paths, "main", duty) > 0, f"{duty}\n{show(paths)}\n{recorded.err}"
	assert hits(paths, "[incomplete stack]") <= 0.05 * hits(paths), show(paths)
	# No thread may be watched twice: by inheritance, and by itself.
	cpu = recorded.resource("cpu")
	assert cpu["hits"] * 0.5e6 < 1.3 * cpu["total"] + 20 * 0.5e6, cpu


def test_without_children(tmp_path, backend, start):
	"""The server only waits and forks. A recording without samples is not called complete."""
	server = start(build("prefork.c"))
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children", until=lambda: pass_children(server))
	paths = recorded.paths() if "0 samples" not in recorded.err else {}
	assert not any(hits(paths, duty) for duty in DUTIES), show(paths)
	assert run_cpprof("info", recorded.path).stdout.count("--no-children") == 1


def test_threads_without_children(tmp_path, backend, server):
	"""Threads that start later are part of the process."""
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children", until=lambda: use_cpu(server))
	for duty in ("first_duty", "second_duty", "passing_duty"):
		assert hits(recorded.paths(), duty) > 0, show(recorded.paths())


def test_command_without_children(tmp_path, backend):
	path = tmp_path / "out.data"
	words = ["record", "--backend", backend, "--no-children", "-r", "page-faults/1", "-o", path]
	result = run_cpprof(*words, "--", build("page_faults.c"), "300")
	assert result.returncode == 0 and hits(Recorded(result, path).paths(), "main") >= 300, result.stderr
	result = run_cpprof(*words, "--", "sh", "-c", f"{build('page_faults.c')} 300; exit 3")
	paths = Recorded(result, path).paths()
	assert result.returncode == 3 and hits(paths) > 0 and not any("page_faults" in frame for path in paths for frame in path), show(paths)


def test_no_sample_is_not_complete(tmp_path, backend, start):
	waiting = subprocess.Popen(["sleep", "60"])
	try:
		recorded = attach(tmp_path, backend, "-p", waiting.pid, until=lambda: None)
	finally:
		waiting.kill()
		waiting.wait()
	assert re.match(r"cpprof: 0 samples, 0 lost, \d+ ", recorded.err) and "% complete" not in recorded.err, recorded.err


def test_several_processes(tmp_path, backend, start):
	"""Both are recorded, and the recording ends when both have ended."""
	first, second = start(build("server.c")), start(build("prefork.c"))
	recorder, path = begin(tmp_path, "--backend", backend, "-r", "cpu/500us", "-p", first.pid, "-p", second.pid, "-p", first.pid)
	pass_children(second)
	use_cpu(first)
	second.stdin.close()
	second.wait(timeout=60)
	time.sleep(0.1)
	assert recorder.poll() is None, "the first process still runs"
	first.stdin.close()
	paths = end(recorder, path).paths()
	for duty in ("first_duty", "second_duty", *DUTIES):
		assert hits(paths, duty) > 0, f"{duty}\n{show(paths)}"
	info = run_cpprof("info", path).stdout
	assert f"-p {first.pid} -p {second.pid}" in info, info


def test_by_name(tmp_path, backend, start):
	"""All processes with the name, and their children; the kernel keeps 15 bytes of a name."""
	name = "cpprof-prefork-of-this-test"
	servers = [start(build("prefork.c", name=name)) for _ in range(2)]
	other = start(build("server.c"))
	recorded = attach(tmp_path, backend, "--comm", name, until=lambda: pass_children(*servers))
	info = recorded.info()
	pids = {process["pid"] for process in info["processes"]}
	assert {server.pid for server in servers} <= pids and other.pid not in pids, pids
	paths = recorded.paths()
	assert hits(paths, "child_duty") > 0 and hits(paths, "first_duty") == 0, show(paths)


def test_calls_in_several_processes(tmp_path, start):
	"""A function of one of the programs, called in a process that is not the first, and in its children."""
	if REFUSALS["bpf"]:
		pytest.skip(str(REFUSALS["bpf"]))
	first, second = start(build("server.c")), start(build("prefork.c"))
	recorder, path = begin(tmp_path, "-r", "calls:later_duty/1", "-p", first.pid, "-p", second.pid)
	pass_children(second)
	recorder.send_signal(signal.SIGINT)
	assert hits(end(recorder, path).paths(), "main", "later_duty") > 0


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
