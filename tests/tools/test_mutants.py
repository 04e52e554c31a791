"""tools/mutants: which changes it makes, and how it judges them."""
import concurrent.futures
import importlib.machinery
import importlib.util
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mutants():
	loader = importlib.machinery.SourceFileLoader("mutants", str(REPOSITORY / "tools" / "mutants"))
	module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
	loader.exec_module(module)
	return module


@pytest.mark.parametrize("line, changes", [
	("if (a < b && !c)", ["<->", "&&->", "!->"]),
	("x = a - 1;", ["-->", "1->"]),
	("x = -1;", ["1->"]),
	("char *name = &other; y = a * b & c;", ["*->", "&->"]),
	("size = 0x1fUL + 07u;", ["0x1fUL->", "+->", "07u->"]),
	("f(true); // a < 1", ["true->"]),
	('s = "a < 1"; /* 2 */ c = \'+\';', []),
	("#define N 5\nenum { M = 6 };", ["6->"]),
	("struct node *p; p->count++; p->count += 2;", ["++->", "+=->", "2->"]),
	("ratio = 0.5;", []),
	("x = calloc(n + 1, sizeof(*x)); y = f(1);", ["+->", "1->"]),
	("return a < b ? -1 : a > b;", ["<->", ">->"]),
	("return a < b ? -1 : 1;", ["<->"]),
	("return a < b ? 5 : 1;", ["<->", "5->", "1->"]),
])
def test_changes(mutants, line, changes):
	found = mutants.mutants_of("a.c", line + "\n")
	assert [f"{line[mutant.start:mutant.end]}->" for mutant in found] == changes
	assert all(mutants.apply(line, mutant) != line for mutant in found)


@pytest.mark.parametrize("number, changed", [("0", "1"), ("9u", "10u"), ("0xff", "0x100"), ("010", "9"), ("1.5", None)])
def test_numbers(mutants, number, changed):
	assert mutants.changed_number(number) == changed


def test_changed_lines(mutants, monkeypatch):
	diff = "@@ -3 +3,2 @@ int f(void)\n-a\n+b\n+c\n@@ -9,2 +10,0 @@\n-d\n-e\n@@ -20 +19 @@\n-f\n+g\n"
	monkeypatch.setattr(mutants.subprocess, "run", lambda *_, **__: type("Result", (), {"stdout": diff}))
	assert mutants.lines_changed("HEAD", "src/a.c") == {3, 4, 19}


def test_accepted(mutants):
	"""The table names a mutant by its line, so that it stays valid when the line moves."""
	text = "int f(int a)\n{\n\treturn a <  b;\n}\n"
	mutant = mutants.mutants_of("src/a.c", text)[0]
	words = mutants.described(text, mutant)
	assert words == "src/a.c: return a [< -> <=] b;"
	assert mutants.accepted_mutants(f"# comment\n\n{words}\n\tthe same for all b\n") == {words: "the same for all b"}


class OneFile:
	"""A project of one file whose object is its text without spaces, and whose tests are a condition on the text."""

	def __init__(self, file, compiles, passes):
		self.folder = file.parent
		self.file, self.compiles, self.passes = file, compiles, passes

	def object_of(self, path):
		return "object"

	def build(self, *targets):
		return self.compiles(self.file.read_text())

	def instructions(self, target):
		return self.file.read_text().replace(" ", "").replace("+1*1", "+1").encode()

	def survives(self, path):
		return self.passes(self.file.read_text())


@pytest.mark.parametrize("compiles, passes, expected", [
	(lambda text: True, lambda text: "a < b" in text, "killed"),
	(lambda text: True, lambda text: True, "survived"),
	(lambda text: "<=" not in text, lambda text: True, "invalid"),
])
def test_verdict(mutants, tmp_path, compiles, passes, expected):
	file = tmp_path / "a.c"
	text = "return a < b;\n"
	file.write_text(text)
	mutant = mutants.mutants_of("a.c", text)[0]
	assert mutants.verdict(OneFile(file, compiles, passes), text, mutant) == expected
	assert file.read_text() == text


def test_equal(mutants, tmp_path):
	text = "x = a;\n"
	(tmp_path / "a.c").write_text(text)
	same = mutants.Mutant("a.c", 4, 5, " a ", 1)
	assert mutants.verdict(OneFile(tmp_path / "a.c", lambda text: True, lambda text: False), text, same) == "equal"


@pytest.mark.parametrize("suites, is_long", [([], False), (["cpprof"], False), (["cpprof:long"], True)])
def test_unit_tests_of_the_gate(mutants, suites, is_long):
	assert mutants.is_long({"name": "a", "suite": suites}) == is_long


@pytest.mark.parametrize("marks, seconds, passes", [
	("", 60, False), ("@pytest.mark.measured('time')", 60, True), ("@pytest.mark.long('time')", 60, True), ("@pytest.mark.needs('go')", 60, True), ("", -1, True)])
def test_cases_of_the_gate(mutants, tmp_path, marks, seconds, passes):
	"""A test that fails kills a mutant only if `make check` runs it, and if it starts in time."""
	project = mutants.Project.__new__(mutants.Project)
	project.folder, project.build_folder = tmp_path, tmp_path
	project.runner = mutants.quick_of(REPOSITORY).run_tests()
	(tmp_path / "tests").mkdir()
	(tmp_path / "tests" / "deadline.py").write_text((REPOSITORY / "tests" / "deadline.py").read_text())
	(tmp_path / "test_a.py").write_text(f"import pytest\n{marks}\ndef test_a():\n\tassert False\n")
	assert project.case_passes("test_a.py", time.monotonic() + seconds) == passes


@pytest.mark.parametrize("jobs", [1, 2, 7])
@pytest.mark.parametrize("count, tried", [(3, "abcde"), (4, "abcdef"), (0, "abcdefgh"), (9, "abcdefgh")])
def test_chosen_mutants(mutants, jobs, count, tried):
	"""The chosen mutants are the first mutants that count, however many jobs there are."""
	results = dict(zip("abcdefgh", ["killed", "invalid", "equal", "survived", "killed", "killed", "invalid", "killed"]))
	with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
		found = dict(mutants.decided(lambda mutant: pool.submit(results.get, mutant), "abcdefgh", count, jobs))
	assert found == {mutant: results[mutant] for mutant in tried}


def test_reasons(mutants):
	"""Each accepted mutant has a reason, and its line still exists."""
	accepted = mutants.accepted_mutants((REPOSITORY / "tests" / "mutants.txt").read_text())
	assert all(accepted.values()), accepted
	sources = {path: (REPOSITORY / path).read_text() for path in {words.split(":")[0] for words in accepted}}
	present = {mutants.described(text, mutant) for path, text in sources.items() for mutant in mutants.mutants_of(path, text)}
	stale = sorted(accepted.keys() - present)
	assert not stale, "\n".join(stale)
