"""A check runs again if an input of its result has changed, and only then."""
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from remembered import Remembered, files_of_rule  # noqa: E402


@pytest.fixture
def files(tmp_path):
    for name in ("a.c", "a.h"):
        (tmp_path / name).write_text(name)
    return [tmp_path / "a.c", tmp_path / "a.h"]


def records(tmp_path, words="version 1"):
    """Returns the records as the next run of the check reads them."""
    return Remembered(tmp_path / "records", words)


def test_what_passed_is_not_checked_again(tmp_path, files):
    assert not records(tmp_path).passed("a.c", ["cc"])
    records(tmp_path).remember("a.c", ["cc"], files)
    assert records(tmp_path).passed("a.c", ["cc"])
    assert not records(tmp_path).passed("b.c", ["cc"])


@pytest.mark.parametrize("change", [
    lambda source, header: source.write_text("other"), lambda source, header: header.write_text("other"),
    lambda source, header: header.unlink()], ids=["source", "header", "no header"])
def test_a_changed_file_is_checked_again(tmp_path, files, change):
    records(tmp_path).remember("a.c", ["cc"], files)
    change(*files)
    assert not records(tmp_path).passed("a.c", ["cc"])


def test_other_words_are_another_check(tmp_path, files):
    records(tmp_path).remember("a.c", ["cc"], files)
    assert not records(tmp_path).passed("a.c", ["cc", "-O2"])
    assert not records(tmp_path, "version 2").passed("a.c", ["cc"])


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"hash": 1'])
def test_a_damaged_record_is_no_record(tmp_path, files, content):
    records(tmp_path).remember("a.c", ["cc"], files)
    for record in (tmp_path / "records").iterdir():
        record.write_text(content)
    assert not records(tmp_path).passed("a.c", ["cc"])


def test_rules_of_a_compiler(tmp_path):
    assert files_of_rule("it: a.c \\\n b.h c.h \\\n  d.h\n") == ["a.c", "b.h", "c.h", "d.h"]


def test_a_header_that_needs_another_does_not_compile_alone(tmp_path):
    """A bad header fails again in the second run, because only good results are recorded."""
    header = tmp_path / "needs_more.h"
    header.write_text("uint32_t count(void);\n")
    for _ in range(2):
        checked = subprocess.run([REPOSITORY / "tools" / "check_headers", header], capture_output=True, text=True)
        assert checked.returncode == 1
        assert "uint32_t" in checked.stderr and "1 of 1 headers" in checked.stderr
    header.write_text("#include <stdint.h>\n\nuint32_t count(void);\n")
    checked = subprocess.run([REPOSITORY / "tools" / "check_headers", header], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "check_headers: 1 headers compile alone\n")
