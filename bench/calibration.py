#!/usr/bin/python3
"""
Measures how often the errors and the marks of cpprof are right.

	bench/calibration.py intervals [--runs N] [--backend NAME]... [--ms MS] [--us US] [--rate HZ]
	bench/calibration.py marks [--runs N]
	bench/calibration.py exceptions [--runs N] [--dear US]

`intervals` records tests/programs/split.c, whose shares are known, with each backend, and prints how many of the 95 % intervals
of the body profile contain the share. `marks` records sqlite3 (bench/setup builds it) again and again, compares equal runs with each
other, and prints how many entries are marked. `exceptions` records tests/programs/fp_known.c, where 70 % of the divisions by zero are one
function's and 30 % another's, and prints how many 95 % intervals contain these shares, and the ratio of the totals to the true ones;
with signals that cost so many microseconds more.
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


# --- exceptions ---

SHARES = {"seven_tenths": 0.7, "three_tenths": 0.3}


def exceptions_run(command, count, profile):
	"""Returns the ratio of the total to the true one, whether the interval of the total contains it within a factor of 2, the
	independent samples, and for each function whether its interval contains its share."""
	subprocess.run([CPPROF, "record", "--backend", "preload", "-r", "fp-divzero/1", "-o", profile, "--", *command, "split", str(count)],
		stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
	(report,) = results_of("report", "--functions", "-r", "fp-divzero", profile)
	entries = {entry["path"][0]: entry for entry in report["entries"]}
	inside = [abs(entries[name]["fraction"] - share) <= entries[name]["error"] if name in entries else False
		for name, share in SHARES.items()]
	info = json.loads(subprocess.run([CPPROF, "info", "--format", "json", profile], stdout=subprocess.PIPE, check=True).stdout)
	note, total = info["resources"][0]["note"], info["resources"][0]["total"]
	error = re.search(r"±([\d.]+) %", note)
	ratio, within = total / count, 1 + (float(error[1]) / 100 if error else 0)
	return ratio, 1 / 2 / within <= ratio <= 2 * within, inside


def measure_exceptions(args):
	with tempfile.TemporaryDirectory() as name:
		folder, include = Path(name), HERE.parent / "include"
		library = BUILD / "src/collect/agent"
		for program in ("fp_known", "dear_signals"):
			subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-pthread", f"-I{include}", "-o", folder / program,
				PROGRAMS / f"{program}.c", f"-L{library}", "-lcpprof", "-lm", f"-Wl,-rpath,{library}"], check=True)
		command = [folder / "dear_signals", str(args.dear)] if args.dear else []
		print("| exceptions | signals | runs | 70 % | 30 % | total within its error and a factor of 2 | total / true: median | 5 % to 95 % |")
		print("|---|---|---|---|---|---|---|---|")
		for count in (10000, 1000000, 20000000, 200000000):
			runs = [exceptions_run([*command, folder / "fp_known"], count, folder / "fp.data") for _ in range(args.runs)]
			ratios = sorted(ratio for ratio, _, _ in runs)
			columns = [100 * sum(inside[i] for _, _, inside in runs) / len(runs) for i in range(len(SHARES))]
			columns.append(100 * sum(within for _, within, _ in runs) / len(runs))
			signals = f"{args.dear} us more" if args.dear else "usual"
			print(f"| {count:,} | {signals} | {len(runs)} | {' | '.join(f'{column:.0f} %' for column in columns)} | "
				f"{ratios[len(ratios) // 2]:.2f} | {ratios[len(ratios) // 20]:.2f} to {ratios[-1 - len(ratios) // 20]:.2f} |", flush=True)


MEASUREMENTS = {"intervals": (measure_intervals, 200), "marks": (measure_marks, 40), "exceptions": (measure_exceptions, 100)}


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=MEASUREMENTS)
	parser.add_argument("--runs", type=int)
	parser.add_argument("--backend", action="append", choices=BACKENDS)
	parser.add_argument("--ms", type=int, default=500, help="CPU time of a run of `intervals`")
	parser.add_argument("--us", type=int, default=100, help="mean length of a turn of `intervals`")
	parser.add_argument("--rate", type=int, default=1000, help="samples a second of CPU time of `intervals`")
	parser.add_argument("--dear", type=int, default=0, metavar="US", help="additional cost of a signal of `exceptions`, in us")
	args = parser.parse_args()
	if not BUILD.exists():
		parser.error(f"{BUILD} is not built (CPPROF_BUILD)")
	measure, runs = MEASUREMENTS[args.what]
	args.runs = args.runs or runs
	measure(args)


if __name__ == "__main__":
	main()
