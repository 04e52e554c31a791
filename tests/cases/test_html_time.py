"""The page of `cpprof html` of a trace, and its views over time: each figure is as in `export --format events` or `report`."""
import re

import pytest
from hooks_support import Counted, Program
from page_support import percent, results
from record_support import run_cpprof
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
	"""Returns (page, [(function, thread, start, duration in ns)] of the calls, as a stack machine of the test's own pairs the exported events)."""
	folder = tmp_path_factory.mktemp("trace")
	run = Counted(Program("mutual", "cyg").command, folder, "trace", name="trace.data")
	assert run.status == 0, run.err
	made = run_cpprof("html", "-o", folder / "page.html", run.path)
	assert made.returncode == 0, made.stderr
	calls, stacks = [], {}
	for line in run_cpprof("export", "--format", "events", run.path).stdout.splitlines():
		seconds, _, thread, kind, name = line.split(" ", 4)
		if kind == "enter":
			stacks.setdefault(thread, []).append((name, seconds))
		elif kind == "leave":
			entered, start = stacks[thread].pop()
			assert entered == name
			calls.append((name, thread, start, round((float(seconds) - float(start)) * 1e9)))
	return folder / "page.html", calls


def nanoseconds(text):
	"""The bounds of a duration as the page rounds it, to three digits."""
	number, unit = re.fullmatch(r"([0-9.]+) (s|ms|us|ns)", text).groups()
	exact = float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
	return exact * 0.99 - 1, exact * 1.01 + 1


def test_events_are_those_of_the_trace(chromium, trace):
	page, calls = trace
	chromium.open(page, view="events")
	chromium.eventually(lambda: chromium.rows())
	shown = chromium.rows()
	of_call = {(name, thread, start): duration for name, thread, start, duration in calls}
	assert shown and len(calls) > 10
	for name, thread, start, duration, _ in shown:
		least, most = nanoseconds(duration)
		assert least <= of_call[name, thread, start.removesuffix(" s")] <= most
	longest = max(calls, key=lambda call: call[3])
	assert shown[0][0] == longest[0]


def test_lanes_by_keyboard_and_link(chromium, trace):
	"""Keys choose a call and zoom to it; the link keeps the range; Escape shows everything again."""
	page, _ = trace
	chromium.open(page, view="events")
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: chromium.rows())
	canvas.send_keys(Keys.ARROW_RIGHT)
	canvas.send_keys(Keys.ARROW_DOWN)
	chosen = chromium.one(".box-text").text
	assert "depth 1" in chosen or "calls, the first" in chosen # which are less than a pixel apart if the trace lasted long
	canvas.send_keys(Keys.ENTER)
	chromium.eventually(lambda: "zoom=" in chromium.driver.current_url)
	assert chromium.one(".box-text").text == chosen
	for keys in ("", "+", "++", "-", "+++"): # halves and doubles the range: it may not be a whole number of nanoseconds
		chromium.one("canvas").send_keys(keys)
		link, caption = chromium.driver.current_url, chromium.one("caption").text
		chromium.driver.get("about:blank")
		chromium.driver.get(link)
		chromium.eventually(lambda: chromium.all("caption") and chromium.one("caption").text == caption)
	chromium.one("canvas").send_keys(Keys.ESCAPE)
	chromium.eventually(lambda: "zoom=" not in chromium.driver.current_url)
	assert chromium.one("caption").text != caption


def test_a_damaged_trace_is_reported(chromium, trace, tmp_path):
	text = trace[0].read_text()
	found = re.search(r'id="events"[^>]*><script type="text/plain">([^<]*)<', text)
	(tmp_path / "cut.html").write_text(text[:found.start(1)] + found[1][:len(found[1]) // 2 // 4 * 4] + text[found.end(1):])
	chromium.open(tmp_path / "cut.html")
	assert "cpprof cannot show this profile" in chromium.one(".failure").text


def test_a_profile_has_no_events(chromium, tmp_path):
	(tmp_path / "a.folded").write_text("main;f 3\n")
	assert run_cpprof("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded").returncode == 0
	assert run_cpprof("html", "-o", tmp_path / "a.html", tmp_path / "a.data").returncode == 0
	chromium.open(tmp_path / "a.html", view="events")
	assert [tab.text for tab in chromium.all(".tabs [aria-current=true]")] == ["Flame graph"]


def test_the_slider_predicts(chromium, tmp_path):
	"""A click on a box and each step of the slider show what `whatif` prints."""
	(tmp_path / "a.folded").write_text("main;f;g 30\nmain;f 50\nmain;h 20\n")
	assert run_cpprof("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded").returncode == 0
	assert run_cpprof("html", "-o", tmp_path / "a.html", tmp_path / "a.data").returncode == 0
	chromium.open(tmp_path / "a.html", view="whatif")
	assert not chromium.one("input[type=range]").is_enabled() and "A click chooses the path" in chromium.one(".box-text").text
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	top = canvas.location["y"]
	for key in (Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER):
		canvas.send_keys(key)
	chromium.eventually(lambda: chromium.one("input[type=range]").is_enabled())
	assert canvas.location["y"] == top
	slider = chromium.one("input[type=range]")
	assert chromium.one("strong").text == "main › f"
	for key, factor in ((Keys.HOME, 0), (Keys.END, 1), (Keys.ARROW_LEFT, 0.99)):
		slider.send_keys(key)
		answer = results(run_cpprof("whatif", "--format", "json", tmp_path / "a.data", f"main;f={factor}").stdout)[0]
		chromium.eventually(lambda: f"{percent(factor)} of what it costs" in chromium.text()) # pylint: disable=cell-var-from-loop
		error = answer["entries"][0]["error"] * (1 - factor)
		assert f"would take {percent(answer['predicted_total'], round(error, 6))} of" in chromium.one(".big").text
