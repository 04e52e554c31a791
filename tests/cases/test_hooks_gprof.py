"""gmon.out files that cpprof writes: Debian's gprof and ours print the same figures from them, and the same figures as from the
C library's runtime where that counts right."""
import re
import subprocess

import pytest
from measuring import near
from gprof_support import DEBUG, expect_same, program, real_gprof, run_of
from record_support import BUILD, run_cpprof


BUILDS = {
	"gcc": {},
	"gcc-no-pie": {"flags": ["-no-pie"]},
	"gcc-fentry": {"flags": ["-mfentry"]},
	"clang": {"compiler": "clang"},
}


def recorded(folder, path, *options):
	result = run_cpprof("record", *options, "--gmon", "-o", "out.data", "--", path, cwd=folder)
	assert result.returncode == 0, result.stderr
	assert (folder / "gmon.out").exists(), result.stderr
	return folder / "gmon.out"


def calls(text):
	"""{function: calls} of a flat profile; functions of the same name are added up."""
	found = {}
	for count, name in re.findall(r"^ *[\d.]+ +[\d.]+ +[\d.]+ +(\d+) +[\d.]+ +[\d.]+ +(\S.*)$", text, re.MULTILINE):
		found[name] = found.get(name, 0) + int(count)
	return found


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", ["expressions", "shapes"])
def test_read_by_either(tmp_path, name, build):
	options = dict(BUILDS[build])
	path = program(name, *options.pop("flags", []), **options)
	gmon = recorded(tmp_path, path, "--instrumented")
	for words in [["-b"], ["-b", "-p", "-z"], ["-b", "-q"], ["-b", "-C"] if name == "expressions" else ["-b", "-A"], ["-b", "-l", "-p"],
			["-b", "-i"]]:
		expect_same(*words, path, gmon)
	ours, theirs = calls(real_gprof("-b", "-p", path, gmon)), calls(real_gprof("-b", "-p", path, run_of(path)))
	assert ours.pop("main") == 1
	# The C library's runtime omits calls by the C library itself (of qsort's comparator). main's file has one compare, and other.c
	# another one, which is called 10,000 times.
	if name == "expressions":
		assert ours.pop("compare") > theirs.pop("compare") == 10000
	theirs.pop("main", None)
	assert ours == theirs
	warned = run_cpprof("gprof", "-b", "-p", path, gmon)
	assert warned.returncode == 0 and "another program or build" not in warned.stderr


PARTS = """\
static volatile long sum;
static inline __attribute__((always_inline)) void inlined(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static void work(long n) { inlined(n); }
int main(void) { for (int i = 0; i < 4; i++) { sum += fib(30); work(30000000); } return 0; }
"""


@pytest.mark.measured("sampled times are compared with each other")
def test_true_shares_are_of_all(tmp_path):
	"""Inlined functions and the cost of counting have entries of their own, and the shares of all entries add up to 100 %."""
	(tmp_path / "parts.c").write_text(PARTS)
	subprocess.run(["gcc", "-pg", "-O1", "-g", "parts.c", "-o", "parts"], cwd=tmp_path, check=True)
	recorded(tmp_path, "./parts", "--instrumented")
	text = run_cpprof("gprof", "-b", "-q", "--true", "./parts", "out.data", cwd=tmp_path).stdout
	whole = float(re.search(r"all for ([\d.]+) seconds", text).group(1))
	own = {name: [float(figure) for figure in figures] for *figures, name in
		re.findall(r"^\[\d+\] +([\d.]+) +([\d.]+) +([\d.]+) .* (\S+) \[\d+\]$", text, re.MULTILINE)}
	assert {"main", "work", "inlined", "fib", "[hooks]"} <= own.keys(), text
	assert own["inlined"][1] > 0 and own["[hooks]"][1] > 0
	near(sum(time for _, time, _ in own.values()), whole, 0.01 * len(own))
	for share, time, below in own.values():
		near(share / 100 * whole - time, below, 0.02)


LOOP = """\
static int count(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			s += i;
		else
			s -= 1;
	}
	return s;
}
int main(void)
{
	int t = 0;
	for (int i = 0; i < 10; i++)
		t += count(i);
	return t == 0;
}
"""


@pytest.mark.parametrize("compiler, flag", [("gcc", "trace-pc"), ("clang", "trace-pc-guard,pc-table,no-prune")])
def test_blocks(tmp_path, compiler, flag):
	(tmp_path / "loop.c").write_text(LOOP)
	runtime = BUILD / "src/collect/agent"
	subprocess.run([compiler, *DEBUG, "-O0", f"-fsanitize-coverage={flag}", "-c", "loop.c"], cwd=tmp_path, check=True)
	# With that flag, clang's linker step would add hooks of its own.
	subprocess.run([compiler, "loop.o", "-o", "loop", f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-lcpprof"], cwd=tmp_path, check=True)
	gmon = recorded(tmp_path, "./loop", "--instrumented=blocks")
	text = expect_same("-b", "-l", "-C", "loop", gmon, cwd=tmp_path)
	assert re.search(r"loop\.c:6: \(count:0x[0-9a-f]+\) 18 executions", text)
	assert re.search(r"loop\.c:8: \(count:0x[0-9a-f]+\) 27 executions", text)
	text = run_cpprof("gprof", "-b", "-l", "-A", "-t", "100", "loop", cwd=tmp_path).stdout
	table = {int(line): int(count) for line, count in re.findall(r"^ +(\d+) +(\d+)$", text[text.index("Top 100"):], re.MULTILINE)}
	for line, count in {3: 10, 5: 45, 6: 18, 8: 27, 10: 10, 14: 1, 16: 10, 17: 1}.items():
		assert table[line] == count, text
	assert table[4] == 55 and table[15] == 11
	assert "##### ->" not in text
