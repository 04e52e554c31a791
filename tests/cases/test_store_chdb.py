"""The SQL of stores on a current version of ClickHouse: a library of npm, of 559 MB."""
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from clickhouse_support import free_ports
from cli_support import done, run
from npm_support import CHDB
from store_support import add, names, without_suffixes

ALL = ("--limit", 0, "--threshold", 0)
pytestmark = [pytest.mark.needs("chdb"), pytest.mark.long("starts a library of 559 MB")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
	folder, (port,) = tmp_path_factory.mktemp("chdb"), free_ports(1)
	process = subprocess.Popen([sys.executable, Path(__file__).with_name("chdb_server.py"), CHDB, folder, str(port)])
	for _ in range(600):
		try:
			query(f"http://127.0.0.1:{port}", "SELECT 1")
			break
		except OSError:
			time.sleep(0.1)
	yield f"http://127.0.0.1:{port}"
	process.kill()
	process.wait()


def query(url, sql):
	with urllib.request.urlopen(f"{url}/", data=sql.encode(), timeout=60) as answer:
		return answer.read().decode()


def test_figures_of_the_files(profiles, server):
	store = f"{server}/figures"
	for name in names(profiles):
		add(profiles, store, name, service=name, label="x=1")
	assert f"recordings   {len(names(profiles))}\n" in done("store", "stats", "--store", store)
	for name in names(profiles):
		for report in ("--functions", "--tree", "--pages"):
			of_file = run("report", report, *ALL, name, directory=profiles)
			of_store = run("report", report, *ALL, "--store", store, "--service", name, directory=profiles)
			assert (of_store.returncode, without_suffixes(of_store.stdout)) == (of_file.returncode, without_suffixes(of_file.stdout)), name
	assert "is in the store already" in run("store", "add", "--store", store, "whole.data", directory=profiles).stderr
	assert "removed" in run("store", "prune", "--store", store, "--older-than", "0s").stderr
	assert query(server, "SELECT count() FROM figures.hits") == query(server, "SELECT count() FROM figures.touches") == "0\n"
	assert "recordings   0\n" in done("store", "stats", "--store", store)


def test_retention_is_the_servers(profiles, server):
	store = f"{server}/kept"
	done("store", "init", "--store", store, "--retention", "3d")
	for table, seconds in (("profiles", 3 * 86400), ("hits", 10 * 86400), ("touches", 10 * 86400), ("stacks", 12 * 86400), ("modules", 12 * 86400)):
		assert "TTL " in query(server, f"SHOW CREATE TABLE kept.{table}") and f"toIntervalSecond({seconds})" in query(server, f"SHOW CREATE TABLE kept.{table}")
	add(profiles, store, "whole.data")
	assert query(server, "SELECT count() FROM kept.profiles") in ("0\n", "1\n")
	query(server, "OPTIMIZE TABLE kept.profiles FINAL")
	assert query(server, "SELECT count() FROM kept.profiles") == "0\n" # it is years old
