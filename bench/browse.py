"""
The part `browse`: how long `cpprof browse` takes to show its first screen of a large profile, and to answer a key. The floor is a bare
load of the same file (`large time`), which draws nothing.

	bench/browse.py FILE    measures the browser with this profile, and prints the figures as JSON
"""
import fcntl
import json
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from peers import BUILD, CPPROF # noqa: E402

HITS, NODES = 1_700_000, 1_000_000
ROWS, COLUMNS = 40, 120
QUIET_SECONDS = 0.4 # a screen is complete when nothing more is written for so long
SECONDS_ALLOWED = 60
KEYS = {"the row below": "j", "the hot path": "e", "functions": "f", "callers": "u", "callees": "c", "threads": "T", "the tree": "t"}


def last_output(terminal, begin, limit):
	"""Returns when the last part of a screen was written, in seconds after `begin`."""
	shown = None
	while time.monotonic() - begin < limit:
		ready, _, _ = select.select([terminal], [], [], limit if shown is None else QUIET_SECONDS)
		if not ready:
			break
		if not os.read(terminal, 1 << 16):
			break
		shown = time.monotonic()
	assert shown is not None, "cpprof browse has shown nothing"
	return shown - begin


def measure_browse(path):
	"""Returns the seconds to the first screen, and from each key to its screen."""
	begin = time.monotonic()
	pid, terminal = pty.fork()
	if pid == 0:
		fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
		os.execve(CPPROF, [CPPROF, "browse", str(path)], {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8"})
	try:
		figures = {"first": last_output(terminal, begin, SECONDS_ALLOWED)}
		for name, key in KEYS.items():
			begin = time.monotonic()
			os.write(terminal, key.encode())
			figures[name] = last_output(terminal, begin, SECONDS_ALLOWED)
		return figures
	finally:
		os.kill(pid, signal.SIGKILL)
		os.waitpid(pid, 0)
		os.close(terminal)


def medians(path, rounds):
	runs = [measure_browse(path) for _ in range(rounds)]
	return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def bare_load(path, rounds):
	"""Seconds to load the profile and to make its view, without a screen."""
	text = subprocess.run([BUILD / "bench/large", "time", path, str(rounds)], check=True, stdout=subprocess.PIPE, text=True).stdout
	return json.loads(text)["ms"]["load"] / 1e3


def bench_browse(table, work, rounds):
	data = work / "data/browse.data"
	subprocess.run([BUILD / "bench/large", "generate", data, "calls", str(HITS), str(NODES)], check=True, stdout=subprocess.DEVNULL)
	shape = f"{NODES / 1e6:g} M nodes, {HITS / 1e6:g} M hits"
	bare, figures = bare_load(data, rounds), medians(data, rounds)
	first = figures.pop("first")
	table.add("first screen", shape, f"{first * 1e3:.0f} ms", f"bare load {bare * 1e3:.0f} ms", "<= 500 ms", first <= 0.5)
	for name, seconds in figures.items():
		table.add(f"key to screen: {name}", shape, f"{seconds * 1e3:.0f} ms", "", "<= 30 ms", seconds <= 0.03)
	data.unlink()


if __name__ == "__main__":
	print(json.dumps(medians(Path(sys.argv[1]).resolve(), 5), indent=1))
