"""The page of `cpprof html`, in a browser: each figure is as in `report --format json`, hostile texts do nothing, damaged data is reported."""
import json
import re

import pytest
from cli_support import done, run
from page_support import check_legend, percent, results
from record_support import build, record
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("the tests of all views in a browser take minutes; test_page.py is in the gate")

HOSTILE = ["<script>document.title='run'</script>", "\"><img src=x onerror=\"document.title='run'\">", "</script><b id=bold>", "a\u202eb\u2066c",
	"escape\x1b[31m", "${document.title='run'}", "q" * 100_000]


def report(profiles, name, *words):
	return results(done("report", "--format", "json", "--threshold", "0", "--limit", "0", *words, f"{name}.data", directory=profiles))


def test_names_are_short_and_full_on_demand(chromium, tmp_path):
	"""The rule of docs/languages.md, by the engine; the tooltip and the selection have the full name."""
	full = "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)"
	(tmp_path / "a.folded").write_text(f"main;{full} 5\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	chromium.open(tmp_path / "a.html", view="functions")
	assert sorted(cell.text for cell in chromium.all("tbody th")) == ["main", "std::vector<Rec>::push_back"]
	assert sorted(row[0] for row in chromium.rows()) == ["main", full]
	chromium.open(tmp_path / "a.html", view="tree")
	chromium.eventually(lambda: "std::vector<Rec>::push_back" in [name.text for name in chromium.all(".name")])
	chromium.open(tmp_path / "a.html")
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
	assert described(chromium).startswith(full)
	canvas.send_keys(Keys.ENTER)
	chromium.eventually(lambda: [crumb.text for crumb in chromium.all(".crumb")] == ["all", "main", "std::vector<Rec>::push_back"])


def described(chromium):
	return chromium.one(".box-text").text


BOX = re.compile(r"(.+?)   ([\d.]+ %(?: ±[\d.]+)?)(?:, own ([\d.]+ %)(?: ±[\d.]+)?)?   ([\d,]+) hits   (.+)")


def boxes_of(chromium, canvas, deeper=Keys.ARROW_DOWN):
	"""[(depth, name, share, own share, hits, amount)] of all boxes, as the arrow keys reach them: one key leads to the widest box of the next
	level, and the others to its neighbours. Where that box has none below it, the walk goes down from each of its neighbours."""
	text = canvas.find_element("xpath", "../following-sibling::*[contains(@class, 'box-text')]")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	def press(key):
		canvas.send_keys(key)
		return text.text

	def go_to_the_first():
		before = ""
		while before != text.text:
			before = text.text
			press(Keys.ARROW_LEFT)

	def go_deeper(row):
		go_to_the_first()
		for _ in row:
			before = text.text
			if press(deeper) != before:
				return True
			press(Keys.ARROW_RIGHT)
		return False

	press(deeper)
	found = []
	while not found or go_deeper(found[-1]):
		go_to_the_first()
		row = [text.text]
		while press(Keys.ARROW_RIGHT) != row[-1]:
			row.append(text.text)
		found.append(row)
	return [(depth, *BOX.fullmatch(each).groups()) for depth, row in enumerate(found) for each in row]


def expected_box(depth, name, share, hits, own=None):
	"""A box of a profile of CPU time, sampled each millisecond: (depth, name, share, own share, hits, amount)."""
	return depth, name, share, own, f"{hits:,}", f"{hits} ms"


def tree_of(profiles, *words):
	"""[(path, entry)] of the report, and the hits of all."""
	tree, = report(profiles, "whole", "--tree", "-r", "cpu", *words)
	path, found = [], []
	for entry in tree["entries"]:
		path = [*path[:entry["depth"]], entry["name"]]
		found.append((path, entry))
	return found, tree["total_hits"]


@pytest.mark.parametrize("choices, words", [({}, []), ({"thread": "%232"}, ["--thread", "#2"]), ({"from": "0.1", "to": "0.3"}, ["--from", "0.1", "--to", "0.3"])])
def test_flame_graph_by_keyboard(chromium, pages, profiles, choices, words):
	"""The arrow keys reach every box, and each has the figures of the tree report."""
	chromium.open(pages("whole"), resource="cpu", **choices)
	tree, total = tree_of(profiles, *words)
	shown = boxes_of(chromium, chromium.one("canvas"))
	assert sorted(shown[1:]) == sorted(expected_box(entry["depth"] + 1, entry["name"], percent(entry["fraction"], entry["error"]), entry["hits"],
		percent(entry["own_hits"] / total) if entry["own_hits"] else None) for _, entry in tree)
	assert shown[0] == expected_box(0, "all", "100.0 %", total) and (len(tree) > 6 or choices)
	chromium.one("canvas").send_keys(Keys.ENTER)
	chromium.eventually(lambda: chromium.all(".crumb"))
	chromium.one("canvas").send_keys(*[Keys.ESCAPE] * 4) # one for each level
	chromium.eventually(lambda: not chromium.all(".crumb"))


def test_callers_of_bodies_by_keyboard(chromium, pages, profiles):
	"""The other direction: the first boxes are as in the body report, and each further box has the hits of the bodies that it leads to."""
	chromium.open(pages("whole"), resource="cpu", shape="callers")
	tree, total = tree_of(profiles)
	hits = {}
	for path, entry in tree:
		for length in range(1, len(path) + 1):
			key = tuple(path[-length:])
			hits[key] = hits.get(key, 0) + entry["own_hits"]
	shown = boxes_of(chromium, chromium.one("canvas"))
	assert sorted((depth, name, share.split(" ±")[0], number) for depth, name, share, _, number, _ in shown[1:]) == sorted(
		(len(path), path[0], percent(number / total), f"{number:,}") for path, number in hits.items() if number)
	bodies, = report(profiles, "whole", "--body", "-r", "cpu")
	assert sorted((name, share) for depth, name, share, *_ in shown if depth == 1) == sorted(
		(entry["path"][0], percent(entry["fraction"], entry["error"])) for entry in bodies["entries"])
	assert max(depth for depth, *_ in shown) == 3


def test_search_has_the_share_of_the_samples(chromium, tmp_path):
	(tmp_path / "a.folded").write_text("main;f;g 3\nmain;f;f 5\nmain;h 2\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	chromium.open(tmp_path / "a.html")
	functions, = results(done("report", "--format", "json", "--functions", tmp_path / "a.data"))
	entry = next(entry for entry in functions["entries"] if entry["path"] == ["f"])
	assert entry["hits"] == 8
	chromium.one("input[type=search]").send_keys("F")
	chromium.eventually(lambda: chromium.one("output").text == f"matches {percent(entry['fraction'], entry['error'])}, 8 hits, 1 function")
	assert "search=F" in chromium.driver.current_url
	chromium.one("input[type=search]").send_keys(Keys.BACKSPACE)
	chromium.eventually(lambda: chromium.one("output").text == "")


def test_callers_and_callees(chromium, pages, profiles):
	"""A click on a function shows both of its profiles, whose boxes have the figures of `report --up` and `report --down`."""
	chromium.open(pages("whole"), view="functions", resource="cpu")
	names = [row[0] for row in chromium.rows()]
	for name in ("qsort", "ns::sort(int*, int*)"):
		chromium.open(pages("whole"), view="functions", resource="cpu")
		chromium.all("tbody button")[names.index(name)].click()
		chromium.eventually(lambda: len(chromium.all("canvas")) == 2)
		assert chromium.one("strong").text == name
		for canvas, key, kind, at in zip(chromium.all("canvas"), (Keys.ARROW_UP, Keys.ARROW_DOWN), ("--up", "--down"), (0, -1)):
			answer, = report(profiles, "whole", kind, name, "-r", "cpu")
			shown = [(*box[:3], None, *box[4:]) for box in boxes_of(chromium, canvas, key) if box[0] > 0]
			assert sorted(shown) == sorted(expected_box(len(entry["path"]), entry["path"][at], percent(entry["fraction"], entry["error"]), entry["hits"])
				for entry in answer["entries"])
			assert len(shown) > 1 or (name, kind) == ("qsort", "--down")


def test_colours_by_another_resource(chromium, pages, profiles):
	chromium.open(pages("whole"), resource="cpu", colour="page-faults")
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	canvas.send_keys(Keys.ARROW_DOWN)
	canvas.send_keys(Keys.ARROW_DOWN)
	name = described(chromium).split("   ")[0]
	faults, = report(profiles, "whole", "--functions", "-r", "page-faults")
	share = next(entry["fraction"] for entry in faults["entries"] if entry["path"] == [name])
	assert f"Page Faults: {percent(share)}" in described(chromium)
	assert "a larger share of Page Faults than of CPU Time" in chromium.text()


def test_findings_are_those_of_info(chromium, pages, profiles):
	"""Each finding of info is in the page, with its severity and meaning; so are the resources, their losses and the ends of the stacks."""
	severities = set()
	for name in ("lossy", "killed", "whole"):
		about = json.loads(done("info", "--format", "json", f"{name}.data", directory=profiles))
		chromium.open(pages(name), view="findings")
		escaped = lambda text: text.replace("\x1b", r"\u001b")
		assert [each.text.split("\n") for each in chromium.all(".finding")] == [
			[f"{finding['severity']} {escaped(finding['text'])}", finding["meaning"]] for finding in about["findings"]]
		assert chromium.one("header button").text == ({"lossy": "3 findings", "killed": "3 findings", "whole": "no losses"}[name])
		severities |= {finding["severity"] for finding in about["findings"]}
		facts, resources, causes = [chromium.driver.execute_script(
			"return [...arguments[0].rows].filter(row => row.querySelector('td')).map(row => [...row.cells].map(cell => cell.textContent))", table)
			for table in chromium.all("main table")]
		assert {"lost": f"{about['lost']:,}", "broken": percent(about["broken"] / about["stacks"])}.items() <= dict(facts).items()
		assert sorted([row[0], *row[2:]] for row in resources) == sorted([row["title"], *(f"{row[key]:,}" for key in ("samples", "hits", "lost")),
			"; ".join(filter(None, (row["backend"], row["note"])))] for row in about["resources"])
		assert sorted(causes) == sorted([row["cause"], percent(row["count"] / about["stacks"]), f"{row['count']:,}"] for row in about["causes"])
	assert severities == {"error", "warning", "note"}


def test_what_if_is_that_of_the_command(chromium, tmp_path):
	(tmp_path / "a.folded").write_text("main;f;g 30\nmain;f 50\nmain;h 20\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	predicted = results(done("whatif", "--format", "json", tmp_path / "a.data", "main;f=0.25"))[0]["predicted_total"]
	chromium.open(tmp_path / "a.html", view="whatif", path="main;f", factor="0.25")
	assert predicted == 0.4 and percent(predicted) in chromium.one(".big").text


def test_what_if_shortens_names_and_reports_absent_paths(chromium, tmp_path):
	name = "std::vector<int, std::allocator<int> >::push_back(int const&)"
	(tmp_path / "a.folded").write_text(f"main;{name} 30\nmain;f 50\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	chromium.open(tmp_path / "a.html", view="whatif", path=f"main;{name}".replace("&", "%26"))
	heading = chromium.one(".what-if strong")
	assert "allocator" not in heading.text and heading.text.startswith("main › ") and "push_back" in heading.text
	assert heading.get_attribute("title") == f"main › {name}"
	chromium.open(tmp_path / "a.html", view="whatif", path="f;main")
	assert "no such path" in chromium.one(".what-if .failure").text and not chromium.all(".big")


def test_a_comparison(chromium, tmp_path):
	for name, hits in (("a", 500), ("b", 900)):
		(tmp_path / f"{name}.folded").write_text(f"main;f {hits}\nmain;g 400\n")
		done("import", "--format", "folded", "-o", tmp_path / f"{name}.data", tmp_path / f"{name}.folded")
	done("html", tmp_path / "a.data", tmp_path / "b.data", "-o", tmp_path / "ab.html")
	chromium.open(tmp_path / "ab.html", view="compare")
	expected = results(done("diff", "--functions", "--format", "json", "--threshold", "0", "--limit", "0", tmp_path / "a.data",
		tmp_path / "b.data"))[0]
	shown = {row[0]: row for row in chromium.rows()}
	assert set(shown) == {" › ".join(entry["path"]) for entry in expected["entries"]}
	for entry in expected["entries"]:
		row = shown[entry["path"][0]]
		assert ("*" in row[1]) == entry["significant"], row
		assert [int(text.split()[0].replace(",", "")) for text in row[2:]] == [entry["gticks_a"], entry["gticks_b"]]
	assert "+44.4 %" in chromium.one(".big").text
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	described = []
	for _ in range(4):
		canvas.send_keys(Keys.ARROW_DOWN)
		described.append(chromium.one(".box-text").text)
	assert described[1].startswith("main") and described[1].endswith("+400 samples (changed)")
	assert described[2].startswith("f") and described[2].endswith("500 samples in A, 900 samples in B: +400 samples (changed)")
	chromium.button("other views show B").click()
	chromium.button("Functions").click()
	assert chromium.rows()[0][3] == "1,300"


def test_the_header_has_the_total_of_the_summary(chromium, pages, profiles):
	"""Both are hits: the counted total of a clock differs from them, and the shares are of the hits."""
	about = json.loads(done("info", "--format", "json", "server.data", directory=profiles))
	shown = [row for row in about["resources"] if row["hits"] > 0]
	assert any(row["total"] not in (0, row["hits"] * row["interval"]) for row in shown)
	for row in shown:
		first = done("report", "-r", row["name"], "server.data", directory=profiles).splitlines()[0]
		total = re.match(rf"{re.escape(row['title'])}: ([0-9.]+ \S+)", first)[1]
		chromium.open(pages("server"), resource=row["name"])
		header = chromium.one("header").text.replace(",", "").replace("µ", "u")
		assert f"{row['title']}: {total} ·" in header


def test_the_header_counts_the_samples_of_the_resource(chromium, pages, profiles):
	about = json.loads(done("info", "--format", "json", "whole.data", directory=profiles))
	shown = [row for row in about["resources"] if row["hits"] > 0]
	assert len({row["samples"] for row in shown}) > 1
	for row in shown:
		chromium.open(pages("whole"), resource=row["name"])
		amount = "counted exactly" if row["kind"] == "exact" else f"{row['samples']:,} samples"
		assert re.search(f"{row['title']}: [0-9.,]+ [a-z]+ · {amount}", chromium.one("header").text, re.I)


def test_processes_are_those_of_report(chromium, pages, profiles):
	"""The tree: each row's figures, and the hits that choosing it selects."""
	expected, *_ = report(profiles, "server", "--process-tree", "-r", "page-faults")
	chromium.open(pages("server"), view="processes", resource="page-faults")
	shown = chromium.rows()
	assert [[row[0].count("\u2003"), row[0].strip("\u2003"), row[1], *row[2:]] for row in shown] == [[entry["depth"], entry["name"],
		str(entry["pid"]) if entry["processes"] == 1 else f"{entry['processes']} processes", percent(entry["fraction"], entry["error"]),
		percent(entry["own_fraction"]), f"{entry['hits']} fault{'s' * (entry['hits'] != 1)}", f"{entry['hits']:,}"] for entry in expected["entries"]]
	assert len(shown) > 1
	chromium.all("tbody button")[1].click()
	chromium.eventually(lambda: chromium.all("canvas"))
	chromium.button("Functions").click()
	chromium.settle()
	assert max(int(row[3].replace(",", "")) for row in chromium.rows()) == int(shown[1][-1].replace(",", ""))


def test_the_legend_counts_the_modules_of_report(chromium, tmp_path):
	"""Those whose boxes have most of the picture. Also where a module that only marks the start of threads stands between the others: before the
	second program's."""
	recorded = record(tmp_path, ["sh", "-c", f"{build('threads.c')} 8; python3 -c pass"], "-r", "page-faults/1")
	done("html", "-o", "page.html", recorded.path, directory=tmp_path)
	chromium.open(tmp_path / "page.html", resource="page-faults")
	chromium.eventually(lambda: chromium.all(".legend-entry"))
	check_legend(chromium, recorded.path, "-r", "page-faults")
	assert any("python" in entry.text for entry in chromium.all(".legend-entry"))


@pytest.mark.parametrize("view, columns", [("modules", []), ("threads", ["tid", "pid"])])
def test_shares_are_those_of_report(chromium, pages, profiles, view, columns):
	expected, *_ = report(profiles, "server", {"modules": "--modules", "threads": "--threads"}[view], "-r", "page-faults")
	chromium.open(pages("server"), view=view, resource="page-faults")
	shown = chromium.rows()
	bodies, *_ = report(profiles, "server", "--body", "--by", "module", "-r", "page-faults")
	own = {entry["path"][0]: [percent(entry["fraction"], entry["error"])] for entry in bodies["entries"]}
	assert sorted(shown) == sorted([*([entry["path"][0], *own.get(entry["path"][0], [percent(0)])] if view == "modules" else [entry["name"]]),
		*(str(entry[name]) for name in columns), percent(entry["fraction"], entry["error"]), f"{entry['hits']} fault{'s' * (entry['hits'] != 1)}",
		f"{entry['hits']:,}"] for entry in expected["entries"])
	assert len(shown) > 1 and len({row[-1] for row in shown}) > 1
	if columns:
		hits = shown[0][-1]
		chromium.all("tbody button")[0].click()
		chromium.eventually(lambda: chromium.all("canvas"))
		chromium.button("Functions").click()
		assert max(int(row[3].replace(",", "")) for row in chromium.rows()) == int(hits.replace(",", "")) < 40


def test_the_filters_choose_what_they_name(chromium, pages, profiles):
	"""Each entry of the lists of processes and threads selects the hits that report counts for it."""
	for label, field in (("process", "pid"), ("thread", "tid")):
		shares, *_ = report(profiles, "server", {"process": "--processes", "thread": "--threads"}[label], "-r", "page-faults")
		hits = {entry[field]: entry["hits"] for entry in shares["entries"]}
		chromium.open(pages("server"), view="functions", resource="page-faults")
		listed = chromium.driver.execute_script("""const select = [...document.querySelectorAll("label")]
			.find(each => each.textContent.startsWith(arguments[0])).querySelector("select");
			return [...select.options].filter(each => each.value).map(each => [each.value, each.textContent]);""", label)
		assert len(listed) == len(hits) > 1
		for value, text in listed:
			chromium.open(pages("server"), view="functions", resource="page-faults", **{label: value.replace("#", "%23")})
			shown = max(int(row[3].replace(",", "")) for row in chromium.rows())
			functions, = report(profiles, "server", "--functions", "-r", "page-faults", f"--{label}", text.split()[-1])
			assert functions["total_hits"] == hits[int(text.split()[-1])]
			assert shown == max(entry["hits"] for entry in functions["entries"]), text


def test_hot_lines_are_those_of_report(chromium, pages, profiles):
	expected, = report(profiles, "whole", "--lines", "-r", "cpu")
	chromium.open(pages("whole"), view="lines", resource="cpu", lines="all")
	shown = {row[0]: row[1:] for row in chromium.rows()}
	assert len(expected["entries"]) > 1 and {name: row[:2] for name, row in shown.items()} == {
		f"{entry['file']}:{entry['line']}" if entry["file"] else "[code without known lines]": [
		percent(entry["body_fraction"], entry["body_error"]), percent(entry["total_fraction"], entry["total_error"])]
		for entry in expected["entries"]}
	assert any(row[2] for row in shown.values())
	for column, view in (("th", "source"), ("td:last-child", "sandwich")):
		chromium.open(pages("whole"), view="lines", resource="cpu", lines="all")
		row = next(row for row in chromium.all("tbody tr") if row.find_elements("css selector", "td:last-child button"))
		line = row.find_element("css selector", "th").text.rpartition(":")[2]
		row.find_element("css selector", f"{column} button").click()
		assert f"view={view}" in chromium.driver.current_url and "root=" in chromium.driver.current_url
		assert line in [row[2] for row in chromium.rows()] if view == "source" else chromium.one(".full-name").text


def views_of(chromium):
	"""Shows each view, one after the other."""
	for name in [button.text for button in chromium.all(".tabs button")]:
		chromium.button(name).click()
		yield name


@pytest.mark.parametrize("width", [700, 400])
def test_a_narrow_window_shows_everything(chromium, tmp_path, width):
	"""In a narrow window nothing but a table's own area scrolls sideways, and no figure is stretched to more than a line."""
	name = "std::vector<std::basic_string<char, std::char_traits<char>>>::emplace_back"
	(tmp_path / "a.folded").write_text(";".join([f"main;{name}<{i}>" for i in range(30)]) + " 10\nmain;g 3\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	with chromium.window(width, 800):
		chromium.open(tmp_path / "a.html")
		for view in views_of(chromium):
			widest = chromium.driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
			assert widest <= 0, view
			assert all(bar.size["height"] < 30 for bar in chromium.all(".bar")[:50]), view


CONTRASTS = """
const luminance = ([r, g, b]) => {
	const [R, G, B] = [r, g, b].map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
	return 0.2126 * R + 0.7152 * G + 0.0722 * B;
};
const canvas = document.querySelector("canvas"), context = canvas.getContext("2d");
const text = luminance(getComputedStyle(document.body).color.match(/[0-9]+/g).map(Number));
const found = [];
for (let y = 1; y < canvas.height; y += 18) {
	const row = context.getImageData(0, y, canvas.width, 1).data;
	for (let x = 0; x < row.length; x += 4)
		if (row[x + 3] === 255) {
			const back = luminance(row.slice(x, x + 3));
			found.push((Math.max(back, text) + 0.05) / (Math.min(back, text) + 0.05));
		}
}
return found.length ? Math.min(...found) : 0;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_can_be_read_on_their_boxes(chromium, tmp_path, scheme):
	"""Text and boxes differ by the contrast of 4.5 that WCAG 2 demands (AA), for boxes of many names, found boxes and the boxes of a comparison."""
	for side, hits in (("a", 900), ("b", 2000)):
		lines = [f"main;f{i};g{i} {hits if i % 2 else 1500}" for i in range(40)]
		(tmp_path / f"{side}.folded").write_text("\n".join(lines) + "\n")
		done("import", "--format", "folded", "-o", tmp_path / f"{side}.data", tmp_path / f"{side}.folded")
	done("html", tmp_path / "a.data", tmp_path / "b.data", "-o", tmp_path / "ab.html")
	with chromium.media(scheme=scheme):
		for choices in ({"view": "flame"}, {"view": "flame", "search": "f1"}, {"view": "compare"}):
			chromium.open(tmp_path / "ab.html", **choices)
			chromium.eventually(lambda: chromium.one("canvas").size["height"] > 30)
			chromium.eventually(lambda: chromium.pixels(CONTRASTS) > 0)
			assert chromium.pixels(CONTRASTS) >= 4.5, choices


DRAWN = """
const drawn = window.drawn = [], kind = CanvasRenderingContext2D.prototype;
const { fillText } = kind;
kind.fillText = function (text, x, y, room) { drawn.push([text, this.measureText(text).width, room]); fillText.call(this, text, x, y, room); };
"""


def test_names_end_in_their_boxes(chromium, tmp_path):
	"""Wide letters as well: no name is drawn beyond its box."""
	names = ["W" * 60, "i" * 60, "m@" * 20, "std::vector<int, std::allocator<int>>::push_back"]
	(tmp_path / "a.folded").write_text("".join(f"main;{names[i % 4]}{i} {1 + i * i}\n" for i in range(24)))
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	chromium.open(tmp_path / "a.html")
	chromium.driver.execute_script(DRAWN)
	chromium.one("canvas").send_keys(Keys.ARROW_DOWN)
	chromium.eventually(lambda: len(chromium.driver.execute_script("return drawn")) > 10)
	for text, width, room in chromium.driver.execute_script("return drawn"):
		assert width <= room, text


def test_paper_has_the_tables_and_no_controls(chromium, pages):
	with chromium.media(scheme="dark", kind="print"):
		chromium.open(pages("whole"), view="functions")
		assert not chromium.one(".tabs").is_displayed() and not chromium.one(".filters").is_displayed()
		assert chromium.one("header").is_displayed() and chromium.one("table").is_displayed()
		assert chromium.driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_tables_for_screen_readers(chromium, pages):
	"""Each table has a caption, each of its columns a header, and each of its rows one; the sorted column is marked."""
	chromium.open(pages("whole"))
	tables = 0
	for choices in ({"view": "functions"}, {"view": "threads"}, {"view": "findings"}, {"view": "source", "root": "main"}):
		chromium.open(pages("whole"), **choices)
		for table in chromium.all("table"):
			tables += 1
			assert chromium.driver.execute_script("return arguments[0].caption?.textContent", table), choices
			scopes = chromium.driver.execute_script(
				"return [...arguments[0].querySelectorAll('th')].map(cell => cell.scope)", table)
			assert scopes and set(scopes) <= {"col", "row"}, choices
			rows = chromium.driver.execute_script(
				"return [...arguments[0].querySelectorAll('tbody tr, table.facts tr')].map(row => row.querySelectorAll('th[scope=row]').length)", table)
			assert set(rows) == {1}, choices
	assert tables >= 3
	chromium.open(pages("whole"), view="functions")
	assert [cell.get_attribute("aria-sort") for cell in chromium.all("thead th")] == ["none", "descending", "none", "none", "none"]


def test_everything_is_reached_by_the_tab_key(chromium, pages):
	"""The tab key visits each button, choice, field and picture of a view; of the tabs, the shown one. Enter on a tab shows it."""
	chromium.open(pages("whole"), view="flame")
	expected = chromium.driver.execute_script("return [...document.querySelectorAll('button, select, input, canvas')].filter(each => each.tabIndex >= 0).length")
	visited = set()
	for _ in range(expected):
		chromium.driver.switch_to.active_element.send_keys(Keys.TAB)
		visited.add(chromium.driver.switch_to.active_element.id)
	assert len(visited) == expected
	chromium.button("Functions").send_keys(Keys.ENTER)
	chromium.eventually(lambda: chromium.all("tbody tr"))


def test_the_strip_has_an_axis(chromium, pages):
	"""Below the threads stand times, from the begin of the recording on, in order from left to right."""
	chromium.open(pages("whole"), view="functions", resource="cpu")
	times = [(float(tick.text.removesuffix(" s")), tick.location["x"]) for tick in chromium.all(".strip .axis span")]
	assert len(times) > 2 and times[0][0] == 0 and times == sorted(times)


def test_a_link_restores_the_state(chromium, pages):
	chromium.open(pages("whole"), view="functions", resource="cpu")
	chromium.button("Call tree").click()
	link = chromium.driver.current_url
	chromium.driver.get("about:blank")
	chromium.driver.get(link)
	chromium.eventually(lambda: chromium.all("[role=treeitem]"))
	chromium.driver.back()


def test_hostile_names_do_nothing(chromium, tmp_path):
	lines = [f"main;{name.replace(';', ',')} 10" for name in HOSTILE]
	(tmp_path / "a.folded").write_text("\n".join(lines) + "\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("html", "-o", tmp_path / "a.html", tmp_path / "a.data")
	text = (tmp_path / "a.html").read_text()
	assert "onerror" not in text and "q" * 1000 not in text
	for view in ("flame", "functions", "tree", "findings"):
		chromium.open(tmp_path / "a.html", view=view)
		assert chromium.driver.title.endswith("cpprof") and "run" != chromium.driver.title
		assert not chromium.all("#bold") and not chromium.all("main img")
		assert chromium.log() == []
	chromium.open(tmp_path / "a.html", view="functions")
	names = [row[0] for row in chromium.rows()]
	assert HOSTILE[0].replace(";", ",") in names and r"a\u202eb\u2066c" in names
	chromium.open(tmp_path / "a.html", view="sandwich", root="%3Cscript%3Ealert(1)%3C/script%3E")
	assert "no function" in chromium.one(".failure").text


def test_the_page_connects_to_nothing(chromium, pages):
	chromium.open(pages("whole"))
	assert chromium.requests() == [] and chromium.log() == []
	refused = chromium.driver.execute_async_script(
		"const done = arguments[arguments.length - 1]; fetch('http://127.0.0.1:9/').then(() => done('connected'), () => done('refused'))")
	assert refused == "refused" and any("Content Security Policy" in line for line in chromium.log())


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "engine", "removed"])
def test_damaged_data_is_reported(chromium, pages, tmp_path, damage):
	text = pages("whole").read_text()
	found = re.search(r'(<div hidden id="profile-a"[^>]*><script type="text/plain">)([^<]*)(</script>)', text)
	data = found[2]
	changed = {"cut": data[:len(data) // 2 // 4 * 4], "flipped": data[:200] + ("A" if data[200] != "A" else "B") + data[201:], "emptied": "",
		"engine": data, "removed": data}[damage]
	text = text[:found.start(2)] + changed + text[found.end(2):]
	if damage == "engine":
		text = re.sub(r'(id="engine"><script type="text/plain">)[^<]*', r"\1AAAA", text)
	elif damage == "removed":
		text = text.replace('id="profile-a"', 'id="other"')
	(tmp_path / "damaged.html").write_text(text)
	chromium.open(tmp_path / "damaged.html")
	assert "cpprof cannot show this profile" in chromium.one(".failure").text


def test_every_view_shows_something(chromium, pages):
	for name in ("whole", "labels", "empty", "killed", "lossy", "server"):
		chromium.open(pages(name))
		for tab in [button.text for button in chromium.all(".tabs button")]:
			chromium.button(tab).click()
			assert not chromium.all("main .failure") or name == "empty", (name, tab, chromium.one("main .failure").text)
			assert chromium.one("main").text or chromium.all("canvas")
	assert chromium.log() == []


def test_source_text_is_embedded_or_not(chromium, profiles, tmp_path):
	written = run("html", "--source", "whole.data", "-o", tmp_path / "with.html", directory=profiles)
	files, ending = re.search(r"with the text of (\d+) source file(s?) ", written.stderr).groups()
	assert written.returncode == 0 and (files == "1") == (ending == "")
	result = run("html", "--no-source", "whole.data", "-o", tmp_path / "without.html", directory=profiles)
	assert result.returncode == 0 and "source file" not in result.stderr
	lines, = results(done("report", "--format", "json", "--source", "main", "-r", "cpu", "whole.data", directory=profiles))
	chromium.open(tmp_path / "with.html", view="source", root="main", resource="cpu")
	with_text = {row[2]: row for row in chromium.rows(".pane:first-child tr[data-index]")}
	for entry in lines["entries"]:
		assert with_text[str(entry["line"])][1].startswith(percent(entry["total_fraction"], entry["total_error"]) + ", ")
	assert any(row[3].strip() for row in with_text.values())
	chromium.open(tmp_path / "without.html", view="source", root="main", resource="cpu")
	assert "does not contain its text" in chromium.one(".pane-head").text
