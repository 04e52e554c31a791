#!/usr/bin/env python3
"""Makes the corpus of fuzz_probe_files: small ELF files with a dynamic section and notes of static probes, intact and
damaged. Usage: corpus_probe_files.py [FOLDER]"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
PHDR = struct.Struct("<IIQQQQQQ")
SHDR = struct.Struct("<IIQQQQIIQQ")
STRINGS = b"\0libone.so.1\0libtwo.so\0$ORIGIN/lib:/opt\0libself.so\0"
NAMES = b"\0.note.stapsdt\0.shstrtab\0"


def note(provider, probe, arguments, name=b"stapsdt\0"):
    body = struct.pack("<QQQ", 0x1000, 0x2000, 0) + b"".join(text.encode() + b"\0" for text in (provider, probe, arguments))
    return struct.pack("<III", len(name), len(body), 3) + name + body + bytes(-len(body) % 4)


def image(notes, path_tag=29, interpreter=b"/lib64/ld-linux-x86-64.so.2\0", strings=STRINGS):
    """Returns an ELF file with three segments (the whole file, the interpreter, the dynamic section) and its sections."""
    start = EHDR.size + 3 * PHDR.size
    at = {name: strings.index(name) for name in (b"libone", b"libtwo", b"$ORIGIN", b"libself")}
    strings_at = start + len(interpreter)
    dynamic_at = strings_at + len(strings)
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in (
        (1, at[b"libone"]), (1, at[b"libtwo"]), (path_tag, at[b"$ORIGIN"]), (14, at[b"libself"]), (5, strings_at), (0, 0)))
    notes_at = dynamic_at + len(dynamic)
    names_at = notes_at + len(notes)
    sections_at = names_at + len(NAMES)
    sections = [(0,) * 10, (1, 7, 0, 0, notes_at, len(notes), 0, 0, 4, 0),
        (NAMES.index(b".shstrtab"), 3, 0, 0, names_at, len(NAMES), 0, 0, 1, 0)]
    header = EHDR.pack(b"\x7fELF\2\1\1" + bytes(9), 3, 62, 1, 0, EHDR.size, sections_at, 0, EHDR.size, PHDR.size, 3,
        SHDR.size, len(sections), 2)
    segments = [(1, 5, 0, 0, 0, sections_at, sections_at, 4096), (3, 4, start, start, start, len(interpreter), 0, 1),
        (2, 4, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)]
    return (header + b"".join(PHDR.pack(*row) for row in segments) + interpreter + strings + dynamic + notes + NAMES
        + b"".join(SHDR.pack(*row) for row in sections))


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "probe_files"
    folder.mkdir(parents=True, exist_ok=True)
    notes = note("shop", "sold", "8@%rdi -4@$7") + note("shop", "closed", "")
    whole = image(notes)
    inputs = {
        "whole": whole,
        "rpath": image(notes, path_tag=15),
        "foreign-note": image(note("shop", "sold", "", name=b"GNU\0") + notes),
        "cut-note": image(notes[:-9]),
        "long-note": image(struct.pack("<III", 8, 1 << 31, 3) + b"stapsdt\0"),
        "open-strings": image(notes, strings=STRINGS[:-1]),
        "open-interpreter": image(notes, interpreter=b"/lib64/ld" * 600),
        "cut": whole[:len(whole) // 2],
        "script": b"#!/usr/bin/env python3\n",
    }
    for name, body in inputs.items():
        (folder / name).write_bytes(body)


if __name__ == "__main__":
    main()
