#!/usr/bin/python3
"""Writes the corpus of fuzz_store: corpus_store.py CPPROF FOLDER. SQLite's pages are as small as possible, and the journal is not a log."""
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "decoder"))

from rows import HITS, block_of  # noqa: E402

cpprof, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
ROW = {"thread": None, "labels": 0, "bucket": -1, "stack": 1, "size": 0, "amount": 1}


def with_rows(**changed):
	return f"UPDATE hits SET block = x'{block_of(HITS, [ROW | changed] * 3).hex()}'"


with tempfile.TemporaryDirectory() as place:
	def call(*words):
		subprocess.run([cpprof, *words], cwd=place, check=True, stderr=subprocess.DEVNULL)
	pathlib.Path(place, "a.folded").write_text("main;f 1\nmain;g;h 7\n")
	call("import", "-o", "a.data", "a.folded")
	for name, statements in {
		"whole": [],
		"labels": ["INSERT INTO labels VALUES(1, 'a', 'b')"],
		"circular": ["UPDATE stacks SET parent = id"],
		"many_hits": [with_rows(amount=10 ** 9)],
		"samples": [with_rows(amount=10 ** 9, size=2)],
		"time": [with_rows(bucket=1)],
		"no_stack": [with_rows(stack=99)],
		"no_thread": [with_rows(thread=99)],
		"no_resource": ["UPDATE hits SET resource = 99"],
		"no_frames": ["DELETE FROM frames"],
	}.items():
		store = pathlib.Path(place, f"{name}.db")
		call("store", "add", "--store", store.name, "a.data")
		with sqlite3.connect(store) as connection:
			for sql in [*statements, "COMMIT", "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"]:
				if sql != "COMMIT" or connection.in_transaction:
					connection.execute(sql)
		connection.close()
		(folder / name).write_bytes(store.read_bytes())
