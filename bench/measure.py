"""Runs one command and measures it: CPU of all that it started, its own, wall time, and its own peak memory."""
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
	own_cpu: float # seconds, of the command's own first thread: of a recorder, the monitor's
	wall: float # seconds
	peak_bytes: int # of the command's own process; 0: it ended before it could be read
	err: str


def adopt_orphans():
	"""So that what a monitor does not wait for is waited for, and counted, here."""
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_cpu():
	used = resource.getrusage(resource.RUSAGE_CHILDREN)
	return used.ru_utime + used.ru_stime


def running_time(pid):
	"""Seconds on a processor, to the ns where the kernel says so; also of a process that ended and is not waited for."""
	try:
		with open(f"/proc/{pid}/schedstat", encoding="ascii") as stat:
			return int(stat.read().split()[0]) / 1e9
	except OSError:
		with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
			fields = stat.read().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class PeakReader(threading.Thread):
	"""Reads a process's high-water mark until it ends: unlike rusage, it leaves out the process's children."""

	def __init__(self, pid):
		super().__init__(daemon=True)
		self.pid = pid
		self.peak = 0
		self.done = threading.Event()

	def run(self):
		while not self.done.wait(0.002):
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
	os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
	wall = time.monotonic() - start
	own_cpu = running_time(process.pid)
	status = process.wait()
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
	return Run(status, children_cpu() - before, own_cpu, wall, reader.peak if reader else 0, err.decode(errors="replace"))
