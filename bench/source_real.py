"""
The part `source-real`, source instrumentation of programs of other projects: whether they behave as before and their counts are
callgrind's (source_programs.py), and how long it takes to instrument the sqlite3 amalgamation.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from peers import BUILD, CPPROF, words

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
AMALGAMATION = WORK / "build-sqlite3/sqlite3.c"
OPTIONS = ["-DSQLITE_THREADSAFE=1", "-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE"]
PACKAGES = ["lua5.4", "sqlite3", "fmtlib", "nlohmann-json3"]
MOST_TIMES = 3
LINE = re.compile(r"^(\S+ \S+) (\S+): (\d+) tests, (\d+) with another output; (\d+) functions instrumented, (\d+) called, (\d+) calls, (\d+) counts differ.*; "
	r"(\d+) files as they are, built in ([\d.]+) s", re.MULTILINE)


def check_source_tools():
	for tool, package in ("valgrind", "valgrind"), ("clang++", "clang"), ("cmake", "cmake"), ("g++", "g++"):
		if not shutil.which(tool):
			sys.exit(f"bench/run: {tool} is missing (it is in Debian's {package}: tools/setup bench)")
	for path, package in ("/usr/src/googletest", "googletest"), ("/usr/lib/tclConfig.sh", "tcl-dev"):
		if not Path(path).exists():
			sys.exit(f"bench/run: {path} is missing (it is in Debian's {package}: tools/setup bench)")


def seconds_in_turns(ways, rounds):
	"""Returns {way: [seconds]}."""
	order, taken = list(ways), {way: [] for way in ways}
	for _ in range(rounds):
		for way in order:
			start = time.monotonic()
			subprocess.run(words(ways[way]), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
			taken[way].append(time.monotonic() - start)
		order = order[1:] + order[:1]
	return taken


def bench_instrumenting(table, rounds):
	copies = WORK / "data/copies"
	taken = seconds_in_turns({
		"parse": ["clang", "-fsyntax-only", "-w", *OPTIONS, AMALGAMATION],
		"instrument": [CPPROF, "instrument", "-o", copies, AMALGAMATION, "--", *OPTIONS],
		"blocks": [CPPROF, "instrument", "--rule", "level blocks", "-o", copies, AMALGAMATION, "--", *OPTIONS],
	}, rounds)
	parse = statistics.median(taken["parse"])
	for way, name in ("instrument", "functions"), ("blocks", "down to basic blocks"):
		times = statistics.median(mine / clang for mine, clang in zip(taken[way], taken["parse"]))
		table.add("sqlite3.c instrumented", name, f"{statistics.median(taken[way]):.2f} s, {times:.2f} times clang's parse", f"clang -fsyntax-only {parse:.2f} s",
			f"<= {MOST_TIMES} times" if way == "instrument" else "", times <= MOST_TIMES if way == "instrument" else None)
	shutil.rmtree(copies, ignore_errors=True)


def bench_programs(table, quick):
	subprocess.run([HERE / "setup", "source", *PACKAGES], check=True)
	command = ["/usr/bin/python3", HERE / "source_programs.py", *(["lua", "sqlite3"] if quick else [])]
	printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "CPPROF_BUILD": str(BUILD)}, check=False)
	builds = LINE.findall(printed.stdout)
	if not builds:
		sys.exit("bench/run: bench/source_programs.py told nothing")
	for build, measurement, tests, others, functions, called, calls, wrong, original, seconds in builds:
		table.add("tests: the output is as it was", build, f"{int(tests) - int(others)} of {tests}", f"built in {seconds} s, {original} files without objects", "all",
			others == "0")
		table.add("counts that are callgrind's", build, f"{int(called) - int(wrong)} of {called} functions", f"{int(calls):,} calls, by {measurement}; {functions} instrumented",
			"all", wrong == "0")


def bench_source_real(table, rounds, quick):
	check_source_tools()
	bench_instrumenting(table, rounds)
	bench_programs(table, quick)
