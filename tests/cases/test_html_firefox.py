"""The page of `cpprof html` shows the same in Firefox as in Chromium, where the other tests open it."""
import pytest
from cli_support import done
from firefox_support import firefox
from page_support import browser
from record_support import build, record_well

pytestmark = pytest.mark.needs("firefox")

VIEWS = ["flame", "functions", "sandwich", "tree", "timeline", "source", "lines", "whatif", "modules", "findings"]
TEXT = "return [...document.body.children].filter(each => each.tagName !== 'SCRIPT').map(each => each.textContent).join()"
# Whether each picture has several colours.
DRAWN = """
return [...document.querySelectorAll("canvas")].every(canvas => {
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.min(canvas.height, 200)), found = new Set();
	for (let at = 0; at < data.length; at += 4)
		found.add(data.slice(at, at + 4).join());
	return found.size > 1;
});
"""


@pytest.fixture(scope="module")
def browsers():
	with browser() as chromium, firefox() as fox:
		yield chromium, fox


@pytest.fixture(scope="module")
def page(tmp_path_factory):
	folder = tmp_path_factory.mktemp("page")
	recorded = record_well(folder, [build("forms.c"), "20"], "-r", "cpu/1ms")
	done("html", "-o", folder / "page.html", recorded.path)
	return folder / "page.html"


@pytest.mark.parametrize("view", VIEWS)
def test_both_browsers_show_the_same(browsers, page, view):
	chromium, fox = browsers
	choices = {"view": view, **({"function": "main"} if view in ("sandwich", "source") else {})}
	chromium.open(page, **choices)
	fox.open(page, **choices)
	fox.eventually(DRAWN) # a browser draws when it comes to that
	shown = fox.run(TEXT)
	assert shown == chromium.driver.execute_script(TEXT)
	assert "cannot show" not in shown and len(shown) > 100
	assert fox.run("return performance.getEntriesByType('resource').length") == 0


def test_a_damaged_page_is_reported(browsers, page, tmp_path):
	_, fox = browsers
	text = page.read_text()
	start = text.index(">", text.index('id="profile-a"')) + 1
	(tmp_path / "cut.html").write_text(text[:start] + text[start + 1000:])
	fox.open(tmp_path / "cut.html")
	assert "cpprof cannot show this profile" in fox.run("return document.body.innerText")
