"""Fixtures that several test files use."""
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from cli_support import done, make_profiles
from clickhouse_support import ClickHouse, ClickHouseStore, SqliteStore
from record_support import build

# Below nohup, a hangup must not end the tests, but the programs that they start must have the default: an ignored signal is inherited, a handler is not.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
	signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(scope="session")
def profiles():
	"""A directory with the profiles that make_profiles() makes: NAME.data. Everybody may read it, because the users of their processes are
	not known, and root then reads only such sources."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-", dir="/tmp") as name:
		directory = Path(name)
		directory.chmod(0o755)
		make_profiles(directory)
		yield directory


@pytest.fixture
def folded_bytes(tmp_path):
	"""A directory with bytes.data: two functions have names that are not UTF-8."""
	(tmp_path / "bytes.folded").write_bytes(b"main;f\xff\xfeg;\xc3\xbc\xc3 3\n")
	done("import", "-o", "bytes.data", "bytes.folded", directory=tmp_path)
	return tmp_path


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


@pytest.fixture(scope="module")
def chromium():
	from page_support import browser # the other tests do not need selenium
	with browser() as opened:
		opened.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "deny"})
		yield opened


@pytest.fixture(scope="module")
def pages(profiles, tmp_path_factory):
	"""Makes the page of profiles, once each."""
	folder, made = tmp_path_factory.mktemp("pages"), {}

	def page(*names):
		if names not in made:
			made[names] = folder / f"{'-'.join(names)}.html"
			done("html", "--source", *[f"{name}.data" for name in names], "-o", made[names], directory=profiles)
		return made[names]
	return page


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
	"""Makes the page of folded stacks, or of two."""
	def make(*texts):
		folder = tmp_path_factory.mktemp("page")
		for number, text in enumerate(texts):
			(folder / f"{number}.folded").write_text(text)
			done("import", "--format", "folded", "-o", folder / f"{number}.data", folder / f"{number}.folded")
		done("html", "-o", folder / "page.html", *[folder / f"{number}.data" for number in range(len(texts))])
		return folder / "page.html"
	return make


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory):
	"""A server of ClickHouse."""
	one = ClickHouse(tmp_path_factory.mktemp("clickhouse") / "server")
	yield one
	one.kill()


ON_CLICKHOUSE = pytest.param("clickhouse", marks=pytest.mark.needs("clickhouse-server"))


@pytest.fixture(params=["sqlite", ON_CLICKHOUSE])
def store(request, tmp_path):
	"""A store that does not exist yet, of each kind."""
	if request.param == "sqlite":
		return SqliteStore(tmp_path / "store.db")
	return ClickHouseStore(request.getfixturevalue("clickhouse"))


@pytest.fixture(scope="session", params=["sqlite", ON_CLICKHOUSE])
def filled_store(request, tmp_path_factory, profiles):
	"""A store with all recordings of `profiles`, each as the service of its name."""
	one = SqliteStore(tmp_path_factory.mktemp("store") / "store.db") if request.param == "sqlite" else \
		ClickHouseStore(request.getfixturevalue("clickhouse"))
	for path in profiles.glob("*.data"):
		done("store", "add", "--store", one, "--service", path.stem, path.name, directory=profiles)
	return one


@pytest.fixture
def open_path():
	"""A folder that every user can enter, for profiles whose users are not known: root then reads only the programs and sources in such folders."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-", dir="/tmp") as name:
		Path(name).chmod(0o755)
		yield Path(name)
