"""Threads, forks, programs, libraries and allocations, all at once for half a minute at 5,000 samples a second."""
import re
import subprocess
import threading
from pathlib import Path

import pytest
from record_support import CPPROF, Recorded, build, hits, run_cpprof, show

SECONDS = 30
FINE_NS = 200_000
MEMORY_MOST = 48 * 2**20
EACH_MOST = 512 # bytes that the recorder keeps of an ended process or thread


class MemoryReader(threading.Thread):
	"""Reads a process's resident memory twice a second, until the process ends."""

	def __init__(self, pid):
		super().__init__(daemon=True)
		self.status = Path(f"/proc/{pid}/status")
		self.bytes = []
		self.done = threading.Event()

	def run(self):
		while not self.done.wait(0.5):
			try:
				found = re.search(r"RssAnon:\s+(\d+) kB", self.status.read_text())
			except OSError:
				return
			if found:
				self.bytes.append(1024 * int(found[1]))


def number(text, name):
	return int(re.search(rf"^{name} (\d+)$", text, re.MULTILINE)[1])


@pytest.mark.measured("the total is compared with the CPU time that the program reads")
def test_storm(tmp_path):
	library = build("hostile/library.c", linkage="shared", name="library.so")
	path = tmp_path / "out.data"
	command = [CPPROF, "record", "--backend", "preload", "-r", "cpu/200us", "-r", "alloc-bytes/64KiB", "-o", str(path), "--",
		build("hostile/storm.c"), str(SECONDS), library]
	recorder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	memory = MemoryReader(recorder.pid)
	memory.start()
	out, err = recorder.communicate(timeout=4 * SECONDS)
	memory.done.set()
	memory.join()
	assert recorder.returncode == 0, f"{out}{err}"
	recorded = Recorded(subprocess.CompletedProcess(command, 0, out, err), path)
	check_storm(recorded)
	check_memory(memory.bytes, sum(number(recorded.out, part) for part in ("threads", "forks", "execs")))


def check_storm(recorded):
	for part in ("threads", "forks", "execs", "libraries", "allocations"):
		assert number(recorded.out, part) > 50 * SECONDS / 5, recorded.out
	_, lost, complete = recorded.closing()
	reported = recorded.resource("cpu")
	paths = recorded.paths("cpu")
	assert reported["hits"] == hits(paths)
	# The total has all CPU time, and so shows the part that was not sampled: programs while they are loaded, and the ends of
	# short threads.
	used_ns = 1000 * (number(recorded.out, "own") + number(recorded.out, "children"))
	assert abs(reported["total"] - used_ns) < 0.05 * used_ns, f"{reported} of {used_ns / 1e9} s"
	assert 0.5 * used_ns < (reported["hits"] + reported["lost"]) * FINE_NS < 1.05 * used_ns, f"{reported} of {used_ns / 1e9} s\n{show(paths)}"
	assert lost <= 0.01 * reported["hits"], recorded.err
	assert complete >= 97, f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"
	for function in ("live_for_a_moment", "with_fork", "answer", "with_allocations"):
		assert hits(paths, function) > 0, show(paths)


def check_memory(bytes_seen, ended):
	"""The monitor's memory grows in the first half, while it meets new code. In the second it grows only by what it keeps of
	ended processes and threads."""
	assert len(bytes_seen) > SECONDS
	assert max(bytes_seen) < MEMORY_MOST, bytes_seen
	half = max(bytes_seen[: len(bytes_seen) // 2])
	last = max(bytes_seen[:-4]) # the last readings include symbolization
	assert last - half < EACH_MOST * ended / 2 + (2 << 20), f"{bytes_seen}, {ended} ended"
