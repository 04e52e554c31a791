#!/usr/bin/env python3
"""
The part `merge`: elapsed time, CPU time and memory of `cpprof merge` with 1,000 files of about 0.9 MB, and beside it `go tool pprof -proto`,
which adds up the same profiles in its own format: fewer of them, so figures are for one file. The files are 1,000 names of four profiles that
`large generate` makes: 250,000 samples on 10,000 call paths each.

	bench/merge.py      prints the figures as JSON
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from imports import seconds # noqa: E402
from peers import BUILD, CPPROF # noqa: E402

FILES, OF_PEER, KINDS = 1000, 40, 4
SAMPLES, PATHS = 250000, 10000


def named(folder, kinds, count):
	"""`count` names for the files."""
	folder.mkdir()
	names = []
	for i in range(count):
		names.append(folder / f"{i}{kinds[i % len(kinds)].suffix}")
		os.link(kinds[i % len(kinds)], names[-1])
	return names


def make(folder):
	"""Returns the profiles of one kind each, and the same for pprof."""
	ours, theirs = [], []
	for i in range(KINDS):
		ours.append(folder / f"kind{i}.data")
		theirs.append(folder / f"kind{i}.pb")
		sizes = [str(SAMPLES + 10000 * i), str(PATHS + 1000 * i)]
		subprocess.run([BUILD / "bench/large", "generate", ours[-1], "calls", *sizes], check=True, stdout=subprocess.DEVNULL)
		subprocess.run([CPPROF, "export", "--format", "pprof", "-o", theirs[-1], ours[-1]], check=True, stderr=subprocess.DEVNULL)
	return ours, theirs


def all_figures(folder, rounds):
	ours, theirs = make(folder)
	files = named(folder / "ours", ours, FILES)
	of_peer = named(folder / "theirs", theirs, OF_PEER) if shutil.which("go") else []
	runs, peer = [], []
	for _ in range(rounds):
		runs.append(seconds([CPPROF, "merge", "-o", folder / "sum.data", *files]))
		if of_peer:
			peer.append(seconds(["go", "tool", "pprof", "-proto", "-output", folder / "sum.pb", *of_peer]))
	figures = {"CPU s": statistics.median(used for used, _ in runs), "s": statistics.median(elapsed for _, elapsed in runs),
		"MB": sum(path.stat().st_size for path in files) / 1e6}
	# The peak of one command alone.
	script = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL); " \
		"print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
	command = [sys.executable, "-c", script, CPPROF, "merge", "-o", folder / "sum.data", *files]
	figures["peak MB"] = int(subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout) * 1024 / 1e6
	if peer:
		figures["pprof: CPU s"] = statistics.median(used for used, _ in peer) / OF_PEER * FILES
	return figures


def bench_merge(table, work, rounds):
	with tempfile.TemporaryDirectory(dir=work) as folder:
		figures = all_figures(Path(folder), rounds)
	program = f"{FILES:,} files, {figures['MB']:,.0f} MB"
	peer = f"go tool pprof {figures['pprof: CPU s']:.0f} s, from {OF_PEER} files" if "pprof: CPU s" in figures else ""
	table.add("merge: elapsed", program, f"{figures['s']:.1f} s", "", "<= 10 s", figures["s"] <= 10)
	table.add("merge: CPU", program, f"{figures['CPU s']:.1f} s", peer)
	table.add("merge: peak memory", program, f"{figures['peak MB']:.0f} MB", "", "<= 200 MB", figures["peak MB"] <= 200)


if __name__ == "__main__":
	with tempfile.TemporaryDirectory() as place:
		print(json.dumps(all_figures(Path(place), 3), indent=1))
