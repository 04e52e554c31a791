"""Stores on ClickHouse: users and certificates, shards, spools, servers and writers that are killed, and answers that are no store's."""
import os
import random
import signal
import subprocess
import time

import pytest
from clickhouse_support import ClickHouse, ClickHouseStore, cluster, free_ports
from cli_support import CPPROF, check_failure, done, run
from server_support import Server, timeouts
from store_support import HITS, add, block_of, names, without_suffixes

pytestmark = pytest.mark.needs("clickhouse-server")

ALL = ("--limit", 0, "--threshold", 0)
KILLS = int(os.environ.get("CPPROF_STORE_KILLS", "6"))
NAMES = ("modules", "functions", "locations", "stacks")


@pytest.fixture
def store(clickhouse):
	return ClickHouseStore(clickhouse)


def folded(folder, name, text):
	(folder / f"{name}.folded").write_text(text)
	done("import", "--format", "folded", "-o", folder / f"{name}.data", folder / f"{name}.folded")
	return folder / f"{name}.data"


def export(store, *words):
	"""{path: hits}"""
	return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done("export", "--store", store, *words).splitlines()}


def test_equal_names_are_stored_once(store, tmp_path):
	add(tmp_path, store, folded(tmp_path, "a", "main;parse;read 3\nmain;parse 1\n"))
	before = [store.rows(f"SELECT count() FROM {table}") for table in NAMES]
	add(tmp_path, store, folded(tmp_path, "b", "main;parse;read 7\nmain;parse 2\n"))
	assert [store.rows(f"SELECT count() FROM {table}") for table in NAMES] == before
	assert before[3] == [["2"]] and export(store) == {"main;parse": 3, "main;parse;read": 10}


def test_names_are_stored_again_before_pruning_may_remove_them(store, tmp_path):
	add(tmp_path, store, folded(tmp_path, "a", "main;parse;read 3\n"))
	for table in NAMES:
		rewrite(store, table, "seen", "now() - 100000")
	add(tmp_path, store, folded(tmp_path, "b", "main;parse;read 7\n"))
	for table in NAMES:
		assert store.rows(f"SELECT max(seen) > now() - 1000 FROM {table}") == [["1"]]


@pytest.mark.parametrize("connected_us, attempts", [(0, 5), (1, 1)])
def test_a_stalled_insertion_is_not_repeated(store, tmp_path, connected_us, attempts):
	data = folded(tmp_path, "a", "main;parse 3\n")
	add(tmp_path, store, data)
	environment, log = timeouts(tmp_path, "INSERT%20INTO%20hits", connected_us)
	check_failure(run("store", "add", "--store", store, folded(tmp_path, "b", "main;parse 7\n"), **environment), "cannot write store")
	assert log.read_text() == "x" * attempts and export(store) == {"main;parse": 3}


def columns_of(store, table, changed, value):
	rows = store.rows(f"SELECT name FROM system.columns WHERE database = '{store.database}' AND table = '{table}'")
	return ", ".join(value if name == changed else name for name, in rows)


def rewrite(store, table, column, value):
	"""Gives a column another value in all rows. ALTER TABLE ... UPDATE does not do so for columns of the key."""
	store.rows(f"CREATE TABLE copy ENGINE = Memory AS SELECT * FROM {table}")
	store.rows(f"ALTER TABLE {table} DELETE WHERE 1")
	wait_for_mutations(store)
	store.rows(f"INSERT INTO {table} SELECT {columns_of(store, table, column, value)} FROM copy")
	store.rows("DROP TABLE copy")


def wait_for_mutations(store):
	while store.rows(f"SELECT count() FROM system.mutations WHERE NOT is_done AND database = '{store.database}'") != [["0"]]:
		time.sleep(0.05)


@pytest.mark.parametrize("depth", [1, 63, 64, 65, 128, 1000])
def test_deep_paths(store, tmp_path, depth):
	"""They are stored in pieces of 64 frames."""
	paths = [";".join(f"f{level % 7}" for level in range(depth)), ";".join(f"f{level % 7}" for level in range(depth + 40))]
	data = folded(tmp_path, "a", "".join(f"{path} {count}\n" for count, path in enumerate(paths, 3)))
	add(tmp_path, store, data)
	assert done("export", "--store", store) == done("export", data)
	assert done("report", "--tree", *ALL, "--store", store) == done("report", "--tree", *ALL, data)


def test_rows_that_count(store, tmp_path):
	"""A repeated confirmation counts once, and rows of an interrupted writer do not count."""
	add(tmp_path, store, folded(tmp_path, "a", "main;f 3\n"), label="x=1")
	add(tmp_path, store, folded(tmp_path, "b", "main;g 5\n"))
	store.rows("INSERT INTO profiles SELECT * FROM profiles")
	store.rows("INSERT INTO hits SELECT service, resource, time, last, 4711, number, rows, block, written FROM hits")
	assert export(store) == {"main;f": 3, "main;g": 5}
	assert "samples      8\n" in done("store", "stats", "--store", store)
	done("store", "prune", "--store", store, "--older-than", "1d")
	assert store.rows("SELECT count() FROM hits WHERE batch = 4711") == [["2"]] # its writer may still confirm them
	store.rows("ALTER TABLE hits UPDATE written = now() - 200000 WHERE 1")
	wait_for_mutations(store)
	done("store", "prune", "--store", store, "--older-than", "1d")
	assert store.rows("SELECT count() FROM hits WHERE batch = 4711") == [["0"]]
	assert export(store) == {"main;f": 3, "main;g": 5}


def test_two_writers_of_one_recording(store, tmp_path):
	"""Neither has seen the other one: readers choose one of the two batches, and pruning removes both."""
	data = folded(tmp_path, "a", "main;f 3\n")
	add(tmp_path, store, data)
	for table in ("hits", "profiles"):
		store.rows(f"INSERT INTO {table} SELECT {columns_of(store, table, 'batch', 'batch + 1')} FROM {table}")
	assert export(store) == {"main;f": 3} and "recordings   1\n" in done("store", "stats", "--store", store)
	assert "removed 1 recording" in run("store", "prune", "--store", store, "--older-than", "0s").stderr
	assert store.rows("SELECT count() FROM hits") == [["0"]]
	assert "recordings   0\n" in done("store", "stats", "--store", store)
	add(tmp_path, store, data)
	assert export(store) == {"main;f": 3}


def test_prune_deletes_rows(profiles, store):
	add(profiles, store, *names(profiles))
	assert "removed" in run("store", "prune", "--store", store, "--older-than", "0s").stderr
	for table in ("hits", "touches"):
		assert store.rows(f"SELECT count() FROM {table}") == [["0"]]
	assert store.rows("SELECT count() FROM profiles WHERE removed = 0") == [["0"]]
	for table in (*NAMES, "stack_lists"):
		rewrite(store, table, "seen", "now() - 200000")
	done("store", "prune", "--store", store, "--older-than", "0s")
	for table in (*NAMES, "stack_lists"):
		assert store.rows(f"SELECT count() FROM {table}") == [["0"]]


def test_days_are_partitions(store, tmp_path):
	for day in range(3):
		data = folded(tmp_path, f"d{day}", f"main;f{day} 1\n")
		os.utime(data, (1_800_000_000 + 86400 * day,) * 2)
		add(tmp_path, store, data)
	assert store.rows(f"SELECT uniq(partition) FROM system.parts WHERE active AND table = 'hits' AND database = '{store.database}'") == [["3"]]
	assert export(store, "--from", "@1800086400", "--to", "@1800090000") == {"main;f1": 1}


def test_texts_are_no_sql(store, tmp_path):
	word = "a'); DROP TABLE hits; -- \\' \\"
	add(tmp_path, store, folded(tmp_path, "a", "main;f'\\g 3\n"), service=word, host=word)
	assert export(store, "--service", word, "--host", word) == {"main;f'\\g": 3}
	assert run("export", "--store", store, "--service", "x' OR 'a' = 'a").returncode == 1


def test_times_that_the_server_has_not(store, tmp_path):
	data = folded(tmp_path, "a", "main;f 3\n")
	os.utime(data, (2 ** 33,) * 2)
	check_failure(run("store", "add", "--store", store, data), "its times are not between 1970 and 2106")


# --- users ---

def test_password(store, tmp_path):
	data = folded(tmp_path, "a", "main;f 3\n")
	url = store.url.replace("//", "//team:s3cret@")
	added = run("store", "add", "--store", url, data)
	assert added.returncode == 0 and f"added 1 recording to '{store.url}'" in added.stderr
	shown = done("explain", "--store", url) + done("info", "--store", url)
	assert store.url in shown and "s3cret" not in shown
	for wrong in ("team:no@", "nobody@", "team@"):
		result = run("export", "--store", store.url.replace("//", f"//{wrong}"))
		check_failure(result, "cannot read store", "DB::Exception")
		assert wrong not in result.stderr
	(tmp_path / ".netrc").write_text("machine 127.0.0.1 login team password s3cret\n")
	assert done("export", "--store", store.url.replace("//", "//team@"), HOME=str(tmp_path)) == "main;f 3\n"


def test_a_reader_may_not_write(store, tmp_path):
	data = folded(tmp_path, "a", "main;f 3\n")
	add(tmp_path, store, data)
	url = store.url.replace("//", "//reader:look@")
	assert done("export", "--store", url) == "main;f 3\n" and "recordings   1\n" in done("store", "stats", "--store", url)
	check_failure(run("store", "add", "--store", url, folded(tmp_path, "b", "main;g 3\n")), "cannot write store", "eadonly")
	assert export(store) == {"main;f": 3}


def test_tls(tmp_path):
	certificate, key, (http, tcp, https) = tmp_path / "certificate", tmp_path / "key", free_ports(3)
	subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
		"subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
	more = f"""<https_port>{https}</https_port><openSSL><server><certificateFile>{certificate}</certificateFile><privateKeyFile>{key}</privateKeyFile>
		<verificationMode>none</verificationMode></server></openSSL>"""
	server = ClickHouse(tmp_path / "server", (http, tcp), more=more)
	try:
		data, url = folded(tmp_path, "a", "main;f 3\n"), f"https://127.0.0.1:{https}/db"
		check_failure(run("store", "add", "--store", url, data), "certificate")
		done("store", "add", "--store", url, data, CURL_CA_BUNDLE=str(certificate))
		assert done("export", "--store", url, CURL_CA_BUNDLE=str(certificate)) == "main;f 3\n"
	finally:
		server.kill()


# --- shards ---

def test_three_shards(profiles, tmp_path):
	with cluster(tmp_path, 3) as servers:
		urls = [server.url("db") for server in servers]
		done("store", "init", "--store", urls[0], "--cluster", "fleet")
		check_failure(run("store", "stats", "--store", urls[0]), "a server of its cluster has no tables (cpprof store init --cluster on each)")
		for url in urls[1:]:
			done("store", "init", "--store", url, "--cluster", "fleet")
		for index, name in enumerate(names(profiles)):
			done("store", "add", "--store", urls[index % 3], "--service", name, name, directory=profiles)
		for table in ("profiles_shard", "stacks_shard", "locations_shard", "functions_shard"):
			counts = [int(server.query(f"SELECT count() FROM {table}", "db")[0][0]) for server in servers]
			assert all(counts) and sum(counts) == int(servers[0].query(f"SELECT count() FROM {table[:-6]}", "db")[0][0]), table
		for url in urls:
			assert f"recordings   {len(names(profiles))}\n" in done("store", "stats", "--store", url)
			for name in ("whole.data", "labels.data", "programs.data"):
				words = ("report", "--functions", "--format", "json", *ALL)
				of_store, of_file = done(*words, "--store", url, "--service", name), done(*words, name, directory=profiles)
				assert without_suffixes(of_store) == without_suffixes(of_file)
		again = run("store", "add", "--store", urls[2], *names(profiles), directory=profiles)
		assert again.returncode == 0 and again.stderr.count("is in the store already") == len(names(profiles))
		servers[1].kill()
		check_failure(run("report", "--store", urls[0], "--service", "whole.data"), "cannot") # never a part of the figures
		servers[1].start()
		for url in urls:
			done("store", "prune", "--store", url, "--older-than", "0s")
		for server in servers:
			assert server.query("SELECT count() FROM hits_shard", "db") == [["0"]]


def test_settings_of_servers_differ(tmp_path):
	with cluster(tmp_path, 2) as servers:
		for server, bucket in zip(servers, ("10s", "1m")):
			done("store", "init", "--store", server.url("db"), "--cluster", "fleet", "--bucket", bucket)
		check_failure(run("store", "stats", "--store", servers[0].url("db")), "its servers were made with different settings")


# --- spool ---

def test_spool(tmp_path):
	server = ClickHouse(tmp_path / "server")
	try:
		store, spool = ClickHouseStore(server), tmp_path / "spool"
		first, second, third = (folded(tmp_path, name, f"main;{name} 3\n") for name in "abc")
		add(tmp_path, store, first)
		server.kill()
		check_failure(run("store", "add", "--store", store, second), "cannot read store")
		kept = run("store", "add", "--store", store, "--spool", spool, "--label", "x=1", "--service", "shop", second, third, first)
		assert kept.returncode == 0 and "kept 3 recordings in" in kept.stderr, kept.stderr
		assert len(list(spool.glob("*.spool"))) == 3
		for path in (first, second, third):
			path.unlink()
		assert run("store", "add", "--store", store, "--spool", spool).returncode == 0
		assert len(list(spool.glob("*.spool"))) == 3
		server.start()
		(spool / "foreign.spool").write_text("text")
		sent = run("store", "add", "--store", store, "--spool", spool)
		assert sent.returncode == 0 and "sent 2 recordings" in sent.stderr and "it is no recording of a spool" in sent.stderr
		assert [path.name for path in spool.iterdir()] == ["foreign.bad"]
		assert export(store) == {"main;a": 3, "main;b": 3, "main;c": 3}
		assert export(store, "--service", "shop", "--label", "x=1") == {"main;b": 3, "main;c": 3}
	finally:
		server.kill()


def test_spooled_recordings_have_the_figures_of_their_files(profiles, store, tmp_path):
	spool, away, files = tmp_path / "spool", f"http://127.0.0.1:{free_ports(1)[0]}/db", ("whole.data", "labels.data", "programs.data")
	added = store.another("added")
	done("store", "add", "--store", away, "--spool", spool, *files, directory=profiles)
	done("store", "add", "--store", store, "--spool", spool)
	add(profiles, added, *files)
	assert not list(spool.iterdir())
	for report in (["--functions", *ALL], ["--by-label", *ALL], ["--threads", *ALL]):
		assert done("report", *report, "--format", "json", "--store", store) == done("report", *report, "--format", "json", "--store", added)


@pytest.mark.parametrize("seed", [17])
def test_nothing_is_lost_or_doubled(tmp_path, seed):
	"""Servers and writers are killed at random moments (CPPROF_STORE_KILLS of them). Each recording then counts once."""
	chance, server, expected, files = random.Random(seed), ClickHouse(tmp_path / "server"), {}, []
	store, spool = ClickHouseStore(server), tmp_path / "spool"
	try:
		for number in range(KILLS):
			new = []
			for index, size in enumerate((1, 3000)):
				paths = {f"main;r{number}_{index};f{at}": chance.randint(1, 9) for at in range(size)}
				new.append(folded(tmp_path, f"r{number}_{index}", "".join(f"{path} {count}\n" for path, count in paths.items())))
				expected.update(paths)
			files += new
			writer = subprocess.Popen([CPPROF, "store", "add", "--store", str(store), "--spool", spool, *new], stderr=subprocess.DEVNULL)
			time.sleep(chance.uniform(0, 0.7))
			if chance.random() < 0.5:
				writer.send_signal(signal.SIGKILL)
			else:
				server.kill()
				time.sleep(chance.choice((0, 0, 5)))
				server.start()
			writer.wait()
		# A file whose writer was killed is added again, and so is any other one.
		done("store", "add", "--store", store, "--spool", spool, *files)
		assert not list(spool.glob("*.spool"))
		assert export(store) == expected
		assert f"recordings   {len(files)}\n" in done("store", "stats", "--store", store)
	finally:
		server.kill()


# --- what is no store ---

def test_other_databases(profiles, store):
	store.server.query(f"CREATE DATABASE {store.database}")
	store.rows("CREATE TABLE hits(a UInt8) ENGINE = Log")
	for words in (["store", "add", "--store", store, "whole.data"], ["store", "stats", "--store", store], ["report", "--store", store],
			["store", "init", "--store", store], ["store", "prune", "--store", store]):
		check_failure(run(*words, directory=profiles), "its tables are not those of a store of this version (name another database)")


@pytest.mark.parametrize("sql, message", [
	("INSERT INTO settings VALUES('version', 3, '')", "different settings"),
	("ALTER TABLE settings DELETE WHERE name = 'version'; INSERT INTO settings VALUES('version', 3, '')", "a newer cpprof made it (update cpprof)"),
	("ALTER TABLE settings DELETE WHERE name = 'bucket_ns'; INSERT INTO settings VALUES('bucket_ns', 5, '')", "a setting is out of range"),
	("ALTER TABLE hits DROP COLUMN rows", "its tables are not those of a store"), ("DROP TABLE stacks", "its tables are not those of a store")])
def test_wrong_versions_and_tables(store, tmp_path, sql, message):
	add(tmp_path, store, folded(tmp_path, "a", "main;f 3\n"))
	for statement in sql.split("; "):
		store.rows(statement)
		wait_for_mutations(store)
	check_failure(run("report", "--store", store), message)


def test_no_store(clickhouse, store):
	check_failure(run("report", "--store", store), "the database has no store (cpprof store add makes one)")
	assert clickhouse.query(f"SELECT count() FROM system.databases WHERE name = '{store.database}'") == [["0"]]


@pytest.mark.parametrize("words", ["report", "html", "regress", "store top"])
def test_no_server(tmp_path, words):
	check_failure(run(*words.split(), "--store", f"http://127.0.0.1:{free_ports(1)[0]}/db", directory=tmp_path), "cannot read store", "onnect")
	assert not list(tmp_path.iterdir())


def with_row(**changed):
	"""SQL that changes the only row of the only block."""
	row = {"thread": None, "labels": 0, "bucket": -1, "stack": 1, "size": 0, "amount": 3} | changed
	return f"UPDATE hits SET block = unhex('{block_of(HITS, [row]).hex()}')"


def test_recordings_of_one_writer_share_lists(store, tmp_path):
	"""A list has the stacks that no list before it has, and a new writer begins anew. More lists than a recording may refer to make a new begin, too."""
	files = [folded(tmp_path, name, text) for name, text in (("a", "main;f 3\nmain;g 1\n"), ("b", "main;g 5\nmain;f 2\n"), ("c", "main;g 7\nmain;h 4\n"))]
	add(tmp_path, store, *files)
	assert store.rows("SELECT length(stacks) FROM stack_lists ORDER BY length(stacks)") == [["1"], ["2"]]
	assert export(store) == {"main;f": 5, "main;g": 13, "main;h": 4}
	add(tmp_path, store, *(folded(tmp_path, f"more{index}", f"main;g 1\nmain;more{index} 1\n") for index in range(40)))
	assert store.rows("SELECT max(length(lists)) FROM profiles") == [["32"]]
	assert export(store) == {"main;f": 5, "main;g": 53, "main;h": 4} | {f"main;more{index}": 1 for index in range(40)}


@pytest.mark.parametrize("sql, message", [
	("DELETE FROM stacks", "a row is missing"), ("UPDATE stacks SET parent = 7", "a call path is another one"),
	("UPDATE stacks SET locations = []", "too long or empty"), ("DELETE FROM locations", "a row is missing"),
	("DELETE FROM functions", "a row is missing"), ("DELETE FROM modules", "a row is missing"),
	("UPDATE locations SET files = []", "a location is incomplete"), ("UPDATE locations SET kinds = [200]", "its tables do not fit together"),
	("UPDATE functions SET role = 99", "its tables do not fit together"), ("UPDATE functions SET name = '\\0x'", "a name has a NUL"),
	("UPDATE modules SET kind = 99", "a module is out of range"), ("UPDATE modules SET build_id = 'a very long build-id, longer than sixty-four bytes, which none is.'", "a module is out of range"),
	("UPDATE hits SET number = 9", "is out of range"), ("UPDATE hits SET block = 'x'", "a block of rows cannot be read"),
	(with_row(labels=9), "is out of range"), (with_row(thread=9), "is out of range"), (with_row(amount=0), "is out of range"),
	(with_row(amount=2 ** 64 - 1), "is out of range"), (with_row(size=2 ** 63, amount=2), "is out of range"), (with_row(stack=2), "a row is missing"),
	(with_row(size=1, amount=2 ** 40), "is out of range"),
	("DELETE FROM stack_lists", "a row is missing"), ("UPDATE stack_lists SET stacks = []", "a row is missing"), ("UPDATE profiles SET lists = []", "a row is missing"),
	("DELETE FROM hits", "a recording's rows are not complete"),
	("UPDATE profiles SET description = 'x'", "description cannot be read"), ("UPDATE profiles SET start_ns = 9223372036854775806", "out of range"),
	("UPDATE profiles SET first_bucket = 9223372036854775807", "out of range"), ("UPDATE profiles SET label_keys = ['']", "a label has no value")])
def test_damaged_rows(store, tmp_path, sql, message):
	"""A server may be anybody's: wrong rows are errors, and nothing is printed."""
	add(tmp_path, store, folded(tmp_path, "a", "main;f 3\n"))
	verb, table, *rest = sql.replace("DELETE FROM", "DELETE").split(" ", 2)
	if verb == "DELETE":
		store.rows(f"ALTER TABLE {table} DELETE WHERE 1")
		wait_for_mutations(store)
	else:
		rewrite(store, table, *rest[0].removeprefix("SET ").split(" = "))
	result = run("report", "--functions", "--store", store)
	check_failure(result, message)


@pytest.mark.parametrize("answer, message", [
	((200, {}, "no rows at all" * 99), "cannot"), ((200, {}, "{\"data\": []}"), "cannot"), ((200, {}, "\x05hits"), "the server's answer ends within a row"),
	((200, {}, ""), "the database has no store"), ((404, {}, "nothing"), "the server answered 404: nothing"),
	((302, {"Location": "http://127.0.0.1:1/"}, ""), "the server answered 302"), ((500, {}, "Code: 62, e.displayText() = DB::Exception: Syntax error"), "Code: 62, e.displayText() = DB::Exception: Syntax error"),
	((401, {}, "\x1b[2J"), "the server answered 401")])
def test_servers_of_another_kind(answer, message):
	with Server(answer) as server:
		result = run("report", "--store", f"{server.url}/db")
	check_failure(result, "store", message)
	assert "\x1b" not in result.stderr


def test_a_busy_server_is_asked_again(store, tmp_path):
	busy = (500, {}, "Code: 202, e.displayText() = DB::Exception: Too many simultaneous queries")
	with Server(busy, busy, (403, {}, "enough")) as server:
		check_failure(run("report", "--store", f"{server.url}/db"), "the server answered 403: enough")
	assert len(server.requests) == 3


@pytest.mark.unsanitized("a sanitizer's allocator ends the process where memory is limited")
def test_an_endless_answer(tmp_path):
	"""The limit on memory holds, and the answer is not read to its end."""
	with Server((200, {}, "\xff\xff\x7f" * (40 << 20))) as server:
		result = run("report", "--memory", "64M", "--store", f"{server.url}/db")
	check_failure(result, "cannot read store")
