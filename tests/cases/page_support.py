"""Opens pages of `cpprof html` in a headless Chromium."""
import base64
import contextlib
import importlib.util
import json
import zlib

from cli_support import REPOSITORY, done
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

SECONDS_ALLOWED = 120
# The sandbox of Chromium does not run as root, and there is neither a graphics card nor, in containers, much shared memory.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900", "--lang=en")


class Browser:
	"""A page in a browser."""

	def __init__(self, driver):
		self.driver = driver

	def open(self, page, view="flame", **choices):
		"""Opens a page with these choices in its link, and waits until it shows them or reports a failure. `view` None: the first view."""
		self.driver.get("about:blank")
		link = "&".join(f"{key}={value}" for key, value in {"view": view, **choices}.items() if value is not None)
		self.driver.get(f"file://{page}#{link}")
		self.wait(lambda driver: driver.find_element(By.TAG_NAME, "body").get_attribute("data-ready") or self.all(".failure"))

	def wait(self, condition):
		# A page draws its elements anew while a condition reads them.
		WebDriverWait(self.driver, SECONDS_ALLOWED, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException]).until(condition)

	def all(self, selector):
		return self.driver.find_elements(By.CSS_SELECTOR, selector)

	def one(self, selector):
		found = self.all(selector)
		assert len(found) == 1, (selector, len(found), self.text())
		return found[0]

	def text(self):
		return self.driver.find_element(By.TAG_NAME, "body").text

	def button(self, name):
		found = [button for button in self.all("button") if button.text.strip() == name]
		assert found, (name, [button.text for button in self.all("button")])
		return found[0]

	def rows(self, selector="tbody tr"):
		"""The texts of the cells of each row of a table; of a name that is shortened, the full name in its tooltip."""
		return self.driver.execute_script(
			"return [...document.querySelectorAll(arguments[0])].map(row => [...row.children].map(cell => "
			"cell.querySelector('span[title]')?.title ?? cell.textContent))", selector)

	def settle(self):
		"""Waits until the page has drawn what it draws in the next frames: a view draws its table and its canvas when it knows their sizes."""
		self.driver.execute_async_script(
			"const done = arguments[0], next = left => left ? requestAnimationFrame(() => next(left - 1)) : done(); next(4);")

	def log(self):
		"""Returns the browser's complaints: scripts that failed, requests that the page's policy refused."""
		return [entry["message"] for entry in self.driver.get_log("browser")]

	def pixels(self, script, *arguments):
		"""Runs a script that reads pixels, and drops the browser's hint that this is slow."""
		found = self.driver.execute_script(script, *arguments)
		for entry in self.driver.get_log("browser"):
			assert "getImageData" in entry["message"], entry
		return found

	def requests(self):
		return self.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")

	@contextlib.contextmanager
	def window(self, width, height):
		"""A window of this size, in pixels."""
		self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
			{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
		try:
			yield
		finally:
			self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

	@contextlib.contextmanager
	def media(self, scheme, kind=""):
		"""A person who prefers this colour scheme; kind "print" is paper."""
		features = [{"name": "prefers-color-scheme", "value": scheme}]
		self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})
		try:
			yield
		finally:
			self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})

	def eventually(self, condition):
		try:
			self.wait(lambda _: condition())
		except TimeoutException:
			assert condition(), self.text()


@contextlib.contextmanager
def browser():
	options = Options()
	options.binary_location = "/usr/bin/chromium"
	for flag in FLAGS:
		options.add_argument(flag)
	options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
	driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
	try:
		yield Browser(driver)
	finally:
		driver.quit()


def percent(fraction, error=0):
	"""The form of a share in the page."""
	return f"{fraction * 100:.1f} %" + (f" ±{error * 100:.1f}" if error else "")


def results(text):
	return json.loads(text)["results"]


def corpus():
	"""The module that writes lanes as src/ui/page/lanes.h describes them."""
	spec = importlib.util.spec_from_file_location("corpus_page", REPOSITORY / "tests/fuzz/corpus_page.py")
	module = importlib.util.module_from_spec(spec)
	spec.loader.exec_module(module)
	return module


def with_lanes(page, lanes):
	"""Gives a page these lanes."""
	text = page.read_text()
	part = f'<script type="text/plain">{base64.b64encode(zlib.compress(lanes)).decode()}</script>'
	data = f'<div hidden id="events" data-bytes="{len(lanes)}">{part}</div>\n'
	at = text.rindex("<script>")
	page.write_text(text[:at] + data + text[at:])
	return page


def check_legend(opened, path, *words):
	"""The legend has the modules with boxes, at most eight, each with the share of the hits that end in it."""
	def entries(*kind):
		return results(done("report", "--format", "json", *kind, *words, "--threshold", "0", "--limit", "0", path))[0]["entries"]
	own = {entry["path"][0]: entry["fraction"] for entry in entries("--body", "--by", "module")}
	modules = [entry["path"][0] for entry in entries("--modules")]
	shown = [entry.text for entry in opened.all(".legend-entry")]
	assert len(shown) == min(len(modules), 8) and set(shown) <= {f"{name} own {percent(own.get(name, 0))}" for name in modules}, shown
