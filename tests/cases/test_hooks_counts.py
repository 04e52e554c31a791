"""
Calls that compiler hooks count, against valgrind's callgrind, which knows each instruction that ran: programs of one behaviour each,
built by both compilers with each hook. The numbers must be equal, function by function.

Each program meets each hook and both compilers, at levels of optimisation and by measurements that go round; CPPROF_HOOKS_MATRIX=full in the
environment takes all there are.
"""
import os

import pytest
from hooks_support import FOLDER, HOOKS, Callgrind, Counted, Program, by_base_name, differences

COMPILERS = ["gcc", "clang"]
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
MEASUREMENTS = ["paths", "arcs", "paths-timed", "blocks", "trace"]
IS_FULL = os.environ.get("CPPROF_HOOKS_MATRIX") == "full"

NOT_PROGRAMS = ["lambdas", "lives", "none", "short_threads", "steps", "thread_paths"]
PROGRAMS = sorted({path.name.split(".")[0] for path in FOLDER.glob("*.c*")} - set(NOT_PROGRAMS))
# GNU C's alone.
GCC_ALONE = ["nested_functions"]
# Those whose numbers hang on the moments at which signals come, or in which processes are killed, which valgrind's file does not outlive:
# they count themselves.
STATED_ALONE = ["interrupted", "own_profiler", "sudden_ends"]
# The C library's functions that are inlined into the program are counted too, and allocations by the linker are its own.
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
	"""({function: calls}, calls of all functions or None) by valgrind, or as the program states."""
	if name in STATED_ALONE:
		return stated, None
	run = Callgrind(program.command, program.hook, folder)
	counts, total = run.hooked(program.objects), run.total() if name not in OTHER_TOTALS else None
	# What is inlined has its hook in another function: those are the calls that are written in the source, as without optimisation.
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_callgrinds(name, tmp_path):
	found = [line for build in builds(name) for line in differences_of(name, *build, tmp_path)]
	assert not found, "\n".join(found)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_lambdas_of_equal_name_differ(compiler, tmp_path):
	counted = Counted(Program("lambdas", "cyg", compiler, "-O0").command, tmp_path)
	# Of each: call<>, twice(), and the operator.
	of_lambdas = {function: count for function, count in counted.calls().items() if "{lambda(" in function or "$_" in function}
	assert sorted(of_lambdas.values()) == [5, 5, 7, 7, 10, 14], of_lambdas
