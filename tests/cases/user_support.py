"""Tests that run programs as another user: in a folder that every user can enter, wherever the clone and the build are."""
import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from record_support import BUILD, CPPROF

NOBODY = 65534
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
is_root = os.geteuid() == 0
only_root = pytest.mark.skipif(not is_root, reason="only root can become another user")


def as_user(user=NOBODY):
	"""Returns the words that start a command as this user; none if we are not root, who alone can change the user."""
	return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"] if is_root else []


@contextlib.contextmanager
def open_folder(*programs):
	"""A folder that every user can enter. bin/ has copies of cpprof, of its libraries and of these programs; own/ belongs to nobody."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-", dir="/tmp") as name:
		folder = Path(name)
		folder.chmod(0o755)
		(folder / "bin").mkdir(mode=0o755)
		for file in (CPPROF, *(BUILD / "src/collect/agent").glob("lib*.so*"), *programs):
			if Path(file).is_file():
				shutil.copy(file, folder / "bin", follow_symlinks=False)
		(folder / "own").mkdir()
		if is_root:
			os.chown(folder / "own", NOBODY, NOBODY)
		yield folder


def unprivileged(folder, *words, launcher=(), **options):
	"""Runs the copied cpprof in own/ as the user nobody, or as the current user if that is not root."""
	command = [*as_user(), *launcher, folder / "bin/cpprof", *words]
	return subprocess.run([*map(str, command)], cwd=folder / "own", capture_output=True, text=True, check=False, timeout=60, **options)


@contextlib.contextmanager
def paranoid(level):
	"""Sets kernel.perf_event_paranoid, and restores it in any case. Other tests that set it wait, also in another process."""
	# Another user's file cannot be opened for writing here.
	with open(os.open("/tmp/cpprof-test-paranoid.lock", os.O_RDONLY | os.O_CREAT, 0o644), "rb") as lock:
		fcntl.flock(lock, fcntl.LOCK_EX)
		before = PARANOID.read_text()
		if int(before) != level:
			try:
				PARANOID.write_text(f"{level}\n")
			except OSError as error:
				pytest.skip(f"perf_event_paranoid is {before.strip()} and cannot be set to {level} here: {error}")
		try:
			yield
		finally:
			if int(before) != level:
				PARANOID.write_text(before)
