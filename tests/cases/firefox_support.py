"""Opens pages of `cpprof html` in a headless Firefox, by its own protocol (Marionette): Debian has no geckodriver, which selenium needs."""
import base64
import contextlib
import json
import socket
import subprocess
import tempfile
import time
from pathlib import Path

SECONDS_ALLOWED = 120
# Port 0: Firefox chooses a free one, and writes it into its profile's folder.
PREFERENCES = 'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'


class Firefox:
	"""A connection to a browser. A message is its length in decimal, a colon, and JSON."""

	def __init__(self, port):
		self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS_ALLOWED)
		self.received = b""
		self.sent = 0
		self.receive()  # the browser's greeting
		self.command("WebDriver:NewSession", capabilities={"alwaysMatch": {}})
		self.command("WebDriver:SetWindowRect", width=1280, height=900)

	def more(self):
		part = self.socket.recv(1 << 16)
		assert part, "Firefox has ended"
		self.received += part

	def receive(self):
		while b":" not in self.received:
			self.more()
		length, self.received = self.received.split(b":", 1)
		while len(self.received) < int(length):
			self.more()
		message, self.received = self.received[:int(length)], self.received[int(length):]
		return json.loads(message)

	def command(self, name, **parameters):
		self.sent += 1
		message = json.dumps([0, self.sent, name, parameters]).encode()
		self.socket.sendall(b"%d:%s" % (len(message), message))
		_, number, error, answer = self.receive()
		assert number == self.sent and error is None, (name, error)
		return answer

	def run(self, script):
		return self.command("WebDriver:ExecuteScript", script=script, args=[])["value"]

	def open(self, page, **choices):
		"""Opens a page with these choices in its link, and waits until it shows them or reports a failure."""
		self.command("WebDriver:Navigate", url="about:blank")
		link = "&".join(f"{key}={value}" for key, value in choices.items())
		self.command("WebDriver:Navigate", url=f"file://{page}#{link}")
		self.eventually("return Boolean(document.body.dataset.ready || document.querySelector('.failure'))")

	def eventually(self, condition):
		"""Waits until a script returns true."""
		end = time.monotonic() + SECONDS_ALLOWED
		while not self.run(condition):
			assert time.monotonic() < end, self.run("return document.body.innerText")
			time.sleep(0.05)

	def screenshot(self):
		return base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)["value"])


def port_of(process, profile):
	"""Waits until the browser has written its port."""
	found, end = Path(profile) / "MarionetteActivePort", time.monotonic() + SECONDS_ALLOWED
	while not (found.exists() and found.read_text().strip()):
		assert process.poll() is None and time.monotonic() < end, "Firefox does not start"
		time.sleep(0.05)
	return int(found.read_text())


@contextlib.contextmanager
def firefox():
	with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
		(Path(profile) / "user.js").write_text(PREFERENCES)
		process = subprocess.Popen(["/usr/bin/firefox-esr", "--headless", "--no-remote", "--profile", profile, "--marionette", "about:blank"],
			stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		try:
			yield Firefox(port_of(process, profile))
		finally:
			process.terminate()
			try:
				process.wait(SECONDS_ALLOWED)
			except subprocess.TimeoutExpired:
				process.kill()
				process.wait()
