"""The command lines of cpprof and perf, and the parsers of their output."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from measure import measure

BUILD = Path(os.environ.get("CPPROF_BUILD", Path(__file__).resolve().parent.parent / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
FREQUENCY = "999"
CALL_GRAPHS = {
	"-g": ["-g"],
	"dwarf 8 KB": ["--call-graph", "dwarf,8192"],
	"dwarf 64 KB": ["--call-graph", "dwarf,65528"],
}
# A chain is complete if it reaches one of these: main, a function above main, or the first function of a thread.
OUTERMOST = re.compile(r"\b(main|_start|__libc_start_main|__libc_start_call_main|start_thread|clone3?|__clone3?)\b")
CLOSING_LINE = re.compile(r"cpprof: ([\d,]+) samples?, ([\d,]+) lost, ([\d.]+) % whole")


def words(parts):
	return [str(part) for part in parts]


def cpprof_record(command, output, options=()):
	return [CPPROF, "record", *options, "-o", str(output), "--", *words(command)]


def perf_record(command, output, call_graph="-g"):
	# -B and -N skip perf's final pass over the build-ids, in which it sometimes crashes.
	return ["perf", "record", "-q", "-B", "-N", "-e", "cpu-clock", "-F", FREQUENCY, *CALL_GRAPHS[call_graph],
		"-o", str(output), "--", *words(command)]


def measure_well(command, stdin=None, memory=False):
	"""Returns the figures of a run that succeeded. A failure ends the benchmark; perf gets three attempts if it crashes."""
	for _ in range(3):
		run = measure(command, stdin, memory=memory)
		if run.status == 0:
			return run
		if run.status > 0 or command[0] != "perf":
			break
		print(f"bench/run: perf crashed (signal {-run.status}), once more", file=sys.stderr)
	sys.exit(f"bench/run: {' '.join(words(command))} ended with {run.status}:\n{run.err}")


def closing_line(text):
	"""Returns (samples, lost, % whole) from the closing line of `cpprof record`."""
	found = CLOSING_LINE.findall(text)
	if not found:
		sys.exit(f"bench/run: no closing line in: {text}")
	samples, lost, whole = found[-1]
	return int(samples.replace(",", "")), int(lost.replace(",", "")), float(whole)


def perf_completeness(path, outermost=OUTERMOST):
	"""Returns (samples, % whose chain reaches main or a thread's start), from perf script."""
	command = ["perf", "script", "-i", str(path), "--max-stack", "20000", "-F", "ip,sym", "--no-inline"]
	script = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
	samples = whole = 0
	frames, reaches = 0, False
	for line in script.stdout:
		if line.strip():
			frames += 1
			reaches = reaches or outermost.search(line) is not None
		elif frames:
			samples += 1
			whole += reaches
			frames, reaches = 0, False
	samples += frames > 0
	whole += reaches
	if script.wait() != 0 or samples == 0:
		sys.exit(f"bench/run: {' '.join(command)} ended with {script.returncode} after {samples} samples")
	return samples, 100 * whole / samples


def seconds_of(command):
	start = time.monotonic()
	subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	return time.monotonic() - start


def forget_pages(path):
	"""Drops the file's pages from memory, so that the next reader reads them from the disk."""
	with open(path, "rb") as data:
		os.fsync(data.fileno())
		os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold_report(path):
	forget_pages(path)
	return seconds_of([CPPROF, "report", str(path)])


def cold_perf_report(path):
	forget_pages(path)
	return seconds_of(["perf", "report", "--stdio", "-i", str(path)])
