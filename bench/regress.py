#!/usr/bin/env python3
"""
The part `regress`: how many planted changes `cpprof regress` finds, and how often it reports something where nothing has changed, in simulated weeks
of a service on 1,000 hosts, and of small services with few samples. bench/regress.c has the simulation, which calls the command's own decision.

	bench/regress.py      prints the figures as JSON
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from peers import BUILD # noqa: E402

WEEKS, CHECKED_WEEKS, HOSTS, CHANGE = 100, 4, 1000, 5
# Noise of a path's share from hour to hour, and its rise and fall over the day, in percent.
CONDITIONS = [(0.5, 0), (1, 0), (2, 0), (1, 5)]

SAMPLES_A_HOST = 19 * 3600 // 5 # in an hour: sampled at 19 Hz, and busy for a fifth of the time on one processor
# Small services on one host: their number in the store, and the samples of each in an hour.
SMALL = [(1, 50), (1, 100), (1, 200), (1, 400), (1, 2000), (1, 10000), (10, 200)]
SMALL_WEEKS, SMALL_NOISE = 8, 0.5


def simulate(weeks, checked, services, hosts, samples, noise, day, change):
	words = (weeks, checked, services, hosts, samples, noise, day, change)
	return json.loads(subprocess.run([BUILD / "bench/regress", *map(str, words)], check=True, capture_output=True, text=True).stdout)


def figures_of(noise, day):
	return simulate(WEEKS, CHECKED_WEEKS, 1, HOSTS, SAMPLES_A_HOST, noise, day, CHANGE)


def small_figures_of(services, samples):
	return simulate(SMALL_WEEKS, SMALL_WEEKS, services, 1, samples, SMALL_NOISE, 0, CHANGE)


def add_alarms(table, program, figures):
	table.add("regress: false alarms a week", program, f"{figures['alarms a week']:.2f} ({figures['checked weeks']} weeks)", "", "<= 1",
		figures["alarms a week"] <= 1)


def bench_regress(table):
	for noise, day in CONDITIONS:
		figures = figures_of(noise, day)
		program = f"{HOSTS:,} hosts, noise {noise} %" + (f", day {day} %" if day else "")
		table.add(f"regress finds +{CHANGE} % of a 1 % path", program, f"{figures['found']} of {figures['weeks']} weeks")
		add_alarms(table, program, figures)
	for services, samples in SMALL:
		add_alarms(table, f"{services} service{'s' if services > 1 else ''}, {samples} samples an hour", small_figures_of(services, samples))


if __name__ == "__main__":
	figures = {f"noise {noise} %, day {day} %": figures_of(noise, day) for noise, day in CONDITIONS}
	figures |= {f"{services} * {samples} samples an hour": small_figures_of(services, samples) for services, samples in SMALL}
	print(json.dumps(figures, indent=1))
