#!/usr/bin/python3
"""
Measures how often the errors and the marks of cpprof are right.

	bench/calibration.py intervals [--runs N] [--backend NAME]... [--ms MS] [--us US] [--rate HZ]
	bench/calibration.py marks [--runs N]

`intervals` records tests/programs/split.c, whose shares are known, with each backend, and prints how many of the 95 % intervals
of the body profile contain the share. `marks` records sqlite3 (bench/setup builds it) again and again, compares equal runs with each
other, and prints how many entries are marked.
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


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=["intervals", "marks"])
	parser.add_argument("--runs", type=int)
	parser.add_argument("--backend", action="append", choices=BACKENDS)
	parser.add_argument("--ms", type=int, default=500, help="CPU time of a run of `intervals`")
	parser.add_argument("--us", type=int, default=100, help="mean length of a turn of `intervals`")
	parser.add_argument("--rate", type=int, default=1000, help="samples a second of CPU time of `intervals`")
	args = parser.parse_args()
	if not BUILD.exists():
		parser.error(f"{BUILD} is not built (CPPROF_BUILD)")
	args.runs = args.runs or (200 if args.what == "intervals" else 40)
	(measure_intervals if args.what == "intervals" else measure_marks)(args)


if __name__ == "__main__":
	main()
