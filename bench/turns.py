"""What is compared runs in turns: a machine that changes its pace changes it for all."""
import re
import statistics
import sys

from peers import measure_well

BARE = "bare"
OWN = re.compile(r"^own (time|cpu) ([\d.]+) s$", re.MULTILINE)


def in_turns(ways, rounds, stdin=None, few=None, before=None):
	"""
	{way: [runs]} of {way: command}, each round starting with another one. `few`: {way: rounds} of what is slow. `before`
	is called before each run.
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
	"""Seconds that the program took by its own clock: without what a tool does before it starts and after it ends."""
	return printed(run, "time")


def own_cpu_time(run):
	"""The same of its CPU time."""
	return printed(run, "cpu")


def wall(run):
	return run.wall


def cpu(run):
	return run.cpu


def over_bare(runs, way, figure):
	"""The median, over the rounds, of this way's figure minus the bare program's in the same round."""
	return statistics.median(figure(run) - figure(bare) for run, bare in zip(runs[way], runs[BARE]))


def times_bare(runs, way, figure):
	"""The median, over the rounds, of this way's figure by the bare program's in the same round."""
	return statistics.median(figure(run) / figure(bare) for run, bare in zip(runs[way], runs[BARE]))
