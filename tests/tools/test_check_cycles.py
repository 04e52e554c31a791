"""tools/check_cycles finds the files that call each other, and no others."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_cycles"


def library(folder, name, **files):
    """Returns a static library of C files. A file's name must not contain a dot."""
    objects = []
    for file, text in files.items():
        source = folder / f"{file}.c"
        source.write_text(text)
        objects.append(folder / f"{file}.c.o")
        subprocess.run(["gcc", "-fno-common", "-c", source, "-o", objects[-1]], check=True)
    archive = folder / f"{name}.a"
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    return archive


def check(*paths):
    done = subprocess.run([TOOL, *paths], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_no_cycle(tmp_path):
    archive = library(tmp_path, "libfine", low="int low(void) { return 1; }",
                      middle="int low(void); int middle(void) { return low(); }",
                      high="int low(void), middle(void); int high(void) { return low() + middle(); }")
    status, lines, _ = check(archive)
    assert (status, lines) == (0, ["check_cycles: 1 libraries have no cycle of calls"])


def test_two_files(tmp_path):
    archive = library(tmp_path, "libtwo", a="int b(void); int a(int x) { return x ? b() : 0; }",
                      b="int a(int); int b(void) { return a(0); }")
    status, lines, _ = check(archive)
    assert status == 1
    assert lines == ["libtwo: 2 files call each other: a.c uses b.c (b); b.c uses a.c (a)"]


def test_long_way_round(tmp_path):
    archive = library(tmp_path, "liblong", a="int b(void); int a(int x) { return x ? b() : 0; }",
                      b="int c(void); int b(void) { return c(); }", c="int a(int); int c(void) { return a(0); }",
                      aside="int a(int); int aside(void) { return a(1); }")
    status, lines, _ = check(archive)
    assert status == 1 and len(lines) == 1
    assert lines[0].startswith("liblong: 3 files call each other: a.c uses b.c (b); ")
    assert "aside" not in lines[0]


@pytest.mark.parametrize("table", [
    "int a(int); int (*const table[])(int) = { a };",
    "int a(int); const struct { int (*call)(int); } table[] = { { a } };",
])
def test_tables_and_variables_cut(tmp_path, table):
    archive = library(tmp_path, "libtable", table=table, a="extern int (*const table[])(int); int a(int x) { return x ? table[0](0) : 0; }")
    assert check(archive)[0] == 0


def test_functions_of_one_file_alone(tmp_path):
    """Two static functions with the same name make no arrow."""
    archive = library(tmp_path, "libstatic", a="static int help(void) { return 1; } int a(void) { return help(); }",
                      b="int a(void); static int help(void) { return a(); } int b(void) { return help(); }")
    assert check(archive)[0] == 0


def test_folder(tmp_path):
    (tmp_path / "src/deep").mkdir(parents=True)
    library(tmp_path / "src/deep", "libone", a="int b(void); int a(int x) { return x ? b() : 0; }",
            b="int a(int); int b(void) { return a(0); }")
    status, lines, _ = check(tmp_path)
    assert status == 1 and lines[0].startswith("libone: 2 files")
    # The exceptions name files of this project, so none of them cuts a cycle here.
    assert all(line.endswith("an exception that cuts no cycle") for line in lines[1:]) and len(lines) > 1


def test_nothing_built(tmp_path):
    status, _, message = check(tmp_path)
    assert status == 1 and "build first" in message


def test_no_library(tmp_path):
    status, _, message = check(tmp_path / "missing.a")
    assert status == 1 and "missing.a" in message
