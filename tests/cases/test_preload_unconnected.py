"""If the library is not loaded into a program, the closing line, `info` and `report` give the reason."""
import os
import re
import shutil
import subprocess
import tempfile

import pytest
from record_support import BUILD, CPPROF, PROGRAMS, build, record, run_cpprof
from user_support import as_user

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can")

# {name: (command that starts the program, reason why the program was not recorded)}
WAYS = {
	"environment": (["env", "-i"], "LD_PRELOAD is gone"),
	"library": (["env", "LD_PRELOAD="], "LD_PRELOAD is gone"),
	"channel": (["env", "-u", "CPPROF_CHANNEL"], "CPPROF_CHANNEL is gone"),
	"recorder": ([CPPROF, "record", "-o", "inner.data", "--backend", "preload"], "another cpprof records it"),
	"namespace": (["unshare", "-p", "--fork"], "in another pid namespace"),
	"user": (as_user(), "another user's"),
}


def said_of(tmp_path, command, reason, resource):
	recorded = record(tmp_path, command, "--backend", "preload", "-r", resource)
	if recorded.status != 0:
		pytest.skip(recorded.err)
	closing = recorded.err.splitlines()[-1]
	assert re.search(rf"; [^;]*'forms' was not recorded: [^;]*{reason}", closing), closing
	assert "short threads" not in closing, closing
	assert re.search(rf"'forms' was not recorded: .*{reason}", run_cpprof("info", recorded.path).stdout)
	return recorded


@pytest.mark.parametrize("way", [pytest.param(way, marks=as_root) if way in ("namespace", "user") else way for way in WAYS])
def test_programs_that_are_not_watched(tmp_path, way):
	launcher, reason = WAYS[way]
	with tempfile.TemporaryDirectory(prefix="cpprof-test-", dir="/tmp") as folder: # a folder that another user can reach
		os.chmod(folder, 0o755)
		said_of(tmp_path, [*launcher, shutil.copy(build("forms.c"), folder), "60"], reason, "cpu")


def test_static_program(tmp_path):
	"""Allocated bytes of an unobserved program are unknown. The report does not state that they were less than an interval."""
	recorded = said_of(tmp_path, ["sh", "-c", f"exec {build('forms.c', linkage='static')} 60"], "statically linked", "alloc-bytes/1GiB") # the shell, which is observed, has no sample
	assert recorded.closing()[0] == 0
	report = run_cpprof("report", recorded.path)
	assert "'forms' was not recorded: it is statically linked" in report.stdout + report.stderr
	assert "less than one interval" not in report.stdout


@pytest.mark.needs("go")
def test_go_without_c(tmp_path):
	"""A position-independent program of Go without C has a dynamic linker, but no C library: it is refused, or reported, and runs as without cpprof."""
	program = tmp_path / "alone"
	options = {**os.environ, "GOCACHE": str(BUILD / "tests/go-cache"), "GO111MODULE": "off", "CGO_ENABLED": "0"}
	subprocess.run(["go", "build", "-buildmode=pie", "-o", program, PROGRAMS / "cgo/alone.go"], check=True, env=options)
	refused = record(tmp_path, [program], "--backend", "preload", "-r", "cpu")
	assert refused.status == 1 and f"'{program}' needs no C library: what is preloaded does not work in it" in refused.err, refused.err
	recorded = record(tmp_path, ["sh", "-c", f"{program}; exit $?"], "--backend", "preload", "-r", "cpu/100us")
	assert recorded.status == 0 and recorded.out.startswith("sum "), recorded.err
	assert re.search(r"; [^;]*'alone' was not recorded: it needs no C library", recorded.err.splitlines()[-1]), recorded.err
