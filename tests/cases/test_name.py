"""Modules without names: the finding with its remedy, and `cpprof name`, which adds names to a profile later."""
import os
import re
import shutil
import subprocess

import pytest
from debuginfod_support import Server, Stripped, environment
from record_support import Recorded, build_counted, events_of, hits, record, record_counted, run_cpprof, show

EVENTS = 116 # of one round of the program


def forms():
	return build_counted("preload", "forms.c", event_us=100)


@pytest.fixture
def stripped(tmp_path):
	return Stripped(tmp_path, forms())


@pytest.fixture
def server(stripped):
	with Server(stripped.debug_file, stripped.build_id) as running:
		yield running


def recorded_nameless(tmp_path, stripped):
	return record_counted("preload", tmp_path, [stripped.program, "1"], env=environment(tmp_path))


def name(path, *options, **variables):
	return run_cpprof("name", *options, path, env=environment(path.parent, **variables))


def profile(path):
	return Recorded(subprocess.CompletedProcess([], 0, "", ""), path)


def findings_of(path):
	return profile(path).info()["findings"]


def has_names(path):
	"""Returns whether all events have their names, or none has."""
	events = events_of(profile(path))
	named = hits(events, "main", "db_read_record")
	assert named == hits(events) and named in (0, EVENTS), events
	return named > 0


# --- the finding ---

def test_a_program_without_symbols(tmp_path, stripped):
	recorded = recorded_nameless(tmp_path, stripped)
	[finding] = [finding for finding in findings_of(recorded.path) if finding["code"] == "names-missing"]
	assert re.fullmatch(r"\d+ % of own:event in forms, without names of functions: compile it with -g, and do not strip it", finding["text"])
	assert finding["text"] in recorded.err
	assert finding["count"] == EVENTS
	summary = run_cpprof("report", recorded.path).stdout
	assert f"\n  {stripped.program} has no symbols: compile it with -g, and do not strip it\n" in summary
	assert "  cpprof info" not in summary, "the same advice twice"
	assert "remedy" not in run_cpprof("info", recorded.path).stdout.partition("findings")[0]


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
@pytest.mark.parametrize("flags", [[], ["-buildmode=pie"]], ids=["exe", "pie"])
def test_a_stripped_program_of_go(tmp_path, flags):
	"""A program of Go without symbols and debug information has the names, the lines and the rows of its runtime's own table."""
	(tmp_path / "work.go").write_text("package main\n\nvar kept [][]byte\n\n//go:noinline\nfunc touch() {\n\tkept = append(kept, make([]byte, 1<<20))\n}\n\n"
		"func main() {\n\tfor i := 0; i < 8; i++ {\n\t\ttouch()\n\t\tfor at := 0; at < 1<<20; at += 4096 {\n\t\t\tkept[i][at] = 1\n\t\t}\n\t}\n}\n")
	subprocess.run(["go", "build", *flags, "-ldflags=-s -w", "-o", "work", "work.go"], cwd=tmp_path, check=True,
		env={**os.environ, "HOME": str(tmp_path), "GO111MODULE": "off"})
	recorded = record(tmp_path, [tmp_path / "work"], "-r", "page-faults/1", env=environment(tmp_path))
	assert "names-missing" not in [finding["code"] for finding in findings_of(recorded.path)], recorded.err
	paths = recorded.paths()
	below = {path: count for path, count in paths.items() if "main.main" in path}
	assert hits(below) > 100, show(paths)
	assert hits(below, "runtime.goexit", "runtime.main", "main.main") == hits(below), show(below)
	assert not any(frame.startswith("work+0x") for path in paths for frame in path), show(paths)
	lines = run_cpprof("report", "--lines", "--threshold", "0", recorded.path).stdout
	assert re.search(r"work\.go:14\b", lines), lines


def test_a_program_with_symbols(tmp_path):
	recorded = record_counted("preload", tmp_path, [forms(), "1"])
	assert "names-missing" not in [finding["code"] for finding in findings_of(recorded.path)]


def debian_package_of(path):
	"""The package of a file, as dpkg reports it."""
	for known in [path, path.removeprefix("/usr")]:
		result = subprocess.run(["dpkg", "-S", known], capture_output=True, text=True, check=False) if shutil.which("dpkg") else None
		if result and result.returncode == 0:
			return result.stdout.split(":")[0]
	return None


def test_a_library_of_a_package(tmp_path):
	"""zlib's inner functions have no symbols; the remedy is the package that dpkg names, or the distribution's server."""
	library = next((path for path in ["/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib64/libz.so.1"] if os.path.exists(path)), None)
	package = debian_package_of(os.path.realpath(library)) if library else None
	if not package:
		pytest.skip("zlib is of no Debian package here")
	code = "import random, zlib\nfor i in range(4): zlib.compress(random.Random(i).randbytes(200000).hex().encode(), 9)"
	recorded = record(tmp_path, ["/usr/bin/python3", "-c", code], env=environment(tmp_path))
	texts = [finding["text"] for finding in findings_of(recorded.path) if finding["code"] == "names-missing"]
	if not any("libz" in text for text in texts):
		pytest.skip("zlib has its symbols here")
	wanted = f"without names of functions: install {package}-dbgsym, or set DEBUGINFOD_URLS=https://debuginfod."
	assert any(wanted in text for text in texts), texts


# --- the command ---

def test_names_from_a_server(tmp_path, stripped, server):
	recorded = recorded_nameless(tmp_path, stripped)
	before = recorded.path.read_bytes()
	result = name(recorded.path, DEBUGINFOD_URLS=server.url())
	assert result.returncode == 0, result.stderr
	assert re.search(rf"\d+ of \d+ addresses without names have got one, in 1 file; {re.escape(str(recorded.path))} was written\n", result.stderr)
	assert has_names(recorded.path)
	assert "names-missing" not in [finding["code"] for finding in findings_of(recorded.path)]
	assert recorded.path.with_name("out.data.old").read_bytes() == before
	lines = run_cpprof("report", "--source", "db_read_record", recorded.path)
	assert "forms.c" in lines.stdout, lines.stderr


def test_hits_stay(tmp_path, stripped, server):
	"""No hit is lost, and all events are below main."""
	recorded = recorded_nameless(tmp_path, stripped)
	total = hits(recorded.paths())
	assert name(recorded.path, DEBUGINFOD_URLS=server.url()).returncode == 0
	later = recorded.paths()
	assert hits(later) == total
	assert hits(later, "main", "countable_event") == EVENTS


def test_the_program_itself_is_not_needed(tmp_path, stripped, server):
	"""On another machine, or after an upgrade, the debug file with the build-id suffices."""
	recorded = recorded_nameless(tmp_path, stripped)
	stripped.program.write_text("another program")
	assert name(recorded.path, "-o", tmp_path / "named.data", DEBUGINFOD_URLS=server.url()).returncode == 0
	assert has_names(tmp_path / "named.data") and not has_names(recorded.path)


def test_names_from_a_file_with_symbols(tmp_path, stripped):
	recorded = recorded_nameless(tmp_path, stripped)
	shutil.copy(forms(), stripped.program)
	assert name(recorded.path).returncode == 0
	assert has_names(recorded.path)


def test_no_names_are_found(tmp_path, stripped, server):
	server.behaviour = "missing"
	recorded = recorded_nameless(tmp_path, stripped)
	before = recorded.path.read_bytes()
	result = name(recorded.path, DEBUGINFOD_URLS=server.url())
	assert result.returncode == 1
	lines = result.stderr.splitlines()
	assert lines[0] == f"cpprof name: cannot name functions of {recorded.path}: their debug symbols were not found"
	assert any("no server of DEBUGINFOD_URLS has" in line for line in lines)
	assert any("in forms, without names of functions: compile it with -g" in line for line in lines)
	assert recorded.path.read_bytes() == before and not recorded.path.with_name("out.data.old").exists()


def test_all_names_are_there(tmp_path):
	path = tmp_path / "stacks.data"
	(tmp_path / "stacks").write_text("main;f 3\n")
	assert run_cpprof("import", "-o", path, tmp_path / "stacks").returncode == 0
	result = name(path)
	assert result.returncode == 0 and result.stderr == f"cpprof name: every function of {path} has a name\n"


def test_from_standard_input(tmp_path, stripped, server):
	recorded = recorded_nameless(tmp_path, stripped)
	with open(recorded.path, "rb") as given:
		result = run_cpprof("name", "-", stdin=given)
	assert result.returncode == 2 and "needs an output (-o FILE)" in result.stderr
	with open(recorded.path, "rb") as given:
		result = run_cpprof("name", "-o", tmp_path / "named.data", "-", stdin=given, env=environment(tmp_path, DEBUGINFOD_URLS=server.url()))
	assert result.returncode == 0 and has_names(tmp_path / "named.data"), result.stderr


def test_the_output_cannot_be_written(tmp_path, stripped, server):
	recorded = recorded_nameless(tmp_path, stripped)
	result = name(recorded.path, "-o", tmp_path / "nowhere" / "named.data", DEBUGINFOD_URLS=server.url())
	assert result.returncode == 1 and "cannot" in result.stderr and "nowhere" in result.stderr
