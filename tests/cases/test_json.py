"""The JSON of every command that prints JSON is valid by docs/json.schema.json."""
import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from json_support import SCHEMA, VALIDATOR, valid_json

REPOSITORY = Path(__file__).resolve().parents[2]
INPUTS = REPOSITORY / "tests/golden/inputs"
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
MAKE_PROFILE = str(BUILD / "tests/unit/make_profile")
SECONDS_ALLOWED = 60
MADE = ("whole", "lossy", "empty", "server", "labels", "programs")
# The kind of result of a report, by the report's option; the other reports print lists.
RESULTS = {"tree": "tree", "inverted": "tree", "source": "line", "counts": "count", "pages": "page", "by-label": "label", "ranks": "rank", "call-graph": "call", "threads": "thread",
	"processes": "process", "process-tree": "process_tree", "lines": "hot_line", "asm": "instruction"}


def run(*words, directory=None):
	return subprocess.run([CPPROF, *map(str, words)], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
		timeout=SECONDS_ALLOWED, check=False)


def checked(*words, directory=None):
	"""Runs the command and returns its JSON, which must be valid."""
	result = run(*words, "--format", "json", directory=directory)
	assert result.returncode == 0, result.stderr
	document = valid_json(result.stdout)
	assert document["command"] == words[0]
	return document


def validate_results(document, kind):
	for result in document["results"]:
		VALIDATOR.evolve(schema={**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{kind}_result"}]}).validate(result)


def reports():
	"""Returns [(option, whether it needs a function or a call path)]: the reports that `cpprof report --help` lists."""
	listed = run("report", "--help").stdout.split("\nreports:\n")[1].split("\n\n")[0]
	return [(name, value != "") for name, value in re.findall(r"^  (?:-\w,|   ) --([\w-]+) ?(FN|PATH)?", listed, re.MULTILINE)]


REPORTS = reports()


@pytest.fixture(scope="module", name="directory")
def the_directory(tmp_path_factory):
	directory = tmp_path_factory.mktemp("profiles")
	for kind in MADE:
		subprocess.run([MAKE_PROFILE, kind, directory / f"{kind}.data"], check=True)
	for name in ("forms", "recursion", "names"):
		run("import", "--format", "folded", "-o", directory / f"{name}.data", INPUTS / f"{name}.folded")
	return directory


def test_the_schema_is_one():
	jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_help_lists_the_reports():
	assert {("functions", False), ("down", True), ("tree", False), ("source", True), ("by-label", False)} <= set(REPORTS)


@pytest.mark.parametrize("profile", ["whole", "server", "labels", "empty", "names"])
@pytest.mark.parametrize("name, takes_function", [row for row in REPORTS if row[0] not in ("counts", "pages")])
def test_every_report_is_valid(directory, name, takes_function, profile):
	words = [f"--{name}", *(["main"] if takes_function else [])]
	lacks = run("report", *words, "--format", "json", f"{profile}.data", directory=directory)
	if lacks.returncode != 0: # the made profiles have no groups, and only one has labels; the files that they name are not there
		assert name in ("asm", "groups", "ranks") or (name == "by-label" and profile != "labels"), lacks.stderr
		return
	document = checked("report", *words, f"{profile}.data", directory=directory)
	assert document["report"] == name
	validate_results(document, RESULTS.get(name, "list"))
	assert document["results"]


def test_pages(directory):
	document = checked("report", "--pages", "server.data", directory=directory)
	validate_results(document, "page")
	assert {entry["entry"] for result in document["results"] for entry in result["entries"]} == {"mapping", "path"}


def test_one_shape_however_many_resources(directory):
	one = checked("report", "-r", "cpu", "whole.data", directory=directory)
	several = checked("report", "whole.data", directory=directory)
	assert len(one["results"]) == 1 < len(several["results"])
	assert one["results"][0] == several["results"][0]
	assert {**one, "results": []} == {**several, "results": []}


def test_sections(directory):
	document = checked("report", "--by-label=tenant", "--body", "-r", "cpu", "labels.data", directory=directory)
	assert all("labels" in result for result in document["results"]) and document["report"] == "body"


def test_whatif_has_the_errors_of_the_text(directory):
	words = ("main;sort;qsort=0", "main;print=0.5", "-r", "cpu", "whole.data")
	(result,) = checked("whatif", *words, directory=directory)["results"]
	text = run("whatif", *words, directory=directory).stdout
	for entry in result["entries"]:
		assert f"{entry['fraction']:.4f} ±{entry['error']:.4f} ({' '.join(entry['path'])}" .split(" (")[0] in text
	assert f"predicted total: {result['predicted_total']:.4f}" in text


def test_source_has_the_errors_of_the_text(directory):
	words = ("report", "--source", "main", "-r", "cpu", "whole.data")
	(result,) = checked(*words, directory=directory)["results"]
	text = run(*words, directory=directory).stdout
	for entry in result["entries"]:
		figures = f"{entry['body_fraction']:.4f} ±{entry['body_error']:.4f} +{entry['total_fraction']:.4f} ±{entry['total_error']:.4f}"
		assert re.search(figures + f" +{entry['total_hits']} ", text)


@pytest.mark.parametrize("words", [[], ["--body"], ["--down", "main"], ["--by", "module"]])
def test_diff(directory, words):
	for files in (("whole.data", "lossy.data"), ("recursion.data", "forms.data"), ("whole.data", "empty.data")):
		if files[0] == "recursion.data" or "--down" not in words:
			checked("diff", *words, *files, directory=directory)


@pytest.mark.parametrize("profile", MADE)
def test_info(directory, profile):
	document = checked("info", f"{profile}.data", directory=directory)
	assert document["file"] == f"{profile}.data"


def test_resources():
	document = checked("resources")
	text = run("resources").stdout.splitlines()[1:]
	assert [row["usage"] for row in document["resources"]] == [line.split()[0] for line in text]
	for row in document["resources"]:
		assert (row["reason"] is None) == bool(row["backends"])
	assert run("resources", "--format", "csv").returncode == 2


PROBED = """static int twice(int n) { return 2 * n; }
static int constant() { return 1; }
int main(int count, char **words)
{
	for (int i = 0; i < count; i++)
		twice(i);
	return 0 * constant();
}
"""


def test_instrument(tmp_path):
	(tmp_path / 'a "b".cc').write_text(PROBED)
	words = ("instrument", "--report", "--rule", "tiny on", "--rule", "level blocks", "--rule", "exclude function constant", 'a "b".cc')
	document = checked(*words, directory=tmp_path)
	points = document["probe_points"]
	assert document["findings"] == []
	assert {"function", "loop", "call"} <= {point["kind"] for point in points}
	assert {point["file"] for point in points} == {'a "b".cc'}
	assert document["instrumented"] == sum(point["instrumented"] for point in points) > 0
	assert document["skipped"] == sum(not point["instrumented"] for point in points) > 0
	for point in points:
		assert (point["reason"] is None) == point["instrumented"]
	rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv", directory=tmp_path).stdout)))
	assert rows == [{name: value if isinstance(value, str) else "" if value is None else json.dumps(value)
		for name, value in point.items()} for point in points]


def test_instrument_without_probe_points(tmp_path):
	(tmp_path / "a.c").write_text("int nothing;\n")
	document = checked("instrument", "--report", "a.c", directory=tmp_path)
	assert (document["probe_points"], document["instrumented"], document["skipped"]) == ([], 0, 0)


def test_whatif_has_the_same_errors_in_csv(directory):
	words = ("whatif", "main;sort;qsort=0", "main;print=0.5", "-r", "cpu", "whole.data")
	(result,) = checked(*words, directory=directory)["results"]
	rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv", directory=directory).stdout)))
	assert [(float(row["fraction"]), float(row["error"])) for row in rows] == \
		[(entry["fraction"], entry["error"]) for entry in result["entries"]]
	assert all(entry["error"] > 0 for entry in result["entries"])


def test_the_call_graph_is_that_of_the_paths(directory):
	(result,) = checked("report", "--call-graph", "forms.data", directory=directory)["results"]
	functions = {entry["path"][0]: entry for entry in result["entries"] if entry["entry"] == "function"}
	(inclusive,) = checked("report", "--functions", "-t", "0", "-n", "0", "forms.data", directory=directory)["results"]
	for entry in inclusive["entries"]:
		graph = functions[entry["path"][0]]
		assert graph["self_hits"] + graph["below_hits"] == entry["hits"]
	calls = [entry for entry in result["entries"] if entry["entry"] == "call"]
	assert calls and all(len(entry["path"]) == 2 for entry in calls)
