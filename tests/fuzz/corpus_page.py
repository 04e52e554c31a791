#!/usr/bin/python3
"""Makes the corpora of fuzz_lanes and fuzz_compact, according to src/ui/page/lanes.h, compact.h and the fuzzers: intact and damaged.
Usage: corpus_page.py [FOLDER]"""

import pathlib
import struct
import sys


def varints(*numbers):
    out = bytearray()
    for number in numbers:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
    return bytes(out)


def lanes(names=("main", "f", "3 42"), end=1000, left_out=0, rows=()):
    head = varints(len(names)) + b"".join(name.encode() + b"\0" for name in names)
    return head + varints(end, left_out, len(rows)) + b"".join(rows)


def lane(calls, marks, call_count=None, mark_count=None):
    head = varints(7, 8, len(calls) if call_count is None else call_count, len(marks) if mark_count is None else mark_count)
    return head + b"".join(varints(*call) for call in calls) + b"".join(varints(*mark) for mark in marks)


CALLS = [(0, 0, 100, 800 * 2), (1, 1, 200, 20 * 2), (1, 1, 1, 100 * 2 + 1), (2, 1, 210, 5 * 2)]
MARKS = [(2, 260), (5, 50)]
HUGE = (1 << 64) - 1
LANES = {
    "whole": lanes(rows=[lane(CALLS, MARKS), lane([(0, 1, 5, 0)], [])]),
    "empty": lanes(names=(), end=0),
    "name_beyond": lanes(rows=[lane([(0, 3, 1, 2)], [])]),
    "mark_beyond": lanes(rows=[lane([], [(6, 1)])]),
    "depth_gap": lanes(rows=[lane([(0, 0, 1, 2), (2, 0, 1, 2)], [])]),
    "depth_wraps": lanes(rows=[lane([(HUGE, 0, 1, 2)], [])]),
    "time_wraps": lanes(rows=[lane([(0, 0, HUGE, 2), (0, 0, 1, 2)], [])]),
    "end_wraps": lanes(end=HUGE, rows=[lane([(0, 0, HUGE - 1, HUGE)], [(0, HUGE)])]),
    "many_calls": lanes(rows=[lane([], [], call_count=1 << 40)]),
    "many_lanes": lanes() [:-1] + varints(1 << 33),
    "rest": lanes(rows=[lane(CALLS, MARKS)]) + b"\0",
    "cut": lanes(rows=[lane(CALLS, MARKS)])[:-3],
}


def compact(locations, table, nodes, table_bytes=None):
    size = len(table) if table_bytes is None else table_bytes
    return bytes([locations - 1]) + struct.pack("<H", size) + table + b"".join(bytes(node) for node in nodes)


# Location 0 calls 1 and 2, 1 calls 0, 2 nothing, and the root calls 0.
TABLE = varints(2, 1, 1, 1, 0, 0, 1, 0)
NODES = [(0, 0), (1, 0), (1, 1), (2, 0)]
COMPACT = {
    "whole": compact(3, TABLE, NODES),
    "rank_beyond": compact(3, TABLE, [(0, 1)]),
    "location_beyond": compact(3, varints(1, 3, 0, 0, 0), NODES),
    "wraps": compact(3, varints(2, HUGE, 2, 0, 0, 0), NODES),
    "many": compact(3, varints(1 << 50), NODES),
    "cut": compact(3, TABLE[:3], NODES),
    "no_nodes": compact(3, TABLE, []),
    "found": b"cpprank1" + struct.pack("<Q", 2) + b"\0\0file",
    "found_beyond": b"cpprank1" + struct.pack("<Q", 1 << 63) + b"\0",
}


def ranges(*starts):
    """Ranges of two instructions each, as src/profile/code.h describes them."""
    one = struct.pack("<BBQI", 1, 0, 0, 7) + b"nop\0a.c\0\0"
    return struct.pack("<I", len(starts)) + b"".join(struct.pack("<QQI", start, start + 2, 2) + 2 * one for start in starts)


def code(*modules, functions=2, count=None):
    return varints(functions, len(modules) if count is None else count) + b"".join(
        varints(module) + reason + b"\0" + varints(len(data)) + data for module, reason, data in modules)


STORED_CODE = {
    "none": code(),
    "whole": code((0, b"", ranges(0x1000, 0x2000)), (2, b"no such file", ranges())),
    "module_beyond": code((3, b"", ranges(0x1000))),
    "backwards": code((2, b"", ranges(0x1000)), (0, b"", ranges(0x1000))),
    "twice": code((1, b"", ranges(0x1000)), (1, b"", ranges(0x3000))),
    "overlap": code((0, b"", ranges(0x1000, 0x1001))),
    "many": code(count=1 << 50),
    "rest": code((0, b"", ranges(0x1000))) + b"x",
    "cut": code((0, b"", ranges(0x1000)))[:-3],
}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus"
    for fuzzer, inputs in (("lanes", LANES), ("compact", COMPACT), ("stored_code", STORED_CODE)):
        (folder / fuzzer).mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / fuzzer / name).write_bytes(data)


if __name__ == "__main__":
    main()
