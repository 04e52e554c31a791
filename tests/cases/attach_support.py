"""Programs that run before cpprof attaches to them, and make events when the test orders it (tests/programs/attached.c, replaced.c)."""
import signal
import subprocess
import time

from record_support import COUNTED, CPPROF, Recorded

EACH = 5 # the events of each thread or process of attached.c in a turn
EVENT_US = 4000


class Running:
	"""A program that runs until the test ends."""

	def __init__(self, *command, **options):
		self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
		self.pid = self.process.pid
		assert self.process.stdout.readline() == "ready\n"

	def __enter__(self):
		return self

	def __exit__(self, *_):
		if self.process.poll() is None:
			self.process.kill()
		self.process.wait()
		self.process.stdin.close()
		self.process.stdout.close()

	def turn(self, turns=1):
		"""Lets the program make its events, and waits until it has."""
		for _ in range(turns):
			self.process.stdin.write("x")
			self.process.stdin.flush()
			assert self.process.stdout.readline() == "done\n"

	def end(self):
		"""Ends the program's input. Returns its status."""
		self.process.stdin.close()
		return self.process.wait(timeout=60)


def begin(folder, *words, name="out.data", before=(), program=CPPROF):
	"""Starts a recording, and returns when it has begun."""
	path = folder / name
	recorder = subprocess.Popen([*map(str, before), program, "record", "-o", path, *map(str, words)], cwd=folder, stderr=subprocess.PIPE, text=True)
	while not path.exists():
		assert recorder.poll() is None, recorder.stderr.read()
		time.sleep(0.005)
	return recorder, path


def end(recorder, path, interrupt=True):
	"""Ends a recording, or waits for its end. Returns it."""
	if interrupt:
		recorder.send_signal(signal.SIGINT)
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 0, err
	recorded = Recorded(subprocess.CompletedProcess([], 0, "", err), path)
	assert recorded.closing()[1] == 0, err
	return recorded


def attach(folder, backend, *words, until, resource=None, **options):
	"""Records the events of running programs while `until` runs."""
	recorder, path = begin(folder, "--backend", backend, "-r", resource or COUNTED[backend][1], *words, **options)
	until()
	return end(recorder, path)
