"""
The part `languages`: what is recorded of programs in ten languages whose shares are known (tests/programs/languages), by each
backend and by `perf record -g`, and what recording costs. It also writes the table of docs/languages.md.
"""
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

from measure import measure
from peers import CPPROF, OUTERMOST, cpprof_record, perf_completeness, perf_record, words
from turns import BARE, cpu, in_turns, over_bare

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/programs/languages"))
from language_rows import LANGUAGES, build, missing_tool, version # noqa: E402

WORK = HERE / "work"
DATA = WORK / "data"
DOCUMENT = HERE.parent / "docs/languages.md"
TABLE = re.compile(r"^\| language .*\n(?:\|.*\n)*", re.MULTILINE)
PERF_DATA = DATA / "languages.perf.data"
BACKENDS = ["bpf", "perf", "preload"]
PERF = "perf record -g"
# perf's chain reaches its root if it contains one of the functions of OUTERMOST, or the first function of a goroutine.
ROOTS = re.compile(rf"{OUTERMOST.pattern}|\bruntime\.(goexit|mstart)\b")


def ways_of(row, folder):
	"""Returns {way: command}; all commands run in the program's folder."""
	command = ["env", "-C", folder, *row.run]
	ways = {BARE: words(command)}
	for backend in BACKENDS:
		ways[backend] = cpprof_record(command, DATA / f"languages.{backend}", ["--backend", backend, "-r", "cpu/1ms"])
	ways[PERF] = perf_record(command, PERF_DATA)
	return ways


def percentages(backend):
	"""Returns (whole, partly guessed, broken) in percent, and the cause of most broken paths, of the last recording."""
	shown = subprocess.run([CPPROF, "info", "--format", "json", DATA / f"languages.{backend}"], check=True, capture_output=True, text=True)
	info = json.loads(shown.stdout)
	broken = [(cause["count"], cause["cause"]) for cause in info["causes"] if not cause["whole"]]
	shares = [100 * info[kind] / max(info["stacks"], 1) for kind in ("whole", "guessed", "broken")]
	return shares, max(broken)[1] if broken else ""


def short(shares):
	return " / ".join("100" if share > 99.995 else f"{share:.1f}" for share in shares)


def bench_language(table, row, rounds):
	"""Measures one language. Returns its line of the document's table."""
	ways = ways_of(row, build(row, WORK / "languages"))
	for way, command in ways.items(): # one run of each outside of the turns, which compiles and warms up
		if measure(command).status != 0:
			sys.exit(f"bench/run: {' '.join(command)} failed ({way})")
	runs = in_turns(ways, rounds)
	bare = statistics.median(run.cpu for run in runs[BARE])
	costs = {way: 100 * over_bare(runs, way, cpu) / bare for way in ways if way != BARE}
	_, theirs = perf_completeness(PERF_DATA, ROOTS)
	subject, cells = f"{row.name} {version(row)}", []
	for backend in BACKENDS:
		shares, cause = percentages(backend)
		cells.append(short(shares))
		table.add(f"paths whole / partly / broken, {backend}", subject, f"{short(shares)} %", f"-g {theirs:.1f} % whole")
		if shares[2] >= 1:
			table.add("... most of the broken paths", subject, cause)
		table.add(f"CPU over the bare {bare:.2f} s, {backend}", subject, f"{costs[backend]:+.1f} %", f"-g {costs[PERF]:+.1f} %")
	flags = f"`{row.flags}`" if row.flags else ""
	shown_costs = " / ".join(f"{costs[backend]:+.0f}" for backend in BACKENDS)
	return f"| {row.name} | {version(row)} | {flags} | {' | '.join(cells)} | {shown_costs} | {theirs:.1f} | {costs[PERF]:+.0f} |"


def write_document(lines):
	head = ["| language | version | needs | bpf | perf | preload | cost, % | `perf record -g`: whole | cost, % |", "|---|---|---|---|---|---|---|---|---|"]
	text = DOCUMENT.read_text(encoding="utf-8")
	if not TABLE.search(text):
		sys.exit(f"bench/run: {DOCUMENT} has no place for the table")
	DOCUMENT.write_text(TABLE.sub(lambda _: "\n".join([*head, *lines]) + "\n", text, count=1), encoding="utf-8")


def check_language_tools():
	for row in LANGUAGES:
		if missing_tool(row):
			sys.exit(f"bench/run: {missing_tool(row)} is missing (it is in Debian's {row.packages}: tools/setup bench)")


def bench_languages(table, rounds):
	write_document([bench_language(table, row, max(rounds // 2, 1)) for row in LANGUAGES])
