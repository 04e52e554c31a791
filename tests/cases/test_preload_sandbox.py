"""Programs that forbid themselves system calls by seccomp end and print as without us, whatever measures them from inside."""
import os
import re
import subprocess
from pathlib import Path

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
	if counts: # one random byte of each 1,000; a line that the program writes first moves the borders of these thousands
		assert sum(written.values()) in (INSIDE // 1000, INSIDE // 1000 + 1), show(written)
		assert hits(written, "work_inside", "write") in (INSIDE // 1000 - 1, INSIDE // 1000, INSIDE // 1000 + 1), show(written)


@pytest.mark.parametrize("measurement", ["paths", "paths-timed", "trace"])
@pytest.mark.parametrize("way", ["strict", "kill", "trap", "no timers", "one thread", "all threads"])
def test_goes_on_with_hooks(way, measurement, tmp_path):
	recorded = same_as_alone(build("sandboxes.c", *HOOKS), way, tmp_path, f"--instrumented={measurement}", "-r", "cpu/200us")
	assert FINDING in recorded.err + run_cpprof("info", recorded.path).stdout, recorded.err
	calls = recorded.paths("calls")
	assert calls["main", "work_before"] == 1, show(calls)
	if way != "strict" or measurement == "paths": # in strict mode there are no time stamps
		assert hits(calls, "work_inside") > 1, show(calls)


# --- programs that are executed under a filter ---

OTHER_LIBRARY = "libm.so.6" # which the user preloads, and the new program still gets
EXECUTING = ["execv", "execve", "execvpe", "execl", "execle", "fork", "posix_spawn", "system"]


@pytest.mark.parametrize("where", ["process", "thread"])
@pytest.mark.parametrize("way", EXECUTING)
@pytest.mark.parametrize("how", ["--backend=preload", "--instrumented"])
def test_filters_stay_over_exec(how, way, where, tmp_path):
	"""The new program would not have the copies of its filters, and the agent's system calls would end it: it gets no library of ours."""
	program = build("filtered_exec.c", *(HOOKS if how == "--instrumented" else []))
	recorded = record(tmp_path, [program, way, where], how, env={**os.environ, "LD_PRELOAD": OTHER_LIBRARY})
	assert (recorded.status, recorded.out) == (5, f"{OTHER_LIBRARY}\n"), recorded.err
	assert FINDING in recorded.err
	if how != "--instrumented" and way.startswith("exec"):
		assert "was not recorded: a seccomp filter forbids system calls of the library" in recorded.err


def test_filters_that_return_errors_harm_nothing(tmp_path):
	recorded = record(tmp_path, [build("filtered_exec.c"), "execv", "errors"], "--backend=preload")
	assert (recorded.status, recorded.out) == (5, "with the library\n"), recorded.err
	assert FINDING in recorded.err and "ulimit" not in recorded.err and "limit 2048" not in recorded.err


def calls_in(*paths):
	"""The system calls that the agent makes by machine_syscall in these sources."""
	return {name for path in paths for name in re.findall(r"\bmachine_syscall\(\s*(SYS_\w+)", path.read_text())}


def test_examined_calls_are_all():
	"""The tables of calls that a filter must not harm are those in the sources."""
	agent = Path(__file__).parents[2] / "src/collect/agent"
	listed = [set(re.findall(r"\{ (SYS_\w+)", (agent / name).read_text())) for name in ("interpose/successor.c", "hooks/calls.c")]
	own = {"hooks", "probes", "control"}
	folders = [folder for folder in agent.iterdir() if folder.is_dir() and folder.name not in {"wrap", "jvm", *own}]
	processor = sorted((agent.parents[1] / "arch").glob("*/agent/*"))
	of_all = calls_in(*processor, *(path for folder in folders for path in folder.glob("*.[ch]")))
	of_hooks = calls_in(*(path for name in own for path in (agent / name).glob("*.[ch]")))
	by_others = {"SYS_newfstatat", "SYS_rt_sigaction", "SYS_rt_sigreturn"} # which the C library and the kernel make
	assert (listed[0], listed[1]) == (of_all | by_others, of_hooks - of_all - by_others)
