#!/usr/bin/env python3
"""Makes the corpus of fuzz_perf_data: small perf.data files made by hand, intact and damaged. Usage: corpus_perf_data.py [FOLDER]."""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
IP, TID, TIME, READ, CALLCHAIN, ID, PERIOD, BRANCHES, REGISTERS, STACK, IDENTIFIER = (1 << bit for bit in (0, 1, 2, 4, 5, 6, 8, 11, 12, 13, 16))
REGISTER_MASK = 0xff0fff
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512


def attributes(sample_type, size=128):
    fixed = struct.pack("<IIQQQQQ", 1, size, 0, 4000, sample_type, 0, 1 << 10 | 1 << 18)
    return (fixed + bytes(24) + struct.pack("<QQII", 0, REGISTER_MASK, 8192, 0)).ljust(size, b"\0")[:size]


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(time, identifier=7):
    return struct.pack("<IIQQ", 41, 42, time, identifier)


def sample(time, chain=(), stack=b""):
    words = [word for word in chain]
    registers = struct.pack("<Q", 2) + struct.pack(f"<{bin(REGISTER_MASK).count('1')}Q", *range(bin(REGISTER_MASK).count("1")))
    copied = struct.pack("<Q", len(stack)) + (stack + struct.pack("<Q", len(stack)) if stack else b"")
    return record(9, struct.pack("<QQIIQQ", 7, 0x401000, 41, 42, time, 250000) + struct.pack("<Q", len(words))
        + struct.pack(f"<{len(words)}Q", *words) + registers + copied)


TYPE = IDENTIFIER | IP | TID | TIME | PERIOD | CALLCHAIN | REGISTERS | STACK
RECORDS = [
    record(10, struct.pack("<IIQQQIIQQII", 41, 41, 0x400000, 0x1000, 0, 8, 1, 99, 0, 5, 2) + b"/bin/true\0\0\0\0\0\0\0" + trailer(0)),
    record(1, struct.pack("<IIQQQ", 41, 41, 0x500000, 0x1000, 0) + b"/lib/x\0\0" + trailer(5)),
    record(3, struct.pack("<II", 41, 42) + b"true\0\0\0\0" + trailer(1)),
    sample(9, [KERNEL, 0xffffffff81000000, USER, 0x401000, 0x401100], b"stack..." * 4),
    sample(3, [USER, 0x401000]),
    record(7, struct.pack("<IIIIQ", 41, 41, 43, 42, 4) + trailer(4)),
    record(4, struct.pack("<IIIIQ", 41, 41, 43, 42, 8) + trailer(8)),
    record(2, struct.pack("<QQ", 7, 12) + trailer(9)),
    record(68, b""),
]
BUILD_ID = struct.pack("<IHHI", 67, 1 << 15 | 2, 36 + 16, 41) + bytes(range(20)) + b"\x14\0\0\0" + b"/bin/true".ljust(16, b"\0")


def text(value):
    padded = value + b"\0" * (64 - len(value))
    return struct.pack("<I", len(padded)) + padded


def file(records, features, sample_type=TYPE, entry=144):
    header = 104
    ids = struct.pack("<Q", 7)
    attr_at, ids_at = header, header + entry
    data_at = ids_at + len(ids)
    data = b"".join(records)
    bits = 0
    sections, content = b"", b""
    for number in sorted(features):
        bits |= 1 << number
    at = data_at + len(data) + 16 * len(features)
    for number in sorted(features):
        sections += struct.pack("<QQ", at + len(content), len(features[number]))
        content += features[number]
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", header, entry, attr_at, entry, data_at, len(data), 0, 0) + bits.to_bytes(32, "little")
    return head + attributes(sample_type) + struct.pack("<QQ", ids_at, len(ids)) + ids + data + sections + content


def pipe(records):
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "perf_data"
    folder.mkdir(parents=True, exist_ok=True)
    features = {2: BUILD_ID, 3: text(b"host"), 4: text(b"6.1"), 6: text(b"x86_64"), 7: struct.pack("<II", 2, 2),
        11: struct.pack("<I", 2) + text(b"perf") + text(b"record"), 12: struct.pack("<II", 1, 128) + attributes(TYPE) + struct.pack("<I", 1)
        + text(b"cpu-clock") + struct.pack("<Q", 7)}
    whole = file(RECORDS, features)
    piped = pipe([record(64, attributes(TYPE) + struct.pack("<Q", 7)), record(80, struct.pack("<Q", 3) + text(b"host")), BUILD_ID,
        record(78, struct.pack("<QQ", 2, 7) + b"cycles\0\0"), *RECORDS])
    inputs = {
        "empty": b"",
        "magic": b"PERFILE2",
        "file": whole,
        "file-cut": whole[:len(whole) - 30],
        "file-no-features": file(RECORDS, {}),
        "file-short-attributes": file(RECORDS, features).replace(struct.pack("<II", 1, 128), struct.pack("<II", 1, 64), 1),
        "file-other-order": b"2ELIFREP" + whole[8:],
        "pipe": piped,
        "pipe-cut": piped[:len(piped) - 3],
        "pipe-no-attributes": pipe(RECORDS),
        "record-size-0": pipe([bytes(8)]),
        "auxtrace": pipe([record(71, struct.pack("<Q", 16)) + bytes(16), *RECORDS]),
        "auxtrace-long": pipe([record(71, struct.pack("<Q", (1 << 64) - 1))]),
        "chain-long": pipe([record(64, attributes(IP | CALLCHAIN) + struct.pack("<Q", 7)), record(9, struct.pack("<QQ", 1, (1 << 61) + 1))]),
        "branches": pipe([record(64, attributes(IP | BRANCHES | READ) + struct.pack("<Q", 7)), record(9, struct.pack("<QQQ", 1, 2, 3) + bytes(72))]),
        "compressed-damaged": pipe([record(64, attributes(TYPE) + struct.pack("<Q", 7)), record(81, b"\x28\xb5\x2f\xfd" + bytes(20))]),
    }
    try:
        import zstandard
        packed = zstandard.ZstdCompressor().compress(b"".join(RECORDS))
        inputs["compressed"] = pipe([record(64, attributes(TYPE) + struct.pack("<Q", 7)), record(81, packed)])
        inputs["compressed-padded"] = pipe([record(64, attributes(TYPE) + struct.pack("<Q", 7)),
            record(83, struct.pack("<Q", len(packed)) + packed + bytes(-len(packed) % 8))])
        packed = zstandard.ZstdCompressor().compress(b"".join(RECORDS)[:-20])
        inputs["compressed-cut"] = pipe([record(64, attributes(TYPE) + struct.pack("<Q", 7)), record(81, packed)])
    except ImportError:
        pass
    for name, body in inputs.items():
        (folder / name).write_bytes(body)


if __name__ == "__main__":
    main()
