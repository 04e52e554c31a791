"""Fixtures that several test files use, and the repetition of measurements that other processes may disturb.

A test with the mark `measured(reason)` compares times, or counts within a period, with those of another clock or another recording.
A process that runs meanwhile changes them by any amount, so no tolerance excludes it. The mark's reason states what is disturbed.
On a machine that disturbs one recording in a hundred, three independent recordings are all disturbed in one of a million tests,
whereas a defect of the product fails all three. Shares of samples need no repetition: record_support.py compares them with exact
binomial tails.
"""
import subprocess
from pathlib import Path

import pytest
from cli_support import done, make_profiles
from clickhouse_support import ClickHouse, ClickHouseStore, SqliteStore
from record_support import build


ATTEMPTS = 3


def pytest_configure(config):
	config.addinivalue_line("markers", "measured(reason): is tried up to three times, because of the reason")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
	marker = pyfuncitem.get_closest_marker("measured")
	if marker is None:
		return None
	assert marker.args and isinstance(marker.args[0], str), "the mark `measured` needs its reason"
	names = pyfuncitem._fixtureinfo.argnames
	# The first attempt may have ended a process that a fixture started, so such a test has one attempt.
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
	"""Returns a new empty folder in the place of a folder, and any other value unchanged."""
	if isinstance(value, Path) and value.is_dir():
		folder = value / f"attempt{attempt + 1}"
		folder.mkdir()
		return folder
	return value


@pytest.fixture(scope="session")
def profiles(tmp_path_factory):
	"""A directory with the profiles that make_profiles() makes: NAME.data."""
	directory = tmp_path_factory.mktemp("profiles")
	make_profiles(directory)
	return directory


@pytest.fixture
def server():
	"""A process that runs before cpprof attaches to it. A test may end it."""
	process = subprocess.Popen([build("server.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert process.stdout.readline() == "ready\n"
	yield process
	if process.poll() is None:
		process.kill()
	process.wait()
	process.stdin.close()
	process.stdout.close()


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory):
	"""A server of ClickHouse."""
	one = ClickHouse(tmp_path_factory.mktemp("clickhouse") / "server")
	yield one
	one.kill()


@pytest.fixture(params=["sqlite", "clickhouse"])
def store(request, tmp_path):
	"""A store that does not exist yet, of each kind."""
	if request.param == "sqlite":
		return SqliteStore(tmp_path / "store.db")
	return ClickHouseStore(request.getfixturevalue("clickhouse"))


@pytest.fixture(scope="session", params=["sqlite", "clickhouse"])
def filled_store(request, tmp_path_factory, profiles):
	"""A store with all recordings of `profiles`, each as the service of its name."""
	one = SqliteStore(tmp_path_factory.mktemp("store") / "store.db") if request.param == "sqlite" else \
		ClickHouseStore(request.getfixturevalue("clickhouse"))
	for path in profiles.glob("*.data"):
		done("store", "add", "--store", one, "--service", path.stem, path.name, directory=profiles)
	return one
