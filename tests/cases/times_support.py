"""The times of functions of known length, as cpprof reports them, beside the truth: tests/programs/source/durations.c. bench/ uses it too."""
import os
import subprocess
from collections import namedtuple

from hooks_support import compile_once
from record_support import BUILD, PROGRAMS, run_cpprof

INCLUDE = PROGRAMS.parents[1] / "include"
LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
SOURCE = PROGRAMS / "source" / "durations.c"
CALLS = 1000

Time = namedtuple("Time", "truth time raw error")  # all in ns per call


def build_durations():
	return compile_once(["gcc", "-O2", "-g", f"-I{INCLUDE}", f"-Wl,-rpath,{LIBRARY.parent}"], [SOURCE], "durations", [LIBRARY])


def by_path(path, resource):
	result = run_cpprof("export", "--format", "folded", "-r", resource, path)
	assert result.returncode == 0, result.stderr
	return {tuple(line.rsplit(" ", 1)[0].split(";")): int(line.rsplit(" ", 1)[1]) / CALLS for line in result.stdout.splitlines()}


def times_of(program, folder, measurement):
	"""Runs the program. Returns {(caller, function): Time} of the round with the smallest time of the caller, with its callees; the
	caller's own time is at (caller, None)."""
	output = folder / "times.data"
	result = subprocess.run([program], capture_output=True, text=True, check=True,
		env={**os.environ, "CPPROF_MEASURE": measurement, "CPPROF_OUTPUT": str(output)})
	bare = {name: float(ns) for name, ns in (line.split() for line in result.stdout.splitlines())}
	time, raw, error = (by_path(output, resource) for resource in ("real", "real-raw", "real-error"))
	found = {}
	for caller in bare:
		function = caller.split("_")[1]
		paths = [path for path in raw if path[-1] == caller]
		below = lambda path: (*path, function)
		fastest = min(paths, key=lambda path: raw[path] + raw[below(path)])
		own = bare["work_ns0"] - bare["call_ns0"] if caller.startswith("work") else 0
		for key, path, truth in ((None, fastest, own), (function, below(fastest), bare[caller] - own)):
			found[caller, key] = Time(truth, time.get(path, 0), raw[path], error.get(path, 0))
	return found
