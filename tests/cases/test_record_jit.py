"""Recordings of programs in JavaScript and Java: whole paths through generated code, with the names of the language."""
import contextlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from record_support import BUILD, PROGRAMS, agrees, most_by_chance, needs_bpf, needs_perf, record

BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
SECONDS = "1.5"

# The functions that compute, and the paths to them with their shares. Inlined functions are no frames in a perf map, so the runtimes are
# asked not to inline.
NODE = ["node", "--no-turbo-inlining", PROGRAMS / "jit/paths.js", SECONDS]
JAVA_PATHS = ["void Paths.plain(int)", "void Paths.leaf(int)", "void Paths.recursive(int, int)", "void Paths.sorted()",
	"int Paths.compare(java.lang.Integer, java.lang.Integer)", "void Paths.spin(int)"]
NODE_PATHS = ["plain", "leaf", "recursive", "sorted", "compare", "spin"]


def java():
	"""Returns a command that runs Paths.java, which is compiled here."""
	for tool in ("java", "javac"):
		if not shutil.which(tool):
			pytest.skip(f"there is no {tool} (openjdk-17-jdk-headless)")
	folder = BUILD / "tests/programs/jit"
	if not (folder / "Paths.class").exists():
		folder.mkdir(parents=True, exist_ok=True)
		subprocess.run(["javac", "-d", folder, PROGRAMS / "jit/Paths.java"], check=True)
	return ["java", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Paths::*", "-cp", folder, "Paths", SECONDS]


def node():
	if not shutil.which("node"):
		pytest.skip("there is no node (nodejs)")
	return NODE


def forget_map(recorded):
	"""Removes the perf map of a program that prints its number."""
	found = re.search(r"^pid (\d+)$", recorded.out, re.MULTILINE)
	assert found, recorded.err
	with contextlib.suppress(FileNotFoundError):
		Path(f"/tmp/perf-{found.group(1)}.map").unlink()


def check_paths(recorded, names):
	plain, leaf, recursive, in_sort, compare, spin = names
	paths = recorded.paths()
	for path, share in [([plain, leaf, spin], 0.5), ([recursive, recursive, leaf, spin], 0.3), ([in_sort, compare, spin], 0.2)]:
		agrees(paths, path, share, {spin})
	assert max(path.count(recursive) for path in paths) == 21, "all calls of the recursion are on the path"


def check_whole(recorded):
	samples, _, whole, _, _ = recorded.closing_shares()
	others = round(samples * (100 - whole) / 100)
	assert samples > 300, recorded.err
	assert others <= most_by_chance(0.01, samples), recorded.err


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("command, names", [(node, NODE_PATHS), (java, JAVA_PATHS)], ids=["node", "java"])
def test_paths_are_whole_and_named(tmp_path, backend, command, names):
	"""A chain of calls, a recursion, and a callback of the runtime's own code have their shares; nearly all walks are whole."""
	recorded = record(tmp_path, command(), "--jit", "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	forget_map(recorded)
	check_paths(recorded, names)
	check_whole(recorded)


@pytest.mark.parametrize("backend", BACKENDS)
def test_jitdump_of_node(tmp_path, backend):
	"""The dump, which the program writes into its own folder, is found by its mapping."""
	program, *arguments = node()
	recorded = record(tmp_path, [program, "--perf-prof", "--interpreted-frames-native-stack", *arguments], "--backend", backend, "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	assert list(tmp_path.glob("jit-*.dump"))
	check_paths(recorded, NODE_PATHS)
	check_whole(recorded)


@pytest.mark.parametrize("command", [node, java], ids=["node", "java"])
def test_code_without_names_is_no_whole_path(tmp_path, command):
	"""Without --jit, no walk through generated code counts as whole, and a finding names the flag."""
	recorded = record(tmp_path, command(), "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	causes = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"]}
	samples, _, whole, _, _ = recorded.closing_shares()
	assert whole < 50, recorded.err
	# HotSpot does not keep frame pointers then.
	others = ["reached the root through generated code without names", "generated code without a frame pointer"]
	assert sum(causes.get(cause, 0) for cause in others) > samples / 2, causes
	# V8's builtins are generated code that has names in the program's file.
	assert causes.get("reached the root through generated code with names", 0) < samples / 20, causes
	nameless = [finding for finding in recorded.info()["findings"] if finding["code"] == "generated-nameless"]
	assert len(nameless) == 1 and nameless[0]["severity"] == "warning", recorded.info()["findings"]
	assert samples / 2 < nameless[0]["count"] <= samples
	assert re.search(r"; \d+ samples are in generated code without names \(record --jit requests them\)", recorded.err), recorded.err
