"""`cpprof explain`: a digest that keeps to its budget for any profile, with the most important facts first."""
import json
import re

import pytest
from cli_support import check_failure, done, run
from json_support import valid_json

BUDGETS = [512, 513, 700, 1000, 1500, 2048, 4096, 20000, 1 << 20]
SECTIONS = ["recorded", "quality", "findings", "functions", "hot_path", "lines", "resources", "processes", "next"]


def names(profiles):
	return sorted(path.name for path in profiles.glob("*.data"))


def test_budget_of_every_profile(profiles):
	"""A larger budget has the rows of a smaller one, and more; JSON is whole."""
	for name in names(profiles):
		before = None
		for budget in BUDGETS:
			text = done("explain", "--budget", budget, name, directory=profiles)
			assert 0 < len(text.encode()) <= budget, (name, budget)
			raw = done("explain", "--budget", budget, "--format", "json", name, directory=profiles)
			assert len(raw.encode()) <= budget, (name, budget)
			document = valid_json(raw)
			if before:
				for section in SECTIONS:
					assert document[section][:len(before[section])] == before[section], (name, budget, section)
				assert document["left_out"] <= before["left_out"]
			before = document


@pytest.mark.parametrize("depth, is_shown", [(1, True), (3, False)])
def test_a_command_is_whole_or_left_out(profiles, tmp_path, depth, is_shown):
	folder = tmp_path.joinpath(*["x" * 150] * depth)
	folder.mkdir(parents=True)
	path = folder / "whole.data"
	path.write_bytes((profiles / "whole.data").read_bytes())
	commands = [row["command"] for row in valid_json(done("explain", "--format", "json", "--budget", "64K", path))["next"]]
	assert all(command.endswith(f" {path}") for command in commands) and bool(commands) == is_shown, commands
	text = done("explain", "--budget", "64K", path)
	assert [line.split("   ")[0].strip() for line in text.splitlines() if line.startswith("  cpprof ")] == commands


def test_figures_are_those_of_the_reports(profiles):
	document = valid_json(done("explain", "--format", "json", "--budget", "64K", "-r", "cpu", "whole.data", directory=profiles))
	(body,) = valid_json(done("report", "--body", "-r", "cpu", "--format", "json", "--threshold", 0, "whole.data", directory=profiles))["results"]
	shares = [(row["share"], row["error"]) for row in document["functions"]]
	assert shares == [(pytest.approx(row["fraction"], abs=1e-5), pytest.approx(row["error"], abs=1e-5)) for row in body["entries"][:10]]
	info = valid_json(done("info", "--format", "json", "whole.data", directory=profiles))
	assert document["recorded"][0]["command"] == info["command_line"]
	assert document["recorded"][0]["samples"] == body["samples"]
	assert document["quality"][0]["lost"] == info["lost"]
	assert [row["text"] for row in document["findings"]] == [row["text"] for row in info["findings"]][:10]
	lines = valid_json(done("report", "--lines", "-r", "cpu", "--format", "json", "--threshold", 0, "--limit", 0, "whole.data",
		directory=profiles))["results"][0]["entries"]
	bodies = {(row["file"].rsplit("/")[-1], row["line"]): row["body_fraction"] for row in lines}
	for row in document["lines"]:
		assert row["share"] == pytest.approx(bodies[row["file"], row["line"]], abs=1e-5)


def test_other_resources_are_ratios(profiles):
	whole = valid_json(done("explain", "--format", "json", "--budget", "64K", "whole.data", directory=profiles))
	first = whole["recorded"][0]
	for row in whole["resources"]:
		assert row["per_gtick"] == pytest.approx(row["gticks"] / first["gticks"], rel=1e-4)
		(body,) = valid_json(done("report", "--body", "-r", row["resource"], "--format", "json", "whole.data", directory=profiles))["results"]
		assert row["share"] == pytest.approx(body["entries"][0]["fraction"], abs=1e-5)
		assert row["function"] == body["entries"][0]["path"][0]
		(mine,) = valid_json(done("report", "--body", "-r", first["resource"], "--format", "json", "--threshold", 0, "whole.data",
			directory=profiles))["results"]
		in_first = {entry["path"][0]: entry["fraction"] for entry in mine["entries"]}
		assert row["share_of_first"] == pytest.approx(in_first.get(row["function"], 0), abs=1e-5)
	assert {row["resource"] for row in whole["resources"]} == {"page-faults", "calls"}
	text = done("explain", "--budget", "64K", "whole.data", directory=profiles)
	assert re.search(r"^  page-faults \d+ faults \(\S+ faults? per s of CPU Time\), \S+ % in .*, which has \S+ % of CPU Time$", text, re.MULTILINE)


def test_proposed_commands_are_those_of_the_first_report(profiles):
	for name in ("whole.data", "killed.data", "lossy.data"):
		document = valid_json(done("explain", "--format", "json", "--budget", "64K", name, directory=profiles))
		screen = done("report", name, directory=profiles)
		for row in document["next"]:
			assert row["command"].removesuffix("...") in screen and row["why"].removesuffix("...") in screen
		assert document["next"]


def test_hostile_names(tmp_path):
	"""Long names, and names whose characters JSON escapes, neither break the budget nor the JSON."""
	strange = ["x" * 5000, "\\\"" * 400, "\u202e" * 300, "a\x01\x1b[31m" * 100, "é" * 700, "\U0001f600" * 400, "std::vector<" * 300]
	lines = "".join(f"main {name}".replace(" ", "_").join(["main;", f" {1000 - index}\n"]) for index, name in enumerate(strange))
	(tmp_path / "stacks").write_text(lines)
	done("import", "--format", "folded", "-o", "x.data", "stacks", directory=tmp_path)
	for budget in BUDGETS:
		raw = done("explain", "--budget", budget, "--format", "json", "x.data", directory=tmp_path)
		assert len(raw.encode()) <= budget
		valid_json(raw)
		text = done("explain", "--budget", budget, "x.data", directory=tmp_path)
		assert len(text.encode()) <= budget and "\x1b" not in text and "\u202e" not in text
	functions = json.loads(raw)["functions"]
	assert functions[0]["function"].startswith("main_xxx") and len(functions[0]["function"]) < 110


def test_text_in_order(profiles):
	text = done("explain", "--budget", "64K", "whole.data", directory=profiles)
	places = [text.index(f"\n{title}") for title in ("functions, by", "hot path:", "lines:", "other resources", "next:")]
	assert places == sorted(places) and text.startswith("CPU Time: ")
	short = done("explain", "--budget", 512, "whole.data", directory=profiles)
	assert re.search(r"^\.\.\. \d+ more rows? \(--budget\)\n\Z", short, re.MULTILINE)


@pytest.mark.parametrize("budget", ["0", "511", "x", "2M", "-1", ""])
def test_budget_out_of_range(profiles, budget):
	result = run("explain", f"--budget={budget}", "whole.data", directory=profiles)
	assert result.returncode == 2 and result.stdout == ""
	assert f"'{budget}' is not a number of bytes from 512 to 1048576 (--budget 2048, or 4K)" in result.stderr


def test_explain_refuses(profiles):
	result = run("explain", "--format", "csv", "whole.data", directory=profiles)
	assert result.returncode == 2 and "text or json" in result.stderr
	check_failure(run("explain", "absent.data", directory=profiles), "absent.data")
	assert run("explain", "-r", "page-faults", "whole.data", directory=profiles).stdout.startswith("Page Faults: ")
