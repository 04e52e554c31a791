"""Functions that tail calls removed from stacks (docs/definitions.md): the paths are as of the same source that is compiled without
tail calls, and without the option the stacks as they were."""
import contextlib
import json
import re
import sqlite3
import struct

import pytest

from browse_support import Browser
from debuginfod_support import Server, Stripped, environment
from record_support import BACKENDS, PROGRAMS, build, build_counted, check_counted, events_of, have, holds, hits, needs_bpf, record_counted, run_cpprof
from terminal_support import on_terminal

ROUNDS, EVENT_US = 3, 10
EVENTS = ROUNDS * 65


def build_program(backend, *flags, **options):
	linkage = options.get("linkage", "pie")
	library = build("tail_calls_library.c", compiler=options.get("compiler", "gcc"), linkage="shared", name="libtail_calls.so")
	if linkage == "static":
		library = str(PROGRAMS / "tail_calls_library.c")
	path = [] if linkage == "static" else [f"-Wl,-rpath,{library.rsplit('/', 1)[0]}"]
	return build_counted(backend, "tail_calls.c", library, *path, *flags, event_us=EVENT_US, **options)


def record_program(backend, folder, *flags, **options):
	return record_counted(backend, folder, [build_program(backend, *flags, **options), ROUNDS])


def below_main(paths):
	"""Returns the paths of events from `main` on."""
	found = {}
	for path, count in paths.items():
		if "main" in path:
			path = path[path.index("main"):]
			found[path] = found.get(path, 0) + count
	return found


PATHS = {
	("main", "first", "work", "burn"): ROUNDS * 5,
	("main", "second", "work", "burn"): ROUNDS * 3,
	("main", "third", "work", "burn"): ROUNDS * 2,
	("main", "outer", "second", "work", "burn"): ROUNDS * 3,
	("main", "ping", "work", "burn"): ROUNDS * 10,
	("main", "away", "library_entry", "library_inner", "work", "burn"): ROUNDS * 10,
	("main", "indirect", "work", "burn"): ROUNDS * 9,
	("main", "indirect", "burn"): ROUNDS,
	("main", "either", "[tail calls: left or unknown]", "work", "burn"): ROUNDS * 2,
	("main", "choice", "[tail calls: left or right]", "work", "burn"): ROUNDS * 20,
}


def check_paths(recorded):
	assert below_main(check_counted(recorded, EVENTS)) == PATHS


@pytest.mark.parametrize("backend", BACKENDS)
def test_paths(tmp_path, backend):
	"""Each function is where the source has it."""
	check_paths(record_program(backend, tmp_path))


BUILDS = {
	"gcc": {},
	"clang": {"compiler": "clang"},
	"no-pie": {"linkage": "no-pie"},
	"static": {"linkage": "static"},
	"no-plt": {"flags": ["-fno-plt"]},
	"lazy": {"flags": ["-Wl,-z,lazy"]},
	"without debug information": {"flags": ["-g0"]},
	"size": {"level": "-Os"},
	"O3": {"level": "-O3"},
}


@needs_bpf
@pytest.mark.parametrize("name", BUILDS)
def test_builds(tmp_path, name):
	"""The same with other compilers, linkages, and without debug information."""
	options = dict(BUILDS[name])
	if options.get("compiler") == "clang" and not have("clang"):
		pytest.skip("clang is not installed")
	check_paths(record_program("bpf", tmp_path, *options.pop("flags", []), **options))


@pytest.mark.parametrize("backend", ["preload"])
def test_same_source(tmp_path, backend):
	"""The paths of the same source without tail calls, except where one of several functions was called, or one that calls itself."""
	(tmp_path / "with").mkdir()
	(tmp_path / "without").mkdir()
	with_tails = below_main(events_of(record_program(backend, tmp_path / "with")))
	without = below_main(events_of(record_program(backend, tmp_path / "without", "-fno-optimize-sibling-calls")))
	unclear = ("choice", "ping", "either")
	assert {path: count for path, count in with_tails.items() if not set(path) & set(unclear)} == {
		path: count for path, count in without.items() if not set(path) & set(unclear)}


def test_left_out(tmp_path):
	"""--no-tail-calls shows the stacks as they were, in reports and exports."""
	recorded = record_program("preload", tmp_path)
	paths = below_main(events_of(recorded, "--no-tail-calls"))
	assert paths == {
		("main", "work", "burn"): ROUNDS * (5 + 3 + 2 + 3 + 20 + 10 + 9 + 2),
		("main", "library_inner", "work", "burn"): ROUNDS * 10,
		("main", "indirect", "burn"): ROUNDS,
	}
	without = run_cpprof("report", "--tree", "--no-tail-calls", recorded.path).stdout
	assert "first" not in without and "first" in run_cpprof("report", "--tree", recorded.path).stdout
	explored = run_cpprof("explore", recorded.path, input="tails off\ntree\nquit\n").stdout
	assert "work" in explored and "first" not in explored


def test_marks(tmp_path):
	"""The tree marks frames that were found, also where a terminal would print several frames in one row."""
	recorded = record_program("preload", tmp_path)
	text = run_cpprof("report", "--tree", "--threshold", "0", recorded.path).stdout
	assert "  first (tail) (" in text and "  library_entry (tail) (" in text
	assert "work (tail)" not in text and "library_inner (tail)" not in text
	tree = json.loads(run_cpprof("report", "--tree", "--threshold", "0", "--format", "json", recorded.path).stdout)
	marked = {entry["name"] for entry in tree["results"][0]["entries"] if entry.get("tail")}
	assert marked == {"first", "second", "third", "outer", "choice", "ping", "away", "library_entry", "either"}
	assert " first (tail) (" in on_terminal("report", "--tree", "--threshold", "0", str(recorded.path), folder=tmp_path)
	with Browser(recorded.path) as browser:
		browser.wait(r"▾ main$")
		browser.wait(r"first \(tail\)$")
		assert "work (tail)" not in browser.text() and browser.end("q") == 0


def test_info(tmp_path):
	"""info counts the samples by what is known about their tail calls."""
	recorded = record_program("preload", tmp_path)
	info = recorded.info()
	assert info["tail_calls_ambiguous"] == ROUNDS * 22
	assert info["tail_calls_unknown"] == 0
	assert info["tail_calls_restored"] == EVENTS - ROUNDS * 22 - ROUNDS
	assert f"tail calls:   {EVENTS - ROUNDS * 23} samples restored, {ROUNDS * 22} ambiguous, 0 unknown" in run_cpprof("info", recorded.path).stdout


def test_other_files(tmp_path):
	"""A merged file, a store and a page have the functions, and can leave them out."""
	recorded = record_program("preload", tmp_path)
	merged, store = tmp_path / "merged.data", tmp_path / "store.db"
	assert run_cpprof("merge", "-o", merged, recorded.path, recorded.path).returncode == 0
	assert run_cpprof("store", "add", "--store", store, recorded.path).returncode == 0
	for selection in [], ["--no-tail-calls"]:
		once = recorded.paths(None, *selection)
		twice = run_cpprof("export", "--format", "folded", *selection, merged).stdout
		stored = run_cpprof("export", "--format", "folded", *selection, "--store", store).stdout
		assert {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in twice.splitlines()} == {";".join(path): 2 * count for path, count in once.items()}
		assert {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in stored.splitlines()} == {";".join(path): count for path, count in once.items()}


def tail_calls_of(*words):
	"""Returns the numbers of samples with restored, ambiguous and unknown tail calls."""
	info = json.loads(run_cpprof("info", "--format", "json", *words).stdout)
	return [info[f"tail_calls_{kind}"] for kind in ("restored", "ambiguous", "unknown")]


def test_unknown_in_other_files(tmp_path, store):
	"""A merged file and a store count the samples with unknown tail calls, also if they are merged and added again. Other calls of the same
	function stay known."""
	recorded = record_counted("preload", tmp_path, [build_counted("preload", "hidden_call.c", event_us=EVENT_US), ROUNDS])
	check_counted(recorded, ROUNDS * 10)
	merged, again = tmp_path / "merged.data", tmp_path / "again.data"
	assert tail_calls_of(recorded.path) == [ROUNDS * 3, 0, ROUNDS * 4]
	assert run_cpprof("merge", "-o", merged, recorded.path, recorded.path).returncode == 0
	assert run_cpprof("merge", "-o", again, merged, recorded.path).returncode == 0
	assert tail_calls_of(merged) == [2 * ROUNDS * 3, 0, 2 * ROUNDS * 4]
	assert tail_calls_of(again) == [3 * ROUNDS * 3, 0, 3 * ROUNDS * 4]
	for add in recorded.path, merged:
		assert run_cpprof("store", "add", "--store", store, add).returncode == 0
	assert tail_calls_of("--store", store) == [3 * ROUNDS * 3, 0, 3 * ROUNDS * 4]


def test_old_store(tmp_path):
	"""A store without the marks of unknown tail calls, as older ones are, is read and added to: its own recordings have none."""
	store = tmp_path / "store.db"
	program = build_counted("preload", "hidden_call.c", event_us=EVENT_US)
	for folder in "old", "new":
		(tmp_path / folder).mkdir()
		recorded = record_counted("preload", tmp_path / folder, [program, ROUNDS])
		assert run_cpprof("store", "add", "--store", store, "--service", folder, recorded.path).returncode == 0
		if folder == "old":
			with contextlib.closing(sqlite3.connect(store)) as database, database:
				assert [marks for marks, in database.execute("SELECT by_frames FROM locations WHERE by_frames > 1 ORDER BY 1")] == [2, 4]
				database.execute("UPDATE locations SET by_frames = 0, hash = hash + 1 WHERE by_frames = 4")
			assert tail_calls_of("--store", store) == [ROUNDS * 3, 0, 0]
	assert tail_calls_of("--store", store, "--service", "old") == [ROUNDS * 3, 0, 0]
	assert tail_calls_of("--store", store, "--service", "new") == [ROUNDS * 3, 0, ROUNDS * 4]


def test_names_that_come_later(tmp_path):
	"""`cpprof name` names the functions, too, also one that jumps from two places, and frames for one of several; without symbols, the paths were the
	same."""
	stripped = Stripped(tmp_path, build_program("preload"))
	recorded = record_counted("preload", tmp_path, [stripped.program, ROUNDS], env=environment(tmp_path))
	nameless = recorded.paths()
	assert hits(nameless) == EVENTS and not any("third" in path for path in nameless)
	with Server(stripped.debug_file, stripped.build_id) as server:
		named = run_cpprof("name", recorded.path, env=environment(tmp_path, DEBUGINFOD_URLS=server.url()))
	assert named.returncode == 0, named.stderr
	check_paths(recorded)
	assert sorted(recorded.paths().values()) == sorted(nameless.values())


def without_block(data, kind):
	"""A profile file without the blocks of a kind."""
	kept, at = data[:16], 16
	while at < len(data):
		type_, stored = struct.unpack_from("<H", data, at)[0], struct.unpack_from("<I", data, at + 8)[0]
		kept += data[at:at + 40 + stored] if type_ != kind else b""
		at += 40 + stored
	return kept


def test_tail_calls_that_come_later(tmp_path):
	"""`cpprof name` finds the tail calls of a recording that has none, once."""
	recorded = record_program("preload", tmp_path)
	recorded.path.write_bytes(without_block(recorded.path.read_bytes(), 20))
	assert ("main", "first", "work", "burn") not in below_main(events_of(recorded))
	named = run_cpprof("name", recorded.path)
	assert named.returncode == 0 and re.search(r"found \d+ tail calls\n.* was written\n$", named.stderr), named.stderr
	check_paths(recorded)
	again = run_cpprof("name", recorded.path)
	assert again.returncode == 0 and again.stderr.endswith("has a name\n"), again.stderr


def test_analyses(tmp_path):
	"""A prediction finds the functions, and a call site is the line of the jump, if it is the only one."""
	recorded = record_program("preload", tmp_path)
	what_if = json.loads(run_cpprof("whatif", "--format", "json", "main;first;work=0", recorded.path).stdout)
	assert [entry["hits"] for entry in what_if["results"][0]["entries"]] == [ROUNDS * 5]
	lines = (PROGRAMS / "tail_calls.c").read_text().splitlines()
	call, jump = (1 + next(i for i, line in enumerate(lines) if text in line) for text in ("sum += first", "return work(us * 5)"))
	sites = run_cpprof("report", "--limit", "0", "--down", "main", "--by", "callsite", recorded.path).stdout
	assert f"first@tail_calls.c:{call} work@tail_calls.c:{jump} " in sites


def test_c_library(tmp_path):
	"""glibc's qsort jumps to qsort_r."""
	recorded = record_counted("preload", tmp_path, [build_counted("preload", "callback.c", event_us=EVENT_US), 1])
	paths = events_of(recorded)
	sorts = {path for path in paths if "qsort_r" in path}
	assert all(holds(path, ["main", "sort_them", "qsort", "qsort_r", "compare"]) for path in sorts)
	assert sorts or hits(paths, "qsort") == hits(paths)
