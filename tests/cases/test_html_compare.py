"""The page of `cpprof html` of a comparison with several recordings a side: it judges as `cpprof diff` does."""
import pytest
from cli_support import done, run
from page_support import results
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long("opens pages in a browser")

RECORDINGS = {"a1": (500, 400), "a2": (510, 380), "a3": (490, 420), "b1": (900, 390), "b2": (910, 410), "b3": (890, 400)}


def import_paths(folder, name, text):
	(folder / f"{name}.folded").write_text(text)
	done("import", "--format", "folded", "-o", f"{name}.data", f"{name}.folded", directory=folder)
	return f"{name}.data"


@pytest.fixture
def sides(tmp_path):
	files = [import_paths(tmp_path, name, f"main;f {f}\nmain;g {g}\n") for name, (f, g) in RECORDINGS.items()]
	return [*files[:3], "--", *files[3:]]


def test_several_recordings_a_side(chromium, tmp_path, sides):
	"""Changes are marked by the differences between the recordings of each side, without an assumed spread. Other views show one recording."""
	done("html", "-o", "ab.html", *sides, directory=tmp_path)
	expected = results(done("diff", "--functions", "--format", "json", "--threshold", "0", *sides, directory=tmp_path))[0]
	assert {entry["path"][0]: entry["significant"] for entry in expected["entries"]} == {"main": True, "f": True, "g": False}
	chromium.open(tmp_path / "ab.html", view=None)
	assert {row[0]: ["*" in row[1], *row[2:]] for row in chromium.rows()} == {entry["path"][0]: [entry["significant"],
		*(f"{entry[side]:.0f} samples" for side in ("gticks_a", "gticks_b"))] for entry in expected["entries"]}
	assert "and 2 more recordings: amounts are means" in chromium.one("main").text
	assert "no more than equal programs differ" in chromium.one("caption").text and not chromium.all(".spread")
	canvas = chromium.one("canvas")
	chromium.eventually(lambda: canvas.size["height"] > 30)
	described = []
	for key in (Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT):
		canvas.send_keys(key)
		described.append(chromium.one(".box-text").text)
	assert described[2].endswith("500 samples in A, 900 samples in B: +400 samples (changed)")
	assert described[3].endswith("400 samples in A, 400 samples in B: 0 samples")
	for side, name in (("a", "a1"), ("b2", "b2"), ("a3", "a3")):
		chromium.open(tmp_path / "ab.html", view="functions", side=side)
		assert chromium.rows()[0][3] == f"{sum(RECORDINGS[name]):,}"
		assert chromium.driver.execute_script("return document.querySelector('[data-choice=side]').selectedOptions[0].textContent") == name.upper()


def test_the_spread_of_single_recordings(chromium, tmp_path):
	"""A change of 10 % is more than sampling and a spread of 0.1 % explain, and less than one of 20 %. The option and a field state the spread."""
	files = [import_paths(tmp_path, name, f"main {hits}\n") for name, hits in (("a", 100_000), ("b", 110_000))]
	done("html", "--spread", "0.1%", "-o", "ab.html", *files, directory=tmp_path)
	chromium.open(tmp_path / "ab.html", view=None)
	assert "an assumed spread of 0.1 % between runs" in chromium.one("caption").text
	assert chromium.rows()[0][1].endswith(" *")
	field = chromium.one(".spread")
	assert field.get_attribute("value") == "0.1"
	field.send_keys(Keys.CONTROL + "a") # clear() would be a change of its own
	field.send_keys("20", Keys.ENTER)
	chromium.eventually(lambda: "an assumed spread of 20.0 % between runs" in chromium.one("caption").text)
	assert not chromium.rows()[0][1].endswith("*")
	assert "spread=0.2" in chromium.driver.current_url


def test_recordings_without_a_border(tmp_path):
	files = [import_paths(tmp_path, name, "main 1\n") for name in "abc"]
	refused = run("html", "-o", "page.html", *files, directory=tmp_path)
	assert refused.returncode == 2 and "(cpprof html A1 A2 -- B1 B2)" in refused.stderr
	refused = run("html", "--spread", "2", "-o", "page.html", *files[:2], directory=tmp_path)
	assert refused.returncode == 2 and "is not a fraction" in refused.stderr
	assert not (tmp_path / "page.html").exists()
