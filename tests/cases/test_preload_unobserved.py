"""Bytes that are read and written where no call is interposed are reported, from the kernel's own account, and only if there are
any."""
import os
import re
from pathlib import Path

import pytest
from record_support import build, record, run_cpprof

MEASURED = pytest.mark.measured("the last transfers of a process may follow the last reading of its account")

FILE_BYTES = 4 << 20
SAID = re.compile(r"(\d+) % of the (.*?) were not observed")

pytestmark = [
	pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="this kernel keeps no account of what processes transfer"),
	pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the account of a process that has ended"),
]


@pytest.fixture(scope="module", name="content")
def _content(tmp_path_factory):
	path = tmp_path_factory.mktemp("read") / "content"
	path.write_bytes(b"0123456789abcde\n" * (FILE_BYTES // 16))
	return path


def recorded_by(folder, command, *resources):
	words = [word for resource in resources for word in ("-r", resource)]
	recorded = record(folder, command, "--backend", "preload", *words)
	assert recorded.status == 0, recorded.err
	return recorded


def said(recorded):
	"""Returns {what: percent} of the findings. The closing line has one of them, if there is any."""
	found = {what: int(percent) for percent, what in SAID.findall(run_cpprof("info", recorded.path).stdout)}
	closing = re.findall(r"; (\d+) % of the (.*?) were not observed: ", recorded.err)
	assert len(closing) == min(len(found), 1) and all(found[what] == int(percent) for percent, what in closing), recorded.err
	return found


@pytest.mark.parametrize("ways, percent", [("f", 100), ("s", 100), ("fr", 50), ("frrr", 25), ("rkkf", 25)])
def test_streams_and_direct_calls(tmp_path, content, ways, percent):
	"""The reported percentage is the part of all bytes that went through unobserved calls."""
	reported = said(recorded_by(tmp_path, [build("unseen.c"), content, ways], "read-bytes"))
	assert set(reported) == {"bytes read"} and abs(reported["bytes read"] - percent) <= 1, reported


@pytest.mark.parametrize("ways", ["r", "k", "rp", "c", "rcccc"])
def test_what_is_seen(tmp_path, content, ways):
	"""No finding if all calls are observed; none for bytes of a child, which the account includes after a wait, nor for a
	program's few lines of output."""
	recorded = recorded_by(tmp_path, [build("unseen.c"), content, ways], "read-bytes", "write-bytes", "io-bytes", "io-calls")
	assert said(recorded) == {}


def test_threads(tmp_path, content):
	"""Threads are observed too, including those that have ended."""
	assert said(recorded_by(tmp_path, [build("unseen.c"), content, "r", "8"], "io-bytes", "io-calls")) == {}
	reported = said(recorded_by(tmp_path, [build("unseen.c"), content, "fr", "8"], "io-bytes", "read-bytes:requested"))
	assert abs(reported["bytes read and written"] - 50) <= 1 and abs(reported["bytes read"] - 50) <= 1, reported


def test_calls(tmp_path, content):
	"""The program makes equally many calls in both ways. Calls that open files are observed too."""
	reported = said(recorded_by(tmp_path, [build("unseen.c"), content, "fr"], "io-calls"))
	assert 47 <= reported["calls that read and write"] <= 50, reported


def test_after_a_child(tmp_path, content):
	"""After a child has ended, only the first thread's account is known: of five files, including the child's, one was read by a
	stream."""
	reported = said(recorded_by(tmp_path, [build("unseen.c"), content, "crrrf"], "read-bytes"))
	assert 19 <= reported["bytes read"] <= 21, reported


def test_a_failed_exec(tmp_path, content):
	"""After a failed exec the program continues, and its bytes are still reported."""
	reported = said(recorded_by(tmp_path, [build("unseen.c"), content, "ef"], "read-bytes"))
	assert reported == {"bytes read": 100}


def test_only_of_what_is_measured(tmp_path, content):
	assert said(recorded_by(tmp_path, [build("unseen.c"), content, "f"], "write-bytes", "cpu")) == {}


@pytest.mark.parametrize("environment", [os.environ, {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}], ids=["ours", "little"])
def test_what_starting_reads(tmp_path, environment):
	"""The C library reads names of locales, and of users if the environment has no SHELL. These bytes are not reported."""
	few = 'for i in 1 2 3 4 5 6; do bash -c "[ -e / ] && printf %2000s"; done'
	recorded = record(tmp_path, ["/bin/sh", "-c", few], "--backend", "preload", "-r", "read-bytes", "-r", "write-bytes", env=environment)
	assert recorded.status == 0 and said(recorded) == {}, recorded.err


@MEASURED
def test_scripts(tmp_path, content):
	"""The start of many short programs is not reported as unobserved."""
	script = f"for i in 1 2 3 4 5 6 7 8; do {build('unseen.c')} {content} r; done; exec {build('unseen.c')} {content} rr"
	assert said(recorded_by(tmp_path, ["/bin/sh", "-c", script], "read-bytes", "io-bytes")) == {}


def test_paused(tmp_path, content):
	"""While counting is paused, calls are still observed, so no bytes are reported."""
	recorded = record(tmp_path, [build("unseen.c"), content, "r"], "--paused", "--backend", "preload", "-r", "read-bytes")
	assert recorded.status == 0 and said(recorded) == {}, recorded.err
	assert Path(recorded.path).exists()
