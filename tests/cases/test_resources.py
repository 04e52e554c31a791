"""`cpprof resources`: one line each, with the reason where something cannot be had."""
import os

import pytest
from record_support import needs_perf, run_cpprof

NAMES = ["cpu", "user", "sys", "page-faults", "minor-faults", "major-faults", "context-switches", "migrations", "cycles",
	"instructions", "cache-misses", "branch-misses"]


def rows(*command, **options):
	result = run_cpprof("resources", *command, **options)
	assert result.returncode == 0, result.stderr
	return {line.split()[0]: line.split(None, 4) for line in result.stdout.splitlines()[1:]}


def test_lists_every_resource():
	assert list(rows()) == NAMES


@needs_perf
def test_says_who_measures_it():
	assert rows()["cpu"][2:4] == ["1ms", "perf"]


def test_says_why_not():
	for name, row in rows().items():
		assert row[3] in ("perf", "-")
		assert row[3] == "perf" or len(row[4]) > 40, f"{name} is refused without a reason"


@needs_perf
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an unprivileged user")
def test_of_an_unprivileged_user():
	with open("/proc/sys/kernel/perf_event_paranoid") as file:
		if int(file.read()) != 2:
			pytest.skip("kernel.perf_event_paranoid is not 2")
	shown = rows(before=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
	assert "user mode only" in shown["cpu"][4]
	assert shown["context-switches"][3] == "-" and "perf_event_paranoid" in shown["context-switches"][4]
	assert "seccomp" not in shown["cycles"][4], "it lacks counters, not permission"
