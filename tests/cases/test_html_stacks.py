"""The stack chart of the page, and the strip of threads above every view, of samples whose times the tests write."""
import pytest
from cli_support import done
from page_support import results
from selenium.webdriver.common.action_chains import ActionChains

pytestmark = pytest.mark.long("opens many pages in a browser")

MS = 1_000_000
# (thread, ms, stack): a sample each ms. The second thread begins the recording.
SAMPLES = [(101, 0, "main;other"), *((100, at, "main;f;x" if at < 3 else "main;f") for at in (1, 2, 3, 4)), (100, 5, "main;g"), (100, 6, "main;g"),
	(100, 20, "main;g"), (100, 21, "main;h;x"), (101, 22, "main;other")]


def page_of(folder, samples):
	"""Makes the page of samples, which perf's text states."""
	text = []
	for thread, at, stack in samples:
		text.append(f"app 100/{thread} [000] {10 + at / 1000:.6f}: {MS} cpu-clock: \n")
		text += [f"\t{1000 + sum(name.encode()):x} {name} (/bin/app)\n" for name in reversed(stack.split(";"))]
		text.append("\n")
	(folder / "in.txt").write_text("".join(text))
	done("import", "--format", "perf-script", "-o", "a.data", "in.txt", directory=folder)
	done("html", "-o", "page.html", "a.data", directory=folder)
	return folder / "page.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
	return page_of(tmp_path_factory.mktemp("stacks"), SAMPLES)


def boxes(chromium):
	"""{(name, start in ms, duration in ms, depth)} of the chart's table."""
	chromium.eventually(lambda: chromium.rows())
	def ms(text):
		number, unit = text.split()
		return round(float(number) * {"s": 1000, "ms": 1}[unit], 3)
	return {(name, ms(start), ms(duration), int(depth)) for name, _, start, duration, depth in chromium.rows()}


def test_equal_frames_are_one_box(chromium, page):
	"""The busiest thread is shown. Frames that one sample after the other has are one box; it goes on where the thread has no samples."""
	chromium.open(page, view="timeline")
	assert boxes(chromium) == {("main", 0, 21, 0), ("f", 0, 4, 1), ("x", 0, 2, 2), ("g", 4, 16, 1), ("h", 20, 1, 1), ("x", 20, 1, 2)}
	assert "The busiest of 2 threads" in chromium.text() and "Lower detail" not in chromium.text()
	chromium.open(page, view="timeline", thread="101")
	assert boxes(chromium) == {("main", 0, 22, 0), ("other", 0, 22, 1)}
	chromium.open(page, view="timeline", **{"from": "0.0045", "to": "0.0205"})
	assert boxes(chromium) == {("main", 4.5, 15.5, 0), ("g", 4.5, 15.5, 1)}


FADED = """
const canvas = document.querySelector(".lanes"), context = canvas.getContext("2d");
return arguments[0].map(part => [...context.getImageData(Math.round(canvas.width * part), arguments[1], 1, 1).data].slice(0, 3));
"""


def test_time_without_samples_is_faded(chromium, page):
	"""At 2 and at 5 ms the thread has samples, and main has one colour; at 12 ms it has none."""
	chromium.open(page, view="timeline")
	boxes(chromium)
	main = 20 + 18 + 8 + 14 # below the times, the thread's name and the samples: the last rows of main's box, below its name
	early, late, without = chromium.pixels(FADED, [2.5 / 21, 5.5 / 21, 12.5 / 21], main)
	assert early == late != without


def test_the_strip_is_above_every_view(chromium, page):
	"""A click on a thread selects it in every view, a second one or Back all; a drag selects a time. The strip stays where a page is scrolled."""
	report = results(done("report", "--format", "json", "--threads", "a.data", directory=page.parent))[0]
	hits = {entry["tid"]: entry["hits"] for entry in report["entries"]}
	for view in ("flame", "functions", "sandwich", "tree", "timeline", "source", "whatif", "threads", "findings"):
		chromium.open(page, view=view)
		assert [button.text for button in chromium.all(".strip .thread-names button")] == ["app 101", "app 100"], view
	chromium.open(page, view="functions")
	thread = chromium.all(".strip .thread-names button")[0]
	thread.click()
	chromium.eventually(lambda: max(int(row[3]) for row in chromium.rows()) == hits[101])
	assert [button.get_attribute("aria-pressed") for button in chromium.all(".strip .thread-names button")] == ["true", "false"]
	chromium.button("Stack chart").click()
	assert ("other", 0, 22, 1) in boxes(chromium)
	chromium.driver.back()
	chromium.driver.back()
	chromium.eventually(lambda: "thread=" not in chromium.driver.current_url and max(int(row[3]) for row in chromium.rows()) == sum(hits.values()))
	strip = chromium.one(".strip svg")
	ActionChains(chromium.driver).move_to_element_with_offset(strip, 0, strip.size["height"] // 2 - 8).click().perform()
	chromium.eventually(lambda: max(int(row[3]) for row in chromium.rows()) == hits[100])
	strip = chromium.one(".strip svg")
	width = strip.size["width"]
	ActionChains(chromium.driver).move_to_element_with_offset(strip, width // 4, 0).click_and_hold().move_by_offset(width // 4 - 2, 0).release().perform()
	chromium.eventually(lambda: max(int(row[3]) for row in chromium.rows()) == 2) # of thread 100, the samples at 20 and 21 ms
	with chromium.window(800, 300):
		chromium.open(page, view="findings")
		chromium.driver.execute_script("scrollTo(0, document.body.scrollHeight)")
		top, scrolled = chromium.driver.execute_script("return [document.querySelector('.strip').getBoundingClientRect().top, scrollY]")
		assert scrolled > 200 and -1 <= top < 10
	assert chromium.log() == []


def test_many_samples_have_lower_detail(chromium, tmp_path):
	"""A page with more hits than COMPACT_HITS has rounded times: a box has what most samples of a step share, and the view states it."""
	count = (1 << 18) + 10
	chromium.open(page_of(tmp_path, [(100, at / 10, "main;often" if at % 3 else "main;seldom") for at in range(count)]), view="timeline")
	chromium.eventually(lambda: chromium.rows())
	assert "Lower detail: a box has the functions that more than half of the samples of " in chromium.text()
	shown = chromium.rows()
	assert sorted(row[0] for row in shown) == ["main", "often"] and shown[0][3] == shown[1][3]
