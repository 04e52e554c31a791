#!/usr/bin/env python3
"""
The part `scale`: a store on ClickHouse with a week of 1,000 machines, sampled at 19 Hz, each busy for a fifth of the time on one processor: bytes of a
machine and day, and the time and memory of `report --down main` over six hours, a day and a week, with one server and with three shards on this machine.

`bench/fleet` adds a day of BASE machines as their agents would: a slice every five minutes, each machine a writer of its own. The bytes are those of
this day. The servers then copy its rows to the other machines and days, under other times, hosts and batches: a report reads and adds up each of
them. SQL alone would not do as a source: rows are packed blocks. Copies compress better on the servers' disks than other machines' rows would; what a report
receives and unpacks is the same.

	bench/scale.py      prints the figures as JSON
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
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/cases")]
sys.dont_write_bytecode = True

from clickhouse_support import SERVER, cluster # noqa: E402
from peers import BUILD, CPPROF # noqa: E402

HOSTS, BASE, DAYS, SERVICES, PATHS = 1000, 10, 7, 10, 3000
SLICES, SAMPLES = 288, 19 * 3600 // 5 # of a machine: in a day, in an hour
DAY_S, START_S = 86400, 1_760_000_000 // 86400 * 86400
SPANS = {"6 hours": DAY_S // 4, "a day": DAY_S, "a week": DAYS * DAY_S}
SHARDS = (1, 3)
MANY = 10 # times the paths

COPY_SECONDS = 1800
QUERY_BYTES = 10_000_000_000 # of a server's memory, for each query: ClickHouse's own default
COPIES = {
	"hits": ("service, resource, time, last, batch, number, rows, block",
		"service, resource, time + {shift}, last + {shift}, cityHash64(batch, k), number, rows, block"),
	"profiles": ("identity, batch, removed, service, host, start_ns, end_ns, first_bucket, samples, lost, ended, command, version, hit_rows, touch_rows, lists, "
		"label_keys, label_values, description",
		"MD5(concat(toString(identity), toString(k))), cityHash64(batch, k), removed, service, concat(host, '_', toString(k % {hosts})), "
		"start_ns + {shift} * 1000000000, end_ns + {shift} * 1000000000, first_bucket + {shift} / 10, samples, lost, ended, command, version, hit_rows, "
		"touch_rows, lists, label_keys, label_values, description"),
}


def add_fleet(store, hosts, paths):
	words = [BUILD / "bench/fleet", store, 0, hosts, SLICES, SERVICES, paths, SAMPLES, START_S]
	return json.loads(subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout)


def stats(store):
	"""{name: number} of `store stats`, and the bytes."""
	text = subprocess.run([CPPROF, "store", "stats", "--store", store], check=True, capture_output=True, text=True).stdout
	rows = int(text.partition("hit rows")[2].split(",")[0])
	return rows, rows * float(text.rpartition(", ")[2].split()[0])


def copy(server, database, ending):
	"""Copy k of a row is of another machine, up to HOSTS / BASE, and another day. It begins some buckets later."""
	hosts = HOSTS // BASE
	shift = f"(k % {hosts} % 30 * 10 + intDiv(k, {hosts}) * {DAY_S})"
	for table, (columns, values) in COPIES.items():
		server.query(f"INSERT INTO {table}{ending}({columns}) SELECT {values.format(shift=shift, hosts=hosts)} FROM {table}{ending} "
			f"ARRAY JOIN arrayFilter(x -> x > 0, range(toUInt64({hosts * DAYS}))) AS k SETTINGS max_block_size = 64", database, timeout=COPY_SECONDS)


def report(store, start, end):
	"""(elapsed seconds, CPU seconds, MB) of a report between two times."""
	words = [CPPROF, "report", "--down", "main", "--memory", "0", "--cpu-time", "0", "--store", store, "--from", f"@{start}", "--to", f"@{end}"]
	before = time.monotonic()
	process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
	_, status, used = os.wait4(process.pid, 0)
	process.returncode = os.waitstatus_to_exitcode(status)
	if process.returncode != 0:
		sys.exit(f"bench/scale.py: {' '.join(map(str, words))} ended with {process.returncode}")
	return time.monotonic() - before, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def medians(rounds, *words):
	return [statistics.median(values) for values in zip(*(report(*words) for _ in range(rounds)))]


def make_store(servers):
	stores = [server.url("fleet") for server in servers]
	for store in stores:
		cluster_words = ["--cluster", "fleet"] if len(servers) > 1 else []
		subprocess.run([CPPROF, "store", "init", "--store", store, *cluster_words], check=True, stderr=subprocess.DEVNULL)
	return stores[0]


def measure_fleet(folder, shards):
	"""{figure: value} of the whole fleet."""
	with cluster(folder, shards, QUERY_BYTES) as servers:
		store = make_store(servers)
		before = time.monotonic()
		recordings = add_fleet(store, BASE, PATHS)["recordings"]
		figures = {"ms of a slice": (time.monotonic() - before) / recordings * 1000}
		rows, size = stats(store)
		figures |= {"rows of a machine and day": rows / BASE, "bytes of a machine and day": size / BASE}
		for server in servers:
			copy(server, "fleet", "_shard" if shards > 1 else "")
		end = START_S + DAYS * DAY_S
		for name, span in SPANS.items():
			figures[name] = report(store, end - span, end)
	return figures


def measure_paths(folder, rounds):
	"""{number of paths: (elapsed seconds, CPU seconds, MB)} of a report over the day of the BASE machines."""
	figures = {}
	with cluster(folder, 1) as servers:
		for factor in (1, MANY):
			store = servers[0].url(f"paths{factor}")
			subprocess.run([CPPROF, "store", "init", "--store", store], check=True, stderr=subprocess.DEVNULL)
			add_fleet(store, BASE, factor * PATHS)
			figures[factor * PATHS * SERVICES] = medians(rounds, store, START_S, START_S + 2 * DAY_S)
	return figures


def all_figures(folder, rounds):
	figures = {f"{shards} shards": measure_fleet(folder / f"fleet{shards}", shards) for shards in SHARDS}
	return figures | {"paths": measure_paths(folder / "paths", rounds)}


def bench_scale(table, work, rounds):
	if not SERVER:
		print("bench/run: clickhouse-server is missing (tools/setup bench)", file=sys.stderr)
		return
	with tempfile.TemporaryDirectory(dir=work) as folder:
		figures = all_figures(Path(folder), rounds)
	one = figures["1 shards"]
	program = f"{HOSTS:,} machines"
	table.add("ClickHouse: a machine and day", f"{BASE} machines", f"{one['rows of a machine and day']:,.0f} rows, {one['bytes of a machine and day'] / 1e6:.2f} MB")
	table.add("the same, of a row", f"{BASE} machines", f"{one['bytes of a machine and day'] / one['rows of a machine and day']:.1f} bytes", "", "<= 10",
		one["bytes of a machine and day"] <= 10 * one["rows of a machine and day"])
	for shards in SHARDS:
		of = figures[f"{shards} shards"]
		where = "one server" if shards == 1 else f"{shards} shards"
		table.add(f"elapsed to add a slice, {where}", f"{BASE} machines", f"{of['ms of a slice']:.1f} ms")
		for name, span in SPANS.items():
			elapsed, used, peak = of[name]
			rows = of["rows of a machine and day"] * HOSTS * span / DAY_S
			table.add(f"report --down main over {name}, {where}", program, f"{elapsed:.1f} s, CPU {used:.1f} s, {peak:.0f} MB",
				f"{rows / 1e6:,.0f} M rows, {elapsed / rows * 1e9:.0f} ns each")
	few, many = figures["paths"].values()
	table.add(f"report --down main with {MANY} times the call paths", f"{BASE} machines, a day", f"{many[0] / few[0]:.1f} times as long", f"{few[0]:.2f} and {many[0]:.2f} s",
		f"< {MANY} times", many[0] < MANY * few[0])


if __name__ == "__main__":
	with tempfile.TemporaryDirectory() as place:
		print(json.dumps(all_figures(Path(place), 3), indent=1))
