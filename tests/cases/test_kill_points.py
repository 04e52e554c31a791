"""
The recorder or the target is killed at random moments, also while they start. The target ends as it would have ended alone, the
profile is readable, and nothing else is left on the system.
"""
import concurrent.futures
import functools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import CPPROF, REPOSITORY
from record_support import SECONDS_ALLOWED, build, needs_bpf, needs_perf, run_cpprof

sys.path.insert(0, str(REPOSITORY / "tests/decoder"))
import decode # noqa: E402

pytestmark = pytest.mark.long("processes are killed at many moments")

MOMENTS = 40
AT_ONCE = 5
LATEST_S = 0.7 # the program works for 0.6 s
SHARED = [Path("/dev/shm"), Path("/sys/fs/bpf")]
ROUNDS = 450 # of 10 ms
KILLS = 4
FIRST_S, LAST_S = 2, 3.9
LOST_S = 1.1 # the file grows each second
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]


def wait_until(condition, said):
	end = time.monotonic() + SECONDS_ALLOWED
	while not (result := condition()):
		assert time.monotonic() < end, said()
		time.sleep(0.01)
	return result


def target_of(recorder, program):
	"""Returns the pid of the recorder's child once it runs the program, or None if the recorder has ended."""
	def find():
		if recorder.poll() is not None:
			return [None]
		try:
			for child in Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split():
				if os.readlink(f"/proc/{child}/exe") == program:
					return [int(child)]
		except OSError:
			pass
		return None
	return wait_until(find, lambda: f"{program} never starts")[0]


def kill_at(folder, moment, victim, number, backend, program):
	"""Kills the recorder or its target at a moment (seconds after the recorder's start, or after the target's). Returns what is wrong."""
	folder.mkdir()
	temporary = folder / "temporary"
	temporary.mkdir()
	done, path = folder / "done", folder / "out.data"
	command = [CPPROF, "record", "--backend", backend, "-r", "cpu/200us", "-o", str(path), "--", program, str(done)]
	recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
		env={**os.environ, "TMPDIR": str(temporary)}, preexec_fn=restore_signals)
	target = target_of(recorder, program) if victim == "target" else None
	time.sleep(moment)
	try:
		os.kill(target or recorder.pid, number)
	except ProcessLookupError:
		pass # it has ended
	_, err = recorder.communicate(timeout=SECONDS_ALLOWED)
	killed = recorder.returncode != 0
	if victim == "recorder" and number == signal.SIGKILL:
		# The program ends by itself, if the recorder had started it.
		wait_until(lambda: not alive(program, done), lambda: f"the target of {recorder.pid} runs on")
	elif killed and recorder.returncode not in (128 + number, -number):
		return f"status {recorder.returncode}: {err}"
	written = [expected(program)] if victim == "recorder" and number == signal.SIGKILL else [expected(program), ""]
	if done.exists() and done.read_text() not in written: # a signal may end the target between its creation of the file and its write
		return f"the target wrote {done.read_text()!r}"
	if not killed and not done.exists():
		return f"the target did not end, and the status is 0: {err}"
	if path.exists():
		info = run_cpprof("info", path)
		if info.returncode != 0 and path.stat().st_size:
			return f"killed, status {recorder.returncode}: {info.stderr}"
	elif not killed:
		return f"no profile: {err}"
	if victim == "recorder" and number == signal.SIGKILL:
		# The next recording removes the file that would have become the profile.
		run_cpprof("record", "--backend", backend, "-o", path, "--", "/bin/true")
		(folder / "out.data.old").unlink(missing_ok=True)
	left = sorted(entry.name for entry in folder.iterdir() if entry.name not in ("out.data", "done", "temporary")) + os.listdir(temporary)
	return f"left: {left}" if left else None


def restore_signals():
	"""pytest may have been started with ignored signals."""
	for number in SIGNALS[1:]:
		signal.signal(number, signal.SIG_DFL)


def alive(program, done):
	"""Returns whether a process runs the program with this file as its argument."""
	for entry in Path("/proc").iterdir():
		if entry.name.isdigit():
			try:
				if (entry / "cmdline").read_bytes().split(b"\0")[:2] == [program.encode(), str(done).encode()]:
					return True
			except OSError:
				pass
	return False


@functools.cache
def expected(program, *words):
	return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def shared_names():
	"""The folder of the control sockets stays: it belongs to the user, not to a recording."""
	ours = {str(entry) for entry in Path("/tmp").iterdir() if "cpprof" in entry.name} - {f"/tmp/cpprof-{os.getuid()}"}
	return ours | {str(entry) for folder in SHARED if folder.is_dir() for entry in folder.iterdir()}


def await_clean(before):
	"""Other tests run at the same time, and what they create disappears."""
	left = shared_names() - before
	wait_until(lambda: not (left & shared_names()), lambda: f"left: {sorted(left & shared_names())}")


@pytest.mark.parametrize("backend", BACKENDS)
def test_killed_at_any_moment(tmp_path, backend):
	program = build("steady.c")
	expected(program)
	before = shared_names()
	rng = random.Random(f"1993 {backend}")
	points = [(rng.uniform(0, LATEST_S), victim, number) for _ in range(MOMENTS // 6 + 1) for victim in ("recorder", "target")
		for number in SIGNALS][:MOMENTS]
	with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
		results = list(pool.map(lambda item: kill_at(tmp_path / str(item[0]), *item[1], backend, program), enumerate(points)))
	wrong = [(point, result) for point, result in zip(points, results) if result]
	assert not wrong, wrong
	await_clean(before)


def delay_s(*pids):
	"""Returns for how long the main threads of these processes have waited for a processor, and the processors for their host."""
	ticks = int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])
	waited_ns = sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) for pid in pids)
	return waited_ns / 1e9 + ticks / os.sysconf("SC_CLK_TCK")


def kill_late(folder, after_s, backend, program):
	"""Kills the recorder so long after its file exists. Returns the seconds from the last sample in the file to the kill,
	without those in which recorder or target could not run."""
	folder.mkdir()
	done, path, temporary = folder / "done", folder / "out.data", folder / "temporary"
	temporary.mkdir()
	command = [CPPROF, "record", "--backend", backend, "-r", "cpu/200us", "-o", path, "--", program, done, str(ROUNDS)]
	recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
		env={**os.environ, "TMPDIR": str(temporary)}, preexec_fn=restore_signals)
	target = target_of(recorder, program)
	wait_until(path.exists, lambda: "the first block is never written")
	time.sleep(after_s - LOST_S)
	before_s = delay_s(recorder.pid, target)
	time.sleep(LOST_S)
	delayed_s = delay_s(recorder.pid, target) - before_s
	killed_ns = time.monotonic_ns()
	recorder.kill()
	recorder.communicate(timeout=SECONDS_ALLOWED)
	assert recorder.returncode == -signal.SIGKILL, "the program ended before the kill"
	assert os.listdir(temporary) == []
	info = run_cpprof("info", path)
	assert info.returncode == 0, info.stderr
	profile = decode.Profile(path.read_bytes())
	wait_until(lambda: not alive(program, done), lambda: f"the target of {recorder.pid} runs on")
	assert done.read_text() == expected(program, "/dev/stdout", str(ROUNDS))
	assert not profile.ended and len(profile.hits) > 0
	return killed_ns / 1e9 - max(hit["time"] for hit in profile.hits) / 1e6 - delayed_s


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.measured("processes that run meanwhile delay the recorder and the target, also where the kernel does not count it")
def test_a_killed_recorder_loses_the_last_second_only(tmp_path, backend):
	"""At random moments beyond 2 s, one in each quarter of the time. What was recorded earlier is in the file, and nothing else is
	left."""
	program = build("steady.c")
	expected(program, "/dev/stdout", str(ROUNDS))
	before = shared_names()
	rng = random.Random(f"2 s {backend}")
	with concurrent.futures.ThreadPoolExecutor(KILLS) as pool:
		moments = [FIRST_S + (number + rng.random()) * (LAST_S - FIRST_S) / KILLS for number in range(KILLS)]
		lost = list(pool.map(lambda item: kill_late(tmp_path / str(item[0]), item[1], backend, program), enumerate(moments)))
	assert max(lost) <= LOST_S, lost
	await_clean(before)
