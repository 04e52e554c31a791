"""
A timer's signal never changes what the program does, whatever code it interrupts. Each program of tests/programs/hostile repeats
one difficult operation, checks itself, and runs 100 times while its stacks are sampled 5,000 times a second.
"""
import re
import subprocess

import pytest
from measuring import between
from hostile_support import HOSTILE, again
from record_support import hits, record, run_cpprof, show

pytestmark = pytest.mark.long("records many hostile programs for a while")

TIMES, FEW = 100, 10
FINE_NS = 200_000
FINE = ["-r", "cpu/200us"]
EVERYTHING = ["-r", "real/200us", "-r", "user/200us", "-r", "alloc-bytes/64KiB", "-r", "allocs/1000", "-r", "lock-wait/20us", "-r", "io-time/20us",
	"-r", "read-bytes/4KiB", "-r", "write-bytes/64"]

# Least part of the CPU time that is sampled, where it is not 0.5. Not sampled are the start of programs, threads that the
# program creates by system calls, and children of vfork; after a seccomp filter no timer can be set.
SAMPLED = {"sandbox": 0.25, "raw threads": 0.2, "vfork": 0.1, "exec": 0.3, "threads": 0.25, "fork": 0.3, "dlopen": 0.3}
# The stacks that wait for the user-space fallback can be more than the rings hold: the recorder then reports losses.
MAY_LOSE = {"recursion"}


def output_of(name, times):
	"""Returns the output that so many bare runs print: the output of one run, repeated."""
	bare = subprocess.run(again(name, 1), capture_output=True, text=True, timeout=60, check=False)
	assert bare.returncode == 0, f"{bare.stdout}{bare.stderr}"
	*said, tally = bare.stdout.splitlines()
	assert tally == "1 of 1 well"
	return sorted(said * times + [f"{times} of {times} well"])


def run_hostile(folder, name, times, *options):
	recorded = record(folder, again(name, times), "--backend", "preload", *options)
	assert sorted(recorded.out.splitlines()) == output_of(name, times), f"{recorded.out[-1000:]}{recorded.err[-1000:]}"
	assert recorded.status == 0, recorded.err
	return recorded


def ends_of(recorded):
	return re.search(r"^how the stacks ended.*", run_cpprof("info", recorded.path).stdout, re.MULTILINE | re.DOTALL)[0]


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
@pytest.mark.parametrize("name", HOSTILE)
def test_goes_on_as_without_us(tmp_path, name):
	recorded = run_hostile(tmp_path, name, TIMES, *FINE)
	samples, lost, complete = recorded.closing()
	used_ns = 1000 * int(re.search(r"^used (\d+) us$", recorded.err, re.MULTILINE)[1])
	paths = recorded.paths("cpu")
	assert lost == 0 or name in MAY_LOSE, recorded.err
	between(hits(paths) * FINE_NS, SAMPLED.get(name, 0.5) * used_ns, None, f"{samples} samples of {used_ns / 1e6} ms\n{show(paths)}")
	between(hits(paths) * FINE_NS, None, 1.3 * used_ns, f"{samples} samples of {used_ns / 1e6} ms")
	between(complete, HOSTILE[name][3], None, f"{recorded.err}\n{ends_of(recorded)}\n{show(paths)}")


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
@pytest.mark.parametrize("case", HOSTILE)
def test_with_every_resource(tmp_path, case):
	"""The same with interposed calls, for all resources, in a few runs of each program."""
	recorded = run_hostile(tmp_path, case, FEW, *EVERYTHING)
	reported = {resource["name"]: resource for resource in recorded.info()["resources"]}
	assert reported["real"]["hits"] > 0 and reported["user"]["hits"] > 0, reported
	for name in ("write-bytes", "read-bytes", "allocs", "alloc-bytes"):
		assert hits(recorded.paths(name)) == reported[name]["hits"], reported
	# again.c writes its last line inside the C library, by dprintf, where no call is interposed. If a handler jumps out of our
	# own code at the very end of the stack, a call can be missed.
	written = len(recorded.out) - len(f"{FEW} of {FEW} well\n")
	between(reported["write-bytes"]["total"], (0.7 if case == "overflow" else 1) * written, None, reported)
