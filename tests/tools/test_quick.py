"""`make quick` runs the tests of the changed files; its tables have a row for each folder and name each file of tests."""
import importlib.machinery
import importlib.util
import os
import subprocess
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PATH = REPOSITORY / "tools" / "quick"


@pytest.fixture(scope="module")
def quick():
    loader = importlib.machinery.SourceFileLoader("quick", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("quick", loader))
    loader.exec_module(module)
    return module


def names(paths):
    return [Path(path).stem.removeprefix("test_") for path in paths]


def test_each_source_folder_has_a_row(quick):
    folders = {path.parent for path in (REPOSITORY / "src").rglob("*.[chS]")}
    missing = [folder for folder in folders if quick.row_of(quick.CASES, f"{folder.relative_to(REPOSITORY)}/x.c") is None]
    assert not missing, "add a row for it to CASES in tools/quick"


@pytest.mark.parametrize("table, folder", [("CASES", "cases"), ("TOOLS", "tools")])
def test_each_file_of_tests_is_in_a_row(quick, table, folder):
    there = {path.stem.removeprefix("test_") for path in (REPOSITORY / "tests" / folder).glob("test_*.py")}
    named = {name for row in getattr(quick, table).values() for name in row}
    if table == "TOOLS":
        named |= {path.stem for path in (REPOSITORY / "tools").iterdir()} & there
    assert named - there == set(), "no such file"
    assert there - named == set(), f"add it to the rows of what it tests in {table} in tools/quick"


@pytest.mark.parametrize("table", ["CASES", "TOOLS"])
def test_each_row_is_of_something(quick, table):
    for row in getattr(quick, table):
        path = REPOSITORY / row
        assert path.exists() or [*path.parent.glob(f"{path.name}[._-]*")], f"{row} is not there any more"


@pytest.mark.parametrize("path, row", [
    ("src/analyze/down.c", "src/analyze"), ("src/profile/check.c", "src/profile"), ("src/profile_file/block.c", "src/profile_file"),
    ("src/cmd/trace_path.c", "src/cmd/trace"), ("src/cmd/dispatch.c", "src/cmd"), ("src/collect/agent/fp/trap.c", "src/collect/agent/fp"),
    ("docs/format.md", "docs/format.md"), ("docs/unwinding.md", "docs"), ("LICENSE", None), ("README.md", "README.md"), ("srcs/x.c", None)])
def test_the_longest_fitting_row_counts(quick, path, row):
    assert quick.row_of(quick.CASES, path) == row


def test_cases_of_changes(quick):
    assert names(quick.cases_for(["src/cmd/trace_path.c"])) == ["trace", "bpf_trace"]
    assert names(quick.cases_for(["tests/cases/test_cc.py"])) == ["cc"]
    assert names(quick.cases_for(["tools/setup", "tools/tidy"])) == ["setup", "remembered"]
    assert names(quick.cases_for(["tests/cases/test_removed.py", "LICENSE"])) == []
    both = names(quick.cases_for(["src/collect/agent/fp/trap.c", "src/analyze/down.c", "src/analyze/up.c"]))
    assert both[:2] == ["preload_fp", "cli_golden"] and len(both) == len(set(both)), "the best of each change comes first"


def test_changes(quick, tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for name in ("kept", "edited", "removed"):
        (tmp_path / name).write_text(name)
    git("add", "-A")
    git("commit", "-m", "first")
    (tmp_path / "edited").write_text("other")
    (tmp_path / "removed").unlink()
    (tmp_path / "two words").touch()
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    assert quick.changed_since("HEAD") == ["edited", "removed", "two words"]


@pytest.mark.long("reads the inputs of each unit test")
def test_unit_tests_of_a_change(quick):
    """A unit test is chosen for a change of a source, an indirectly included header or the test itself. A slow test is chosen
    only for changes in its own folder."""
    build = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
    if not (build / "tests" / "unit").is_dir():
        pytest.skip("a build without tests")
    down = quick.unit_tests_for(build, ["src/analyze/down.c"])
    assert "analyze" in down and "elf" not in down and "base" not in down
    everybody = quick.unit_tests_for(build, ["src/base/array.h"])
    assert {"analyze", "elf", "sample_sink"} <= set(everybody) and "symbolize" not in everybody
    assert quick.unit_tests_for(build, ["tests/unit/elf/test_elf.c"]) == ["elf"]
    assert "symbolize" in quick.unit_tests_for(build, ["src/frames/native/lines.c"])
    assert quick.unit_tests_for(build, ["docs/format.md"]) == []


def test_no_test_starts_behind_the_deadline(tmp_path):
    (tmp_path / "test_two.py").write_text("import os\ndef test_a(): os.environ['CPPROF_DEADLINE'] = '0'\ndef test_b(): pass\n")
    run = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "deadline", "test_two.py"],
                         cwd=tmp_path, capture_output=True, text=True, check=False, env={
                             **os.environ, "PYTHONPATH": str(REPOSITORY / "tests"), "CPPROF_DEADLINE": str(time.monotonic() + 1000)})
    assert run.returncode == 0 and "1 passed, 1 skipped" in run.stdout and "make check runs it" in run.stdout, run.stdout
