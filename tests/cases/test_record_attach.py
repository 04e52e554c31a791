"""`cpprof record -p` and --comm: several processes, those that they have started before, and those that they start later."""
import re
import subprocess
import time

import pytest
from record_support import BUILD, Recorded, bpf_refusal, build, hits, perf_refusal, run_cpprof, show

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


def attach(folder, backend, *words, duration=0.3):
	path = folder / "out.data"
	result = run_cpprof("record", "--backend", backend, "-r", "cpu/500us", "-o", path, "--duration", duration, *words, cwd=folder)
	assert result.returncode == 0, result.stderr
	return Recorded(result, path)


def test_children_that_run_already(tmp_path, backend, start):
	server = start(build("prefork.c"))
	recorded = attach(tmp_path, backend, "-p", server.pid)
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
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children")
	paths = recorded.paths() if "0 samples" not in recorded.err else {}
	assert not any(hits(paths, duty) for duty in DUTIES), show(paths)
	assert run_cpprof("info", recorded.path).stdout.count("--no-children") == 1


def test_threads_without_children(tmp_path, backend, server):
	"""Threads that start later are part of the process."""
	recorded = attach(tmp_path, backend, "-p", server.pid, "--no-children")
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
		recorded = attach(tmp_path, backend, "-p", waiting.pid, duration=0.05)
	finally:
		waiting.kill()
		waiting.wait()
	assert re.match(r"cpprof: 0 samples, 0 lost, \d+ ", recorded.err) and "% complete" not in recorded.err, recorded.err


def test_several_processes(tmp_path, backend, start):
	"""Both are recorded, and the recording ends when both have ended."""
	first, second = start(build("server.c")), start(build("prefork.c"))
	path = tmp_path / "out.data"
	words = ["record", "--backend", backend, "-r", "cpu/500us", "-o", path, "-p", first.pid, "-p", second.pid, "-p", first.pid]
	recorder = subprocess.Popen([str(BUILD / "src/cmd/cpprof"), *map(str, words)], stderr=subprocess.PIPE, text=True)
	while not path.exists():
		assert recorder.poll() is None, recorder.stderr.read()
	time.sleep(0.2)
	second.stdin.close()
	second.wait(timeout=60)
	time.sleep(0.1)
	assert recorder.poll() is None, "the first process still runs"
	first.stdin.close()
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 0, err
	paths = Recorded(subprocess.CompletedProcess([], 0, "", err), path).paths()
	for duty in ("first_duty", "second_duty", *DUTIES):
		assert hits(paths, duty) > 0, f"{duty}\n{show(paths)}"
	info = run_cpprof("info", path).stdout
	assert f"-p {first.pid} -p {second.pid}" in info, info


def test_by_name(tmp_path, backend, start):
	"""All processes with the name, and their children; the kernel keeps 15 bytes of a name."""
	name = "cpprof-prefork-of-this-test"
	servers = [start(build("prefork.c", name=name)) for _ in range(2)]
	other = start(build("server.c"))
	recorded = attach(tmp_path, backend, "--comm", name)
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
	path = tmp_path / "out.data"
	result = run_cpprof("record", "-r", "calls:later_duty/1", "-p", first.pid, "-p", second.pid, "--duration", "0.3", "-o", path)
	assert result.returncode == 0, result.stderr
	assert hits(Recorded(result, path).paths(), "main", "later_duty") > 0


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
