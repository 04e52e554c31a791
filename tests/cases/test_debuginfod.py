"""cpprof downloads debug files from a server if, and only if, DEBUGINFOD_URLS names one; a failure is a finding, and never ends a recording."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import pytest
from debuginfod_support import Server, Stripped, build_id_of, environment
from record_support import CPPROF, SECONDS_ALLOWED, Recorded, build, hits, needs_perf, record, run_cpprof
from user_support import NOBODY, open_folder

pytestmark = needs_perf


@pytest.fixture
def stripped(tmp_path):
	return Stripped(tmp_path)


@pytest.fixture
def server(stripped):
	with Server(stripped.debug_file, stripped.build_id) as running:
		yield running


def record_with(tmp_path, stripped, server, **more):
	recorded = record(tmp_path, [stripped.program, "10"], env=environment(tmp_path, DEBUGINFOD_URLS=server.url(), **more))
	assert recorded.status == 0, recorded.err
	return recorded


def has_names(path):
	return hits(Recorded(subprocess.CompletedProcess([], 0, "", ""), path).paths(), "main", "db_read_record") > 0


def texts(path, code):
	info = Recorded(subprocess.CompletedProcess([], 0, "", ""), path).info()
	return [finding["text"] for finding in info["findings"] if finding["code"] == code]


# --- the ways to names ---

def test_record_asks_the_server_that_is_named(tmp_path, stripped, server):
	recorded = record_with(tmp_path, stripped, server)
	assert any(server.build_id in path for path in server.asked), server.asked
	assert has_names(recorded.path), run_cpprof("report", recorded.path).stdout
	assert not texts(recorded.path, "names-missing") and not texts(recorded.path, "downloads-failed")


def test_record_asks_nobody_otherwise(tmp_path, stripped, server):
	recorded = record(tmp_path, [stripped.program, "10"], env=environment(tmp_path))
	assert recorded.status == 0, recorded.err
	assert server.asked == []
	assert hits(recorded.paths(), "db_read_record") == 0


def test_attached(tmp_path, stripped, server):
	"""The names of a process that was running already."""
	with subprocess.Popen([stripped.program, "600000"], stdout=subprocess.DEVNULL) as process:
		try:
			result = run_cpprof("record", "-o", tmp_path / "out.data", "-p", process.pid, "--duration", "1",
				env=environment(tmp_path, DEBUGINFOD_URLS=server.url()))
		finally:
			process.kill()
	assert result.returncode == 0, result.stderr
	assert has_names(tmp_path / "out.data"), result.stderr


def record_and_kill(folder, program):
	"""Returns a profile whose recorder was killed before it wrote names."""
	path = folder / "out.data"
	with subprocess.Popen([CPPROF, "record", "-o", path, program, "600000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
			start_new_session=True, env=environment(folder)) as process:
		try:
			while not path.exists() or not run_cpprof("export", "--format", "folded", path, env=environment(folder)).stdout:
				assert process.poll() is None
		finally:
			os.killpg(process.pid, signal.SIGKILL)
	return path


def test_report_of_a_killed_recording(tmp_path, stripped, server):
	"""report names what the recorder did not, with the files of the server."""
	path = record_and_kill(tmp_path, stripped.program)
	assert server.asked == []
	shown = run_cpprof("report", "--functions", path, env=environment(tmp_path, DEBUGINFOD_URLS=server.url()))
	assert "db_read_record" in shown.stdout and server.asked


def test_a_cached_file_needs_no_server(tmp_path, stripped, server):
	record_with(tmp_path, stripped, server)
	before = len(server.asked)
	assert has_names(record_with(tmp_path, stripped, server).path)
	assert len(server.asked) == before


def await_file(url, build_id):
	"""Waits until the server has read the folder with the file."""
	deadline = time.monotonic() + SECONDS_ALLOWED
	while time.monotonic() < deadline:
		try:
			with urllib.request.urlopen(f"{url}/buildid/{build_id}/debuginfo", timeout=SECONDS_ALLOWED) as answer:
				answer.read()
				return
		except OSError:
			time.sleep(0.1)
	raise AssertionError("debuginfod does not find its file")


@pytest.mark.needs("debuginfod")
def test_a_server_of_elfutils(tmp_path, stripped):
	"""The same with debuginfod itself."""
	program = shutil.which("debuginfod")
	folder = tmp_path / "files"
	folder.mkdir()
	shutil.copy(stripped.debug_file, folder / "forms.debug")
	with socket.socket() as free:
		free.bind(("127.0.0.1", 0))
		port = free.getsockname()[1]
	with subprocess.Popen([program, "-d", ":memory:", "-p", str(port), "-F", str(folder)], stdout=subprocess.DEVNULL,
			stderr=subprocess.DEVNULL, env=environment(tmp_path)) as process:
		try:
			await_file(f"http://127.0.0.1:{port}", stripped.build_id)
			result = record(tmp_path, [stripped.program, "10"], env=environment(tmp_path, DEBUGINFOD_URLS=f"http://127.0.0.1:{port}"))
		finally:
			process.kill()
	assert has_names(result.path), result.err


# --- failures ---

@pytest.mark.parametrize("behaviour", ["missing", "broken"])
def test_a_file_that_no_server_has(tmp_path, stripped, server, behaviour):
	server.behaviour = behaviour
	recorded = record_with(tmp_path, stripped, server)
	assert not has_names(recorded.path)
	assert texts(recorded.path, "debug-files-lacking") and not texts(recorded.path, "downloads-failed")
	assert "not downloaded" not in recorded.err


def test_no_server_is_there(tmp_path, stripped, server):
	address = server.url()
	server.socket.close()
	recorded = record(tmp_path, [stripped.program, "10"], env=environment(tmp_path, DEBUGINFOD_URLS=address))
	assert recorded.status == 0
	assert re.search("debug files? w(as|ere) not downloaded: the server cannot be reached", recorded.err), recorded.err
	assert texts(recorded.path, "downloads-failed")


@pytest.mark.parametrize("behaviour", ["stalls", "hangs"])
def test_a_server_that_stops(tmp_path, stripped, server, behaviour):
	"""Nothing arrives any more: the download is given up, and no further file is requested."""
	server.behaviour = behaviour
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_TIMEOUT="1")
	assert "not downloaded: nothing arrived for 1 s" in recorded.err
	assert not has_names(recorded.path)
	assert len([path for path in server.asked if server.build_id in path]) == 1


def test_all_the_time_is_over(tmp_path, stripped, server):
	server.behaviour = "hangs"
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_MAXTIME="1")
	assert re.search("not downloaded: (it took more than 1 s|the server is too slow)", recorded.err), recorded.err


def test_after_a_failure_the_next_attempt_asks_again(tmp_path, stripped, server):
	"""elfutils notes that a file is missing before it has an answer, and would not ask for ten minutes."""
	server.behaviour = "stalls"
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_TIMEOUT="1")
	server.behaviour = "ok"
	assert run_cpprof("name", recorded.path, env=environment(tmp_path, DEBUGINFOD_URLS=server.url())).returncode == 0
	assert has_names(recorded.path)


def test_a_file_that_is_too_large(tmp_path, stripped, server):
	with open(stripped.debug_file, "ab") as file:
		file.truncate(3 << 20)
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_MAXSIZE=str(1 << 20))
	assert "not downloaded: a file is larger than DEBUGINFOD_MAXSIZE" in recorded.err
	assert not has_names(recorded.path)


def test_a_file_of_another_build(tmp_path, stripped, server):
	"""A server may answer with anything: the build-id in the file counts."""
	other = tmp_path / "other"
	shutil.copy(build("forms.c", level="-O1"), other)
	assert build_id_of(other) != stripped.build_id
	server.debug_file = other
	recorded = record_with(tmp_path, stripped, server)
	assert server.asked and not has_names(recorded.path)
	assert texts(recorded.path, "names-missing")


def test_a_file_that_is_none(tmp_path, stripped, server):
	stripped.debug_file.write_bytes(b"<html>try later</html>" * 100)
	assert not has_names(record_with(tmp_path, stripped, server).path)
	assert server.asked


def test_without_the_library(tmp_path, stripped, server):
	"""libdebuginfod is not needed unless a server is named; then its absence is the reason."""
	folder = tmp_path / "lib"
	folder.mkdir()
	(folder / "libdebuginfod.so.1").write_bytes(b"no library")
	recorded = record_with(tmp_path, stripped, server, LD_LIBRARY_PATH=str(folder))
	assert "not downloaded: libdebuginfod.so.1 is not installed" in recorded.err, recorded.err
	assert server.asked == []


def test_a_cache_that_cannot_be_made(tmp_path, stripped, server):
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_CACHE_PATH="/proc/nowhere/cache")
	assert "not downloaded: cannot make the cache '/proc/nowhere/cache': No such file or directory" in recorded.err, recorded.err
	assert server.asked == []


@pytest.mark.skipif(os.geteuid() != 0, reason="root has this check")
def test_root_uses_no_cache_of_others(tmp_path, stripped, server):
	open_to_all = tmp_path / "open"
	open_to_all.mkdir()
	open_to_all.chmod(0o777)
	recorded = record_with(tmp_path, stripped, server, DEBUGINFOD_CACHE_PATH=str(open_to_all / "cache"))
	assert "which others may change" in recorded.err
	assert server.asked == [] and not has_names(recorded.path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be under sudo")
def test_under_sudo_the_cache_is_the_callers(tmp_path, stripped, server):
	with open_folder() as folder:
		cache = folder / "own"
		recorded = record_with(tmp_path, stripped, server, SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY), DEBUGINFOD_CACHE_PATH=str(cache))
		assert has_names(recorded.path), recorded.err
		assert {path.stat().st_uid for path in cache.rglob("*")} == {NOBODY}


# --- waiting ---

def interrupted(tmp_path, stripped, server, send):
	"""Records until the server has a request, calls `send` with the recorder, and returns what the recorder printed."""
	server.behaviour = "hangs"
	with subprocess.Popen([CPPROF, "record", "-o", tmp_path / "out.data", stripped.program, "10"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
			text=True, start_new_session=True, env=environment(tmp_path, DEBUGINFOD_URLS=server.url())) as process:
		assert server.requested.wait(SECONDS_ALLOWED)
		send(process)
		error = process.communicate(timeout=SECONDS_ALLOWED)[1]
		assert process.returncode == 0, error
	return error


def test_interrupt_ends_the_download_only(tmp_path, stripped, server):
	"""^C while files are downloaded: the profile is written, with the names that are there."""
	error = interrupted(tmp_path, stripped, server, lambda process: os.killpg(process.pid, signal.SIGINT))
	assert "not downloaded: it was interrupted" in error
	assert texts(tmp_path / "out.data", "names-missing")
	assert not list((tmp_path / "cache").rglob("debuginfo*")), "the temporary file is left"


def test_a_request_to_end_ends_the_download_too(tmp_path, stripped, server):
	"""The recorder alone gets the signal, as from a service manager."""
	error = interrupted(tmp_path, stripped, server, lambda process: process.send_signal(signal.SIGTERM))
	assert "not downloaded: it was interrupted" in error
	assert run_cpprof("info", tmp_path / "out.data").returncode == 0


def test_a_terminal_shows_the_download(tmp_path, stripped, server):
	server.behaviour = "stalls"
	master, slave = os.openpty()
	with subprocess.Popen([CPPROF, "record", "-o", tmp_path / "out.data", stripped.program, "10"], stdout=subprocess.DEVNULL, stderr=slave,
			start_new_session=True, env=environment(tmp_path, DEBUGINFOD_URLS=server.url())) as process:
		os.close(slave)
		seen = b""
		while b"downloading the debug symbols of forms (" not in seen:
			seen += os.read(master, 4096)
		os.killpg(process.pid, signal.SIGINT)
		try:
			while more := os.read(master, 4096):
				seen += more
		except OSError:
			pass # the end of a terminal's output
	os.close(master)
	assert re.search(rb"\rdownloading the debug symbols of forms \(0.0 of 0.0 MB\) ... \d+ s", seen), seen
	assert b"it was interrupted" in seen
