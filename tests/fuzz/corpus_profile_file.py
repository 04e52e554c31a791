#!/usr/bin/python3
"""Makes the corpus of fuzz_profile_file, according to docs/format.md: small profiles with every table, intact, truncated
and damaged, and files of other formats. Usage: corpus_profile_file.py [FOLDER]"""

import pathlib
import struct
import sys

import xxhash
import zstandard

MASK = (1 << 64) - 1


def xxh64(data):
    return xxhash.xxh64_intdigest(data, 0)


def varint(value):
    value = (value << 1) ^ (value >> 63)
    value &= MASK
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def column(values, delta=False, width=None):
    start = base = 0
    steps = values
    if delta:
        start = values[0]
        steps = [b - a for a, b in zip([start, *values], values)]
    base = min(steps)
    rest = [step - base for step in steps]
    width = width if width is not None else (max(rest).bit_length() + 7) // 8
    planes = b"".join(bytes(number >> 8 * rank & 255 for number in rest) for rank in range(width))
    return bytes([width | (128 if delta else 0)]) + (varint(start) if delta else b"") + varint(base) + planes


def block(kind, rows, first, payload, codec=0):
    stored = zstandard.ZstdCompressor().compress(payload) if codec == 1 else payload
    header = struct.pack("<HHIIIQQ", kind, codec, rows, len(stored), len(payload), first, xxh64(stored))
    return header + struct.pack("<Q", xxh64(header)) + stored


def file_header(major=1, minor=2):
    header = b"\x89CPP\r\n\x1a\n" + struct.pack("<HH", major, minor)
    return header + struct.pack("<I", xxh64(header) & 0xFFFFFFFF)


def table(kind, first, *columns, codec=0, delta=()):
    payload = b"".join(column(values, number in delta) for number, values in enumerate(columns))
    return block(kind, len(columns[0]), first, payload, codec)


def blocks(codec=0):
    """Returns blocks of each type up to format 1.2, in the order of a writer."""
    texts = [b"cpu", b"CPU Time", b"ns", b"main", b"work", b"/bin/prog", b"reached the root", b"[heap]", b"[thread]",
             b"tenant", b"acme", b"kind", b"cheap"]
    return [
        table(2, 0, [10**9], [3 * 10**9], [0], [1], [0], codec=codec),
        block(1, len(texts), 1, column([len(text) for text in texts]) + b"".join(texts), codec),
        table(3, 0, [1], [2], codec=codec),
        table(4, 0, [1], [2], [3], [0], [0], [0], [10**6], [0], [0], codec=codec),
        table(5, 0, [100], [1], [6], [10**6], [0], [6], codec=codec),
        table(6, 0, [100, 101], [0, 0], [6, 5], [10**6, 10**6 + 5], [0, 0], codec=codec),
        table(7, 0, [6, 9], [0, 5], [20, 0], [MASK, 0], [MASK, 0], [7, 0], [0, 0], codec=codec),
        table(9, 0, [0, 0, 0, 0, 1], [0x1000, 0x1040, 0x2000, MASK, 0], codec=codec),
        table(10, 1, [0, 1, 2, 3, 1, 4, 6], [0, 1, 2, 3, 2, 4, 1], codec=codec, delta=(0,)),
        table(8, 0, [7], [6], [1], [0], codec=codec),
        table(14, 0, [10**6, 10**6 + 10, 10**6 + 17, 0], [1, 2, 0, 1], [4, 5, 5, 0], [0] * 4, [1, 1, 2, 1], codec=codec,
              delta=(0,)),
        table(14, 4, [2 * 10**6] * 3, [1] * 3, [5] * 3, [0] * 3, [1] * 3, codec=codec),
        table(14, 7, [0], [0], [7], [0], [1], codec=codec),
        table(15, 0, [10**6, 0], [1, 0], [4, 7], [0] * 2, [1, 3], [0x1234, MASK], [8, 0], codec=codec),
        table(16, 0, [12, 10, 10], [13, 11, 13], codec=codec),
        table(17, 1, [0, 2], [2, 1], codec=codec),
        table(18, 1, [1, 2, 0], codec=codec),
        table(18, 6, [2], codec=codec),
        table(5, 0, [100], [1], [5], [10**6], [2 * 10**6], [0], codec=codec),
        table(11, 0, [4, 5], [4, 0], [1, 0], [0, 6], [0, 12], [2, 3], codec=codec),
        table(12, 0, [0, 1, 0], [0, 6, 6], [0, 3, 99], [0, 1, 0], codec=codec),
        table(13, 0, [1, 2, 2, 1], [1, 1, 2, 1], codec=codec),  # the fifth location is a thread's mark, without frames
        table(2, 0, [10**9], [3 * 10**9], [0], [1], [1], codec=codec),
        block(0, 0, 0, b""),
    ]


def inputs():
    plain, packed = blocks(), blocks(1)
    whole = file_header() + b"".join(plain)
    yield "plain", whole
    yield "compressed", file_header() + b"".join(packed)
    yield "killed", file_header() + b"".join(plain[:12])
    yield "cut", whole[:-70]
    yield "header-only", file_header()
    yield "cut-header", file_header()[:11]
    yield "newer", file_header(major=2) + b"".join(plain)
    yield "unknown-block", file_header(minor=9) + block(99, 7, 3, b"new") + b"".join(plain)
    yield "unknown-codec", file_header() + block(1, 1, 1, b"x", codec=2)
    yield "1.0", file_header(minor=0) + b"".join(plain[:4]) + table(5, 0, [100], [1], [6], [10**6], [0]) + block(0, 0, 0, b"")
    yield "flipped", whole[:300] + bytes([whole[300] ^ 4]) + whole[301:]
    yield "wide", file_header() + block(2, 1, 0, b"".join(column([number], width=8) for number in (5, 6, 7, 8, 0)))
    yield "twice", whole + whole[16:]
    yield "no-rows", file_header() + block(14, 0, 0, b"")
    yield "bomb", file_header() + block(5, 65536, 0, column([1]) * 6, 1)
    yield "too-many-rows", file_header() + block(5, 0xFFFFFFFF, 0, column([1]) * 5)
    texts = [b"cpu", b"CPU Time", b"ns", b"main", b"/lib/libc.so.6", b"[thread]"]
    # Locations without frames. The role of a nameless function of the C library depends on its callers.
    unnamed = [table(2, 0, [10**9], [3 * 10**9], [0], [0], [0]),
               block(1, len(texts), 1, column([len(text) for text in texts]) + b"".join(texts)),
               *[table(kind, 0, *([value] for value in values)) for kind, values in (
                   (4, [1, 2, 3, 0, 0, 0, 10**6, 0, 0]), (5, [100, 1, 4, 10**6, 0, 0]), (6, [100, 0, 4, 10**6, 0]))],
               table(7, 0, [5, 6], [0, 5], *[[0, 0]] * 5), table(9, 0, [0, 1], [0x1234, 0]),
               table(10, 1, [0, 1, 2], [0, 1, 0])]
    yield "unnamed", file_header() + b"".join(unnamed)
    yield "mark-with-frames", file_header() + b"".join(unnamed) + table(13, 0, [0, 0], [0, 5 * 10**8])
    yield "labels-of-no-hits", file_header() + table(18, 0xFFFFFFF0, [0] * 9)
    yield "labels-overlap", file_header() + b"".join(plain[:2]) + table(16, 0, [1, 2], [0, 0]) + table(17, 1, [0, 0], [2, 2])
    # Two more locations, with frames: one row leads from the first location to the sixth, one in a circle, one nowhere.
    tails = [table(9, 5, [0, 0], [0x3000, 0x3001], [1, 0], [1, 1]), table(12, 3, [1, 0], [0, 0], [0, 0], [0, 0]), table(13, 5, [4, 5], [1, 1]),
             table(20, 0, [0, 5, 1], [1, 1, 0], [6, 6, 0])]
    yield "tail-calls", file_header(minor=9) + b"".join([*plain[:-2], *tails, *plain[-2:]])
    yield "tail-calls-of-others", file_header(minor=9) + b"".join([*plain[:-2], table(20, 0, [0], [1], [2]), *plain[-2:]])
    yield "perf", b"PERFILE2" + bytes(64)
    yield "gprof", b"gmon" + bytes(16)
    yield "empty", b""


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus" / "profile_file"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
