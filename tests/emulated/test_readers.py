"""A build for another processor has the commands that read. In an emulator it prints, byte for byte, what this machine's build prints of the
profiles that this machine recorded. The step of tools/run_tests names both builds and the emulator."""
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

OTHER = [os.environ["CPPROF_EMULATOR"], str(Path(os.environ["CPPROF_BUILD"]) / "src/cmd/cpprof")]
NATIVE = [str(Path(os.environ["CPPROF_NATIVE"]) / "src/cmd/cpprof")]
REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS_ALLOWED = 300

# The hooks that it is compiled with count its calls, and each allocation is a sample.
PROGRAM = """
#include <stdlib.h>
static void *volatile last;
static __attribute__((noinline)) void leaf(int n) { last = malloc(n + 1); free(last); }
static __attribute__((noinline)) void inner(int n) { for (int i = 0; i < n; i++) leaf(i); }
static __attribute__((noinline)) void outer(int n) { inner(n); inner(2 * n); }
int main(void) { outer(10); leaf(1); return 0; }
"""

MEASURE = ["record", "top", "control", "trace", "resources", "instrument", "cc", "cxx", "optimize", "contextualize", "causal"]
READ = ["report", "explain", "html", "browse", "explore", "info", "name", "gprof", "whatif", "diff", "export", "push", "store", "merge", "mcp", "help",
	"man", "completion"]
QUESTIONS = b"functions\ndown main\nby line\nfunctions\nlines\nwhatif main=0.5\nexport folded /dev/stdout\nhelp\nquit\n"
REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {"profile": "counted.data"}}}\n'

# Command lines and their standard inputs. `counted.data` has exact counts, `trace.data` is a tally, `sampled.data` has samples.
LINES = {
	**{f"report {name} {options}": b"" for name in ("counted.data", "trace.data", "sampled.data") for options in (
		"", "-f", "-b", "-d main", "-u leaf", "-T", "--lines", "-s main", "-g", "--modules", "--long", "--format json", "--format csv", "--asm inner")},
	**{f"export {name} -o - --format {form}": b"" for name in ("counted.data", "trace.data", "sampled.data") for form in (
		"folded", "pprof", "speedscope", "callgrind", "firefox", "chrome", "otlp", "gmon", "events")},
	**{f"{line} {name}": b"" for name in ("counted.data", "trace.data", "sampled.data") for line in (
		"info", "info --format json", "explain", "explain --format json", "html -o -", "gprof ./program")},
	"diff counted.data sampled.data": b"",
	"whatif counted.data main;outer=0.5": b"",
	"import --format folded -o imported.data - ; report imported.data": b"main;a;b 3\nmain;c 4\n",
	"import --format perf-script -o imported.data - ; report imported.data": b"a 1/1 1.0: 1 cycles:\n\t10 leaf+0x1 (/a)\n\t20 main+0x2 (/a)\n\n",
	"name -o named.data counted.data ; report named.data": b"",
	"merge -o merged.data counted.data counted.data ; report merged.data": b"",
	"store add --store store.db counted.data ; report --store store.db": b"",
	"explore counted.data": QUESTIONS,
	"mcp": REQUEST,
	"report nothing.data": b"",
	**{f"help {name}": b"" for name in READ},
	"completion nothing": b"",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
	"""A folder with a program, and with recordings that this machine's cpprof made of it."""
	folder = tmp_path_factory.mktemp("recorded")
	(folder / "program.c").write_text(PROGRAM)
	for command in (["gcc", "-g", "-O1", "-finstrument-functions", "-o", "program", "program.c"],
			[*NATIVE, "record", "--instrumented", "-o", "counted.data", "./program"],
			[*NATIVE, "record", "--instrumented=trace", "-o", "trace.data", "./program"],
			[*NATIVE, "record", "--backend", "preload", "-r", "allocs/1", "-r", "alloc-bytes/1", "-o", "sampled.data", "./program"]):
		subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS_ALLOWED)
	return folder


def outputs(program, line, given, folder):
	"""Returns what the commands of a line print, with the files that they write in the folder removed."""
	printed = []
	for words in line.split(" ; "):
		done = subprocess.run([*program, *words.split()], cwd=folder, input=given, capture_output=True, timeout=SECONDS_ALLOWED, check=False,
			env={**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "100", "SOURCE_DATE_EPOCH": "1"})
		printed.append((done.returncode, done.stdout, done.stderr))
	for name in ("imported.data", "named.data", "merged.data", "store.db", "store.db-wal", "store.db-shm"):
		(folder / name).unlink(missing_ok=True)
	return printed


def without_stubs(printed):
	"""Removes the names of the stubs that `--asm` shows behind calls, and the compressed machine code of a page, which has them too: a build finds them in
	the code of its own processor only."""
	stubs = rb'  <\w+@plt>|(?<=<div hidden id="code-a" )data-bytes="\d+"><script type="text/plain">[^<]*'
	return [(status, re.sub(stubs, b"", text), error) for status, text, error in printed]


@pytest.mark.parametrize("line", LINES)
def test_both_print_the_same(folder, line):
	native, other = outputs(NATIVE, line, LINES[line], folder), outputs(OTHER, line, LINES[line], folder)
	assert without_stubs(other) == without_stubs(native)
	assert b"".join(text for _, *texts in native for text in texts), "nothing was printed"


def test_the_recordings_have_paths(folder):
	[(status, printed, _)] = outputs(OTHER, "report counted.data -f --format csv", b"", folder)
	assert status == 0
	assert b"leaf" in printed and b"inner" in printed


@pytest.mark.parametrize("name", MEASURE)
def test_what_measures_is_refused(folder, name):
	[(status, printed, error)] = outputs(OTHER, name, b"", folder)
	assert (status, printed) == (1, b"")
	assert error.startswith(f"cpprof: cannot run '{name}': this build of cpprof has no collectors".encode())


def test_pages_are_those_of_its_commands(tmp_path):
	"""An installation makes the manual pages of the commands that the build has."""
	cpprof = tmp_path / "cpprof"
	cpprof.write_text(f'#!/bin/sh\nexec {shlex.join(OTHER)} "$@"\n')
	cpprof.chmod(0o755)
	subprocess.run([REPOSITORY / "docs/install_pages", "man", cpprof, "cat", REPOSITORY / "docs/man", tmp_path / "man"], check=True, timeout=SECONDS_ALLOWED)
	pages = {page.stem.removeprefix("cpprof-") for page in (tmp_path / "man/man1").iterdir()}
	assert {"cpprof", "report", "html", "store"} <= pages
	assert not pages & set(MEASURE)


def test_perf_data_is_refused(folder):
	(folder / "perf.data").write_bytes(b"PERFILE2" + bytes(200))
	[(status, _, error)] = outputs(OTHER, "import -o imported.data perf.data", b"", folder)
	assert status == 1
	assert b"which unwind the stacks of perf.data" in error
