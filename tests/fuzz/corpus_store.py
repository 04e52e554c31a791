#!/usr/bin/python3
"""Writes the corpus of fuzz_store: corpus_store.py CPPROF FOLDER. SQLite's pages are as small as possible, and the journal is not a log."""
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

cpprof, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as place:
	def call(*words):
		subprocess.run([cpprof, *words], cwd=place, check=True, stderr=subprocess.DEVNULL)
	pathlib.Path(place, "a.folded").write_text("main;f 1\nmain;g;h 7\n")
	call("import", "-o", "a.data", "a.folded")
	for name, statements in {
		"whole": [],
		"labels": ["INSERT INTO labels VALUES(1, 'a', 'b')"],
		"circular": ["UPDATE stacks SET parent = id"],
		"many_hits": ["UPDATE hits SET hits = 1000000000, samples = 1000000000"],
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
