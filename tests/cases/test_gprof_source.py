"""Annotated source, execution counts and link orders of `cpprof gprof`, where gprof has no output or another one.
test_gprof_options.py compares the figures that gprof has."""
import re
import subprocess

import pytest
from gprof_support import DEBUG, FOLDER, Gmon, made_up, our_gprof, program, run_of, symbols, text_range
from record_support import BUILD, run_cpprof

SOURCE = """\
static volatile long sink;
static int leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
	return n;
}
int never(void)
{
	return leaf(3);
}
int main(void)
{
	return leaf(7) - 7;
}
"""


@pytest.fixture(name="leaf")
def leaf_fixture(tmp_path):
	"""A program built in the folder, and the addresses at which the rows of its lines begin: {line: [address]}."""
	(tmp_path / "leaf.c").write_text(SOURCE)
	subprocess.run(["gcc", "-pg", "-O0", "-no-pie", *DEBUG, "leaf.c", "-o", "leaf"], cwd=tmp_path, check=True)
	decoded = subprocess.run(["objdump", "--dwarf=decodedline", "leaf"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
	rows = {}
	for line, address in re.findall(r"^leaf\.c +(\d+) +(0x[0-9a-f]+)", decoded, re.MULTILINE):
		rows.setdefault(int(line), []).append(int(address, 16))
	return tmp_path, rows


def gutters(text):
	"""{line's text: the count in front of it}."""
	found = re.findall(r"^ *(\S*) (?:->|  ) (.*)$", text, re.MULTILINE)
	return {source.strip(): count for count, source in found}


def blocks_of_leaf(rows):
	"""The blocks of leaf(7): the loop's start, its body and step, its test, and the end."""
	body, = rows[5]
	start, step, test = sorted(rows[4])[:3] if len(rows[4]) > 2 else (*sorted(rows[4]), None)
	counts = [(rows[3][0], 1), (body, 7), (rows[6][0], 1), (rows[13][0], 1)]
	loop = [(start, 1), (step, 7)] + ([(test, 8)] if test else [])
	return sorted(counts + loop)


def test_blocks_without_arcs(leaf):
	"""gprof prints nothing for such a file."""
	folder, rows = leaf
	Gmon(blocks=blocks_of_leaf(rows)).write(folder / "gmon.out")
	text = our_gprof("-b", "-l", "-A", "leaf", cwd=folder)
	lines = gutters(text)
	assert lines["sink += i;"] == "7"
	assert lines["return n;"] == "1"
	assert set(lines["for (int i = 0; i < n; i++)"].split(",")) <= {"1", "7", "8"}
	assert lines["return leaf(3);"] == ""


def test_lines_ran_as_often_as_their_blocks(leaf):
	folder, rows = leaf
	blocks = blocks_of_leaf(rows)
	Gmon(blocks=blocks).write(folder / "gmon.out")
	text = our_gprof("-b", "-l", "-A", "-x", "leaf", cwd=folder)
	lines = gutters(text)
	assert lines["return leaf(3);"] == "#####"
	assert lines["return leaf(7) - 7;"] == "1"
	table = dict(re.findall(r"^ +(\d+) +(\d+)$", text[text.index("Top 10"):text.index("Execution Summary")], re.MULTILINE))
	assert table["5"] == "7" and table["6"] == "1" and table["3"] == "1"
	assert "10" not in table
	executable, executed = (int(re.search(rf"(\d+)   {words}", text).group(1)) for words in ["Executable lines", "Lines executed"])
	never = sum(1 for line in rows if 9 <= line <= 11)
	assert executed == executable - never
	total = int(re.search(r"(\d+)   Total number", text).group(1))
	assert total == sum(int(count) for count in table.values())


UNEXECUTED = """int x;
int f(int n)
{
	if (n > 3)
		x = 1;
	else
		x = 2;
	return n;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++)
		f(i);
	if (argc > 5)
		f(1);
	return argv == 0;
}
"""


@pytest.mark.parametrize("compiler, flags", [("gcc", ["-fsanitize-coverage=trace-pc"]),
	("clang", ["-fsanitize-coverage=trace-pc-guard,pc-table,no-prune", "-fno-sanitize-link-runtime"])])
def test_lines_in_blocks_that_were_never_executed(compiler, flags, tmp_path):
	"""The file has no records of such blocks. Their lines are not counted as executed with the block in front of them."""
	library = BUILD / "src/collect/agent"
	(tmp_path / "lines.c").write_text(UNEXECUTED)
	subprocess.run([compiler, "-O0", "-g", *flags, "lines.c", "-o", "lines", f"-L{library}", f"-Wl,-rpath,{library}", "-Wl,--no-as-needed", "-lcpprof"],
		cwd=tmp_path, check=True)
	for words in (["record", "--instrumented=blocks", "-o", "b.data", "./lines"], ["export", "--format", "gmon", "-o", "gmon.out", "b.data"]):
		result = run_cpprof(*words, cwd=tmp_path)
		assert result.returncode == 0, result.stderr
	text = our_gprof("-b", "-l", "-A", "-x", "lines", cwd=tmp_path)
	lines = gutters(text)
	assert {line for line, count in lines.items() if count == "#####"} == {"x = 1;", "f(1);"}
	assert (lines["x = 2;"], lines["return n;"], lines["f(i);"]) == ("3", "3", "3")
	executable, executed = (int(re.search(rf"(\d+)   {words}", text).group(1)) for words in ["Executable lines", "Lines executed"])
	assert executed == executable - 2


def test_more_blocks_than_gprof_keeps(leaf):
	folder, rows = leaf
	start = rows[5][0]
	Gmon(blocks=[(start + i, 1000 + i) for i in range(16)]).write(folder / "gmon.out")
	counts = our_gprof("-b", "-l", "-C", "leaf", cwd=folder).splitlines()
	assert [int(re.search(r"(\d+) executions", line).group(1)) for line in counts] == [1000 + i for i in range(16)]
	lines = gutters(our_gprof("-b", "-l", "-A", "leaf", cwd=folder))
	assert lines["sink += i;"] == "1000,1001,.."


def test_large_counts(leaf):
	folder, rows = leaf
	Gmon(arcs=[(rows[14][0] + 3, rows[3][0], 2**32 - 1)] * 5, blocks=[(rows[5][0], 2**60)]).write(folder / "gmon.out")
	lines = gutters(our_gprof("-b", "-l", "-A", "leaf", cwd=folder))
	assert lines["sink += i;"] == str(2**60)
	assert f"{5 * (2**32 - 1)} executions" in our_gprof("-b", "-C", "leaf", cwd=folder)


def test_minimum_count(leaf):
	"""-m works as gprof's manual documents it; gprof itself prints all counts."""
	folder, rows = leaf
	Gmon(blocks=blocks_of_leaf(rows)).write(folder / "gmon.out")
	counts = our_gprof("-b", "-l", "-C", "-m", "5", "leaf", cwd=folder)
	assert counts and all(int(count) >= 5 for count in re.findall(r"(\d+) executions", counts))


def test_calls_by_itself(tmp_path):
	path = program("expressions")
	text = our_gprof("-C", path, run_of(path))
	# factorial(n) with n > 1 calls itself n - 1 times: 9 * (1 + ... + 9) calls for the arguments i % 11, besides the 100 calls from
	# main.
	deeper = sum(max(0, i % 11 - 1) for i in range(100))
	assert re.search(rf"\(factorial:0x[0-9a-f]+\) 100 executions, and {deeper} by itself$", text, re.MULTILINE)


def test_separate_files(leaf):
	folder, rows = leaf
	Gmon(arcs=[(rows[14][0] + 3, rows[3][0], 4)]).write(folder / "gmon.out")
	whole = our_gprof("-b", "-A", "leaf", cwd=folder)
	assert our_gprof("-b", "-A", "-y", "leaf", cwd=folder) == ""
	copy = (folder / "leaf.c-ann").read_text().splitlines()
	assert [line.rstrip() for line in copy] == whole.splitlines()[1:]
	(folder / "leaf.c-ann").unlink()
	(folder / "leaf.c-ann").mkdir()
	result = run_cpprof("gprof", "-b", "-A", "-y", "leaf", cwd=folder)
	assert result.returncode != 0 and "leaf.c-ann" in result.stderr


def test_source_that_has_moved(leaf):
	folder, rows = leaf
	Gmon(arcs=[(rows[14][0] + 3, rows[3][0], 4)]).write(folder / "gmon.out")
	whole = our_gprof("-b", "-A", "leaf", cwd=folder)
	(folder / "away/src").mkdir(parents=True)
	(folder / "leaf.c").rename(folder / "away/src/leaf.c")
	text = our_gprof("-b", "-A", "leaf", cwd=folder)
	assert "leaf.c" in text and "No such file" in text and "-I" in text and "sink" not in text
	assert our_gprof("-b", "-A", "-I", "away/src", "leaf", cwd=folder) == whole
	assert our_gprof("-b", "-A", "-I", "nowhere:away/src", "leaf", cwd=folder) == whole
	assert our_gprof("-b", "-A", "leaf", cwd=folder, env={"GPROF_PATH": "away/src", "PATH": "/usr/bin"}) == whole


def test_source_shorter_than_the_program_thinks(leaf):
	folder, rows = leaf
	Gmon(arcs=[(rows[14][0] + 3, rows[3][0], 4)]).write(folder / "gmon.out")
	(folder / "leaf.c").write_text("short")
	assert "short" in our_gprof("-b", "-A", "leaf", cwd=folder)


def test_lines_of_optimised_templates(tmp_path):
	"""An inlined function gives gprof several symbols of a function that does not exist, and gprof fails with "somebody
	miscounted"."""
	path = program("shapes", level="-O2")
	gmon = made_up(path, 3).write(tmp_path / "gmon.out")
	text = our_gprof("-b", "-l", "-p", "-z", path, gmon)
	assert re.search(r"geometry::sum \(shapes\.cpp:\d+ @ [0-9a-f]+\)$", text, re.MULTILINE)


def test_dwarf_5(tmp_path):
	"""Functions of a header are reported in the header."""
	path = program("expressions", debug=["-gdwarf-5"])
	text = our_gprof("-b", "-C", path, run_of(path))
	assert re.search(rf"^{re.escape(str(FOLDER))}/shared\.h:3: \(mixed:", text, re.MULTILINE)


def test_no_debug_information(tmp_path):
	path = program("many", debug=["-g0"])
	gmon = made_up(path, 3).write(tmp_path / "gmon.out")
	assert our_gprof("-b", "-A", path, gmon) == ""
	assert "<unknown>:0: (f100:0x" in our_gprof("-b", "-C", path, gmon)
	assert "f100" in our_gprof("-b", "-l", "-p", path, gmon)


# --- link orders ---

@pytest.fixture(name="ordered")
def ordered_fixture(tmp_path):
	"""Calls in this order of their counts: main to f310, f310 to f110, f200 to f201. The addresses rise from f110 to f200 to
	f310."""
	path = program("many")
	names = symbols(path)
	low, high = text_range(path)
	arcs = [(names["main"] + 9, names["f310"], 1000), (names["f310"] + 9, names["f110"], 900), (names["f200"] + 9, names["f201"], 50)]
	Gmon([(low, high, [0] * (high - low))], arcs).write(tmp_path / "gmon.out")
	return tmp_path, path


def test_function_order(ordered):
	folder, path = ordered
	order = our_gprof("-b", "-r", path, cwd=folder).split()
	assert order[:5] == ["main", "f310", "f110", "f200", "f201"]
	assert len(order) == len(set(order)) > 240
	assert order.index("f111") > 4


def test_file_order(ordered):
	folder, path = ordered
	(folder / "map").write_text("b c:2/x.o:00000001 T f200\nhot.o:0000000000001139 T f110\nhot.o:00000001 t main\nhot.o:00000001 T f310\n"
		"never.o:00000000 T f111\nabsent.o:0000 T nosuch\n         U other\n")
	assert our_gprof("-b", "-R", "map", path, cwd=folder).splitlines() == ["hot.o", "b c:2/x.o", "never.o"]


def test_maps_that_are_none(ordered):
	folder, path = ordered
	(folder / "map").write_text("nothing\nof the kind\n")
	for name, words in [("map", "nm -o"), ("absent", "No such file"), (".", "directory")]:
		result = run_cpprof("gprof", "-b", "-R", name, path, cwd=folder)
		assert result.returncode != 0
		assert words in result.stderr


def test_folders_of_same_names(tmp_path):
	"""Two source files of the same name are written as two copies."""
	for folder in ["a", "b"]:
		(tmp_path / folder).mkdir()
		(tmp_path / folder / "same.c").write_text(f"int {folder}(void)\n{{\n\treturn 1;\n}}\n")
	(tmp_path / "main.c").write_text("int a(void); int b(void);\nint main(void)\n{\n\treturn a() - b();\n}\n")
	subprocess.run(["gcc", "-pg", *DEBUG, "main.c", "a/same.c", "b/same.c", "-o", "same"], cwd=tmp_path, check=True)
	subprocess.run(["./same"], cwd=tmp_path, check=True)
	our_gprof("-b", "-A", "-y", "same", cwd=tmp_path)
	copies = sorted(tmp_path.glob("same.c-ann*"))
	assert len(copies) == 2
	assert {re.search(r"int (\w)\(void\)", copy.read_text()).group(1) for copy in copies} == {"a", "b"}


