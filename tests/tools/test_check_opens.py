"""tools/check_opens finds the plain openings that the table does not list, and no others."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_opens"

TABLE = """# Security

| plain openings of | files |
|---|---|
| the user's own files | `cmd/own.c`, `store/` |

Prose.
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "SECURITY.md").write_text(TABLE)
    write(tmp_path, "cmd/own.c", 'FILE *file = fopen(path, "re");')
    write(tmp_path, "store/deep/store.c", "int fd = openat(folder, name, O_RDONLY);")
    return tmp_path


def write(project, path, *lines):
    (project / "src" / path).parent.mkdir(parents=True, exist_ok=True)
    (project / "src" / path).write_text("\n".join(lines) + "\n")


def check(project):
    done = subprocess.run([TOOL, project], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_listed_files_pass(project):
    assert check(project) == (0, ["check_opens: each plain opening has its reason"], "")


@pytest.mark.parametrize("call", ["open(path, O_RDONLY)", 'fopen(path, "re")', "openat(folder, path, 0)", "opendir(path)", "creat(path, 0)", 'freopen(path, "r", stdin)',
    "syscall(SYS_openat2, root, path, &how, sizeof(how))", "open64(path, 0)", 'open("/tmp/x", 0)', "open\t(path, 0)"])
def test_plain_openings_are_found(project, call):
    write(project, "cmd/report.c", "", f"int fd = {call};")
    status, lines, _ = check(project)
    assert status == 1 and len(lines) == 1 and lines[0].startswith("src/cmd/report.c:2: plain "), lines


@pytest.mark.parametrize("line", ['int fd = open("/proc/self/maps", O_RDONLY);', 'FILE *file = fopen("/sys/devices/system/cpu/online", "re");',
    'DIR *directory = opendir("/proc");', "int fd = path_open_regular(path);", "int fd = vtable->open(path);", "int fd = table.open(path);", "int open(const char *path);",
    "/* open(path) */", "int x; // fopen(path)", "#include <open(x)>"])
def test_other_lines_pass(project, line):
    write(project, "cmd/report.c", line)
    status, lines, _ = check(project)
    assert status == 0, lines


def test_rows_without_a_call_are_found(project):
    write(project, "cmd/own.c", "int nothing;")
    status, lines, _ = check(project)
    assert status == 1 and lines == ["SECURITY.md: no plain opening in src/cmd/own.c: remove it from the table"]


@pytest.mark.parametrize(("table", "message"), [("# Security\n", "no table"), (TABLE.replace("the user's own files", ""), "needs a reason"),
    (TABLE.replace("`store/`", "`cmd/own.c`"), "has two rows")])
def test_damaged_tables_are_refused(project, table, message):
    (project / "SECURITY.md").write_text(table)
    status, _, error = check(project)
    assert status == 1 and message in error
