"""A debuginfod server in this process, that can behave badly, and a stripped program whose debug file it has."""
import http.server
import os
import shutil
import subprocess
import threading
from pathlib import Path

from record_support import build


class Server(http.server.ThreadingHTTPServer):
	"""Serves one debug file under its program's build-id, and records the requests.

	`behaviour` is one of: ok, missing (404), broken (500), stalls (after the first bytes), hangs (no answer)."""

	daemon_threads = True
	block_on_close = False

	def __init__(self, debug_file, build_id, behaviour="ok"):
		self.asked = []
		self.debug_file, self.build_id, self.behaviour = Path(debug_file), build_id, behaviour
		self.requested, self.released = threading.Event(), threading.Event()
		super().__init__(("127.0.0.1", 0), Handler)

	def url(self):
		return f"http://127.0.0.1:{self.server_address[1]}"

	def __enter__(self):
		self.thread = threading.Thread(target=self.serve_forever, args=[0.01])
		self.thread.start()
		return self

	def __exit__(self, *_):
		self.released.set()
		self.shutdown()
		self.thread.join()
		self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
	def do_GET(self):
		server = self.server
		server.asked.append(self.path)
		found = server.build_id in self.path and self.path.endswith("/debuginfo") and server.behaviour != "missing"
		body = server.debug_file.read_bytes() if found else b""
		server.requested.set()
		if found and server.behaviour == "hangs":
			server.released.wait()
			return
		self.send_response(500 if server.behaviour == "broken" else 200 if found else 404)
		self.send_header("Content-Length", str(len(body)))
		self.end_headers()
		if found and server.behaviour == "stalls":
			self.wfile.write(body[:2000])
			self.wfile.flush()
			server.released.wait()
			return
		self.wfile.write(body)

	def log_message(self, *_):
		pass


def build_id_of(path):
	notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
	return notes.split("Build ID:")[1].split()[0]


class Stripped:
	"""A program without symbols, and the debug file that has them, at a place where nobody finds it."""

	def __init__(self, folder, program=None):
		self.program, self.debug_file = folder / "forms", folder / "elsewhere"
		shutil.copy(program or build("forms.c"), self.program)
		subprocess.run(["objcopy", "--only-keep-debug", self.program, self.debug_file], check=True)
		subprocess.run(["strip", self.program], check=True)
		self.build_id = build_id_of(self.program)


def environment(folder, **more):
	"""The environment without the variables of debuginfod, but with these, and with a cache of its own."""
	kept = {name: value for name, value in os.environ.items() if not name.startswith(("DEBUGINFOD", "SUDO_"))}
	return {**kept, "DEBUGINFOD_CACHE_PATH": str(folder / "cache"), **more}
