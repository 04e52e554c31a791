"""Runs the compared commands in turns, so that a machine that changes its speed changes it for all of them."""
import re
import statistics
import sys

from peers import measure_well

BARE = "bare"
OWN = re.compile(r"^own (time|cpu) ([\d.]+) s$", re.MULTILINE)


def in_turns(ways, rounds, stdin=None, few=None, before=None):
	"""
	Runs each of {way: command} once in each round. Returns {way: [runs]}. Each round starts with another way. `few`: {way:
	rounds} for slow commands. `before` is called before each run.
	"""
	order = list(ways)
	runs = {way: [] for way in ways}
	for done in range(rounds):
		for way in order:
			if done >= (few or {}).get(way, rounds):
				continue
			if before:
				before()
			runs[way].append(measure_well(ways[way], stdin))
		order = order[1:] + order[:1]
	return runs


def printed(run, what):
	found = dict(OWN.findall(run.err))
	if what not in found:
		sys.exit(f"bench/run: the program did not tell its own {what}: {run.err}")
	return float(found[what])


def own_time(run):
	"""Returns the seconds that the program measured itself: without a tool's work before it starts and after it ends."""
	return printed(run, "time")


def own_cpu_time(run):
	"""Returns the CPU seconds that the program measured itself."""
	return printed(run, "cpu")


def wall(run):
	return run.wall


def cpu(run):
	return run.cpu


def over_bare(runs, way, figure):
	"""Returns the median, over the rounds, of this way's figure minus the bare program's in the same round."""
	return statistics.median(figure(run) - figure(bare) for run, bare in zip(runs[way], runs[BARE]))


def times_bare(runs, way, figure):
	"""Returns the median, over the rounds, of this way's figure divided by the bare program's in the same round."""
	return statistics.median(figure(run) / figure(bare) for run, bare in zip(runs[way], runs[BARE]))
