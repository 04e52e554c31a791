"""Stores on SQLite: what is in their file, and files that are damaged or somebody else's."""
import re
import shutil
import sqlite3
import subprocess

import pytest
from cli_support import CPPROF, check_failure, done, run
from store_support import HITS, TOUCHES, add, block_of, large_recording, names, rows_of
from test_record_bad import small_disk
from user_support import NOBODY, as_user, only_root, open_folder


def rows(store, sql):
	with sqlite3.connect(store) as connection:
		return connection.execute(sql).fetchall()


def unpacked(store, table="hits"):
	"""All rows of all blocks."""
	return [row for block, in rows(store, f"SELECT block FROM {table} ORDER BY id") for row in rows_of(block)]


def change_rows(store, change, table="hits"):
	"""Writes each block again, with the rows that `change` returns for its rows and its number."""
	with sqlite3.connect(store) as connection:
		for number, block in connection.execute(f"SELECT id, block FROM {table} ORDER BY id").fetchall():
			changed = block_of(HITS if table == "hits" else TOUCHES, change(rows_of(block), number))
			connection.execute(f"UPDATE {table} SET block = ? WHERE id = ?", (changed, number))


def test_equal_stacks_are_stored_once(profiles, tmp_path):
	store, copy = tmp_path / "store.db", tmp_path / "other.folded"
	copy.write_text("main;parse;read 3\nmain;parse 1\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", copy)
	copy.write_text("main;parse;read 7\nmain;parse 2\n")
	done("import", "--format", "folded", "-o", tmp_path / "b.data", copy)
	tables = ("modules", "functions", "locations", "frames", "stacks")
	add(tmp_path, store, "a.data")
	before = [rows(store, f"SELECT count(*) FROM {table}") for table in tables]
	add(tmp_path, store, "b.data")
	assert [rows(store, f"SELECT count(*) FROM {table}") for table in tables] == before
	assert rows(store, "SELECT count(*) FROM stacks") == [(3,)]
	assert done("export", "--store", store, directory=tmp_path) == "main;parse 3\nmain;parse;read 10\n"


def test_time_in_buckets(profiles, tmp_path):
	"""Hits of one bucket, stack and thread are one row. The row's time is its bucket's."""
	store = tmp_path / "store.db"
	done("store", "init", "--store", store, "--bucket", "1m")
	add(profiles, store, "whole.data")
	assert rows(store, "SELECT value FROM settings WHERE name = 'bucket_ns'") == [(60 * 10 ** 9,)]
	found = unpacked(store)
	assert {row["bucket"] for row in found if row["bucket"] >= 0} == {0}
	assert rows(store, "SELECT sum(rows) FROM hits") == [(len(found),)]
	assert [(sum(row["amount"] for row in found if row["size"]),)] == rows(store, "SELECT samples FROM profiles")
	assert all(row["amount"] > 0 for row in found)


def test_bytes_of_a_row(tmp_path):
	"""The second recording with the same call paths takes at most 3 bytes a row, pages included."""
	store = tmp_path / "store.db"
	for number in range(2):
		(tmp_path / "a.folded").write_text("".join(f"main;f{index % 50};g{index} {(index * 7919 + number) % 13 + 1}\n" for index in range(20000)))
		done("import", "--format", "folded", "-o", tmp_path / f"{number}.data", tmp_path / "a.folded")
	add(tmp_path, store, "0.data")
	one = store.stat().st_size
	add(tmp_path, store, "1.data")
	assert rows(store, "SELECT sum(rows) FROM hits") == [(40000,)]
	assert store.stat().st_size - one < 3 * 20000


def test_full_disk(profiles, tmp_path):
	"""A limit on the size of files stands in for a full disk: nothing of the recording is added."""
	store, data = tmp_path / "store.db", large_recording(tmp_path)
	add(profiles, store, "forms.data")
	before = done("export", "--store", store)
	result = subprocess.run(f"trap '' XFSZ; ulimit -f 400; exec '{CPPROF}' store add --store '{store}' '{data}'", shell=True,
		capture_output=True, text=True)
	check_failure(result, "cannot write store")
	assert rows(store, "SELECT count(*) FROM profiles") == [(1,)] and rows(store, "PRAGMA integrity_check") == [("ok",)]
	assert done("export", "--store", store) == before


def test_full_disk_for_a_store(tmp_path):
	"""Recordings are added until the disk is full. What was added stays whole, and the rest is added when there is room."""
	disk, files, expected = tmp_path / "disk", [], {}
	disk.mkdir()
	for number in range(20):
		paths = {f"main;r{number};f{at}": at + 1 for at in range(4000)}
		(tmp_path / "one.folded").write_text("".join(f"{path} {count}\n" for path, count in paths.items()))
		done("import", "--format", "folded", "-o", tmp_path / f"{number}.data", tmp_path / "one.folded")
		files.append((tmp_path / f"{number}.data", paths))

	def stored():
		lines = done("export", "--store", disk / "store.db").splitlines()
		return {path: int(count) for path, _, count in (line.rpartition(" ") for line in lines)}

	with small_disk(disk, "1m"):
		for number, (path, paths) in enumerate(files):
			result = run("store", "add", "--store", disk / "store.db", path)
			if result.returncode:
				break
			expected.update(paths)
		assert 0 < number < len(files) - 1
		check_failure(result, f"cannot write store '{disk}/store.db'", "full")
		assert rows(disk / "store.db", "PRAGMA integrity_check") == [("ok",)] and stored() == expected
		subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
		add(tmp_path, disk / "store.db", *(path for path, _ in files))
		assert stored() == {path: count for _, paths in files for path, count in paths.items()}


def test_foreign_files_are_refused(profiles, tmp_path):
	foreign = tmp_path / "foreign.db"
	rows(foreign, "CREATE TABLE notes(text)")
	for words in (["store", "add", "--store", foreign, "whole.data"], ["store", "stats", "--store", foreign],
			["report", "--store", foreign], ["store", "init", "--store", foreign], ["store", "prune", "--store", foreign]):
		check_failure(run(*words, directory=profiles), "it is the SQLite file of another program (name another file)")
	check_failure(run("report", "--store", "whole.data", directory=profiles), "it is no file of SQLite")
	check_failure(run("store", "add", "--store", "whole.data", "forms.data", directory=profiles), "it is no file of SQLite")
	check_failure(run("report", "--store", tmp_path / "none.db"), "cannot open store", "No such file")
	check_failure(run("report", "--store", tmp_path), "cannot open store", "Is a directory")
	(tmp_path / "empty.db").touch()
	check_failure(run("report", "--store", tmp_path / "empty.db"), "it is empty (cpprof store add makes one)")
	assert rows(foreign, "SELECT count(*) FROM notes") == [(0,)]


def test_wrong_versions_and_tables(profiles, tmp_path):
	def changed(name, *statements):
		store = tmp_path / name
		add(profiles, store, "whole.data")
		for sql in statements:
			rows(store, sql)
		return run("report", "--store", store)
	check_failure(changed("newer.db", "PRAGMA user_version = 3"), "a newer cpprof made it (update cpprof)")
	check_failure(changed("older.db", "PRAGMA user_version = 1"), "an older cpprof made it", "(add the recordings to a new store")
	check_failure(changed("more.db", "CREATE TRIGGER t AFTER INSERT ON hits BEGIN DELETE FROM hits; END"), "its tables are not those of a store")
	check_failure(changed("view.db", "DROP TABLE touches", "CREATE VIEW touches AS SELECT * FROM hits"), "its tables are not those of a store")
	check_failure(changed("setting.db", "UPDATE settings SET value = 0"), "a setting is out of range")


@pytest.mark.parametrize("sql, message", [
	("DELETE FROM stacks", "a row is missing"), ("UPDATE stacks SET parent = id", "a call path is circular"),
	("UPDATE stacks SET parent = id + 1000", "a call path is circular"), ("DELETE FROM locations", "a row is missing"),
	("DELETE FROM functions", "a row is missing"), ("DELETE FROM modules", "a row is missing"),
	("DELETE FROM frames", "its tables do not fit together"), ("UPDATE frames SET line = -1", "a number is out of range"),
	("UPDATE frames SET kind = 9", "its tables do not fit together"), ("UPDATE functions SET role = 99", "its tables do not fit together"),
	("UPDATE modules SET kind = 99", "a module is out of range"), ("UPDATE modules SET build_id = zeroblob(99)", "a module is out of range"),
	("UPDATE hits SET resource = 99", "is out of range"), ("UPDATE hits SET resource = -5", "is out of range"),
	("UPDATE hits SET block = x''", "a block of rows cannot be read"), ("UPDATE hits SET block = zeroblob(100)", "a block of rows cannot be read"),
	("UPDATE hits SET block = block || x'00'", "a block of rows cannot be read"), ("UPDATE hits SET block = 7", "a block of rows cannot be read"),
	("UPDATE profiles SET description = x'00'", "description cannot be read"),
	("UPDATE profiles SET start = 9223372036854775806", "is out of range"), ("UPDATE profiles SET first_bucket = 9223372036854775807", "out of range")])
def test_damaged_rows(profiles, tmp_path, sql, message):
	"""A store may come from anywhere: wrong rows are errors, and nothing is printed."""
	store = tmp_path / "store.db"
	add(profiles, store, "whole.data")
	rows(store, sql)
	result = run("report", "--functions", "--store", store)
	if "start = " in sql:
		assert result.returncode == 1
	else:
		check_failure(result, message)


@pytest.mark.parametrize("changed, message", [
	({"thread": 99}, "is out of range"), ({"labels": 99}, "is out of range"), ({"stack": 0xFFFF}, "a row is missing"),
	({"stack": 2 ** 63}, "a row is missing"), ({"bucket": 2 ** 62}, "is out of range"), ({"amount": 0}, "is out of range"),
	({"amount": 2 ** 63 - 1}, "is out of range"), ({"size": 2 ** 60}, "is out of range"), ({"size": 0}, "samples do not divide their hits"),
	({"thread": 2 ** 40}, "a block of rows cannot be read")])
def test_damaged_blocks(profiles, tmp_path, changed, message):
	"""The same for wrong numbers in a block whose checks are right."""
	store = tmp_path / "store.db"
	add(profiles, store, "whole.data")
	change_rows(store, lambda found, _: [row | changed for row in found])
	check_failure(run("report", "--functions", "--store", store), message)
	if "stack" in changed or 2 ** 40 in changed.values():
		check_failure(run("store", "prune", "--store", store, "--older-than", "1d", "--service", "none"), "cannot prune store", "it is damaged")


def test_damaged_touches(profiles, tmp_path):
	store = tmp_path / "store.db"
	add(profiles, store, *names(profiles))
	assert {row["mapping"] for row in unpacked(store, "touches")} > {""}
	((service,),) = rows(store, "SELECT DISTINCT service FROM profiles JOIN touches ON touches.profile = profiles.id")
	done("report", "--store", store, "--service", service)
	rows(store, "UPDATE touches SET block = (SELECT block FROM hits)")
	check_failure(run("report", "--store", store, "--service", service), "a block of rows cannot be read")


def test_rows_of_many_samples(profiles, tmp_path):
	"""A row stands for many samples and takes the memory of one. More than a profile's row can stand for are damage."""
	store = tmp_path / "store.db"
	add(profiles, store, "whole.data")
	def change(amount):
		change_rows(store, lambda found, number: [row | ({"amount": amount, "size": 2} if number == 1 else {}) for row in found])
	count = len(rows_of(rows(store, "SELECT block FROM hits WHERE id = 1")[0][0]))
	change(10 ** 9)
	shown = done("report", "--store", store, "--memory", "8M")
	assert re.search(rf"^{count}0{{9}} samples, {2 * count}0{{9}} hits, ", shown, re.MULTILINE), shown
	change(10 ** 12)
	for words in ((), ("--functions",)):
		check_failure(run("report", *words, "--store", store), "it is damaged: a row of hits is out of range")


def test_cut_and_overwritten_files(profiles, tmp_path):
	whole = tmp_path / "whole.db"
	add(profiles, whole, *names(profiles))
	content = whole.read_bytes()
	for at in range(0, len(content), 4096):
		for damaged in (content[:at], content[:at] + b"\xff" * 4096 + content[at + 4096:]):
			store = tmp_path / "damaged.db"
			for path in tmp_path.glob("damaged.db*"):
				path.unlink()
			store.write_bytes(damaged)
			assert run("report", "--functions", "--store", store).returncode in (0, 1, 2)


def test_read_only_folder(profiles, tmp_path):
	"""A store in a folder, or on a disk, that nobody may write to can be read."""
	folder = tmp_path / "folder"
	folder.mkdir()
	store = folder / "store.db"
	add(profiles, store, "whole.data")
	expected = done("export", "--store", store, "-r", "cpu")
	for path in folder.glob("store.db-*"):
		path.unlink()
	inner = f"mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}' && exec '{CPPROF}' "
	if subprocess.run(["unshare", "-rm", "sh", "-c", inner + "--version"], capture_output=True).returncode != 0:
		pytest.skip("this machine permits no mounts in a namespace")
	of_store = subprocess.run(["unshare", "-rm", "sh", "-c", inner + f"export -r cpu --store '{store}'"], capture_output=True, text=True)
	assert (of_store.returncode, of_store.stdout) == (0, expected), of_store.stderr
	written = subprocess.run(["unshare", "-rm", "sh", "-c", inner + f"store add --store '{store}' '{profiles}/forms.data'"],
		capture_output=True, text=True)
	check_failure(written, "cannot open store")


OWNER = 1


def shared_store(folder, profiles):
	"""A store of OWNER in a folder where every user may make files. Returns it, and a function that runs cpprof there as a user."""
	(folder / "own").chmod(0o1777)
	for name in names(profiles):
		shutil.copy(profiles / name, folder / "own")
		(folder / "own" / name).chmod(0o644)

	def cpprof(user, *words):
		return subprocess.run([*as_user(user), folder / "bin/cpprof", *words], cwd=folder / "own", capture_output=True, text=True)
	assert cpprof(OWNER, "store", "add", "--store", "s.db", "whole.data").returncode == 0
	(folder / "own/s.db").chmod(0o644)
	return folder / "own/s.db", cpprof


def beside(store):
	return {path.name: path.stat().st_uid for path in store.parent.glob("s.db*")}


@only_root
def test_a_reader_leaves_nothing(profiles):
	"""Neither its owner's nor another user's report leaves a file, and the owner adds after both."""
	with open_folder() as folder:
		store, cpprof = shared_store(folder, profiles)
		for user in (OWNER, NOBODY, 0):
			assert cpprof(user, "export", "--store", "s.db").stdout == done("export", "--store", store)
			assert beside(store) == {"s.db": OWNER}
		added = cpprof(OWNER, "store", "add", "--store", "s.db", "forms.data")
		assert added.returncode == 0, added.stderr
		assert beside(store) == {"s.db": OWNER}


@only_root
def test_a_reader_of_another_user_and_a_writer_at_work(profiles):
	"""The reader finds what the writer has in its log, and the writer writes on. The same after the writer was killed."""
	with open_folder() as folder:
		store, cpprof = shared_store(folder, profiles)
		writer = subprocess.Popen([*as_user(OWNER), "/usr/bin/python3", "-c", "import sqlite3, sys\n"
			"db = sqlite3.connect(sys.argv[1], isolation_level=None)\ndb.execute('BEGIN IMMEDIATE')\ndb.execute('ROLLBACK')\n"
			"for line in sys.stdin:\n\tdb.execute(line)\n\tprint(flush=True)", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

		def write(sql):
			print(sql, file=writer.stdin, flush=True)
			assert writer.stdout.readline() == "\n"
		try:
			write("UPDATE profiles SET host = 'in the log'")
			assert beside(store) == {"s.db": OWNER, "s.db-shm": OWNER, "s.db-wal": OWNER}
			write("BEGIN IMMEDIATE")
			write("UPDATE profiles SET host = 'not committed'")
			whole = cpprof(OWNER, "export", "--store", "s.db").stdout
			for _ in range(2):
				assert cpprof(NOBODY, "export", "--store", "s.db", "--host", "in the log").stdout == whole > ""
			write("COMMIT")
			assert cpprof(NOBODY, "export", "--store", "s.db", "--host", "not committed").stdout == whole
		finally:
			writer.kill()
			writer.wait()
		assert beside(store) == {"s.db": OWNER, "s.db-shm": OWNER, "s.db-wal": OWNER}
		assert cpprof(NOBODY, "export", "--store", "s.db", "--host", "not committed").stdout == whole
		assert beside(store) == {"s.db": OWNER, "s.db-shm": OWNER, "s.db-wal": OWNER}
		(folder / "own/s.db-shm").unlink()
		check_failure(cpprof(NOBODY, "export", "--store", "s.db"), "its log has to be read by a user who may write it")
		assert beside(store) == {"s.db": OWNER, "s.db-wal": OWNER}
		assert cpprof(OWNER, "store", "add", "--store", "s.db", "forms.data").returncode == 0
		assert beside(store) == {"s.db": OWNER}


def test_a_new_store_is_its_owners(tmp_path):
	done("store", "init", "--store", tmp_path / "store.db")
	assert oct((tmp_path / "store.db").stat().st_mode & 0o777) == "0o600"


def test_prune_removes_what_nothing_needs(profiles, tmp_path):
	store = tmp_path / "store.db"
	add(profiles, store, *names(profiles))
	size = store.stat().st_size
	add(profiles, store, large_recording(tmp_path))
	assert "removed" in run("store", "prune", "--store", store, "--older-than", "0s").stderr
	for table in ("profiles", "labels", "modules", "functions", "locations", "frames", "stacks", "hits", "touches"):
		assert rows(store, f"SELECT count(*) FROM {table}") == [(0,)], table
	assert store.stat().st_size < size and rows(store, "PRAGMA integrity_check") == [("ok",)]
