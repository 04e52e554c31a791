"""Commands on a terminal of their own."""
import fcntl
import os
import struct
import subprocess
import termios
import threading

from cli_support import CPPROF, SECONDS_ALLOWED

END = b"\0the end\0" # no program of the tests writes it


def open_terminal(columns=80, rows=24):
	"""Returns both ends of a terminal: the end to read from, and the end that a command writes to."""
	master, slave = os.openpty()
	fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
	return master, slave


def read_to_the_end(process, master, slave):
	"""Returns what the terminal gets until the end of the process. Closes both ends.

	We keep the command's end open until all has come. A read of a terminal that no process has open may miss the last lines: the
	kernel looks for lines first, and afterwards whether somebody has it open."""
	def end_it():
		process.wait(SECONDS_ALLOWED)
		os.write(slave, END)

	waiter = threading.Thread(target=end_it)
	waiter.start()
	data = b""
	while not data.endswith(END):
		data += os.read(master, 65536)
	waiter.join()
	os.close(slave)
	os.close(master)
	return data.removesuffix(END)


def on_terminal(*words, folder, columns=80, rows=24, status=0, **environment):
	"""Runs cpprof on a terminal, without colours and without a pager. Returns what it prints. A variable that is None is not set."""
	master, slave = open_terminal(columns, rows)
	settings = {**os.environ, "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8", "CPPROF_PAGER": "", **environment}
	for name in [name for name, value in settings.items() if value is None]:
		del settings[name]
	process = subprocess.Popen([CPPROF, *words], cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=settings, start_new_session=True)
	data = read_to_the_end(process, master, slave)
	assert process.returncode == status, data
	return data.decode().replace("\r\n", "\n")
