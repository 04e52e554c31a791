"""tools/check_processors finds processor-specific words, and no others."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_processors"


@pytest.fixture
def project(tmp_path):
    for folder in ("src/unwind", "src/arch/x86_64/processor", "src/arch/aarch64", "include/cpprof"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def check(project):
    done = subprocess.run([TOOL, project], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("line", [
    "uint64_t rip;", "frame->rsp", "the caller's rbp", "UNWIND_RSP_REGISTER", "/* mov $15 to eax */", '__asm__("rdtsc")',
    "event->tsc", "start_tsc", "words->mxcsr", "xmm0", "fp->is_x87", "sse_flags", "EM_X86_64", "R_AARCH64_RELATIVE", "x86-64",
    "amd64", "an endbr64", "gregs[REG_EFL]", "registers->r10", "x29", "adrp",
])
def test_a_word_of_a_processor_is_found(project, line):
    (project / "src/unwind/a.h").write_text(f"\n{line}\n")
    status, out = check(project)
    assert status == 1
    assert len(out) == 1 and out[0].startswith("src/unwind/a.h:2: ")


@pytest.mark.parametrize("line", [
    "uint64_t pc, sp, fp;", "assert(session)", "a description", "elf_getscn(section)", "passed the trip", "\\x28\\xb5", "0x1a1b16",
    "possesses", "r12345", "index16", "rescan", "essential",
])
def test_other_words_pass(project, line):
    (project / "src/unwind/a.h").write_text(f"{line}\n")
    assert check(project)[0] == 0


def test_folders_of_processors_may_have_theirs(project):
    (project / "src/arch/x86_64/processor/a.h").write_text("rip\n")
    (project / "src/arch/aarch64/b.c").write_text("x29\n")
    (project / "include/cpprof/x86_64.h").write_text("rdtsc\n")
    assert check(project)[0] == 0
    (project / "src/arch/arch.h").write_text("rip\n")
    (project / "include/cpprof/profiler.h").write_text("rdtsc\n")
    status, out = check(project)
    assert status == 1
    assert [line.split(":")[0] for line in out] == ["src/arch/arch.h", "include/cpprof/profiler.h"]


def test_a_public_header_may_choose_by_the_processor(project):
    (project / "include/cpprof/profiler.h").write_text('#if defined(__x86_64__)\n#include "x86_64.h"\n#endif\n')
    assert check(project)[0] == 0
    (project / "src/unwind/a.c").write_text("#if defined(__x86_64__)\n")
    assert check(project)[0] == 1
