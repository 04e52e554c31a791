"""Functions that a run-time compiler generates have the names of the process's perf map."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from attach_support import begin, end
from record_support import (BACKENDS, COUNTED, build, build_counted, check_counted, check_truths, needs_bpf, needs_whole_perf, record, record_counted, reported,
	run_cpprof, show)

EVENTS = 10 * 10


def forget(recorded):
	"""Removes the map of a program that states its path."""
	Path(recorded.out.splitlines()[0]).unlink()


@pytest.mark.parametrize("backend", BACKENDS[:2])
def test_names_of_a_perf_map(tmp_path, backend):
	"""Both tiers of a function are one function; where memory was used again, the last line counts."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "jit_map.c", event_us=10000)])
	forget(recorded)
	check_counted(recorded, EVENTS)
	functions = reported(recorded.path, "--functions")
	assert {name for name in functions if "first" in name or "second" in name or "stale" in name} == {"first", "second", "stale"}


@needs_bpf
def test_perf_map_with_a_hole(tmp_path):
	"""A map of 4 TB, nearly all of which is a hole, costs no time; the lines behind the hole count."""
	program = build_counted("bpf", "jit_map.c", "-DHOLE_BYTES=(1LL << 42)", event_us=10000)
	recorded = record_counted("bpf", tmp_path, [program])
	forget(recorded)
	check_counted(recorded, EVENTS)


@pytest.mark.parametrize("backend", BACKENDS[:2])
def test_names_of_a_jitdump(tmp_path, backend):
	"""The code that an address had when it ran counts; moved code keeps its name and lines, inlined functions are frames, and calls have lines."""
	recorded = record_counted(backend, tmp_path, [build_counted(backend, "jit_dump.c", event_us=10000)])
	paths = check_counted(recorded, EVENTS)
	assert not any(name in path for path in paths for name in ("stale", "later")), paths
	calls = run_cpprof("report", "--by", "callsite", "--functions", "-n", "0", "-t", "0", "--format", "csv", recorded.path).stdout
	for call, events in (("work@app.lang:12", 70), ("work@app.lang:7", 30), ("inner@app.lang:21", 30)):
		assert re.search(rf'"{call}",.*,{events}$', calls, re.MULTILINE), calls


@pytest.mark.measured("the recorder must get a processor while the program runs, to read the new code")
@pytest.mark.parametrize("source", ["jit_map.c", "jit_dump.c"])
def test_names_by_preload(tmp_path, source):
	recorded = record(tmp_path, [build(source)], "--backend", "preload", "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	if source == "jit_map.c":
		forget(recorded)
	check_truths(recorded)


@needs_bpf
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a namespace of processes")
@pytest.mark.parametrize("source", ["jit_map.c", pytest.param("jit_dump.c",
	marks=pytest.mark.unsanitized("a slow recorder opens the dump when the file system of the container has gone"))])
def test_numbers_of_a_container(tmp_path, source):
	"""The map has the number that the process has in its own namespace, in its own root; the dump is where the process has mapped it."""
	program = build_counted("bpf", source, event_us=10000)
	script = f"exec 3<{program} && mount -t tmpfs none /tmp && cd /tmp && cat <&3 >/tmp/own && chmod +x /tmp/own && exec /tmp/own"
	recorded = record(tmp_path, ["unshare", "--pid", "--fork", "--mount", "sh", "-c", script], "--backend", "bpf", "-r", "syscalls:getppid/1")
	if recorded.status != 0:
		pytest.skip(f"there is no namespace: {recorded.err}")
	assert source != "jit_map.c" or recorded.out.startswith("/tmp/perf-1.map")
	check_counted(recorded, EVENTS)


@needs_whole_perf
def test_the_option_for_a_runtime_is_proposed(tmp_path):
	"""A process's name tells its runtime."""
	named = tmp_path / "node"
	shutil.copy(build_counted("perf", "jit_map.c", event_us=10000), named)
	recorded = record_counted("perf", tmp_path, [named, "touch"])
	assert sum(count for path, count in recorded.paths().items() if path[-1] == "[anon]") == 100, show(recorded.paths())
	command = f"{named} touch" if len(f"{named} touch") <= 48 else "COMMAND"
	proposed = f"  cpprof record --jit {command}   [anon] is generated code: with names\n"
	assert proposed in run_cpprof("report", recorded.path).stdout
	recorded = record_counted("perf", tmp_path, [named])
	forget(recorded)
	assert "generated code" not in run_cpprof("report", recorded.path).stdout


@needs_whole_perf
@pytest.mark.parametrize("name, remedy", [
	("java", "jcmd PID Compiler.perfmap, while it is recorded, lists it from JDK 17 on"),
	("node", "node --perf-basic-prof --interpreted-frames-native-stack lists it"),
])
def test_remedy_for_a_process_that_runs(tmp_path, name, remedy):
	"""--jit needs a command: it is no remedy after -p."""
	shutil.copy(build_counted("perf", "jit_map.c", event_us=10000), tmp_path / name)
	with subprocess.Popen(["sh", "-c", f"read line; exec ./{name} touch"], cwd=tmp_path, stdin=subprocess.PIPE) as shell:
		recorder, path = begin(tmp_path, "--backend", "perf", "-r", COUNTED["perf"][1], "-p", shell.pid)
		shell.communicate(b"go\n")
		recorded = end(recorder, path, interrupt=False)
	assert f"; 100 samples are in generated code without names ({remedy})" in recorded.err, recorded.err


@needs_whole_perf
@pytest.mark.parametrize("name, is_stated", [("Interpreter", True), ("InterpreterOfMine", False)])
def test_interpreted_methods_of_java_are_stated(tmp_path, name, is_stated):
	"""HotSpot's interpreter is one function of this name; the closing line states how much of the resource is in the methods that it interprets."""
	recorded = record_counted("perf", tmp_path, [build_counted("perf", "jit_map.c", event_us=10000), "touch", name])
	forget(recorded)
	paths = recorded.paths()
	assert sum(count for path, count in paths.items() if path[-1] == name) == 100, show(paths)
	stated = f"{100 * 100 / sum(paths.values()):.0f} % of page-faults in Java methods that were interpreted, without names (java -Xcomp compiles them)"
	assert (stated in recorded.err) == is_stated, recorded.err


def test_jit_sets_the_variables_of_runtimes(tmp_path):
	"""The command and what it starts get the variables, behind options that a variable has already; our own environment stays."""
	names = ["NODE_OPTIONS", "PYTHONPERFSUPPORT", "JAVA_TOOL_OPTIONS", "ERL_FLAGS", "DOTNET_PerfMapEnabled", "ENABLE_JITPROFILING"]
	command = ["sh", "-c", "sh -c '" + "; ".join(f"echo ${name}" for name in names) + "'"]
	environment = {**os.environ, "NODE_OPTIONS": "--max-old-space-size=300", "PYTHONPERFSUPPORT": "0", "ERL_FLAGS": "+S 1"}
	recorded = record(tmp_path, command, "--jit", env=environment)
	assert recorded.status == 0, recorded.err
	node = "--max-old-space-size=300 --perf-basic-prof --interpreted-frames-native-stack"
	node_line, python_line, java_line, erlang_line, dotnet_line, julia_line = recorded.out.splitlines()
	assert (node_line, python_line, erlang_line, dotnet_line, julia_line) == (node, "1", "+S 1 +JPperf true", "1", "1")
	assert "-XX:+PreserveFramePointer" in java_line
	(line,) = [line for line in recorded.err.splitlines() if "--jit" in line]
	assert line.startswith("cpprof: --jit sets ") and sorted(line.removeprefix("cpprof: --jit sets ").split(", ")) == sorted(names)
	recorded = record(tmp_path, command, "--jit", env={**environment, "NODE_OPTIONS": node})
	assert recorded.out.splitlines()[0] == node, "a recording inside of another one adds nothing"
	recorded = record(tmp_path, command, env=environment)
	assert recorded.out.splitlines()[:2] == ["--max-old-space-size=300", "0"]


@pytest.mark.parametrize("options, reason", [
	(["--jit", "-p", "1"], "--jit needs a command"),
	(["--jit", "-a", "true"], "--jit needs a command"),
	(["--jit", "--instrumented", "true"], "--jit cannot be combined with --instrumented"),
])
def test_jit_is_refused_where_it_sets_nothing(tmp_path, options, reason):
	result = run_cpprof("record", "-o", tmp_path / "out.data", *options)
	assert result.returncode == 2
	assert reason in result.stderr
	assert not (tmp_path / "out.data").exists()
