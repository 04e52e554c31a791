"""`cpprof browse` in a pseudo terminal: sends keys, and reads what a person would see."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pyte
from cli_support import CPPROF

SECONDS_ALLOWED = 60
# pyte knows what the Linux console does, but not all of what xterm does.
KEYS = {"enter": "\r", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "escape": "\x1b", "backspace": "\x7f",
	"page down": "\x1b[6~", "page up": "\x1b[5~", "home": "\x1b[1~", "end": "\x1b[4~", "space": " "}


class Browser:
	"""One run. Each call waits until the screen shows what the test expects."""
	command = "browse"

	def __init__(self, *words, folder=None, rows=24, columns=80, **environment):
		self.screen = pyte.Screen(columns, rows)
		self.stream = pyte.ByteStream(self.screen)
		self.written = b""
		self.pid, self.terminal = pty.fork()
		if self.pid == 0:
			for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT): # our parent may ignore them, as nohup does
				signal.signal(number, signal.SIG_DFL)
			if folder:
				os.chdir(folder)
			settings = {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8", "TZ": "UTC", **environment}
			settings.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
			fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
			os.execve(CPPROF, [CPPROF, self.command, *map(str, words)], settings)
		self.status = None

	def __enter__(self):
		return self

	def __exit__(self, *_):
		if self.status is None:
			os.kill(self.pid, signal.SIGKILL)
			os.waitpid(self.pid, 0)
		os.close(self.terminal)

	def read(self):
		"""Reads what the program writes for a moment. Returns False once it has ended."""
		ready, _, _ = select.select([self.terminal], [], [], 0.05)
		if not ready:
			return True
		try:
			data = os.read(self.terminal, 65536)
		except OSError:
			return False
		self.written += data
		self.stream.feed(data)
		return bool(data)

	def lines(self):
		return [line.rstrip() for line in self.screen.display]

	def text(self):
		return "\n".join(self.lines())

	def wait_for(self, condition, what):
		"""Waits until the condition holds for the screen. Returns what it returns."""
		end = time.monotonic() + SECONDS_ALLOWED
		while not (found := condition()) or self.is_drawing():
			assert self.read() and time.monotonic() < end, f"{what} is not on the screen:\n{self.text()}"
		return found

	def is_drawing(self):
		"""Whether a part of the screen is still to be read."""
		size = len(self.written)
		self.read()
		return len(self.written) != size

	def wait(self, pattern):
		"""Waits until the screen has a match. Returns it."""
		return self.wait_for(lambda: re.search(pattern, self.text(), re.M), repr(pattern))

	def send(self, *keys):
		for key in keys:
			os.write(self.terminal, KEYS.get(key, key).encode())

	def click(self, row_or_button, wheel=False):
		"""Returns what xterm sends for a press of the left button in a row (from 0), or of a button of the wheel."""
		button, row = (row_or_button, 5) if wheel else (0, row_or_button)
		return f"\x1b[<{button};10;{row + 1}M\x1b[<{button};10;{row + 1}m"

	def press(self, *keys, until):
		"""Sends keys and waits for what they make the screen show."""
		self.send(*keys)
		return self.wait(until)

	def resize(self, rows, columns):
		self.screen.resize(rows, columns)
		fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

	def end(self, *keys):
		"""Sends the last keys, and waits for the end. Returns the exit status, negative for a signal."""
		self.send(*keys)
		end = time.monotonic() + SECONDS_ALLOWED
		while self.read():
			assert time.monotonic() < end, self.text()
		self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
		return self.status

	def rows(self):
		"""The rows of a tree or of the functions: [(percent with callees, own percent, depth, name)]."""
		found = []
		for line in self.lines()[3:-1]:
			row = re.match(r"(.{14})(.{14}).{11}  ((?:  )*)[▾▸ ] (\S.*)$", line)
			if row:
				found.append((percent(row[1]), percent(row[2]), len(row[3]) // 2, row[4]))
		return found


def percent(text):
	number = re.match(r"\s*([\d.]+) %", text)
	return float(number[1]) if number else 0.0
