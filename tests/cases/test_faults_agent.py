"""
A system call of the library inside the target fails, at its start or while it runs: the target's output and status stay as they
are, and the recording has everything that it has otherwise, or reports what is lost. strace runs below the recorder: it makes
calls of the target alone fail, and shows from which code they come. A run tests a sample of the calls; CPPROF_FAULTS=all tests
each, and `pytest -rP` shows how many there were.
"""
import collections
import os
import random
import re
import subprocess

import pytest
from record_support import CPPROF, SECONDS_ALLOWED, build, folded, hits, run_cpprof

pytestmark = pytest.mark.long("one system call fails at a time")


ALL = os.environ.get("CPPROF_FAULTS") == "all"
SAMPLE, OF_EACH = 10, 3 # of the calls of each kind, the first calls are candidates: later ones repeat them
MEASURES = {
	"preload": ["--backend", "preload", "-r", "cpu/1ms", "-r", "allocs/1"],
	"paths": ["--instrumented=paths"],
	"trace": ["--instrumented=trace"],
}
CALLS = ("write,pwrite64,writev,pwritev,fsync,ftruncate,fallocate,read,pread64,readlink,getdents64,lseek,openat,fstat,mmap,mremap,munmap,mprotect,"
	"rename,mkdir,unlink,fcntl,clone,clone3,kill,tgkill,prctl,prlimit64,timer_create,timer_settime,sigaltstack,rt_sigaction,rt_sigprocmask,socket,"
	"getrusage,sched_getaffinity,process_vm_readv,madvise,close")
ERRORS = {"mmap": "ENOMEM", "mremap": "ENOMEM", "timer_create": "EAGAIN", "fallocate": "ENOSPC", "write": "ENOSPC"}
ALWAYS = [("rt_sigaction", 1), ("timer_create", 1), ("timer_settime", 1)] # of the timers, whose signal would end the target
CALL = re.compile(r"(?:\d+ +)?\[([0-9a-f]+)\] (\w+)\(")
OPENED = re.compile(r'openat\([^"]*"([^"]*)".*\) = (\d+)')
MAPPED = re.compile(r"mmap\(\S+, (\d+), \S+, (\S+), (-?\d+), \S+\) = (0x[0-9a-f]+)")
LOSSES = re.compile(r"not recorded|not counted|not sampled|did not load|lost|samples are missing|still runs")


def calls_of_library(text):
	"""Returns the library's calls in a log of strace: [(name, how many-th call of this name, its line)]. It calls the C library's
	sigaction, which the program does not."""
	files, code, made, found = {}, [], collections.Counter(), []
	for line in text.splitlines():
		call = CALL.match(line)
		if not call:
			continue
		address, name = int(call[1], 16), call[2]
		made[name] += 1
		opened, mapped = OPENED.search(line), MAPPED.search(line)
		if opened:
			files[opened[2]] = opened[1]
		if mapped and "MAP_ANONYMOUS" not in mapped[2] and "libcpprof" in files.get(mapped[3], ""):
			code.append(range(int(mapped[4], 16), int(mapped[4], 16) + int(mapped[1])))
		if any(address in part for part in code) or code and name == "rt_sigaction":
			found.append((name, made[name], line))
	return found


class Target:
	"""Recordings of a program below strace."""

	def __init__(self, folder, measure):
		self.folder, self.measure = folder, measure
		self.program = [build("forms.c", "-finstrument-functions", name="forms_hooks"), "3"]
		self.bare = subprocess.run(self.program, capture_output=True, text=True, check=True)

	def record(self, *inject):
		"""Returns the result, and the library's calls."""
		for left in self.folder.iterdir():
			left.unlink()
		command = [CPPROF, "record", *MEASURES[self.measure], "-o", "out.data", "--", "strace", "-f", "-qq", "-i", "-o", "log", "-e", f"trace={CALLS}",
			*inject, *self.program]
		result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS_ALLOWED, check=False)
		return result, calls_of_library((self.folder / "log").read_text())

	def amounts(self, result):
		"""Returns the number of counted calls, if calls are counted, the hits of the program's functions, and the text of `info`."""
		path = self.folder / "out.data"
		info = run_cpprof("info", path)
		assert info.returncode == 0, info.stderr
		counted = re.search(r"^cpprof: ([\d,]+) calls", result.stderr, re.MULTILINE)
		return counted and counted[1], hits(folded(path, "cpu"), "db_read_record"), info.stdout

	def wrong(self, result, good):
		"""Returns what is wrong with a run, or None."""
		nothing = result.returncode == 1 and "cpprof record: nothing was counted: " in result.stderr # the recorder's own status
		if result.stdout != self.bare.stdout or result.returncode != 0 and not nothing:
			return f"status {result.returncode}, {result.stdout!r}"
		if nothing:
			return None
		counted, found, info = self.amounts(result)
		if (counted != good[0] or found < good[1] / 3) and not LOSSES.search(result.stderr + info):
			return f"{counted} calls and {found} hits in place of {good[:2]}, without a finding"
		return None


@pytest.mark.parametrize("measure", MEASURES)
def test_calls_of_the_library(tmp_path, measure):
	target = Target(tmp_path, measure)
	result, calls = target.record()
	assert result.returncode == 0 and result.stdout == target.bare.stdout, result.stderr
	good = target.amounts(result)
	assert good[1] > 10 and (good[0] or measure == "preload"), good
	assert len(calls) > 20, calls
	each = collections.defaultdict(list)
	for name, number, _ in calls:
		each[name].append(number)
	candidates = [(name, number) for name, numbers in each.items() for number in (numbers if ALL else numbers[:OF_EACH])]
	assert set(ALWAYS) <= set(candidates), candidates
	tried = candidates if ALL else sorted({*ALWAYS, *random.Random(measure).sample(candidates, SAMPLE)})
	results, failed = [], 0
	for name, number in tried:
		result, calls = target.record("-e", f"inject={name}:error={ERRORS.get(name, 'EPERM')}:when={number}")
		line = next((line for _, _, line in calls if "(INJECTED)" in line), None)
		failed += line is not None # in another run, the call may be one of the program
		problem = target.wrong(result, good) if line else None
		if problem:
			results.append(f"{line}: {problem}: {result.stderr[-500:]}")
	print(f"{failed} of {len(candidates)} system calls failed")
	assert failed > len(tried) / 2
	assert not results, f"{len(results)} of {failed}\n" + "\n".join(results[:10])
