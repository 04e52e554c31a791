"""A recording contains what the program reports through include/cpprof/runtime.h: its own resources, labels, windows, flushes."""
import hashlib
import json
import os
import re
import signal
import subprocess

import pytest
from measuring import between, near
from record_support import (BUILD, CPPROF, REPOSITORY, Recorded, agrees, amounts, await_program, build, check_amounts, hits, record, run_cpprof, show)

MEASURED = pytest.mark.measured("the samples between two calls are counted, and another process may delay the program")

LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
PRELOAD = ["--backend", "preload"]
EVERY_ONE = [*PRELOAD, "-r", "own:orders/1", "-r", "own:bytes/1"]


def linked(source):
	"""Returns a program of tests/programs, linked with the library. It is compiled again when the header changes."""
	header = hashlib.sha256((REPOSITORY / "include/cpprof/runtime.h").read_bytes()).hexdigest()[:8]
	return build(source, f"-I{REPOSITORY}/include", f"-DHEADER_IS_{header}", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}")


def record_own(folder, *words, options=EVERY_ONE, **settings):
	recorded = record(folder, [linked("own.c"), *map(str, words)], *options, **settings)
	assert recorded.status == 0, recorded.err
	return recorded


def stated(recorded, resource):
	return sum(gticks for name, _, gticks in amounts(recorded.out) if name == resource)


@pytest.mark.parametrize("way", ["plain", "threads", "fork"])
def test_every_tick_is_there(tmp_path, way):
	"""At interval 1 no count is estimated: each call path has the ticks that were made in it, by any thread or process."""
	recorded = record_own(tmp_path, way, "200")
	check_amounts(recorded, "own:orders")
	reported = recorded.resource("own:bytes")
	assert reported["total"] == reported["hits"] == stated(recorded, "own:bytes")


def test_units_are_the_programs(tmp_path):
	recorded = record_own(tmp_path, "plain", "10")
	assert recorded.resource("own:orders")["unit"] == "order"
	assert recorded.resource("own:bytes")["unit"] == "byte"


@pytest.mark.parametrize("requested, declared", [
	(["own:order"], "'orders', 'bytes'"),
	(["own:bytes", "own:order"], "'bytes', 'orders'"),
])
def test_undeclared_resource_is_a_finding(tmp_path, requested, declared):
	"""It names what the program declared instead, of all its processes, each once."""
	recorded = record_own(tmp_path, "fork", "10", options=[*PRELOAD, *(word for name in requested for word in ("-r", name))])
	text = f"the program did not declare 'order', but declared {declared}"
	assert f"; {text}" in recorded.err
	findings = json.loads(run_cpprof("info", "--format", "json", recorded.path).stdout)["findings"]
	assert [(finding["severity"], finding["text"]) for finding in findings if finding["code"] == "resource-undeclared"] == [("warning", text)]


def test_declared_resources_are_no_finding(tmp_path):
	assert "did not declare" not in record_own(tmp_path, "plain", "10").err


def test_innermost_is_who_ticks(tmp_path):
	"""The innermost frame is the function that ticks, even if the tick is its last action. No frame of the library is on the
	path."""
	paths = record_own(tmp_path, "plain", "50").paths("own:orders")
	assert all(re.match("take\\b|take_many\\b", path[-1]) for path in paths), show(paths)
	assert hits(paths, "main", "work", "take_some", "take") == 50, show(paths)


@MEASURED
@pytest.mark.parametrize("interval", [100, 7])
@pytest.mark.parametrize("way,threads", [("plain", 1), ("threads", 5), ("fork", 4)])
def test_intervals(tmp_path, way, threads, interval):
	"""Totals are exact at any interval. Hits are the total divided by the interval, within one for each thread, in the true
	shares."""
	rounds = 200 * interval  # as many samples as the rings hold at any speed
	recorded = record_own(tmp_path, way, rounds, options=[*PRELOAD, "-r", f"own:orders/{interval}"])
	reported = recorded.resource("own:orders")
	assert reported["total"] == stated(recorded, "own:orders")
	near(reported["hits"], reported["total"] / interval, threads, reported)
	agrees(recorded.paths("own:orders"), ["take_many", "take"], 0.75)


def test_windows_are_exact(tmp_path):
	"""Ticks between cpprof_stop and cpprof_start are not counted, and no others are missing."""
	recorded = record_own(tmp_path, "windows", "300")
	assert re.findall(r"recording (\d)", recorded.out) == ["0", "1"]
	check_amounts(recorded, "own:orders")


def test_paused(tmp_path):
	"""With --paused, counting begins when the program calls cpprof_start: a program that never calls it has no ticks."""
	recorded = record_own(tmp_path, "windows", "300", options=[*EVERY_ONE, "--paused"])
	check_amounts(recorded, "own:orders")
	silent = record_own(tmp_path, "plain", "300", options=[*EVERY_ONE, "--paused"])
	assert silent.resource("own:orders")["total"] == 0


@MEASURED
def test_cpu_beside_own(tmp_path):
	"""A profile can have cpu and the program's own resource, because both are measured inside the process."""
	recorded = record(tmp_path, [str(BUILD / "examples/orders"), "1500"], *PRELOAD, "-r", "cpu", "-r", "own:orders/10")
	assert recorded.status == 0, recorded.err
	assert recorded.resource("own:orders")["total"] == 15000
	assert hits(recorded.paths("cpu"), "main", "price_article") > 0


def test_installed(tmp_path):
	"""An installed cpprof finds its library, even if its prefix was moved."""
	meson = "/usr/bin/meson" if os.path.exists("/usr/bin/meson") else "meson"
	subprocess.run([meson, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--tags", "runtime", "--destdir", tmp_path],
		check=True, capture_output=True)
	installed = next(path for path in tmp_path.rglob("cpprof") if path.parent.name == "bin")
	path = tmp_path / "out.data"
	command = [installed, "record", "-o", path, *EVERY_ONE, "--", linked("own.c"), "plain", "10"]
	result = subprocess.run(command, capture_output=True, text=True, check=False)
	assert result.returncode == 0, result.stderr
	assert Recorded(result, path).resource("own:orders")["total"] == 40


# --- flush ---


def wait_for_line(process, pattern):
	line = process.stdout.readline()
	while line and not re.search(pattern, line):
		line = process.stdout.readline()
	return line


def test_flush_makes_the_profile_readable(tmp_path):
	"""cpprof_flush makes the profile readable while the program runs: the file contains all ticks before the call."""
	path = tmp_path / "out.data"
	command = [CPPROF, "record", "-o", str(path), *EVERY_ONE, "--", linked("own.c"), "flush", "500"]
	with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
		assert wait_for_line(process, "flush") == "flush 0\n"
		exported = run_cpprof("export", "--format", "folded", "-r", "own:orders", path)
		assert exported.returncode == 0, exported.stderr
		assert sum(int(line.rsplit(" ", 1)[1]) for line in exported.stdout.splitlines()) == 2000, exported.stdout
		out, err = process.communicate("\n", timeout=60)
	assert process.returncode == 0, err
	recorded = Recorded(subprocess.CompletedProcess(command, 0, out, err), path)
	assert recorded.resource("own:orders")["total"] == 2000


def test_flush_without_a_monitor(tmp_path):
	"""If the recorder was killed, no call waits for it: the program continues and ends normally."""
	path = tmp_path / "out.data"
	command = [CPPROF, "record", "-o", str(path), *EVERY_ONE, "--", str(BUILD / "examples/orders"), "4000"]
	with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
		await_program(process, "orders")
		process.kill()
		out, _ = process.communicate(timeout=60)
	assert "40000 orders" in out


@pytest.mark.measured("elapsed times are compared with limits")
def test_flush_soon_knows_a_killed_monitor(tmp_path):
	"""A flush detects a killed recorder whose parent has not waited for it, so that its process id still exists. The second flush
	returns at once."""
	command = [CPPROF, "record", "-o", str(tmp_path / "out.data"), *EVERY_ONE, "--", linked("flush_late.c")]
	with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
		assert wait_for_line(process, "ready")
		os.kill(process.pid, signal.SIGKILL)
		os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
		process.stdin.write("\n")
		process.stdin.flush()
		reported = [wait_for_line(process, "flush").split() for _ in range(2)]
	assert [words[1] for words in reported] == ["-1", "-1"], reported
	between(float(reported[0][2]), 0.5, 2.5, reported)
	assert float(reported[1][2]) < 0.5, reported


# --- labels ---


def by_label(path, key):
	"""Returns {value: hits} of `report --by-label KEY`; hits without this label have the key None."""
	result = run_cpprof("report", "--format", "json", "--threshold", "0", "--limit", "0", "-r", "own:orders", f"--by-label={key}", path)
	assert result.returncode == 0, result.stderr
	return {row["labels"].get(key): row["hits"] for row in json.loads(result.stdout)["results"][0]["entries"]}


def test_labels(tmp_path):
	"""Each tick has the labels of its thread, also in a forked process: the counts by value are exact."""
	recorded = record_own(tmp_path, "labels", "100")
	assert by_label(recorded.path, "tenant") == {"acme": 200, "initech": 100, "parent's": 1, "child's": 1, None: 3}
	assert by_label(recorded.path, "verb") == {"GET": 152, "PUT": 150, None: 3}


def test_more_label_sets_than_are_kept(tmp_path):
	"""Labels that are new each time use a limited amount of memory, and the counts stay exact."""
	recorded = record(tmp_path, [linked("many_labels.c")], *PRELOAD, "-r", "own:orders/1000")
	assert recorded.status == 0, recorded.err
	refused, ticks = map(int, re.search(r"refused (\d+) ticks (\d+)", recorded.out).groups())
	assert 0 < refused < ticks
	assert recorded.resource("own:orders")["total"] == ticks
