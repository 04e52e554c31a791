"""The preload backend refuses, or reports, what it cannot do, with the true reason and a remedy."""
import os
import subprocess

import pytest
from record_support import CPPROF, build, needs_bpf, record, run_cpprof

is_root = os.geteuid() == 0


def refusal(*words):
	result = run_cpprof("record", *words)
	assert result.returncode == 1, result.stderr
	assert " lost, " not in result.stderr
	return result.stderr


@pytest.mark.parametrize("kind, name", [("address", "AddressSanitizer"), ("thread", "ThreadSanitizer")])
def test_sanitizers(kind, name):
	try:
		program = build("forms.c", f"-fsanitize={kind}")
	except subprocess.CalledProcessError:
		pytest.skip(f"there is no {name} here")
	said = refusal("--backend", "preload", program)
	assert f"is built with {name}" in said and "the bpf backend" in said
	said = refusal("-r", "fp-invalid", program)
	assert "without -fsanitize" in said and "bpf" not in said


def test_static_programs():
	program = build("forms.c", linkage="static")
	assert "the bpf backend can record it" in refusal("--backend", "preload", program)
	said = refusal("-r", "fp-invalid", program)
	assert "link the program dynamically" in said and "bpf" not in said


@needs_bpf
def test_what_only_others_see():
	said = refusal("-r", "fp-inexact", "-r", "syscalls", "/bin/true")
	assert "syscalls not by preload (the preload backend observes calls of the C library, not syscalls" in said, said
	said = refusal("--paused", "-r", "syscalls", "/bin/true")
	assert "--paused needs the preload backend: " in said and "not syscalls" in said and "io-calls" in said, said
	assert "--paused needs --backend preload" in refusal("--paused", "--backend", "perf", "/bin/true")


@pytest.mark.skipif(not is_root, reason="only root hides /proc")
def test_hidden_proc():
	command = f"mount -t tmpfs none /proc && exec {CPPROF} record --backend preload /bin/true"
	result = subprocess.run(["unshare", "-m", "sh", "-c", command], capture_output=True, text=True, check=False)
	if "unshare" in result.stderr or "mount:" in result.stderr:
		pytest.skip(result.stderr)
	assert result.returncode == 1 and "cannot read /proc/self/exe" in result.stderr, result.stderr


def test_more_ticks_than_there_are(tmp_path):
	said = "at most 20000 samples a second"
	assert said in record(tmp_path, ["/bin/true"], "--backend", "preload", "-F", "50000").err
	assert said not in record(tmp_path, ["/bin/true"], "--backend", "preload", "-F", "20000").err
	assert said not in record(tmp_path, ["/bin/true"], "--backend", "preload", "-r", "alloc-bytes/1").err


def test_profile_that_cannot_be_written():
	"""The command has run; the exit status is as the help documents."""
	result = run_cpprof("record", "-o", "/dev/full", "--", "/bin/echo", "ran")
	assert result.returncode == 1 and result.stdout == "ran\n", result.stderr
	assert "could not be written completely" in " ".join(run_cpprof("record", "--help").stdout.split())
