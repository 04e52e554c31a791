"""The output of the commands that read profiles, compared with the golden files of tests/golden.

UPDATE_GOLDEN=1 writes the golden files instead of comparing; `git diff` then shows the changes.
"""
import csv
import io
import json
import os
import re

import pytest
from cli_support import GOLDEN, done

# (input, command line without the profile's name); the name of the golden file is made from both.
TABLE = [
	("forms", "report --functions"),
	("forms", "report --functions --threshold 17.2%"),
	("forms", "report --body"),
	("forms", "report --up db_read_record --threshold 0.1"),
	("forms", "report --up db_read_record --threshold 0.1 --limit 3"),
	("forms", "report --down main --limit 0 --threshold 0"),
	("forms", "report --tree --limit 0 --threshold 0"),
	("forms", "report --tree --limit 8"),
	("forms", "report --tree --threshold 5% --format json"),
	("forms", "report --tree --limit 3 --format csv"),
	("forms", "report --down invoice --format json"),
	("forms", "report --down invoice --format csv"),
	("recursion", "report --functions"),
	("recursion", "report --down a"),
	("recursion", "report --up a"),
	("recursion", "report --tree"),
	("recursion", "export --format folded"),
	("names", "report --functions"),
	("names", "report --down main --format json"),
	("names", "report --down main --format csv"),
	("names", "report --tree"),
	("whole", "report --functions"),
	("whole", "report --down main"),
	("whole", "report --down main --no-inlines -r cpu"),
	("whole", "report --down main --by callsite -r cpu"),
	("whole", "report --functions --by line -r cpu"),
	("whole", "report --functions --by module -r cpu"),
	("whole", "report --down main --untrimmed -r cpu"),
	("whole", "report --down _start --untrimmed -r cpu"),
	("whole", "report --body -r page-faults -r cpu"),
	("whole", "report -r cpu --format json"),
	("whole", "report --format json"),
	("whole", "report --format csv"),
	("whole", "report --functions --thread 101 -r cpu"),
	("whole", "report --functions --thread helper -r cpu"),
	("whole", "report --functions --process helper -r cpu"),
	("whole", "report --functions --process 100 -r cpu"),
	("whole", "report --functions -r cpu --from 0.2 --to 0.35"),
	("whole", "report --functions -r cpu --from 2"),
	("whole", "report --source ns::sort -r cpu"),
	("whole", "report --source work -r cpu"),
	("whole", "report --source main -r cpu --format json"),
	("whole", "report --source main -r cpu --format csv"),
	("whole", "report --source qsort -r cpu"),
	("whole", "report --up qsort"),
	("whole", "report --threads -r cpu"),
	("whole", "report --threads -r page-faults --process demo --format json"),
	("whole", "report --processes"),
	("whole", "report --processes --from 0.1 --to 0.3 -r cpu --format csv"),
	("whole", "report --modules -r cpu"),
	("whole", "report --lines -r cpu"),
	("whole", "report --lines -r cpu --limit 2 --format json"),
	("whole", "report --lines -r cpu --threshold 0.1 --format csv"),
	("whole", "report"),
	("whole", "report --thread 101 -r cpu"),
	("server", "report"),
	("forms", "report"),
	("empty", "report"),
	("killed", "report"),
	("lossy", "report"),
	("whole", "info"),
	("whole", "info --format json"),
	("lossy", "info"),
	("empty", "info"),
	("empty", "report --functions"),
	("empty", "report --down main"),
	("empty", "report --tree --format json"),
	("empty", "report --format csv"),
	("server", "report --down main"),
	("server", "report --down main --no-stitch -r page-faults"),
	("server", "report --tree --untrimmed -r page-faults"),
	("server", "report --functions --process helper -r page-faults"),
	("server", "report --functions --process 300 --process 310 -r page-faults"),
	("server", "report --functions --cgroup /system.slice -r page-faults"),
	("server", "report --functions --cgroup user* -r page-faults"),
	("server", "report --pages"),
	("server", "report --pages --format json --thread worker"),
	("server", "report --pages --format csv --limit 1"),
	("server", "report --pages --by callsite --threshold 10% --process server"),
	("server", "report --pages --no-stitch --to 0.002"),
	("server", "export -r page-faults"),
	("server", "export -r page-faults --no-stitch"),
	("server", "info"),
	("server", "info --format json"),
	("labels", "report --by-label"),
	("labels", "report --by-label tenant -r cpu"),
	("labels", "report --by-label=kind --format json"),
	("labels", "report --by-label --format csv -r cpu --limit 3"),
	("labels", "report --by-label tenant --down main -r cpu --threshold 0.1"),
	("labels", "report --by-label tenant --body -r cpu --limit 2"),
	("labels", "report --by-label tenant --body -r cpu --limit 2 --format json"),
	("labels", "report --by-label --tree -r page-faults --limit 2 --format csv"),
	("labels", "report --functions --label tenant=acme --label kind=buy -r cpu"),
	("labels", "report --label kind=search --label kind=buy --by-label -r cpu"),
	("labels", "whatif main;sort;qsort=0 -r cpu --label tenant"),
	("labels", "info"),
	("labels", "info --format json"),
	("whole", "report --down qsort --by callsite -r cpu"),
	("whole", "report --up sort --by line -r cpu"),
	("whole", "report --down compare"),
	("whole", "report --source compare -r calls"),
	("whole", "export -r cpu"),
	("whole", "export -r page-faults --untrimmed --no-inlines"),
	("forms", "whatif main;invoice=0"),
	("forms", "whatif main;invoice=0.5 main;invoice;address_information=0 db_update_record=50%"),
	("forms", "whatif main;invoice=0.5 main;envelope=0 --format json"),
	("forms", "whatif main;invoice=0.5 main;envelope=0 --format csv"),
	("whole", "whatif main;sort;qsort=0"),
	("whole", "whatif main;print=2 -r cpu"),
	("forms recursion", "diff"),
	("whole empty", "diff -r cpu"),
	("whole lossy", "diff -r cpu --body"),
	("recursion forms", "diff --down main --format json"),
	("recursion forms", "diff --limit 2 --format csv"),
	("recursion forms", "diff --functions --limit 3"),
]


def slug(inputs, line):
	return re.sub(r"[^A-Za-z0-9.%_=-]+", "_", f"{inputs} {line}").strip("_")


def golden_command(inputs, line):
	command, *flags = line.split()
	files = [f"{name}.data" for name in inputs.split()]
	return [command, *files, *flags]


def compare_golden(path, actual):
	if os.environ.get("UPDATE_GOLDEN"):
		path.write_text(actual)
	assert path.exists(), f"{path} is missing: UPDATE_GOLDEN=1 writes it"
	assert actual == path.read_text()


def without_what_varies(text):
	"""Replaces file sizes, because another version of the compressor may produce another size."""
	text = re.sub(r'^size: .*$', "size:         (size)", text, flags=re.MULTILINE)
	return re.sub(r'"file_bytes": \d+', '"file_bytes": 1', text)


@pytest.mark.parametrize("inputs,line", TABLE, ids=lambda value: value)
def test_golden(profiles, inputs, line):
	actual = done(*golden_command(inputs, line), directory=profiles)
	compare_golden(GOLDEN / f"{slug(inputs, line)}.txt", without_what_varies(actual))


def test_golden_files_are_all_used():
	expected = {f"{slug(*row)}.txt" for row in TABLE}
	assert {path.name for path in GOLDEN.glob("*.txt")} == expected


@pytest.mark.parametrize("inputs,line", [row for row in TABLE if "json" in row[1]], ids=lambda value: value)
def test_json_is_json(profiles, inputs, line):
	json.loads(done(*golden_command(inputs, line), directory=profiles))


@pytest.mark.parametrize("inputs,line", [row for row in TABLE if "csv" in row[1]], ids=lambda value: value)
def test_csv_is_a_table(profiles, inputs, line):
	rows = list(csv.reader(io.StringIO(done(*golden_command(inputs, line), directory=profiles)), strict=True))
	assert all(len(row) == len(rows[0]) for row in rows)


def test_json_keeps_what_text_shows(profiles):
	(report,) = json.loads(done("report", "--down", "main", "--format", "json", "names.data", directory=profiles))["results"]
	names = {entry["path"][-1] for entry in report["entries"]}
	assert {'"quoted", or not', "back\\slash", "\ufffd\ufffdbroken", "\x1b[31mred\x07", "café"} <= names
	assert report["total_hits"] == 14


def test_text_has_no_control_characters(profiles):
	for command in (["report"], ["report", "--tree"], ["info"]):
		for name in ("names", "lossy"):
			text = done(*command, f"{name}.data", directory=profiles)
			assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), (command, name)
