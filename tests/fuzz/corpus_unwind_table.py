#!/usr/bin/env python3
"""Makes the corpus of fuzz_unwind_table: small programs, compiled in several ways and reduced to the parts of the ELF file
that the unwinder reads, headers and call frame information. Usage: corpus_unwind_table.py [FOLDER]"""

import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "unit" / "unwind" / "stepped"
KEPT = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".note.gnu.build-id")
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
PHDR = struct.Struct("<IIQQQQQQ")
SHDR = struct.Struct("<IIQQQQIIQQ")

# name: (compiler, source, flags)
WAYS = {
    "gcc": ("gcc", "frames.c", ["-O2"]),
    "gcc-O0": ("gcc", "frames.c", ["-O0"]),
    "clang": ("clang", "frames.c", ["-O2"]),
    "realigned": ("gcc", "realigned.c", ["-O1"]),
    "lazy": ("gcc", "library.c", ["-O2", "-Wl,-z,lazy"]),
    "exceptions": ("g++", "exceptions.cpp", ["-O1"]),
    "debug-frame": ("gcc", "frames.c", ["-O2", "-g", "-fno-asynchronous-unwind-tables"]),
    "compressed": ("clang", "frames.c", ["-O2", "-g", "-gz=zlib", "-fno-asynchronous-unwind-tables"]),
}


def sections_of(image):
    header = EHDR.unpack_from(image)
    offset, size, count, names_index = header[6], header[11], header[12], header[13]
    rows = [SHDR.unpack_from(image, offset + i * size) for i in range(count)]
    names = image[rows[names_index][4]:][:rows[names_index][5]]
    return [(names[row[0]:names.index(b"\0", row[0])].decode(), row) for row in rows]


def piece(image, has_sections=True):
    """Returns a smaller ELF file, with the text's segment without its bytes, and the sections in KEPT."""
    header = list(EHDR.unpack_from(image))
    segments = [PHDR.unpack_from(image, header[5] + i * header[9]) for i in range(header[10])]
    text = next(row for row in segments if row[0] == 1 and row[1] & 1)
    kept = [(name, row) for name, row in sections_of(image) if name in KEPT]
    count = 1 + 2 * sum(name.startswith(".eh_frame") for name, row in kept)
    out = bytearray(EHDR.size + count * PHDR.size)
    program, rows, names = [(1, 5, 0, text[3], text[4], 0, text[6], 4096)], [(0,) * 10], b"\0"
    for name, row in kept:
        body = image[row[4]:row[4] + row[5]]
        if name.startswith(".eh_frame"):
            program.append((1, 4, len(out), row[3], row[3], len(body), len(body), 4096))
            kind = 0x6474e550 if name == ".eh_frame_hdr" else 0
            program.append((kind, 4, len(out), row[3], row[3], len(body), len(body), 4))
        rows.append((len(names), row[1], row[2], row[3], len(out), len(body), 0, 0, row[8], row[9]))
        names += name.encode() + b"\0"
        out += body + bytes(-len(body) % 8)
    if has_sections:
        rows.append((len(names), 3, 0, 0, len(out), len(names) + 10, 0, 0, 1, 0))
        names += b".shstrtab\0"
        out += names + bytes(-len(names) % 8)
        header[6], header[12], header[13] = len(out), len(rows), len(rows) - 1
        out += b"".join(SHDR.pack(*row) for row in rows)
    else:
        header[6] = header[12] = header[13] = 0
    header[10] = len(program)
    header[5] = EHDR.size
    out[:EHDR.size] = EHDR.pack(*header)
    out[EHDR.size:EHDR.size + len(program) * PHDR.size] = b"".join(PHDR.pack(*row) for row in program)
    return bytes(out)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "unwind_table"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, (compiler, source, flags) in WAYS.items():
            program = pathlib.Path(scratch) / name
            subprocess.run([compiler, *flags, "-o", program, PROGRAMS / source], check=True)
            image = program.read_bytes()
            (folder / name).write_bytes(piece(image))
            if "frame" not in name and "compressed" not in name:
                (folder / (name + "-stripped")).write_bytes(piece(image, has_sections=False))


if __name__ == "__main__":
    main()
