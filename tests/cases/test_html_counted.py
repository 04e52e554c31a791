"""The page of `cpprof html` of programs whose calls are counted: exact figures, and the groups of the source."""
import pytest
from hooks_support import Counted, compile_once
from page_support import percent
from record_support import BUILD, PROGRAMS, build, build_counted, record_counted, run_cpprof
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens many pages in a browser")

LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
# tests/programs/source/regions.c: calls of each group's functions, with what they call, and without.
CALLS = 1673
GROUPS = {"[no group]": 1673, "large": 1650, "small": 1050}
LARGE = {"work": (1650, 150)}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
	folder = tmp_path_factory.mktemp("page")
	program = compile_once(["gcc", "-pthread", f"-I{PROGRAMS.parents[1] / 'include'}", f"-Wl,-rpath,{LIBRARY.parent}", "-O2", "-g"],
		[PROGRAMS / "source" / "regions.c"], "page_regions", [LIBRARY])
	run = Counted([program], folder, "counts", name="counts.data")
	assert run.status == 0, run.err
	made = run_cpprof("html", "-o", folder / "page.html", run.path)
	assert made.returncode == 0, made.stderr
	return folder / "page.html"


def test_counts_have_no_samples(chromium, page):
	chromium.open(page, resource="calls")
	assert f"Calls: {CALLS} calls · counted exactly" in chromium.one("header").text
	chromium.open(page, view="findings")
	assert ["whole stacks", "unknown: no stacks were taken"] in chromium.rows("table.facts tr")


def test_a_view_that_a_profile_lacks(chromium, page):
	"""Counts have no times: a link to their timeline shows the flame graph, and says so in the tabs."""
	chromium.open(page, resource="calls", view="timeline")
	assert [tab.text for tab in chromium.all(".tabs [aria-current=true]")] == ["Flame graph"]


def test_groups(chromium, page):
	chromium.open(page, resource="calls", view="groups")
	assert {row[0]: row[1:] for row in chromium.rows()} == {
		name: [percent(hits / CALLS), f"{hits:,}"] for name, hits in GROUPS.items()}
	assert sorted(button.text for button in chromium.all("tbody button")) == ["large", "small"]
	chromium.button("large").click()
	chromium.eventually(lambda: "Only functions of the group large" in chromium.one("caption").text)
	assert {row[0]: (int(row[3].replace(",", "")), int(row[4].replace(",", ""))) for row in chromium.rows()} == LARGE
	chromium.button("group large ×").click()
	chromium.eventually(lambda: len(chromium.rows()) > len(LARGE))


def test_frames_by_group(chromium, page):
	chromium.open(page, resource="calls", view="functions", by="group")
	assert {row[0]: int(row[3].replace(",", "")) for row in chromium.rows()} == GROUPS


def test_tail_calls_are_marked(chromium, tmp_path):
	"""The text about a box states that a function was found in the code, because a tail call removed it from the stacks."""
	program = build_counted("preload", "tail_calls.c", build("tail_calls_library.c", linkage="shared", name="libtail_calls.so"))
	recorded = record_counted("preload", tmp_path, [program, 1])
	made = run_cpprof("html", "-o", tmp_path / "page.html", recorded.path)
	assert made.returncode == 0, made.stderr
	chromium.open(tmp_path / "page.html")
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	texts = set()
	canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
	for _ in range(12):
		texts.add(chromium.one(".box-text").text.split("   ")[0])
		canvas.send_keys(Keys.ARROW_RIGHT)
	assert {"first (tail call)", "outer (tail call)"} <= texts, texts
