"""The marks of tests: a measured test is tried three times and each of its comparisons is a row; a missing program skips a test."""
import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = """
from measuring import between, near
import pytest
tries = []

@pytest.mark.measured("at first the figure is disturbed")
def test_at_the_second_try():
    tries.append(1)
    near(10 + 5 * (len(tries) == 1), 10, 2)

@pytest.mark.measured("the figure is always wrong")
def test_never():
    between(1, 2, None, "it is small")

@pytest.mark.measured("nothing")
def test_no_figure():
    pass

@pytest.mark.needs("dump_gcov")
def test_absent():
    pass
"""


def pytest_of(folder, text, *words):
    (folder / "test_it.py").write_text(text)
    (folder / "conftest.py").write_text((REPOSITORY / "tests/conftest.py").read_text())
    return subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *words, "test_it.py"], cwd=folder, capture_output=True,
                          text=True, check=False, env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tests"), "PATH": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"})


def test_attempts_rows_and_needs(tmp_path):
    run = pytest_of(tmp_path, TESTS)
    assert run.returncode == 1 and "1 failed, 2 passed, 1 skipped" in run.stdout, run.stdout
    assert "dump_gcov is not installed (Debian: autofdo)" in run.stdout
    rows = [line.split("  ") for line in run.stdout.splitlines() if line.startswith("test_it.py::")]
    rows = [[word.strip() for word in row if word] for row in rows]
    assert rows[:2] == [["test_it.py::test_at_the_second_try", "10 + 5 * (len(tries) == 1)", "10", "15", "± 2", "+2.50", "DEVIATES"],
                        ["test_it.py::test_at_the_second_try (attempt 2)", "10 + 5 * (len(tries) == 1)", "10", "10", "± 2", "+0.00", "holds"]]
    assert [row[-1] for row in rows[2:]] == ["holds", "DEVIATES", "DEVIATES", "DEVIATES"], "passed tests are printed before failed ones"


def test_marks_without_reasons_are_refused(tmp_path):
    for mark, message in (("long", "the mark `long` needs its reason"), ("unsanitized()", "the mark `unsanitized` needs its reason"),
                          ("needs('nothing known')", "`needs` takes the names")):
        run = pytest_of(tmp_path, f"import pytest\n@pytest.mark.{mark}\ndef test_it(): pass\n")
        assert run.returncode != 0 and message in run.stdout + run.stderr, run.stdout
