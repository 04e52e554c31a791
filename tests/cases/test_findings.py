"""Findings: the closing line, info and JSON report what each backend and each reader found."""
import json
import os
import re
import signal
import subprocess

import pytest
from hooks_support import Counted, compile_once
from record_support import COUNTED, PROGRAMS, build, hits, needs_bpf, needs_perf, record, record_counted, run_cpprof


def findings_of(path):
	"""{code: finding} of a profile, from its JSON. Checks that info prints the same findings, the most severe first."""
	findings = json.loads(run_cpprof("info", "--format", "json", path).stdout)["findings"]
	text = run_cpprof("info", path).stdout
	assert f"\nfindings ({len(findings)})\n" in text
	lines = [line.strip() for line in text.partition("\nfindings (")[2].splitlines()]
	shown = [line for line in lines if re.match("(note|warning|error): ", line)]
	assert shown == [f"{finding['severity']}: {finding['text']}" for finding in findings]
	assert all(finding["meaning"] in lines for finding in findings)
	order = ["error", "warning", "note"]
	assert shown == sorted(shown, key=lambda line: order.index(line.split(":")[0]))
	return {finding["code"]: finding for finding in findings}


def check(recorded, code, severity, text, in_closing=True):
	"""Checks a finding of the profile, and whether the closing line prints it. Returns it."""
	finding = findings_of(recorded.path)[code]
	assert finding["severity"] == severity and re.fullmatch(text, finding["text"]), finding
	assert (finding["text"] in recorded.err) == in_closing, recorded.err
	return finding


@needs_perf
def test_monitor(tmp_path):
	recorded = record(tmp_path, ["sh", "-c", "sleep 60 >/dev/null 2>&1 </dev/null & echo $!"], "--backend", "perf")
	try:
		finding = check(recorded, "processes-still-running", "warning", "1 process that the command started still runs, unrecorded")
		assert finding["count"] == 1
	finally:
		os.kill(int(recorded.out), signal.SIGTERM)


@needs_perf
def test_trace(tmp_path):
	"""trace writes no profile, so it prints its findings itself: one line each, and none if there are no findings."""
	words = ["trace", "--backend", "perf", "-r", "page-faults", "-o", tmp_path / "events", "--"]
	result = run_cpprof(*words, "sh", "-c", "sleep 60 >/dev/null 2>&1 </dev/null & echo $!", cwd=tmp_path)
	try:
		assert "\ncpprof: warning: 1 process that the command started still runs, unrecorded\n" in result.stderr
	finally:
		os.kill(int(result.stdout), signal.SIGTERM)
	assert "warning" not in run_cpprof(*words, "/bin/true", cwd=tmp_path).stderr


def test_trace_of_an_undeclared_resource(tmp_path):
	result = run_cpprof("trace", "--backend", "preload", "-r", "own:x", "-o", tmp_path / "events", "--", "/bin/true", cwd=tmp_path)
	assert result.returncode == 0
	assert result.stderr.endswith("\ncpprof: warning: the program did not declare 'x' or any other resource\n")


def test_unsampled(tmp_path):
	"""CPU time of a program that the library does not observe: the finding counts the samples that it lacks."""
	recorded = record(tmp_path, ["sh", "-c", f"exec {build('forms.c', linkage='static')} 60"], "--backend", "preload", "-r", "cpu/100us")
	finding = check(recorded, "unsampled", "warning", r"\d+ % of cpu not sampled")
	assert finding["count"] > 100


@needs_bpf
def test_bpf(tmp_path):
	recorded = record(tmp_path, [build("forms.c")], "--backend", "bpf", "-r", "cpu")
	check(recorded, "unwind-rows", "note", r"\d+ unwind rows? of 8 bytes and \d+ bytes of index in the kernel", in_closing=False)
	check(recorded, "kernel-stacks", "note", r"\d+ of \d+ stacks were unwound in the kernel.*", in_closing=False)


def test_preload(tmp_path):
	recorded = record(tmp_path, ["sh", "-c", f"exec {build('forms.c', linkage='static')} 60"], "--backend", "preload")
	finding = check(recorded, "programs-not-recorded", "warning", "'forms' was not recorded: it is statically linked.*")
	assert finding["meaning"].startswith("These programs did not load")


def test_hooks(tmp_path):
	with_pg = compile_once(["gcc", "-O1", "-g", "-pg"], [PROGRAMS / "forms.c"], "forms_pg")
	counted = Counted([with_pg], tmp_path, measurement="paths-timed")
	check(counted, "calls-untimed", "warning", "calls that -pg's hooks report were counted, not timed: .*")


@needs_perf
def test_reader(tmp_path):
	"""A truncated file: each command that reads it warns."""
	recorded = record(tmp_path, [build("forms.c")], "--backend", "perf")
	cut = tmp_path / "cut.data"
	cut.write_bytes(recorded.path.read_bytes()[:-20])
	shown = run_cpprof("info", cut)
	assert "the recording is incomplete: it ends after " in shown.stderr
	findings = findings_of(cut)
	assert findings["recording-cut"]["severity"] == "error"
	assert findings["bytes-skipped"]["count"] == 20
	assert "skipped 20 trailing bytes of an incomplete block" in shown.stderr


SPLIT = """
#include "burn.h"
static inline __attribute__((always_inline)) void inlined(void) { BURN_HERE(5000); }
NOINLINE static void plain(void) { inlined(); NOT_A_TAIL_CALL(); }
int main(void) { plain(); return 0; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_split_debug_information(tmp_path, compiler):
	"""The functions that were inlined are in .dwo files. Without them, the recording says so, and also that their package is not read."""
	flags = COUNTED["preload"][0]
	(tmp_path / "split.c").write_text(SPLIT)
	subprocess.run([compiler, "-O1", "-g", "-gsplit-dwarf", f"-I{PROGRAMS}", *flags[:2], "-DEVENT_US=5", "-c", "split.c"], cwd=tmp_path, check=True)
	subprocess.run([compiler, "-o", "split", "split.o", *flags[2:]], cwd=tmp_path, check=True)
	text = f"{tmp_path}/split lacks files of its debug information, such as split.dwo"
	# dwp of Debian 12 fails with gcc's DWARF 5. For the finding, that there is a file suffices.
	file = tmp_path / "split.dwo"
	for name, expected in (("split.dwo", []), ("elsewhere", [text]), ("split.dwp", [f"{text}; its .dwp file is not read"])):
		file = file.rename(tmp_path / name)
		is_there = name == "split.dwo"
		recorded = record_counted("preload", tmp_path, [tmp_path / "split"])
		lacking = [finding["text"] for finding in recorded.info()["findings"] if finding["code"] == "split-files-lacking"]
		assert lacking == expected
		assert hits(recorded.paths(), "main", "plain", "inlined") == (1000 if is_there else 0) and hits(recorded.paths(), "main", "plain") == 1000
