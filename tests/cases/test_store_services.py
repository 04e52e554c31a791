"""Recordings of several services: each process counts for its own service, and the sum of all services is the file."""
import fcntl
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from cli_support import CPPROF, MAKE_PROFILE, check_failure, done, run
from json_support import valid_json
from record_support import build_counted, needs_perf, record_counted, run_cpprof
from test_record_bad import small_disk
from test_record_machine import refusal

ALL = ("--limit", 0, "--threshold", 0)
AWAY = "none/store.db" # a store that cannot be opened
MACHINE = {"server": [300, 310], "helper": [320], "kernel": [0], "0123456789ab": [400], "pod01234567-0123456789ab": [410, 430], "bash": [440]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
	"""machine.data is as of 'record -a'; server.data has the same server, recorded alone. See tests/golden/make_profile.c."""
	folder = tmp_path_factory.mktemp("services")
	for kind in ("machine", "server"):
		subprocess.run([MAKE_PROFILE, kind, folder / f"{kind}.data"], check=True)
	return folder


def rows(source, *words):
	"""{(resource, name): hits} of a report."""
	found = {}
	for result in json.loads(done("report", "--functions", "--format", "json", *ALL, *words, source))["results"]:
		for entry in result["entries"]:
			key = result["resource"], re.sub("@.*", "", entry["path"][0])
			found[key] = found.get(key, 0) + entry["hits"]
		found[result["resource"], "all"] = result["total_hits"]
	return {key: hits for key, hits in found.items() if hits}


def of_processes(path, pids):
	"""The figures of `report --process` of these processes."""
	return rows(path, *[word for pid in pids for word in ("--process", pid)]) if pids else {}


def services(store):
	"""{service: {resource: hits}}"""
	found = {}
	for result in json.loads(done("report", "--by-label=service", "--format", "json", *ALL, "--store", store))["results"]:
		for entry in result["entries"]:
			found.setdefault(entry["labels"]["service"], {})[result["resource"]] = entry["hits"]
	return found


def info(source):
	document = valid_json(done("info", "--format", "json", source))
	lost = {row["name"]: (row["hits"], row["samples"], row["lost"]) for row in document["resources"]}
	findings = sorted((row["code"], row["count"]) for row in document["findings"])
	processes = sorted((row["pid"], row["name"], row["cgroup"]) for row in document["processes"])
	return lost, findings, sorted((row["cause"], row["count"]) for row in document["causes"]), processes


def add(store, *words):
	result = run("store", "add", "--store", store, *words)
	assert result.returncode == 0, result.stderr
	return result.stderr


def stats(store):
	return {line.split()[0]: line.split(None, 1)[1] for line in done("store", "stats", "--store", store).splitlines()}


@pytest.fixture
def place(tmp_path):
	return tmp_path / "store.db"


def check_machine(store, path):
	"""Each service has the figures of its processes, and all services together those of the file."""
	for service, pids in MACHINE.items():
		assert rows(f"{store}?service={service}") == of_processes(path, pids), service
	assert rows(str(store)) == rows(path)
	assert services(store)["machine"] == {"page-faults": 32} # the hits without a process
	assert info(str(store)) == info(path)
	none = valid_json(done("info", "--format", "json", f"{store}?service=server"))
	assert none["resources"][0]["lost"] == 0 and not none["findings"] and not none["causes"]
	rest = valid_json(done("info", "--format", "json", f"{store}?service=machine"))
	assert [row["name"] for row in rest["processes"]] == ["cron"] # it has no hits


def test_a_machine_wide_recording_has_many_services(data, store):
	"""Without an option: --service gives all processes one."""
	assert "added 1 recording in 7 parts, one for each service, to" in add(store, data / "machine.data")
	check_machine(store.url, data / "machine.data")
	assert stats(store)["recordings"] == "7" and stats(store)["samples"] == "97"
	assert services(store).keys() == {*MACHINE, "machine"}
	single = store.another("single")
	assert "added 1 recording to" in add(single, "--service", "shop", data / "machine.data")
	assert services(single).keys() == {"shop"} and rows(single.url) == rows(data / "machine.data")


def test_other_recordings_have_them_on_request(data, store):
	"""The service of losses and findings is then the first process's program."""
	assert "added 1 recording to" in add(store, data / "server.data")
	assert services(store).keys() == {"server"}
	other = store.another("other")
	assert "in 2 parts" in add(other, "--services", "auto", data / "server.data")
	assert rows(f"{other.url}?service=server") == of_processes(data / "server.data", [300, 310])
	assert rows(f"{other.url}?service=helper") == of_processes(data / "server.data", [320])
	assert info(other.url) == info(data / "server.data")


def test_added_twice_counts_once(data, store):
	"""However its processes were named the first time."""
	before = add(store, data / "machine.data") and services(store)
	for words in ([], ["--service", "shop"], ["--services", "auto"]):
		assert "is in the store already" in add(store, *words, data / "machine.data")
	assert services(store) == before
	other = store.another("other")
	add(other, "--service", "shop", data / "machine.data")
	assert "is in the store already" in add(other, data / "machine.data")
	assert services(other).keys() == {"shop"}


@pytest.mark.parametrize("service", ["machine", "bash"])
def test_a_file_of_which_a_part_is_there_is_there(data, store, tmp_path, service):
	"""Also after the other parts were pruned: a part under another name would count twice."""
	(tmp_path / "rules").write_text("unit=server shop\n")
	add(store, data / "machine.data")
	done("store", "prune", "--store", store, "--older-than", "0s", "--service", service)
	before = services(store)
	assert "is in the store already" in add(store, "--services", tmp_path / "rules", data / "machine.data")
	assert services(store) == before and stats(store)["recordings"] == "6"
	done("store", "prune", "--store", store, "--older-than", "0s")
	add(store, "--services", tmp_path / "rules", data / "machine.data")
	assert services(store).keys() == {"shop", *MACHINE, "machine"} - {"server"} and rows(store.url) == rows(data / "machine.data")


def test_a_killed_writer_has_added_nothing(data, place):
	"""The limit of file sizes kills it at one page after the other. Other rules then double no hit."""
	(place.parent / "rules").write_text("unit=server shop\nname=bash admins\n")
	killed = 0
	for limit in range(0, 200000, 12288):
		done("store", "init", "--store", place)
		words = ["prlimit", f"--fsize={limit}", "--core=0", CPPROF, "store", "add", "--store", place, data / "machine.data"]
		was_killed = subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode != 0
		killed += was_killed
		if "is in the store already" not in add(place, "--services", place.parent / "rules", data / "machine.data"):
			assert was_killed and services(place).keys() == {"shop", "admins", *MACHINE, "machine"} - {"server", "bash"}
		assert rows(f"sqlite://{place}") == rows(data / "machine.data")
		for path in place.parent.glob("store.db*"):
			path.unlink()
	assert killed > 3


RULES = """# services of the shop
unit=serv*          shop # all of its units
container=pod*      shop

  name=bash\tadmins
cgroup=/user.slice  admins
name=*              rest
"""


def test_rules_of_a_file(data, store, tmp_path):
	"""The first rule that fits counts; "rest" takes even the kernel's threads."""
	(tmp_path / "rules").write_text(RULES)
	add(store, "--services", tmp_path / "rules", data / "machine.data")
	for service, pids in {"shop": [300, 310, 410, 430], "admins": [320, 440], "rest": [0, 400]}.items():
		assert rows(f"{store.url}?service={service}") == of_processes(data / "machine.data", pids)
	assert services(store).keys() == {"shop", "admins", "rest", "machine"}
	assert rows(store.url) == rows(data / "machine.data")


def test_rules_for_one_service(data, store, tmp_path):
	"""No part is made for the losses then."""
	(tmp_path / "rules").write_text("name=* shop")
	assert "added 1 recording to" in add(store, "--services", tmp_path / "rules", data / "server.data")
	assert services(store).keys() == {"shop"}
	assert info(store.url) == info(data / "server.data")


@pytest.mark.parametrize("line", ["nginx shop", "exe=/bin/sh shop", "unit= shop", "unit=nginx", "unit=nginx # shop", "unit=nginx shop two", "=x y",
	"units=nginx shop"])
def test_bad_rules_are_refused(data, place, line):
	rules = place.parent / "rules"
	rules.write_text(f"# comment\nunit=a b\n{line}\n")
	check_failure(run("store", "add", "--store", place, "--services", rules, data / "machine.data"),
		f"{rules}:3: expected SUBJECT=PATTERN SERVICE (SUBJECT: cgroup, unit, container or name)")
	assert not place.exists()


@pytest.mark.parametrize("words, message", [
	("--services auto --service x a.data", "--services cannot be combined with --service"),
	("--spool-limit 1M a.data", "--spool-limit needs a folder (--spool FOLDER)"),
	("--spool s --spool-limit 1X a.data", "--spool-limit 1X is no size (64M, 2G)"), ("--spool s --spool-limit 0 a.data", "is no size")])
def test_wrong_words(tmp_path, words, message):
	result = run("store", "add", *words.split(), directory=tmp_path)
	assert result.returncode == 2 and message in result.stderr and not list(tmp_path.iterdir())


def test_a_file_of_rules_that_cannot_be_read(data, place):
	check_failure(run("store", "add", "--store", place, "--services", place.parent / "none", data / "machine.data"), "cannot read", "none")
	check_failure(run("store", "add", "--store", place, "--services", place.parent, data / "machine.data"), "cannot read")


def test_completion():
	assert done("complete", "bash", "store", "add", "--services", "").split() == ["auto"]
	assert done("complete", "bash", "store", "add", "--services", "ru").split() == [] # the shell completes names of files


STRACE = """10 execve("/bin/make", ["make"], 0x1) = 0
10 fork() = 11
11 execve("/bin/sh", ["sh"], 0x1) = 0
"""


def test_regress_compares_each_service(store, tmp_path):
	"""From the fifth hour on, `sh` reads; make does the same as before, and the part without hits, of the first program, changes nothing."""
	folder, start, hour = tmp_path, 1_700_000_000, 3600
	(folder / "rules").write_text("name=make build\n")
	for index in range(8):
		path = folder / f"{index}.data"
		(folder / "log").write_text(STRACE + "11 close(3) = 0\n" * (100 + index) + "11 read(3) = 0\n" * (90 if index > 3 else 0))
		done("import", "--format", "strace", "-o", path, folder / "log")
		os.utime(path, (start + index * hour,) * 2)
	add(store, "--services", folder / "rules", *(folder / f"{index}.data" for index in range(8)))
	assert stats(store)["recordings"] == "24" # build, sh and make
	result = run("regress", "--store", store, "--baseline", f"@{start}", "--since", f"@{start + 4 * hour}", "--to", f"@{start + 8 * hour}", "--window", "1h",
		"--format", "json")
	assert result.returncode == 3, result.stderr
	assert {one["labels"]["service"] for one in json.loads(result.stdout)["results"] if one["entries"]} == {"sh"}


def test_names_of_processes_are_limited(store, tmp_path):
	"""A process may call itself anything: names with fewer hits than 256 others are the rest's. Rules, and units, count beside them."""
	names = [f"p{index:03}" for index in range(300)]
	log = "".join(f'{100 + index} execve("/bin/{name}", ["x"], 0x1) = 0\n' + f"{100 + index} close(3) = 0\n" * (2 if index % 10 else 1)
		for index, name in enumerate(names))
	(tmp_path / "log").write_text('10 execve("/bin/first", ["first"], 0x1) = 0\n' + "10 fork() = 11\n" * 9 + log)
	(tmp_path / "rules").write_text("name=p29* rule\n")
	done("import", "--format", "strace", "-o", tmp_path / "a.data", tmp_path / "log")
	add(store, "--services", tmp_path / "rules", tmp_path / "a.data")
	found = services(store)
	few = {name for index, name in enumerate(names[:290]) if index % 10 == 0}
	assert len(found) == 256 + 1 and "first" in found and "rule" in found # the rest is of the first one, too
	assert {name for name in names[:290] if name not in found} == few | set(names[284:290]) # of equal ones, the last
	assert rows(store.url) == rows(tmp_path / "a.data")


def test_names_are_safe_texts(store, tmp_path):
	(tmp_path / "log").write_text('10 execve("/bin/a\x1b[2Jb", ["a"], 0x1) = 0\n10 fork() = 11\n11 execve("/bin/c\u202ed", ["c"], 0x1) = 0\n11 close(3) = 0\n')
	done("import", "--format", "strace", "-o", tmp_path / "a.data", tmp_path / "log")
	add(store, "--services", "auto", tmp_path / "a.data")
	assert services(store).keys() == {"a\\x1b[2Jb", "c\\u202ed"}


def test_programs_of_one_recording(tmp_path, store):
	"""A script starts two programs, each of which makes counted events."""
	first, second = (build_counted("preload", name, event_us=1000) for name in ("fork_tree.c", "threads.c"))
	recorded = record_counted("preload", tmp_path, ["sh", "-c", f"{first} 3; {second} 2"])
	(tmp_path / "rules").write_text("name=fork* trees\n")
	add(store, "--services", tmp_path / "rules", recorded.path)
	pids = {}
	for process in valid_json(done("info", "--format", "json", recorded.path))["processes"]:
		pids.setdefault("trees" if process["name"].startswith("fork") else "other", []).append(process["pid"])
	assert rows(f"{store.url}?service=trees") == of_processes(recorded.path, pids["trees"]) != {}
	assert rows(store.url) == rows(recorded.path)


@needs_perf
@pytest.mark.parametrize("backend", ["perf", "bpf"])
def test_a_recording_of_this_machine(tmp_path, store, backend):
	if refusal(backend):
		pytest.skip(refusal(backend))
	path = tmp_path / "all.data"
	recorded = run_cpprof("record", "--backend", backend, "-a", "-r", "page-faults/3", "-o", path, "--", "sh", "-c", "ls /; true")
	assert recorded.returncode == 0, recorded.stderr
	(tmp_path / "rules").write_text("name=ls listing\n")
	add(store, "--services", tmp_path / "rules", path)
	found = services(store)
	assert sum(row.get("page-faults", 0) for row in found.values()) == rows(path)["page-faults", "all"]
	pids = [process["pid"] for process in valid_json(done("info", "--format", "json", path))["processes"] if process["name"] == "ls"]
	assert found.get("listing", {}).get("page-faults", 0) == of_processes(path, pids).get(("page-faults", "all"), 0)
	assert rows(store.url) == rows(path)


# --- the spool ---

def spool(folder):
	return sorted(path for path in folder.glob("*.spool") if path.name[0] != ".")


def keep(folder, *words):
	"""Returns what `add` prints where the store does not take the recordings."""
	result = run("store", "add", "--store", folder.parent / AWAY, "--spool", folder, *words)
	assert result.returncode == 0 and "cannot make store" in result.stderr, result.stderr
	return result.stderr


def refuse(folder, limit, path):
	"""Returns whether `add` does not keep a file, and drops none."""
	result = run("store", "add", "--store", folder.parent / AWAY, "--spool", folder, "--spool-limit", limit, path)
	return result.returncode == 1 and "there is no room (--spool-limit)" in result.stderr and "dropped" not in result.stderr


def recording(folder, name, functions=50):
	source, path = folder / f"{name}.folded", folder / f"{name}.data"
	source.write_text("".join(f"main;{name}_{index} 3\n" for index in range(functions)))
	done("import", "--format", "folded", "-o", path, source)
	return path


def test_services_wait_in_a_spool(data, store, tmp_path):
	"""The folder keeps the services that a rule gave. A recording of one service is written as older versions write and read it."""
	folder, rules = tmp_path / "spool", tmp_path / "rules"
	rules.write_text("unit=server shop\n")
	for words in (["--services", rules, data / "machine.data"], ["--service", "alone", data / "server.data"]):
		assert "kept 1 recording in" in keep(folder, *words)
	rules.unlink()
	assert {path.read_bytes()[:14] for path in spool(folder)} == {b"cpprof spool 1", b"cpprof spool 2"}
	assert "sent 2 recordings" in add(store, "--spool", folder)
	assert rows(f"{store.url}?service=shop") == of_processes(data / "machine.data", MACHINE["server"])
	assert services(store).keys() == {"shop", *MACHINE, "machine", "alone"} - {"server"}
	assert not spool(folder)
	assert "is in the store already" in add(store, data / "machine.data")


def test_damaged_files_of_a_spool(data, place):
	"""A beginning of a file, and a service too few, is refused: nothing is added in part."""
	folder = place.parent / "spool"
	keep(folder, data / "machine.data")
	(path,) = spool(folder)
	whole = path.read_bytes()
	profile = whole.index(b"CPPROF") if b"CPPROF" in whole else len(whole)
	for cut in (whole[:20], whole[:40], whole[:60], whole[:whole.index(b"kernel") + 2], whole.replace(b"\x09\x06server\x06server\x06helper", b"\x08\x06server\x06server", 1),
			whole.replace(b"\x09\x06server", b"\xff\x7f\x06server", 1), whole.replace(b"helper", b"hel\0er", 1)):
		assert cut != whole and profile
		path.write_bytes(cut)
		warned = add(place, "--spool", folder)
		assert "it is no recording of a spool" in warned and "1 recording of" in warned and "renamed from .spool to .bad" in warned
		assert not add(place, "--spool", folder) and [left.suffix for left in folder.iterdir()] == [".bad"]
	path.write_bytes(whole)
	assert "sent 1 recording of" in add(place, "--spool", folder)


def test_a_bad_file_of_a_spool_is_not_the_fault_of_others(data, place):
	"""They are added, with status 0: who waits for that may remove them."""
	folder = place.parent / "spool"
	keep(folder, recording(place.parent, "first"))
	(folder / "text.spool").write_text("text")
	assert "renamed from .spool to .bad" in (text := add(place, "--spool", folder, data / "server.data")) and "sent 1 recording of" in text
	assert "added 1 recording to" in text and [path.name for path in folder.iterdir()] == ["text.bad"]
	text = add(place, "--spool", folder, data / "machine.data")
	assert "added 1 recording in" in text and ".bad" not in text


@pytest.mark.parametrize("content, message", [(None, "cannot open store"), ("no database\n" * 9, "it is no file of SQLite")])
def test_a_store_that_is_none(data, place, content, message):
	"""A folder, or another file: what is in the spool is safe, so the status is 0, also with what waits there. A FILE that is nowhere fails."""
	folder = place.parent / "spool"
	if content:
		place.write_text(content)
	else:
		place.mkdir()
	for count, name in enumerate(("server", "machine"), 1):
		text = add(place, "--spool", folder, data / f"{name}.data")
		assert text.count(message) == 1 and "warning: " in text and "kept 1 recording in" in text and len(spool(folder)) == count
	check_failure(run("store", "add", "--store", place, data / "server.data"), message)
	assert run("store", "add", "--store", place, "--spool", folder, data / "none.data").returncode == 1
	assert len(spool(folder)) == 2


def test_the_limit_of_a_spool(place):
	"""The oldest recordings make room. The folder is never larger, and the number of the dropped ones is printed."""
	folder = place.parent / "spool"
	files = [recording(place.parent, f"r{index}") for index in range(6)]
	keep(folder, files[0])
	limit = 7 * spool(folder)[0].stat().st_size // 2
	assert f"dropped 3 recordings of '{folder}', the oldest first: no room (--spool-limit)" in keep(folder, "--spool-limit", limit, *files[1:])
	assert len(spool(folder)) == 3 and sum(path.stat().st_size for path in folder.iterdir()) <= limit
	large = recording(place.parent, "large", functions=5000)
	assert refuse(folder, limit, large)
	live, dead = folder / f".new-{os.getpid()}-x", folder / ".new-4194305-x" # above the largest PID
	live.write_bytes(bytes(limit)) # nothing fits beside it, so nothing is removed
	assert refuse(folder, limit, files[0]) and len(spool(folder)) == 3
	live.unlink()
	dead.write_bytes(bytes(limit))
	(folder / "old.bad").write_text("x")
	os.utime(folder / "old.bad", (1, 1))
	assert "dropped 1 recording of" in keep(folder, "--spool-limit", limit, files[1]) and not dead.exists() and not (folder / "old.bad").exists()
	keep(folder, "--spool-limit", limit, *files)
	assert "sent 3 recordings" in add(place, "--spool", folder)
	assert {name[:2] for _, name in rows(f"sqlite://{place}") if name[0] == "r"} == {"r3", "r4", "r5"}


def test_full_disk_for_a_spool(tmp_path, place):
	"""Recordings are kept until the disk is full. None is cut, and the rest is kept when there is room."""
	disk = tmp_path / "disk"
	disk.mkdir()
	files = [recording(tmp_path, f"r{index}") for index in range(40)]
	with small_disk(disk, "64k"):
		kept = 0
		for path in files:
			result = run("store", "add", "--store", place.parent / AWAY, "--spool", disk / "spool", path)
			if result.returncode:
				break
			kept += 1
		assert 0 < kept < len(files) and "cannot keep '" in result.stderr and f"in '{disk}/spool': No space left on device" in result.stderr
		assert len(list((disk / "spool").iterdir())) == len(spool(disk / "spool")) == kept
		subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
		keep(disk / "spool", *files[kept:])
		assert f"sent {len(files)} recordings" in add(place, "--spool", disk / "spool")
	found = {name: hits for (_, name), hits in rows(f"sqlite://{place}").items() if name[0] == "r"}
	assert found == {f"r{index}_{at}": 3 for index in range(len(files)) for at in range(50)}


def test_writers_of_a_spool_take_turns(place):
	"""A writer with a limit waits while another one holds the folder's lock; /proc/locks lists those who wait with an arrow."""
	folder = place.parent / "spool"
	keep(folder, recording(place.parent, "first"))
	limit = 3 * spool(folder)[0].stat().st_size // 2
	descriptor = os.open(folder, os.O_RDONLY)
	fcntl.flock(descriptor, fcntl.LOCK_EX)
	words = [CPPROF, "store", "add", "--store", str(place.parent / AWAY), "--spool", str(folder), "--spool-limit", str(limit)]
	with subprocess.Popen([*words, recording(place.parent, "second")], stderr=subprocess.PIPE, text=True) as writer:
		while not (waits := re.search(rf"-> FLOCK .* {writer.pid} ", Path("/proc/locks").read_text())) and writer.poll() is None:
			time.sleep(0.01)
		os.close(descriptor)
		assert waits and "dropped 1 recording of" in writer.communicate()[1]
	assert len(spool(folder)) == 1
