"""`cpprof record` started by a parent that ignores signals: by nohup, or in the background of a script."""
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from record_support import CPPROF

SECONDS_ALLOWED = 60


def recorder_that_ignores(signals, *words, **options):
	"""Starts `cpprof record` with these signals ignored."""
	def ignore():
		for number in signals:
			signal.signal(number, signal.SIG_IGN)

	return subprocess.Popen([CPPROF, "record", *map(str, words)], preexec_fn=ignore, stderr=subprocess.PIPE, text=True, **options)


def wait_until_it_records(recorder, path):
	end = time.monotonic() + SECONDS_ALLOWED
	while not path.exists() or path.stat().st_size == 0:
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.02)


def has_handled_signals(recorder):
	"""Returns whether the kernel has no pending signal for the process: the recorder has read those that were sent."""
	with open(f"/proc/{recorder.pid}/status") as status:
		pending = [line for line in status if line.startswith(("SigPnd", "ShdPnd"))]
	return all(int(line.split()[1], 16) == 0 for line in pending)


def wait_until_handled(recorder):
	end = time.monotonic() + SECONDS_ALLOWED
	while not has_handled_signals(recorder):
		assert time.monotonic() < end
		time.sleep(0.01)


def test_an_ignored_hangup_does_not_end_the_recording(tmp_path, server):
	"""As under nohup, a hangup does not end the recording. An interrupt that is sent to the recorder does, although it was
	started with interrupts ignored, as the background job of a script."""
	path = tmp_path / "out.data"
	recorder = recorder_that_ignores([signal.SIGHUP, signal.SIGINT], "-p", server.pid, "-o", path)
	wait_until_it_records(recorder, path)
	recorder.send_signal(signal.SIGHUP)
	wait_until_handled(recorder)
	with pytest.raises(subprocess.TimeoutExpired):
		recorder.wait(timeout=0.5)
	recorder.send_signal(signal.SIGINT)
	_, err = recorder.communicate(timeout=SECONDS_ALLOWED)
	assert recorder.returncode == 0, err
	assert re.search(r"\d+ samples", err)


@pytest.mark.parametrize("name", ["INT", "QUIT", "HUP"])
def test_an_ignored_signal_ends_neither_command_nor_recording(tmp_path, name):
	"""The command ignores the signal as well. It ends when its input ends."""
	path = tmp_path / "out.data"
	number = getattr(signal, f"SIG{name}")
	recorder = recorder_that_ignores([number], "-o", path, "--", "cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	wait_until_it_records(recorder, path)
	recorder.send_signal(number)
	wait_until_handled(recorder)
	out, err = recorder.communicate("still here\n", timeout=SECONDS_ALLOWED)
	assert (recorder.returncode, out) == (0, "still here\n"), err


def test_an_interrupt_key_that_is_ignored(tmp_path, server):
	"""^C on the terminal of a recorder that ignores it has no effect. Afterwards `kill -INT` ends the recorder."""
	path = tmp_path / "out.data"
	master, slave = pty.openpty()

	def on_the_terminal():
		os.setsid()
		os.close(master)
		os.close(os.open(os.ttyname(slave), os.O_RDWR))  # becomes the controlling terminal
		signal.signal(signal.SIGINT, signal.SIG_IGN)

	recorder = subprocess.Popen([CPPROF, "record", "-p", str(server.pid), "-o", str(path)], preexec_fn=on_the_terminal, stdin=slave,
		stdout=slave, stderr=subprocess.PIPE, text=True)
	try:
		wait_until_it_records(recorder, path)
		os.write(master, b"\x03")
		with pytest.raises(subprocess.TimeoutExpired):
			recorder.wait(timeout=0.5)
		recorder.send_signal(signal.SIGINT)
		_, err = recorder.communicate(timeout=SECONDS_ALLOWED)
		assert recorder.returncode == 0, err
	finally:
		os.close(master)
		os.close(slave)


def test_an_interrupt_ends_the_wait_for_a_reader(tmp_path):
	"""A profile that goes to a FIFO waits for who reads it."""
	os.mkfifo(tmp_path / "out")
	recorder = subprocess.Popen([CPPROF, "record", "--backend", "preload", "-o", tmp_path / "out", "--", "true"],
		preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
	try:
		for _ in range(20): # it sleeps, and nothing else wakes it
			while Path(f"/proc/{recorder.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "S":
				time.sleep(0.01)
			time.sleep(0.01)
		assert Path(f"/proc/{recorder.pid}/exe").resolve() == Path(CPPROF).resolve()
		recorder.send_signal(signal.SIGINT)
		assert recorder.wait(60) == -signal.SIGINT
	finally:
		recorder.kill()
		recorder.wait()
