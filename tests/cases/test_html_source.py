"""The source view and the first view of the page of `cpprof html`: whole files and machine code with the figures of reports, linked in both
directions, and the first report as rows that lead to other views."""
import json
import re
from pathlib import Path

import pytest
from cli_support import done
from page_support import check_legend, percent, results
from record_support import build, record_well
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

# The rows of a listing: of a bar its tooltip, which has the exact figures.
LISTING = """
return [...document.querySelectorAll(".pane")[arguments[0]].querySelectorAll("tr[data-index]")].map(row =>
	[...row.children].map(cell => cell.querySelector(".bar")?.title ?? cell.textContent));
"""
SOURCE = """/* A comment
   over lines */
int f(int a) // to the end
{
	return a * 0x10 + 'b';
}
const char *text = "a \\"quoted\\" /* text */";
int main(void)
{
	return f(3) + f(4);
}
"""


def shown(row):
	"""A share as a row's tooltip has it."""
	def text(kind):
		hits = row[f"{kind}_hits"]
		return f"{percent(row[f'{kind}_fraction'], row[f'{kind}_error'])}, {hits} hit{'' if hits == 1 else 's'}" if hits else ""
	return [text("body"), text("total")]


def listing(chromium, pane):
	chromium.eventually(lambda: chromium.driver.execute_script(LISTING, pane))
	return chromium.driver.execute_script(LISTING, pane)


def marked(chromium, kind="marked"):
	"""The lines of the marked rows of both panes."""
	return chromium.driver.execute_script(
		"return [...document.querySelectorAll('.pane')].map(pane => [...pane.querySelectorAll(`tr.${arguments[0]}`)].map(row => row.children[2].textContent))", kind)


def line_row(chromium, pane, line):
	rows = [row for row in chromium.all(".pane")[pane].find_elements("css selector", "tr[data-index]") if row.find_elements("css selector", "th, td")[2].text == str(line)]
	assert rows, line
	return rows[0]


@pytest.fixture
def counted_page(open_path):
	"""A page with 40 hits of f in line 5, 20 of them called by line 10, and 2 of main in line 9: by hand."""
	folder, path = open_path, open_path / "prog.c"
	path.write_text(SOURCE + "".join(f"// {i}\n" for i in range(3000)))
	frames = [{"name": "main", "file": str(path), "line": 10}, {"name": "f", "file": str(path), "line": 5}, {"name": "main", "file": str(path), "line": 9},
		{"name": "late", "file": str(path), "line": 2900}]
	(folder / "in.json").write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames}, "profiles": [
		{"type": "sampled", "name": "samples", "unit": "none", "startValue": 0, "endValue": 1, "samples": [[0, 1], [1], [2], [0, 3]], "weights": [20, 20, 2, 8]}]}))
	done("import", "--format", "speedscope", "-o", "in.data", "in.json", directory=folder)
	done("html", "--source", "-o", "page.html", "in.data", directory=folder)
	return folder / "page.html", path


def test_the_whole_file_has_exact_hits(chromium, counted_page):
	page, _ = counted_page
	chromium.open(page, view="source", root="f")
	rows = listing(chromium, 0)
	assert [row[2] for row in rows] == [str(i + 1) for i in range(len(rows))]
	assert [row[3] for row in rows[:11]] == [line.replace("\t", "    ") for line in SOURCE.splitlines()]
	hits = {row[2]: [re.sub(".*, ", "", cell) for cell in row[:2]] for row in rows if row[1]}
	assert hits == {"5": ["40 hits", "40 hits"], "9": ["2 hits", "2 hits"], "10": ["", "28 hits"]}


def test_words_have_kinds(chromium, counted_page):
	page, _ = counted_page
	chromium.open(page, view="source", root="f")
	listing(chromium, 0)
	kinds = chromium.driver.execute_script(
		"return [...document.querySelectorAll('.pane tr[data-index]')].slice(0, 11).flatMap(row => [...row.querySelectorAll('code span')].map(word => [word.className, word.textContent]))")
	found = {kind: [text for each, text in kinds if each == f"word-{kind}"] for kind in ("comment", "text", "number", "keyword")}
	assert found["comment"] == ["/* A comment", "   over lines */", "// to the end"]
	assert found["text"] == ["'b'", '"a \\"quoted\\" /* text */"']
	assert found["number"] == ["0x10", "3", "4"]
	assert found["keyword"] == ["int", "int", "return", "const", "char", "int", "void", "return"]


def test_the_clicked_line_is_marked_and_in_sight(chromium, counted_page):
	"""From Hot lines to a line far below, whose row is made then; the link has it."""
	page, path = counted_page
	chromium.open(page, view="lines")
	chromium.button(f"{path}:2900").click()
	chromium.eventually(lambda: marked(chromium)[0] == ["2900"])
	row = chromium.one(".pane tr.marked")
	chromium.eventually(lambda: chromium.driver.execute_script("""
		const row = arguments[0].getBoundingClientRect(), view = arguments[0].closest(".listing").getBoundingClientRect();
		return row.top > view.top + 18 && row.bottom < view.bottom;""", row))
	assert len(listing(chromium, 0)) < 1000
	assert chromium.driver.current_url.endswith("2900") and "root=late" in chromium.driver.current_url
	chromium.one(".pane:first-child .listing").send_keys(Keys.ARROW_DOWN)
	chromium.eventually(lambda: marked(chromium)[0] == ["2901"])


def test_a_line_without_code_leads_to_its_function(chromium, counted_page):
	page, _ = counted_page
	chromium.open(page, view="source", root="f")
	listing(chromium, 0)
	line_row(chromium, 0, 10).click()
	chromium.eventually(lambda: "root=main" in chromium.driver.current_url)
	chromium.eventually(lambda: marked(chromium)[0] == ["10"])
	chromium.driver.back()
	chromium.eventually(lambda: "root=f" in chromium.driver.current_url)


def test_search_marks_lines(chromium, counted_page):
	page, _ = counted_page
	chromium.open(page, view="source", root="f")
	listing(chromium, 0)
	chromium.one("input[type=search]").send_keys("RETURN")
	chromium.eventually(lambda: marked(chromium, "found")[0] == ["5", "10"])
	assert chromium.one("output").text == "2 lines of 3011"


def test_a_page_without_files_states_why(chromium, counted_page):
	"""Imported profiles have no addresses."""
	page, _ = counted_page
	chromium.open(page, view="source", root="f")
	chromium.eventually(lambda: "cannot disassemble 'f': the profile was imported and has no addresses" in chromium.one(".code-pane").text)


# --- machine code ---

@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
	folder = tmp_path_factory.mktemp("code")
	run = record_well(folder, [build("forms.c"), "20"], "-r", "cpu/1ms")
	done("html", "-o", folder / "page.html", run.path)
	return folder / "page.html", run.path


def report(option, function, path):
	answer, = results(done("report", "--format", "json", option, function, path))
	return answer["entries"]


def hottest(path):
	"""The function of the program with most hits of its own."""
	for entry in results(done("report", "--format", "json", "--body", path))[0]["entries"]:
		lines = report("--source", entry["path"][0], path)
		if any(line["file"].endswith("forms.c") and line["body_hits"] for line in lines):
			return entry["path"][0]
	raise AssertionError("no function of the program has hits")


def test_lines_and_instructions_are_those_of_report(chromium, recorded):
	page, path = recorded
	function = hottest(path)
	chromium.open(page, view="source", root=function)
	instructions = report("--asm", function, path)
	rows = listing(chromium, 1)
	numbers = chromium.driver.execute_script("return [...document.querySelectorAll('.code-pane tr[data-index]')].map(row => Number(row.dataset.index))")
	instructions = [instructions[number] for number in numbers]
	assert [row[:2] for row in rows] == [shown(each) for each in instructions]
	assert [row[4] for row in rows] == [each["instruction"] + (f"  <{each['callee']}>" if each["callee"] else "") for each in instructions]
	assert any(row[0] for row in rows)
	lines = {str(each["line"]): shown(each) for each in report("--source", function, path) if each["line"]}
	found = {row[2]: row[:2] for row in listing(chromium, 0)}
	assert {line: found[line] for line in lines if line in found} and all(found[line] == lines[line] for line in lines if line in found)


def test_lines_and_instructions_are_linked(chromium, recorded):
	page, path = recorded
	function = hottest(path)
	chromium.open(page, view="source", root=function)
	instructions = report("--asm", function, path)
	listing(chromium, 1)
	hot = max((each for each in instructions if each["line"] and each["file"].endswith("forms.c")), key=lambda each: each["body_hits"])
	of_line = [str(each["line"]) for each in instructions if (each["file"], each["line"]) == (hot["file"], hot["line"])]
	chromium.eventually(lambda: chromium.all(f".code-pane tr[data-index='{instructions.index(hot)}']")) # the hottest one is in sight
	chromium.driver.execute_script("document.querySelector(arguments[0]).click()", f".code-pane tr[data-index='{instructions.index(hot)}']")
	chromium.eventually(lambda: marked(chromium) == [[str(hot["line"])], of_line])
	# The other way, by a hover and by a click.
	other = next(each for each in instructions if each["file"] == hot["file"] and each["line"] not in (0, hot["line"]))
	of_other = [str(each["line"]) for each in instructions if (each["file"], each["line"]) == (other["file"], other["line"])]
	row = line_row(chromium, 0, other["line"])
	chromium.driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))", row)
	assert marked(chromium, "pointed") == [[str(other["line"])], of_other]
	chromium.driver.execute_script("arguments[0].click()", row)
	chromium.eventually(lambda: marked(chromium) == [[str(other["line"])], of_other])
	coded = marked(chromium, "coded")[0]
	assert set(coded) <= {str(each["line"]) for each in instructions} and str(hot["line"]) in coded


def test_code_without_lines_is_shown(chromium, tmp_path):
	"""Nothing is marked, because no line is: the hottest instruction is in sight."""
	run = record_well(tmp_path, [build("forms.c", "-g0"), "20"], "-r", "cpu/1ms")
	done("html", "-o", tmp_path / "page.html", run.path)
	entries = results(done("report", "--format", "json", "--body", run.path))[0]["entries"]
	function = next(name for name in (entry["path"][0] for entry in entries) if name in (Path(__file__).parents[1] / "programs/forms.c").read_text())
	chromium.open(tmp_path / "page.html", view="source", root=function)
	instructions = report("--asm", function, run.path)
	chromium.eventually(lambda: f"{len(instructions)} instructions" in chromium.one(".code-pane .pane-head").text)
	assert "are not known: its code has no debug information" in chromium.text() and "inlined" not in chromium.one(".code-pane .pane-head").text
	assert marked(chromium) == [[], []] and any(row[0] for row in listing(chromium, 1))
	assert not any(each["line"] for each in instructions)


def test_a_page_without_source_has_no_code(chromium, recorded, tmp_path):
	_, path = recorded
	made = done("html", "--no-source", "-o", tmp_path / "page.html", path)
	assert "machine code" not in made and 'id="code-a"' not in (tmp_path / "page.html").read_text()
	chromium.open(tmp_path / "page.html", view="source", root=hottest(path))
	chromium.eventually(lambda: "the page was made without machine code" in chromium.one(".code-pane").text)
	assert "the page does not contain its text" in chromium.text()


# --- the first view ---

def rows_below(chromium, title):
	return chromium.driver.execute_script("""
		const head = [...document.querySelectorAll(".part")].find(each => each.caption.textContent === arguments[0]);
		return [...(head?.querySelectorAll("tr") ?? [])].map(row => [...row.children].map(cell => cell.textContent));""", title)


def test_the_first_report_is_first(chromium, page_of):
	"""A link without a view shows it; each row leads to the next view."""
	page = page_of("main;a;b 60\nmain;a;c 25\nmain;d 15\n")
	chromium.open(page, view=None)
	assert chromium.all(".tabs button")[0].text == "First report" == chromium.one(".tabs [aria-current=true]").text
	expected = [entry for entry in results(done("report", "--format", "json", "--body", page.parent / "0.data"))[0]["entries"]]
	assert rows_below(chromium, "Hottest functions, by their own use") == [[percent(entry["fraction"], entry["error"]), f"{entry['hits']} samples", entry["path"][0]] for entry in expected]
	assert [row[2] for row in rows_below(chromium, "The hot path")] == ["main", "a", "b"]
	chromium.button("b").click()
	chromium.eventually(lambda: "view=sandwich" in chromium.driver.current_url and "root=b" in chromium.driver.current_url)
	chromium.driver.back()
	chromium.eventually(lambda: chromium.one(".tabs [aria-current=true]").text == "First report")
	path = [button for button in chromium.all("button.link") if button.text == "a"]
	path[-1].click() # in the hot path: the flame graph, zoomed to it
	chromium.eventually(lambda: "view=flame" in chromium.driver.current_url and chromium.all(".crumb"))
	assert [crumb.text for crumb in chromium.all(".crumb")] == ["all", "main", "a"]


def test_hot_lines_lead_to_their_source(chromium, counted_page):
	page, _ = counted_page
	chromium.open(page, view="summary")
	rows = rows_below(chromium, "Hot lines")
	assert [row[2] for row in rows] == ["prog.c:5 return a * 0x10 + 'b';", "prog.c:2900 // 2888", "prog.c:9 {"]
	chromium.button("prog.c:9").click()
	chromium.eventually(lambda: marked(chromium)[0] == ["9"])
	assert chromium.one(".tabs [aria-current=true]").text == "Source"


def test_findings_and_proposals_are_in_the_first_report(chromium, recorded):
	page, path = recorded
	chromium.open(page, view="summary")
	text = done("report", path)
	assert ("its lines" in text) == any("its lines" in item.text for item in chromium.all(".next li"))
	for item in chromium.all(".next li"):
		assert item.find_elements("css selector", "button") or "cpprof" in item.text or item.text


# --- colours ---

def test_the_legend_has_the_colours_of_modules(chromium, recorded):
	"""The square of a module has one of the colours of its boxes' hue; the shares are the modules' own."""
	page, path = recorded
	chromium.open(page)
	chromium.eventually(lambda: chromium.all(".legend .swatch") and chromium.all(".legend .swatch")[0].get_attribute("style"))
	check_legend(chromium, path)
	hues = chromium.driver.execute_script("""
		const hue = colour => { const [r, g, b] = colour.map(each => each / 255), most = Math.max(r, g, b), span = most - Math.min(r, g, b);
			return Math.round(60 * (most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4)); };
		const swatch = getComputedStyle(document.querySelector(".swatch")).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number);
		return hue(swatch);""")
	main = chromium.pixels("""
		const canvas = document.querySelector("canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, found = {};
		for (let i = 0; i < pixels.length; i += 4) {
			const [r, g, b] = [pixels[i], pixels[i + 1], pixels[i + 2]].map(each => each / 255), most = Math.max(r, g, b), span = most - Math.min(r, g, b);
			if (span < 0.1)
				continue;
			const hue = Math.round(60 * (most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4));
			found[hue] = (found[hue] ?? 0) + 1;
		}
		return found;""")
	assert sum(number for hue, number in main.items() if abs(int(hue) - hues) <= 2) > 1000
