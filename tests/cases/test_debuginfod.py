"""cpprof queries a server of debug information if, and only if, DEBUGINFOD_URLS names one."""
import http.server
import os
import shutil
import subprocess
import threading

import pytest
from record_support import build, hits, needs_perf, record, run_cpprof

pytestmark = needs_perf


class Server(http.server.ThreadingHTTPServer):
	"""Serves one debug file under its program's build-id, and records the requests."""

	def __init__(self, debug_file):
		self.asked = []
		self.debug_file = debug_file
		super().__init__(("127.0.0.1", 0), Handler)

	def url(self):
		return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
	def do_GET(self):
		self.server.asked.append(self.path)
		found = self.server.build_id in self.path and self.path.endswith("/debuginfo")
		body = self.server.debug_file.read_bytes() if found else b""
		self.send_response(200 if found else 404)
		self.send_header("Content-Length", str(len(body)))
		self.end_headers()
		self.wfile.write(body)

	def log_message(self, *_):
		pass


@pytest.fixture
def stripped(tmp_path):
	"""A program without symbols, and the debug file that holds them."""
	program, debug_file = tmp_path / "forms", tmp_path / "elsewhere"
	shutil.copy(build("forms.c"), program)
	subprocess.run(["objcopy", "--only-keep-debug", program, debug_file], check=True)
	subprocess.run(["strip", program], check=True)
	return program, debug_file


@pytest.fixture
def server(stripped):
	program, debug_file = stripped
	notes = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True).stdout
	with Server(debug_file) as running:
		running.build_id = notes.split("Build ID:")[1].split()[0]
		thread = threading.Thread(target=running.serve_forever)
		thread.start()
		yield running
		running.shutdown()
		thread.join()


def environment(tmp_path, **more):
	kept = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD")}
	return {**kept, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"), **more}


def test_asks_the_server_that_is_named(tmp_path, stripped, server):
	recorded = record(tmp_path, [stripped[0], "10"], env=environment(tmp_path, DEBUGINFOD_URLS=server.url()))
	assert recorded.status == 0, recorded.err
	assert any(server.build_id in path for path in server.asked), server.asked
	assert hits(recorded.paths(), "main", "db_read_record") > 0, run_cpprof("report", recorded.path).stdout


def test_asks_nobody_otherwise(tmp_path, stripped, server):
	recorded = record(tmp_path, [stripped[0], "10"], env=environment(tmp_path))
	assert recorded.status == 0, recorded.err
	assert server.asked == []
	assert hits(recorded.paths(), "db_read_record") == 0
