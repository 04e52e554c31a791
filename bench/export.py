"""
The part `export`: CPU time and memory of `cpprof export` for each format, with a generated profile of 1 M nodes and 1.7 M hits. The
output is a file that is removed.

	bench/export.py FILE      measures the export of this profile, and prints the figures as JSON
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from peers import BUILD, CPPROF # noqa: E402

NODES, HITS = 1_000_000, 1_700_000
FORMATS = ("folded", "pprof", "firefox", "speedscope", "callgrind", "chrome", "otlp")
MOST_SECONDS, MOST_BYTES = 2, 500 << 20


def measure(path, name):
	"""(CPU seconds, peak bytes, size of the output) of one export."""
	with tempfile.NamedTemporaryFile(dir=path.parent) as output:
		process = subprocess.Popen([CPPROF, "export", "--memory", "0", "--format", name, "-o", output.name, path], stderr=subprocess.DEVNULL)
		_, status, used = os.wait4(process.pid, 0)
		process.returncode = os.waitstatus_to_exitcode(status)
		if process.returncode != 0:
			sys.exit(f"bench/export.py: cpprof export --format {name} failed")
		return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, os.path.getsize(output.name)


def medians(path, rounds):
	"""{format: medians}, in turns."""
	runs = [{name: measure(path, name) for name in FORMATS} for _ in range(rounds)]
	return {name: [statistics.median(run[name][i] for run in runs) for i in range(3)] for name in FORMATS}


def bench_export(table, work, rounds):
	data = work / "data/export.data"
	subprocess.run([BUILD / "bench/large", "generate", data, "calls", str(HITS), str(NODES)], check=True, stdout=subprocess.DEVNULL)
	shape = f"{NODES / 1e6:g} M nodes, {HITS / 1e6:g} M hits"
	for name, (seconds, peak, size) in medians(data, rounds).items():
		table.add(f"export --format {name}", shape, f"{seconds:.2f} s, {peak / 1e6:.0f} MB", f"writes {size / 1e6:.0f} MB", "<= 2 s, 500 MB",
			seconds <= MOST_SECONDS and peak <= MOST_BYTES)
	data.unlink()


if __name__ == "__main__":
	print(json.dumps(medians(Path(sys.argv[1]).resolve(), 3), indent=1))
