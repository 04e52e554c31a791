"""The views of the page of `cpprof html` for each kind of profile: CPU time, a counted resource, an instrumented run, a trace, a comparison."""
import pytest
from cli_support import done
from hooks_support import Counted, Program
from page_support import percent, results
from record_support import build, record_well
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

ALWAYS = ["Flame graph", "Functions", "Callers and callees", "Call tree", "Source", "What if", "Findings"]
SAMPLED = ["Stack chart", "Hot lines", "Modules"]
# The texts of a view that lie on one another, each with the next one in its row: a cell is wider than its column.
OVERLAPS = """
const texts = [...document.querySelectorAll("main *")].filter(each => !each.childElementCount && each.textContent.trim() && each.getClientRects().length);
const boxes = texts.map(each => {
	const range = document.createRange();
	range.selectNodeContents(each);
	return { text: each.textContent.trim(), box: range.getBoundingClientRect() };
}).filter(({ box }) => box.width > 0);
const found = [];
for (let i = 1; i < boxes.length; i++) {
	const [a, b] = [boxes[i - 1].box, boxes[i].box];
	if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
		found.push(`${boxes[i - 1].text} | ${boxes[i].text}`);
}
return found;
"""
# Whether something is drawn: a canvas of one colour is empty.
DRAWN = """
return [...document.querySelectorAll("main canvas")].every(canvas => {
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const words = new Uint32Array(data.buffer);
	return words.some(each => each !== words[0]);
});
"""


def sampled(folder, *options):
	record_well(folder, [build("spawners.c"), "two"], *options)
	return ["out.data"]


def counted(folder):
	record_well(folder, [build("page_faults.c"), "20000"], "-r", "cpu/100us", "-r", "page-faults")
	return ["out.data"]


def hooked(measurement, folder):
	run = Counted(Program("mutual", "cyg").command, folder, measurement, name="out.data")
	assert run.status == 0, run.err
	return ["out.data"]


def compared(folder):
	for name, hits in (("a", 500), ("b", 900)):
		(folder / f"{name}.folded").write_text(f"main;f {hits}\nmain;g;h 400\n")
		done("import", "--format", "folded", "-o", f"{name}.data", f"{name}.folded", directory=folder)
	return ["a.data", "b.data"]


# The profile, its resource, and the views that it has beside those that each has.
KINDS = {
	"time": (lambda folder: sampled(folder, "-r", "cpu/100us"), "cpu", [*SAMPLED, "Threads"]),
	"counted": (counted, "page-faults", [*SAMPLED, "Pages"]),
	"instrumented": (lambda folder: hooked("paths", folder), "calls", ["Modules"]),
	"trace": (lambda folder: hooked("trace", folder), "calls", ["Events", "Modules"]),
	"comparison": (compared, "samples", ["Comparison"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_of_each_kind(chromium, tmp_path, kind):
	"""Each tab shows figures or pictures, all of them visible; no view is offered that has nothing to show."""
	make, resource, more = KINDS[kind]
	done("html", "-o", "page.html", *make(tmp_path), directory=tmp_path)
	chromium.open(tmp_path / "page.html", resource=resource)
	tabs = [tab.text for tab in chromium.all(".tabs button")]
	assert set(ALWAYS + more) <= set(tabs), tabs
	for tab in tabs:
		chromium.button(tab).click()
		chromium.eventually(lambda name=tab: [each.text for each in chromium.all(".tabs [aria-current=true]")] == [name])
		chromium.eventually(lambda: all(canvas.size["height"] > 0 for canvas in chromium.all("main canvas")))
		assert not chromium.all(".failure") and "are selected." not in chromium.text(), (tab, chromium.text())
		assert chromium.all("main canvas") or chromium.rows() or chromium.all(".tree, .facts"), tab
		chromium.eventually(lambda: chromium.driver.execute_script(DRAWN))
		assert chromium.driver.execute_script(OVERLAPS) == [], tab
	assert [entry for entry in chromium.log() if "getImageData" not in entry] == []


# The elements of a page that take keys, in the order of the tab key.
CONTROLS = """
return [...document.querySelectorAll("button, select, input, canvas, summary, [tabindex='0']")].filter(each => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ checkVisibilityCSS: true }));
"""


def visited_by_tab(chromium):
	"""How many controls the tab key visits until it is back at the first one, and how many there are."""
	expected = chromium.driver.execute_script("window.visited = new Set(); addEventListener('focusin', event => visited.add(event.target));" + CONTROLS)
	ActionChains(chromium.driver).send_keys(*[Keys.TAB] * (len(expected) + 1)).perform() # behind the last control comes the page itself
	return chromium.driver.execute_script("return arguments[0].filter(each => visited.has(each)).length", expected), len(expected)


@pytest.mark.parametrize("kind", ["trace", "comparison"])
def test_every_view_by_keyboard(chromium, tmp_path, kind):
	"""Enter on a tab shows its view, and the focus stays there; the tab key visits each control of the view."""
	make, resource, _ = KINDS[kind]
	done("html", "-o", "page.html", *make(tmp_path), directory=tmp_path)
	chromium.open(tmp_path / "page.html", resource=resource)
	for tab in [tab.text for tab in chromium.all(".tabs button")]:
		chromium.button(tab).send_keys(Keys.ENTER)
		chromium.eventually(lambda name=tab: [each.text for each in chromium.all(".tabs [aria-current=true]")] == [name])
		assert chromium.driver.switch_to.active_element.text == tab
		chromium.eventually(lambda: all(canvas.size["height"] > 0 for canvas in chromium.all("main canvas")))
		chromium.settle()
		if len(chromium.rows()) < 30: # a table's rows are alike
			visited, expected = visited_by_tab(chromium)
			assert visited == expected > 5, tab


def test_the_focus_stays_in_the_page(chromium, tmp_path):
	"""A choice draws the page anew: the focus stays on the control, or goes to the new view."""
	done("html", "-o", "page.html", *sampled(tmp_path, "-r", "cpu/100us"), directory=tmp_path)
	chromium.open(tmp_path / "page.html", resource="cpu", view="functions")
	select = chromium.one("select[data-choice=by]")
	select.send_keys("m") # module
	chromium.eventually(lambda: "by=module" in chromium.driver.current_url)
	assert chromium.driver.switch_to.active_element.get_attribute("data-choice") == "by"
	chromium.open(tmp_path / "page.html", resource="cpu", view="functions")
	chromium.all("tbody button")[0].send_keys(Keys.ENTER)
	chromium.eventually(lambda: "view=sandwich" in chromium.driver.current_url)
	assert chromium.driver.switch_to.active_element.tag_name == "main"
	chromium.driver.switch_to.active_element.send_keys(Keys.TAB)
	assert chromium.driver.switch_to.active_element.text == "its source"


def test_an_instrumented_run_has_no_timeline(chromium, tmp_path):
	"""Its samples belong to call paths, not to times: the tab would lead to an empty view."""
	done("html", "-o", "page.html", *hooked("paths", tmp_path), directory=tmp_path)
	for resource in ("cpu", "calls"):
		chromium.open(tmp_path / "page.html", resource=resource)
		assert not chromium.all(".strip") and "Stack chart" not in [tab.text for tab in chromium.all(".tabs button")]


def test_long_amounts_of_the_tree(chromium, tmp_path):
	"""The names stand behind the amounts, however long these are."""
	(tmp_path / "a.folded").write_text("main;f 12345678\nmain;g 23456789\n")
	done("import", "--format", "folded", "-o", "a.data", "a.folded", directory=tmp_path)
	done("html", "-o", "page.html", "a.data", directory=tmp_path)
	for width in (400, 1280):
		with chromium.window(width, 700):
			chromium.open(tmp_path / "page.html", view="tree")
			chromium.eventually(lambda: len(chromium.all(".tree .name")) >= 3)
			assert chromium.driver.execute_script(OVERLAPS) == []


def test_what_if_of_a_recursion(chromium, tmp_path):
	"""A box of the flame graph is a path that is not folded. The prediction is for the folded path, as `whatif` has it."""
	(tmp_path / "a.folded").write_text("main;f;g;f;g;f 30\nmain;f;g 50\nmain;h 20\n")
	done("import", "--format", "folded", "-o", "a.data", "a.folded", directory=tmp_path)
	done("html", "-o", "page.html", "a.data", directory=tmp_path)
	for steps, path in ((5, "main;f;g;f"), (6, "main;f;g"), (7, "main;f;g;f")):
		chromium.open(tmp_path / "page.html", view="whatif")
		canvas = chromium.one("canvas")
		chromium.eventually(lambda: canvas.size["height"] > 30) # pylint: disable=cell-var-from-loop
		canvas.send_keys(*[Keys.ARROW_DOWN] * steps, Keys.ENTER)
		chromium.eventually(lambda: chromium.one("strong").get_attribute("title") == path.replace(";", " › ")) # pylint: disable=cell-var-from-loop
		answer = results(done("whatif", "--format", "json", "a.data", f"{path}=0.5", directory=tmp_path))[0]
		assert f"would take {percent(answer['predicted_total'], round(answer['entries'][0]['error'] / 2, 6))} of" in chromium.one(".big").text
