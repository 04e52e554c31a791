"""
Builds programs of other projects with their own build systems and `cpprof cc -- gcc` (or clang) as the compiler, and changes
nothing else. Checks that they still behave as before, and that the calls of each instrumented function are those that callgrind
counts in the original program.

	bench/source_programs.py [PROGRAM...] [--compiler gcc|clang] [--measure M] [--option OPTION]

It prints a line for each program and compiler; `bench/run source-real` adds these lines to the results. bench/setup has unpacked
the sources. It uses helpers of the tests and therefore needs Debian's python, which has pytest.
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests/cases"))
sys.dont_write_bytecode = True

from hooks_support import CXX, SYMBOLS, counted_calls # noqa: E402
from record_support import CPPROF # noqa: E402
from source_support import callgrind_calls, constexpr_functions, function_symbols, instrumented_functions # noqa: E402

SOURCES, BUILDS = HERE / "work/src", HERE / "work/source"
COMPILERS = ["gcc", "clang"]
SECONDS = 600 # the limit for one command
# Text that differs between runs of the same program.
VOLATILE = re.compile(r"^(?:Memory used|Page-cache overflow|Maximum memory usage):.*|\d+ microseconds|\d+\.\d+ ?s\b|\d+ ms\b|0x[0-9a-f]{6,}", re.MULTILINE)
# clang numbers lambdas in the order in which it generates their code, and code that names them changes this order.
LAMBDA = re.compile(r"\d*\$_\d+")
CMAKE = 'cmake -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$FLAGS"'


@dataclass
class Program:
	"""How to build the program in an empty folder, and its tests. {source} is the folder of its sources. Commands run in a
	folder beside the built files."""
	package: str # the folder of its sources is PACKAGE-VERSION
	build: str # a script for sh; $CC, $CXX and $FLAGS are set
	folder: str # of the built files
	tests: list # commands whose output and counted calls are compared
	uncounted: list = field(default_factory=list) # commands of which only the output is compared
	options: tuple = () # of cpprof cc
	unreached: tuple = () # constructors that an exception of a member's initialiser leaves before the body, which contains the object

	def source(self):
		return next(path for path in sorted(SOURCES.glob(f"{self.package}-[0-9]*")) if path.is_dir())


def sqlite_tests(*names):
	return [["../testfixture", f"{{source}}/test/{name}.test"] for name in names]


FMT_TESTS = ["args", "chrono", "compile", "core", "format", "ostream", "printf", "ranges", "scan", "std", "xchar"]
JSON_TESTS = ["algorithms", "class_parser", "element_access1", "iterators1", "merge_patch", "modifiers", "ordered_json", "pointer_access", "udt", "udt_macro"]
PROGRAMS = {
	# Lua hashes by the time and by addresses, which differ between runs. Without both, each run makes the same calls.
	"lua": Program("lua5.4", """tar xf {source}/../lua5.4_*.orig.tar.gz --strip-components=1
		make linux CC="$CC" MYCFLAGS="$FLAGS '-Dluai_makeseed(L)=42' -DSTRCACHE_N=1 -DSTRCACHE_M=1" """, "src",
		[["../lua", HERE / "programs/calls.lua"], ["../lua", HERE / "programs/queens.lua", "6", "1"], ["../luac", "-l", "-p", HERE / "programs/calls.lua"]]),
	# sqlite3 would ask the C library for the length of heap blocks. The answers depend on all blocks of the process, and even on
	# the length of its environment.
	"sqlite3": Program("sqlite3", """ac_cv_func_malloc_usable_size=no CFLAGS="$FLAGS" {source}/configure --disable-readline --disable-shared
		make sqlite3 testfixture""", ".",
		[*sqlite_tests("select1", "join", "with1", "window1", "json101", "index", "trigger1", "upsert1"), ["../sqlite3", ":memory:", ".read {here}/programs/source.sql"]],
		# These read addresses, which have fewer digits under valgrind (testHexToInt), start other processes (trans) or lack an
		# extension.
		sqlite_tests("expr", "trans", "types", "fts3ab", "fts4aa", "rtree", "where", "vtab1")),
	# fmtlib's headers request -Og for themselves, in a build that is not optimised otherwise.
	"fmtlib": Program("fmtlib", f"""{CMAKE} "-DCMAKE_CXX_FLAGS=-O0 '-DFMT_GCC_PRAGMA(text)='" -DCMAKE_CXX_STANDARD=17 -DFMT_DOC=off {{source}}
		make {' '.join(f'{test}-test' for test in FMT_TESTS)}""", "bin",
		[[f"../{test}-test", "--gtest_print_time=0", "--gtest_color=no"] for test in FMT_TESTS], options=("--headers",),
		unreached=("fmt::v9::detail::dynamic_arg_list::typed_node<copy_throwable>::typed_node<copy_throwable>(copy_throwable const&)",)),
	"json": Program("nlohmann-json3", f"""{CMAKE} -DJSON_BuildTests=ON -DJSON_TestStandards=17 -DJSON_MultipleHeaders=OFF {{source}}
		make {' '.join(f'test-{test}_cpp17' for test in JSON_TESTS)}""", "tests",
		[[f"../test-{test}_cpp17"] for test in JSON_TESTS], options=("--headers",)), # the library is a header
}


# --- building ---

class Built:
	"""A program that one compiler has built, with the tool or unchanged."""

	def __init__(self, name, compiler, has_tool, options=()):
		self.program, self.name, self.compiler = PROGRAMS[name], name, compiler
		# "tool" and "bare" have the same length, because a program may depend on the length of its own path.
		self.folder = BUILDS / f"{name}-{compiler}-{'tool' if has_tool else 'bare'}"
		self.place = self.folder / self.program.folder / "run"
		self.has_tool, self.options = has_tool, [*self.program.options, *options]
		self.log, self.seconds = self.folder / "build.log", 0.0

	def compilers(self):
		c, cxx = self.compiler, CXX[self.compiler]
		if not self.has_tool:
			return {"CC": c, "CXX": cxx}
		options = " ".join(["", *self.options])
		return {"CC": f"{CPPROF} cc{options} -- {c}", "CXX": f"{CPPROF} cxx{options} -- {cxx}"}

	def make(self):
		"""Builds the program. The build without the tool is kept for later runs."""
		done = self.folder / "done"
		if done.exists() and not self.has_tool:
			return
		shutil.rmtree(self.folder, ignore_errors=True)
		self.folder.mkdir(parents=True)
		script = "set -e\n" + self.program.build.replace("{source}", str(self.program.source()))
		begin = time.monotonic()
		with open(self.log, "wb") as log:
			status = subprocess.run(["sh", "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
				env={**os.environ, **self.compilers(), "FLAGS": f"-O0 {SYMBOLS[self.compiler]}", "CPPROF_OUTPUT": "/dev/null", "CPPROF_CC_VERBOSE": "1"}).returncode
		self.seconds = time.monotonic() - begin
		if status:
			sys.exit(f"bench/source_programs.py: {self.name} was not built; the end of {self.log}:\n{self.log.read_text(errors='replace')[-3000:]}")
		done.touch()

	def fell_back(self):
		"""Returns the number of files that were compiled without instrumentation."""
		return self.log.read_text(errors="replace").count(": compiled without instrumentation: ")

	def command(self, test):
		source = self.program.source()
		return [str(word).replace("{source}", str(source)).replace("{here}", str(HERE)) for word in test]

	def run(self, before, command, folder=None):
		"""Runs a command in an empty folder. Returns (standard output without text that differs between runs, status, standard
		error)."""
		shutil.rmtree(self.place, ignore_errors=True)
		self.place.mkdir()
		result = subprocess.run([*before, *command], cwd=self.place, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
			env={**os.environ, "LD_BIND_NOW": "1", "TZ": "UTC", "CPPROF_OUTPUT": str((folder or self.folder) / "alone.data")}, check=False)
		return VOLATILE.sub("T", result.stdout.decode(errors="replace")), result.returncode, result.stderr.decode(errors="replace")


# --- comparing ---

@dataclass
class Comparison:
	tests: int = 0
	outputs: list = field(default_factory=list) # tests whose output differs
	functions: set = field(default_factory=set) # functions that were instrumented and called
	instrumented: set = field(default_factory=set)
	doubtful: set = field(default_factory=set) # functions that share their name with uninstrumented ones
	calls: int = 0
	constants: set = field(default_factory=set) # constexpr functions with other counts, see explained()
	there: set = field(default_factory=set) # functions that have other counts only without valgrind, see explained()
	wrong: list = field(default_factory=list)


def compare_output(plain, tool, command, comparison, before=(), folder=None):
	found = tool.run(before, command, folder)
	comparison.tests += 1
	if plain[:2] != found[:2]:
		changed = list(difflib.unified_diff(plain[0].splitlines(), found[0].splitlines(), "as it was", "instrumented", n=0, lineterm=""))[3:6]
		comparison.outputs.append(f"{' '.join(command)}: status {plain[1]} and {found[1]}; {' / '.join(changed)}; {found[2].strip()[-200:]}")


def steady(name):
	return LAMBDA.sub("$_", name)


def steady_calls(data):
	calls = Counter()
	for name, count in counted_calls(data).items():
		calls[steady(name)] += count
	return calls


class Binary:
	"""The functions of an instrumented program that are compared, and the calls that callgrind counts in either build."""

	def __init__(self, path, command, folder):
		linked, doubtful = instrumented_functions(path)
		self.path, self.command, self.folder = path, command, folder
		self.linked = {steady(linked): steady(shown) for linked, shown in linked.items()}
		self.constant = {self.linked[steady(name)] for name in constexpr_functions(path) if steady(name) in self.linked}
		others = set().union(*function_symbols(path).values()) - set(linked) # lambdas without an object, with the same function and parameters
		self.doubtful = {steady(name) for name in doubtful} | {self.linked[steady(name)] for name in others if steady(name) != name and steady(name) in self.linked}

	def called(self, built):
		"""Returns the calls that callgrind counts."""
		return callgrind_calls(lambda before: built.run(before, self.command, self.folder), self.path.name, self.folder, self.linked, steady)

	def counted_and_called(self, tool):
		"""Runs callgrind on the instrumented program. Returns the calls that the program counted in this run, and callgrind's."""
		data = self.folder / "alone.data"
		data.unlink(missing_ok=True)
		called = self.called(tool)
		return steady_calls(data), called


def explained(binary, tool, names, expected):
	"""Explains differing counts of these functions. Returns two sets:
	- constexpr functions that the instrumented program calls as often as it counts. gcc evaluates some calls while compiling (in the
	  condition of ?: in a template), unless the function asks whether it is evaluated, as an object does: then they stay calls.
	- functions whose calls callgrind counts equally in both builds, and the program counts equally while callgrind runs it: the program
	  behaves differently only without valgrind, whose long double has 64 bits."""
	if not names:
		return set(), set()
	counted, called = binary.counted_and_called(tool)
	exact = {name for name in names if counted[name] == called[name]}
	there = {name for name in exact if called[name] == expected[name]}
	return exact & binary.constant - there, there


def compare_counts(bare, tool, command, measurement, comparison):
	plain = bare.run([], command)
	with tempfile.TemporaryDirectory() as scratch:
		folder = Path(scratch)
		data = folder / "cpprof.data"
		record = [CPPROF, "record", f"--instrumented={measurement}", "-o", str(data), "--"]
		compare_output(plain, tool, command, comparison, record, folder)
		if not data.exists():
			comparison.wrong.append(f"{' '.join(command)}: no profile")
			return
		binary = Binary(tool.place / command[0], command, folder)
		found = steady_calls(data)
		expected = binary.called(bare)
		functions = set(binary.linked.values())
		differing = {name for name in functions - binary.doubtful - set(tool.program.unreached) if expected[name] != found[name]}
		constants, there = explained(binary, tool, differing, expected)
	comparison.instrumented |= functions
	comparison.doubtful |= binary.doubtful
	comparison.constants |= constants
	comparison.there |= there
	comparison.calls += sum(expected[name] for name in functions - binary.doubtful)
	comparison.functions |= {name for name in functions - binary.doubtful if expected[name]}
	for name in sorted(differing - constants - there):
		comparison.wrong.append(f"{binary.path.name} {command[-1]}: {name}: {found[name]} calls, not {expected[name]}")
	# Counts of names that are no function of the binary are errors too.
	for name in sorted(set(found) - functions):
		comparison.wrong.append(f"{binary.path.name} {command[-1]}: {name}: {found[name]} calls of what was not instrumented")


def compare(name, compiler, measurement, options=()):
	bare, tool = Built(name, compiler, False), Built(name, compiler, True, options)
	bare.make()
	tool.make()
	comparison = Comparison()
	for test in tool.program.tests:
		compare_counts(bare, tool, tool.command(test), measurement, comparison)
	for test in tool.program.uncounted:
		command = tool.command(test)
		compare_output(bare.run([], command), tool, command, comparison)
	return comparison, tool


def line_of(name, compiler, measurement, comparison, tool):
	"""Returns the line of results, which bench/source_real.py parses."""
	return (f"{name} {compiler} {measurement}: {comparison.tests} tests, {len(comparison.outputs)} with another output; "
		f"{len(comparison.instrumented)} functions instrumented, {len(comparison.functions)} called, {comparison.calls} calls, {len(comparison.wrong)} counts differ from callgrind's, "
		f"{len(comparison.constants)} are evaluated by the compiler instead, {len(comparison.doubtful)} names of others too, {len(comparison.there)} counted under valgrind alone; {tool.fell_back()} files as they are, built in {tool.seconds:.1f} s")


def arguments():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS) + " (default: all)")
	parser.add_argument("--compiler", choices=COMPILERS, action="append")
	parser.add_argument("--measure", default="paths")
	parser.add_argument("--option", action="append", default=[], help="of cpprof cc")
	args = parser.parse_args()
	unknown = set(args.programs) - set(PROGRAMS)
	if unknown:
		parser.error(f"there is no program '{sorted(unknown)[0]}'")
	return args


def main():
	args = arguments()
	failed = False
	for name in args.programs or PROGRAMS:
		for compiler in args.compiler or COMPILERS:
			comparison, tool = compare(name, compiler, args.measure, args.option)
			print(line_of(name, compiler, args.measure, comparison, tool), flush=True)
			for what in [*comparison.outputs, *comparison.wrong]:
				print(what, file=sys.stderr, flush=True)
			failed = failed or bool(comparison.outputs or comparison.wrong)
	return int(failed)


if __name__ == "__main__":
	sys.exit(main())
