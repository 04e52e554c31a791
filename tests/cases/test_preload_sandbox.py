"""Programs that forbid themselves system calls by seccomp end and print as without us, whatever measures them from inside."""
import subprocess

import pytest
from record_support import build, hits, record, run_cpprof, show

SECONDS = 60
INSIDE = 200 * 1000 # bytes that the program writes after it has forbidden itself system calls
FINDING = "forbids itself system calls"

# {way: (may ticks go on, are writes counted)}
WAYS = {
	"strict": (False, False),
	"strict by seccomp": (False, False),
	"kill": (False, False),
	"trap": (False, False),
	"stacked": (False, False),
	"no timers": (False, True),
	"no parent": (True, True),
	"invalid": (True, True),
	"one thread": (True, False),
	"all threads": (False, False),
}
OPTIONS = {
	"time": ["--backend", "preload", "-r", "cpu/200us", "-r", "real/200us", "-r", "write-bytes/1000"],
	"everything": ["--backend", "preload", "-r", "real/200us", "-r", "blocked/200us", "-r", "io-time/20us", "-r", "lock-wait/20us",
		"-r", "allocs/1", "-r", "fp-inexact/100"],
}
HOOKS = ["-finstrument-functions", "-fno-inline"]


def same_as_alone(program, way, folder, *options):
	alone = subprocess.run([program, way], capture_output=True, text=True, check=False, timeout=SECONDS)
	assert alone.returncode in (3, 5) and "refused" not in alone.stdout and "other" not in alone.stdout, alone.stdout
	recorded = record(folder, [program, way], *options)
	assert (recorded.status, recorded.out) == (alone.returncode, alone.stdout), recorded.err
	return recorded


@pytest.mark.parametrize("what", OPTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_goes_on_as_without_us(way, what, tmp_path):
	goes_on, counts = WAYS[way]
	recorded = same_as_alone(build("sandboxes.c"), way, tmp_path, *OPTIONS[what])
	assert (FINDING in recorded.err) == (not goes_on or way == "one thread"), recorded.err
	if what != "time":
		return
	paths, written = recorded.paths("cpu"), recorded.paths("write-bytes")
	assert hits(paths, "main") > 0, recorded.err
	assert (hits(paths, "work_inside") > 0) == goes_on, show(paths)
	if counts: # each 1,000th byte from a random one on; the program also writes a line
		assert sum(written.values()) in (INSIDE // 1000, INSIDE // 1000 + 1), show(written)
		assert hits(written, "work_inside", "write") in (INSIDE // 1000 - 1, INSIDE // 1000), show(written)


@pytest.mark.parametrize("measurement", ["paths", "paths-timed", "trace"])
@pytest.mark.parametrize("way", ["strict", "kill", "trap", "no timers", "one thread",
	pytest.param("all threads", marks=pytest.mark.long("left the gate on 2026-11-28: once the sandbox killed the program"))])
def test_goes_on_with_hooks(way, measurement, tmp_path):
	recorded = same_as_alone(build("sandboxes.c", *HOOKS), way, tmp_path, f"--instrumented={measurement}", "-r", "cpu/200us")
	assert FINDING in recorded.err + run_cpprof("info", recorded.path).stdout, recorded.err
	calls = recorded.paths("calls")
	assert calls["main", "work_before"] == 1, show(calls)
	if way != "strict" or measurement == "paths": # in strict mode there are no time stamps
		assert hits(calls, "work_inside") > 1, show(calls)
