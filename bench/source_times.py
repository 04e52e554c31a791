#!/usr/bin/python3
"""Prints the times of functions of 0 to 1,000 ns as `paths-timed` and `trace` report them, in ns per call, beside the truth: the same
functions without probe points in the same run. A line has the measurement, the function, the truth, the time, the time as measured and the
error. It uses helpers of the tests and therefore needs Debian's python, which has pytest."""
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/cases"))
from times_support import Time, build_durations, times_of # pylint: disable=wrong-import-position

RUNS = 9


def main():
	program = build_durations()
	for measurement in ("paths-timed", "trace"):
		with tempfile.TemporaryDirectory() as folder:
			runs = [times_of(program, Path(folder), measurement) for _ in range(RUNS)]
		for caller, function in runs[0]:
			if caller.startswith("call_ns") and function:
				middle = Time(*(statistics.median(values) for values in zip(*(run[caller, function] for run in runs))))
				print(measurement, function, *(f"{value:.1f}" for value in middle))


if __name__ == "__main__":
	main()
