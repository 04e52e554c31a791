"""Tests of what was measured may be wrong by chance: a share is off by more than 4 standard errors once in 16,000
comparisons, of which there are hundreds, and a machine that is taken away for a while is off by more. What is wrong in the
product is wrong each time. So a test marked `measured` fails only if it fails with three recordings."""
import subprocess
from pathlib import Path

import pytest
from cli_support import make_profiles
from record_support import build

ATTEMPTS = 3


def pytest_configure(config):
	config.addinivalue_line("markers", "measured: compares what was measured; is tried up to three times")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
	if pyfuncitem.get_closest_marker("measured") is None:
		return None
	names = pyfuncitem._fixtureinfo.argnames
	# A process that a fixture started has been used up.
	is_once = any(isinstance(pyfuncitem.funcargs[name], subprocess.Popen) for name in names)
	first_error = None
	for attempt in range(1 if is_once else ATTEMPTS):
		arguments = {name: pyfuncitem.funcargs[name] for name in names}
		if attempt > 0:
			arguments = {name: again(value, attempt) for name, value in arguments.items()}
		try:
			pyfuncitem.obj(**arguments)
			return True
		except AssertionError as error:
			first_error = first_error or error
			pyfuncitem.add_report_section("call", f"attempt {attempt + 1}", str(error))
	raise first_error


def again(value, attempt):
	"""A folder that is empty again, a recording that is made again."""
	if hasattr(value, "again"):
		return value.again()
	if isinstance(value, Path) and value.is_dir():
		folder = value / f"attempt{attempt + 1}"
		folder.mkdir()
		return folder
	return value


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
