#!/usr/bin/env python3
"""Makes the corpora of the readers of .gopclntab (src/elf/go_table.h): small tables for fuzz_go_table, and ELF files with these tables for
fuzz_unwind_table. Usage: corpus_go_table.py [FOLDER-OF-TABLES FOLDER-OF-FILES]"""

import pathlib
import struct
import sys

from corpus_unwind_table import EHDR, PHDR, SHDR

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
CODE = 0x401000
# The magic since each version. Go 1.2 has another layout, which the reader refuses.
MAGICS = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}
# name, bytes of code, whether it begins a stack, pairs of value and bytes: of the stack, of the file's number, of lines
FUNCTIONS = [
	("main.work", 0x40, False, ((0, 4), (24, 0x38), (0, 4)), ((1, 0x40),), ((10, 0x10), (12, 0x30))),
	("main.main", 0x20, False, ((8, 0x20),), ((0, 0x20),), ((20, 0x20),)),
	("runtime.goexit", 0x10, True, ((0, 0x10),), (), ()),
]


def varint(value):
	coded = bytearray()
	while value > 0x7f:
		coded.append(value & 0x7f | 0x80)
		value >>= 7
	return bytes([*coded, value])


def values(pairs):
	coded, before = b"", -1
	for value, size in pairs:
		change = value - before
		coded += varint(change << 1 if change >= 0 else ~change << 1 | 1) + varint(size)
		before = value
	return coded + b"\0"


def table(magic, functions=FUNCTIONS, first_code=CODE, code_unit=1):
	"""Returns a .gopclntab of these functions. Equal lists of values are there once, as linkers write them."""
	is_relative = magic < MAGICS["1.16"]
	entry, base = ("<I", 0) if is_relative else ("<Q", CODE)
	names, files, lists = b"", b"/src/other.go\0/src/main.go\0", b"\0"
	units = struct.pack("<2I", 0, len("/src/other.go") + 1)
	width = struct.calcsize(entry)
	records, rows, at = b"", b"", 0
	for name, size, is_outermost, *pairs in functions:
		offsets = []
		for coded in map(values, pairs):
			found = lists.find(coded, 1)
			offsets.append(0 if coded == b"\0" else found if found > 0 else len(lists))
			lists += coded if offsets[-1] == len(lists) else b""
		rows += struct.pack(entry, base + at) + struct.pack(entry, (2 * len(functions) + 1) * width + len(records))
		records += struct.pack(entry, base + at) + struct.pack("<8I", len(names), 0, 0, *offsets, 0, 0)
		records += (struct.pack("<I", 1) if magic == MAGICS["1.20"] else b"") + struct.pack("<BBH", 0, is_outermost, 0)
		names += name.encode() + b"\0"
		at += size * code_unit
	parts = [names, units, files, lists, rows + struct.pack(entry, base + at) + records]
	words = [len(functions), 2, *([first_code] if is_relative else [])]
	start = 8 + 8 * (len(words) + len(parts))
	words += [start + sum(map(len, parts[:i])) for i in range(len(parts))]
	return struct.pack(f"<IBBBB{len(words)}Q", magic, 0, 0, code_unit, 8, *words) + b"".join(parts)


def elf(sections):
	"""Returns an ELF file with a segment of code without its bytes, and sections: name, type, bytes."""
	names, rows, body = b"\0", [(0,) * 10], bytearray(EHDR.size + PHDR.size)
	for name, kind, content in (*sections, (".shstrtab", 3, None)):
		names += name.encode() + b"\0"
		content = names if content is None else content
		rows.append((names.rindex(name.encode()), kind, 0, 0, len(body), len(content), 0, 0, 1, 0))
		body += content + bytes(-len(content) % 8)
	body[:EHDR.size] = EHDR.pack(b"\x7fELF\2\1\1", 2, 62, 1, CODE, EHDR.size, len(body), 0, EHDR.size, PHDR.size, 1, SHDR.size, len(rows), len(rows) - 1)
	body[EHDR.size:EHDR.size + PHDR.size] = PHDR.pack(1, 5, 0, CODE & ~0xfff, CODE & ~0xfff, 0, 0x10000, 4096)
	return bytes(body) + b"".join(SHDR.pack(*row) for row in rows)


def tables():
	found = {f"go-{version}": table(magic) for version, magic in MAGICS.items()}
	found["go-units-of-4"] = table(MAGICS["1.20"], code_unit=4)
	found["go-no-first-code"] = table(MAGICS["1.20"], first_code=0)
	long = [("main.f", 0x101, False, tuple((i % 2 * 8, 1) for i in range(0x100)), (), ())]
	found["go-shared-values"] = table(MAGICS["1.20"], long * 20)
	return found


def main():
	folders = [pathlib.Path(word) for word in sys.argv[1:3]] or [CORPUS / "go_table", CORPUS / "unwind_table"]
	for folder in folders:
		folder.mkdir(parents=True, exist_ok=True)
	for name, content in tables().items():
		(folders[0] / name).write_bytes(content)
		(folders[1] / name).write_bytes(elf([(".gopclntab", 1, content)]))
	# A position-independent program: the header is behind other data, and a relocation has its first code.
	other = bytes(64)
	data = other + tables()["go-no-first-code"]
	relocation = struct.pack("<QQq", len(other) + 24, 8, CODE)
	(folders[1] / "go-relocated").write_bytes(elf([(".note.go.buildid", 7, b"x"), (".data.rel.ro", 1, data), (".rela.dyn", 4, relocation)]))


if __name__ == "__main__":
	main()
