"""Profiles that another user may have written: they name files that their reader must not open, or take long to read. The tables are those of
docs/format.md, by the helpers of the fuzzer's corpus."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import REPOSITORY
from record_support import CPPROF, build

sys.path.insert(0, str(REPOSITORY / "tests/fuzz"))
from corpus_profile_file import block, column, file_header, table # noqa: E402

MINOR = 8
ROWS = 65536 # of the largest block
HERE = os.uname().nodename
TEXTS = ["cpu", "CPU Time", "ns", "main", "work", "reached the root", "host", "directory"]


def user_of(number):
	"""The column "user" of processes; None: not known."""
	return 0 if number is None else number + 1


def profile(sources, modules=("/bin/prog",), user=None, host=HERE, directory=None, symbolized=True):
	"""The bytes of a profile of main and `work`, which has code of each source and is in each module."""
	texts = [*TEXTS, host, directory or "/", *sources, *modules]
	names = [text.encode() for text in dict.fromkeys(texts)]
	numbers = {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}
	source, module = [numbers[text] for text in sources], [numbers[text] for text in modules]
	count = len(source)
	blocks = [
		table(2, 0, [10**9], [3 * 10**9], [0], [0], [int(symbolized)]),
		block(1, len(names), 1, column([len(name) for name in names]) + b"".join(names)),
		table(3, 0, [numbers["host"], numbers["directory"]], [numbers[host], numbers[directory or "/"]]),
		table(4, 0, [1], [2], [3], [0], [0], [0], [10**6], [0], [0]),
		table(5, 0, [4242], [1], [5], [10**6], [0], [0], [user_of(user)]),
		table(6, 0, [4242], [0], [5], [10**6], [0]),
		table(7, 0, module, [0] * len(module), [20] * len(module), *[[number + 1] * len(module) for number in range(4)]),
		table(8, 0, [6], [2], [1], [0]),
		table(9, 0, [*range(len(module)), 0], [*[0x1100] * len(module), 0x1000]),
		table(10, 1, [0, *[number + 1 for number in range(len(module))]], [len(module), *range(len(module))]),
		table(14, 0, [10**6] * 2, [1] * 2, [len(module) + 1, 1], [0] * 2, [3, 1]),
	]
	if symbolized:
		blocks += [
			table(11, 0, [5, 4], [0, 0], [1, 1], [source[0]] * 2, [1, 1], [0, 2]),
			table(12, 0, [0] * count + [1], [*source, source[0]], [1] * (count + 1), [1] * (count - 1) + [0, 0]),
			table(13, 0, [1] * len(module) + [count + 1], [count] * len(module) + [1]),
		]
	return file_header(minor=MINOR) + b"".join(blocks) + block(0, 0, 0, b"")


# --- profiles that take long to read ---

def head():
	names = [b"cpu", b"CPU Time", b"ns", b"main", b"work", b"/bin/prog", b"reached the root", b"f.c"]
	return [
		table(2, 0, [10**9], [3 * 10**9], [0], [0], [1]),
		block(1, len(names), 1, column([len(name) for name in names]) + b"".join(names)),
		table(4, 0, [1], [2], [3], [0], [0], [0], [10**6], [0], [0]),
		table(5, 0, [100], [1], [6], [10**6], [0], [0], [0]),
		table(6, 0, [100], [0], [6], [10**6], [0]),
		table(7, 0, [6], [0], [0], [0], [0], [0], [0]),
		table(8, 0, [7], [6], [1], [0]),
		table(11, 0, [5], [0], [1], [8], [1], [0]),
	]


def whole(*blocks):
	return file_header(minor=MINOR) + b"".join([*head(), *blocks]) + block(0, 0, 0, b"")


def chain(count):
	"""A path of count * ROWS nodes at one location."""
	return [table(10, 1 + i * ROWS, [*range(i * ROWS, i * ROWS + ROWS)], [0] * ROWS, delta=(0,)) for i in range(count)]


def spread(count):
	"""A hit at each node of such a path."""
	return [table(14, i * ROWS, [*range(10**6 + i * ROWS, 10**6 + i * ROWS + ROWS)], [1] * ROWS, [*range(1 + i * ROWS, 1 + i * ROWS + ROWS)], [0] * ROWS,
		[1] * ROWS, delta=(0, 2)) for i in range(count)]


def inlined(count):
	"""count * ROWS frames, each in a line of its own."""
	return [table(12, i * ROWS, [0] * ROWS, [8] * ROWS, [*range(i * ROWS, i * ROWS + ROWS)], [1] * ROWS, delta=(2,)) for i in range(count)]


ONE_FRAME = [table(12, 0, [0], [8], [3], [0]), table(13, 0, [1], [1])]


def deep_path(count, is_recursion):
	"""A path of count * ROWS nodes, each with a hit: all at one location, or each at a location and in a function of its own."""
	if is_recursion:
		return whole(table(9, 0, [0], [0x1000]), *chain(count), *spread(count), *ONE_FRAME)
	rows = [range(i * ROWS, i * ROWS + ROWS) for i in range(count)]
	names = [[b"f%d" % i for i in row] for row in rows]
	texts = [block(1, ROWS, 9 + row[0], column([len(name) for name in some]) + b"".join(some)) for row, some in zip(rows, names)]
	same = [0] * ROWS
	functions = [table(11, 1 + row[0], [9 + i for i in row], same, [1] * ROWS, [8] * ROWS, [1] * ROWS, same, delta=(0,)) for row in rows]
	locations = [table(9, row[0], same, [0x1000 + i for i in row], delta=(1,)) for row in rows]
	nodes = [table(10, 1 + row[0], [*row], [*row], delta=(0, 1)) for row in rows]
	frames = [table(12, row[0], [1 + i for i in row], [8] * ROWS, [1] * ROWS, same, delta=(0,)) for row in rows]
	first_frames = [table(13, row[0], [1 + i for i in row], [1] * ROWS, delta=(0,)) for row in rows]
	return whole(*texts, *functions, *locations, *nodes, *spread(count), *frames, *first_frames)


def bombs():
	"""{name: the bytes of a small profile whose expanded form is large}."""
	hit = table(14, 0, [10**6], [1], [1], [0], [1])
	below = table(10, 1, [0], [0])
	place = table(9, 0, [0], [0x1000])
	return {
		"inlined at one place": whole(place, below, hit, *inlined(1), table(13, 0, [1], [ROWS])),
		"inlined at each place": whole(place, *chain(1), *spread(1), *inlined(1), table(13, 0, [1], [ROWS])),
		"a million inlined": whole(place, *chain(1), table(14, 0, [10**6], [1], [ROWS], [0], [1]), *inlined(16), table(13, 0, [1], [16 * ROWS])),
		"shared frames": whole(table(9, 0, [0] * ROWS, [*range(ROWS)], delta=(1,)), table(10, 1, [0] * ROWS, [*range(ROWS)], delta=(1,)), *spread(1),
			*inlined(1), table(13, 0, [1] * ROWS, [ROWS] * ROWS)),
		"deep": whole(place, *chain(1), *spread(1), *ONE_FRAME),
	}


# --- which files are opened ---

CANNOT = 77


class Watched:
	"""A run of cpprof, and the files that it opened: [("read", path), ...]."""

	def __init__(self, folder, *words, stdin="", seconds=60):
		log = Path(folder) / "opens.log"
		command = [build("watch_opens.c"), log, CPPROF, *words]
		self.run = subprocess.run([*map(str, command)], cwd=folder, input=stdin, capture_output=True, text=True, errors="replace", check=False,
			timeout=seconds, env={**os.environ, "LC_ALL": "C.UTF-8"})
		if self.run.returncode == CANNOT:
			pytest.skip("the system calls of a process cannot be watched here")
		self.opened = [tuple(line.split(" ", 1)) for line in log.read_text(errors="replace").splitlines()]
		log.unlink()

	def opens(self, path):
		return [kind for kind, name in self.opened if name == str(path) and kind != "name"]

	def foreign(self, *own):
		"""The files that it opened, except these and the files of the system: its libraries, its languages, what the kernel writes about itself."""
		system = ("/lib", "/usr/lib", "/usr/share/locale", "/etc/ld.so.", "/proc/self/", "/sys/devices/system/cpu", "/dev/null")
		own = tuple(map(str, own))
		return sorted({name for kind, name in self.opened if kind != "name" and not name.startswith((*system, *own))})
