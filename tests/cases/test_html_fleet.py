"""The page of a store: services and hosts with their amounts, their rows over time, and the part of a path or function in these."""
import os
import re

import pytest
from cli_support import done
from json_support import valid_json
from page_support import results
from selenium.webdriver.common.action_chains import ActionChains

pytestmark = pytest.mark.long("opens pages in a browser")

START, HOUR, HOURS, SECOND = 1_790_000_000 // 3600 * 3600, 3600, 8, 1_000_000_000
STEP, SECONDS_EACH = 300, 10  # between samples, and of CPU time for each
LENGTH = (HOURS - 1) * HOUR + 9 * STEP  # from the first sample of all to the last one
PERIOD = LENGTH / 600  # of the strip
ROW = 24  # pixels
ALL = ("--threshold", 0, "--limit", 0)


def samples_of(host, hours):
	"""[(process, stack)] of an hour. The path main;serve;price takes more from hour 6 on, on host web-1 alone."""
	more = 3 if hours >= 6 and host == "web-1" else 1
	return [("shop", "main;serve;price")] * more + [("shop", "main;serve;render")] * 4 + [("shop", "main;price")] + [("db", f"main;scan_{host}_{hours}")] * 2


def script(samples):
	"""perf's text: a sample each 300 s, with CPU time and a page fault."""
	text = []
	for at, (process, stack) in enumerate(samples):
		frames = "".join(f"\t{1000 + sum(name.encode()):x} {name} (/bin/{process})\n" for name in reversed(stack.split(";")))
		for event, period in (("cpu-clock", SECONDS_EACH * SECOND), ("page-faults", 1)):
			text.append(f"{process} {len(process)}/{len(process)} [000] {10 + STEP * at}.000000: {period} {event}: \n{frames}\n")
	return "".join(text)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
	folder = tmp_path_factory.mktemp("fleet")
	for host in ("web-1", "web-2"):
		for hours in range(HOURS):
			name = f"{host}-{hours}"
			(folder / f"{name}.txt").write_text(script(samples_of(host, hours)))
			done("import", "--format", "perf-script", "-o", f"{name}.data", f"{name}.txt", directory=folder)
			os.utime(folder / f"{name}.data", (START + HOUR * hours,) * 2)
			done("store", "add", "--store", "fleet.db", "--services", "auto", "--host", host, "--label", f"version={'8' if hours >= 6 else '7'}", f"{name}.data",
				directory=folder)
	return folder / "fleet.db"


@pytest.fixture(scope="module")
def page(store):
	done("html", "--store", store, "-o", store.with_name("page.html"))
	return store.with_name("page.html")


def by_label(store, key, *words):
	"""{value: hits}"""
	entries = valid_json(done("report", f"--by-label={key}", "--store", store, "--format", "json", *ALL, *words))["results"][0]["entries"]
	return {entry["labels"][key]: entry["hits"] for entry in entries}


def cpu(hits):
	return f"{hits * SECONDS_EACH} s" if hits else "0 ns"


def rows_of(chromium):
	"""{row of the strip: its amounts}, from top to bottom"""
	return dict(name.get_attribute("title").split(": ", 1) for name in chromium.all(".strip .thread-names > *"))


def value_at(chromium, row, seconds):
	"""The amounts that the strip states of a row, where the pointer is at a time."""
	drawing = chromium.one(".strip svg")
	width, height = drawing.size["width"], drawing.size["height"]
	x, y = (int(seconds / PERIOD) + 0.5) * PERIOD / LENGTH * width, ([*rows_of(chromium)].index(row) + 0.5) * ROW
	ActionChains(chromium.driver).move_to_element_with_offset(drawing, round(x - width / 2), round(y - height / 2)).perform()
	return re.fullmatch(rf".*, {row}: [\d.]+ hits?, (.*)", chromium.one(".strip-text").text)[1]


def test_services_and_hosts_are_first(chromium, page, store):
	chromium.open(page, view=None)
	assert chromium.one("h1").text == "2 services on 2 hosts"
	parts = {part.find_element("css selector", "h2").text: [row.text.split()[-1] for row in part.find_elements("css selector", "tr")] for part in chromium.all(".part")}
	assert [*parts][:3] == ["By service", "By host", "By version"]
	assert [parts[f"By {key}"] for key in ("service", "host", "version")] == [["shop", "db"], ["web-1", "web-2"], ["7", "8"]]
	next(link for link in chromium.all(".part .link") if link.text == "db").click()
	chromium.eventually(lambda: [chip.text for chip in chromium.all(".chip")] == ["service=db ×"])
	chromium.open(page, view="functions", label="service%3Ddb")
	entries = results(done("report", "--functions", "--format", "json", *ALL, "-r", "cpu", "--store", store, "--service", "db"))[0]["entries"]
	assert {row[0].split("@")[0]: row[3] for row in chromium.rows()} == {entry["path"][0]: str(entry["hits"]) for entry in entries}
	assert chromium.log() == []


@pytest.mark.parametrize("key", ["service", "host", "version"])
def test_amounts_of_each_resource(chromium, page, store, key):
	chromium.open(page, view="labels", lanes=key)
	assert [head.text for head in chromium.all("thead th")] == [key, "share of CPU Time", "CPU Time", "Page Faults"]
	times, faults = by_label(store, key, "-r", "cpu"), by_label(store, key, "-r", "page-faults")
	assert {row[0]: row[2:] for row in chromium.rows()} == {value: [cpu(hits), f"{faults[value]} faults"] for value, hits in times.items()}


def test_a_row_for_each_service(chromium, page, store):
	"""A click selects a service, a second one or Back all; the rows stay."""
	chromium.open(page)
	hits, rows = by_label(store, "service", "-r", "cpu"), ["all (own scale)", "shop", "db"]
	assert rows_of(chromium) == dict(zip(rows, map(cpu, (sum(hits.values()), hits["shop"], hits["db"]))))
	chromium.button("db").click()
	chromium.eventually(lambda: [name.text for name in chromium.all(".strip button[aria-pressed=true]")] == ["db"])
	assert f"{cpu(hits['db'])} selected of {cpu(sum(hits.values()))}" in chromium.text() and [*rows_of(chromium)] == rows
	chromium.button("db").click()
	chromium.eventually(lambda: not chromium.all(".chip"))
	assert [tick.text for tick in chromium.all(".strip .axis span")][1].endswith(":00")
	chromium.open(page, lanes="host")
	assert [*rows_of(chromium)] == ["all (own scale)", "web-1", "web-2"]
	chromium.open(page, lanes="%23threads")
	assert [*rows_of(chromium)][:2] == ["shop 4", "db 2"]


def test_a_path_over_time(chromium, page):
	"""The path to the box that was clicked, by host: what the samples have that the test wrote."""
	with chromium.window(2600, 900):
		chromium.open(page, lanes="host", part="path%3Dmain@shop%3Bserve%3Bprice")
		sums = {host: (sum(len(samples_of(host, hours)) for hours in range(HOURS)),
			sum(samples_of(host, hours).count(("shop", "main;serve;price")) for hours in range(HOURS))) for host in ("web-1", "web-2")}
		whole, part = map(sum, zip(*sums.values()))
		text = "{}, {} of it in the chosen part".format
		assert rows_of(chromium) == {"chosen part (own scale)": cpu(part), "all (own scale)": text(cpu(whole), cpu(part)),
			**{host: text(*map(cpu, both)) for host, both in sums.items()}}
		for hours, at, host, expected in ((6, 0, "web-1", 1), (6, 0, "web-2", 1), (6, 1, "web-1", 1), (6, 1, "web-2", 0), (5, 1, "web-1", 0), (7, 2, "web-1", 1)):
			assert value_at(chromium, host, hours * HOUR + at * STEP) == text(cpu(1), cpu(expected)), (hours, at, host)
	chromium.button("path to price ×").click()
	chromium.eventually(lambda: len(rows_of(chromium)) == 3)


def test_a_click_on_a_box_chooses_its_path(chromium, page):
	chromium.open(page)
	chromium.one("canvas").send_keys("\ue015\ue015\ue007") # down, down, Enter
	chromium.eventually(lambda: "part=path%3Dmain%40shop" in chromium.driver.current_url)
	chromium.eventually(lambda: "chosen part (own scale)" in rows_of(chromium))
	chromium.open(page, part="path%3Dmain%3Bnone")
	assert "The chosen part is not shown: " in chromium.text() and "chosen part (own scale)" not in rows_of(chromium)


def test_a_function_over_time(chromium, page):
	chromium.open(page, view="sandwich", root="price")
	hits = sum(stack.endswith("price") for host in ("web-1", "web-2") for hours in range(HOURS) for _, stack in samples_of(host, hours))
	rows = rows_of(chromium)
	assert rows["chosen part (own scale)"] == cpu(hits) and rows["shop"].endswith(f", {cpu(hits)} of it in the chosen part")


def test_hits_without_times_are_at_the_start_of_their_recording(chromium, tmp_path):
	for hours in range(3):
		(tmp_path / "f.folded").write_text(f"main;f {10 ** hours}\n")
		done("import", "--format", "folded", "-o", f"{hours}.data", "f.folded", directory=tmp_path)
		os.utime(tmp_path / f"{hours}.data", (START + HOUR * hours,) * 2)
		done("store", "add", "--store", "s.db", "--service", "ab"[hours % 2], f"{hours}.data", directory=tmp_path)
	done("html", "--store", "s.db", "-o", "page.html", directory=tmp_path)
	chromium.open(tmp_path / "page.html")
	assert rows_of(chromium) == {"all (own scale)": "111 samples", "a": "101 samples", "b": "10 samples"}
	bars = [path.get_attribute("d").count("M") for path in chromium.all(".strip .bar-path")]
	assert bars == [3, 2, 1]


def test_a_plain_recording_with_labels(chromium, pages, profiles):
	"""Threads have the rows at first; a list chooses a label."""
	page = pages("labels")
	chromium.open(page)
	before = [*rows_of(chromium)]
	chromium.one("select[data-choice=lanes]").send_keys("tenant")
	chromium.eventually(lambda: "all (own scale)" in rows_of(chromium))
	tenants = {entry["labels"].get("tenant", "(none)") for entry in
		results(done("report", "--by-label=tenant", "--format", "json", *ALL, "labels.data", directory=profiles))[0]["entries"]}
	assert before and set(rows_of(chromium)) == {"all (own scale)", *tenants}
