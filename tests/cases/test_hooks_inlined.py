"""Inlined functions with hooks are on their paths: below the functions without hooks that contain their code, and, where a function is
inlined into itself, on the level of recursion where they were called."""
import re
import subprocess

import pytest
from hooks_support import CXX, Counted
from record_support import CPPROF, PROGRAMS, build, folded
from source_cxx_support import short_name

HOSTS, RECURSION = PROGRAMS / "inlined_hosts.cpp", PROGRAMS / "inlined_recursion.c"
HIDDEN = {"states", "enter", "leave"}


def own_paths(path, source):
	"""{"outermost;...;innermost": calls}, with the program's own functions only."""
	own = {*re.findall(r"(\w+(?:\(\))?)\([^;{}()]*\)(?: const)?\n\t?\{", source.read_text(encoding="utf-8"))} - HIDDEN
	found = {}
	for frames, count in folded(path, "calls").items():
		names = [short_name(frame).split("::")[-1] for frame in frames]
		name = ";".join(name for name in names if name in own)
		found[name] = found.get(name, 0) + count
	return found


def check(counted, source):
	assert counted.status == 0, counted.err
	wanted = {path: int(calls) for path, calls in re.findall(r"^path (\S+) (\d+)$", counted.out, re.MULTILINE)}
	assert len(wanted) >= 12
	found = own_paths(counted.path, source)
	assert {path: found.get(path, 0) for path in wanted} == wanted
	return found, wanted


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("source", [HOSTS, RECURSION], ids=["hosts", "recursion"])
def test_hooks_of_inlined_functions(source, compiler, level, tmp_path):
	program = build(source.name, "-finstrument-functions", "-DALWAYS", compiler=compiler, level=level)
	found, wanted = check(Counted([program], tmp_path, "paths"), source)
	assert {path for path, calls in found.items() if calls} - {"", "main"} == wanted.keys()


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("source", [HOSTS, RECURSION], ids=["hosts", "recursion"])
def test_objects_of_inlined_functions(source, compiler, level, tmp_path):
	command = ["cxx", "--", CXX[compiler]] if source == HOSTS else ["cc", "--", compiler]
	program = tmp_path / "program"
	subprocess.run([CPPROF, *command, level, "-g", "-o", program, source], check=True)
	check(Counted([program], tmp_path, "paths"), source)
