#!/usr/bin/env python3
"""
The part `regress`: how many planted changes `cpprof regress` finds, and how often it reports something where nothing has changed, in simulated weeks
of a service on 1,000 hosts. bench/regress.c has the simulation, which calls the command's own decision.

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


def figures_of(noise, day):
	words = (WEEKS, CHECKED_WEEKS, HOSTS, noise, day, CHANGE)
	return json.loads(subprocess.run([BUILD / "bench/regress", *map(str, words)], check=True, capture_output=True, text=True).stdout)


def bench_regress(table):
	for noise, day in CONDITIONS:
		figures = figures_of(noise, day)
		program = f"{HOSTS:,} hosts, noise {noise} %" + (f", day {day} %" if day else "")
		table.add(f"regress finds +{CHANGE} % of a 1 % path", program, f"{figures['found']} of {figures['weeks']} weeks")
		table.add("regress: false alarms a week", program, f"{figures['alarms a week']:.2f} ({figures['checked weeks']} weeks)", "", "<= 1",
			figures["alarms a week"] <= 1)


if __name__ == "__main__":
	print(json.dumps({f"noise {noise} %, day {day} %": figures_of(noise, day) for noise, day in CONDITIONS}, indent=1))
