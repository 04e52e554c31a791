"""
The part `export`: CPU time and memory of `cpprof export` for each format, with a generated profile of 1 M nodes and 1.7 M hits, and of
`cpprof import` of what it wrote. The files are removed.

	bench/export.py FILE      measures the export of this profile, and the import, and prints the figures as JSON
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
WRITTEN_ONLY = ("otlp",)
MOST_SECONDS, MOST_BYTES = 2, 500 << 20
# An import has the memory that it may take without --memory.
READ_SECONDS, READ_BYTES = 10, 1 << 30


def measure(command, name, source, output):
	"""[CPU seconds, peak bytes, size of the output] of one run."""
	process = subprocess.Popen([CPPROF, command, "--memory", "0", "--cpu-time", "0", "--format", name, "-o", output, source], stderr=subprocess.DEVNULL)
	_, status, used = os.wait4(process.pid, 0)
	process.returncode = os.waitstatus_to_exitcode(status)
	if process.returncode != 0:
		sys.exit(f"bench/export.py: cpprof {command} --format {name} failed")
	return [used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, os.path.getsize(output)]


def round_trip(path, name):
	"""{command: figures}"""
	with tempfile.TemporaryDirectory(dir=path.parent) as folder:
		found = {"export": measure("export", name, path, f"{folder}/out")}
		if name not in WRITTEN_ONLY:
			found["import"] = measure("import", name, f"{folder}/out", f"{folder}/in.data")
		return found


def medians(path, rounds):
	"""{format: {command: medians}}, in turns."""
	runs = [{name: round_trip(path, name) for name in FORMATS} for _ in range(rounds)]
	return {name: {command: [statistics.median(run[name][command][i] for run in runs) for i in range(3)] for command in runs[0][name]} for name in FORMATS}


def bench_export(table, work, rounds):
	data = work / "data/export.data"
	subprocess.run([BUILD / "bench/large", "generate", data, "calls", str(HITS), str(NODES)], check=True, stdout=subprocess.DEVNULL)
	shape = f"{NODES / 1e6:g} M nodes, {HITS / 1e6:g} M hits"
	for name, figures in medians(data, rounds).items():
		seconds, peak, size = figures["export"]
		table.add(f"export --format {name}", shape, f"{seconds:.2f} s, {peak / 1e6:.0f} MB", f"writes {size / 1e6:.0f} MB", "<= 2 s, 500 MB",
			seconds <= MOST_SECONDS and peak <= MOST_BYTES)
		if "import" in figures:
			seconds, peak, _ = figures["import"]
			table.add(f"import --format {name}", f"{size / 1e6:.0f} MB", f"{seconds:.2f} s, {peak / 1e6:.0f} MB", f"{peak / size:.0f} bytes of memory a byte",
				"<= 10 s, 1 GB", seconds <= READ_SECONDS and peak <= READ_BYTES)
	data.unlink()


if __name__ == "__main__":
	print(json.dumps(medians(Path(sys.argv[1]).resolve(), 3), indent=1))
