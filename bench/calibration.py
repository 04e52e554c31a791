#!/usr/bin/python3
"""
Measures how often the errors and the marks of cpprof are right.

	bench/calibration.py intervals [--runs N] [--backend NAME]... [--ms MS] [--us US] [--rate HZ]
	bench/calibration.py marks [--runs N]
	bench/calibration.py paths [--runs N]
	bench/calibration.py gate [--runs N] [--repeat N] [--rounds N] [--gate-rate HZ] [--percent P]

`intervals` records tests/programs/split.c, whose shares are known, with each backend, and prints how many of the 95 % intervals
of the body profile contain the share. `marks` records sqlite3 (bench/setup builds it) again and again, compares equal runs with each
other, and prints how many entries are marked. `paths` runs tests/programs/hook_paths.c with each hook and compiler, 20 runs a
recording, and prints how many recordings have a count of calls on a path that is not exact, while handlers interrupt the hooks.
`gate` records tests/programs/planted.c, in which a path has 10 % of the time, and --percent more of it in a second build; it prints in how
many tries `diff --fail-above` reports the second build, and how often a build that is equal to the first.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from peers import BUILD, CPPROF # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "tests/programs"
BACKENDS = ("bpf", "perf", "preload")
FUNCTIONS = ("forty", "thirty", "twenty", "ten")


def results_of(command, *words):
	output = subprocess.run([CPPROF, command, "--threshold", "0", "--limit", "0", "--format", "json", *map(str, words)],
		stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
	return json.loads(output)["results"]


# --- intervals ---

def interval_run(program, backend, folder, args):
	"""Returns [(true share, measured share, error)] of one run, and its report."""
	profile = folder / "split.data"
	run = subprocess.run([CPPROF, "record", "--backend", backend, "-F", str(args.rate), "-o", profile, "--", program, str(args.ms),
		str(args.us)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
	truth = {name: float(share) for name, share in re.findall(r"^share (\S+) (\S+)$", run.stdout, re.MULTILINE)}
	(report,) = results_of("report", "--body", "-r", "cpu", profile)
	entries = {entry["path"][0]: (entry["fraction"], entry["error"]) for entry in report["entries"]}
	return [(truth[name], *entries.get(name, (0, 0))) for name in FUNCTIONS], report


def measure_intervals(args):
	with tempfile.TemporaryDirectory() as name:
		folder = Path(name)
		program = folder / "split"
		subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-o", program, PROGRAMS / "split.c"], check=True)
		print("| backend | runs | samples of a run | hits of a sample | 40 % | 30 % | 20 % | 10 % | all |")
		print("|---|---|---|---|---|---|---|---|---|")
		for backend in args.backend or BACKENDS:
			runs = [interval_run(program, backend, folder, args) for _ in range(args.runs)]
			samples = sum(report["samples"] for _, report in runs) / len(runs)
			hits = sum(report["total_hits"] for _, report in runs) / len(runs)
			inside = [sum(abs(rows[i][1] - rows[i][0]) <= rows[i][2] for rows, _ in runs) for i in range(len(FUNCTIONS))]
			columns = [f"{100 * count / len(runs):.1f} %" for count in inside]
			every = 100 * sum(inside) / len(runs) / len(FUNCTIONS)
			print(f"| {backend} | {len(runs)} | {samples:.0f} | {hits / samples:.2f} | {' | '.join(columns)} | {every:.1f} % |",
				flush=True)


# --- marks ---

def entries_of(side_a, side_b):
	results = results_of("diff", "-r", "cpu", *side_a, "--", *side_b)
	return [entry for result in results for entry in result["entries"]]


def print_marks(what, comparisons):
	tested = [[entry for entry in entries if entry["p"] is not None] for entries in comparisons]
	marks = [sum(entry["significant"] for entry in entries) for entries in comparisons]
	print(f"{what}: {len(comparisons)} comparisons, {sum(map(len, comparisons))} entries, {sum(map(len, tested))} tested, "
		f"{sum(entry['p'] < 0.05 for entries in tested for entry in entries)} with p < 0.05; "
		f"{sum(marks)} marked, in {sum(count > 0 for count in marks)} comparisons", flush=True)


def measure_marks(args):
	sqlite = HERE / "work/sqlite3"
	if not sqlite.exists():
		sys.exit(f"{sqlite} is missing (bench/setup builds it)")
	with tempfile.TemporaryDirectory() as name:
		profiles = [Path(name) / f"{index}.data" for index in range(args.runs)]
		for profile in profiles:
			with open(HERE / "programs/sort.sql", encoding="utf-8") as source:
				subprocess.run([CPPROF, "record", "-o", profile, "--", sqlite, ":memory:"], stdin=source,
					stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
		print_marks("pairs", [entries_of([a], [b]) for a, b in zip(profiles[::2], profiles[1::2])])
		rng = random.Random(1)
		for count, comparisons in ((2, 40), (3, 60), (5, 40)):
			chosen = [rng.sample(profiles, 2 * count) for _ in range(comparisons if 2 * count <= len(profiles) else 0)]
			if chosen:
				print_marks(f"{count} a side", [entries_of(names[:count], names[count:]) for names in chosen])


# --- paths ---

HOOKS = {"mcount": ["-pg"], "__fentry__": ["-pg", "-mfentry"], "-finstrument-functions": ["-finstrument-functions"]}
RUNS_A_RECORDING = 20
REPEAT = "i=0; while [ $i -lt $1 ]; do $0 busy || exit 1; i=$((i + 1)); done"


def sums_of(lines):
	"""Returns {path: calls}, of lines with a path and its calls."""
	sums = {}
	for path, calls in lines:
		sums[path] = sums.get(path, 0) + int(calls)
	return sums


def paths_run(program, own, profile, runs):
	"""Returns the number of calls and of handlers of so many runs, and {path: (calls counted, calls)} where they differ."""
	printed = subprocess.run([CPPROF, "record", "--instrumented=paths", "-o", profile, "--", "sh", "-c", REPEAT, program, str(runs)],
		stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
	wanted = sums_of(re.findall(r"^path (\S+) (\d+)$", printed, re.MULTILINE))
	handled = sum(map(int, re.findall(r"^handled (\d+)$", printed, re.MULTILINE)))
	folded = subprocess.run([CPPROF, "export", "--format", "folded", "-r", "calls", profile], stdout=subprocess.PIPE, text=True, check=True).stdout
	counted = sums_of((";".join(name for name in (re.sub(r"\..*$", "", frame) for frame in path.split(";")) if name in own), calls)
		for path, calls in (line.rsplit(" ", 1) for line in folded.splitlines()))
	wrong = {path: (counted.get(path, 0), calls) for path, calls in wanted.items() if counted.get(path, 0) != calls}
	within = sum(calls for path, calls in counted.items() if path.endswith(";handler;in_handler"))
	return sum(wanted.values()), handled, wrong | ({} if within == handled else {"handler;in_handler": (within, handled)})


def measure_paths(args):
	source = PROGRAMS / "hook_paths.c"
	own = set(re.findall(r"(\w+)\([^;{}]*\)\n\{", source.read_text(encoding="utf-8"))) - {"interrupt", "start_timer", "stop_timer"}
	print("| hook | compiler | runs | calls | handlers | recordings with a wrong count |")
	print("|---|---|---|---|---|---|")
	with tempfile.TemporaryDirectory() as name:
		folder = Path(name)
		for hook, flags in HOOKS.items():
			for compiler in ("gcc", "clang"):
				subprocess.run([compiler, "-O2", "-g", "-w", "-D_GNU_SOURCE", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer",
					*flags, "-o", folder / "hook_paths", source], check=True)
				recordings = -(-args.runs // (len(HOOKS) * 2 * RUNS_A_RECORDING))
				runs = [paths_run(folder / "hook_paths", own, folder / "paths.data", RUNS_A_RECORDING) for _ in range(recordings)]
				wrong = [differences for _, _, differences in runs if differences]
				print(f"| {hook} | {compiler} | {recordings * RUNS_A_RECORDING:,} | {sum(calls for calls, _, _ in runs):,} | "
					f"{sum(handled for _, handled, _ in runs):,} | {len(wrong)} |", *wrong[:3], flush=True)


# --- gate ---

# Each a row of the table: the options of diff beside --fail-above and --path.
GATES = (("amounts", ()), ("shares", ("--shares",)))
GATE_LIMIT = 1


def gate_try(program, folder, args):
	"""Records the sides a and b, which has the planted change, and the equal sides c and d, all in turns. Returns {gate: (found, false alarm)}.
	The recordings of c and d are shorter: how often chance alone causes an alarm does not depend on the number of samples."""
	equal = (max(1, args.rounds // 10), 0)
	programs = {"a": (args.rounds, 0), "b": (args.rounds, args.percent), "c": equal, "d": equal}
	sides = {side: [] for side in programs}
	for index in range(args.repeat):
		for side, files in random.sample(list(sides.items()), len(sides)):
			files.append(folder / f"{side}-{index}.data")
			subprocess.run([CPPROF, "record", "-F", str(args.gate_rate), "-o", files[-1], "--", program, *map(str, programs[side])],
				stderr=subprocess.DEVNULL, check=True)

	def fails(options, a, b):
		return subprocess.run([CPPROF, "diff", "-r", "cpu", "--fail-above", str(GATE_LIMIT), "--path", "parse", *options, *sides[a], "--",
			*sides[b]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 3

	return {name: (fails(options, "a", "b"), fails(options, "c", "d")) for name, options in GATES}


def measure_gate(args):
	with tempfile.TemporaryDirectory() as name:
		folder = Path(name)
		program = folder / "planted"
		subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-o", program, PROGRAMS / "planted.c"], check=True)
		found = {gate: [0, 0] for gate, _ in GATES}
		for index in range(args.runs):
			for gate, results in gate_try(program, folder, args).items():
				found[gate] = [count + result for count, result in zip(found[gate], results)]
			print(f"{index + 1} tries: {found}", file=sys.stderr, flush=True)
	print(f"| compared | tries | found: {args.percent} % of a path with 10 % | alarms of equal builds |")
	print("|---|---|---|---|")
	for gate, (hits, alarms) in found.items():
		print(f"| {gate} | {args.runs} | {hits} | {alarms} |")


MEASUREMENTS = {"intervals": (measure_intervals, 200), "marks": (measure_marks, 40),
	"paths": (measure_paths, 10000), "gate": (measure_gate, 20)}


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=MEASUREMENTS)
	parser.add_argument("--runs", type=int)
	parser.add_argument("--backend", action="append", choices=BACKENDS)
	parser.add_argument("--ms", type=int, default=500, help="CPU time of a run of `intervals`")
	parser.add_argument("--us", type=int, default=100, help="mean length of a turn of `intervals`")
	parser.add_argument("--rate", type=int, default=1000, help="samples a second of CPU time of `intervals`")
	parser.add_argument("--repeat", type=int, default=10, help="recordings of each side of `gate`")
	parser.add_argument("--percent", type=int, default=5, help="planted change of `gate`")
	parser.add_argument("--rounds", type=int, default=10000, help="rounds of 50 us in a run of `gate`")
	parser.add_argument("--gate-rate", type=int, default=10000, metavar="HZ", help="samples a second of CPU time of `gate`")
	args = parser.parse_args()
	if not BUILD.exists():
		parser.error(f"{BUILD} is not built (CPPROF_BUILD)")
	measure, runs = MEASUREMENTS[args.what]
	args.runs = args.runs or runs
	measure(args)


if __name__ == "__main__":
	main()
