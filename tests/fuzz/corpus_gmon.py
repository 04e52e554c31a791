#!/usr/bin/env python3
"""Makes the corpus of fuzz_gmon: files that the C library writes for a small program, and files made by hand, intact
and damaged. Usage: corpus_gmon.py [FOLDER]. Needs gcc. The files of the C library differ between machines."""

import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADER = b"gmon" + struct.pack("<I", 1) + bytes(12)
PROGRAM = r"""
#include <stdlib.h>
static volatile long sum;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void light(void) { for (int i = 0; i < 100; i++) leaf(10); }
__attribute__((noinline)) void heavy(void) { for (int i = 0; i < 100; i++) leaf(500000); }
__attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) + 1 : 0; }
int main(void)
{
	int numbers[64];
	for (int i = 0; i < 64; i++)
		numbers[i] = rand();
	light();
	heavy();
	qsort(numbers, 64, sizeof(int), compare);
	return deep(30) != 30;
}
"""


def histogram(low, high, bins, rate=100, count=None, unit=b"seconds"):
    return (b"\0" + struct.pack("<QQII", low, high, len(bins) if count is None else count, rate) + unit.ljust(15, b"\0")
        + b"s" + struct.pack(f"<{len(bins)}H", *bins))


def arc(start, to, count):
    return b"\1" + struct.pack("<QQI", start, to, count)


def blocks(pairs, size="I", count=None):
    return b"\2" + struct.pack("<" + size, len(pairs) if count is None else count) + b"".join(struct.pack("<QQ", *pair) for pair in pairs)


def by_the_c_library(*flags):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.c"
        source.write_text(PROGRAM)
        subprocess.run(["gcc", "-pg", *flags, "-o", "program", source.name], cwd=folder, check=True)
        subprocess.run(["./program"], cwd=folder, check=True)
        return (pathlib.Path(folder) / "gmon.out").read_bytes()


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "gmon"
    folder.mkdir(parents=True, exist_ok=True)
    real = by_the_c_library("-O1")
    pairs = [(0x1139, 7), (0x1150, 1 << 40)]
    inputs = {
        "real": real,
        "real-no-pie": by_the_c_library("-O0", "-no-pie"),
        "real-cut": real[:len(real) - 9],
        "real-twice": real + real[20:],
        "header": HEADER,
        "header-cut": HEADER[:11],
        "empty": b"",
        "elf": b"\x7fELF\2\1\1",
        "version-2": b"gmon" + struct.pack("<I", 2) + bytes(12) + arc(1, 2, 3),
        "big-endian": b"gmon" + struct.pack(">I", 1) + bytes(12),
        "unknown-record": HEADER + arc(1, 2, 3) + b"\x11",
        "blocks": HEADER + blocks(pairs) + arc(1, 2, 3),
        "blocks-wide": HEADER + blocks(pairs, "Q") + blocks(pairs, "Q") + arc(1, 2, 3),
        "blocks-none": HEADER + blocks([]) + histogram(0x1000, 0x1008, [1, 2, 3, 4]),
        "blocks-none-wide": HEADER + blocks([], "Q") + histogram(0x1000, 0x1008, [1, 2, 3, 4]),
        "blocks-long": HEADER + blocks(pairs, count=0xffffffff),
        "blocks-overflow": HEADER + blocks([(16, 1 << 63), (16, 1 << 63)]),
        "histograms": HEADER + histogram(0x1000, 0x1008, [65535, 0, 1, 0]) + histogram(0x1000, 0x1008, [65535, 0, 1, 0])
            + histogram(0x2000, 0x2003, [7]),
        "histograms-overlap": HEADER + histogram(0x1000, 0x1008, [1, 2, 3, 4]) + histogram(0x1004, 0x100c, [1, 2, 3, 4]),
        "histograms-rates": HEADER + histogram(0x1000, 0x1008, [1]) + histogram(0x2000, 0x2008, [1], rate=1000),
        "histogram-backward": HEADER + histogram(0x2000, 0x1000, [1, 2, 3, 4]),
        "histogram-long": HEADER + histogram(0, (1 << 64) - 1, [1], count=0xffffffff),
        "histogram-empty": HEADER + histogram(0, 0, []),
        "histogram-narrow": HEADER + histogram(0x1000, 0x1001, [7]),
        "histogram-escape": HEADER + histogram(0x1000, 0x1008, [7], unit=b"s\x1b[31mx"),
    }
    for name, body in inputs.items():
        (folder / name).write_bytes(body)


if __name__ == "__main__":
    main()
