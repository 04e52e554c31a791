"""
The part `top`: the CPU time of `cpprof top` itself beside perf top, while two loops keep two processors busy. Each runs in a terminal of
its own, which is read all the time; the share is of one processor, with the processes that search names.
"""
import contextlib
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

from peers import CPPROF, FREQUENCY

LOOP = [sys.executable, "-c", "while True: sum(range(1000))"]
# Names are searched in the first seconds, which are measured on their own.
FIRST_SECONDS, SECONDS = 10, 20
ROWS, COLUMNS = 50, 160
END_SECONDS = 30
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def busy_loops():
	loops = [subprocess.Popen(LOOP) for _ in range(2)]
	try:
		yield [str(loop.pid) for loop in loops]
	finally:
		for loop in loops:
			loop.kill()
			loop.wait()


def used_cpu(pid):
	"""Returns the CPU seconds of a process and of its children that have ended."""
	with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
		fields = stat.read().rpartition(")")[2].split()
	return sum(map(int, fields[11:15])) / TICKS


def read_for(terminal, seconds):
	end = time.monotonic() + seconds
	while (left := end - time.monotonic()) > 0:
		if select.select([terminal], [], [], left)[0]:
			os.read(terminal, 65536)


def end(process, terminal):
	process.send_signal(signal.SIGINT)
	limit = time.monotonic() + END_SECONDS
	while process.poll() is None and time.monotonic() < limit:
		with contextlib.suppress(OSError): # the terminal has no other end anymore
			read_for(terminal, 0.1)
	if process.poll() is None:
		process.kill()
		process.wait()


def measure_shares(command):
	"""Returns the command's shares of one processor, in percent: in its first seconds, and afterwards."""
	terminal, other = pty.openpty()
	fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
	process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env={**os.environ, "TERM": "xterm"}, start_new_session=True)
	os.close(other)
	try:
		read_for(terminal, FIRST_SECONDS)
		first = used_cpu(process.pid)
		read_for(terminal, SECONDS)
		later = used_cpu(process.pid) - first
	except OSError:
		process.kill()
		sys.exit(f"bench/run: {' '.join(command)} ended with {process.wait()}")
	end(process, terminal)
	os.close(terminal)
	return 100 * first / FIRST_SECONDS, 100 * later / SECONDS


def ways_of(pids):
	"""Returns {option: {way: command}}. Only root sees the whole machine."""
	perf = ["perf", "top", "--stdio", "-g", "-e", "cpu-clock", "-F", FREQUENCY]
	ways = {"-p": {"cpprof": [CPPROF, "top", *(word for pid in pids for word in ("-p", pid))], "perf top -g": [*perf, "-p", ",".join(pids)]}}
	if os.geteuid() == 0:
		ways["-a"] = {"cpprof": [CPPROF, "top", "-a"], "perf top -g": [*perf, "-a"]}
	return ways


def bench_top(table, rounds):
	with busy_loops() as pids:
		for option, ways in ways_of(pids).items():
			shares = {way: [] for way in ways}
			for _ in range(max(rounds // 2, 1)):
				for way, command in ways.items():
					shares[way].append(measure_shares(command))
			first, later = ({way: statistics.median(each[i] for each in shares[way]) for way in ways} for i in range(2))
			subject, peers = f"two busy loops, {option}", [way for way in ways if way != "cpprof"]
			table.add("top: CPU of its own", subject, f"{later['cpprof']:.2f} %", ", ".join(f"{way} {later[way]:.2f} %" for way in peers),
				"<= 2 %", later["cpprof"] <= 2)
			table.add(f"the same, its first {FIRST_SECONDS} s", subject, f"{first['cpprof']:.1f} %",
				", ".join(f"{way} {first[way]:.1f} %" for way in peers))
