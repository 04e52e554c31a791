"""The cost of naming addresses in a jail: recordings in turns with recordings of a recorder that can make no jail, which names
addresses itself. Both run below a filter of system calls, so that its cost is in both."""
import re
import statistics
import subprocess
import sys
from pathlib import Path

from peers import cpprof_record, words
from turns import BARE, cpu, in_turns, over_bare, wall

HERE = Path(__file__).resolve().parent
DENY = HERE / "work/deny_calls"
SOCKETPAIR, NONE = 53, 9999 # x86-64's number of the call without which there is no jail; the number of no call
CLOSING = re.compile(r"^cpprof: [\d,]+ samples?, ", re.MULTILINE)
JAILED, OUTSIDE = "in the jail", "outside of it"


def prepare():
	subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-o", DENY, HERE.parent / "tests/programs/deny_calls.c"], check=True)


def more_ms(runs, figure):
	"""Returns the median, over the rounds, of what a recording takes more than the other of its round."""
	return 1000 * statistics.median(figure(run) - figure(peer) for run, peer in zip(runs[JAILED], runs[OUTSIDE]))


def in_both(program, command, stdin, data, rounds):
	prepare()
	runs = in_turns({BARE: words(command), **{way: [str(DENY), str(number), *cpprof_record(command, data)]
		for way, number in ((JAILED, NONE), (OUTSIDE, SOCKETPAIR))}}, rounds, stdin)
	if not all(CLOSING.search(run.err) for run in runs[JAILED] + runs[OUTSIDE]):
		sys.exit(f"bench/run: a recording of {program} has no closing line")
	return runs


def bench_jail(table, command, stdin, data, rounds):
	"""Adds the rows of `true`, whose times have a limit, and of sqlite3 (`command`), whose limit is a part of its CPU time."""
	for program, given, source, times in (("true", ["true"], None, 4 * rounds), ("sqlite3", command, stdin, rounds)):
		runs = in_both(program, given, source, data, times)
		bare = statistics.median(cpu(run) for run in runs[BARE])
		most = 10 if program == "true" else 1000 * 0.05 * bare
		for what, figure in ("CPU", cpu), ("wall time", wall):
			more = more_ms(runs, figure)
			table.add(f"names in the jail: {what} over bare", program, f"{1000 * over_bare(runs, JAILED, figure):+.1f} ms",
				f"{OUTSIDE} {1000 * over_bare(runs, OUTSIDE, figure):+.1f} ms, in the same round {more:+.1f} ms",
				f"<= {OUTSIDE} {most:+.0f} ms", more <= most)
