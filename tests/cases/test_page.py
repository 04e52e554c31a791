"""`cpprof html` writes a page that shows the figures of `report` in a browser. The tests of all its views are in test_html*.py (make check-all)."""
from cli_support import check_failure, done, run
from page_support import percent, results


def report(profiles, name, *words):
	return results(done("report", "--format", "json", "--threshold", "0", "--limit", "0", *words, f"{name}.data", directory=profiles))


def test_functions_are_those_of_report(chromium, pages, profiles):
	chromium.open(pages("whole"), view="functions", resource="cpu")
	functions, = report(profiles, "whole", "--functions", "-r", "cpu")
	bodies, = report(profiles, "whole", "--body", "-r", "cpu")
	body = {entry["path"][0]: entry for entry in bodies["entries"]}
	expected = []
	for entry in functions["entries"]:
		own = body.get(entry["path"][0], {"fraction": 0, "error": 0, "hits": 0})
		expected.append([entry["path"][0], percent(entry["fraction"], entry["error"]), percent(own["fraction"], own["error"]),
			f"{entry['hits']:,}", f"{own['hits']:,}"])
	shown = chromium.rows()
	assert sorted(shown) == sorted(expected) and len(shown) > 2
	hits = [int(row[3].replace(",", "")) for row in shown]
	assert hits == sorted(hits, reverse=True)
	chromium.button("hits of the body").click()
	own = [int(row[4].replace(",", "")) for row in chromium.rows()]
	assert own == sorted(own, reverse=True) and own != hits


def test_what_cannot_be_written(profiles, tmp_path):
	check_failure(run("html", "whole.data", "-o", tmp_path / "none/page.html", directory=profiles), "cannot write", "none/page.html")
	check_failure(run("html", "whole.data", "nosuch.data", "-o", tmp_path / "p.html", directory=profiles), "nosuch.data")
	assert not (tmp_path / "p.html").exists()
	result = run("html", "--open", "whole.data", "-o", "-", directory=profiles)
	assert result.returncode == 2 and "--open" in result.stderr
	check_failure(run("html", "whole.data", "-o", "/dev/full", directory=profiles), "No space left")
	result = run("html", "--open", "whole.data", "-o", tmp_path / "p.html", directory=profiles, PATH=str(tmp_path))
	assert result.returncode == 1 and "cannot run xdg-open" in result.stderr and (tmp_path / "p.html").exists()


def test_a_browser_that_does_not_open(profiles, tmp_path):
	"""xdg-open prints a line for each browser that it tries; of these nothing is left but one line of cpprof."""
	(tmp_path / "xdg-open").write_text("#!/bin/sh\necho trying a browser\necho no browser found >&2\nexit 3\n")
	(tmp_path / "xdg-open").chmod(0o755)
	result = run("html", "--open", "--no-source", "whole.data", "-o", tmp_path / "p.html", directory=profiles, PATH=f"{tmp_path}:/usr/bin:/bin")
	assert result.returncode == 1 and result.stdout == ""
	written, failed = result.stderr.splitlines()
	assert "wrote" in written and failed.endswith(f"cannot open '{tmp_path}/p.html': xdg-open failed (open the file in a browser)")
