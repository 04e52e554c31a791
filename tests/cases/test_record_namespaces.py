"""Recorders and programs in other time and PID namespaces."""
import json
import os
import subprocess

import pytest
from hooks_support import compile_once
from record_support import BACKENDS, COUNTED, PROGRAMS, build_counted, events_of, hits, needs_bpf, needs_perf, record_counted, run_cpprof

# The clock of the namespace is a day ahead of the kernel's, or 5 seconds behind it.
OFFSETS = ["86400", "-5"]
EVENTS = 40


def in_time(offset):
	return ["unshare", "--time", "--monotonic", offset, "--fork"]


def works(command):
	return os.geteuid() == 0 and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


needs_time = pytest.mark.skipif(not works(in_time("1")), reason="unshare --time is refused here")
needs_pid = pytest.mark.skipif(not works(["unshare", "--pid", "--fork", "--mount-proc"]), reason="unshare --pid is refused here")


def check_times(recorded):
	"""Each event of the program has a time within the recording."""
	duration = recorded.info()["duration_s"]
	assert duration < 3600, duration
	assert hits(events_of(recorded)) == EVENTS
	assert hits(events_of(recorded, "--from", "0", "--to", f"{duration + 0.001:.6f}")) == EVENTS, duration


@needs_time
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_recorder_in_a_time_namespace(tmp_path, backend, offset):
	program = build_counted(backend, "spawn.c", event_us=10000)
	check_times(record_counted(backend, tmp_path, [program, "fork"], before=in_time(offset)))


@needs_time
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_program_in_a_time_namespace(tmp_path, backend, offset):
	program = build_counted(backend, "spawn.c", event_us=10000)
	check_times(record_counted(backend, tmp_path, [*in_time(offset), program, "fork"]))


@needs_time
@pytest.mark.parametrize("place", ["recorder", "program"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_hooks_in_a_time_namespace(tmp_path, offset, place):
	"""The times of instrumented processes are within the recording."""
	program = compile_once(["gcc", "-O1", "-g", "-pg"], [PROGRAMS / "forms.c"], "forms_pg")
	data, outer, inner = tmp_path / "out.data", in_time(offset) if place == "recorder" else (), in_time(offset) if place == "program" else []
	result = run_cpprof("record", "--instrumented", "-o", data, "--", *inner, program, before=outer, cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	info = json.loads(run_cpprof("info", "--format", "json", data).stdout)
	ends = [process["end_s"] for process in info["processes"]]
	assert ends and all(0 <= end <= info["duration_s"] + 0.001 for end in ends), (ends, info["duration_s"])


REFUSED = "cannot record: /proc shows another PID namespace"


@needs_pid
@pytest.mark.parametrize("backend", ["preload", pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf)])
def test_proc_of_another_pid_namespace(tmp_path, backend):
	"""Its numbers belong to other processes."""
	for words in (["true"], ["-p", "1"], ["--comm", "unshare"], ["-a", "true"]):
		if backend == "preload" and words != ["true"]:
			continue
		result = run_cpprof("record", "--backend", backend, "-o", tmp_path / "out.data", *words, before=["unshare", "--pid", "--fork"], cwd=tmp_path)
		assert result.returncode != 0 and REFUSED in result.stderr, (words, result.stderr)
		assert not (tmp_path / "out.data").exists()


@needs_pid
@pytest.mark.parametrize("backend", BACKENDS)
def test_own_pid_namespace(tmp_path, backend):
	program = build_counted(backend, "spawn.c", event_us=10000)
	recorded = record_counted(backend, tmp_path, [program, "fork"], before=["unshare", "--pid", "--fork", "--mount-proc"])
	assert hits(events_of(recorded)) == EVENTS
	assert COUNTED[backend][1].startswith(recorded.info()["resources"][0]["name"])
