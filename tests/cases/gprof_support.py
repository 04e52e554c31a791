"""Helpers for the tests of `cpprof gprof`: they build programs, produce gmon.out files (by the C library's runtime, and made up), and
compare the output of Debian's gprof with ours."""
import difflib
import functools
import os
import random
import re
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from hooks_support import compile_once
from record_support import CHECKED, CPPROF, PROGRAMS, SECONDS_ALLOWED

FOLDER = PROGRAMS / "gprof"
SOURCES = {
	"expressions": ["expressions.c", "other.c"],
	"shapes": ["shapes.cpp"],
	"many": ["many.c"],
}
CXX = {"gcc": "g++", "clang": "clang++"}
# binutils 2.40 takes the second entry of DWARF 5's file table for the first, and so reports functions of a header as functions of the .c
# file.
DEBUG = ["-gdwarf-4"]


def program(name, *flags, compiler="gcc", level="-O0", debug=DEBUG):
	"""Builds a program with mcount, once. Returns its path."""
	sources = [FOLDER / source for source in SOURCES[name]]
	driver = CXX[compiler] if sources[0].suffix == ".cpp" else compiler
	return compile_once([driver, "-pg", level, *CHECKED, *debug, f"-I{FOLDER}", *flags], sources, name)


@functools.cache
def run_of(path):
	"""Runs the program. Returns the path of the gmon.out file that the C library wrote when it ended."""
	prefix = Path(f"{path}.{os.getpid()}.gmon")
	result = subprocess.run([path], check=False, env={**os.environ, "GMON_OUT_PREFIX": str(prefix)}, cwd=path.parent,
		timeout=SECONDS_ALLOWED)
	assert result.returncode == 0
	written, = path.parent.glob(f"{prefix.name}.*")
	return written.rename(f"{path}.gmon")


@dataclass
class Gmon:
	"""The content of a gmon.out file that a test writes."""
	histograms: list = field(default_factory=list)
	arcs: list = field(default_factory=list)
	blocks: list = field(default_factory=list)
	rate: int = 100

	def bytes(self):
		parts = [b"gmon" + struct.pack("<I12x", 1)]
		for low, high, bins in self.histograms:
			parts.append(b"\0" + struct.pack("<QQII15sc", low, high, len(bins), self.rate, b"seconds", b"s"))
			parts.append(struct.pack(f"<{len(bins)}H", *bins))
		parts += [b"\1" + struct.pack("<QQI", *arc) for arc in self.arcs]
		if self.blocks:
			parts.append(b"\2" + struct.pack("<I", len(self.blocks)))
			parts += [struct.pack("<QQ", *block) for block in self.blocks]
		return b"".join(parts)

	def write(self, path):
		Path(path).write_bytes(self.bytes())
		return path


@functools.cache
def symbols(path):
	"""{name: address} of the symbols in .text; one address if several symbols have the same name."""
	lines = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines()
	return {line.split()[2]: int(line.split()[0], 16) for line in lines if re.match(r"[0-9a-f]+ [tT] ", line)}


@functools.cache
def text_range(path):
	lines = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
	address, size = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", lines).groups()
	return int(address, 16), int(address, 16) + int(size, 16)


@functools.cache
def line_addresses(path):
	"""The sorted addresses at which rows of the line table begin."""
	lines = subprocess.run(["objdump", "--dwarf=decodedline", path], check=True, capture_output=True, text=True).stdout
	return sorted({int(address, 16) for address in re.findall(r"^\S+ +\d+ +(0x[0-9a-f]+)", lines, re.MULTILINE)})


def made_up(path, seed, arcs=400, samples=3000, bin_bytes=4, blocks=0):
	"""Returns a Gmon with calls between random functions of a program, and so with many cycles, and with samples at random addresses."""
	chance = random.Random(seed)
	low, high = text_range(path)
	starts = sorted(address for address in symbols(path).values() if low <= address < high)
	count = (high - low + bin_bytes - 1) // bin_bytes
	bins = [0] * count
	for _ in range(samples):
		bins[min(count - 1, int(chance.paretovariate(0.5)) * 7919 % count)] += 1
	edges = [(chance.randrange(low, high), chance.choice(starts[:1 + int(len(starts) * chance.random())]),
		int(chance.paretovariate(0.4))) for _ in range(arcs)]
	edges = [(caller, callee, min(calls, 2**32 - 1)) for caller, callee, calls in edges]
	rows = [address for address in line_addresses(path) if low <= address < high]
	counted = [(address, chance.randrange(10**chance.randrange(1, 7))) for address in chance.sample(rows, min(blocks, len(rows)))]
	return Gmon([(low, low + count * bin_bytes, bins)], edges, sorted(counted))


def real_gprof(*words, **settings):
	return run(["gprof", *words], **settings)


def our_gprof(*words, **settings):
	return run([CPPROF, "gprof", "--no-errors", *words], **settings)


def run(command, status=0, **settings):
	"""Returns the command's standard output, without blanks at the ends of lines."""
	result = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=SECONDS_ALLOWED,
		**settings)
	assert result.returncode == status, f"{command}\n{result.stderr}"
	return "".join(line.rstrip() + "\n" for line in result.stdout.splitlines())


def expect_same(*words, ours=(), change=lambda text: text, **settings):
	"""Fails unless both gprofs print the same text; `ours`: additional words for our gprof. Returns the text."""
	expected = change(real_gprof(*words, **settings))
	printed = change(our_gprof(*ours, *words, **settings))
	if printed != expected:
		difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(), "gprof", "cpprof gprof", lineterm="", n=2)
		raise AssertionError(f"{' '.join(map(str, words))}\n" + "\n".join(list(difference)[:60]))
	return printed
