#!/usr/bin/env python3
"""
The part `agent`: the share of one processor and the peak memory of `cpprof agent` with its standard options, beside `perf record -a -F 19 -g`:
with 200 busy processes, and with these while programs start all the time (shells, compilers, interpreters). The CPU time is of the agent with
all processes that it starts, from its start to its end with the naming and the adding of the last slice. The memory is twice stated: of the
largest process, and of all processes at one time (PSS, read twice a second).

	bench/agent.py [SECONDS [EVERY]]      prints the figures as JSON; needs root
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from peers import CPPROF, words # noqa: E402

PROCESSES, BUSY_SHARE, HERTZ = 200, 0.5, 19
SECONDS, EVERY = 300, 300
MB = 2 ** 20
# The bound that OpenTelemetry's eBPF profiler states for itself.
OTHERS_BOUND = "OpenTelemetry states 1 % and 250 MB"
STARTS = 'while :; do /bin/true; sh -c :; gcc -O1 -c -o "$1/a.o" "$1/a.c"; python3 -c pass; sleep 0.2; done'
SOURCE = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) { return puts(\"a\") + atoi(\"1\"); }\n"


# --- what is recorded ---

@contextlib.contextmanager
def ended(command):
	"""Runs a command in a session of its own, whose processes all end afterwards."""
	process = subprocess.Popen(words(command), stdout=subprocess.DEVNULL, start_new_session=True)
	try:
		yield process
	finally:
		os.killpg(process.pid, signal.SIGKILL)
		process.wait()


@contextlib.contextmanager
def crowd(work):
	with ended([work / "crowd", PROCESSES, BUSY_SHARE]):
		yield


@contextlib.contextmanager
def starts(work):
	with tempfile.TemporaryDirectory() as folder:
		(Path(folder) / "a.c").write_text(SOURCE)
		with crowd(work), ended(["sh", "-c", STARTS, "sh", folder]):
			yield


LOADS = {f"{PROCESSES} busy processes": crowd, "the same, and programs start": starts}


# --- the recorders ---

def tree_of(pid):
	"""The process and all processes below it."""
	pids = [pid]
	for above in pids:
		with contextlib.suppress(OSError):
			for children in Path(f"/proc/{above}/task").glob("*/children"):
				pids += map(int, children.read_text().split())
	return pids


def proportional_bytes(pid):
	"""The memory of a process and of all processes below it (PSS)."""
	total = 0
	for each in tree_of(pid):
		with contextlib.suppress(OSError):
			found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{each}/smaps_rollup").read_text(), re.M)
			total += int(found[1]) * 1024 if found else 0
	return total


def measure(command, seconds, end):
	"""Runs a recorder for a time, ends it with a signal, and returns its figures."""
	with tempfile.TemporaryFile("w+") as log:
		process = subprocess.Popen(words(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
		begin, together = time.monotonic(), 0
		while time.monotonic() < begin + seconds and process.poll() is None:
			together = max(together, proportional_bytes(process.pid))
			time.sleep(0.5)
		process.send_signal(end)
		_, status, used = os.wait4(process.pid, 0)
		process.returncode = os.waitstatus_to_exitcode(status)
		log.seek(0)
		text = log.read()
	if process.returncode not in (0, -end):
		sys.exit(f"bench/run: {' '.join(words(command))} ended with {process.returncode}:\n{text}")
	cpu = used.ru_utime + used.ru_stime
	return {"cpu": cpu, "share": 100 * cpu / (time.monotonic() - begin), "largest": used.ru_maxrss * 1024, "together": together, "log": text}


def measure_agent(folder, seconds, every, options=()):
	"""The figures of the agent, with those of what it has recorded."""
	store = folder / "store.db"
	figures = measure([CPPROF, "agent", "--store", store, "--spool", folder / "spool", "--every", f"{every}s", *options], seconds, signal.SIGTERM)
	info = subprocess.run([CPPROF, "info", "--store", store], capture_output=True, text=True, check=True).stdout
	whole, stacks = re.search(r"^whole: +([\d.]+) % \(\d+ of (\d+)", info, re.M).groups()
	lost = re.search(r"stopped: .*, (\d+) lost$", figures["log"], re.M)[1]
	return figures | {"whole": float(whole), "stacks": int(stacks), "lost": int(lost)}


def measure_perf(folder, seconds):
	command = ["perf", "record", "-q", "-B", "-N", "-a", "-g", "-e", "cpu-clock", "-F", HERTZ, "-o", folder / "perf.data"]
	return measure(command, seconds, signal.SIGINT)


def all_figures(work, seconds=SECONDS, every=EVERY, recorders=("agent", "perf")):
	"""{load: {recorder: figures}}"""
	figures = {}
	for name, load in LOADS.items():
		figures[name] = {}
		for recorder in recorders:
			with load(work), tempfile.TemporaryDirectory(dir=work) as folder:
				figures[name][recorder] = (measure_agent(Path(folder), seconds, every) if recorder == "agent" else
					measure_perf(Path(folder), seconds))
	return figures


def bench_agent(table, work, quick):
	if os.geteuid() != 0:
		sys.exit("bench/run: the part 'agent' needs root, which alone sees every process")
	seconds, every = (60, 30) if quick else (SECONDS, EVERY)
	for name, figures in all_figures(work, seconds, every).items():
		ours, perf = figures["agent"], figures["perf"]
		peers = f"perf {perf['share']:.2f} %; {OTHERS_BOUND}"
		table.add("agent: CPU, of one processor", name, f"{ours['share']:.2f} %", peers, "<= 1 %", ours["share"] <= 1)
		memory = f"{ours['largest'] / MB:.0f} MB (all together {ours['together'] / MB:.0f} MB)"
		table.add("agent: peak memory", name, memory, f"perf {perf['largest'] / MB:.0f} MB", "<= 60 MB", ours["largest"] <= 60 * MB)
		table.add("agent: paths that are whole", name, f"{ours['whole']:.2f} % of {ours['stacks']}, {ours['lost']} lost", "",
			">= 99 %", ours["whole"] >= 99 and ours["lost"] == 0)


if __name__ == "__main__":
	given = [int(word) for word in sys.argv[1:3]]
	print(json.dumps(all_figures(HERE / "work", *given), indent=1))
