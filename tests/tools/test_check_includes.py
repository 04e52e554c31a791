"""tools/check_includes finds the includes that the table forbids, and no others."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes"

TABLE = """# Architecture

| folder | may include (besides itself and `base`) |
|---|---|
| `base`, `model` | nothing more |
| `model/deep` | nothing more |
| `reader` | `model`. The reason, which names `cmd` in passing. |
| `runtime` | nothing more |
| `writer` | `model/model.h`, `model/deep`. Just that one of the model. |
| `cmd` | everything but `runtime` |

Prose.
"""
HEADERS = ["base/base.h", "model/model.h", "model/other.h", "model/deep/deep.h", "reader/reader.h", "runtime/runtime.h", "writer/writer.h", "cmd/cmd.h"]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/internals.md").write_text(TABLE)
    for header in HEADERS:
        path = tmp_path / "src" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def check(project):
    done = subprocess.run([TOOL, project], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr


def write(project, path, *lines):
    (project / "src" / path).write_text("\n".join(lines) + "\n")


def test_allowed_includes_pass(project):
    write(project, "reader/reader.c", '#include "reader/reader.h"', "#include <stdio.h>", '#include "model/model.h"',
          '#include "base/base.h"')
    write(project, "writer/writer.c", '#include "model/model.h"', '#include "model/deep/deep.h"')
    write(project, "cmd/cmd.c", '#include "reader/reader.h"', '#include "model/deep/deep.h"')
    status, _, _ = check(project)
    assert status == 0


@pytest.mark.parametrize("path, line, finding", [
    ("model/a.c", '#include "reader/reader.h"', "model may not include reader"),
    ("base/a.h", '#include "model/model.h"', "base may not include model"),
    ("base/a.h", "#include <model/model.h>", "base may not include model"),
    ("reader/a.c", '#include "cmd/cmd.h"', "reader may not include cmd"),
    ("reader/a.c", '  #  include "model/deep/deep.h"', "reader may not include model/deep"),
    ("model/deep/a.c", '#include "model/model.h"', "model/deep may not include model"),
    ("writer/a.c", '#include "model/other.h"', "writer may not include model"),
    ("cmd/a.c", '#include "runtime/runtime.h"', "cmd may not include runtime"),
    ("cmd/a.c", '#include "cmd.h"', 'write includes as "folder/file.h"'),
    ("cmd/a.c", "#include <model/model.h>", "not <model/model.h>"),
])
def test_a_forbidden_include_is_found(project, path, line, finding):
    write(project, path, "/* first line */", line)
    status, out, _ = check(project)
    assert status == 1
    assert len(out) == 1
    assert out[0].startswith(f"src/{path}:2: ")
    assert finding in out[0]


def test_a_folder_without_a_row_is_found(project):
    (project / "src" / "util").mkdir()
    write(project, "util/util.c", "")
    status, out, _ = check(project)
    assert status == 1
    assert out == ["src/util/util.c:1: the folder has no row in the table of docs/internals.md"]


def test_a_header_that_the_build_makes_belongs_to_the_folder_that_makes_it(project):
    (project / "src/model/meson.build").write_text("custom_target('kernel', output: 'kernel.h', capture: true)\n")
    write(project, "model/a.c", '#include "kernel.h"')
    write(project, "reader/a.c", '#include "kernel.h"')
    write(project, "base/a.c", '#include "kernel.h"')
    status, out, _ = check(project)
    assert status == 1
    assert out == ['src/base/a.c:1: base may not include model ("kernel.h")']


def test_a_processor_header_belongs_to_arch(project):
    (project / "docs/internals.md").write_text(TABLE.replace("| `writer` |", "| `arch` | nothing more |\n| `writer` | `arch`,"))
    (project / "src/arch/z80/processor").mkdir(parents=True)
    write(project, "arch/z80/processor/names.h", "")
    write(project, "writer/a.c", '#include "processor/names.h"')
    write(project, "reader/a.c", '#include "processor/names.h"')
    write(project, "writer/b.c", '#include "processor/none.h"')
    status, out, _ = check(project)
    assert status == 1
    assert out == ['src/reader/a.c:1: reader may not include arch ("arch/z80/processor/names.h")',
                   'src/writer/b.c:1: no src/processor/none.h: write includes as "folder/file.h"']


def test_a_row_without_a_folder_is_found(project):
    (project / "docs/internals.md").write_text(TABLE.replace("| `runtime` | n", "| `gone` | nothing more |\n| `runtime` | n"))
    status, out, _ = check(project)
    assert status == 1
    assert "gone" in out[0]


@pytest.mark.parametrize("before, after, complaint", [
    ("| folder |", "| directory |", "no table"),
    ("`model`. The", "`modle`. The", "modle"),
    ("`model/model.h`", "`modle/model.h`", "modle"),
    ("everything but `runtime`", "everything except `runtime`", "not understood"),
])
def test_a_table_that_cannot_be_read_is_an_error(project, before, after, complaint):
    (project / "docs/internals.md").write_text(TABLE.replace(before, after))
    status, _, err = check(project)
    assert status == 1
    assert complaint in err
