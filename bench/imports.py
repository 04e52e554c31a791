#!/usr/bin/env python3
"""
The part `import`: CPU time and elapsed time of `cpprof import` with the report after it, and of `perf report --stdio`, with one perf.data
of about 100 MB whose stacks were copied (--call-graph dwarf). Both print functions with their callers; the output is thrown away.

	bench/imports.py FILE      measures this perf.data, and prints the figures as JSON
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from peers import CPPROF # noqa: E402

WANTED_BYTES = 100 << 20
FREQUENCIES = (4000, 10000, 20000)


def seconds(command):
	"""(CPU seconds, elapsed seconds) of a command that succeeds."""
	start = time.monotonic()
	process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	_, status, used = os.wait4(process.pid, 0)
	process.returncode = os.waitstatus_to_exitcode(status)
	if process.returncode != 0:
		sys.exit(f"bench/imports.py: {' '.join(map(str, command))} ended with {process.returncode}")
	return used.ru_utime + used.ru_stime, time.monotonic() - start


def ours(data, folder):
	runs = [seconds([CPPROF, "import", "-o", folder / "a.data", data]), seconds([CPPROF, "report", "--tree", folder / "a.data"])]
	return tuple(map(sum, zip(*runs)))


def theirs(data, _):
	return seconds(["perf", "report", "--stdio", "-i", data])


def medians(data, rounds):
	"""{tool: (CPU seconds, elapsed seconds)}, in turns."""
	with tempfile.TemporaryDirectory(dir=Path(data).parent) as folder:
		runs = [{"cpprof": ours(data, Path(folder)), "perf": theirs(data, Path(folder))} for _ in range(rounds)]
	return {tool: tuple(statistics.median(run[tool][i] for run in runs) for i in range(2)) for tool in runs[0]}


def record(data, command, stdin):
	"""Records until the file has the wanted size. With --buildid-mmap perf need not read build-ids again, in which some versions crash."""
	for frequency in FREQUENCIES:
		with open(stdin or os.devnull, "rb") as given:
			subprocess.run(["perf", "record", "-q", "-N", "-B", "--buildid-mmap", "-e", "cpu-clock:u", "-F", str(frequency), "--call-graph", "dwarf",
				"-o", data, "--", *map(str, command)], stdin=given, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		if data.stat().st_size >= WANTED_BYTES:
			break


def bench_imports(table, work, rounds, program, command, stdin):
	data = work / "data/import.data"
	record(data, command, stdin)
	figures = medians(data, rounds)
	ratio = figures["perf"][0] / figures["cpprof"][0]
	table.add(f"perf.data of {data.stat().st_size / 1e6:.0f} MB, dwarf", program, "{:.2f} s CPU, {:.2f} s".format(*figures["cpprof"]),
		"perf report {:.2f} s CPU, {:.2f} s".format(*figures["perf"]), "faster", ratio > 1)
	data.unlink()


if __name__ == "__main__":
	print(json.dumps(medians(Path(sys.argv[1]).resolve(), 3), indent=1))
