"""
Whole programs that are built with `cpprof cc` and `cpprof cxx` as the compiler print the same as before, and the calls of each
instrumented function are those that callgrind counts in the original program. bench/source_programs.py does the same with other
projects' programs.
"""
import os
import subprocess

import pytest
from measuring import between
from hooks_support import CXX, SYMBOLS, counted_calls
from record_support import BUILD, CPPROF, PROGRAMS, REPOSITORY, folded
from source_support import callgrind_calls, instrumented_functions

WHOLE = PROGRAMS / "source/whole"
EXAMPLES = REPOSITORY / "examples/process_db"
# {name: (source, options of cpprof cc, the compiler's options, least number of instrumented functions)}
BUILDS = {
	"process_db": (EXAMPLES / "process_db.c", [], [], 15),
	"shelf": (WHOLE / "shelf.cc", ["--headers"], ["-std=c++14", "-Wall", "-Wextra", "-Werror"], 35),
}


def build(name, compiler, folder, has_tool):
	source, options, words, _ = BUILDS[name]
	compiler = CXX[compiler] if source.suffix == ".cc" else compiler
	tool = [CPPROF, "cxx" if source.suffix == ".cc" else "cc", *options, "--"] if has_tool else []
	symbols = SYMBOLS["clang" if "clang" in compiler else "gcc"]
	result = subprocess.run([*tool, compiler, "-O0", symbols, *words, "-o", folder / name, source], capture_output=True, text=True, check=False)
	assert (result.returncode, result.stderr) == (0, "")
	return folder / name


def run(before, command, folder):
	return subprocess.run([*before, *command], cwd=folder, capture_output=True, text=True, check=True,
		env={**os.environ, "LD_BIND_NOW": "1", "CPPROF_OUTPUT": str(folder / "alone.data")})


@pytest.fixture(scope="module")
def employees(tmp_path_factory):
	path = tmp_path_factory.mktemp("employees") / "employees.tsv"
	subprocess.run([BUILD / "examples/generate_db", "300", path], check=True)
	return path


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_counts_are_callgrinds(name, compiler, employees, tmp_path):
	folders = [tmp_path / "bare", tmp_path / "tool"]
	for folder in folders:
		folder.mkdir()
	programs = [build(name, compiler, folder, has_tool) for folder, has_tool in zip(folders, [False, True])]
	words = [str(employees)] if name == "process_db" else []
	bare = run([], [programs[0], *words], folders[0])
	tool = run([CPPROF, "record", "--instrumented=paths", "-o", "out.data", "--"], [programs[1], *words], folders[1])
	assert bare.stdout == tool.stdout != ""
	functions, doubtful = instrumented_functions(programs[1])
	assert len(functions) >= BUILDS[name][3] and not doubtful
	expected = callgrind_calls(lambda before: run(before, [programs[0], *words], folders[0]), name, tmp_path, functions)
	assert counted_calls(folders[1] / "out.data") == expected


@pytest.mark.measured("shares of sampled CPU time vary")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_counting_costs_is_the_hooks(compiler, tmp_path):
	"""The cost of counting is charged to [hooks], including code that is inlined into the program's functions."""
	source = tmp_path / "loop.c"
	source.write_text("static volatile unsigned sum;\n__attribute__((noinline)) static void add(unsigned n)\n{\n\tsum += n;\n}\n"
		"int main(void)\n{\n\tfor (unsigned n = 0; n < 60 * 1000 * 1000; n++)\n\t\tadd(n);\n\treturn 0;\n}\n")
	subprocess.run([CPPROF, "cc", "--rule", "tiny on", "--", compiler, "-O2", SYMBOLS[compiler], "-o", "loop", source.name], cwd=tmp_path, check=True)
	run([CPPROF, "record", "--instrumented=paths", "-o", "out.data", "--"], [tmp_path / "loop"], tmp_path)
	# Paths below main, because samples may also hit the start or end of the process.
	paths = {path: count for path, count in folded(tmp_path / "out.data", "cpu").items() if "main" in path}
	others = {path: count for path, count in paths.items() if path[-1] not in ("[hooks]", "add", "main")}
	between(sum(others.values()), None, 0.02 * sum(paths.values()), paths)
	assert any(path[-1] == "[hooks]" for path in paths), paths
