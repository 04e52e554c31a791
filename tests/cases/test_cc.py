"""`cpprof cc` and `cpprof instrument`: a build with them equals the build without them, except for the Profiler objects in the
functions."""
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from record_support import CPPROF, PROGRAMS

BOTH = pytest.mark.parametrize("compiler", ["gcc", "clang"])

MAIN = """#include <stdio.h>
#include "own.h"
#include "sub/deep.h"

static int twice(int x)
{
	return 2 * x;
}

int work(int n)
{
	int sum = 0, unused;
	for (int i = 0; i < n; i++)
		sum += twice(i) + deep(i);
	return sum;
}

int main(void)
{
	printf("%d %s %d %s\\n", work(10), __FILE__, __LINE__, own_file());
	return other();
}
"""
OTHER = "int other(void)\n{\n\treturn 7;\n}\n"
OWN = "extern int other(void);\nstatic inline const char *own_file(void)\n{\n\treturn __FILE__;\n}\n"
DEEP = '#include "deeper.h"\nstatic inline int deep(int x)\n{\n\tint y = x;\n\ty += DEEPER;\n\treturn y;\n}\n'
COUNTS = {"main": 1, "work": 1, "twice": 10, "other": 1}


@pytest.fixture
def project(tmp_path):
	"""A program in src/ and inc/. Its temporary files have a folder of their own, which must be empty after the test."""
	root, scratch = tmp_path / "project", tmp_path / "scratch"
	for folder in [root / "src", root / "inc/sub", root / "build", scratch]:
		folder.mkdir(parents=True)
	(root / "src/main.c").write_text(MAIN)
	(root / "src/own.h").write_text(OWN)
	(root / "src/other.c").write_text(OTHER)
	(root / "inc/sub/deep.h").write_text(DEEP)
	(root / "inc/sub/deeper.h").write_text("#define DEEPER 3\n")
	yield root
	assert list(scratch.iterdir()) == []


def environment(folder, **more):
	"""The environment without make's variables, because `make check` may have started this test."""
	ours = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
	return {**ours, "LC_ALL": "C", "TMPDIR": str(folder.parent / "scratch"), **more}


def run(words, folder, status=0, **options):
	more = options.pop("env", {})
	result = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False,
		env=environment(folder if folder.name == "project" else folder.parent, **more), **options)
	assert status is None or result.returncode == status, result.stderr
	return result


def cc(words, folder, options=(), **more):
	return run([CPPROF, "cc", *options, "--", *words], folder, **more)


def counts(program, folder):
	"""Records a run. Returns {function: calls}."""
	run([CPPROF, "record", "--instrumented", "-o", "run.data", program], folder, status=None)
	listed = run([CPPROF, "report", "-r", "calls", "--body", "--threshold", "0", "--format", "csv", "run.data"], folder).stdout
	return {row["path"]: int(row["hits"]) for row in csv.DictReader(io.StringIO(listed))}


def made(folder):
	return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def rules(path):
	"""The names in a dependency file, in their order."""
	return path.read_text().replace("\\\n", " ").split()


# --- the same build ---

@BOTH
@pytest.mark.parametrize("words", [
	["-c", "src/main.c"],
	["-c", "src/main.c", "-o", "build/m.o"],
	["-S", "src/main.c", "--output", "build/m.s"],
	["-c", "src/main.c", "src/other.c"],
	["src/main.c", "src/other.c", "-o", "program"],
	["src/main.c", "src/other.c"],
	["-MMD", "-MP", "-c", "src/main.c", "-o", "build/m.o"],
	["-MD", "-c", "src/main.c"],
	["-MMD", "-MF", "x.d", "-MT", "target one", "-c", "src/main.c"],
	["-MMD", "src/main.c", "src/other.c", "-o", "program"],
	["-Wp,-MMD,y.d", "-c", "src/main.c", "-o", "build/m.o"],
	["-xc", "-include", "inc/sub/deeper.h", "-c", "src/main.c", "-x", "none"],
], ids=" ".join)
def test_files_and_messages(project, compiler, words):
	plain, wrapped = project, project.parent / "wrapped" / "project"
	shutil.copytree(project, wrapped)
	(wrapped.parent / "scratch").mkdir()
	command = [compiler, "-g", "-O1", "-Wall", "-Wextra", "-Iinc", *words]
	expected, result = run(command, plain), cc(command, wrapped)
	assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
	assert "unused" in result.stderr
	assert made(wrapped) == made(plain)
	for path in plain.rglob("*.d"):
		assert rules(wrapped / path.relative_to(plain)) == rules(path)
	for path in plain.rglob("*.o"):
		assert b"cpprof-cc-" not in (wrapped / path.relative_to(plain)).read_bytes()
	assert list((wrapped.parent / "scratch").iterdir()) == []


@BOTH
def test_program(project, compiler):
	words = [compiler, "-g", "-O1", "-Iinc", "src/main.c", "src/other.c", "-o"]
	cc([*words, "program"], project)
	run([*words, "plain"], project)
	assert run(["./program"], project, status=7).stdout == run(["./plain"], project, status=7).stdout
	assert counts("./program", project) == COUNTS
	assert b"cpprof-cc-" not in (project / "program").read_bytes()
	names = [re.findall(r"DW_AT_name +: (?:\(.*\): )?(src/\S+|own.h)", subprocess.run(["readelf", "--debug-dump=info", program],
		cwd=project, capture_output=True, text=True, check=True).stdout) for program in ("program", "plain")]
	assert names[0] == names[1] and "src/main.c" in names[0]


@BOTH
def test_error_comes_once(project, compiler):
	(project / "src/bad.c").write_text("int f(void)\n{\n\treturn nowhere;\n}\n#include \"missing.h\"\n")
	words = [compiler, "-c", "src/bad.c"]
	expected = run(words, project, status=1)
	assert cc(words, project, status=1).stderr == expected.stderr
	assert cc([compiler, "-c", "src/none.c"], project, status=1).stderr == run([compiler, "-c", "src/none.c"], project, status=1).stderr


@BOTH
def test_warning_in_a_line_with_an_object(project, compiler):
	"""A warning in a line with a Profiler object has the column of the original source."""
	(project / "src/line.c").write_text("int f(int x) { int u = x;\n return 1; }\n")
	words = [compiler, "-Wall", "-c", "src/line.c"]
	expected = run(words, project).stderr
	assert "src/line.c:1:20" in expected
	assert cc(words, project).stderr == expected


@pytest.mark.parametrize("compiler, error", [("gcc", "-Werror=frame-larger-than=240"), ("clang", "-Werror -Wframe-larger-than=240")])
def test_warning_that_the_object_brings_is_none(project, compiler, error):
	"""A warning or error that only the Profiler object causes is suppressed; one that the original causes as well is reported."""
	(project / "src/frame.c").write_text("int f(int x)\n{\n\tvolatile char room[200];\n\troom[x] = 1;\n\treturn room[0];\n}\n")
	assert cc([compiler, "-c", "src/frame.c", *error.split()], project).stderr == "" and has_object(project / "frame.o")
	(project / "frame.o").unlink()
	words = [compiler, "-c", "src/frame.c", *error.replace("240", "64").split()]
	expected = run(words, project, status=1).stderr
	assert "frame" in expected and cc(words, project, status=1).stderr == expected and not (project / "frame.o").exists()


def test_static_and_shared(project):
	cc(["gcc", "-Iinc", "-static", "src/main.c", "src/other.c", "-o", "static"], project)
	assert run(["./static"], project, status=7).stdout.startswith("165 ")
	cc(["gcc", "-Iinc", "-shared", "-fPIC", "-Wl,-z,defs", "src/other.c", "-o", "libother.so"], project)
	cc(["gcc", "-Iinc", "src/main.c", "libother.so", "-Wl,-rpath,$ORIGIN", "-o", "program"], project)
	assert counts("./program", project) == COUNTS


def test_nothing_instrumented_needs_no_library(project):
	cc(["gcc", "-Iinc", "src/main.c", "src/other.c", "-o", "program"], project, ["--rule", "exclude *"])
	needed = subprocess.run(["readelf", "-d", project / "program"], capture_output=True, text=True, check=True).stdout
	assert "libcpprof" not in needed


# --- mistakes in annotations ---

ANNOTATED = """#include <cpprof/profiler.h>
static void *good_enter(int n) { return n ? (void *)&good_enter : 0; }
static void good_leave(void *kept) { (void)kept; }
static void odd_enter(int n) { (void)n; }
static void odd_leave(void *kept) { (void)kept; }
static void *half_enter(int n) { return good_enter(n); }
CPPROF_HOOK(good, n) static int called(int n) { int sum = n; return sum; }
CPPROF_HOOK(nowhere, n) static int misspelt(int n) { int sum = n; return sum; }
CPPROF_HOOK(half, n) static int without_leave(int n) { int sum = n; return sum; }
CPPROF_HOOK(odd, n) static int of_void(int n) { int sum = n; return sum; }
CPPROF_HOOK(good, n) static int other_type(char *n) { int sum = n[0]; return sum; }
CPPROF_HOOK(good, 1, 2) static int other_count(void) { int sum = 0; return sum; }
/* cpprof: hok(good, 1) */
static int other_word(void) { int sum = 0; return sum; }
int main(void)
{
	char text[] = "";
	half_enter(1), odd_enter(1), odd_leave(0);
	return called(0) + misspelt(0) + without_leave(0) + of_void(0) + other_type(text) + other_count() + other_word();
}
"""
MISTAKES = {"misspelt": "nowhere", "without_leave": "half", "of_void": "odd", "other_type": "good", "other_count": "good", "other_word": "hok(good, 1)"}


@pytest.mark.parametrize("compiler, options", [("gcc", []), ("gcc", ["--explicit"]), ("clang", []), ("g++", []), ("clang++", []), ("tcc", [])],
	ids=["gcc", "gcc explicit", "clang", "g++", "clang++", "tcc"])
def test_mistaken_hooks_are_reported(project, compiler, options):
	"""The function of a hook that does not compile is counted without it, and a line gives the hook and the compiler's reason."""
	name = "a.cc" if compiler.endswith("++") else "a.c"
	(project / name).write_text(ANNOTATED)
	result = cc([compiler, f"-I{PROGRAMS.parents[1] / 'include'}", "-g", name, "-o", "program"], project, options)
	lines = [line for line in result.stderr.splitlines() if f"cpprof cc: {name}:" in line]
	found = {line.split(": ")[2]: line.split(": ", 3)[3] for line in lines}
	# tcc only warns of a pointer in place of a number.
	expected = {function: text for function, text in MISTAKES.items() if compiler != "tcc" or function != "other_type"}
	assert found.keys() == expected.keys() and len(lines) == len(found), result.stderr
	for function, text in expected.items():
		assert re.match(rf"its hook '{text}' is not called: .*\w{{4}}|its annotation is not understood from '{re.escape(text)}' on", found[function]), found
	assert f"{name}:8: misspelt: its hook 'nowhere' is not called: " in result.stderr and "nowhere_" in found["misspelt"]
	calls = {function.split("(")[0]: count for function, count in counts("./program", project).items()}
	assert {function: calls.get(function) for function in ["called", *MISTAKES]} == dict.fromkeys(["called", *MISTAKES], 1)
	quiet = cc([compiler, f"-I{PROGRAMS.parents[1] / 'include'}", "-c", name], project, ["--quiet", *options])
	assert "is not called" not in quiet.stderr


# --- how sources are named ---

def has_object(path):
	return "cpprof_probe_enter" in subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True).stdout


@BOTH
def test_standard_input(project, compiler):
	result = cc([compiler, "-x", "c", "-", "-c", "-o", "in.o"], project, input=OTHER)
	assert result.stderr == "" and has_object(project / "in.o")
	bad = cc([compiler, "-x", "c", "-", "-c", "-o", "in.o"], project, input="int f(", status=1)
	assert bad.stderr == run([compiler, "-x", "c", "-", "-c", "-o", "in.o"], project, input="int f(", status=1).stderr


def test_response_file(project):
	(project / "words").write_text("-DNAME='\"a b\"' -c \"src/other.c\"\n-o build/o.o")
	cc(["gcc", "@words"], project)
	assert has_object(project / "build/o.o")
	# More words than a command line may have.
	run(["ar", "rcs", "lib.a", "build/o.o"], project)
	archives = " ".join([f"{'./' * 500}lib.a"] * 3000)
	(project / "words").write_text(f"-Wextra -Iinc src/main.c {archives} -o program")
	assert "unused" in cc(["gcc", "@words", "-Wall"], project).stderr
	assert counts("./program", project) == COUNTS


def test_passed_on(project):
	(project / "x.s").write_text(".globl f\nf: ret\n")
	(project / "y.S").write_text(".globl g\ng: ret\n")
	cc(["gcc", "-c", "x.s", "y.S"], project)
	for words in [["-E", "src/other.c"], ["-M", "src/other.c"], ["--version"], ["-print-search-dirs"], ["-fsyntax-only", "src/other.c"]]:
		assert cc(["gcc", *words], project).stdout == run(["gcc", *words], project).stdout
	assert cc(["gcc", "-x", "c", "src/own.h", "-fsyntax-only"], project).returncode == 0
	result = cc(["gcc", "-ffreestanding", "-c", "src/other.c"], project)
	assert "src/other.c: compiled without instrumentation: it is freestanding" in result.stderr
	assert not has_object(project / "other.o")
	result = cc(["clang", "-MJ", "one.json", "-c", "src/other.c"], project)
	assert "(-MJ)" in result.stderr and '"file": "src/other.c"' in (project / "one.json").read_text()


def test_what_is_left_alone_may_be_linked_with_what_is_not(project):
	(project / "src/plain.c").write_text("extern int other(void);\nint main(void)\n{\n\treturn other();\n}\n")
	cc(["gcc", "-c", "src/other.c"], project)
	for words in [["-save-temps"], ["-pg"], ["-finstrument-functions"], ["-fprofile-generate"]]:
		result = cc(["gcc", *words, "src/plain.c", "other.o", "-o", "program"], project)
		assert "src/plain.c: compiled without instrumentation: " in result.stderr
		assert counts("./program", project)["other"] == 1


@BOTH
def test_assembly_in_the_other_order(project, compiler):
	(project / "src/plain.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
	assert cc([compiler, "-masm=intel", "-O2", "src/plain.c", "-o", "program"], project).stderr == ""
	run([CPPROF, "record", "--instrumented=paths-timed", "./program"], project)


def test_precompiled_header(project):
	(project / "src/all.h").write_text("#include <stdio.h>\nextern int other(void);\n")
	(project / "src/p.c").write_text('#include "all.h"\nint main(void)\n{\n\tputs("x");\n\treturn 0;\n}\n')
	cc(["gcc", "src/all.h"], project)
	assert (project / "src/all.h.gch").exists()
	assert cc(["gcc", "-include", "src/all.h", "-c", "src/p.c"], project).stderr == ""
	assert has_object(project / "p.o")
	# The form that CMake writes for clang, and then a precompiled header alone, whose content the instrumenter cannot see.
	(project / "src/p.c").write_text('int main(void)\n{\n\tputs("x");\n\treturn 0;\n}\nint f(void)\n{\n\tFILE *file = stdin;\n\treturn !file;\n}\n')
	run(["clang", "-x", "c-header", "src/all.h", "-o", "src/all.h.pch"], project)
	passed = [word for pair in ["-include-pch", "src/all.h.pch", "-include", "src/all.h"] for word in ("-Xclang", pair)]
	assert cc(["clang", *passed, "-c", "src/p.c"], project).stderr == "" and has_object(project / "p.o")
	result = cc(["clang", "-include-pch", "src/all.h.pch", "-c", "src/p.c"], project, ["--rule", "include f"])
	assert result.stderr == "cpprof cc: src/p.c: compiled without instrumentation: clang does not understand all of it\n"


@BOTH
def test_warnings_about_how_it_is_written(project, compiler):
	"""Compilers judge how lines are indented: a line with a Profiler object causes no such warning beside the warnings of the original."""
	(project / "src/a=b.c").write_text("int f(int x)\n{\n\tif (x)\n\t\tx++; x++;\n\treturn x;\n}\n")
	(project / "src/mis.c").write_text((project / "src/a=b.c").read_text() + "const char *g(void)\n{\n\treturn __FILE__ __BASE_FILE__;\n}\n")
	plain = run([compiler, "-Wall", "-g", "-c", "src/mis.c"], project)
	result = cc([compiler, "-Wall", "-g", "-c", "src/mis.c"], project)
	assert "misleading" in result.stderr and result.stderr == plain.stderr
	finest = cc([compiler, "-Wall", "-g", "-c", "src/mis.c"], project, ["--rule", "level 4"])
	assert finest.stderr.count("misleading") == plain.stderr.count("misleading"), finest.stderr
	assert has_object(project / "mis.o")
	assert b"src/mis.csrc/mis.c" in (project / "mis.o").read_bytes() and b"cpprof-cc" not in (project / "mis.o").read_bytes()
	assert cc([compiler, "-g", "-c", project / "src/a=b.c"], project).stderr == ""
	assert has_object(project / "a=b.o") and b"cpprof-cc" not in (project / "a=b.o").read_bytes()


# --- fallbacks and failures ---

def test_falls_back_and_says_so(project):
	(project / "src/gnu.c").write_text("#ifdef __clang__\n#error not for clang\n#endif\nint f(int x)\n{\n\treturn x;\n}\n")
	result = cc(["gcc", "-c", "src/gnu.c"], project)
	assert result.stderr.startswith("cpprof cc: src/gnu.c: compiled without instrumentation: ") and result.stderr.count("\n") == 1
	assert (project / "gnu.o").exists()
	assert cc(["gcc", "-c", "src/gnu.c"], project, ["-q"]).stderr == ""
	(project / "src/conftest.c").write_text((project / "src/gnu.c").read_text())
	assert cc(["gcc", "-c", "src/conftest.c"], project).stderr == ""


def test_reading_without_end_is_given_up(project):
	more = "".join(f"#define B{i} {f'B{i - 1} ' * 8}\n" for i in range(1, 12))
	(project / "src/long.c").write_text(f"#ifdef __clang__\n#define B0 +0\n{more}#if 0 B11\n#endif\n#endif\nint f(int x)\n{{\n\treturn x;\n}}\n")
	result = cc(["gcc", "-c", "src/long.c"], project, ["--limit", "0.5"])
	assert result.stderr == "cpprof cc: src/long.c: compiled without instrumentation: reading it took longer than 0.5 s (--limit)\n"
	assert result.returncode == 0 and (project / "long.o").exists()
	for wrong in ("0", "soon"):
		assert cc(["gcc", "-c", "src/long.c"], project, ["--limit", wrong], status=2).stderr.startswith(f"cpprof cc: '{wrong}' is not a number of seconds")


def script(project, text):
	path = project / "gcc-like"
	path.write_text(f"#!/bin/sh\n{text}\n")
	path.chmod(0o755)
	return path


def test_functions_that_the_compiler_does_not_take(project):
	"""A function in whose instrumented form the compiler finds an error is compiled without instrumentation; the others stay
	instrumented."""
	(project / "src/two.c").write_text("int f(int x)\n{\n\treturn x;\n}\nint g(int x)\n{\n\treturn x;\n}\n")
	like = script(project, "for word; do case $word in /*/two.c) if sed -n 2p $word | grep -q CPPROF; then\n"
		"echo 'src/two.c:2:1: error: not here' >&2; exit 1; fi;; esac; done; exec gcc \"$@\"")
	result = cc([like, "-O0", "-c", "src/two.c"], project, ["--report", "report"])
	assert result.stderr == ""
	assert "two.c:2: f: skipped: the compiler does not take it" in (project / "report").read_text()
	assert "two.c:6: g: instrumented" in (project / "report").read_text()
	assert has_object(project / "two.o")
	like = script(project, "for word; do case $word in /*/two.c) echo 'never' >&2; exit 1;; esac; done; exec gcc \"$@\"")
	result = cc([like, "-c", "src/two.c"], project)
	assert result.stderr == "cpprof cc: src/two.c: compiled without instrumentation: the instrumented copy does not compile\n"
	assert not has_object(project / "two.o")


def test_exit_status(project):
	like = script(project, "case \"$*\" in *' -E '*) exec gcc \"$@\";; esac; exit 42")
	assert cc([like, "-c", "src/other.c"], project, status=42).stderr == ""
	like = script(project, "case \"$*\" in *' -E '*) exec gcc \"$@\";; esac; kill -9 $$")
	assert cc([like, "-c", "src/other.c"], project, status=-9).stderr == ""
	assert "command not found" in cc(["no-such-compiler", "-c", "src/other.c"], project, status=127).stderr
	assert cc([], project, status=2).returncode == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing(project, number):
	like = script(project, "case \"$*\" in *' -E '*) exec gcc \"$@\";; esac; echo $$ > pid.new; mv pid.new pid; exec sleep 100")
	process = subprocess.Popen([CPPROF, "cc", "--", like, "-c", "src/other.c"], cwd=project, env=environment(project),
		preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) # our parent may ignore it, as nohup does
	deadline = time.monotonic() + 60
	while not (project / "pid").exists() and time.monotonic() < deadline:
		time.sleep(0.01)
	pid = int((project / "pid").read_text())
	process.send_signal(number)
	assert process.wait(timeout=60) == -number
	with pytest.raises(ProcessLookupError):
		os.kill(pid, 0)


def test_no_room_for_copies(project):
	result = cc(["gcc", "-c", "src/other.c"], project, env={"TMPDIR": str(project / "src/other.c")})
	assert "compiled without instrumentation: cannot make a folder" in result.stderr
	assert (project / "other.o").exists() and not has_object(project / "other.o")


# --- builds ---

def test_make(project):
	(project / "Makefile").write_text("CPPFLAGS = -Iinc -MMD\nprogram: src/main.o src/other.o\n\t$(CC) -o $@ $^\n-include src/*.d\n")
	run(["make", "-s", f"CC={CPPROF} cc -- gcc"], project)
	assert counts("./program", project) == COUNTS
	assert run(["make", f"CC={CPPROF} cc -- gcc"], project).stdout == "make: 'program' is up to date.\n"
	(project / "inc/sub/deeper.h").write_text("#define DEEPER 4\n")
	assert "-c -o src/main.o src/main.c" in run(["make", f"CC={CPPROF} cc -- gcc"], project).stdout


@pytest.mark.needs("cmake")
def test_cmake_launcher_and_database(project):
	(project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.21)\nproject(p C)\ninclude_directories(inc)\n"
		"add_executable(program src/main.c src/other.c)\n")
	run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER_LAUNCHER={CPPROF};cc;--", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
		f"-DCMAKE_C_LINKER_LAUNCHER={CPPROF};cc;--"], project)
	assert "cpprof" not in run(["cmake", "--build", "build"], project).stderr
	assert counts("build/program", project) == COUNTS
	listed = json.loads(run([CPPROF, "instrument", "-p", "build", "--report", "--format", "json"], project).stdout)
	assert {point["name"] for point in listed["probe_points"] if point["instrumented"]} == set(COUNTS)
	run([CPPROF, "instrument", "-p", "build/compile_commands.json", "-o", "copies", "src/main.c"], project)
	copies = list((project / "copies").rglob("*.c"))
	assert len(copies) == 1 and "CPPROF_TOOL_FUNCTION" in copies[0].read_text()


@BOTH
def test_headers(project, compiler):
	words = [compiler, "-g", "-O1", "-Iinc", "-MMD", "src/main.c", "src/other.c", "-o"]
	cc([*words, "program"], project, ["--headers"])
	run([*words, "plain"], project)
	assert run(["./program"], project, status=7).stdout == run(["./plain"], project, status=7).stdout
	assert rules(project / "program.d")[1:] == rules(project / "plain.d")[1:]
	assert counts("./program", project) == COUNTS | {"deep": 10}
	assert b"cpprof-cc-" not in (project / "program").read_bytes()


# --- which functions are chosen ---

def test_selection(project):
	(project / "my.select").write_text("include function w*\nBEGIN_EXCLUDE_LIST\n#nothing\nEND_EXCLUDE_LIST\ngroup busy function work\n")
	result = run([CPPROF, "instrument", "--report", "-s", "my.select", "src/main.c", "--", "-Iinc"], project)
	assert "src/main.c:11: work: instrumented, group busy" in result.stdout
	assert "src/main.c:19: main: skipped: not included by any rule" in result.stdout
	cc(["gcc", "-Iinc", "src/main.c", "src/other.c", "-o", "program"], project, env={"CPPROF_SELECT": "my.select"})
	assert counts("./program", project) == {"work": 1}
	(project / "my.select").write_text("include function w*\nexclud x\n")
	assert "my.select:2: 'exclud' is not a rule" in cc(["gcc", "-c", "src/other.c"], project, ["-s", "my.select"], status=1).stderr
	assert not (project / "other.o").exists()


SELECTED = """#include <cstddef>
#include <vector>
namespace core { int loop_once(int n) { int s = n; return s; } int main_loop(int n) { int s = n; return s; } }
struct Klass { int v; Klass(int n) { v = n; v++; } ~Klass() { v = 0; v--; } unsigned long get() { int x = v; return x; } };
void bar() { int a = 1; a++; }
std::vector<int> *all(std::vector<int> *v) { v->clear(); return v; }
template <class T> T twice(T x) { T y = x; return y; }
extern "C" int plain(int n) { int s = n; return s; }
template <class T> struct Box { int f() { int s = 0; return s; } };
"""


@pytest.mark.parametrize("rules, excluded", [
	("exclude core::<^loop>", {"core::loop_once"}),
	("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE MANGLED _Z3barv _ZN5KlassC2Ei bar all\nSCOREP_REGION_NAMES_END", {"bar", "Klass::Klass"}),
	("SCOREP_REGION_NAMES_BEGIN\nEXCLUDE MANGLED _ZN4core* plain *Klass*D1*\nSCOREP_REGION_NAMES_END", {"core::loop_once", "core::main_loop", "plain", "Klass::~Klass"}),
	("BEGIN_EXCLUDE_LIST\nvoid #\nsize_t Klass::get()\nlong plain(int)\nEND_EXCLUDE_LIST", {"bar"}),
	("BEGIN_EXCLUDE_LIST\nunsigned long #\nstd::vector<int> *all(#)\nT twice(T)\nEND_EXCLUDE_LIST", {"Klass::get", "all", "twice"}),
])
def test_selection_in_cxx(rules, excluded, project):
	(project / "my.select").write_text(rules)
	(project / "a.cc").write_text(SELECTED)
	listed = json.loads(run([CPPROF, "instrument", "--report", "--format", "json", "-s", "my.select", "a.cc", "--", "g++"], project).stdout)
	points = {point["name"]: point["instrumented"] for point in listed["probe_points"]}
	assert len(points) == 10 and {name for name, is_in in points.items() if not is_in} == excluded


def test_instrument(project):
	copy = run([CPPROF, "instrument", "src/other.c"], project).stdout
	first, second, rest = copy.split("\n", 2)
	assert first.endswith('profiler.h"') and second == '#line 1 "src/other.c"'
	assert re.sub(r"CPPROF_TOOL_FUNCTION\([^)]*\) ", "", rest).rstrip() == OTHER.rstrip()
	run([CPPROF, "instrument", "-o", "copies", "--headers", "src/main.c", "src/other.c", "--", "gcc", "-Iinc"], project)
	assert made(project / "copies") == {"src/main.c", "src/other.c", "inc/sub/deep.h"}
	text = run([CPPROF, "instrument", "--report", "src/main.c", "--", "-Iinc"], project).stdout
	assert text.splitlines()[-1] == f"3 instrumented, {text.count('skipped:')} skipped"
	assert run([CPPROF, "instrument", "src/main.c", "src/other.c"], project, status=2).stdout == ""
	assert "src/main.c" in run([CPPROF, "instrument", "src/main.c"], project, status=1).stderr
	absent = "cpprof instrument: cannot instrument 'nofile.c': No such file or directory\n"
	assert run([CPPROF, "instrument", "nofile.c"], project, status=1).stderr == absent
	assert run([CPPROF, "instrument", "--report", "nofile.c"], project, status=1).stderr == absent
	(project / "my.json").write_text("{}")
	assert "my.json: it is no list of entries" in run([CPPROF, "instrument", "-p", "my.json", "--report"], project, status=1).stderr
