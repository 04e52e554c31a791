#!/usr/bin/env python3
"""
The part `store`: rows of hits that `cpprof store add` takes in per CPU second, their bytes, and the time of a report, with SQLite and with
ClickHouse on this machine. The recordings are made: a tree of 20,000 call paths of 500 functions, of which each recording has hits in 12,500,
and slices of an agent, with hits in 1,000. The CPU time of ClickHouse is of its server and of cpprof together, without the making of tables.

The stores are on a file system in memory, where there is one. The server makes some ten files for each insertion. On ext4 without a journal, that
looks for an inode that was not deleted in the last seconds, 68 % of the server's CPU time came from this search.

	bench/store.py      prints the figures as JSON
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/cases")]
sys.dont_write_bytecode = True

from imports import seconds # noqa: E402
from peers import CPPROF # noqa: E402

RECORDINGS, PATHS, STORES = 64, 20000, 5
KINDS = {"recordings": 12500, "slices": 1000} # their rows
IN_MEMORY = Path("/dev/shm")


def make_recordings(folder, rows):
	"""Files with hits in so many paths each, which take turns."""
	chance, paths = random.Random(17), ["main"]
	known = set(paths)
	while len(paths) <= PATHS:
		above = chance.choice(paths)
		path = f"{above};f{chance.randrange(500)}"
		if above.count(";") < 40 and path not in known:
			known.add(path)
			paths.append(path)
	for index in range(RECORDINGS):
		text = "".join(f"{path} {chance.randint(1, 20)}\n" for path in chance.sample(paths, rows))
		(folder / "one.folded").write_text(text)
		subprocess.run([CPPROF, "import", "-o", folder / f"{index}.data", folder / "one.folded"], check=True, stderr=subprocess.DEVNULL)
		yield folder / f"{index}.data"


def cpu_of(process):
	"""CPU seconds of a process that runs."""
	fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
	return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def measure_adding(store, files, rows, server):
	"""Rows per CPU second of files of so many rows each, of which the store has none."""
	before = cpu_of(server) if server else 0
	used = seconds([CPPROF, "store", "add", "--store", store, *files])[0]
	if server:
		used += cpu_of(server) - before
		time.sleep(5) # the server merges
	return len(files) * rows / used


def measure(stores, files, server, rounds):
	"""{figure: value} of stores that do not exist yet: medians. `files`: those of each kind."""
	for store in stores:
		subprocess.run([CPPROF, "store", "init", "--store", store], check=True, stderr=subprocess.DEVNULL)
	figures = {}
	for kind, rows in KINDS.items():
		figures[f"rows per CPU s of {kind}"] = statistics.median(measure_adding(store, files[kind], rows, server) for store in stores)
		if kind == "recordings":
			stats = subprocess.run([CPPROF, "store", "stats", "--store", store], check=True, capture_output=True, text=True).stdout
			figures["bytes per row"] = float(stats.rpartition(", ")[2].split()[0])
	for report in ("--functions", "--down main"):
		command = [CPPROF, "report", *report.split(), "--store", store]
		figures[f"report {report}"] = statistics.median(seconds(command)[1] for _ in range(rounds))
	return figures


def all_figures(folder, rounds):
	"""{kind: figures}; ClickHouse is left out where it is not installed."""
	from clickhouse_support import SERVER, ClickHouse
	files = {}
	for kind, rows in KINDS.items():
		(folder / kind).mkdir()
		files[kind] = list(make_recordings(folder / kind, rows))
	figures = {"SQLite": measure([str(folder / f"store{number}.db") for number in range(STORES)], files, None, rounds)}
	if SERVER:
		server = ClickHouse(folder / "server")
		try:
			figures["ClickHouse"] = measure([server.url(f"bench{number}") for number in range(STORES)], files, server.process, rounds)
		finally:
			server.kill()
	return figures


def bench_store(table, work, rounds):
	with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else work) as folder:
		figures = all_figures(Path(folder), rounds)
	recordings, slices = (f"{RECORDINGS} {kind}, {RECORDINGS * rows:,} rows" for kind, rows in KINDS.items())
	for kind, values in figures.items():
		speed = values["rows per CPU s of recordings"]
		table.add(f"{kind}: rows per CPU second", recordings, f"{speed / 1e6:.2f} M", "", ">= 1 M", speed >= 1e6)
		table.add(f"{kind}: rows per CPU second", slices, f"{values['rows per CPU s of slices'] / 1e6:.2f} M")
		table.add(f"{kind}: bytes per row", recordings, f"{values['bytes per row']:.1f}", "", "<= 10", values["bytes per row"] <= 10)
		for report in ("--functions", "--down main"):
			table.add(f"{kind}: report {report}", f"both: {2 * RECORDINGS}", f"{values[f'report {report}']:.2f} s")


if __name__ == "__main__":
	with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as place:
		print(json.dumps(all_figures(Path(place), 3), indent=1))
