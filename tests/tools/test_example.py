"""examples/process_db prints the statistics that a direct computation in Python finds."""
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("CPPROF_BUILD", Path(__file__).resolve().parents[2] / "build")).resolve()


def run(program, *arguments):
    return subprocess.run([BUILD / "examples" / program, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "employees.tsv"
    assert run("generate_db", 5000, path).returncode == 0
    return path


def test_statistics(database):
    newest = {}
    for line in database.read_text().splitlines():
        number, revision, salary, name, _, _ = line.split("\t")
        newest[number] = max(newest.get(number, (-1, 0, "")), (int(revision), int(salary), name))
    salaries = sorted(salary for _, salary, _ in newest.values())
    assert 4000 < len(salaries) < 5000
    expected = {"employees": str(len(salaries)), "range": f"{salaries[0]} to {salaries[-1]}",
                "mean": f"{sum(salaries) / len(salaries):.2f}"}
    for percent in (10, 25, 50, 75, 90, 99):
        expected[f"{percent}% below"] = str(salaries[(len(salaries) - 1) * percent // 100])
    done = run("process_db", database)
    assert done.returncode == 0
    assert dict(map(str.strip, line.split("  ", 1)) for line in done.stdout.splitlines()) == expected


def test_the_same_count_gives_the_same_bytes(database, tmp_path):
    again = tmp_path / "again.tsv"
    run("generate_db", 5000, again)
    assert again.read_bytes() == database.read_bytes()


@pytest.mark.parametrize("text, complaint", [
    ("", "there are no records"),
    ("1\t0\t100\tA, B\tClerk\tHere\n2\t0\tmuch\tC, D\tClerk\tThere\n", ":2: not an employee record"),
    ("1\t0\t100\tA, B\tClerk\n", ":1: not an employee record"),
    ("1\t0\t-5\tA, B\tClerk\tHere\n", ":1: not an employee record"),
    ("4294967296\t0\t5\tA, B\tClerk\tHere\n", ":1: not an employee record"),
    ("1\t0\t5\t" + "A" * 48 + "\tClerk\tHere\n", ":1: not an employee record"),
])
def test_bad_databases(tmp_path, text, complaint):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    done = run("process_db", path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert complaint in done.stderr


@pytest.mark.parametrize("program, arguments, status", [
    ("process_db", [], 2),
    ("process_db", ["/nonexistent"], 1),
    ("generate_db", ["0", "/dev/null"], 2),
    ("generate_db", ["x", "/dev/null"], 2),
    ("generate_db", ["10"], 2),
    ("generate_db", ["10", "/nonexistent/file"], 1),
    ("generate_db", ["100000", "/dev/full"], 1),
])
def test_bad_words(program, arguments, status):
    done = run(program, *arguments)
    assert done.returncode == status
    assert done.stderr != ""
