"""Runs one command and measures it: CPU of all that it started, wall time, and the peak memory of the process itself."""
import ctypes
import os
import re
import resource
import subprocess
import threading
import time
from dataclasses import dataclass

PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Run:
	status: int
	cpu: float # seconds, user + system, of the command and all it left behind
	wall: float # seconds
	peak_bytes: int # of the command's own process; 0: it ended before it could be read
	err: str


def adopt_orphans():
	"""So that what a monitor does not wait for is waited for, and counted, here."""
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_cpu():
	used = resource.getrusage(resource.RUSAGE_CHILDREN)
	return used.ru_utime + used.ru_stime


class PeakReader(threading.Thread):
	"""Reads a process's high-water mark until it ends: unlike rusage, it leaves out the process's children."""

	def __init__(self, pid):
		super().__init__(daemon=True)
		self.pid = pid
		self.peak = 0
		self.done = threading.Event()

	def run(self):
		while not self.done.wait(0.01):
			try:
				with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as status:
					found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
			except OSError:
				return
			if found:
				self.peak = max(self.peak, int(found.group(1)) * 1024)


def measure(command, stdin=None, cwd=None, memory=False):
	"""`stdin` is a path or None. Reading the peak memory costs CPU time: not together with a comparison of CPU times."""
	source = open(stdin, "rb") if stdin else subprocess.DEVNULL
	before, start = children_cpu(), time.monotonic()
	process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=cwd)
	reader = PeakReader(process.pid) if memory else None
	if reader:
		reader.start()
	err = process.stderr.read()
	status = process.wait()
	wall = time.monotonic() - start
	if reader:
		reader.done.set()
		reader.join()
	while True:
		try:
			os.waitpid(-1, 0)
		except ChildProcessError:
			break
	if stdin:
		source.close()
	return Run(status, children_cpu() - before, wall, reader.peak if reader else 0, err.decode(errors="replace"))
