"""The databases that tests make on servers of ClickHouse (tools/clickhouse_servers.py), and in files of SQLite."""
import itertools
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

from clickhouse_servers import SERVER, ClickHouse, cluster, free_ports  # noqa: E402, F401, others import them from here


class SqliteStore:
	kind = "sqlite"

	def __init__(self, path):
		self.path = path

	def __str__(self):
		return str(self.path)

	@property
	def url(self):
		return f"sqlite://{self.path}"

	def another(self, name):
		return SqliteStore(self.path.with_name(f"{name}.db"))


class ClickHouseStore:
	kind = "clickhouse"
	numbers = itertools.count()

	def __init__(self, server):
		self.server, self.database = server, f"t{os.getpid()}_{next(self.numbers)}"
		self.url = server.url(self.database)

	def __str__(self):
		return self.url

	def another(self, _name):
		return ClickHouseStore(self.server)

	def rows(self, sql):
		return self.server.query(sql, self.database)
