#!/usr/bin/python3
"""Makes the corpus of fuzz_tally, according to src/abi/tally.h: small tallies of each measurement, intact and damaged.
The fuzzer's input format is the number of granules, then offset, length and bytes of each part that is not zero.
Usage: corpus_tally.py [FOLDER [TALLY...]]. Each given TALLY is added if it has at most 8 granules."""

import pathlib
import struct
import sys

GRANULE = 64 * 1024
BASE = 0x7F0000000000
CHUNK = "<IIQQQII"
PROCESS, THREAD, OBJECTS, BLOCKS, EVENTS, RING, PROBES = range(1, 8)
OFF, ARCS, PATHS, TIMED, TRACE, BLOCK = range(6)
FOREIGN, INLINED, FOLDED = 1, 2, 4
ROOT = 40 + 8 + 16 + 8 + 8 + 256 + 16


class World:
    def __init__(self, measurement):
        self.bytes = bytearray(GRANULE)
        request = struct.pack("<QBB6x64s256s320s64s", 10**6, 1, 0, b"", b"cpu", b"CPU Time", b"ns")
        self.put(0, b"\x89CPT\r\n\x1a\n" + struct.pack("<IIQQQQQIIII", 3, measurement, 0, 1 << 30, 10**6, 1000, 2000, 1, 1, 0, 0))
        self.put(72, request)

    def put(self, at, data):
        self.bytes[at : at + len(data)] = data

    def chunk(self, kind, process, thread, used, address=True):
        at = len(self.bytes)
        self.bytes += bytes(GRANULE)
        self.put(at, struct.pack(CHUNK, 0x6B6E6843, kind, GRANULE, used, BASE + at if address else 0, process, thread))
        self.put(16, struct.pack("<Q", len(self.bytes)))
        return at

    def process(self, number, hooks):
        at = self.chunk(PROCESS, number, 0, 208)
        module = struct.pack("<IBBxxQQQ32s8s", 72, 0, 0, 0x400000, 0x410000, 0x400000, b"", b"/bin/a")
        self.put(at + 40, struct.pack("<IIII", 100 + number, 0xFFFFFFFF, hooks, 1))
        self.put(at + 56, struct.pack("<QQQQQ", 1000, 9000, 1000, 9000, 9000))
        self.put(at + 136, b"program")
        self.put(at + 200, struct.pack("<Q", len(module)) + module)
        return at

    def thread(self, process, number, creator=0):
        at = self.chunk(THREAD, process, number, ROOT + 56)
        self.put(at + 40, struct.pack("<IIQQQ", 200 + number, process if creator else 0xFFFFFFFF, 1000, 9000, creator))
        self.used = at + ROOT + 56
        self.number = 0
        return at + ROOT

    def object(self, data):
        at = self.used
        self.put(at, data)
        self.used += len(data)
        return at

    def link(self, node, offset, at, next_offset):
        self.put(at + next_offset, self.bytes[node + offset : node + offset + 8])
        self.put(node + offset, struct.pack("<Q", BASE + at))

    def call(self, node, probe, function, count, flags=0, child=None, has_child=True):
        if child is None and has_child:
            self.number += 1
            child = self.object(struct.pack("<QQQQQQQ", function, BASE + node, 0, 0, 77, self.number, 0))
        edge = struct.pack("<QQQQQIIQ", probe, function, count, BASE + child if child else 0, 0, flags, 0, 0)
        self.link(node, 16, self.object(edge), 32)
        return child

    def tick(self, node, pc, hits):
        self.link(node, 24, self.object(struct.pack("<QQQQII", pc, hits, hits, 0, 0, 0)), 24)

    def words(self):
        return words_of(self.bytes)


def words_of(data):
    out = bytearray([len(data) // GRANULE - 1])
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        end = at
        while end < len(data) and end - at < 255 and any(data[end : end + 8]):
            end += 1
        out += struct.pack("<IB", at, end - at) + data[at:end]
        at = end
    return bytes(out)


def paths(measurement=PATHS, hooks=4):
    world = World(measurement)
    world.process(0, hooks)
    root = world.thread(0, 0)
    main = world.call(root, 0x400101, 0x401000, 1)
    sort = world.call(main, 0x401015, 0x402000, 5)
    world.call(main, 0x401045, 0x402000, 6, child=sort)
    compare = world.call(sort, 0x7F1234567890, 0x403000, 50, FOREIGN)
    world.call(compare, 0x402021, 0x404000, 7, INLINED)
    world.call(compare, 0x403021, 0x402000, 8, FOLDED, child=sort)
    world.tick(compare, 0x403010, 3)
    world.tick(sort, 0x7F1234567890, 4)
    worker = world.thread(0, 1, creator=BASE + sort)
    world.tick(world.call(worker, 0x400151, 0x405000, 2), 0x405010, 1)
    return world


def arcs():
    world = World(ARCS)
    world.process(0, 3)
    root = world.thread(0, 0)
    world.call(root, 0x401015, 0x402009, 1 << 33, has_child=False)
    world.tick(root, 0x401010, 9)
    return world


def trace():
    world = paths(TRACE)
    words = [4, 5000, 5010 << 32 | 5, 5020 << 32 | 9, 8, 0x402010, 1, 1, 5030 << 32 | 6, 12, 1, 2, 1]
    at = world.chunk(EVENTS, 0, 0, 48 + 8 * len(words), address=False)
    world.put(at + 40, struct.pack(f"<Q{len(words)}Q", 5, *words))
    return world


def blocks():
    world = World(BLOCK)
    world.process(0, 8)
    world.thread(0, 0)
    at = world.chunk(BLOCKS, 0, 0, 40 + 16 * 4)
    world.put(at + 40, struct.pack("<8Q", 0x401010, 5, 0, 0, 0x401020, 7, 0x402000, 1))
    return world


def probe(address, code, kind, line, flags, name, signature=b"", group=b""):
    texts = [name, signature, b"a.c", group]
    places = [sum(len(text) + 1 for text in texts[:before]) for before in range(4)]
    packed = b"".join(text + b"\0" for text in texts)
    packed += bytes(-len(packed) % 8)
    return struct.pack("<IIQQHHIIIQQIIII", 72 + len(packed), 1, address, code, kind, 1, line, flags, 1, 1000, 41500, *places[1:], 0) + packed


def probes(measurement=PATHS):
    world = World(measurement)
    world.process(0, 32)
    all_probes = [probe(0x408000, 0x401009, 0, 3, 0, b"main"), probe(0x408060, 0x402009, 0, 20, 2, b"sort", b"void sort(T) [with T = int]", b"order"),
        probe(0x4080c0, 0x402015, 1, 33, 0, b"row", b"sort"), probe(0x408120, 0x402111, 5, 50, 5, b"lock", b"", b"RUNTIME")]
    at = world.chunk(PROBES, 0, 0, 48 + sum(map(len, all_probes)))
    world.put(at + 40, struct.pack("<Q", sum(map(len, all_probes))) + b"".join(all_probes))
    root = world.thread(0, 0)
    main_path = world.call(root, 0x999, 0x408000, 1)
    sort = world.call(main_path, 0x401021, 0x408060, 4)
    row = world.call(sort, 0x401021, 0x4080c0, 40, INLINED)
    lock = world.call(row, 0x401021, 0x408120, 400, INLINED)
    world.call(lock, 0x402131, 0x408060, 5, FOLDED, child=sort)
    world.tick(row, 0x402040, 3)
    world.tick(lock, 0x402120, 4)
    return world


def damaged_probes():
    for name, at, data in [("bytes", 48, 1 << 20), ("all", 40, 1 << 20), ("signature", 48 + 64, 1 << 30), ("same", 48 + 8, 0x408060)]:
        world = probes()
        world.put(2 * GRANULE + at, struct.pack("<I" if name != "all" else "<Q", data))
        yield f"probes_{name}", world


def damaged():
    for name, at, data in [
        ("own_next", None, None),
        ("counts", 2 * GRANULE + ROOT + 56 + 56 + 16, struct.pack("<Q", (1 << 64) - 1)),
        ("chunk_bytes", 2 * GRANULE + 8, struct.pack("<Q", 1 << 63)),
        ("process", 2 * GRANULE + 32, struct.pack("<I", 9)),
        ("request", 64, struct.pack("<I", 17)),
        ("module", GRANULE + 208, struct.pack("<I", 8)),
        ("address", 2 * GRANULE + 24, struct.pack("<Q", BASE + GRANULE + 8)),
    ]:
        world = paths()
        if name == "own_next":
            edge = 2 * GRANULE + ROOT + 56 + 56
            at, data = edge + 32, struct.pack("<Q", BASE + edge)
        world.put(at, data)
        yield name, world


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus" / "tally")
    folder.mkdir(parents=True, exist_ok=True)
    worlds = {"paths": paths(), "timed": paths(TIMED), "mixed": paths(PATHS, 7), "arcs": arcs(), "trace": trace(), "blocks": blocks(),
        "probes": probes(), "probes_timed": probes(TIMED)}
    worlds |= dict(damaged())
    worlds |= dict(damaged_probes())
    for name, world in worlds.items():
        (folder / name).write_bytes(world.words())
    for path in map(pathlib.Path, sys.argv[2:]):
        data = path.read_bytes()
        data += bytes(-len(data) % GRANULE)
        if len(data) <= 8 * GRANULE:
            (folder / path.name).write_bytes(words_of(data))


if __name__ == "__main__":
    main()
