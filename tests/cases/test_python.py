"""Functions of Python programs: names, lines and shares of paths that are known by construction, with each backend that shows them."""
import ast
import json
import math
import os
import shutil
import signal
import subprocess
import time

import pytest

from record_support import CPPROF, PROGRAMS, record, run_cpprof

PYTHON = "/usr/bin/python3"
SHARES = PROGRAMS / "python" / "shares.py"
BACKENDS = ["bpf", "preload"]


def version():
	printed = subprocess.run([PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True)
	return tuple(map(int, printed.stdout.split()))


pytestmark = pytest.mark.skipif(not shutil.which(PYTHON) or version() != (3, 11), reason="needs Debian's Python 3.11")


def folded(path, *options):
	result = run_cpprof("export", "--format", "folded", "--kernel", "hide", *options, path)
	assert result.returncode == 0, result.stderr
	paths = {}
	for line in result.stdout.splitlines():
		names, count = line.rsplit(" ", 1)
		paths[tuple(names.split(";"))] = int(count)
	return paths


def recorded(tmp_path, backend, *arguments, options=()):
	run = record(tmp_path, [PYTHON, SHARES, *arguments], "--backend", backend, *options)
	assert run.status == 0, run.err
	return run.path


def quality(path):
	result = run_cpprof("info", "--format", "json", path)
	return json.loads(result.stdout)


def below(paths, *names):
	"""Returns the hits of the paths that contain the names in this order, one directly below the other."""
	return sum(hits for path, hits in paths.items() if any(path[i:i + len(names)] == names for i in range(len(path))))


@pytest.mark.parametrize("backend", BACKENDS)
def test_shares_of_chains(tmp_path, backend):
	paths = folded(recorded(tmp_path, backend, 40, "direct", "through_c", "through_exceptions"))
	chains = {
		("main", "direct", "work"): 0.5,
		("main", "through_c", "Key.less", "work"): 0.3, # the C function between them led to it
		("main", "through_exceptions", "raising", "work"): 0.2,
	}
	all_hits = below(paths, "work")
	assert all_hits > 100
	for names, share in chains.items():
		hits = below(paths, *names)
		error = 4 * math.sqrt(share * (1 - share) / all_hits)
		assert abs(hits / all_hits - share) < error + 0.01, (names, hits, all_hits)
	assert sum(below(paths, *names) for names in chains) == all_hits
	whole = [path for path in paths if "[incomplete stack]" not in path]
	assert sum(paths[path] for path in whole) >= 0.99 * sum(paths.values())


CHAINS = {
	"generator": ["main", "generator", "numbers", "work"],
	"recursion": ["main", *["recursion"] * 201, "work"],
	"comprehension": ["main", "comprehension", "comprehension.<locals>.<listcomp>", "work"],
	"unicode": ["main", "Ünïcode_名前", "work"],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("chain", CHAINS)
def test_whole_chain(tmp_path, backend, chain):
	paths = folded(recorded(tmp_path, backend, 40, chain))
	assert below(paths, "work") > 10
	assert below(paths, *CHAINS[chain]) == below(paths, "work"), paths


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads(tmp_path, backend):
	paths = folded(recorded(tmp_path, backend, 40, "thread"))
	assert below(paths, "work") > 10
	assert below(paths, "Thread.run", "direct", "work") == below(paths, "work"), paths


@pytest.mark.parametrize("backend", BACKENDS)
def test_lines(tmp_path, backend):
	"""Each line that a sample names is one of its function's, as Python's own parser finds it."""
	path = recorded(tmp_path, backend, 100, "direct", "through_c")
	extents = {node.name: (node.lineno, node.end_lineno) for node in ast.walk(ast.parse(SHARES.read_text())) if isinstance(node, ast.FunctionDef)}
	result = run_cpprof("report", "--body", "--by", "line", "--format", "json", "-t", 0, "-n", 0, path)
	lines = {}
	for entry in json.loads(result.stdout)["results"][0]["entries"]:
		name, _, line = entry["path"][0].rpartition(":")
		if name in extents and line.isdigit():
			lines.setdefault(name, []).append(int(line))
	assert len(lines["work"]) > 1
	for name, found in lines.items():
		low, high = extents[name]
		assert low <= min(found) and max(found) <= high, (name, found)
	hot = run_cpprof("report", "--lines", path).stdout
	assert "shares.py:14" in hot and "total += 3" in hot


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_many_frames(tmp_path, backend):
	"""More frames than a walk notes: a path that is not whole, with its cause, in place of a part of the functions."""
	program = "import sys; sys.setrecursionlimit(9999)\ndef deep(n):\n if n: return deep(n - 1)\n for _ in range(20000000): pass\ndeep(3000)"
	run = record(tmp_path, [PYTHON, "-c", program], "--backend", backend)
	assert "the interpreter's frames could not be read" in run_cpprof("info", run.path).stdout
	assert run.closing_shares()[4] > 50 # the other samples are of its start, and of shallower calls


def test_native_frames(tmp_path):
	"""The interpreter's own frames are left out above the functions that it interprets, and kept on request."""
	path = recorded(tmp_path, "bpf", 100, "through_c")
	assert below(folded(path), "through_c", "Key.less") > 10
	native = folded(path, "--native-frames")
	assert below(native, "through_c", "Key.less") == 0
	assert below(native, "_PyEval_EvalFrameDefault", "Key.less") > 10
	assert sum(native.values()) == sum(folded(path).values())


def test_perf_says_that_it_shows_none(tmp_path):
	run = record(tmp_path, [PYTHON, SHARES, 40, "direct"], "--backend", "perf")
	assert "functions of Python programs are not shown by perf" in run.err


@pytest.mark.parametrize("backend", BACKENDS)
def test_forked_process(tmp_path, backend):
	program = "import os, sys; sys.path.insert(0, sys.argv[1]); import shares\nif os.fork() == 0:\n shares.CHAINS['direct'](20000)\n os._exit(0)\nos.wait()"
	run = record(tmp_path, [PYTHON, "-c", program, SHARES.parent], "--backend", backend)
	paths = folded(run.path)
	assert below(paths, "direct", "work") > 10
	assert below(paths, "direct", "work") == below(paths, "work")


def test_killed_recorder(tmp_path):
	"""The names are in each block of the file: a recorder that is killed leaves them."""
	path = tmp_path / "killed.data"
	command = [CPPROF, "record", "--backend", "bpf", "-o", path, "--", PYTHON, SHARES, "100000", "direct"]
	with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as recorder:
		try:
			while not path.exists() or "work" not in run_cpprof("report", "--functions", path).stdout:
				time.sleep(0.1) # it writes a block each second
		finally:
			os.killpg(recorder.pid, signal.SIGKILL)
	assert below(folded(path), "main", "direct", "work") > 0


def test_attached_process(tmp_path):
	program = "import sys; sys.path.insert(0, sys.argv[1]); import shares\ndef main():\n while True: shares.direct(100)\nprint(flush=True)\nmain()"
	with subprocess.Popen([PYTHON, "-c", program, SHARES.parent], stdout=subprocess.PIPE) as process:
		try:
			process.stdout.readline()
			result = run_cpprof("record", "--backend", "bpf", "-p", process.pid, "--duration", "2", "-o", tmp_path / "attached.data")
		finally:
			process.kill()
	assert result.returncode == 0, result.stderr
	paths = folded(tmp_path / "attached.data")
	assert below(paths, "main", "direct", "work") >= 0.9 * sum(paths.values()) > 10


def test_page_faults_and_allocations(tmp_path):
	"""Resources other than time have paths of Python functions too."""
	program = "def fill(n): return bytearray(n)\ndef main():\n for _ in range(50): fill(4 << 20)\nmain()"
	run = record(tmp_path, [PYTHON, "-c", program], "--backend", "bpf", "-r", "page-faults/1")
	paths = folded(run.path)
	assert below(paths, "main", "fill") > 10
	run = record(tmp_path, [PYTHON, "-c", program], "--backend", "preload", "-r", "alloc-bytes/65536")
	paths = folded(run.path)
	assert below(paths, "main", "fill") >= 0.9 * 50 * (4 << 20) / 65536
