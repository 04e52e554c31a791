"""Fixtures of several files."""
import subprocess

import pytest
from cli_support import make_profiles
from record_support import build


@pytest.fixture(scope="session")
def profiles(tmp_path_factory):
	"""A directory with one profile for each input of tests/golden: NAME.data."""
	directory = tmp_path_factory.mktemp("profiles")
	make_profiles(directory)
	return directory


@pytest.fixture
def server():
	"""A process that was there before; a test may end it."""
	process = subprocess.Popen([build("server.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert process.stdout.readline() == "ready\n"
	yield process
	if process.poll() is None:
		process.kill()
	process.wait()
	process.stdin.close()
	process.stdout.close()
