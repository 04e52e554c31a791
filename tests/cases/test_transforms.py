"""Transforms of the call paths: exact amounts in reports, the explorer, exports and on the screen; what is refused."""
import re

import pytest
from browse_support import Browser
from cli_support import check_failure, done, make_input, run
from json_support import valid_json

# parse calls itself through term; main and spin are outermost functions.
FOLDED = """\
main 1
main;parse 2
main;parse;term 4
main;parse;term;parse 8
main;parse;term;parse;alloc 16
main;print 32
main;print;alloc 64
spin 128
"""
# {transforms: the stacks that are left}
STACKS = {
	"focus=parse": {"parse": 2, "parse;term": 4, "parse;term;parse": 8, "parse;term;parse;alloc": 16},
	"path=main;print": {"print": 32, "print;alloc": 64},
	"drop=parse": {"main": 1, "main;print": 32, "main;print;alloc": 64, "spin": 128},
	"merge=alloc": {"main": 1, "main;parse": 2, "main;parse;term": 4, "main;parse;term;parse": 24, "main;print": 96, "spin": 128},
	"merge=parse": {"main": 3, "main;term": 12, "main;term;alloc": 16, "main;print": 32, "main;print;alloc": 64, "spin": 128},
	"above=alloc": {"main": 1, "main;parse": 2, "main;parse;term": 4, "main;parse;term;parse": 8, "alloc": 80, "main;print": 32, "spin": 128},
	"collapse=parse": {"main": 1, "main;parse": 10, "main;parse;term": 4, "main;parse;alloc": 16, "main;print": 32, "main;print;alloc": 64, "spin": 128},
	"drop=spin collapse=parse merge=alloc focus=parse": {"parse": 26, "parse;term": 4},
	"drop=main drop=spin": {},
}


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
	folder = tmp_path_factory.mktemp("transforms")
	(folder / "a.folded").write_text(FOLDED)
	done("import", "--format", "folded", "-o", folder / "a.data", folder / "a.folded")
	return folder / "a.data"


def options_of(transforms):
	return [word for transform in transforms.split() for word in ("--transform", transform)]


def result_of(*words):
	return valid_json(done("report", "--format", "json", "-n", "0", "-t", "0", *words))["results"]


def sums(stacks, functions):
	"""Adds up the hits by function: each function of `functions` of a stack has its hits."""
	found = {}
	for stack, hits in stacks.items():
		for name in functions(stack.split(";")):
			found[name] = found.get(name, 0) + hits
	return found


@pytest.mark.parametrize("transforms", STACKS)
def test_every_report_has_the_amounts_of_the_stacks(profile, transforms):
	stacks, options = STACKS[transforms], options_of(transforms)
	def amounts(report, key=lambda entry: entry["path"][-1]):
		result = result_of(f"--{report}", *options, profile)[0]
		assert result["total_hits"] == sum(stacks.values()) and result["transforms"] == transforms.split()
		return {key(entry): entry["hits"] for entry in result["entries"]}
	assert amounts("functions") == sums(stacks, set)
	assert amounts("body") == sums(stacks, lambda names: names[-1:])
	if stacks:
		exported = dict(line.rsplit(" ", 1) for line in done("export", "--format", "folded", *options, profile).splitlines())
		assert {stack: int(hits) for stack, hits in exported.items()} == stacks


def test_the_heading_states_the_transforms(profile):
	for report in ("--functions", "--tree", "--threads"):
		text = done("report", report, "--transform", "drop=alloc", "--transform", "focus=parse", profile)
		assert re.search(r"^14 (samples|hits|gticks).*; transforms: drop=alloc, focus=parse$", text, re.MULTILINE), text
	assert "; transforms: drop=alloc\n" in done("report", "--transform", "drop=alloc", profile)
	assert "no samples in this selection" in done("report", "--body", "--transform", "drop=main", "--transform", "drop=spin", profile)


def test_what_if_and_diff_have_the_changed_paths(profile):
	text = done("whatif", "--format", "json", "--transform", "merge=term", profile, "main;parse;parse=0")
	assert valid_json(text)["results"][0]["entries"][0]["hits"] == 24
	result = valid_json(done("diff", "--format", "json", "--transform", "drop=spin", profile, profile))["results"][0]
	assert (result["a"]["total_hits"], result["b"]["total_hits"]) == (127, 127)


def test_refusals_have_a_remedy(profile):
	check_failure(run("report", "--transform", "drop=prase", profile), "cannot apply transform 'drop=prase': no function 'prase' (did you mean parse?)")
	check_failure(run("report", "--transform", "path=parse", profile), "no path 'parse'", "a path begins with an outermost function")
	for text in ("hide=parse", "drop", "=parse"):
		result = run("report", "--transform", text, profile)
		assert result.returncode == 2 and "is no transform (KIND=FUNCTION; KIND is focus, path, drop, merge, above or collapse)" in result.stderr
	result = run("report", "--call-graph", "--transform", "drop=parse", profile)
	assert result.returncode == 2 and "its numbers of calls are of the recorded paths (leave out --transform)" in result.stderr


def test_the_explorer_changes_the_paths(profile):
	commands = "transform drop=spin merge=alloc\nbody\ntransform drop=prase\ntransform\ntransform all\nbody\n"
	result = run("explore", profile, stdin=make_input(commands))
	assert result.returncode == 1 and "no function 'prase' (did you mean parse?)" in result.stderr + result.stdout
	assert result.stdout.count("transform: drop=spin, merge=alloc\n") == 2 # a command that failed changes nothing
	assert "transform: none\n" in result.stdout
	first, second = result.stdout.split("transform: none")
	assert "0.7559 print [96]" in re.sub(r" ±\d\.\d{4}", "", first) and "spin [128]" not in first
	assert "spin [128]" in second


def test_the_browser_transforms_by_the_row_and_goes_back(profile):
	with Browser("a.data", folder=profile.parent) as browser:
		browser.wait(r"spin$")
		browser.press("f", until=r"functions")
		browser.press("/", until="search:")
		browser.press("parse", "enter", until=r"row \d+ of 6")
		browser.press("p", until="focus, path, drop")
		browser.press("d", "enter", until=r"drop=parse")
		assert "parse" not in "\n".join(browser.lines()[3:-1]) and "225" in browser.text()
		browser.press("p", until="focus, path, drop")
		browser.press("p", "enter", until="no path is chosen")
		browser.press("t", until=r"spin$")
		browser.press("p", until="focus, path, drop")
		browser.press("path", "enter", until=r"path=spin")
		browser.press("backspace", until=r"main$")
		assert "path=spin" not in browser.text() and "drop=parse" in browser.text()
		browser.press("backspace", until=r"functions")
		browser.press("backspace", until=r"parse")
		assert "drop=parse" not in browser.text()
		browser.press("p", until="focus, path, drop")
		browser.press("undo", "enter", until="there is no transform to undo")


def test_the_inverted_tree_has_own_use_and_callers(profile):
	with Browser("a.data", folder=profile.parent, rows=40) as browser:
		browser.wait(r"spin$")
		browser.press("U", until="inverted tree")
		found = {name: own for own, _, depth, name in browser.rows() if depth == 0}
		own = {entry["path"][0]: round(100 * entry["fraction"], 1) for entry in result_of("--body", profile)[0]["entries"]}
		assert found == own
		browser.press("/", "alloc", "enter", until="row")
		browser.press("right", until="print")
