#!/usr/bin/python3
"""Writes the seeds of fuzz_disassembly: answers as src/profile/code.h describes them, whole and damaged."""
import struct
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus/disassembly"


def instruction(size, text, flags=0, target=0, line=0, file="", callee=""):
	words = b"".join(word.encode() + b"\0" for word in (text, file, callee))
	return struct.pack("<BBQI", size, flags, target, line) + words


def function(start, instructions, end=None):
	size = sum(each[0] for each in instructions)
	return struct.pack("<QQI", start, start + size if end is None else end, len(instructions)) + b"".join(instructions)


def answer(*functions):
	return struct.pack("<I", len(functions)) + b"".join(functions)


LOOP = [instruction(2, "xor eax, eax", line=3, file="a.c"), instruction(5, "call 0x2000", 2, 0x2000, 4, "a.c", "f"),
	instruction(2, "jne 0x1000", 0, 0x1000, 4, "a.c"), instruction(1, "ret", 1)]
SEEDS = {
	"empty": answer(),
	"one": answer(function(0x1000, LOOP)),
	"two": answer(function(0x1000, LOOP), function(0x1010, LOOP[:1])),
	"overlap": answer(function(0x1000, LOOP), function(0x1004, LOOP)),
	"gap": answer(function(0x1000, LOOP, 0x2000)),
	"backwards": answer(function(0x1000, LOOP, 0x10)),
	"no-instructions": answer(function(0x1000, [], 0x1001)),
	"zero-bytes": answer(function(0x1000, [instruction(0, "nop")], 0x1001)),
	"no-text": answer(function(0x1000, [instruction(1, "")])),
	"highest": answer(function(2**64 - 3, LOOP[:1])),
	"many": struct.pack("<I", 0xffffffff),
	"cut": answer(function(0x1000, LOOP))[:-3],
	"long": answer(function(0x1000, LOOP)) + b"x",
}

if __name__ == "__main__":
	FOLDER.mkdir(parents=True, exist_ok=True)
	for name, data in SEEDS.items():
		(FOLDER / name).write_bytes(data)
