"""
The part `causal`: gains that are predicted for toys whose threads wait for each other, beside the real gains and the gains of what-if; and the
cost, beside Debian's coz.

Coz works by line and does not distinguish callers: all parts of the toys spend their time in one inlined loop, whose line is one entry
for Coz. Coz reads DWARF 4 without the attribute DW_AT_GNU_locviews, which gcc writes by default: with it, Coz prints "Ignoring DWARF format
error when reading line table", knows no line, and makes no experiment.
"""
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from peers import CPPROF
from turns import BARE, cpu, in_turns

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
TOYS = HERE.parent / "tests/programs/causal/toys.c"
COZ_MOST = 1.17  # the mean cost of Coz, by its paper
ROUNDS = 600
# (toy, function that becomes 40 % faster)
CASES = [("serial", "first"), ("serial", "second"), ("barrier", "long_part"), ("barrier", "short_part"), ("lock", "held"), ("lock", "apart"),
	("pipeline", "use"), ("pipeline", "make")]


def check_causal_tools():
	if not shutil.which("coz"):
		sys.exit("bench/run: coz is missing (it is in Debian's coz-profiler: tools/setup bench)")


def build(name, *flags):
	program = WORK / name
	subprocess.run(["gcc", "-O2", "-gdwarf-4", "-gno-variable-location-views", "-pthread", *flags, TOYS, "-o", program, "-ldl"], check=True)
	return program


def run_time(*command):
	start = time.monotonic()
	subprocess.run([str(word) for word in command], check=True)
	return time.monotonic() - start


def real_gain(toy, function, turns):
	before, after = build("toys"), build("toys-faster", f"-DFASTER_{function}=40")
	return statistics.median(1 - run_time(after, toy, ROUNDS // 4) / run_time(before, toy, ROUNDS // 4) for _ in range(turns))


def predicted(toy, function):
	"""Returns the point of the function at 40 %, or None if its path has too little time to be tried."""
	command = [CPPROF, "causal", "--progress", "round", "--faster", "40", "--format", "json", "--", WORK / "toys", toy, 6 * ROUNDS]
	result = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
	points = [point for point in json.loads(result.stdout)["points"] if point["path"][-1] == function]
	return points[0] if points else None


def bench_gains(table, turns):
	for toy, function in CASES:
		real, point = real_gain(toy, function, turns), predicted(toy, function)
		if not point:
			table.add("gain if 40 % faster", f"{toy}: {function}", "not tried", f"real {real:+.1%}")
			continue
		good = abs(point["gain"] - real) <= point["error"] + 0.05
		table.add("gain if 40 % faster", f"{toy}: {function}", f"{point['gain']:+.1%} ±{point['error']:.1%}",
			f"real {real:+.1%}, what-if {0.4 * point['share']:+.1%}", "real", good)


def coz_experiments(profile):
	"""Returns Coz's experiments: [(line, speed-up, visits of the progress point a second)]."""
	found = []
	for line in profile.read_text(encoding="utf-8").splitlines():
		kind, _, rest = line.partition("\t")
		fields = dict(field.split("=", 1) for field in rest.split("\t"))
		if kind == "experiment":
			found.append((fields["selected"].rpartition(":")[2], float(fields["speedup"]), int(fields["duration"])))
		elif kind == "throughput-point" and found:
			found[-1] = (*found[-1][:2], int(fields["delta"]) * 1e9 / found[-1][2])
	return found


def bench_cost(table, rounds):
	program, for_coz, output = str(build("toys")), str(build("toys-coz", "-DFOR_COZ")), WORK / "profile.coz"
	output.unlink(missing_ok=True)
	ours, coz = "cpprof causal", "coz"
	ways = {
		BARE: [program, "barrier", str(ROUNDS)],
		ours: [str(CPPROF), "causal", "--progress", "round", "-o", "/dev/null", "--", program, "barrier", str(ROUNDS)],
		coz: ["coz", "run", "-o", str(output), "---", for_coz, "barrier", str(ROUNDS)],
	}
	runs = in_turns(ways, rounds)
	experiments = coz_experiments(output)
	if not experiments:
		sys.exit("bench/run: coz made no experiments")
	ratio = {way: statistics.median(cpu(run) / cpu(bare) for run, bare in zip(runs[way], runs[BARE])) for way in (ours, coz)}
	table.add("CPU time, times bare", "barrier", f"{ratio[ours]:.2f}", f"coz {ratio[coz]:.2f} ({len(experiments)} experiments)", f"<= {COZ_MOST}",
		ratio[ours] <= COZ_MOST)
	lines = sorted({line for line, *_ in experiments})
	table.add("what a gain is stated for", "barrier", "2 call paths", f"coz: {len(lines)} line{'s' if len(lines) > 1 else ''} ({', '.join(lines)})")


def bench_causal(table, rounds):
	WORK.mkdir(exist_ok=True)
	bench_gains(table, max(3, rounds))
	bench_cost(table, max(5, rounds))
