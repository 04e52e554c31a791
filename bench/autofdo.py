"""
AutoFDO's profile of a program (Debian's package autofdo) from `perf record` without branch records.

create_llvm_prof cannot read the files of perf 6.1: it does not have their record types, and finds no sample. Its other input is a text
of addresses with counts, which this module makes of the samples in perf's file. AutoFDO makes no use of the callers of a sample.

AutoFDO 0.19 writes random bytes as the names of inlined functions. clang refuses such a file, so these entries are left out; in
tests/programs/generic.c they have no samples.
"""
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

from peers import perf_record

SAMPLE, MMAP2 = 9, 10
READABLE = re.compile(rb" *[\w.$: ]+:\d+| *[\d.]+: \d+( [\w.$]+:\d+)*")
ATTEMPTS = 3 # perf sometimes crashes at its end


def records(data):
	"""Yields (type, body) of each record in a file of perf. The samples begin with the address: there is one event."""
	at, size = struct.unpack_from("<QQ", data, 40)
	end = at + size
	while at < end:
		kind, _, length = struct.unpack_from("<IHH", data, at)
		yield kind, data[at + 8:at + length]
		at += length


def addresses(path, program):
	"""Returns {address in the program's file: samples}."""
	found, mapped = Counter(), None
	for kind, body in records(path.read_bytes()):
		if kind == MMAP2 and body[64:].split(b"\0")[0] == str(program).encode():
			_, _, start, length, offset = struct.unpack_from("<IIQQQ", body)
			mapped = start, start + length, offset
		if kind == SAMPLE and mapped:
			address, = struct.unpack_from("<Q", body)
			if mapped[0] <= address < mapped[1]:
				found[address - mapped[0] + mapped[2]] += 1
	return found


def sampled(program, arguments, data):
	for _ in range(ATTEMPTS):
		subprocess.run(perf_record([program, *arguments], data), check=False, capture_output=True)
		found = addresses(data, program) if data.exists() else {}
		if found:
			return found
	raise RuntimeError(f"perf recorded no sample of {program} in {ATTEMPTS} attempts")


def without_broken_names(profile):
	"""Drops the entries of inlined functions whose name is not ASCII, with the lines below them."""
	kept, dropped_at = [], None
	for line in profile.splitlines():
		depth = len(line) - len(line.lstrip(b" "))
		if dropped_at is not None and depth > dropped_at:
			continue
		dropped_at = None if READABLE.fullmatch(line) else depth
		if dropped_at is None:
			kept.append(line)
	return b"\n".join(kept) + b"\n"


def autofdo_profile(program, arguments, output: Path):
	"""Writes LLVM's text profile of a program, which has DWARF 4."""
	found = sampled(program, arguments, output.with_suffix(".perf"))
	text = output.with_suffix(".addresses")
	text.write_text("\n".join(["0", str(len(found)), *(f"{at:x}:{count}" for at, count in sorted(found.items())), "0", ""]), encoding="ascii")
	subprocess.run(["create_llvm_prof", "--use_lbr=false", "--profiler=text", "--format=text", f"--binary={program}", f"--profile={text}",
		f"--out={output}"], check=True, capture_output=True)
	output.write_bytes(without_broken_names(output.read_bytes()))
