"""A server on this machine that keeps each request and answers as the test requests."""
import http.server
import threading


class Server:
	"""`answers`: (status, headers, body) for each request in turn; None closes the connection without an answer. The last one goes on."""

	def __init__(self, *answers):
		self.answers, self.requests = list(answers) or [(200, {}, "")], []
		outer = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def do_POST(self):
				body = self.rfile.read(int(self.headers["Content-Length"]))
				outer.requests.append((self.path, dict(self.headers), body))
				answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
				if answer is None:
					self.close_connection = True
					return
				status, headers, text = answer
				self.send_response(status)
				for name, value in headers.items():
					self.send_header(name, value)
				self.send_header("Content-Length", str(len(text.encode())))
				self.end_headers()
				self.wfile.write(text.encode())

			def log_message(self, *_):
				pass

		self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		self.thread = threading.Thread(target=self.server.serve_forever)

	@property
	def url(self):
		return f"http://127.0.0.1:{self.server.server_address[1]}"

	def __enter__(self):
		self.thread.start()
		return self

	def __exit__(self, *_):
		self.server.shutdown()
		self.thread.join()
		self.server.server_close()
