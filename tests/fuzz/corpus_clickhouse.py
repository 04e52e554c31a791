#!/usr/bin/python3
"""Writes the corpus of fuzz_clickhouse: corpus_clickhouse.py CPPROF FOLDER URL. The URL is that of a server of ClickHouse, without a
database, as http://127.0.0.1:8123. A server in between keeps the answers to the requests of a selection."""
import http.server
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.request

cpprof, folder, server = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
folder.mkdir(parents=True, exist_ok=True)
answers = []


class Between(http.server.BaseHTTPRequestHandler):
	def do_POST(self):
		headers = {"Content-Type": self.headers["Content-Type"]}
		body = self.rfile.read(int(self.headers["Content-Length"]))
		with urllib.request.urlopen(urllib.request.Request(server + self.path, data=body, headers=headers)) as answer:
			answers.append(answer.read())
		self.send_response(200)
		self.send_header("Content-Length", str(len(answers[-1])))
		self.end_headers()
		self.wfile.write(answers[-1])

	def log_message(self, *_):
		pass


def query(sql, database="default"):
	with urllib.request.urlopen(f"{server}/?database={database}", data=sql.encode()) as answer:
		answer.read()


between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
threading.Thread(target=between.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as place:
	for name, text, words in (("whole", "main;f 1\nmain;g;h 7\n", ()), ("labels", "main;f 1\n", ("--label", "a=b")),
			("deep", ";".join("f" * 70) + " 3\n", ())):
		database, url = f"corpus_{name}", f"http://127.0.0.1:{between.server_address[1]}"
		query(f"DROP DATABASE IF EXISTS {database}")
		pathlib.Path(place, "a.folded").write_text(text)
		subprocess.run([cpprof, "import", "-o", "a.data", "a.folded"], cwd=place, check=True, stderr=subprocess.DEVNULL)
		subprocess.run([cpprof, "store", "add", "--store", f"{url}/{database}", *words, "a.data"], cwd=place, check=True, stderr=subprocess.DEVNULL)
		answers.clear()
		subprocess.run([cpprof, "report", "--store", f"{url}/{database}"], cwd=place, check=True, stdout=subprocess.DEVNULL)
		# The first two are about the tables.
		(folder / name).write_bytes(b"".join(struct.pack("<H", len(answer)) + answer for answer in answers[2:]))
		query(f"DROP DATABASE {database}")
between.shutdown()
