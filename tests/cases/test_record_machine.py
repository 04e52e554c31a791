"""`cpprof record -a` records every process of the machine: those that run already and those that start."""
import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from measuring import between
from attach_support import EACH, EVENT_US, Running, attach
from json_support import valid_json
from record_support import (CPPROF, MOVES, Recorded, build, build_counted, check_counted, events_of, needs_perf, needs_two_processors, record_counted,
	reported, run_cpprof, show)

pytestmark = needs_perf

BACKENDS = ["perf", "bpf"]
MEASURED = pytest.mark.measured("other processes delay the recorder, which then loses samples")


@functools.cache
def refusal(backend):
	"""Returns the reason why -a is refused here, or None."""
	result = run_cpprof("record", "--backend", backend, "-a", "--duration", "0.01", "-o", "/dev/null")
	return None if result.returncode == 0 else result.stderr.strip()


@pytest.fixture(params=BACKENDS)
def backend(request):
	"""Each backend that may record the machine here."""
	why = refusal(request.param)
	if why:
		pytest.skip(why)
	return request.param


def record_all(folder, backend, *words):
	path = folder / "all.data"
	result = run_cpprof("record", "--backend", backend, "-a", "-o", path, *words, cwd=folder)
	assert f"by {backend}" in result.stderr, result.stderr
	return path, result


@pytest.fixture
def server():
	"""A process that runs before the recording, with threads."""
	with Running(build("attached.c", f"-DEVENT_US={EVENT_US}", *MOVES[0]), "threads") as running:
		yield running
		assert running.end() == 5, "what is only watched goes on"


def check_server(recorded, server, turns):
	paths = events_of(recorded, "--process", server.pid)
	assert {path[-2]: count for path, count in paths.items()} == \
		{duty: turns * EACH for duty in ("first_duty", "second_duty", "passing_duty")}, show(paths)
	for function in ("first_thread", "second_thread", "main"):
		assert [path for path in paths if path[0] == function], show(paths)


@pytest.fixture
def crowd():
	"""A busy machine, in a session of its own: the kernel divides the processors between sessions first."""
	if os.geteuid() != 0:
		pytest.skip("a real-time priority needs root")
	words = [build("crowd.c"), "500"]
	with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
		assert process.stdout.readline() == "ready\n"
		yield process
		process.stdin.close()


@MEASURED
def test_busy_machine(tmp_path, backend, crowd):
	"""Beside two busy loops and 500 threads that switch all the time, no more than one sample of a thousand is lost."""
	path, result = record_all(tmp_path, backend, "--duration", "0.8")
	samples, lost = map(int, re.search(r"cpprof: (\d+) samples?, (\d+) lost", result.stderr).groups())
	assert samples > 200, result.stderr
	between(lost, None, samples / 1000, result.stderr)


@MEASURED
def test_new_programs_on_a_busy_machine(tmp_path, backend):
	"""While the recorder makes the unwind rules of large programs that it meets for the first time, no samples of others are lost."""
	compiler = Path(subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip())
	if not compiler.is_file() or compiler.stat().st_size < 10_000_000:
		pytest.skip("there is no large program to copy")
	copies = [shutil.copy(compiler, tmp_path / f"cc1-{number}") for number in range(4)]
	(tmp_path / "empty.c").write_text("")
	loops = "while :; do :; done & A=$!; while :; do :; done & B=$!; sleep 0.3"
	starts = "; ".join(f"{copy} -quiet -o /dev/null empty.c; {copy} -quiet -o /dev/null empty.c; sleep 0.1" for copy in copies)
	path, result = record_all(tmp_path, backend, "--", "sh", "-c", f"{loops}; {starts}; kill $A $B")
	samples, lost = map(int, re.search(r"cpprof: (\d+) samples?, (\d+) lost", result.stderr).groups())
	assert samples > 500 and reported(path, "--functions", "--process", "cc1-3"), result.stderr
	between(lost, None, samples / 1000, result.stderr)


def is_kernel_thread(pid):
	try:
		fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
	except OSError:
		return False
	return int(fields[6]) & 0x200000 != 0


def test_kernel_threads_are_one_process(tmp_path, backend):
	if not is_kernel_thread(2):
		pytest.skip("kernel threads are not visible here")
	path, _ = record_all(tmp_path, backend, "--", "true")
	info = valid_json(run_cpprof("info", "--format", "json", path).stdout)
	assert [process["pid"] for process in info["processes"] if process["name"] == "[kernel threads]"] == [0]
	assert [thread["tid"] for thread in info["threads"] if thread["pid"] == 0] == [0]
	assert not [process for process in info["processes"] if process["pid"] and is_kernel_thread(process["pid"])]


@needs_two_processors
def test_while_a_command_runs(tmp_path, backend, server):
	"""The recording has the older process with its maps and names, the command, and the processes that the command starts."""
	path = tmp_path / "all.data"
	program = build("fork_tree.c", f"-DEVENT_US={EVENT_US}", *MOVES[0])
	words = [CPPROF, "record", "--backend", backend, "-a", "-r", MOVES[1], "-o", path, "--", "sh", "-c", f"{program} 3; echo ready; read line; exit 7"]
	recorder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	processes = [line.split()[1] for line in iter(recorder.stdout.readline, "ready\n") if line.startswith("process ")]
	server.turn(2)
	_, err = recorder.communicate("\n", timeout=60)
	assert recorder.returncode == 7 and ", 0 lost" in err, err
	recorded = Recorded(subprocess.CompletedProcess([], 7, "", err), path)
	check_server(recorded, server, 2)
	own = [events_of(recorded, "--process", process) for process in processes]
	assert own == [{("main", f"{generation}_generation", "burn"): EACH} for generation in ("even", "odd", "even")], own


def test_for_a_while(tmp_path, backend):
	path, result = record_all(tmp_path, backend, "--duration", "0.1")
	assert result.returncode == 0
	assert valid_json(run_cpprof("info", "--format", "json", path).stdout)["duration_s"] >= 0.1
	assert "not sampled" not in result.stderr


@needs_two_processors
def test_until_an_interrupt(tmp_path, backend, server):
	"""Another recorder, which records a program meanwhile, is not disturbed, and does not disturb."""
	program = build_counted(backend, "threads.c", event_us=1000)

	def meanwhile():
		server.turn()
		check_counted(record_counted(backend, tmp_path, [program, "15"]), 60)
		server.turn()

	check_server(attach(tmp_path, backend, "-a", resource=MOVES[1], until=meanwhile, name="all.data"), server, 2)


@pytest.mark.unsanitized("a sanitizer keeps freed memory for a while")
def test_memory_of_many_processes(tmp_path, backend):
	"""The recorder keeps no maps of ended processes: thousands of them need little memory. Without -a, so that no other process
	is recorded."""
	def peak(count):
		words = ["/usr/bin/python3", "-c", (
			"import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL);"
			"print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")]
		loop = f"i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"
		result = subprocess.run([*words, CPPROF, "record", "--backend", backend, "-r", "page-faults/100", "-o",
			str(tmp_path / f"many{count}.data"), "--", "sh", "-c", loop], capture_output=True, text=True, check=True, timeout=120)
		return int(result.stdout)

	few, many = peak(100), peak(1600)
	assert many - few < 1500 * 3, f"{few} KB for 100 processes, {many} KB for 1600"


def test_words(tmp_path):
	for words in (["-a", "-p", "1"], ["-a", "--duration", "1", "true"], ["-a", "--duration", "soon"]):
		result = run_cpprof("record", *words, cwd=tmp_path)
		assert result.returncode == 2, result.stderr
		assert "-a" in result.stderr or "--duration" in result.stderr
	assert list(tmp_path.iterdir()) == []
