#!/usr/bin/env python3
"""A current version of ClickHouse behind HTTP: chdb_server.py LIBRARY FOLDER PORT.

LIBRARY is libchdb.so of npm's @chdb/lib-linux-x64-gnu, ClickHouse as a library. This program answers requests as the server's HTTP interface
does, as far as cpprof needs it. The bytes of insertions and of the temporary table `ids` go through files, because the library splits
statements at `;`.
"""
import ctypes
import email
import email.policy
import http.server
import pathlib
import re
import sys
import threading
import urllib.parse

LIBRARY, FOLDER, PORT = ctypes.CDLL(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
POINTER = ctypes.c_void_p
for name, result, arguments in (("chdb_connect", POINTER, (ctypes.c_int, POINTER)), ("chdb_query", POINTER, (POINTER, ctypes.c_char_p, ctypes.c_char_p)),
		("chdb_result_buffer", POINTER, (POINTER,)), ("chdb_result_length", ctypes.c_size_t, (POINTER,)),
		("chdb_result_error", ctypes.c_char_p, (POINTER,)), ("chdb_destroy_query_result", None, (POINTER,))):
	function = getattr(LIBRARY, name)
	function.restype, function.argtypes = result, arguments
WORDS = [b"clickhouse", f"--path={FOLDER / 'data'}".encode()]
CONNECTION = ctypes.cast(LIBRARY.chdb_connect(len(WORDS), (ctypes.c_char_p * len(WORDS))(*WORDS)), ctypes.POINTER(POINTER))[0]


# The library has one connection, and the files have one name each.
TURN = threading.Lock()


class Failure(Exception):
	pass


def query(sql, form="TabSeparated"):
	result = LIBRARY.chdb_query(CONNECTION, sql.encode(), form.encode())
	error = LIBRARY.chdb_result_error(result)
	if error:
		LIBRARY.chdb_destroy_query_result(result)
		raise Failure(error.decode())
	answer = ctypes.string_at(LIBRARY.chdb_result_buffer(result), LIBRARY.chdb_result_length(result)) if LIBRARY.chdb_result_length(result) else b""
	LIBRARY.chdb_destroy_query_result(result)
	return answer


class Handler(http.server.BaseHTTPRequestHandler):
	protocol_version = "HTTP/1.1"

	def answer(self, body):
		parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
		sql, form = parameters.get("query", ""), "TabSeparated"
		if not sql:
			sql, body = body.decode(), b""
		query(f"USE {parameters.get('database', 'default')}")
		if "ids_format" in parameters:
			text = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body
			(FOLDER / "ids").write_bytes(email.message_from_bytes(text, policy=email.policy.HTTP).get_payload()[0].get_payload(decode=True))
			sql = re.sub(r"\bIN ids\b", f"IN (SELECT id FROM file('{FOLDER / 'ids'}', 'RowBinary', 'id UInt64'))", sql)
		elif body:
			(FOLDER / "rows").write_bytes(body)
			sql = re.sub(r" FORMAT RowBinary$", f" FROM INFILE '{FOLDER / 'rows'}' FORMAT RowBinary", sql)
		elif sql.endswith(" FORMAT RowBinary"):
			sql, form = sql.removesuffix(" FORMAT RowBinary"), "RowBinary"
		if sql.endswith(" FORMAT RowBinary") and sql.startswith("SELECT"):
			sql, form = sql.removesuffix(" FORMAT RowBinary"), "RowBinary"
		return query(sql, form)

	def do_POST(self):
		try:
			body = self.rfile.read(int(self.headers["Content-Length"]))
			with TURN:
				status, answer = 200, self.answer(body)
		except Failure as failure:
			status, answer = 500, str(failure).encode()
		self.send_response(status)
		self.send_header("Content-Length", str(len(answer)))
		self.end_headers()
		self.wfile.write(answer)

	def log_message(self, *_):
		pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
