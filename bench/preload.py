"""The part `preload`: the rate and completeness of samples that are taken inside the process, and the cost of these samples, of
counted calls, of labels and of the program's own ticks."""
import json
import re
import shutil
import statistics
import struct
import subprocess
import sys
from pathlib import Path

from peers import BUILD, closing_line, cpprof_record, words
from resources import OURS, add_ratios, times
from turns import BARE, cpu, in_turns, over_bare, own_cpu_time, own_time, times_bare, wall

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
DATA = WORK / "data"
PRELOAD = ["--backend", "preload"]
BPF = "cpprof --backend bpf"
GPERFTOOLS, GPERFTOOLS_LIBRARY = "gperftools", "libprofiler.so.0"
HEAPTRACK = "heaptrack"
EMPTY = "empty handlers"
ALLOCATIONS = 100_000 # each one is sampled
NEVER = 10**12 # ticks: far more than bench/tick makes
SLOW_US, FAST_US = 1000, 111
FRAMES_TURNS = 1000 # iterations of the loop in frames.c: about two seconds


def check_preload_tools():
	if not shutil.which("heaptrack"):
		sys.exit("bench/run: heaptrack is missing (tools/setup bench)")
	listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
	if GPERFTOOLS_LIBRARY not in listed:
		sys.exit(f"bench/run: {GPERFTOOLS_LIBRARY} is missing (it is in Debian's libgoogle-perftools4: tools/setup bench)")


# --- cpu at 1 kHz ---

def gperftools(command, output):
	return ["env", f"LD_PRELOAD={GPERFTOOLS_LIBRARY}", f"CPUPROFILE={output}", "CPUPROFILE_FREQUENCY=999", *words(command)]


def gperftools_hits(path):
	"""
	Returns the hits in gperftools' file: words of 8 bytes, a header (0, number of words that follow, ...), then (hits, depth,
	addresses ...) until hits are 0.
	"""
	data = path.read_bytes()
	numbers = struct.unpack_from(f"<{len(data) // 8}Q", data)
	at, total = 2 + numbers[1], 0
	while at + 1 < len(numbers) and numbers[at]:
		total += numbers[at]
		at += 2 + numbers[at + 1]
	return total


def bench_rate(table, program, command, stdin, rounds):
	peer_file = DATA / "turn.prof"
	runs = in_turns({
		BARE: words(command),
		OURS: cpprof_record(command, DATA / "turn.data", [*PRELOAD, "-r", "cpu/1ms"]),
		GPERFTOOLS: gperftools(command, peer_file),
		EMPTY: ["env", f"LD_PRELOAD={BUILD / 'bench/empty_ticks.so'}", *words(command)],
	}, rounds, stdin)
	lines = [closing_line(run.err) for run in runs[OURS]]
	rate = statistics.median(samples / (run.cpu - run.own_cpu) for run, (samples, *_) in zip(runs[OURS], lines))
	peer_rate = gperftools_hits(peer_file) / runs[GPERFTOOLS][-1].cpu
	whole, lost = min(complete for *_, complete in lines), sum(lost for _, lost, _ in lines)
	table.add("samples a second of CPU time, 1 kHz asked for", program, f"{rate:.0f}", f"{GPERFTOOLS} {peer_rate:.0f}", ">= 950",
		rate >= 950)
	table.add("paths that are whole", program, f"{whole:.2f} % (the least of {rounds} runs), {lost} lost", "", ">= 99.9 %",
		whole >= 99.9 and lost == 0)
	bare = statistics.median(run.cpu for run in runs[BARE])
	added = {way: 100 * over_bare(runs, way, cpu) / bare for way in (OURS, GPERFTOOLS, EMPTY)}
	spread = [100 * (run.cpu - base.cpu) / base.cpu for run, base in zip(runs[OURS], runs[BARE])]
	table.add(f"CPU over the bare {bare:.2f} s", program, f"{added[OURS]:+.1f} % ({min(spread):+.1f} to {max(spread):+.1f})",
		f"{GPERFTOOLS} at 250 Hz {added[GPERFTOOLS]:+.1f} %; 1,000 empty handlers a second {added[EMPTY]:+.1f} %", "<= 1 %",
		added[OURS] <= 1)
	target = statistics.median(100 * (run.cpu - run.own_cpu - base.cpu) / base.cpu for run, base in zip(runs[OURS], runs[BARE]))
	table.add("... of the target alone", program, f"{target:+.1f} %")


# --- one sample ---

def more_cost(slow_command, fast_command, count, rounds):
	"""Measures what each additional `count(run)` costs, on the same work. Returns us of the target's CPU time: (median, minimum,
	maximum, how many additional ones)."""
	runs = in_turns({"slow": slow_command, "fast": fast_command}, rounds)
	costs, more = [], 0
	for slow, fast in zip(runs["slow"], runs["fast"]):
		more = count(fast) - count(slow)
		if more <= 0:
			sys.exit(f"bench/run: no more at 9 kHz than at 1 kHz: {fast.err}")
		costs.append(1e6 * (own_cpu_time(fast) - own_cpu_time(slow)) / more)
	return statistics.median(costs), min(costs), max(costs), more


def sample_cost(frames, rounds):
	command = [WORK / "frames", frames, 1, FRAMES_TURNS]
	slow, fast = (cpprof_record(command, DATA / "turn.data", [*PRELOAD, "-r", f"cpu/{us}us"]) for us in (SLOW_US, FAST_US))
	return more_cost(slow, fast, lambda run: closing_line(run.err)[0], rounds)


def tick_cost(rounds):
	"""Returns the kernel's part of the cost, in us: the cost of a timer of the same kind whose handler only counts."""
	slow, fast = (words([WORK / "ticks", us, FRAMES_TURNS]) for us in (SLOW_US, FAST_US))
	return more_cost(slow, fast, lambda run: int(re.search(r"^(\d+) ticks$", run.err, re.MULTILINE)[1]), rounds)[0]


def bench_sample(table, rounds):
	small, least, most, more = sample_cost(25, rounds)
	large, *_ = sample_cost(125, rounds)
	floor = tick_cost(rounds)
	table.add("a sample, from the timer's interrupt on", "25 frames", f"{small:.2f} us ({least:.2f} to {most:.2f}), {more} samples",
		f"a timer with an empty handler {floor:.2f} us")
	table.add("... of it in our handler", "25 frames", f"{small - floor:.2f} us", "", "<= 5 us", small - floor <= 5)
	table.add("... of it in our handler", "125 frames", f"{large - floor:.2f} us, {10 * (large - small):.0f} ns a frame more")


# --- allocations ---

def bench_allocations(table, rounds):
	command = [WORK / "mallocs"]
	option = ["-r", "alloc-bytes/512KiB"]
	runs = in_turns({
		BARE: words(command),
		OURS: cpprof_record(command, DATA / "turn.data", [*PRELOAD, *option]),
		BPF: cpprof_record(command, DATA / "turn2.data", ["--backend", "bpf", *option]),
		HEAPTRACK: [HEAPTRACK, "-o", str(DATA / "turn.heaptrack"), *words(command)],
	}, rounds)
	add_ratios(table, "2 M mallocs: the target's own time", runs, own_time, "<= 1.1x", lambda ratios: ratios[OURS] <= 1.1)
	add_ratios(table, "2 M mallocs: the whole command", runs, wall, "", lambda ratios: None)
	for left in [*DATA.glob("turn.heaptrack*"), *DATA.glob("turn2.data*")]:
		left.unlink()


# --- the program's own ticks, and floating point exceptions ---

def tick_figures(*before, arguments=()):
	"""Returns the figures of bench/tick, which times its calls itself."""
	result = subprocess.run(words([*before, BUILD / "bench/tick", *arguments]), check=True, capture_output=True, text=True)
	return json.loads(result.stdout)


def bench_ticks(table):
	bare = tick_figures()
	recorded = tick_figures(*cpprof_record([], DATA / "turn.data", [*PRELOAD, "-r", f"own:ticks/{NEVER}"]))
	if bare["is_recording"] or not recorded["is_recording"]:
		sys.exit(f"bench/run: bench/tick met no recorder where one is, or one where none is: {bare}, {recorded}")
	table.add("cpprof_tick", "no recorder", f"{bare['tick_ns']:.2f} ns", "", "<= 2 ns", bare["tick_ns"] <= 2)
	table.add("cpprof_tick", "below the boundary", f"{recorded['tick_ns']:.2f} ns", "", "<= 5 ns", recorded["tick_ns"] <= 5)
	traced = tick_figures(*cpprof_record([], DATA / "turn.data", ["--instrumented=trace"]), arguments=["events", DATA / "events.data"])
	floors = f"floors: clock_gettime and four stores {traced['stores_ns']:.1f} ns, and writing them to a file {traced['writes_ns']:.1f} ns"
	table.add("cpprof_event, in a trace", floors, f"{traced['event_ns']:.1f} ns", times(traced["event_ns"] / traced["writes_ns"]),
		"<= 100 ns", traced["event_ns"] <= 100)
	table.add("cpprof_label, of a label known", "recording", f"{recorded['label_ns']:.1f} ns", f"without {bare['label_ns']:.1f} ns")


def bench_inexact(table, rounds):
	command = [WORK / "numbers"]
	runs = in_turns({BARE: words(command), OURS: cpprof_record(command, DATA / "turn.data", [*PRELOAD, "-r", "fp-inexact/10000"])},
		rounds)
	ratio = times_bare(runs, OURS, own_time)
	bare = statistics.median(own_time(run) for run in runs[BARE])
	table.add("fp-inexact/10000: the target's own time", f"bare {bare:.2f} s", times(ratio), "", "<= 3x", ratio <= 3)


def bench_preload(table, programs, rounds):
	"""Runs the part. `programs`: {name: (command, standard input)}, measured for cpu at 1 kHz."""
	check_preload_tools()
	for name, (command, stdin) in programs.items():
		bench_rate(table, name, command, stdin, 2 * rounds)
	bench_sample(table, rounds)
	bench_allocations(table, rounds)
	bench_ticks(table)
	bench_inexact(table, rounds)
