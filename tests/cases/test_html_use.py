"""The page of `cpprof html` in use: nothing is left out without a word, amounts are as in reports, search sees the whole profile, keys and the
history of the browser lead where they should, and a file without its end is reported."""
import json
import re

import pytest
from cli_support import done
from hooks_support import Counted
from page_support import corpus, results, with_lanes
from record_support import build, run_cpprof
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

BOX = re.compile(r"(.+?)   ([\d.]+) %.*?   ([\d,]+) hits")
# The longest run of pixels of a row of boxes that have the colour of the page: boxes leave one pixel between each other.
WIDEST_GAP = """
const canvas = document.querySelector("canvas"), row = canvas.getContext("2d").getImageData(0, arguments[0] * 18 + 9, canvas.width, 1).data;
const back = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number);
let widest = 0, gap = 0;
for (let x = 0; x < row.length; x += 4) {
	gap = back.every((each, i) => each === row[x + i]) ? gap + 1 : 0;
	widest = Math.max(widest, gap);
}
return widest;
"""


def canvas_of(chromium):
	canvas = chromium.all("canvas")[0]
	chromium.eventually(lambda: canvas.size["height"] > 30)
	return canvas


def row_of(chromium, canvas):
	"""[(name, hits)] of the boxes of the level below the whole one, as the arrow keys reach them."""
	canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
	text = chromium.one(".box-text")
	for key in (Keys.ARROW_LEFT, Keys.ARROW_RIGHT):
		found = [""]
		while text.text != found[-1]:
			found.append(text.text)
			canvas.send_keys(key)
	return [(match[1], int(match[3].replace(",", ""))) for match in map(BOX.match, found[1:])]


# --- nothing is left out without a word ---

def test_narrow_bodies_are_one_box(chromium, page_of):
	"""From the hottest bodies on: the widest is first, and what is too narrow is one box, whose click shows the functions in it."""
	lines = [f"main;hot{i} {3000 + 10 * i}\n" for i in range(12)] + [f"main;cold{i} {1 + i % 3}\n" for i in range(900)]
	hot, cold = sum(3000 + 10 * i for i in range(12)), sum(1 + i % 3 for i in range(900))
	chromium.open(page_of("".join(lines)), shape="callers")
	canvas = canvas_of(chromium)
	row = row_of(chromium, canvas)
	assert row == [*((f"hot{i}", 3000 + 10 * i) for i in range(11, -1, -1)), ("others: 900 functions, too narrow for boxes of their own", cold)]
	chromium.one("canvas").send_keys(Keys.ENTER)
	chromium.eventually(lambda: f"span={hot}.000-{hot + cold}.000" in chromium.driver.current_url)
	shown = chromium.driver.execute_script(WIDEST_GAP, 1)
	assert shown <= 1
	chromium.one("canvas").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
	assert re.match(r"cold\d+   0\.0 % .*   3 hits", chromium.one(".box-text").text)


def test_many_deep_callers_fill_the_picture(chromium, page_of):
	"""More boxes than a fixed number of them: each row reaches to the right edge, and levels for which there is no room are mentioned."""
	stacks = [";".join(f"{i}_{depth}" for depth in range(120)) + ";hot 1\n" for i in range(2400)]
	page = page_of("".join(stacks))
	chromium.open(page, view="sandwich", root="hot")
	canvas_of(chromium)
	rows = chromium.driver.execute_script("return document.querySelector('canvas').height / 18")
	assert all(chromium.driver.execute_script(WIDEST_GAP, row) <= 1 for row in range(int(rows)))
	assert rows < 121 and chromium.all(".flame .note")[0].text.startswith("Deeper levels do not fit")
	chromium.open(page, shape="callers")
	canvas_of(chromium)
	assert all(chromium.driver.execute_script(WIDEST_GAP, row) <= 1 for row in range(20))
	assert not chromium.one(".flame .note").is_displayed()


def test_a_cut_trace_is_stated(chromium, page_of):
	"""In the header and in the findings."""
	module = corpus()
	page = with_lanes(page_of("main;f 3\n"), module.lanes(rows=[module.lane(module.CALLS, module.MARKS)], left_out=1234))
	chromium.open(page)
	text = "the page has the first 6 calls and marks of the trace; 1,234 later calls and marks are left out"
	assert text in chromium.one("header").text and "1 finding" in chromium.one("header").text
	chromium.button("1 finding").click()
	chromium.eventually(lambda: text in chromium.one(".finding").text)


def test_a_cut_trace_is_stated_by_the_command(tmp_path):
	run = Counted([build("many_calls.c", "-finstrument-functions")], tmp_path, "trace", name="trace.data")
	assert run.status == 0, run.err
	made = run_cpprof("html", "-o", tmp_path / "page.html", run.path)
	events = run_cpprof("export", "--format", "events", run.path).stdout
	count = events.count(" enter ") + events.count(" sample ")
	assert count > 2000000
	assert f"left out {count - 2000000} calls and marks after the first 2000000 of the trace" in made.stderr


CUTS = ["<style>", '<div id="page">', 'id="engine">', 'id="profile-a"', 'id="sources"', "\n<script>", "</script>\n</body>"]


@pytest.mark.parametrize("at", CUTS)
def test_a_file_without_its_end_is_reported(chromium, page_of, tmp_path, at):
	"""Wherever it is cut behind its head, and a few bytes later."""
	text = page_of("main;f 3\n").read_text()
	for more in (0, len(at) - 1, len(at) + 40):
		if at == CUTS[-1] and more > 0:
			continue # the rest is not needed
		(tmp_path / "cut.html").write_text(text[:text.rindex(at) + more])
		chromium.open(tmp_path / "cut.html")
		assert chromium.one(".failure h1").text == "This file is incomplete"
		assert "Reading" not in chromium.text()
	chromium.log()


# --- amounts ---

def speedscope(unit, weights):
	return {"type": "sampled", "name": unit, "unit": unit, "startValue": 0, "endValue": 1, "samples": [[0]] * len(weights), "weights": weights}


def units(folder):
	"""Imports profiles with resources of many units; returns their files."""
	events = {"cpu-clock": 1, "context-switches": 627, "page-faults": 12345, "cpu-migrations": 1, "cycles": 123456789, "instructions": 3}
	lines = [f"prog 7/7 {i + 1}.000000: {amount} {event}:\n\t401000 main+0x0 (/bin/prog)\n\n" for i, (event, amount) in enumerate(events.items())]
	(folder / "perf.txt").write_text("".join(lines))
	done("import", "--format", "perf-script", "-o", folder / "perf.data", folder / "perf.txt")
	paths = [folder / "perf.data"]
	for unit, weights in (("bytes", [1023]), ("bytes", [1024, 1]), ("bytes", [5 * 2 ** 30]), ("nanoseconds", [999]), ("nanoseconds", [1500]), ("seconds", [12])):
		path = folder / f"{len(paths)}.data"
		(folder / "a.json").write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "main"}]},
			"profiles": [speedscope(unit, weights)]}))
		done("import", "--format", "speedscope", "-o", path, folder / "a.json")
		paths.append(path)
	return paths


def test_amounts_are_those_of_report(chromium, tmp_path):
	"""For each unit: in the header, in a box, and in the call tree."""
	seen = set()
	for path in units(tmp_path):
		done("html", "-o", path.with_suffix(".html"), path)
		for resource in json.loads(done("info", "--format", "json", path))["resources"]:
			title, amount = re.match(r"(.+?): ([0-9.,e+]+ \w+)", done("report", "-r", resource["name"], path)).groups()
			chromium.open(path.with_suffix(".html"), resource=resource["name"])
			assert f"{title}: {amount} · " in chromium.one("header").text
			canvas_of(chromium).send_keys(Keys.ARROW_DOWN)
			assert chromium.one(".box-text").text.endswith(f"   {amount}")
			chromium.open(path.with_suffix(".html"), resource=resource["name"], view="tree")
			assert chromium.all(".tree .number")[0].text == amount
			seen.add(amount.split()[1])
	assert {"switches", "faults", "migration", "cycles", "instructions", "ns", "us", "s", "bytes", "KiB", "GiB"} <= seen, seen


# --- search ---

def test_search_sees_all_functions(chromium, page_of):
	"""Also the functions that are not among the first rows of the table; report has the same functions."""
	wanted = [f"Legalize{name}" for name in ("Ops", "Types", "DAG", "Vector", "All")]
	page = page_of("".join([f"main;f{i} {10 + i}\n" for i in range(1500)] + [f"main;f7;{name} 1\n" for name in wanted]))
	chromium.open(page, view="functions")
	assert "506 further entries are not shown" in chromium.one("main .note").text
	functions, = results(done("report", "--functions", "--format", "json", "--limit", "0", "--threshold", "0", page.parent / "0.data"))
	assert len(functions["entries"]) == 1506
	chromium.one("input[type=search]").send_keys("legalize")
	chromium.eventually(lambda: sorted(row[0] for row in chromium.rows()) == sorted(wanted))
	assert chromium.one("output").text == "5 of 1,506 rows" and not chromium.one("main .note").is_displayed()
	chromium.open(page, view="functions", search="f7")
	expected = {entry["path"][0]: f"{entry['hits']:,}" for entry in functions["entries"] if "f7" in entry["path"][0]}
	assert {row[0]: row[3] for row in chromium.rows()} == expected and len(expected) == 111
	assert chromium.one("output").text == "111 of 1,506 rows"
	chromium.open(page, view="functions", search="f")
	assert chromium.one("output").text == "1,500 of 1,506 rows" and "500 further entries" in chromium.one("main .note").text


def tree_names(chromium):
	return [(name.get_attribute("title"), "found" in name.get_attribute("class")) for name in chromium.all(".tree .name") if name.is_displayed()]


def test_search_in_the_call_tree(chromium, page_of):
	"""The paths to what is found are open, others are left out, and the number of hits is shown."""
	chromium.open(page_of("main;a;b;Needle;x 3\nmain;a;c 500\nmain;d;needles 2\nother 9\n"), view="tree")
	assert ("other", False) in tree_names(chromium)
	chromium.one("input[type=search]").send_keys("needle")
	chromium.eventually(lambda: tree_names(chromium) == [("main", False), ("a", False), ("b", False), ("Needle", True), ("d", False), ("needles", True)])
	assert re.fullmatch(r"matches 1\.0 % ±[0-9.]+, 5 hits, 2 functions", chromium.one("output").text)
	chromium.one("input[type=search]").send_keys("x")
	chromium.eventually(lambda: tree_names(chromium) == [])
	assert re.fullmatch(r"matches 0\.0 % ±[0-9.]+, 0 hits, 0 functions", chromium.one("output").text)
	chromium.one("input[type=search]").send_keys(*[Keys.BACKSPACE] * 7)
	chromium.eventually(lambda: ("other", False) in tree_names(chromium) and chromium.one("output").text == "")


# --- keys, history, pointer ---

def test_down_leads_to_the_widest_box(chromium, page_of):
	chromium.open(page_of("main;a 1\nmain;b;x 3\nmain;b;y 40\nmain;c 9\n"))
	canvas = canvas_of(chromium)
	names = []
	for _ in range(4):
		canvas.send_keys(Keys.ARROW_DOWN)
		names.append(chromium.one(".box-text").text.split("   ")[0])
	assert names == ["all", "main", "b", "y"]


def test_back_leads_to_the_zoom_before(chromium, page_of):
	chromium.open(page_of("main;a;x 30\nmain;b;y;z 40\n"))
	canvas = canvas_of(chromium)
	crumbs = lambda: [crumb.text for crumb in chromium.all(".crumb")]
	canvas.send_keys(*[Keys.ARROW_DOWN] * 3, Keys.ENTER)
	chromium.eventually(lambda: crumbs() == ["all", "main", "b"])
	canvas.send_keys(*[Keys.ARROW_DOWN] * 2, Keys.ENTER)
	chromium.eventually(lambda: crumbs() == ["all", "main", "b", "y"])
	for expected in (["all", "main", "b"], []):
		chromium.driver.back()
		chromium.eventually(lambda: crumbs() == expected) # pylint: disable=cell-var-from-loop
	chromium.driver.forward()
	chromium.eventually(lambda: crumbs() == ["all", "main", "b"])
	chromium.button("Functions").click()
	chromium.eventually(lambda: chromium.rows())
	chromium.driver.back()
	chromium.eventually(lambda: crumbs() == ["all", "main", "b"])


def test_back_in_the_events(chromium, page_of):
	module = corpus()
	chromium.open(with_lanes(page_of("main;f 3\n"), module.lanes(rows=[module.lane(module.CALLS, module.MARKS)])), view="events")
	chromium.eventually(lambda: chromium.rows())
	caption = lambda: chromium.one("caption").text
	captions = [caption()]
	for _ in range(2):
		chromium.button("zoom in").click()
		chromium.eventually(lambda: caption() != captions[-1])
		captions.append(caption())
	for expected in captions[-2::-1]:
		chromium.driver.back()
		chromium.eventually(lambda: caption() == expected) # pylint: disable=cell-var-from-loop


@pytest.mark.parametrize("view, tag", [("flame", "canvas"), ("functions", "div"), ("tree", "summary")])
def test_one_tab_leads_to_the_content(chromium, page_of, view, tag):
	chromium.open(page_of("main;f 3\nmain;g 2\n"), view=view)
	ActionChains(chromium.driver).send_keys(Keys.TAB).perform()
	focused = chromium.driver.switch_to.active_element
	assert focused.text.startswith("go to: ") and focused.is_displayed()
	focused.send_keys(Keys.ENTER)
	assert chromium.driver.switch_to.active_element.tag_name == tag


def test_tabs_are_one_stop(chromium, page_of):
	"""Arrow keys lead from one view to the next, Enter shows it."""
	chromium.open(page_of("main;f 3\n"))
	ActionChains(chromium.driver).send_keys(Keys.TAB, Keys.TAB, Keys.TAB).perform() # past the findings
	assert chromium.driver.switch_to.active_element.text == "Flame graph"
	ActionChains(chromium.driver).send_keys(Keys.ARROW_RIGHT, Keys.ENTER).perform()
	chromium.eventually(lambda: "view=functions" in chromium.driver.current_url)
	assert chromium.driver.switch_to.active_element.text == "Functions"


def test_keys_for_search_and_help(chromium, page_of):
	chromium.open(page_of("main;f 3\n"))
	ActionChains(chromium.driver).send_keys("/").perform()
	assert chromium.driver.switch_to.active_element.get_attribute("type") == "search"
	ActionChains(chromium.driver).send_keys("?").perform()
	assert not chromium.all("dialog") and chromium.one("input[type=search]").get_attribute("value") == "?" # a name may have it
	canvas_of(chromium).send_keys("?")
	chromium.eventually(lambda: chromium.all("dialog"))
	assert "search" in chromium.one("dialog").text
	ActionChains(chromium.driver).send_keys(Keys.ESCAPE).perform()
	chromium.eventually(lambda: not chromium.all("dialog"))


def test_the_pointer_has_a_tooltip(chromium, page_of):
	"""It describes the box below the pointer, which has an outline."""
	chromium.open(page_of("main;f 30\nmain;g 10\n"))
	bounds = canvas_of(chromium).rect
	for x, name, left, width in ((0.5, "f", 0, 0.75), (0.9, "g", 0.75, 0.25)):
		ActionChains(chromium.driver, duration=0).move_to_element_with_offset(chromium.one("canvas"), int((x - 0.5) * bounds["width"]), 18).perform()
		chromium.eventually(lambda: chromium.one(".tip").is_displayed() and chromium.one(".tip").text.startswith(f"{name} ")) # pylint: disable=cell-var-from-loop
		outline = chromium.one(".outline").rect
		assert abs(outline["x"] - bounds["x"] - left * bounds["width"]) <= 1 and abs(outline["width"] - width * bounds["width"]) <= 1
		assert abs(outline["y"] - bounds["y"] - 36) <= 1 and chromium.one(".tip").text == chromium.one(".box-text").text
	ActionChains(chromium.driver, duration=0).move_to_element(chromium.button("Functions")).perform()
	chromium.eventually(lambda: not chromium.one(".tip").is_displayed() and not chromium.one(".outline").is_displayed())


def test_source_without_lines_has_a_sentence(chromium, tmp_path):
	(tmp_path / "a.folded").write_text("main;f 3\n")
	done("import", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	chromium.open(tmp_path / "a.html", view="source", root="f")
	assert "The lines of f are not known" in chromium.one("main").text and not chromium.all("main table")
