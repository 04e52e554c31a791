"""
Objects of cpprof/profiler.h that are written by hand: the counts are those that the programs count themselves, with jumps,
exceptions and interrupts, inlined or not, alone and recorded.
"""
import os
import re
import subprocess

import pytest
from hooks_support import CXX, SYMBOLS, compile_once, counted_calls
from record_support import BUILD, PROGRAMS, run_cpprof

RUNTIME = BUILD / "src/collect/agent"
INCLUDE = PROGRAMS.parents[1] / "include"
SOURCES = PROGRAMS / "source"
SHARED = [RUNTIME / "libcpprof.so"]
SCENES = ["plain", "jumps", "handlers", "storm", "threads", "stacks", "forks", "deeper", "frames", "buffers"]
# (compiler, optimisation, measurement): each compiler with each level, and each measurement at least once.
BUILDS = [("gcc", "-O0", "paths"), ("gcc", "-O2", "trace"), ("gcc", "-O3", "paths-timed"), ("clang", "-O0", "trace"),
	("clang", "-O2", "paths"), ("clang", "-O3", "counts"), ("gcc", "-O2", "arcs")]


def build(source, compiler, *flags, libraries=SHARED):
	name = CXX[compiler] if source.endswith(".cc") else compiler
	command = [name, SYMBOLS[compiler], "-D_GNU_SOURCE", "-pthread", f"-I{INCLUDE}", *flags]
	if libraries == SHARED:
		command.append(f"-Wl,-rpath,{RUNTIME}")
	# The header's time is part of the command, so that the program is compiled again when the header changes.
	command.append(f"-DCPPROF_TESTED={max(os.stat(header).st_mtime_ns for header in (INCLUDE / 'cpprof').glob('*.h'))}")
	return compile_once(command, [SOURCES / source], source.split(".")[0], libraries)


def run_alone(words, output, measurement):
	environment = {**os.environ, "CPPROF_MEASURE": measurement, "CPPROF_OUTPUT": str(output)}
	return subprocess.run(words, capture_output=True, text=True, env=environment, cwd=output.parent, timeout=60, check=False)


def run_recorded(words, output, measurement):
	return run_cpprof("record", f"--instrumented={measurement}", "-o", output, "--", *words, cwd=output.parent)


def by_place(calls):
	"""Adds up calls by name. A region, shown as `work: row`, gets the region's name; a function loses what distinguishes its
	instances."""
	found = {}
	for name, count in calls.items():
		function, _, region = name.rpartition(": ")
		if not function:
			region = re.sub(r"[<(\[].*", "", name.replace("(anonymous namespace)::", "")).split("::")[-1].split(" ")[-1]
		name = region
		found[name] = found.get(name, 0) + count
	return found


def wrong_counts(run, words, output, measurement):
	result = run(words, output, measurement)
	assert result.returncode == 0, result.stderr
	stated = {name: int(count) for name, count in re.findall(r"^calls (.+) (\d+)$", result.stdout, re.MULTILINE)}
	assert stated
	found = by_place(counted_calls(output))
	return {name: (stated.get(name, 0), found.get(name, 0)) for name in stated.keys() | found.keys() if stated.get(name, 0) != found.get(name, 0)}


@pytest.mark.parametrize(("compiler", "level", "measurement"), BUILDS)
def test_counts_are_the_programs_own(compiler, level, measurement, tmp_path):
	program = build("runtime.c", compiler, level)
	wrong = {}
	for number, scene in enumerate(SCENES):
		run = run_recorded if number % 2 else run_alone
		differences = wrong_counts(run, [str(program), scene], tmp_path / f"{scene}.data", measurement)
		if differences:
			wrong[scene] = differences
	assert not wrong


@pytest.mark.parametrize("scene", ["jumps", "stacks"])
def test_unreported_jumps(scene, tmp_path):
	"""Without the preloaded library longjmp and swapcontext are not interposed. The next function that is entered finds the
	frames that they left."""
	for compiler in "gcc", "clang":
		program = build("runtime.c", compiler, "-O2")
		assert not wrong_counts(run_alone, [str(program), scene], tmp_path / f"{compiler}.data", "paths")


@pytest.mark.parametrize(("compiler", "flags"), [("gcc", ["-O0", "-std=c++11"]), ("gcc", ["-O2"]), ("clang", ["-O2", "-std=c++20"])])
def test_exceptions_leave_objects(compiler, flags, tmp_path):
	program = build("exceptions.cc", compiler, *flags)
	for run, measurement in (run_alone, "paths"), (run_recorded, "trace"):
		assert not wrong_counts(run, [str(program)], tmp_path / f"{measurement}.data", measurement)


def test_statically_linked(tmp_path):
	program = build("runtime.c", "gcc", "-O2", "-static", libraries=[RUNTIME / "libcpprof.a"])
	assert not wrong_counts(run_alone, [str(program), "plain"], tmp_path / "out.data", "paths")


@pytest.mark.long("runs below the thread sanitizer")
def test_thread_sanitizer_finds_nothing(tmp_path):
	"""A new thread gets the memory of an ended one, which ThreadSanitizer could report as a race. (The program also contains a race
	of its own.)"""
	program = build("runtime.c", "gcc", "-O2", "-fsanitize=thread")
	for measurement in "paths", "trace":
		run = run_alone([str(program), "threads_in_turn"], tmp_path / f"{measurement}.data", measurement)
		assert "profiler.h" not in run.stderr and "libcpprof" not in run.stderr, run.stderr


def folded(path):
	result = run_cpprof("export", "-r", "calls", "--no-inlines", path)
	assert result.returncode == 0, result.stderr
	paths = {}
	for line in result.stdout.splitlines():
		names, count = line.rsplit(" ", 1)
		# Scenes have no object. They appear as the callers of functions that have one, and are left out.
		path = tuple(name.split(": ")[-1] for name in names.split(";") if name not in SCENES)
		paths[path] = paths.get(path, 0) + int(count)
	return paths


@pytest.mark.parametrize(("compiler", "level"), [("gcc", "-O2"), ("clang", "-O3"), ("gcc", "-O0")])
def test_what_is_inlined_is_below_what_it_is_inlined_into(compiler, level, tmp_path):
	"""The paths do not depend on compilation: inner regions and functions are in one frame at -O2, in several at -O0."""
	program = build("runtime.c", compiler, level)
	assert run_alone([str(program), "plain"], tmp_path / "out.data", "paths").returncode == 0
	paths = folded(tmp_path / "out.data")
	assert paths["main", "work", "row"] == 1000
	assert paths["main", "work", "row", "four_times"] == 1000
	assert paths["main", "work", "row", "four_times", "twice"] == 2000
	assert paths["main", "work", "row", "leaf"] == 350
	assert paths["main", "work", "row", "recurse"] == 650
	assert not [path for path in paths if path[-1] == "work" and len(path) != 2]


@pytest.mark.parametrize(("compiler", "level"), [("gcc", "-O3"), ("clang", "-O2"), ("gcc", "-O0")])
def test_one_place_of_a_frame_of_any_shape(compiler, level, tmp_path):
	"""A frame that is realigned, or has an array of variable length or alloca's memory, is still one frame: each probe point that
	is entered in it is left in it."""
	program = build("runtime.c", compiler, level)
	assert run_alone([str(program), "frames"], tmp_path / "out.data", "paths").returncode == 0
	aside = ("main", "aside", "apart")
	aligned = (*aside, "many", "aligned", "taken")
	assert folded(tmp_path / "out.data") == {("main",): 1, aside[:2]: 200, aside: 200, (*aside, "four_times"): 200,
		(*aside, "four_times", "twice"): 400, aligned[:4]: 200, aligned[:5]: 200, aligned: 200, (*aligned, "leaf"): 200, (*aligned, "twice"): 200}


@pytest.mark.parametrize(("compiler", "level", "measurement"), [("gcc", "-O2", "paths"), ("clang", "-O0", "trace")])
def test_jumped_over_regions_are_left(compiler, level, measurement, tmp_path):
	program = build("runtime.c", compiler, level)
	assert run_recorded([str(program), "jumps"], tmp_path / "out.data", measurement).returncode == 0
	paths = folded(tmp_path / "out.data")
	assert paths["main", "stays", "tried", "deeper", "jump"] == 300
	assert paths["main", "stays", "tried", "twice"] == 300
	assert paths["main", "stays", "leaf"] == 300
	assert paths["main", "lands"] == 300
	assert paths["main", "lands", "in_region", "jumps away"] == 100
	assert paths["main", "lands", "leaf"] == 300


@pytest.mark.parametrize(("compiler", "level"), [("gcc", "-O2"), ("clang", "-O0")])
def test_any_two_buffers_of_jumps_are_told_apart(compiler, level, tmp_path):
	program = build("runtime.c", compiler, level)
	assert run_recorded([str(program), "buffers"], tmp_path / "out.data", "paths").returncode == 0
	paths = folded(tmp_path / "out.data")
	assert paths == {("main",): 1, ("main", "alternates"): 300, ("main", "alternates", "first"): 300, ("main", "alternates", "first", "second"): 300,
		("main", "alternates", "first", "twice"): 300, ("main", "alternates", "leaf"): 300}


def test_off_counts_nothing(tmp_path):
	program = build("runtime.c", "gcc", "-O2")
	result = run_alone([str(program), "plain"], tmp_path / "out.data", "off")
	assert result.returncode == 0 and "calls work 50" in result.stdout
	assert not list(tmp_path.iterdir())


def test_counts_takes_no_samples(tmp_path):
	program = build("runtime.c", "gcc", "-O2")
	assert run_alone([str(program), "storm"], tmp_path / "out.data", "counts").returncode == 0
	reported = run_cpprof("info", tmp_path / "out.data")
	assert "calls" in reported.stdout.lower() and "cpu" not in reported.stdout.lower().split("machine")[0].replace("cpus", "")
	refused = run_cpprof("record", "--instrumented=counts", "-r", "cpu", "-o", tmp_path / "x.data", "--", str(program))
	assert refused.returncode != 0 and "-r cannot be combined with --instrumented=counts" in refused.stderr


USES = """#include <cpprof/profiler.h>
int work(int n);
int work(int n)
{
	CPPROF_FUNCTION;
	if (n > 3) {
		CPPROF_REGION("more");
		n += 3;
	}
	return n;
}
"""


@pytest.mark.parametrize(("command", "language"), [
	("gcc", ["-x", "c", "-std=gnu90"]), ("gcc", ["-x", "c", "-std=c99"]), ("gcc", ["-x", "c", "-std=gnu17", "-m32"]), ("clang", ["-x", "c", "-std=c90"]),
	("clang", ["-x", "c", "-std=c17"]), ("g++", ["-x", "c++", "-std=c++11"]), ("g++", ["-x", "c++", "-std=c++20"]), ("clang++", ["-x", "c++", "-std=c++11"]),
	("clang++", ["-x", "c++", "-std=c++20", "-fPIC"])])
def test_the_header_is_silent(command, language, tmp_path):
	strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wcast-qual", "-Werror", f"-I{INCLUDE}"]
	for level in "-O0", "-O2":
		result = subprocess.run([command, *language, *strict, level, "-c", "-o", tmp_path / "uses.o", "-"], input=USES, capture_output=True, text=True,
			check=False)
		assert result.returncode == 0 and result.stderr == "", result.stderr


@pytest.mark.parametrize("library", ["libcpprof.so", "libcpprof.a"])
def test_the_library_calls_none_of_the_programs_functions(library, tmp_path):
	path = RUNTIME / library
	program = build("own_memory.c", "gcc", "-O1", "-fno-builtin", f"-Wl,-rpath,{RUNTIME}", libraries=[path])
	for run in (run_alone, run_recorded):
		assert not wrong_counts(run, [str(program)], tmp_path / "own.data", "paths")


SETS_A_JUMP = """#include <cpprof/profiler.h>
#include <setjmp.h>
static jmp_buf back;
static void leave(int n) { CPPROF_FUNCTION; if (n > 2) longjmp(back, n); }
int work(volatile int *n)
{
	CPPROF_FUNCTION;
	for (*n = 0; *n < 10; (*n)++) {
		int i;
		CPPROF_REGION("round");
		if (setjmp(back)) {
			CPPROF_REGION("caught");
			return 1;
		}
		for (i = 0; i < *n; i++) {
			CPPROF_REGION("row");
			leave(i);
		}
	}
	return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_setjmp_causes_no_warning(compiler, tmp_path):
	"""gcc would warn that variables of the header's inlined functions might be clobbered by longjmp."""
	source = tmp_path / ("jump.cc" if compiler.endswith("++") else "jump.c")
	source.write_text(SETS_A_JUMP)
	for level in ("-O1", "-O2", "-O3"):
		result = subprocess.run([compiler, level, "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", "-c", source, "-o", tmp_path / "jump.o"],
			capture_output=True, text=True, check=False)
		assert result.returncode == 0, result.stderr
