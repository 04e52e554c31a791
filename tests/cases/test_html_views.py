"""The views of the page of `cpprof html` under selections, its pictures as SVG and on paper, and names in them."""
import json
import re
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from cli_support import done
from page_support import corpus, percent, results, with_lanes
from record_support import build, record_well
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

HOSTILE = ["<script>document.title='run'</script>", "\"><img src=x onerror=\"document.title='run'\">", "a\u202eb\u2066c", "end\uffff", "]]>&amp;<b>",
	"q" * 100_000]
SVG = "{http://www.w3.org/2000/svg}"
# The canvas's rows of boxes against the text's colour, by the formula of WCAG 2.
CONTRAST = """
const luminance = ([r, g, b]) => {
	const [R, G, B] = [r, g, b].map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
	return 0.2126 * R + 0.7152 * G + 0.0722 * B;
};
const canvas = document.querySelector("canvas"), row = canvas.getContext("2d").getImageData(0, 19, canvas.width, 1).data;
const text = luminance(getComputedStyle(document.body).color.match(/[0-9]+/g).map(Number)), found = [];
for (let x = 0; x < row.length; x += 4) {
	const back = luminance(row.slice(x, x + 3));
	found.push((Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05));
}
return Math.min(...found);
"""


@pytest.fixture(scope="module")
def made(profiles, tmp_path_factory):
	"""Makes the page of a profile of the tests."""
	folder, pages = tmp_path_factory.mktemp("made"), {}

	def make(name):
		if name not in pages:
			pages[name] = folder / f"{name}.html"
			done("html", "--source", "-o", pages[name], f"{name}.data", directory=profiles)
		return pages[name]
	return make


def report(profiles, name, *words):
	return results(done("report", "--format", "json", "--threshold", "0", "--limit", "0", *words, f"{name}.data", directory=profiles))[0]


def hits(text):
	return int(text.replace(",", ""))


# --- figures ---

def test_pages_are_those_of_report(chromium, made, profiles):
	answer = report(profiles, "server", "--pages", "-r", "page-faults")
	chromium.open(made("server"), view="pages", resource="page-faults")
	figures = lambda entry: [percent(entry["fraction"], entry["error"]), f"{entry['hits']:,}", f"{entry['pages']:,}"]
	expected = {kind: sorted([entry["mapping"], f"{entry['lowest']} to {entry['highest']}" if kind == "mapping" else " › ".join(entry["path"]),
		*figures(entry)] for entry in answer["entries"] if entry["entry"] == kind) for kind in ("mapping", "path")}
	mappings, paths = chromium.all("table")
	shown = [[[cell.text for cell in row.find_elements("css selector", "th, td")] for row in table.find_elements("css selector", "tbody tr")]
		for table in (mappings, paths)]
	assert sorted(shown[0]) == expected["mapping"] and sorted(shown[1]) == expected["path"]
	assert shown[0] and len(shown[1]) > 1


def test_labels_are_those_of_report(chromium, made, profiles):
	answer = report(profiles, "labels", "--by-label", "-r", "cpu")
	chromium.open(made("labels"), view="labels", resource="cpu")
	escaped = lambda labels: " ".join(f"{key}={value}" for key, value in labels.items()).replace("\x1b", r"\u001b") or "(none)"
	assert sorted(chromium.rows()) == sorted([escaped(entry["labels"]), percent(entry["fraction"], entry["error"]), f"{entry['hits']:,}"]
		for entry in answer["entries"])
	assert len(chromium.all("tbody button")) == len(answer["entries"]) - 1
	chromium.button("kind=search tenant=acme").click()
	chromium.eventually(lambda: len(chromium.all("tbody tr")) == 1)
	chromium.button("Functions").click()
	functions = report(profiles, "labels", "--functions", "-r", "cpu", "--label", "kind=search", "--label", "tenant=acme")
	assert sorted([row[0], hits(row[3])] for row in chromium.rows()) == sorted([entry["path"][0], entry["hits"]] for entry in functions["entries"])


TREE_ROWS = """
for (let closed; (closed = [...document.querySelectorAll(".tree details:not([open])")]).length;) {
	closed.forEach(each => { each.open = true; each.dispatchEvent(new Event("toggle")); });
}
return [...document.querySelectorAll("[role=treeitem]")].map(row => {
	const cells = row.tagName === "DETAILS" ? row.querySelector("summary") : row;
	return [Number(row.ariaLevel ?? row.getAttribute("aria-level")) - 1, cells.querySelector(".name").title, cells.querySelector(".bar-text").textContent];
});
"""


@pytest.mark.parametrize("name, choices", [("whole", {}), ("whole", {"thread": "#2"})])
def test_the_opened_tree_is_that_of_report(chromium, made, profiles, name, choices):
	words = [word for key, value in choices.items() for word in (f"--{key}", value)]
	tree = report(profiles, name, "--tree", "-r", "cpu", *words)
	chromium.open(made(name), view="tree", resource="cpu", **{key: value.replace("#", "%23") for key, value in choices.items()})
	shown = chromium.driver.execute_script(TREE_ROWS)
	assert sorted(shown) == sorted([entry["depth"], entry["name"], percent(entry["fraction"], entry["error"])] for entry in tree["entries"])
	assert shown and (choices or max(row[0] for row in shown) > 1)


def figures_of(chromium, view):
	"""The first column and the hits, or the shares, of the rows of a view."""
	chromium.eventually(lambda: chromium.button(view))
	chromium.button(view).click()
	return sorted([row[0], row[1]] for row in chromium.rows())


def expected_of(answer, kind):
	if kind == "--lines":
		return sorted([f"{entry['file']}:{entry['line']}" if entry["file"] else "[code without known lines]",
			percent(entry["body_fraction"], entry["body_error"])] for entry in answer["entries"])
	return sorted([entry["path"][0], percent(entry["fraction"], entry["error"])] for entry in answer["entries"])


VIEWS = (("Functions", "--functions"), ("Modules", "--modules"), ("Hot lines", "--lines"))


def test_views_follow_thread_and_process(chromium, made, profiles):
	for choice in ({"thread": "#2"}, {"process": "#2"}, {"from": "0.2", "to": "0.4"}, {"thread": "#2", "from": "0.1"}):
		words = [word for key, value in choice.items() for word in (f"--{key}", value)]
		chromium.open(made("whole"), resource="cpu", **{key: value.replace("#", "%23") for key, value in choice.items()})
		for view, kind in VIEWS:
			assert figures_of(chromium, view) == expected_of(report(profiles, "whole", kind, "-r", "cpu", *words), kind), (choice, view)


def drag_middle(chromium):
	"""Drags over the middle half of the strip."""
	strip = chromium.one(".strip svg")
	width = strip.size["width"]
	ActionChains(chromium.driver).move_to_element_with_offset(strip, -width // 4, 0).click_and_hold().move_by_offset(width // 2, 0).release().perform()


def test_a_range_is_selected_by_dragging(chromium, made, profiles):
	"""A drag over the middle half of the strip: the link has its ends, and every view shows what report counts between them."""
	chromium.open(made("whole"), view="functions", resource="cpu")
	drag_middle(chromium)
	found = re.search(r"from=([0-9.]+)&to=([0-9.]+)", chromium.driver.current_url)
	duration = results_duration(done("info", "--format", "json", "whole.data", directory=profiles))
	start, end = float(found[1]), float(found[2])
	assert abs(start - duration / 4) < duration / 50 and abs(end - duration * 3 / 4) < duration / 50
	words = ["-r", "cpu", "--from", found[1], "--to", found[2]]
	total = report(profiles, "whole", "--functions", *words)["total_hits"]
	assert 0 < total < report(profiles, "whole", "--functions", "-r", "cpu")["total_hits"]
	for view, kind in VIEWS:
		assert figures_of(chromium, view) == expected_of(report(profiles, "whole", kind, *words), kind), view
	chromium.button("Flame graph").click()
	canvas = chromium.one(".flame canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	canvas.send_keys(Keys.ARROW_DOWN)
	assert f"   {total:,} hits   " in chromium.one(".box-text").text
	chromium.button("Call tree").click()
	tree = report(profiles, "whole", "--tree", *words)
	assert sorted(chromium.driver.execute_script(TREE_ROWS)) == sorted(
		[entry["depth"], entry["name"], percent(entry["fraction"], entry["error"])] for entry in tree["entries"])
	chip, = [button for button in chromium.all(".chip") if " s to " in button.text]
	chip.click()
	chromium.eventually(lambda: "from=" not in chromium.driver.current_url)


def test_a_wait_is_a_bar(chromium, tmp_path):
	"""A wait is charged when it ends; the stack chart shows it from its begin. The program sleeps twice for half a second."""
	recorded = record_well(tmp_path, [build("naps.c"), "1", "1", "500000"], "-r", "blocked/1ms")
	done("html", "-o", tmp_path / "page.html", recorded.path)
	chromium.open(tmp_path / "page.html", view="timeline", resource="blocked")
	chromium.eventually(lambda: chromium.rows("tbody tr"))
	naps = [float(row[3].removesuffix(" s")) for row in chromium.rows() if "nanosleep" in row[0] and row[3].endswith(" s")]
	assert naps and max(naps) > 0.45, chromium.rows()


def results_duration(text):
	return float(re.search(r'"duration_s": ([0-9.]+)', text)[1])


def test_creators_of_threads(chromium, tmp_path):
	"""Each thread of the strip stands below the path that created it, which its stacks begin with."""
	recorded = record_well(tmp_path, [build("spawners.c"), "two"], "-r", "cpu/100us")
	done("html", "-o", tmp_path / "page.html", recorded.path)
	chromium.open(tmp_path / "page.html", view="timeline", resource="cpu")
	chromium.eventually(lambda: chromium.all(".creator"))
	shown = [cell.get_attribute("title").removeprefix("created by ").replace(" › ", ";") for cell in chromium.all(".creator")]
	stacks = done("export", "--format", "folded", "-r", "cpu", recorded.path).splitlines()
	assert shown == sorted(shown) and len(set(shown)) == len(shown) >= 2
	for creator in shown:
		assert any(stack.startswith(creator + ";") for stack in stacks), creator
	assert all("pthread_create" in creator for creator in shown)
	assert len(chromium.all(".thread-names .created")) >= len(shown)


def test_changes_of_two_profiles(chromium, page_of):
	"""The page of two profiles begins with their comparison, and names them."""
	page = page_of("main;f(int) 500\nmain;f(char) 400\n", "main;f(int) 900\nmain;f(char) 400\n")
	chromium.open(page, view=None)
	entries = results(done("diff", "--functions", "--format", "json", "--threshold", "0", "--limit", "0", page.parent / "0.data", page.parent / "1.data"))[0]["entries"]
	sign = lambda change: "+" if change > 0 else "−" if change < 0 else ""
	shown = {row[0]: row[1] for row in chromium.rows()}
	assert {name: re.sub("[^-+−0-9]", "", text) for name, text in shown.items()} == {
		entry["path"][0]: f"{sign(entry['change'])}{abs(round(entry['change']))}" for entry in entries}
	assert sorted(cell.text for cell in chromium.all("tbody th")) == ["f(char)", "f(int)", "main"]
	assert "A: " in chromium.text() and "B: " in chromium.text() and chromium.button("save as SVG")


# --- names ---

def test_names_in_tables_are_distinct(chromium, page_of):
	"""Two functions that differ in their parameters only have them in tables (docs/languages.md)."""
	page = page_of("main;f(int) 5\nmain;f(char) 4\nmain;g(int) 3\n")
	chromium.open(page, view="functions")
	assert sorted(cell.text for cell in chromium.all("tbody th")) == ["f(char)", "f(int)", "g", "main"]
	chromium.open(page, view="tree")
	assert sorted(name.text for name in chromium.all(".name")) == ["f(char)", "f(int)", "g", "main"]


def test_a_long_name_moves_nothing(chromium, page_of):
	"""The full name of a box is below the picture, which stays where it is."""
	chromium.open(page_of(f"main;{'name::' * 600}f 5\nmain;{'q' * 100_000} 4\n"))
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] == 54)
	before = canvas.rect
	for key in (Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT):
		canvas.send_keys(key)
		assert canvas.rect == before
		assert chromium.one(".box-text").size["height"] < 0.35 * 900
	assert len(chromium.one(".box-text").get_attribute("textContent")) > 3600


def test_hostile_names_of_events(chromium, page_of):
	"""Names in the lanes and their table are shortened, distinct and escaped; the selection has all of them."""
	names = [*HOSTILE, "f(int)", "f(char)"]
	make = corpus()
	calls = [(0, number, 10 if number else 5, 8 * 2) for number in range(len(names))]
	page = with_lanes(page_of("main 5\n"), make.lanes(names, 200, 0, [make.lane(calls, [])]))
	chromium.open(page, view=None)
	chromium.eventually(lambda: len(chromium.all("tbody tr")) == len(names))
	shown = [cell.text for cell in chromium.all("tbody th")]
	assert len(set(shown)) == len(names) and {"f(int)", "f(char)", r"a\u202eb\u2066c", r"end\uffff"} <= set(shown)
	assert max(map(len, shown)) <= 120
	canvas = chromium.one("canvas")
	canvas.send_keys(Keys.ARROW_RIGHT)
	described = []
	for _ in names:
		described.append(chromium.one(".box-text").get_attribute("textContent"))
		canvas.send_keys(Keys.ARROW_RIGHT)
	assert described[0].startswith(HOSTILE[0]) and any(text.startswith("q" * 100_000) for text in described)
	assert "run" != chromium.driver.title and not chromium.all("main img, main script, main b") and chromium.log() == []


def test_lanes_follow_the_thread_and_have_a_largest_height(chromium, made):
	"""A browser draws nothing on a canvas that is too high."""
	make = corpus()
	calls = [(depth, 0, 5 + depth, 100 * 2) for depth in range(50)]
	rows = [make.lane(calls, []) for _ in range(400)]
	page = made("server")
	crowded = page.with_name("crowded.html")
	crowded.write_text(page.read_text())
	chromium.open(with_lanes(crowded, make.lanes(("f",), 1000, 0, rows)), view="events")
	chromium.eventually(lambda: chromium.one("canvas").size["height"] > 1000)
	assert chromium.driver.execute_script("return document.querySelector('canvas').height") <= 32767
	assert "of 400 threads are shown" in chromium.text()
	assert chromium.pixels("const c = document.querySelector('canvas');"
		"return c.getContext('2d').getImageData(0, 0, c.width, 200).data.some(each => each)")
	chromium.open(crowded, view="events", thread="worker")
	assert "The chosen threads have no events." in chromium.text()


TEXTS = """
const kind = CanvasRenderingContext2D.prototype, { fillText } = kind, drawn = window.drawn = [];
kind.fillText = function (text, ...place) { drawn.push(text); fillText.call(this, text, ...place); };
"""


def test_events_follow_the_range(chromium, made):
	"""A range that is dragged in the timeline is all that the lanes show: its calls and marks, and those that reach into it."""
	make = corpus()
	names, ms = ["main", "before", "into", "inside", "after"], 1_000_000
	calls = [(0, 0, 0, 449 * ms * 2), (1, 1, 10 * ms, 50 * ms * 2), (1, 2, 80 * ms, 60 * ms * 2), (1, 3, 110 * ms, 10 * ms * 2),
		(1, 4, 190 * ms, 10 * ms * 2)]
	other = [(0, 1, 20 * ms, 5 * ms * 2)]
	page = made("whole").with_name("events.html")
	page.write_text(made("whole").read_text())
	with_lanes(page, make.lanes(names, 450 * ms, 0, [make.lane(calls, [(2, 30 * ms), (6, 175 * ms)]), make.lane(other, [])]))
	chromium.open(page, view="timeline", resource="cpu", zoom="0.010000000-0.060000000")
	drag_middle(chromium)
	chromium.driver.execute_script(TEXTS)
	chromium.button("Events").click()
	chromium.settle()
	assert sorted(row[0] for row in chromium.rows()) == ["inside", "into", "main"]
	assert {text for text in chromium.driver.execute_script("return drawn") if " call" in text} == {"thread 8   3 calls, 1 mark"}
	for key in (Keys.ESCAPE, "-", "-"):
		chromium.one("canvas").send_keys(key)
		chromium.settle()
		assert sorted(row[0] for row in chromium.rows()) == ["inside", "into", "main"]
	found = re.search(r", ([0-9.]+) ms from ([0-9.]+) s on", chromium.one("caption").text)
	assert abs(float(found[1]) - 225) < 5 and abs(float(found[2]) - 0.1125) < 0.005
	[chip for chip in chromium.all(".chip") if " s to " in chip.text][0].click()
	chromium.eventually(lambda: len(chromium.rows()) == len(calls) + len(other))
	chromium.open(page, view="events", resource="cpu", **{"from": "0.42", "to": "0.43"})
	chromium.settle()
	assert sorted(row[0] for row in chromium.rows()) == ["main"]
	chromium.open(page, view="events", resource="cpu", **{"from": "0.46"})
	assert "have no events in the selected range" in chromium.text()
	chromium.open(page, view="events", resource="cpu", **{"from": "0.3", "to": "x"})
	assert "x" in chromium.one("main .failure").text


def hostile_profile(folder, name, weights):
	"""A profile whose functions, source file and lines have hostile names and texts."""
	file = "<img src=x onerror=\"document.title='run'\">\u202e.c"
	(folder / file).write_text("\n".join([*HOSTILE, ""]))
	frames = [{"name": "main", "file": file, "line": 1}, *({"name": text, "file": file, "line": line + 1} for line, text in enumerate(HOSTILE))]
	(folder / "in.json").write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
		"profiles": [{"type": "sampled", "name": "samples", "unit": "none", "startValue": 0, "endValue": sum(weights),
			"samples": [[0, number + 1] for number in range(len(weights))], "weights": weights}]}))
	done("import", "--format", "speedscope", "-o", f"{name}.data", "in.json", directory=folder)
	return f"{name}.data"


def test_hostile_texts_in_every_view(chromium, open_path):
	"""Names, file names and source lines with markup, escapes and characters that change the direction of text do nothing in any view. They are
	shown in a safe form, and none is wider than its table's own area."""
	files = [hostile_profile(open_path, name, [weight] * len(HOSTILE)) for name, weight in (("a", 10), ("b", 50))]
	done("html", "--source", "-o", "page.html", *files, directory=open_path)
	chromium.open(open_path / "page.html", view=None)
	views = [tab.get_attribute("data-view") for tab in chromium.all(".tabs button")]
	assert {"compare", "flame", "functions", "sandwich", "tree", "source", "lines", "whatif", "findings"} <= set(views)
	seen = {}
	for view in views:
		for name in HOSTILE if view in ("source", "sandwich", "whatif") else ["main"]:
			path = f"main;{name}" if ";" not in name else "main" # a path has no way to write such a name
			chromium.open(open_path / "page.html", view=view, side="b", root=quote(name, safe=""), path=quote(path, safe=""))
			text = seen[view, name] = chromium.driver.execute_script("return document.body.innerText")
			assert not chromium.all(".failure"), (view, text[:300])
			assert chromium.driver.title.endswith("cpprof") and not chromium.all("main img, main script, main b"), view
			assert not re.search("[\x1b\u202e\u2066\uffff]", text) and chromium.log() == [], view
			assert chromium.driver.execute_script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), view
	for view in ("compare", "functions", "lines"):
		assert HOSTILE[0] in seen[view, "main"] and r"a\u202eb\u2066c" in seen[view, "main"], view
	for name in HOSTILE:
		escaped = re.sub("[\u202e\u2066\uffff]", lambda character: f"\\u{ord(character[0]):04x}", name)
		assert r"\u202e.c" in seen["source", name] and escaped in seen["source", name]
		assert f"The path has {300 if ';' in name else 50} of 300 hits" in seen["whatif", name]
	assert r"main › a\u202eb\u2066c" in seen["whatif", HOSTILE[2]]


# Functions that main calls, with their hits of a first and of a second resource.
TWO_RESOURCES = {"much": (10, 60), "equal": (30, 30), "little": (50, 5), "none": (10, 0), "only": (0, 5)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_two_resources(chromium, tmp_path, scheme):
	"""A box is red where it has a larger share of the second resource than of the first, blue where it has a smaller one, and grey where both
	are equal; in the picture as in the SVG."""
	names = list(TWO_RESOURCES)
	profile_of = lambda unit, at: {"type": "sampled", "name": unit, "unit": unit, "startValue": 0, "endValue": 100,
		"samples": [[0, number + 1] for number, name in enumerate(names) if TWO_RESOURCES[name][at]],
		"weights": [hits[at] for hits in TWO_RESOURCES.values() if hits[at]]}
	(tmp_path / "in.json").write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
		"shared": {"frames": [{"name": name} for name in ["main", *names]]}, "profiles": [profile_of("none", 0), profile_of("bytes", 1)]}))
	done("import", "--format", "speedscope", "-o", "a.data", "in.json", directory=tmp_path)
	done("html", "-o", "page.html", "a.data", directory=tmp_path)
	with chromium.media(scheme=scheme):
		chromium.open(tmp_path / "page.html")
		first, second = [option.get_attribute("value") for option in chromium.all("select[data-choice=resource] option")]
		chromium.open(tmp_path / "page.html", resource=first, colour=second)
		canvas = chromium.one("canvas")
		chromium.eventually(lambda: canvas.size["height"] > 30)
		boxes, scale = boxes_of(saved_svg(chromium)), canvas.size["width"] / 1200
		assert set(boxes) == {"all", "main", *names} - {"only"}
		for name, strongest in {"much": 0, "little": 2, "none": 2, "equal": None, "main": None}.items():
			own, other = TWO_RESOURCES.get(name, (100, 100))
			saturation = round(abs(other / (own + other) - 0.5) * 140)
			assert re.match(rf"hsl\({215 if strongest == 2 else 5}, {saturation}%", boxes[name]["fill"]), (name, boxes[name])
			pixel = chromium.pixels("return [...document.querySelector('canvas').getContext('2d').getImageData(...arguments, 1, 1).data].slice(0, 3)",
				round((boxes[name]["x"] + boxes[name]["width"] - 4) * scale), round(boxes[name]["y"] + 2))
			assert (len(set(pixel)) == 1) == (strongest is None) and (strongest is None or pixel[strongest] == max(pixel)), (name, pixel)


# --- SVG ---

def saved_svg(chromium, index=0):
	"""The file that the button saves."""
	return chromium.driver.execute_async_script("""const done = arguments[arguments.length - 1], make = URL.createObjectURL;
		URL.createObjectURL = blob => { blob.text().then(done); URL.createObjectURL = make; return make.call(URL, blob); };
		[...document.querySelectorAll("button")].filter(each => each.textContent === "save as SVG")[arguments[0]].click();""", index)


def boxes_of(text):
	"""The boxes of a picture, by the names in their titles: x, width and colour."""
	root = ElementTree.fromstring(text)
	assert {each.tag for each in root.iter()} <= {SVG + name for name in ("svg", "g", "title", "rect", "text")}
	assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or "href" in name]
	return {group.find(SVG + "title").text.split("   ")[0]: {"x": float(group.find(SVG + "rect").get("x")),
		"y": float(group.find(SVG + "rect").get("y")), "width": float(group.find(SVG + "rect").get("width")), "fill": group.find(SVG + "rect").get("fill")} for group in root.findall(SVG + "g")}


def test_svg_has_the_boxes(chromium, page_of):
	chromium.open(page_of("main;f;g 30\nmain;f 50\nmain;h 20\n"))
	chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
	boxes = boxes_of(saved_svg(chromium))
	for name, share in {"all": 1, "main": 1, "f": 0.8, "g": 0.3, "h": 0.2}.items():
		assert abs(boxes[name]["width"] + 0.5 - 1200 * share) < 0.1, name
	assert boxes["g"]["x"] == boxes["f"]["x"] and boxes["h"]["x"] in (0, boxes["f"]["width"] + 0.5)
	assert boxes["f"]["fill"] == boxes["g"]["fill"] or boxes["f"]["fill"].startswith("hsl")
	chromium.one("input[type=search]").send_keys("g")
	chromium.eventually(lambda: chromium.one("output").text)
	found = boxes_of(saved_svg(chromium))
	assert found["g"]["fill"] != found["f"]["fill"] == found["h"]["fill"]


def test_svg_escapes_names(chromium, page_of):
	names = [name.replace(";", ",") for name in HOSTILE]
	chromium.open(page_of("".join(f"main;{name} 10\n" for name in names)))
	chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
	text = saved_svg(chromium)
	boxes = boxes_of(text)
	assert {names[0], names[1], names[4], names[5], r"a\u202eb\u2066c", r"end\uffff"} < set(boxes)
	assert "\u202e" not in text and "<script" not in text and "<img" not in text


def test_svg_of_callers_and_of_changes(chromium, page_of):
	"""The boxes of A and B lie side by side: what is new or gone has its full width, and what is the same has that of one side and no colour."""
	page = page_of("main;f 500\nmain;gone 200\nmain;same 300\n", "main;f 250\nmain;new 1000\nmain;same 300\n")
	for side in ("a", "b"):
		chromium.open(page, view="compare", side=side)
		chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
		picture = saved_svg(chromium)
		boxes = boxes_of(picture)
		assert [text.text for text in ElementTree.fromstring(picture).iter(SVG + "text")] == ["all", "main", "f", "− gone", "+ new", "same"]
		fills = {name: box["fill"] for name, box in boxes.items()}
		assert fills["same"] == fills["all"] and fills["main"] == fills["new"] != fills["f"] == fills["gone"]
		assert [round((float(boxes[name]["width"]) + 0.5) * 2000 / 1200) for name in ("main", "f", "new", "gone", "same")] == [2000, 500, 1000, 200, 300]
	page = page_of("main;f 500\nmain;g 400\n")
	chromium.open(page, view="sandwich", root="f")
	chromium.eventually(lambda: all(canvas.size["height"] > 30 for canvas in chromium.all("canvas")[:1]))
	assert "main" in boxes_of(saved_svg(chromium, 0)) and "main" not in boxes_of(saved_svg(chromium, 1))


# --- links, search, paper ---

def test_a_link_has_search_and_zoom(chromium, page_of):
	page = page_of("main;f;g 30\nmain;f 50\nmain;h 20\n")
	chromium.open(page, search="g")
	chromium.eventually(lambda: chromium.one("output").text.startswith("matches 30.0 %"))
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
	chromium.eventually(lambda: "node=" in chromium.driver.current_url)
	link, crumbs = chromium.driver.current_url, [crumb.text for crumb in chromium.all(".crumb")]
	assert len(crumbs) == 3
	chromium.driver.get("about:blank")
	chromium.driver.get(link)
	chromium.eventually(lambda: [crumb.text for crumb in chromium.all(".crumb")] == crumbs)
	chromium.button("Functions").click()
	assert "node=" not in chromium.driver.current_url


def test_a_link_has_the_zoom_of_the_wheel(chromium, page_of):
	chromium.open(page_of("main;f;g 300\nmain;f 500\nmain;h 200\n"))
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	turn = ("const canvas = document.querySelector('canvas'), bounds = canvas.getBoundingClientRect();"
		"canvas.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY: -200, clientX: bounds.left + bounds.width / 2,"
		" clientY: bounds.top + 40, cancelable: true, bubbles: true }));")
	chromium.driver.execute_script(turn)
	chromium.eventually(lambda: "span=" in chromium.driver.current_url)
	link = chromium.driver.current_url
	pixels = "return document.querySelector('canvas').toDataURL()"
	chromium.eventually(lambda: chromium.driver.execute_script(pixels))
	shown = chromium.driver.execute_script(pixels)
	chromium.driver.get("about:blank")
	chromium.driver.get(link)
	chromium.eventually(lambda: chromium.all("canvas") and chromium.driver.execute_script(pixels) == shown)
	chromium.one("canvas").send_keys(Keys.ESCAPE)
	chromium.eventually(lambda: "span=" not in chromium.driver.current_url)


@pytest.mark.parametrize("choices", [{"span": "9-1"}, {"span": "x-y"}, {"view": "constructor"}, {"view": "__proto__"}, {"node": "99999999"}, {"node": "-1"}, {"factor": "x", "path": "main"}])
def test_a_hostile_link_shows_the_flame_graph(chromium, page_of, choices):
	chromium.open(page_of("main;f 3\n"), **choices)
	chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
	assert chromium.one("[aria-current=true]").text == "Flame graph" and chromium.log() == []


def test_search_selects_rows(chromium, page_of):
	chromium.open(page_of("main;Find;g 30\nmain;f 50\nmain;h 20\n"), view="functions")
	chromium.one("input[type=search]").send_keys("F")
	chromium.eventually(lambda: sorted(row[0] for row in chromium.rows()) == ["Find", "f"])
	assert chromium.one("output").text == "2 of 5 rows"
	chromium.one("input[type=search]").send_keys(Keys.BACKSPACE)
	chromium.eventually(lambda: len(chromium.rows()) == 5)


@pytest.mark.parametrize("view", ["flame", "events"])
def test_paper_is_light_for_people_in_the_dark(chromium, page_of, view):
	"""Printing a dark page draws its pictures again, in the colours of paper."""
	make = corpus()
	page = with_lanes(page_of("main;f 3\n"), make.lanes(("main", "f"), 1000, 0, [make.lane([(0, 0, 1, 999 * 2), (1, 1, 1, 998 * 2)], [])]))
	with chromium.media(scheme="dark"):
		chromium.open(page, view=view)
		chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
		with chromium.media(scheme="dark", kind="print"):
			row = CONTRAST if view == "flame" else CONTRAST.replace("getImageData(0, 19, canvas.width, 1)", "getImageData(canvas.width / 2, 45, 40, 1)")
			chromium.eventually(lambda: chromium.pixels(row) >= 4.5)


def test_nothing_selected(chromium, made):
	chromium.open(made("empty"))
	assert "No hits are selected." in chromium.text() and not chromium.all("canvas")
