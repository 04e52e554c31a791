"""
The cost of compiler hooks: nanoseconds that each call takes longer, in a function that does almost nothing (programs/fib.c,
29.9 M calls), with each hook and each measurement, and with other tools that count or time calls.
"""
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
from pathlib import Path

from peers import BUILD, CPPROF, measure_well, words
from turns import BARE, in_turns, own_cpu_time

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
DATA = WORK / "data"
HOOKS = ["mcount", "fentry", "cyg"]
SHOWN = {"mcount": "mcount", "fentry": "__fentry__", "cyg": "-finstrument-functions"}
BLOCKS = {"trace_pc": "gcc trace-pc", "guard": "clang trace-pc-guard"}
N, SHORT_N, FILE_N = 35, 27, 31 # fib's argument: normally, for slow tools, and for tools that write each call into a file
TO_REACH = {"arcs": 1.5, "paths": 3, "paths-timed": 40, "trace": 26, "blocks": 3}
FLAT = 1.1 # times the cost with one thread, for two threads


def check_hooks_tools():
	for tool, package in ("uftrace", "uftrace"), ("valgrind", "valgrind"), ("clang", "clang"):
		if not shutil.which(tool):
			sys.exit(f"bench/run: {tool} is missing (it is in Debian's {package}: tools/setup bench)")


def calls_of(n):
	"""Returns the number of calls of fib for this argument, including the first."""
	before, number = 1, 1
	for _ in range(n - 1):
		before, number = number, before + number
	return 2 * number - 1


def fib(flavour, n=N, threads=1):
	return words([WORK / f"fib-{flavour}", n, threads])


def preloaded(library, command):
	return ["env", f"LD_PRELOAD={WORK / library}", *command]


def ours(measurement, command, name="turn-hooks.data"):
	return [CPPROF, "record", f"--instrumented={measurement}", "-o", str(DATA / name), "--", *command]


def added(runs, way, n=N, base=BARE, base_n=N):
	"""Returns the ns that a call takes longer than in the bare program: the median over the rounds."""
	pairs = zip(runs[way], runs[base])
	return statistics.median(1e9 * (own_cpu_time(run) / calls_of(n) - own_cpu_time(bare) / calls_of(base_n)) for run, bare in pairs)


def ns(value):
	return f"{value:.2f} ns"


def bench_calls(table, rounds):
	ways = {BARE: fib("bare"), "glibc": fib("mcount")}
	for hook in HOOKS:
		ways[f"{hook} empty"] = preloaded("empty_hooks.so", fib(hook))
		for measurement in ("off", "arcs", "paths"):
			ways[f"{hook} {measurement}"] = ours(measurement, fib(hook))
		ways[f"{hook} trace"] = ours("trace", fib(hook, FILE_N))
	ways["stamps"] = preloaded("time_stamps.so", fib("cyg"))
	ways["cyg paths-timed"] = ours("paths-timed", fib("cyg"))
	ways["gcov"] = fib("gcov")
	ways["uftrace"] = ["uftrace", "record", "-d", str(DATA / "turn.uftrace"), *fib("mcount", SHORT_N)]
	ways["callgrind"] = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={DATA}/turn.callgrind", *fib("bare", SHORT_N)]
	runs = in_turns(ways, rounds, few={"callgrind": 3, "uftrace": 3})
	others = {"uftrace": added(runs, "uftrace", SHORT_N), "callgrind": added(runs, "callgrind", SHORT_N)}
	peers = ", ".join(f"{name} {cost:.0f}" for name, cost in others.items())
	for hook in HOOKS:
		floor = f"empty hook{'s' if hook == 'cyg' else ''} {added(runs, f'{hook} empty'):.2f}"
		printed = {"arcs": f"{floor}; glibc's mcount {added(runs, 'glibc'):.2f}; gcov {added(runs, 'gcov'):.2f}", "paths": f"{floor}; {peers}"}
		for measurement, others_cost in printed.items():
			add_row(table, measurement, SHOWN[hook], added(runs, f"{hook} {measurement}"), others_cost,
				is_judged=measurement != "arcs" or hook != "cyg")
	add_row(table, "paths-timed", SHOWN["cyg"], added(runs, "cyg paths-timed"),
		f"two ordered time stamps alone {added(runs, 'stamps'):.2f}; {peers}")
	for hook in HOOKS:
		add_row(table, "trace", SHOWN[hook], added(runs, f"{hook} trace", FILE_N), f"uftrace {others['uftrace']:.0f}", events=2 if hook == "cyg" else 1)
	bench_trace_bytes(table)
	for hook in HOOKS:
		table.add("off", SHOWN[hook], ns(added(runs, f"{hook} off")), f"empty {added(runs, f'{hook} empty'):.2f}")


def add_row(table, measurement, hook, cost, peers, is_judged=True, events=1):
	most = TO_REACH[measurement] * events
	table.add(f"{measurement}, a {'block' if measurement == 'blocks' else 'call'}", hook, ns(cost), peers, f"<= {most} ns" if is_judged else "", cost <= most if is_judged else None)


def bench_trace_bytes(table):
	"""Adds the bytes of an event, from the difference between a long run and a short one. A call has one event, or two if the
	hook reports its return."""
	for hook in HOOKS:
		events = (calls_of(FILE_N) - calls_of(SHORT_N)) * (2 if hook == "cyg" else 1)
		sizes = []
		for n in (SHORT_N, FILE_N):
			measure_well(ours("trace", fib(hook, n)))
			sizes.append((DATA / "turn-hooks.data").stat().st_size)
		each = (sizes[1] - sizes[0]) / events
		table.add("trace: bytes an event", SHOWN[hook], f"{each:.2f}", "uftrace 16", "<= 8.1", each <= 8.1)


def bench_nothing(table, rounds):
	"""Measures programs that are compiled with nops in the positions of the hooks, into which a tool can write calls later."""
	runs = in_turns({BARE: fib("bare"), "nops": ours("off", fib("nops")), "patchable": ours("off", fib("patchable"))}, 2 * rounds)
	for way, name in ("nops", "-mnop-mcount"), ("patchable", "patchable entries"):
		cost = added(runs, way)
		table.add("off, no hook is called", name, ns(cost), "", "0 (+-0.3)", abs(cost) <= 0.3)


def bench_threads(table, rounds):
	chosen = [("mcount", "arcs"), ("mcount", "paths"), ("cyg", "paths"), ("cyg", "paths-timed")]
	ways = {}
	for threads in (1, 2):
		ways[f"{BARE} {threads}"] = fib("bare", N, threads)
		ways[f"glibc {threads}"] = fib("mcount", N, threads)
		for hook, measurement in chosen:
			ways[f"{hook} {measurement} {threads}"] = ours(measurement, fib(hook, N, threads))
	runs = in_turns(ways, rounds)
	def both(way):
		return [added(runs, f"{way} {threads}", base=f"{BARE} {threads}") for threads in (1, 2)]
	glibc = both("glibc")
	for hook, measurement in chosen:
		one, two = both(f"{hook} {measurement}")
		table.add(f"{measurement}, one thread, two", SHOWN[hook], f"{one:.2f}, {two:.2f} ns", f"glibc's mcount {glibc[0]:.2f}, {glibc[1]:.2f}",
			f"<= {FLAT} times", two <= FLAT * one + 0.1)


def glibc_calls(command):
	"""Returns the number of calls that the C library's mcount counted in a run: the sum of the arcs in gmon.out."""
	prefix = DATA / "turn.gmon-counts"
	measure_well(["env", f"GMON_OUT_PREFIX={prefix}", *command])
	file, = DATA.glob(f"{prefix.name}.*")
	data, at, calls = file.read_bytes(), 20, 0
	while at < len(data):
		tag, at = data[at], at + 1
		if tag == 0:
			bins, = struct.unpack_from("=I", data, at + 16)
			at += 40 + 2 * bins
		elif tag == 1:
			calls += struct.unpack_from("=QQI", data, at)[2]
			at += 20
		else:
			sys.exit(f"{file}: a record of kind {tag} was not expected")
	file.unlink()
	return calls


def bench_losses(table):
	threads = 4
	made = threads * calls_of(N)
	run = measure_well(ours("arcs", fib("mcount", N, threads)))
	counted = int(re.search(r"cpprof: (\d+) calls", run.err)[1])
	others = glibc_calls(fib("mcount", N, threads))
	# main and the functions that start the threads have a hook as well.
	table.add("arcs: calls counted, of four threads", "mcount", f"{100 * min(counted / made, 1):.2f} %", f"glibc's mcount {100 * others / made:.2f} %", "100 %",
		made <= counted < made + 100)


def bench_lua(table):
	printed = subprocess.run(["/usr/bin/python3", HERE / "hooks_lua.py"], stdout=subprocess.PIPE, text=True, env={**os.environ, "CPPROF_BUILD": str(BUILD)}, check=False)
	pattern = r"^(.*) (\S+): (\d+) functions, (\d+) calls, (\d+) counts differ"
	builds = re.findall(pattern, printed.stdout, re.MULTILINE)
	if not builds:
		sys.exit("bench/run: bench/hooks_lua.py told nothing")
	for build, measurement, functions, calls, wrong in builds:
		table.add("Lua: counts that are callgrind's", build, f"{int(functions) - int(wrong)} of {functions} functions", f"{int(calls):,} calls, by {measurement}",
			"all", wrong == "0")


def blocks_of(flavour):
	"""Returns the number of blocks that run in fib N, as hooks count them."""
	run = measure_well(preloaded("block_counter.so", fib(flavour)))
	return int(re.search(r"^blocks (\d+)$", run.err, re.MULTILINE)[1])


def bench_blocks(table, rounds):
	ways = {BARE: fib("bare"), "gcov": fib("gcov")}
	for flavour in BLOCKS:
		ways[f"{flavour} empty"] = preloaded("empty_hooks.so", fib(flavour))
		ways[flavour] = ours("blocks", fib(flavour))
	runs = in_turns(ways, rounds)
	for flavour, name in BLOCKS.items():
		each = calls_of(N) / blocks_of(flavour)
		cost, floor, gcov = (added(runs, way) * each for way in (flavour, f"{flavour} empty", "gcov"))
		add_row(table, "blocks", name, cost, f"empty hook {floor:.2f}; gcov {gcov:.2f}")


def bench_hooks(table, rounds):
	check_hooks_tools()
	os.environ["GMON_OUT_PREFIX"] = str(DATA / "turn.gmon") # written by the C library's mcount
	bench_calls(table, rounds)
	bench_nothing(table, rounds)
	bench_threads(table, rounds)
	bench_losses(table)
	bench_blocks(table, rounds)
	bench_lua(table)
	for left in DATA.glob("turn*"):
		shutil.rmtree(left) if left.is_dir() else left.unlink()

