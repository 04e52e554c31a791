"""Functions that a run-time compiler generates have the names of the process's perf map."""
import os
import shutil
from pathlib import Path

import pytest
from record_support import build, check_truths, needs_bpf, needs_perf, record, run_cpprof, valid_json

BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
SCRIPT = """
function half(n) { let x = 0; for (let i = 0; i < n; i++) x += i % 7; return x; }
function other(n) { let x = 0; for (let i = 0; i < n; i++) x += i % 7; return x; }
const end = process.cpuUsage().user + 500000;
while (process.cpuUsage().user < end) { half(100000); other(100000); }
console.log(process.pid);
"""


def forget(recorded):
	"""Removes the map of a program that states its path."""
	Path(recorded.out.splitlines()[0]).unlink()


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_a_perf_map(tmp_path, backend):
	"""Both tiers of a function are one function; where memory was used again, the last line counts."""
	recorded = record(tmp_path, [build("jit_map.c")], "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	forget(recorded)
	check_truths(recorded)
	listed = valid_json(run_cpprof("report", "--functions", "-n", "0", "-t", "0", "--format", "json", recorded.path).stdout)
	names = [entry["path"][0] for entry in listed["results"][0]["entries"]]
	assert {name for name in names if "first" in name or "second" in name or "stale" in name} == {"first", "second", "stale"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_a_jitdump(tmp_path, backend):
	"""The code that an address had when it ran counts; moved code keeps its name, inlined functions are frames, and calls have lines."""
	recorded = record(tmp_path, [build("jit_dump.c")], "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	paths = check_truths(recorded)
	assert not any(name in path for path in paths for name in ("stale", "later")), paths
	assert recorded.closing_shares()[2] > 99, recorded.err
	listed = valid_json(run_cpprof("report", "--by", "callsite", "--functions", "-n", "0", "-t", "0", "--format", "json", recorded.path).stdout)
	names = {entry["path"][0] for entry in listed["results"][0]["entries"]}
	assert {"work@app.lang:12", "work@app.lang:7", "inner@app.lang:21"} <= names, names


@needs_bpf
@pytest.mark.parametrize("source", ["jit_map.c", "jit_dump.c"])
def test_numbers_of_a_container(tmp_path, source):
	"""The map has the number that the process has in its own namespace, in its own root; the dump is where the process has mapped it."""
	if os.geteuid() != 0:
		pytest.skip("only root may make a namespace of processes")
	program = build(source)
	recorded = record(tmp_path, ["unshare", "--pid", "--fork", "--mount", "sh", "-c", f"exec 3<{program} && mount -t tmpfs none /tmp && cd /tmp && cat <&3 >/tmp/own && chmod +x /tmp/own && exec /tmp/own"],
		"--backend", "bpf", "-r", "cpu/1ms")
	if recorded.status != 0:
		pytest.skip(f"there is no namespace: {recorded.err}")
	assert source != "jit_map.c" or recorded.out.startswith("/tmp/perf-1.map")
	check_truths(recorded)


def test_the_option_for_a_runtime_is_proposed(tmp_path):
	"""A process's name tells its runtime."""
	named = tmp_path / "node"
	shutil.copy(build("jit_map.c"), named)
	recorded = record(tmp_path, [named, "nameless"], "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	command = f"{named} nameless" if len(f"{named} nameless") <= 48 else "COMMAND"
	proposed = f"  cpprof record --jit {command}   [anon] is generated code: with names\n"
	assert proposed in run_cpprof("report", recorded.path).stdout
	recorded = record(tmp_path, [named], "-r", "cpu/1ms")
	forget(recorded)
	assert "generated code" not in run_cpprof("report", recorded.path).stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_node(tmp_path, backend):
	node = shutil.which("node")
	if not node:
		pytest.skip("there is no node")
	(tmp_path / "app.js").write_text(SCRIPT)
	recorded = record(tmp_path, [node, "--perf-basic-prof", "app.js"], "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	Path(f"/tmp/perf-{recorded.out.strip()}.map").unlink()
	listed = valid_json(run_cpprof("report", "--functions", "-n", "0", "-t", "0", "--format", "json", recorded.path).stdout)
	shares = {entry["path"][0]: (entry["fraction"], entry["error"]) for entry in listed["results"][0]["entries"]}
	assert abs(shares["half"][0] - shares["other"][0]) < 5 * (shares["half"][1] + shares["other"][1]), shares
	assert shares["half"][0] > 0.1, shares


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
	assert f"cpprof: --jit sets NODE_OPTIONS={node}\n" in recorded.err
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
