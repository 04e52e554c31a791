"""The page of `cpprof html` with a selection: totals, lengths of time, waits, the lines of own code, other resources, and a search in a
view without lists."""
import re

import pytest
from cli_support import done
from page_support import percent, results
from record_support import build, record_well
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

WORDS = ("--format", "json", "--threshold", "0", "--limit", "0")


@pytest.fixture(scope="module")
def naps(tmp_path_factory):
	"""(page, profile) of a program that sleeps twice for half a second; while it sleeps, only one thread does."""
	folder = tmp_path_factory.mktemp("naps")
	recorded = record_well(folder, [build("naps.c"), "1", "1", "500000"], "-r", "blocked/1ms", "-r", "page-faults/1")
	done("html", "--source", "-o", folder / "page.html", recorded.path)
	return folder / "page.html", recorded.path


def report(path, *words):
	return results(done("report", *WORDS, *words, path))[0]


def test_a_part_of_a_wait_is_selected(chromium, naps):
	"""Between 0.1 and 0.3 s of half a second of sleep: as much time as the range has, in the header and in the report; ranges add up."""
	page, path = naps
	hits = report(path, "--functions", "-r", "blocked", "--from", "0.1", "--to", "0.3")["total_hits"]
	assert 199 <= hits <= 201
	chromium.open(page, view="summary", resource="blocked", **{"from": "0.1", "to": "0.3"})
	whole = re.match(r"Blocked Time: (.+?) in", done("report", "-r", "blocked", path))[1]
	assert f"Blocked Time: {hits} ms selected of {whole} · " in chromium.one("header").text
	assert chromium.one(".big").text == f"Blocked Time: {hits} ms in 200 ms"
	assert re.match(rf"Blocked Time: {hits} ms in 200 ms of ", done("report", "-r", "blocked", "--from", "0.1", "--to", "0.3", path))
	chromium.open(page, view="timeline", resource="blocked", **{"from": "0.1", "to": "0.3"})
	chromium.eventually(lambda: chromium.rows("tbody tr"))
	assert any("nanosleep" in row[0] and row[3].endswith(" ms") and 199 <= float(row[3].split()[0]) <= 200 for row in chromium.rows()), chromium.rows()
	parts = [report(path, "--functions", "-r", "blocked", "--from", start, "--to", end)["total_hits"] for start, end in (("0", "0.123"), ("0.123", "0.31"), ("0.31", "9"))]
	assert sum(parts) == report(path, "--functions", "-r", "blocked")["total_hits"] and 186 <= parts[1] <= 188
	folded = done("export", "--format", "folded", "-r", "blocked", "--from", "0.123", "--to", "0.31", path)
	assert sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()) in (parts[1], 1000 * parts[1], 1000000 * parts[1])


def test_the_totals_of_a_thread(chromium, pages, profiles):
	page = pages("server")
	chromium.open(page, view="threads", resource="page-faults")
	all_hits = re.search(r"Page Faults: ([\d,]+) faults", chromium.one("header").text)[1]
	amount = chromium.rows()[0][4]
	chromium.all("tbody button")[0].click()
	chromium.eventually(lambda: f"Page Faults: {amount} selected of {all_hits} faults" in chromium.one("header").text)
	assert profiles


def test_other_resources_are_links(chromium, naps):
	page, path = naps
	chromium.open(page, view="summary", resource="page-faults")
	amount = re.match(r"Blocked Time: (.+?) in", done("report", "-r", "blocked", path))[1]
	assert chromium.one(".others").text == f"also recorded: Blocked Time {amount}"
	chromium.button(f"Blocked Time {amount}").click()
	chromium.eventually(lambda: "resource=blocked" in chromium.driver.current_url and chromium.one(".big").text.startswith(f"Blocked Time: {amount} in"))
	assert chromium.one(".others").text.startswith("also recorded: Page Faults ")


def test_waits_are_in_the_function_that_entered_the_kernel(chromium, naps):
	"""All hits of a wait end in one function of the kernel; the first report has the functions that called it."""
	page, path = naps
	chromium.open(page, view="summary", resource="blocked")
	expected = report(path, "--body", "-r", "blocked", "--kernel", "hide")["entries"][0]
	part, = [part for part in chromium.all(".part") if part.text.startswith("Hottest functions, by their own use and waits")]
	first = part.text.split("\n")[1]
	assert first.startswith(f"{percent(expected['fraction'], expected['error'])} ") and expected["path"][0] in first


def test_hot_lines_of_own_code(chromium, naps):
	"""The default where own code is known: its lines, with what they call, as in the first report; the switch leads to all lines."""
	page, path = naps
	chromium.open(page, view="lines", resource="blocked")
	name, share, amount, text, function = chromium.rows()[0]
	line = int(name.rpartition(":")[2])
	entries = results(done("report", "--format", "json", "--source", "main", "-r", "blocked", path))[0]["entries"]
	entry = next(entry for entry in entries if entry["line"] == line)
	assert "naps.c" in name and share == percent(entry["total_fraction"], entry["total_error"]) and amount.endswith(("s", "ms")) and "sleep" in text
	assert function == "main"
	chromium.button("lines of all files, by their own hits").click()
	chromium.eventually(lambda: "lines=all" in chromium.driver.current_url and chromium.rows()[0][0] == "[code without known lines]")
	chromium.button("the program's own lines, with what they call").click()
	chromium.eventually(lambda: chromium.rows()[0][0] == name)
	chromium.button("main").click()
	chromium.eventually(lambda: "view=sandwich" in chromium.driver.current_url and "root=main" in chromium.driver.current_url)


def test_a_line_without_its_source_has_a_reason(chromium, naps, tmp_path):
	_, path = naps
	done("html", "-o", tmp_path / "page.html", path)
	chromium.open(tmp_path / "page.html", view="lines", resource="blocked")
	assert all(row[3] for row in chromium.rows())


def test_a_search_in_the_first_report(chromium, page_of):
	"""It has nothing to search: the page says so, and Enter leads to the functions."""
	chromium.open(page_of("main;needle 3\nmain;hay 4\n"), view="summary")
	field = chromium.one("input[type=search]")
	field.send_keys("needle")
	chromium.eventually(lambda: "Enter searches all functions" in chromium.one("output").text)
	field.send_keys(Keys.ENTER)
	chromium.eventually(lambda: "view=functions" in chromium.driver.current_url and [row[0] for row in chromium.rows()] == ["needle"])
	chromium.driver.switch_to.active_element.send_keys("s")
	chromium.eventually(lambda: chromium.one("output").text == "0 of 3 rows")


def test_crumbs_that_are_left_out(chromium, page_of):
	"""The outer boxes of a deep path are one crumb, which leads to the innermost of them."""
	names = [f"f{depth}" for depth in range(10)]
	chromium.open(page_of(f"{';'.join(names)} 3\nf0;other 1\n"), node="10")
	chromium.eventually(lambda: len(chromium.all(".crumb")) > 2)
	crumbs = [crumb.text for crumb in chromium.all(".crumb")]
	assert crumbs == ["all", "… 4 more", *names[4:]]
	assert chromium.all(".crumb")[1].get_attribute("title") == " › ".join(names[:4])
	chromium.all(".crumb")[1].click()
	chromium.eventually(lambda: [crumb.text for crumb in chromium.all(".crumb")] == ["all", *names[:4]])
