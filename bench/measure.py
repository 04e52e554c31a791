"""Runs one command and measures the CPU time of all its processes and of its first thread, the wall time, and its peak memory."""
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
	cpu: float # seconds, user + system, of the command and all processes that it left behind
	own_cpu: float # seconds, of the command's own first thread; for a recorder, of the monitor
	wall: float # seconds
	peak_bytes: int # of the command's own process; 0: it ended before it could be read
	err: str


def adopt_orphans():
	"""Makes this process the parent of orphaned processes, so that it waits for and measures those that a monitor leaves behind."""
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_cpu():
	used = resource.getrusage(resource.RUSAGE_CHILDREN)
	return used.ru_utime + used.ru_stime


def running_time(pid):
	"""Returns the seconds that a process ran, in units of 1 ns where the kernel provides them. Also for a process that ended and
	was not waited for."""
	try:
		with open(f"/proc/{pid}/schedstat", encoding="ascii") as stat:
			return int(stat.read().split()[0]) / 1e9
	except OSError:
		with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
			fields = stat.read().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class PeakReader(threading.Thread):
	"""Reads a process's peak memory (VmHWM) until it ends. Unlike rusage, VmHWM does not include the process's children."""

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
	"""Runs the command. `stdin` is a path or None. Reading the peak memory costs CPU time: do not use it when CPU times are
	compared."""
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
