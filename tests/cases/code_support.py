"""Programs as binutils disassemble them, and profiles of chosen addresses in them."""
import re
import subprocess

from cli_support import BUILD

WRITE_CODE = str(BUILD / "tests/unit/write_code")
FILE, VDSO, ANON, KERNEL, NAMES = range(5)
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t((?:[0-9a-f]+ )+) *\t?(.*)$")


class Code:
	"""A program, its build-id, and what binutils print about it."""

	def __init__(self, path, prefix=""):
		self.path = path
		notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
		found = re.search(r"Build ID: ([0-9a-f]+)", notes)
		self.build_id = found[1] if found else "-"
		self.prefix = prefix

	def instructions(self, function):
		"""Returns [(start, end, text)]."""
		text = subprocess.run([f"{self.prefix}objdump", "-d", f"--disassemble={function}", "-w", self.path], capture_output=True, text=True,
			check=True).stdout
		rows = [INSTRUCTION.match(line) for line in text.splitlines()]
		found = []
		for row in filter(None, rows):
			start, words = int(row[1], 16), row[2].split()
			found.append((start, start + sum(len(word) // 2 for word in words), row[3].split("//")[0].strip()))
		return found


def profile_of(path, code, samples, kind=FILE, build_id=None):
	"""Writes a profile of samples ([(address, names)], hits) in one module."""
	lines = [f"M {kind} {code.path} {code.build_id if build_id is None else build_id}"]
	lines += ["S " + ";".join(f"0:{at}!{'/'.join(names)}" for at, names in stack) + f" {hits}" for stack, hits in samples]
	subprocess.run([WRITE_CODE, path], input="\n".join(lines) + "\n", text=True, check=True)
	return path
