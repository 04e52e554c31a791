"""The readers of other tools' formats, and a current ClickHouse, that tools/setup installs from tests/npm."""
import os
import subprocess
import time
from pathlib import Path

from cli_support import REPOSITORY

NPM = Path(os.environ.get("CPPROF_NPM", REPOSITORY / "build/npm")).resolve() / "node_modules"
PROFILER = NPM / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
SPEEDSCOPE = NPM / "speedscope/dist/release"
CHDB = NPM / "@chdb/lib-linux-x64-gnu/libchdb.so"
SECONDS_ALLOWED = 120


class Profiler:
	"""A session of profiler-cli, which loads a profile in a process of its own and answers questions."""

	def __init__(self, path, home):
		self.environment = {**os.environ, "HOME": str(home), "PROFILER_CLI_SESSION_DIR": str(home)}
		self.home = home
		loaded = self.run("load", path)
		# On a busy machine, `load` stops waiting before the session is ready. Its loading goes on.
		assert loaded.returncode == 0 or "did not become ready" in loaded.stderr, loaded.stderr
		end = time.monotonic() + SECONDS_ALLOWED
		while self.run("thread", "list", "--json").returncode != 0:
			assert time.monotonic() < end, loaded.stderr
			time.sleep(0.1)

	def run(self, *words):
		return subprocess.run(["node", PROFILER, *map(str, words)], capture_output=True, text=True, env=self.environment, cwd=self.home,
			timeout=SECONDS_ALLOWED, check=False)

	def ask(self, *words):
		result = self.run(*words)
		assert result.returncode == 0, result.stderr
		return result.stdout

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.run("stop", "--all")
