"""`cpprof gprof` as a whole: runs of real programs compared with Debian's gprof, the errors of sampled figures, the warnings
about files that do not match, and the call graph with the times of call paths. (test_gprof_options.py tests each option.)"""
import math
import random
import re
import shutil
import subprocess

import pytest
from gprof_support import Gmon, expect_same, made_up, our_gprof, program, run_of, symbols, text_range
from record_support import CPPROF, REPOSITORY, SECONDS_ALLOWED, run_cpprof

CORPUS = REPOSITORY / "tests/fuzz/corpus/gmon"

SOURCE = """\
#include <stdlib.h>
static volatile long sink;
static void spin(long n) { for (long i = 0; i < n; i++) sink += i; }
static int even(int n);
static int odd(int n) { spin(2000); return n == 0 ? 0 : even(n - 1); }
static int even(int n) { spin(1000); return n == 0 ? 1 : odd(n - 1); }
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void alpha(void) { spin(20000); even(10); }
void beta(void) { spin(40000); odd(7); alpha(); }
static int compare(const void *a, const void *b) { spin(10); return *(const int *)a - *(const int *)b; }
void never(void) { beta(); }
void named(void) { spin(1000); }
void _named_again(void) __attribute__((alias("named")));
static int cloned(int a, int b, const int *c) { int s = 0; for (int i = 0; i < a; i++) s += c[i & 7] * b; return s + fib(9); }
int main(int count, char **words)
{
	int numbers[500] = { 0 };
	(void)words;
	for (int i = 0; i < 500; i++)
		numbers[i] = rand();
	qsort(numbers, 500, sizeof(int), compare);
	for (int i = 0; i < 300; i++) {
		alpha();
		beta();
		_named_again();
		sink += cloned(20 + i, 3, numbers);
	}
	fib(25);
	if (count > 3)
		never();
	return 0;
}
"""
LABELS = """\
	.text
	.globl global_a
	.type global_a, @function
	.type static_a, @function
static_a:
global_a: .skip 24, 0x90
	.type __two, @function
	.type _one, @function
__two:
_one: .skip 24, 0x90
untyped: .skip 24, 0x90
	.type typed, @function
label:
typed: .skip 24, 0x90
	.weak feeble
feeble: .skip 24, 0x90
	.type "part.cold", @function
"part.cold": .skip 24, 0x90
	.type "odd$name", @function
"odd$name": .skip 25, 0x90
	.globl last
last: .skip 7, 0x90
	.section .note.GNU-stack, "", @progbits
"""


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
	(tmp_path / "program.c").write_text(SOURCE)
	(tmp_path / "labels.S").write_text(LABELS)
	return tmp_path


def built(folder, *flags, sources=("program.c",)):
	subprocess.run(["gcc", "-pg", "-gdwarf-4", *flags, *sources, "-o", "a.out"], cwd=folder, check=True)
	return folder / "a.out"


def run(folder):
	subprocess.run(["./a.out"], cwd=folder, check=True, timeout=SECONDS_ALLOWED)
	return (folder / "gmon.out").rename(folder / f"gmon.{random.getrandbits(64)}")


def warnings(*words, status=0, **settings):
	"""Returns what `cpprof gprof` prints on standard error."""
	result = subprocess.run([CPPROF, "gprof", *map(str, words)], check=False, capture_output=True, text=True, timeout=SECONDS_ALLOWED, **settings)
	assert result.returncode == status, result.stderr
	return result.stderr


# --- the same figures ---


@pytest.mark.parametrize("flags", [["-O0"], ["-O2", "-fno-inline"], ["-O3", "-no-pie"]], ids=["O0", "O2", "O3-no-pie"])
def test_runs_and_their_sum(folder, flags):
	"""Cycles, recursion, static functions, aliases and clones; two runs are added up. By line, the padding behind a clone
	belongs to the clone, and labels have no entries."""
	path = built(folder, *flags)
	runs = [run(folder), run(folder)]
	for options in [["-b"], ["-b", "-z"], ["-b", "-T"], ["-b", "-a"], ["-b", "-l", "-z"], ["-b", "-l", "-a"], ["-b", "-p", "-A_start"]]:
		expect_same(*options, path, runs[0])
		expect_same(*options, path, *runs)


def test_label_behind_all_code(folder):
	"""Without data_start, etext is the last symbol: a bin that extends beyond it gives it no time."""
	path = built(folder, "-O1", "-ffunction-sections", "-Wl,--gc-sections", sources=["program.c", "labels.S"])
	gmon = made_up(path, 1, samples=20000, bin_bytes=64).write(folder / "gmon.out")
	for options in [["-b"], ["-b", "-l"]]:
		expect_same(*options, path, gmon)


@pytest.mark.parametrize("seed", range(4))
def test_symbols_of_all_kinds(folder, seed):
	"""Calls and samples at all addresses: both gprofs agree on the name of each address, on symbols that are no functions, and
	on the end of each function."""
	path = built(folder, "-O1", "-fno-inline", sources=["program.c", "labels.S"])
	gmon = made_up(path, seed, arcs=300, samples=5000, bin_bytes=[2, 4, 6, 3][seed]).write(folder / "gmon.out")
	for options in [["-b"], ["-b", "-z", "-p"], ["-b", "-D"], ["-b", "-D", "-a"]]:
		expect_same(*options, path, gmon)


def test_clones_as_functions(folder):
	path = built(folder, "-O1", sources=["program.c", "labels.S"])
	low, high = text_range(path)
	Gmon([(low, high & ~1, [1] * ((high - low) // 2))]).write(folder / "gmon.out")
	assert "part.cold" not in our_gprof("-b", "-p", path, folder / "gmon.out")
	assert "part.cold" in our_gprof("-b", "-p", "--clones", path, folder / "gmon.out")


# --- errors ---


def half_width(part, whole):
	"""Half the width of Wilson's interval of 95 %."""
	z = 1.959963984540054
	p = part / whole
	return z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)


def test_errors_of_sampled_figures(tmp_path):
	path = program("expressions")
	gmon = made_up(path, 5, arcs=30, samples=700).write(tmp_path / "gmon.out")
	text = our_gprof("-b", "-p", path, gmon)
	with_errors = subprocess.run([CPPROF, "gprof", "-b", "-p", path, gmon], check=True, capture_output=True, text=True).stdout
	plain, others = text.splitlines(), with_errors.splitlines()
	assert len(plain) == len(others) > 8
	for line, other in zip(plain[5:], others[5:], strict=True):
		assert other.startswith(line)
		share, error = float(line.split()[0]), float(re.fullmatch(r" *\+- ([\d.]+)", other[len(line):]).group(1))
		assert abs(error - 100 * half_width(round(share * 7), 700)) < 0.06
	# The columns before the name stay at their positions.
	assert others[4].startswith(plain[4].rstrip()) and others[4].endswith("% time")


# --- files that do not match ---


def test_another_build(folder):
	path = built(folder, "-O0")
	gmon = run(folder)
	assert warnings("-b", path, gmon) == ""
	built(folder, "-O1", "-fno-inline", sources=["labels.S", "program.c"])
	assert "from another program or build" in warnings("-b", path, gmon)


def test_profile_of_another_build(folder):
	path = built(folder, "-O0")
	result = run_cpprof("import", "--format", "gmon", "--image", path, "-o", folder / "p.data", run(folder))
	assert result.returncode == 0, result.stderr
	assert "build-id" not in warnings("-b", path, folder / "p.data")
	built(folder, "-O0", "-DOTHER", "-Wl,--build-id=0x1234")
	assert "build-ids differ" in warnings("-b", path, folder / "p.data")
	shutil.copy(program("many"), folder / "stranger")
	assert "did not run" in warnings("-b", folder / "stranger", folder / "p.data", status=1)


def test_profile_knows_its_program(folder):
	path = built(folder, "-O0")
	gmon = run(folder)
	run_cpprof("import", "--format", "gmon", "--image", path, "-o", folder / "p.data", gmon)
	by_name = our_gprof("-b", "-q", path, folder / "p.data")
	assert our_gprof("-b", "-q", folder / "p.data") == by_name
	for name in ["fib", "even", "odd", "beta", "compare"]:
		assert re.search(rf"^\[\d+\].* {name} .*\[\d+\]$", by_name, re.MULTILINE)


def test_profile_without_time(folder):
	"""A profile with calls alone has a call graph, and no warning about its times."""
	path = program("expressions")
	at = symbols(path)
	gmon = Gmon([], [(at["main"] + 9, at["term"], 3)]).write(folder / "gmon.out")
	assert run_cpprof("import", "--format", "gmon", "--image", path, "-o", folder / "p.data", gmon).returncode == 0
	said = warnings("-b", "-q", path, folder / "p.data")
	assert "resource" not in said and "assumption" not in said
	assert "has no times" in warnings("-b", "-q", "--true", path, folder / "p.data", status=1)


def test_stripped(folder):
	path = built(folder, "-O0")
	gmon = run(folder)
	expected = our_gprof("-b", path, gmon)
	subprocess.run(["objcopy", "--only-keep-debug", path, folder / "a.debug"], check=True)
	subprocess.run(["strip", path], check=True)
	assert "it is stripped" in warnings("-b", path, gmon, status=1)
	subprocess.run(["objcopy", "--add-gnu-debuglink=a.debug", path], cwd=folder, check=True)
	assert our_gprof("-b", path, gmon) == expected


@pytest.mark.parametrize("words, said", [
	(["-pnosuch"], "has no function 'nosuch'"),
	(["-k", "nosuch/main"], "has no function 'nosuch/main'"),
])
def test_names_that_fit_nothing(words, said):
	path = program("expressions")
	assert said in warnings("-b", *words, path, run_of(path))


@pytest.mark.parametrize("words, said", [
	(["-p"], "nothing was sampled"),
	(["-q"], "no calls were counted"),
	(["-k", "main"], "is not an arc (FROM/TO)"),
	(["-w", "wide"], "is not a number"),
	(["-O", "bsd"], "unknown format of GMON 'bsd' (auto or magic)"),
	(["-r", "-R", "map"], "-r cannot be combined with -R"),
	(["--true"], "call paths"),
])
def test_words_that_do_not_fit(tmp_path, words, said):
	path = program("expressions")
	Gmon().write(tmp_path / "gmon.out")
	result = subprocess.run([CPPROF, "gprof", *words, path, tmp_path / "gmon.out"], check=False, capture_output=True, text=True)
	assert result.returncode in (1, 2) and said in result.stderr
	assert result.stdout == ""


def test_nothing_in_it(tmp_path):
	"""A header alone: there is nothing to print, but -i counts its records and -s writes the sum."""
	path, gmon = program("expressions"), Gmon().write(tmp_path / "gmon.out")
	for words in [], ["-C"], ["-l"], ["-A"]:
		said = warnings(*words, path, gmon, status=1)
		assert "nothing was sampled or counted" in said and "-pg" in said and "cpprof record --instrumented" in said
		assert len(said.splitlines()) == 1
	assert warnings("-i", path, gmon) == "" == warnings("-s", path, gmon, cwd=tmp_path)
	assert (tmp_path / "gmon.sum").read_bytes() == gmon.read_bytes()


def test_rate_of_zero(tmp_path):
	"""At a rate of 0 a sample has no duration: times are numbers of samples, and the output states so."""
	path = program("expressions")
	low, _ = text_range(path)
	at = symbols(path)["term"] & ~1
	gmon = Gmon([(low, at + 8, [0] * ((at - low) // 2) + [7, 0, 0, 0])], [(symbols(path)["main"] + 9, symbols(path)["term"], 3)], rate=0)
	gmon.write(tmp_path / "gmon.out")
	assert "rate of 0" in warnings("-b", path, tmp_path / "gmon.out")
	text = our_gprof("-b", path, tmp_path / "gmon.out")
	assert "Each sample counts as 1 samples." in text and "of 7.00 samples" in text and "seconds" not in text
	assert re.search(r"^100\.00 +7\.00 +7\.00 +3 .* term$", text, re.MULTILINE)
	assert "rate of 0" not in warnings("-b", path, run_of(path))


@pytest.mark.parametrize("name", ["histogram-narrow", "histogram-escape"])
@pytest.mark.parametrize("words", [["-b"], ["-s"], ["-i"]])
def test_histograms_that_are_none(tmp_path, name, words):
	"""A malformed histogram is refused as it is read, with each kind of output."""
	result = subprocess.run([CPPROF, "gprof", *words, program("expressions"), CORPUS / name], check=False, capture_output=True, text=True,
		cwd=tmp_path)
	assert result.returncode == 1 and "\x1b" not in result.stdout + result.stderr
	assert str(CORPUS / name) in result.stderr and "histogram at byte 20" in result.stderr
	assert not (tmp_path / "gmon.sum").exists()


def test_names_in_the_index(tmp_path):
	"""The output contains no byte of a file that a terminal could interpret as a command."""
	(tmp_path / "x.c").write_text("void named(void) {}\nint main(void) { named(); return 0; }\n")
	subprocess.run(["gcc", "-pg", "-c", "x.c"], cwd=tmp_path, check=True)
	subprocess.run(["objcopy", "--redefine-sym", "named=na\x1b[31med", "x.o"], cwd=tmp_path, check=True)
	subprocess.run(["gcc", "-pg", "x.o"], cwd=tmp_path, check=True)
	subprocess.run(["./a.out"], cwd=tmp_path, check=True)
	for words in ["-b"], ["-b", "-T"], ["-b", "-C"], ["-b", "-r"]:
		text = our_gprof(*words, cwd=tmp_path)
		assert "\x1b" not in text and "na?[31med" in text, words


def test_missing_files(tmp_path):
	assert "cannot open 'a.out': No such file or directory" in warnings(status=1, cwd=tmp_path)
	shutil.copy(program("expressions"), tmp_path / "a.out")
	assert "cannot open 'gmon.out': No such file or directory" in warnings(status=1, cwd=tmp_path)
	(tmp_path / "text").write_text("no program\n")
	assert warnings("text", status=1, cwd=tmp_path)


# --- the call graph of any profile ---


PATHS = {
	"main;read": 10, "main;sort": 5, "main;sort;sort": 7, "main;sort;sort;compare": 20, "main;sort;compare": 3, "main": 1,
	"main;ping;pong;ping;pong": 8, "main;ping;pong;read": 4, "other;read": 2,
}
RELATIVE = re.compile(r"^ {6} {6}(.{8})(.{8}) (.{7})[ /].{7}     (.*?) \[\d+\]$")
OWN = re.compile(r"^\[\d+\] *([\d.]+) +([\d.]+) +([\d.]+)(?: +[\d+]+)? +(\S+) \[\d+\]$")


def naive_graph():
	"""{function: (own, below)}, {(caller, callee): hits}, each once per path."""
	functions, arcs = {}, {}
	for path, hits in PATHS.items():
		names = path.split(";")
		for name in set(names):
			own, below = functions.get(name, (0, 0))
			functions[name] = (own + hits, below) if name == names[-1] else (own, below + hits)
		for arc in set(zip(names, names[1:])):
			arcs[arc] = arcs.get(arc, 0) + hits
	return functions, arcs


def test_call_graph_of_paths(tmp_path):
	(tmp_path / "paths").write_text("".join(f"{path} {hits}\n" for path, hits in PATHS.items()))
	assert run_cpprof("import", "--format", "folded", "-o", tmp_path / "p.data", tmp_path / "paths").returncode == 0
	result = run_cpprof("report", "--call-graph", tmp_path / "p.data")
	assert result.returncode == 0, result.stderr
	assert "calls were not counted" in result.stderr
	text = result.stdout[result.stdout.index("called     name") :]
	functions, arcs = naive_graph()
	assert f"\ngranularity: each sample stands for 1 sample, all for {sum(PATHS.values())} samples\n" in result.stdout
	total, seen, seen_arcs = sum(PATHS.values()), {}, {}
	for entry in text.split("-----------------------------------------------\n"):
		lines = entry.splitlines()
		own = [i for i, line in enumerate(lines) if OWN.match(line)]
		if not own:
			continue
		share, time, below, name = OWN.match(lines[own[0]]).groups()
		seen[name] = (float(time), float(below))
		assert abs(float(share) - 100 * sum(functions[name]) / total) < 0.051
		for i, line in enumerate(lines):
			found = RELATIVE.match(line)
			if i == own[0] or not found:
				continue
			arc = (found.group(4), name) if i < own[0] else (name, found.group(4))
			if arc[0] != arc[1]:
				seen_arcs.setdefault(arc, set()).add(float(found.group(1)) + float(found.group(2)))
	assert seen == functions
	assert seen_arcs == {arc: {hits} for arc, hits in arcs.items() if arc[0] != arc[1]}


@pytest.mark.parametrize("words", [["--limit", "3"], ["--threshold", "1%"], ["--by", "line"], ["--tree"]])
def test_call_graph_takes_no_such_options(tmp_path, words):
	(tmp_path / "paths").write_text("main;f 1\n")
	run_cpprof("import", "--format", "folded", "-o", tmp_path / "p.data", tmp_path / "paths")
	result = run_cpprof("report", "--call-graph", *words, tmp_path / "p.data")
	assert result.returncode == 2 and words[0] in result.stderr
