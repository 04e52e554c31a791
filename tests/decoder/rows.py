"""Blocks of rows in a store on SQLite (docs/internals.md): a block of a profile file with columns of its own. Reads and writes them."""
import struct

import zstandard
from decode import Payload, need, xxh64

HITS, TOUCHES = 14, 15
COLUMNS = ("thread", "labels", "bucket", "stack", "size", "amount")
OF_TOUCHES = (*COLUMNS, "address", "mapping")
HEADER = "<HHIIIQQ"


def columns_of(type_):
	return COLUMNS if type_ == HITS else OF_TOUCHES


def rows_of(block):
	"""The rows of a block, as dictionaries. A thread of None is none, and a bucket of -1 is no time."""
	type_, codec, count, stored, raw, _, check, header_check = struct.unpack(f"{HEADER}Q", block[:40])
	need(header_check == xxh64(block[:32]) and check == xxh64(block[40:]) and stored == len(block) - 40, "block of rows")
	payload = Payload(block[40:] if codec == 0 else zstandard.ZstdDecompressor().decompress(block[40:], max_output_size=raw))
	numbers = [payload.column(count) for _ in columns_of(type_)]
	rows = [dict(zip(columns_of(type_), row)) for row in zip(*numbers)]
	texts = payload.take(len(payload.data) - payload.at).split(b"\0")
	for row in rows:
		row["thread"] = row["thread"] - 1 if row["thread"] else None
		row["bucket"] -= 1
		if type_ == TOUCHES:
			row["mapping"] = texts[row["mapping"]].decode()
	return rows


def block_of(type_, rows):
	"""The inverse, not compressed. Numbers may be wrong ones."""
	texts = sorted({row["mapping"] for row in rows}) if type_ == TOUCHES else []
	payload = b""
	for name in columns_of(type_):
		numbers = [texts.index(row[name]) if name == "mapping" else row[name] for row in rows]
		if name in ("thread", "bucket"):
			numbers = [0 if number is None else number + 1 for number in numbers]
		payload += b"\x08\0" + b"".join(bytes(number >> 8 * rank & 0xFF for number in numbers) for rank in range(8))
	payload += b"".join(text.encode() + b"\0" for text in texts)
	header = struct.pack(HEADER, type_, 0, len(rows), len(payload), len(payload), 0, xxh64(payload))
	return header + struct.pack("<Q", xxh64(header)) + payload
