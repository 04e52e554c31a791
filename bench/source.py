"""
The part `source`, the cost of an object of cpprof/profiler.h: nanoseconds that each call takes longer, in a function that does
almost nothing (programs/fib.c, 29.9 M calls), by each measurement, with gcc and clang. The program is linked with libcpprof and
runs without a recorder.
"""
import os
import subprocess
from pathlib import Path

from hooks import FILE_N, FLAT, N, SHORT_N, WORK, DATA, added, calls_of, fib, ns
from peers import BUILD, measure_well
from turns import BARE, in_turns

HERE = Path(__file__).resolve().parent
ROOT = WORK.parents[1]
RUNTIME = BUILD / "src/collect/agent"
FLAGS = ["-O2", "-g", "-fno-inline", "-fno-optimize-sibling-calls", "-falign-functions=64", "-D_GNU_SOURCE", "-pthread"]
TO_REACH = {"paths": 3, "paths-timed": 36, "trace": 50}
COMPILERS = ["gcc", "clang"]
# The figures of other tools, measured earlier in the same way on a machine of this kind.
PEERS = {
	"paths": "Caliper 185, TAU 128 to 479",
	"paths-timed": "easy_profiler 39, Tracy 37 to 62",
	"trace": "TAU 246",
	"bytes": "Tracy 32",
	"off": "Tracy on demand 3 to 5, Caliper off 57",
}


def build():
	"""Builds the programs each time, because the library that they are linked with may have changed."""
	link = [RUNTIME / "libcpprof.so", f"-Wl,-rpath,{RUNTIME}"]
	for compiler in COMPILERS:
		for name, more in {"bare": [], "stamps": ["-DTIME_STAMPS"], "source": [f"-I{ROOT}/include", "-include", "cpprof/profiler.h"]}.items():
			program = WORK / f"fib-{name}-{compiler}"
			libraries = link if name == "source" else []
			subprocess.run([compiler, *FLAGS, *more, "-o", program, ROOT / "bench/programs/fib.c", *libraries], check=True)
	(WORK / "all-off").write_text("off *\n")


def alone(measurement, command, *settings):
	return ["env", f"CPPROF_MEASURE={measurement}", f"CPPROF_OUTPUT={DATA / 'turn-source.data'}", *settings, *command]


def bench_calls(table, rounds, compiler):
	source = f"source-{compiler}"
	ways = {BARE: fib(f"bare-{compiler}"), "stamps": fib(f"stamps-{compiler}")}
	for measurement in ("paths", "counts", "paths-timed", "arcs", "off"):
		ways[measurement] = alone(measurement, fib(source))
	ways["trace"] = alone("trace", fib(source, FILE_N))
	ways["switched off"] = alone("paths", fib(source), f"CPPROF_PROBES={WORK / 'all-off'}")
	runs = in_turns(ways, rounds)
	stamps = f"two ordered time stamps alone {added(runs, 'stamps'):.2f}; "
	names = {"paths": "direct, counts and sampled time", "paths-timed": "direct, every call timed", "trace": "trace"}
	for measurement, name in names.items():
		cost, most = added(runs, measurement, FILE_N if measurement == "trace" else N), TO_REACH[measurement]
		floor = "" if measurement == "paths" else stamps
		table.add(f"{name}, a call", compiler, ns(cost), floor + PEERS[measurement], f"<= {most} ns", cost <= most)
	cost = added(runs, "switched off")
	table.add("a place that is switched off, a call", compiler, ns(cost), PEERS["off"], "<= 1 ns", cost <= 1)
	for measurement, name in {"off": "nothing is measured", "counts": "counts alone", "arcs": "arcs"}.items():
		table.add(f"{name}, a call", compiler, ns(added(runs, measurement)), "")


def bench_bytes(table):
	"""Adds the bytes of an event, from the difference between a long run and a short one. A call has two events."""
	sizes = []
	for n in (SHORT_N, FILE_N):
		measure_well(alone("trace", fib("source-gcc", n)))
		sizes.append((DATA / "turn-source.data").stat().st_size)
	each = (sizes[1] - sizes[0]) / (2 * (calls_of(FILE_N) - calls_of(SHORT_N)))
	table.add("trace: bytes an event", "gcc", f"{each:.2f}", PEERS["bytes"], "<= 8.1", each <= 8.1)


def bench_times(table):
	"""Adds the times of functions of known length. The target is that of every length: the truth is within the error; from 35 ns on
	the time is within a quarter, from 170 ns on within a twentieth."""
	printed = subprocess.run(["/usr/bin/python3", HERE / "source_times.py"], stdout=subprocess.PIPE, text=True, check=True,
		env={**os.environ, "CPPROF_BUILD": str(BUILD)})
	for line in printed.stdout.splitlines():
		measurement, function, *values = line.split()
		truth, time, raw, error = map(float, values)
		share = 0.05 if truth >= 170 else 0.25 if truth >= 35 else float("inf")
		off = abs(time - truth)
		table.add(f"{measurement}: a call of {function}", "gcc", f"{time:.1f} ±{error:.1f} ns", f"truth {truth:.1f}, as measured {raw:.1f}",
			f"{truth:.1f} ns", off <= error + 0.05 * truth and off <= share * truth)


def bench_threads(table, rounds):
	ways = {}
	for threads in (1, 2):
		ways[f"{BARE} {threads}"] = fib("bare-gcc", N, threads)
		for measurement in TO_REACH:
			if measurement != "trace":
				ways[f"{measurement} {threads}"] = alone(measurement, fib("source-gcc", N, threads))
	runs = in_turns(ways, rounds)
	for measurement in ("paths", "paths-timed"):
		one, two = (added(runs, f"{measurement} {threads}", base=f"{BARE} {threads}") for threads in (1, 2))
		table.add(f"{measurement}, one thread, two", "gcc", f"{one:.2f}, {two:.2f} ns", "", f"<= {FLAT} times", two <= FLAT * one + 0.1)


def bench_source(table, rounds):
	build()
	for compiler in COMPILERS:
		bench_calls(table, rounds, compiler)
	bench_bytes(table)
	bench_times(table)
	bench_threads(table, rounds)
	for left in DATA.glob("turn*"):
		left.unlink()
