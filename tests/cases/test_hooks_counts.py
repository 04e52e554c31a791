"""Compares the calls that compiler hooks count with the calls of valgrind's callgrind, which observes each instruction. The programs
show one behaviour each, and both compilers build them with each hook. The numbers must be equal, function by function.

Each program runs with each hook, and the compilers, levels of optimization and measurements alternate. CPPROF_HOOKS_MATRIX=full in
the environment runs all combinations of hook, compiler and level.
"""
import os

import pytest
from hooks_support import FOLDER, HOOKS, Callgrind, Counted, Program, by_base_name, differences

COMPILERS = ["gcc", "clang"]
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
MEASUREMENTS = ["paths", "arcs", "paths-timed", "blocks", "trace"]
IS_FULL = os.environ.get("CPPROF_HOOKS_MATRIX") == "full"

# Without what both count alike: hooks of a resolver of IFUNC count nothing.
NOT_PROGRAMS = ["lambdas", "lives", "none", "resolvers", "short_threads", "steps", "thread_paths"]
PROGRAMS = sorted({path.name.split(".")[0] for path in FOLDER.glob("*.c*")} - set(NOT_PROGRAMS))
# Programs in GNU C, which clang does not compile.
GCC_ALONE = ["nested_functions"]
# Programs that count their own calls: their numbers depend on the moments of signals, or they kill processes, for which valgrind
# writes no file.
STATED_ALONE = ["interrupted", "own_profiler", "sudden_ends"]
# Programs whose total differs from valgrind's: functions of the C library that are inlined into them count too, and the dynamic
# linker makes allocations of its own.
OTHER_TOTALS = ["allocator"]


def builds(name):
	"""[(hook, compiler, level, measurement)] for a program."""
	number = PROGRAMS.index(name)
	if IS_FULL:
		found = [(hook, compiler, level, MEASUREMENTS[(number + order) % len(MEASUREMENTS)])
			for order, (hook, compiler, level) in enumerate((hook, compiler, level) for hook in HOOKS for compiler in COMPILERS for level in LEVELS)]
	else:
		found = [(hook, COMPILERS[(number + order) % 2], LEVELS[(number // 2 + order) % 4], MEASUREMENTS[(number + order) % len(MEASUREMENTS)])
			for order, hook in enumerate(HOOKS)]
	if name not in GCC_ALONE:
		return found
	return [(hook, "gcc", level, measurement) for hook, compiler, level, measurement in found if compiler == "gcc" or not IS_FULL]


def expected(program, name, compiler, stated, folder):
	"""({function: calls}, calls of all functions or None), by valgrind or as the program states."""
	if name in STATED_ALONE:
		return stated, None
	run = Callgrind(program.command, program.hook, folder)
	counts, total = run.hooked(program.objects), run.total() if name not in OTHER_TOTALS else None
	# An inlined function runs its hook in another function. The calls that the source contains are the calls of a build without
	# optimization.
	if program.hook == "cyg" and program.level != "-O0":
		plain = Program(name, "cyg", compiler, "-O0")
		counts = Callgrind(plain.command, "cyg", folder).hooked(plain.objects)
	return {**counts, **stated}, total


def differences_of(name, hook, compiler, level, measurement, folder):
	folder = folder / f"{hook}-{compiler}{level}"
	folder.mkdir()
	program = Program(name, hook, compiler, level)
	counted = Counted(program.command, folder, measurement)
	what = f"{hook} {compiler} {level} {measurement}"
	if counted.status != 0:
		return [f"{what}: status {counted.status}: {counted.err}"]
	wanted, total = expected(program, name, compiler, counted.stated(), folder)
	calls = counted.calls()
	names = wanted.keys() if name in STATED_ALONE else program.functions()
	found = differences(wanted, by_base_name(calls), names)
	if total is not None and sum(calls.values()) != total:
		found.append(f"all functions together: {sum(calls.values())} calls, not {total}")
	return [f"{what}: {line}" for line in found]


SLOW = {"many", "spawned", "vfork_exec"} # below callgrind


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long("takes seconds below callgrind")) if name in SLOW else name for name in PROGRAMS])
def test_counts_are_callgrinds(name, tmp_path):
	found = [line for build in builds(name) for line in differences_of(name, *build, tmp_path)]
	assert not found, "\n".join(found)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_lambdas_of_equal_name_differ(compiler, tmp_path):
	counted = Counted(Program("lambdas", "cyg", compiler, "-O0").command, tmp_path)
	# For each lambda: call<>, twice(), and its operator.
	of_lambdas = {function: count for function, count in counted.calls().items() if "{lambda(" in function or "$_" in function}
	assert sorted(of_lambdas.values()) == [5, 5, 7, 7, 10, 14], of_lambdas
