"""Functions of Python programs: names and lines of paths with a known number of events, with each backend that shows them."""
import ast
import functools
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from record_support import CPPROF, PROGRAMS, SECONDS_ALLOWED, needs_bpf, record, record_held, run_cpprof

PYTHON = "/usr/bin/python3" # of Debian 12: 3.11
SHARES = PROGRAMS / "python" / "shares.py"
ROUNDS = 10 # 150 events with all chains: a late recorder's ring holds them
VERSIONS = ["3.11", "3.12", "3.13"]
BACKENDS = [pytest.param("bpf", marks=needs_bpf), "preload"]


def version_of(program):
	"""Returns the version of an interpreter, such as "3.11", or None."""
	try:
		printed = subprocess.run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True)
	except (OSError, subprocess.CalledProcessError):
		return None
	return printed.stdout.strip()


@functools.cache
def interpreter(version):
	"""Returns an interpreter of a version, on the PATH or where pyenv keeps it, or skips the test."""
	of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python{version}")
	return next((str(program) for program in [PYTHON, f"python{version}", *of_pyenv] if version_of(program) == version), None)


pytestmark = pytest.mark.skipif(version_of(PYTHON) != "3.11", reason="needs Debian's Python 3.11")


def folded(path, *options):
	result = run_cpprof("export", "--format", "folded", "--kernel", "hide", *options, path)
	assert result.returncode == 0, result.stderr
	paths = {}
	for line in result.stdout.splitlines():
		names, count = line.rsplit(" ", 1)
		paths[tuple(names.split(";"))] = int(count)
	return paths


def started(recorded):
	"""Condition of record_held: the recorder has recognized the interpreter."""
	return any("begin" in path for path in folded(recorded.path))


def recorded(folder, backend, *arguments, python=(PYTHON,), condition=started):
	"""Records each event of shares.py."""
	return record_held(backend, folder, [*python, SHARES, *map(str, arguments)], condition, resource="io-calls/1")


@pytest.fixture(scope="module", params=VERSIONS)
def python(request):
	"""A version of Python."""
	if not interpreter(request.param):
		pytest.skip(f"there is no Python {request.param}")
	return interpreter(request.param)


@pytest.fixture(scope="module", params=BACKENDS)
def every_chain(request, python, tmp_path_factory):
	"""The profile of one program with all chains."""
	run = recorded(tmp_path_factory.mktemp("chains"), request.param, ROUNDS, "direct", "through_c", "through_exceptions", *CHAINS, python=[python])
	assert run.closing()[1:] == (0, 100), run.err
	return run.path


def test_the_own_code_is_in_python(every_chain):
	"""The first report charges the interpreter's work, and the library's, to the program's functions."""
	text = run_cpprof("report", every_chain).stdout
	rows = text.split("hottest in the program's own code, with what it calls in libraries\n")[1].split("\n\n")[0].splitlines()
	names = [row[28:].split(": ")[0].split("@")[0] for row in rows]
	assert names[0] == "work" and set(names) <= set(re.findall(r"def (\w+)", SHARES.read_text())) | {"<module>"}, text
	assert "from work" in text, text


def below(paths, *names):
	"""Returns the hits of the paths that contain the names in this order, one directly below the other."""
	return sum(hits for path, hits in paths.items() if any(path[i:i + len(names)] == names for i in range(len(path))))


CHAINS = {
	"generator": ["main", "generator", "numbers", "work"],
	"recursion": ["main", *["recursion"] * 201, "work"],
	"comprehension": ["main", "comprehension", "comprehension.<locals>.<listcomp>", "work"], # before 3.12
	"constructor": ["main", "constructor", "Made.__init__", "work"],
	"thread": ["Thread.run", "direct", "work"],
	"unicode": ["main", "Ünïcode_名前", "work"],
}


def check_chains(paths):
	chains = {
		("main", "direct", "work"): 5,
		("main", "through_c", "Key.less", "work"): 3, # the C function between them led to it
		("main", "through_exceptions", "raising", "work"): 2,
		**{tuple(names): 1 for names in CHAINS.values()},
	}
	if below(paths, "comprehension", "work"):
		chains["main", "comprehension", "work"] = chains.pop(tuple(CHAINS["comprehension"]))
	for names, share in chains.items():
		assert below(paths, *names) == ROUNDS * share, (names, paths)
	assert below(paths, "work") == ROUNDS * sum(chains.values())


def test_events_of_chains(every_chain):
	check_chains(folded(every_chain))


def test_lines(every_chain):
	"""Each line that a sample names is one of its function's, as Python's own parser finds it."""
	extents = {node.name: (node.lineno, node.end_lineno) for node in ast.walk(ast.parse(SHARES.read_text())) if isinstance(node, ast.FunctionDef)}
	result = run_cpprof("report", "--functions", "--by", "line", "--format", "json", "-t", 0, "-n", 0, every_chain)
	lines = {}
	for entry in json.loads(result.stdout)["results"][0]["entries"]:
		name, _, line = entry["path"][0].rpartition(":")
		if name in extents and line.isdigit():
			lines.setdefault(name, []).append(int(line))
	event, = [number for number, text in enumerate(SHARES.read_text().splitlines(), 1) if "total += len(os.read(" in text]
	assert lines["work"] == [event]
	for name, found in lines.items():
		low, high = extents[name]
		assert low <= min(found) and max(found) <= high, (name, found)
	source = run_cpprof("report", "--source", "work", every_chain).stdout
	assert re.search(rf" {ROUNDS * (10 + len(CHAINS))} +{event}  \t\ttotal \+= len", source), source


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_many_frames(tmp_path, backend):
	"""More frames than a walk notes: a path that is not whole, with its cause, in place of a part of the functions."""
	run = recorded(tmp_path, backend, 1, "too_deep")
	causes = {cause["cause"]: cause["count"] for cause in run.info()["causes"] if not cause["whole"]}
	assert causes == {"the interpreter's frames could not be read": 1}, run.err


@needs_bpf
def test_trampolines(tmp_path, python):
	"""With a perf map, Python calls the interpreter for each function by generated code, which the map lists under the function's name."""
	if python == PYTHON:
		pytest.skip("Python has trampolines from 3.12 on")
	run = recorded(tmp_path, "bpf", ROUNDS, "direct", "through_c", "through_exceptions", *CHAINS, python=[python, "-Xperf"],
		condition=lambda so_far: any({"<module>", "begin"} <= set(path) for path in folded(so_far.path)))
	check_chains(folded(run.path))
	assert below(folded(run.path, "--native-frames"), "direct", "_PyEval_EvalFrameDefault", "direct") >= ROUNDS * 5


@needs_bpf
def test_native_frames(tmp_path):
	"""The interpreter's own frames are left out above the functions that it interprets, and kept on request."""
	path = recorded(tmp_path, "bpf", ROUNDS, "through_c").path
	assert below(folded(path), "through_c", "Key.less") == ROUNDS * 3
	native = folded(path, "--native-frames")
	assert below(native, "through_c", "Key.less") == 0
	assert below(native, "_PyEval_EvalFrameDefault", "Key.less") == ROUNDS * 3
	assert sum(native.values()) == sum(folded(path).values())


def test_perf_says_that_it_shows_none(tmp_path):
	run = record(tmp_path, [PYTHON, SHARES, 40, "direct"], "--backend", "perf")
	assert "functions of Python programs are not shown by perf" in run.err


@pytest.mark.parametrize("backend", BACKENDS)
def test_forked_process(tmp_path, backend):
	program = "import os, sys; sys.path.insert(0, sys.argv[1]); import shares; shares.begin()\n" \
		"def child(): shares.begin(); shares.CHAINS['direct'](20)\nif os.fork() == 0: child(); os._exit(0)\nos.wait()"
	run = record_held(backend, tmp_path, [PYTHON, "-c", program, str(SHARES.parent)], started, lambda so_far: below(folded(so_far.path), "child", "begin") > 0,
		resource="io-calls/1")
	paths = folded(run.path)
	assert below(paths, "child", "direct", "work") == below(paths, "work") == 20, run.err


@needs_bpf
def test_killed_recorder(tmp_path):
	"""The names are in each block of the file: a recorder that is killed leaves them."""
	path = tmp_path / "killed.data"
	command = [CPPROF, "record", "--backend", "bpf", "-o", path, "--", PYTHON, SHARES, "1000000000", "direct"]
	end = time.monotonic() + SECONDS_ALLOWED
	with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as recorder:
		try:
			while not path.exists() or "work" not in run_cpprof("report", "--functions", path).stdout:
				assert recorder.poll() is None and time.monotonic() < end
				time.sleep(0.1) # it writes a block each second
		finally:
			os.killpg(recorder.pid, signal.SIGKILL)
	assert below(folded(path), "main", "direct", "work") > 0


@needs_bpf
def test_attached_process(tmp_path):
	program = "import sys; sys.path.insert(0, sys.argv[1]); import shares\ndef main():\n while True: shares.direct(100)\nprint(flush=True)\nmain()"
	with subprocess.Popen([PYTHON, "-c", program, SHARES.parent], stdout=subprocess.PIPE) as process:
		try:
			process.stdout.readline()
			result = run_cpprof("record", "--backend", "bpf", "-p", process.pid, "-r", "io-calls/100", "--duration", "1", "-o", tmp_path / "attached.data")
		finally:
			process.kill()
	assert result.returncode == 0, result.stderr
	paths = folded(tmp_path / "attached.data")
	assert below(paths, "main", "direct", "work") == sum(paths.values()) > 0, paths


@needs_bpf
def test_page_faults_and_allocations(tmp_path):
	"""Resources other than time have paths of Python functions too."""
	program = "import sys; sys.path.insert(0, sys.argv[1]); import shares; shares.begin()\n" \
		"def fill(n): return bytearray(n)\ndef main():\n for _ in range(50): fill(4 << 20)\nmain()"
	command = [PYTHON, "-c", program, str(SHARES.parent)]
	for backend in ("bpf", "preload"):
		(tmp_path / backend).mkdir()
	assert below(folded(record_held("bpf", tmp_path / "bpf", command, started, resource="page-faults/1").path), "main", "fill") > 10
	paths = folded(record_held("preload", tmp_path / "preload", command, started, resource="alloc-bytes/65536").path)
	assert abs(below(paths, "main", "fill") - 50 * (4 << 20) // 65536) <= 1 # one boundary, at a random position, in each 65,536 bytes
