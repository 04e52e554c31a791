"""Recordings of programs in JavaScript and Java: whole paths through generated code, with the names of the language."""
import contextlib
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from measuring import between
from record_support import BUILD, CPPROF, PROGRAMS, Recorded, agrees, most_by_chance, needs_bpf, needs_perf, record, run_cpprof

BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
MEASURED = pytest.mark.measured("where a processor is shared, the ticks of the preload backend can keep in step with the turns of the program")
NODE, JAVA = pytest.mark.needs("node"), pytest.mark.needs("java")
SECONDS = "1.5"
AGENT = BUILD / "src/collect/agent/libcpprof-jvm.so"

# The functions that compute, in the order of check_paths, as each list of generated code names them.
NODE_NAMES = ["plain", "leaf", "recursive", "sorted", "compare", "spin"]
MAP_NAMES = ["void Paths.plain(int)", "void Paths.leaf(int)", "void Paths.recursive(int, int)", "void Paths.sorted()",
	"int Paths.compare(java.lang.Integer, java.lang.Integer)", "void Paths.spin(int)"]
AGENT_NAMES = [name.split(" ", 1)[1] for name in MAP_NAMES]
MAP_OPTIONS = ["-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]


def node():
	"""Returns a command. Inlined functions are no frames in a perf map, so V8 is asked not to inline."""
	return ["node", "--no-turbo-inlining", PROGRAMS / "jit/paths.js", SECONDS]


def java(*options, separate="*"):
	"""Returns a command that runs Paths.java, which is compiled here. `separate`: the methods that are not inlined."""
	folder = BUILD / "tests/programs/jit"
	if not (folder / "Paths.class").exists():
		folder.mkdir(parents=True, exist_ok=True)
		subprocess.run(["javac", "-d", folder, PROGRAMS / "jit/Paths.java"], check=True)
	return ["java", *options, "-XX:CompileCommand=quiet", f"-XX:CompileCommand=dontinline,Paths::{separate}", "-cp", folder, "Paths", SECONDS]


def with_agent():
	if not AGENT.exists():
		pytest.skip("there is no libcpprof-jvm.so: this build found no jvmti.h (openjdk-17-jdk-headless)")
	return java()


def forget_map(recorded):
	"""Removes the perf map of a program that prints its number."""
	found = re.search(r"^pid (\d+)$", recorded.out, re.MULTILINE)
	assert found, recorded.err
	with contextlib.suppress(FileNotFoundError):
		Path(f"/tmp/perf-{found.group(1)}.map").unlink()


def own_dumps(folder):
	"""An environment in which the agent writes its dump into a folder."""
	return {**os.environ, "TMPDIR": str(folder)}


def check_paths(recorded, names):
	plain, leaf, recursive, in_sort, compare, spin = names
	paths, cpu = recorded.paths(), recorded.resource("cpu")
	for path, share in [([plain, leaf, spin], 0.5), ([recursive, recursive, leaf, spin], 0.3), ([in_sort, compare, spin], 0.2)]:
		agrees(paths, path, share, {spin}, cpu["hits"] / cpu["samples"])
	assert max(path.count(recursive) for path in paths) == 21, "all calls of the recursion are on the path"


def check_whole(recorded):
	samples, _, whole, _, _ = recorded.closing_shares()
	others = round(samples * (100 - whole) / 100)
	assert samples > 200, recorded.err
	assert others <= most_by_chance(0.01, samples), recorded.err


# --- each list of generated code, by each backend ---

@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("command, names", [pytest.param(node, NODE_NAMES, marks=NODE), pytest.param(with_agent, AGENT_NAMES, marks=JAVA)], ids=["node", "java"])
def test_paths_are_whole_and_named(tmp_path, backend, command, names):
	"""A chain of calls, a recursion, and a callback of the runtime's own code have their shares; nearly all walks are whole."""
	recorded = record(tmp_path, command(), "--jit", "--backend", backend, "-r", "cpu/1ms", env=own_dumps(tmp_path))
	assert recorded.status == 0, recorded.err
	forget_map(recorded)
	check_paths(recorded, names)
	check_whole(recorded)


@NODE
@needs_bpf
def test_own_code_is_in_the_language(tmp_path):
	"""The first report charges the work of V8, of its builtins and of Node's own scripts to the functions of the program."""
	recorded = record(tmp_path, node(), "--jit", "-r", "cpu/1ms", env=own_dumps(tmp_path))
	assert recorded.status == 0, recorded.err
	forget_map(recorded)
	text = run_cpprof("report", recorded.path).stdout
	rows = text.split("hottest in the program's own code, with what it calls in libraries\n")[1].split("\n\n")[0].splitlines()
	functions = set(re.findall(r"function (\w+)", (PROGRAMS / "jit/paths.js").read_text())) | {"(anonymous)"}
	assert {row[28:].split(": ")[0].split("@")[0] for row in rows} <= functions, text


@JAVA
@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
def test_perf_map_of_java(tmp_path, backend):
	recorded = record(tmp_path, java(*MAP_OPTIONS), "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	forget_map(recorded)
	check_paths(recorded, MAP_NAMES)
	check_whole(recorded)


@NODE
@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
def test_jitdump_of_node(tmp_path, backend):
	"""The dump, which the program writes into its own folder, is found by its mapping."""
	program, *arguments = node()
	recorded = record(tmp_path, [program, "--perf-prof", "--interpreted-frames-native-stack", *arguments], "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	assert list(tmp_path.glob("jit-*.dump"))
	check_paths(recorded, NODE_NAMES)
	check_whole(recorded)


@JAVA
@MEASURED
@needs_bpf
def test_inlined_methods_are_frames(tmp_path):
	"""The virtual machine inlines all methods but the method that computes, whose copies would differ in speed; its debug information has the
	methods and the lines."""
	with_agent()
	recorded = record(tmp_path, java(separate="spin"), "--jit", "-r", "cpu/1ms", env=own_dumps(tmp_path))
	assert recorded.status == 0, recorded.err
	check_paths(recorded, AGENT_NAMES)
	inlined = run_cpprof("report", "--functions", "--no-inlines", "-n", "0", "-t", "0", recorded.path).stdout
	assert "Paths.leaf(int)" in run_cpprof("report", "--functions", "-n", "0", "-t", "0", recorded.path).stdout
	leaf = re.search(r"^([\d.]+) .*Paths\.leaf\(int\)", inlined, re.MULTILINE)
	assert not leaf or float(leaf.group(1)) < 0.4, "leaf, with 0.8 of the time, is inlined"
	source = (PROGRAMS / "jit/Paths.java").read_text().splitlines()
	loop = {number for number, line in enumerate(source, 1) if "i < n" in line or "i % 7" in line}
	lines = run_cpprof("report", "--lines", "-n", "0", "-t", "0", recorded.path).stdout
	hot = {int(line): float(share) for share, line in re.findall(r"^([\d.]+) .*Paths\.java:(\d+) \[", lines, re.MULTILINE)}
	assert sum(hot.get(line, 0) for line in loop) > 0.9 * sum(hot.values()) > 0.4, lines


# --- running programs ---

def lists_its_code(process, folder):
	"""Returns whether the perf map of the process or a dump in the folder names the function that computes."""
	lists = [Path(f"/tmp/perf-{process.pid}.map"), *folder.rglob("*.dump")]
	return any(path.exists() and b"spin" in path.read_bytes() for path in lists)


@contextlib.contextmanager
def running(command, folder, **environment):
	"""Runs a command until the end of the block, which begins when the program computes and has listed its code."""
	process = subprocess.Popen([*command[:-1], "120"], env={**own_dumps(folder), **environment}, cwd=folder, stdout=subprocess.PIPE)
	try:
		end = time.monotonic() + 60
		while not lists_its_code(process, folder):
			assert process.poll() is None and time.monotonic() < end, "the program lists no code"
			time.sleep(0.05)
		yield process
	finally:
		process.kill()
		process.wait()
		with contextlib.suppress(FileNotFoundError):
			Path(f"/tmp/perf-{process.pid}.map").unlink()


@MEASURED
@pytest.mark.parametrize("backend", BACKENDS[:2])
@pytest.mark.parametrize("runtime", [pytest.param("node", marks=NODE), pytest.param("java", marks=JAVA)])
def test_attaching(tmp_path, backend, runtime):
	"""A program that lists its code already when the recording begins, with the variables that --jit sets."""
	command, names = (node(), NODE_NAMES) if runtime == "node" else (with_agent(), AGENT_NAMES)
	path = tmp_path / "out.data"
	environment = {"NODE_OPTIONS": "--perf-basic-prof --interpreted-frames-native-stack",
		"JAVA_TOOL_OPTIONS": f"-agentpath:{AGENT} -XX:+PreserveFramePointer"}
	with running(command, tmp_path, **environment) as process:
		options = ["--backend", backend, "-r", "cpu/1ms", "-p", process.pid, "--duration", "2"]
		result = run_cpprof("record", "-o", path, *options)
	recorded = Recorded(result, path)
	assert recorded.status == 0, recorded.err
	check_paths(recorded, names)
	check_whole(recorded)


# --- without names ---

@MEASURED
@pytest.mark.parametrize("command", [pytest.param(node, marks=NODE), pytest.param(java, marks=JAVA)], ids=["node", "java"])
def test_code_without_names_is_no_whole_path(tmp_path, command):
	"""Without --jit, no walk through generated code counts as whole, and a finding names the flag."""
	recorded = record(tmp_path, command(), "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	causes = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"]}
	samples, _, whole, _, _ = recorded.closing_shares()
	assert whole < 50, recorded.err
	# HotSpot does not keep frame pointers then.
	others = ["reached the root through generated code without names", "generated code without a frame pointer"]
	between(sum(causes.get(cause, 0) for cause in others), samples / 2, None, causes)
	# V8's builtins are generated code that has names in the program's file.
	between(causes.get("reached the root through generated code with names", 0), None, samples / 20, causes)
	nameless = [finding for finding in recorded.info()["findings"] if finding["code"] == "generated-nameless"]
	assert len(nameless) == 1 and nameless[0]["severity"] == "warning", recorded.info()["findings"]
	between(nameless[0]["count"], samples / 2, samples)
	assert re.search(r"; \d+ samples are in generated code without names \(record --jit requests them\)", recorded.err), recorded.err


@JAVA
@needs_bpf
@pytest.mark.measured("the virtual machine may compute less than it starts")
def test_interpreted_methods_are_stated(tmp_path):
	"""Where nothing is compiled, the closing line states that the methods have no names, and how they get some."""
	with_agent()
	recorded = record(tmp_path, java("-Xint"), "--jit", "-r", "cpu/1ms", env=own_dumps(tmp_path))
	assert recorded.status == 0, recorded.err
	assert re.search(r"; \d+ % of cpu in Java methods that were interpreted, without names \(java -Xcomp compiles them\)", recorded.err), recorded.err


@JAVA
def test_the_agent_without_a_place_for_its_dump(tmp_path):
	"""The program runs on, and its code has no names."""
	with_agent()
	options = {**os.environ, "TMPDIR": str(tmp_path / "none"), "JAVA_TOOL_OPTIONS": f"-agentpath:{AGENT}"}
	command = java()
	result = subprocess.run([*command[:-1], "0.1"], env=options, capture_output=True, text=True, check=False)
	assert result.returncode == 0
	assert "cpprof: cannot create the jitdump: No such file or directory (set TMPDIR to a folder that can be written)" in result.stderr
	assert result.stdout.startswith("pid ")


@JAVA
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_the_agent_on_a_full_disk(tmp_path):
	"""The program runs on; the dump is a prefix."""
	with_agent()
	command = [*map(str, java()[:-1]), "0.3"]
	script = f"mount -t tmpfs -o size=65536 none {tmp_path} && \"$@\" && stat -c %s {tmp_path}/jit-*.dump"
	options = {**own_dumps(tmp_path), "JAVA_TOOL_OPTIONS": f"-agentpath:{AGENT}"}
	result = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *command], env=options, capture_output=True, text=True, check=False)
	if "unshare failed" in result.stderr or "mount:" in result.stderr:
		pytest.skip(f"there is no namespace: {result.stderr}")
	assert result.returncode == 0, result.stderr
	assert 0 < int(result.stdout.splitlines()[-1]) <= 65536, result.stdout


def test_the_map_replaces_the_agent_where_that_is_not_installed(tmp_path):
	"""A cpprof that is copied elsewhere has no library beside it."""
	alone = tmp_path / "cpprof"
	shutil.copy(CPPROF, alone)
	result = subprocess.run([alone, "record", "--jit", "-o", tmp_path / "out.data", "sh", "-c", "echo $JAVA_TOOL_OPTIONS"], capture_output=True,
		text=True, check=False)
	if "-agentpath:" in result.stdout:
		pytest.skip("libcpprof-jvm.so is installed")
	assert "-XX:+DumpPerfMapAtExit" in result.stdout and "-XX:+PreserveFramePointer" in result.stdout
