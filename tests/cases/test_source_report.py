"""
Reports on probe points (include/cpprof/profiler.h): a program with objects that are written by hand, whose calls are known.
"""
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from measuring import between
from hooks_support import Counted, compile_once
from json_support import valid_json
from record_support import BUILD, PROGRAMS, run_cpprof
from record_support import build as build_program

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "naive"))
from lexical import lexical # noqa: E402

INCLUDE = PROGRAMS.parents[1] / "include"
LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
SOURCE = PROGRAMS / "source" / "regions.c"

CALLS = {"main": 1, "work": 150, "work: row": 450, "tiny": 450, "leaf": 600, "depth": 21, "run": 1}
GROUPS = {"large": 150, "small": 1050, "[no group]": 473}
ROW = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if 'CPPROF_REGION("row")' in line)
IN_ROW = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "the call in a region" in line)


def build(name, *flags):
	return compile_once(["gcc", "-pthread", f"-I{INCLUDE}", f"-Wl,-rpath,{LIBRARY.parent}", *flags], [SOURCE], name, [LIBRARY])


@pytest.fixture(scope="module", name="program")
def the_program():
	return build("regions", "-O2", "-g")


@pytest.fixture(scope="module", name="counted")
def the_counted(program, tmp_path_factory):
	"""{measurement: its run}"""
	folder = tmp_path_factory.mktemp("runs")
	return {name: Counted([program], folder, name, name=f"{name}.data") for name in ["paths", "counts", "paths-timed", "trace"]}


def report(path, *options):
	result = run_cpprof("report", *options, "-t", 0, "-n", 0, "--format", "json", path)
	assert result.returncode == 0, result.stderr
	return json.loads(result.stdout)["results"]


def entries(path, *options):
	return {" ".join(entry["path"]): entry["hits"] for entry in report(path, "-r", "calls", *options)[0]["entries"]}


def tree(path):
	result = run_cpprof("report", "--tree", "-r", "calls", "-t", 0, "-n", 0, path)
	assert result.returncode == 0, result.stderr
	return result.stdout


# --- counts and names ---

@pytest.mark.parametrize("measurement", ["paths", "counts", "paths-timed", "trace"])
def test_all_implementations_count_the_same(counted, measurement):
	assert counted[measurement].status == 0, counted[measurement].err
	assert entries(counted[measurement].path, "--body") == CALLS
	assert tree(counted[measurement].path) == tree(counted["paths"].path)


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O3", "-s"]])
def test_names_need_no_symbols(flags, tmp_path):
	run = Counted([build(f"regions{''.join(flags)}", *flags)], tmp_path)
	assert run.status == 0, run.err
	assert entries(run.path, "--body") == CALLS


def test_paths_go_through_regions(counted):
	down = entries(counted["paths"].path, "--down", "main")
	assert down["main work"] == 100 + 300 + 300 + 300 + 100
	assert down["main work work: row"] == 300 + 300 + 300
	assert down["main work work: row leaf"] == 300
	assert down["main work leaf"] == 100
	assert down["main run work work: row tiny"] == 150


def test_call_sites_are_known(counted):
	sites = entries(counted["paths"].path, "--by", "callsite", "--body")
	assert sites[f"leaf@regions.c:{IN_ROW}"] == 450
	assert sites[f"work: row@regions.c:{ROW}"] == 450


def test_names_agree_with_samples(program, tmp_path):
	sampled = run_cpprof("record", "--backend", "preload", "-F", "1000", "-o", tmp_path / "sampled.data", "--", program, 400000)
	assert sampled.returncode == 0, sampled.stderr
	run = Counted([program, "400000"], tmp_path, "paths")
	names = [{entry["path"][0] for entry in report(path, "-r", "cpu")[0]["entries"]} for path in (tmp_path / "sampled.data", run.path)]
	assert {"main", "work", "tiny"} <= names[0] & names[1]
	diff = run_cpprof("diff", "-r", "cpu", tmp_path / "sampled.data", run.path)
	assert diff.returncode == 0, diff.stderr


@pytest.mark.measured("shares of sampled CPU time vary")
def test_samples_fall_into_regions(program, tmp_path):
	run = Counted([program, "400000"], tmp_path, "paths")
	(cpu,) = report(run.path, "-r", "cpu", "--down", "main")
	assert cpu["total_hits"] > 0
	in_row = sum(entry["hits"] for entry in cpu["entries"] if entry["path"] == ["main", "work", "work: row", "tiny"])
	between(in_row, 0.5 * cpu["total_hits"], None, cpu)


# --- groups ---

def test_groups_are_reported(counted, tmp_path):
	_, body = report(counted["paths"].path, "-r", "calls", "--groups")
	assert {entry["path"][0]: entry["hits"] for entry in body["entries"]} == GROUPS
	inclusive, _ = report(counted["paths"].path, "-r", "calls", "--groups")
	assert {entry["path"][0]: entry["hits"] for entry in inclusive["entries"]} == {
		"[no group]": sum(CALLS.values()), "large": sum(CALLS[name] for name in ("work", "work: row", "tiny", "leaf")), "small": 1050}
	assert entries(counted["paths"].path, "--by", "group", "--body") == GROUPS
	text = run_cpprof("report", "-r", "calls", "--groups", counted["paths"].path)
	assert text.returncode == 0 and "Group Profile for resource: Calls" in text.stdout and "Group Body Profile" in text.stdout
	assert "format: usage_fraction group [#raw_gticks]" in text.stdout, text.stdout
	down = run_cpprof("report", "-r", "calls", "--down", "large", "--by", "group", counted["paths"].path)
	assert "format: usage_fraction (group_path) [#raw_gticks]" in down.stdout, down.stdout


def test_groups_as_json_are_valid_and_compared(counted):
	path = counted["paths"].path
	assert len(valid_json(run_cpprof("report", "-r", "calls", "--groups", "--format", "json", path).stdout)["results"]) == 2
	result = run_cpprof("diff", "-r", "calls", "--groups", "--format", "json", path, path)
	assert [part["profile"] for part in valid_json(result.stdout)["results"]] == ["Group Profile", "Group Body Profile"]
	assert all(not entry["significant"] for part in valid_json(result.stdout)["results"] for entry in part["entries"])


def test_a_profile_without_groups_says_so(tmp_path):
	(tmp_path / "paths").write_text("main;f 1\n")
	run_cpprof("import", "--format", "folded", "-o", tmp_path / "p.data", tmp_path / "paths")
	for words in (["report", "--groups", tmp_path / "p.data"], ["diff", "--groups", tmp_path / "p.data", tmp_path / "p.data"]):
		result = run_cpprof(*words)
		assert result.returncode == 1 and "no function of this profile belongs to a group" in result.stderr


def test_a_group_is_selected(counted):
	path = counted["paths"].path
	assert entries(path, "--body", "--group", "small") == {"tiny": 450, "leaf": 600}
	assert entries(path, "--group", "l*") == {"work": 150 + 450 + 1050}
	unknown = run_cpprof("report", "--group", "none", path)
	assert (unknown.returncode, unknown.stdout) == (1, "")
	assert "no group 'none' in this profile; it has small, large" in unknown.stderr
	assert set(entries(path, "--down", "work", "--group", "small")) == {"work leaf", "work work: row leaf", "work work: row tiny"}


@pytest.mark.parametrize("options", [["--tree"], ["--source", "work"], ["--groups"], ["--call-graph"]])
def test_a_group_fits_lists_alone(counted, options):
	result = run_cpprof("report", *options, "--group", "small", counted["paths"].path)
	assert result.returncode == 2 and "--group cannot be combined with" in result.stderr


# --- lexical paths ---

@pytest.fixture(scope="module", name="taken")
def the_taken(tmp_path_factory):
	folder = tmp_path_factory.mktemp("taken")
	built = run_cpprof("cc", "--", "gcc", "-O1", "-g", "-o", folder / "taken", PROGRAMS / "source" / "taken.c", cwd=folder)
	assert built.returncode == 0 and not built.stderr, built.stderr
	run = Counted([folder / "taken"], folder, "paths")
	assert run.status == 0, run.err
	return run.path


def test_functions_stand_under_who_took_them(taken):
	as_called, lexical = entries(taken, "--up", "compare"), entries(taken, "--up", "compare", "--lexical")
	assert "main sort_rows compare" not in as_called
	assert lexical["main sort_rows compare"] == sum(hits for path, hits in as_called.items() if path.startswith("main ")) > 63
	# The function that stored the pointer is not on the path when it is called.
	assert entries(taken, "--up", "on_event")["main loop on_event"] == 5
	assert entries(taken, "--up", "on_event", "--lexical")["install on_event"] == 5
	# A call by name stays where it is.
	assert entries(taken, "--up", "on_event", "--lexical")["main direct on_event"] == 3
	assert entries(taken, "--body") == entries(taken, "--body", "--lexical")
	assert not any(line.startswith(("taken:", "called:")) for line in run_cpprof("info", taken).stdout.splitlines())


def tree_paths(path, *options):
	"""Returns {(outermost, ..., innermost): own hits}."""
	found, stack = {}, []
	for entry in report(path, "-r", "calls", "--tree", *options)[0]["entries"]:
		stack[entry["depth"]:] = [entry["name"]]
		if entry["own_hits"]:
			found[tuple(stack)] = found.get(tuple(stack), 0) + entry["own_hits"]
	return found


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_nested_functions_stand_in_their_host(level, tmp_path):
	"""The debug information has the nesting of GNU C's functions, without cpprof cc. All paths are as defined."""
	program = build_program("nested_functions.c", "-finstrument-functions", level=level)
	counted = Counted([program], tmp_path, "paths")
	assert counted.status == 0, counted.err
	as_called, moved = tree_paths(counted.path), tree_paths(counted.path, "--lexical")
	nested = {("compare", "sort_rows"), ("add", "sum_rows"), ("scale", "sum_rows"), ("rest", "scale")}
	expected = {}
	for path, hits in as_called.items():
		key = tuple(lexical(path, set(), set(), nested, {name for names in as_called for name in names}))
		expected[key] = expected.get(key, 0) + hits
	assert moved == expected != as_called
	assert moved["main", "sum_rows", "add", "scale", "rest"] == as_called["main", "sum_rows", "each", "add", "scale", "rest"] == 50
	assert "nested:" not in run_cpprof("info", counted.path).stdout
	assert moved["main", "sort_rows", "compare"] == sum(hits for path, hits in as_called.items() if path[-1] == "compare") > 2 * 49


def test_lexical_needs_the_source(counted):
	result = run_cpprof("report", "--lexical", counted["paths"].path)
	assert result.returncode == 1 and "with cpprof cc" in result.stderr


# --- other outputs ---

def test_events_have_names(counted):
	lines = run_cpprof("export", "--format", "events", counted["trace"].path).stdout.splitlines()
	words = [line.split(" ", 4)[3:] for line in lines]
	entered = [name for kind, name in words if kind == "enter"]
	assert {name: entered.count(name) for name in CALLS} == CALLS
	assert [name for kind, name in words if kind == "leave"].count("work: row") == CALLS["work: row"]


def test_gmon_has_functions_that_are_there(program, counted, tmp_path):
	result = run_cpprof("export", "--format", "gmon", "-o", tmp_path / "gmon.out", counted["paths"].path)
	assert result.returncode == 0, result.stderr
	flat = subprocess.run(["gprof", "-b", "-p", program, tmp_path / "gmon.out"], capture_output=True, text=True, check=True).stdout
	found = {line.split()[-1]: line.split() for line in flat.splitlines() if line[:1] == " " and line.split()[-1] in CALLS}
	assert "600" in found["leaf"] and "tiny" not in found, flat


def test_info_reports_them(counted):
	reported = run_cpprof("info", counted["paths-timed"].path).stdout
	assert "hook:         source" in reported
	timed = next(line for line in reported.splitlines() if line.startswith("  real "))
	assert "without the probes' time" in timed, timed


# --- incomplete runs ---

def test_what_was_off_is_reported(program, tmp_path):
	rules = tmp_path / "rules"
	rules.write_text("off depth\nthrottle 100 1000000\n")
	run = Counted([program], tmp_path, "paths", env={**os.environ, "CPPROF_PROBES": str(rules)})
	assert run.status == 0, run.err
	calls = entries(run.path, "--body")
	assert "depth" not in calls and calls["main"] == 1 and 100 <= calls["leaf"] < CALLS["leaf"], calls
	reported = run_cpprof("info", run.path).stdout
	assert "depth was switched off" in reported
	assert "leaf turned itself off, after " in reported, reported
	text = run_cpprof("report", "-r", "calls", run.path).stdout
	assert "turned themselves off after many calls" in text, text


def test_killed_programs_trace_is_whole(program, tmp_path):
	run = Counted([program, "10", "die"], tmp_path, "trace")
	assert entries(run.path, "--body") == CALLS
	assert "1 process was killed, or still runs" in run_cpprof("info", run.path).stdout
	lines = run_cpprof("export", "--format", "events", run.path).stdout.splitlines()
	assert sum(" enter work" in line for line in lines) == CALLS["work"] + CALLS["work: row"]


def test_output_that_is_no_file_stays(program, tmp_path):
	os.mkfifo(tmp_path / "pipe")
	(tmp_path / "folder").mkdir()
	for name in ("pipe", "folder"):
		run = subprocess.run([program], env={**os.environ, "CPPROF_OUTPUT": str(tmp_path / name)}, capture_output=True, text=True, check=False)
		assert run.returncode == 0 and run.stdout == "done\n", run.stderr
	assert (tmp_path / "pipe").is_fifo() and (tmp_path / "folder").is_dir()
	assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


def test_cut_trace_is_read_or_refused(counted, tmp_path):
	whole = counted["trace"].path.read_bytes()
	for part in range(1, 8):
		cut = tmp_path / "cut.tally"
		cut.write_bytes(whole[: len(whole) * part // 8])
		result = run_cpprof("report", cut)
		assert result.returncode in (0, 1) and (result.returncode == 0 or result.stderr.strip()), result.stderr


def test_process_that_counts_nothing_is_no_shortage(program, tmp_path):
	"""Such a process leaves room for modules at the end of the file, which is never written. The file is not reported as too
	short."""
	for number in range(4):
		result = run_cpprof("record", "--instrumented=counts", "-o", tmp_path / f"{number}.data", "--", "sh", "-c", f"{program}; exec true")
		assert result.returncode == 0 and "shorter" not in result.stderr, result.stderr


@pytest.mark.parametrize("linkage", ["-static", "-static-pie"])
def test_killed_static_program_is_known(linkage, tmp_path):
	"""A killed static program's code is known, although the C library lists no other module and no code runs at the end."""
	archive = LIBRARY.with_suffix(".a")
	program = compile_once(["gcc", "-pthread", linkage, f"-I{INCLUDE}", "-O2", "-g"], [SOURCE], f"regions{linkage}", [archive])
	output = tmp_path / "out.data"
	subprocess.run([program, "10", "die"], env={**os.environ, "CPPROF_OUTPUT": str(output)}, capture_output=True, check=False)
	assert entries(output, "--body") == CALLS
	info = run_cpprof("info", output).stdout
	assert str(program) in info and "[anon]" not in info, info


def test_nothing_counted_is_explained(program, tmp_path):
	rules = tmp_path / "rules"
	rules.write_text("off *\n")
	result = run_cpprof("record", "--instrumented", "-o", tmp_path / "off.data", "--", program, env={**os.environ, "CPPROF_PROBES": str(rules)})
	assert result.returncode == 1 and "were switched off" in result.stderr, result.stderr


@pytest.mark.parametrize("granules", [1, 5, 6])
def test_want_of_room_is_reported(granules, program, tmp_path):
	"""`info` reports that the file has no room for the process, its thread, or the names of its probe points."""
	most = granules * 65536 + 100
	run = subprocess.run([program], env={**os.environ, "CPPROF_OUTPUT": str(tmp_path / "out.data")}, capture_output=True, text=True, check=False,
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
	assert run.returncode == 0 and run.stdout == "done\n", run.stderr
	assert "the file was full" in run_cpprof("info", tmp_path / "out.data").stdout
