"""The page of `cpprof html`: transforms of the call paths by menu, key and list, in the link, and undone by Back. Amounts are as in reports."""
import re
import urllib.parse

import pytest
from cli_support import done
from page_support import results
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from test_transforms import FOLDED

pytestmark = pytest.mark.long("opens pages in a browser")


@pytest.fixture(scope="module")
def page(page_of):
	return page_of(FOLDED)


def bodies(*transforms, page):
	options = [word for transform in transforms for word in ("--transform", transform)]
	entries = results(done("report", "--body", "--format", "json", "-t", 0, *options, page.parent / "0.data"))[0]["entries"]
	return {entry["path"][0]: entry["hits"] for entry in entries}


def shown_bodies(chromium):
	"""The last column of the view of functions."""
	chromium.eventually(lambda: chromium.rows())
	return {row[0]: int(row[4].replace(",", "")) for row in chromium.rows() if row[4] != "0"}


def transforms_of(chromium):
	link = urllib.parse.parse_qs(urllib.parse.urlparse(chromium.driver.current_url).fragment)
	return link.get("transform", [""])[0].split("\n")


def left(chromium):
	"""The hits that the line of transforms states: left, and all."""
	text = chromium.one(".transforms output").text
	return [int(number.replace(",", "")) for number in re.match(r"([\d,]+) of ([\d,]+) hits", text).groups()]


def choose_box(chromium, name):
	"""Moves to the box of a function with the arrow keys."""
	canvas = chromium.all("canvas")[0]
	chromium.eventually(lambda: canvas.size["height"] > 30)
	text = chromium.one(".box-text")
	for key in [Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_LEFT, *[Keys.ARROW_DOWN] * 4]:
		canvas.send_keys(key)
		if text.text.startswith(name + " "):
			return canvas
	raise AssertionError(text.text)


def test_a_key_transforms_by_the_chosen_box(chromium, page):
	chromium.open(page)
	choose_box(chromium, "spin").send_keys("d")
	chromium.eventually(lambda: transforms_of(chromium) == ["drop=spin"])
	chromium.wait(lambda _: chromium.all(".transforms"))
	assert left(chromium) == [127, 255]
	choose_box(chromium, "print").send_keys("p")
	chromium.eventually(lambda: transforms_of(chromium) == ["drop=spin", "path=main;print"])
	chromium.eventually(lambda: left(chromium) == [96, 255])
	chromium.driver.back()
	chromium.eventually(lambda: transforms_of(chromium) == ["drop=spin"] and left(chromium) == [127, 255])
	chromium.driver.back()
	chromium.eventually(lambda: transforms_of(chromium) == [""] and not chromium.all(".transforms"))
	assert chromium.log() == []


def test_the_menu_of_a_box(chromium, page):
	chromium.open(page)
	canvas = choose_box(chromium, "spin")
	canvas.send_keys("T")
	menu = chromium.one("dialog.menu")
	rows = [button.text for button in menu.find_elements(By.TAG_NAME, "button")]
	assert [row.split("  ")[-1].strip()[-1] for row in rows] == list("fpdmac")
	menu.find_elements(By.TAG_NAME, "button")[2].click()
	chromium.eventually(lambda: transforms_of(chromium) == ["drop=spin"])
	canvas = choose_box(chromium, "print")
	at = chromium.driver.execute_script("const box = document.querySelector('canvas').getBoundingClientRect(); return box.width")
	ActionChains(chromium.driver).move_to_element_with_offset(canvas, int(at * 0.2 - at / 2), 27 - canvas.size["height"] // 2).context_click().perform()
	assert chromium.one("dialog.menu strong").text == "main"
	chromium.one("dialog.menu").send_keys(Keys.ESCAPE)
	chromium.eventually(lambda: not chromium.all("dialog.menu"))
	assert transforms_of(chromium) == ["drop=spin"] and chromium.log() == []


def test_all_views_show_the_paths_of_the_link(chromium, page):
	transforms = ["merge=alloc", "collapse=parse", "drop=spin"]
	chromium.open(page, view="functions", transform=urllib.parse.quote("\n".join(transforms)))
	assert shown_bodies(chromium) == bodies(*transforms, page=page)
	assert [chip.text for chip in chromium.all(".transforms .chip")] == ["merge alloc ×", "collapse parse ×", "drop spin ×"]
	assert left(chromium) == [127, 255]
	for view in ("flame", "tree", "summary", "sandwich", "source", "whatif"):
		chromium.one(f"[data-view={view}]").click()
		chromium.eventually(lambda view=view: chromium.driver.find_element(By.TAG_NAME, "body").get_attribute("data-ready") == view)
		assert "spin" not in chromium.one("main").text and not chromium.all(".failure") and len(chromium.all(".transforms .chip")) == 3
	chromium.one("[data-view=functions]").click()
	chromium.all(".transforms .chip")[1].click()
	chromium.eventually(lambda: transforms_of(chromium) == ["merge=alloc", "drop=spin"])
	chromium.eventually(lambda: len(chromium.all(".transforms .chip")) == 2)
	assert shown_bodies(chromium) == bodies("merge=alloc", "drop=spin", page=page)
	assert chromium.log() == []


def test_the_function_of_a_view_and_an_unknown_name(chromium, page):
	chromium.open(page, view="sandwich", root="parse")
	Select(chromium.one("select[data-choice=transform]")).select_by_value("merge")
	chromium.eventually(lambda: transforms_of(chromium) == ["merge=parse"])
	chromium.one("[data-view=functions]").click()
	chromium.eventually(lambda: chromium.rows())
	assert shown_bodies(chromium) == bodies("merge=parse", page=page)
	name = next(span for span in chromium.all("main span[title]") if span.text == "spin")
	ActionChains(chromium.driver).context_click(name).perform()
	chromium.one("dialog.menu").find_elements(By.TAG_NAME, "button")[1].click() # there is no path
	chromium.eventually(lambda: transforms_of(chromium) == ["merge=parse", "drop=spin"])
	chromium.eventually(lambda: shown_bodies(chromium) == bodies("merge=parse", "drop=spin", page=page))
	chromium.open(page, view="tree", transform="merge=parse")
	row = next(row for row in chromium.all(".tree .leaf") if row.text.endswith("spin"))
	ActionChains(chromium.driver).context_click(row).perform()
	chromium.one("dialog.menu").find_elements(By.TAG_NAME, "button")[1].click() # the path
	chromium.eventually(lambda: transforms_of(chromium) == ["merge=parse", "path=spin"] and left(chromium) == [128, 255])
	chromium.open(page, view="functions", transform="drop=prase")
	assert "no function 'prase' (did you mean parse?)" in chromium.one(".failure").text
	chromium.one(".transforms .chip").click()
	chromium.eventually(lambda: not chromium.all(".failure") and shown_bodies(chromium) == bodies(page=page))
	assert chromium.log() == []
