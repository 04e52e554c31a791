"""`cpprof regress`, and the services of a store: `cpprof store top`."""
import csv
import io
import os
import re

import pytest
from cli_support import done, run
from json_support import valid_json
from store_support import add

NOW, HOUR, WINDOWS = 1_800_000_000, 3600, 8
TIMES = ("--to", f"@{NOW}", "--baseline", f"@{NOW - 9 * HOUR}")
SHARES = {"main;serve;parse": 3000, "main;serve;work": 6000, "main;log": 1000}


def recording(folder, name, hits, age_hours, minutes=0):
	"""A recording whose hits have the time of its file's last change, which is within the hour that began `age_hours` hours before NOW."""
	source, data = folder / f"{name}.folded", folder / f"{name}.data"
	source.write_text("".join(f"{path} {count}\n" for path, count in hits.items()))
	done("import", "--format", "folded", "-o", data, source)
	os.utime(data, (NOW - age_hours * HOUR + 60 * minutes,) * 2)
	return data


def week(folder, service, factors):
	"""{host: files}: an hour's recording on each of two machines, for WINDOWS hours and the last one, in which the hits are multiplied by
	`factors`."""
	files = {"a": [], "b": []}
	for host in files:
		for age in range(1, WINDOWS + 2):
			noise = 1 + 0.002 * ((age * 7) % 5 - 2)
			hits = {path: round(count * (noise if path == "main;log" else 1) * (factors.get(path, 1) if age == 1 else 1))
				for path, count in SHARES.items()}
			name = f"{service}{host}{age}"
			hits[f"main;of_{name}"] = 1 # a file with the content of another one is not added
			files[host].append(recording(folder, name, hits, age, minutes=7 if host == "a" else 9))
	return files


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
	"""Three services: one uses more in `log`, one more of everything, one the same."""
	folder = tmp_path_factory.mktemp("weeks")
	factors = {"shop": {"main;log": 1.5}, "mail": dict.fromkeys(SHARES, 1.5), "idle": {}}
	return {service: week(folder, service, of_service) for service, of_service in factors.items()}


@pytest.fixture
def fleet(store, tmp_path, weeks):
	for service, hosts in weeks.items():
		for host, files in hosts.items():
			add(tmp_path, store, *files, service=service, host=host)
	return store


def regressions(store, *words, status=3):
	"""{(service, path)} of the entries that use more."""
	result = run("regress", "--store", store, *TIMES, "--format", "json", *words)
	assert result.returncode == status, result.stderr
	return {(one["labels"]["service"], ";".join(entry["path"])): entry for one in valid_json(result.stdout)["results"] for entry in one["entries"]}


def test_planted_changes_are_found(fleet):
	"""By shares, the service that uses more of everything does not differ; by amounts it does."""
	found = regressions(fleet, "--down", "main")
	assert set(found) == {("shop", "main;log")}
	entry = found["shop", "main;log"]
	assert (entry["hits_b"], entry["significant"], entry["exceeds"]) == (3000, True, True)
	by_amount = regressions(fleet, "--amounts", "--body")
	assert set(by_amount) == {("shop", "log"), ("mail", "log"), ("mail", "parse"), ("mail", "work")}
	assert set(regressions(fleet, "--body", "--service", "shop")) == {("shop", "log")}
	assert regressions(fleet, "--fail-above", "60", status=0) == {}
	assert regressions(fleet, "--service", "idle", status=0) == {}


def test_since_a_release(fleet):
	"""With an earlier end of the baseline, all hours since then are compared: the last one is then no change."""
	words = ("--since", f"@{NOW - 4 * HOUR}", "--body", "--service", "shop")
	result = run("regress", "--store", fleet, *TIMES, *words, "--format", "json")
	document = valid_json(result.stdout)
	assert (result.returncode, document["results"]) == (0, [])
	result = run("regress", "--store", fleet, *TIMES, "--body", "--service", "shop", "--format", "json")
	sides = valid_json(result.stdout)["results"][0]
	assert (sides["a"]["recordings"], sides["b"]["recordings"]) == (WINDOWS, 1)


def test_text_and_csv(fleet):
	text = run("regress", "--store", fleet, *TIMES, "--body")
	assert text.returncode == 3
	assert "Difference of Body Profile of service=shop for resource: Samples" in text.stdout and "service=idle" not in text.stdout
	# At most one false alarm a week, in three services: 3 * 7 * 24.
	assert "at most 1 of 504 comparisons of equal programs has a mark\n" in text.stdout
	assert text.stdout.endswith("\n1 change above +0 %, in 3 services\n")
	rows = list(csv.DictReader(io.StringIO(run("regress", "--store", fleet, *TIMES, "--format", "csv", "--body").stdout)))
	assert [(row["labels"], row["path"]) for row in rows] == [("service=shop", "log")]
	header = done("regress", "--store", fleet, *TIMES, "--format", "csv", "--body", "--service", "idle")
	assert header == ",".join(rows[0]) + "\n", "names of columns, and no row"
	assert done("regress", "--store", fleet, *TIMES, "--service", "idle") == "0 changes above +0 %, in 1 service\n"


def test_services_that_cannot_be_compared(fleet, tmp_path):
	"""They are left out with a notice; if none is left, it is a failure."""
	add(tmp_path, fleet, recording(tmp_path, "new", SHARES, 1, minutes=3), service="new")
	result = run("regress", "--store", fleet, *TIMES, "--body")
	assert result.returncode == 3 and "left out 'new': it has recordings in 0 windows of the baseline and in 1 after it" in result.stderr
	alone = run("regress", "--store", fleet, *TIMES, "--service", "new")
	assert alone.returncode == 1 and "no service has enough recordings (--baseline -1d, or --window 30m)" in alone.stderr and alone.stdout == ""
	absent = run("regress", "--store", fleet, *TIMES, "--service", "nosuch", "--host", "a")
	assert absent.returncode == 1 and absent.stdout == ""
	(names,) = re.findall(r"cannot compare 'nosuch': the store has no such service between --baseline and --to \(it has (.*)\)", absent.stderr)
	assert sorted(names.split(", ")) == ["idle", "mail", "new", "shop"]
	early = run("regress", "--store", fleet, "--to", "@1000000", "--service", "shop")
	assert early.returncode == 1 and "no such service between --baseline and --to (it has no recordings then)" in early.stderr, early.stderr
	unknown = run("regress", "--store", fleet, *TIMES, "-r", "xyzzy")
	assert unknown.returncode in (1, 2) and "xyzzy" in unknown.stderr and unknown.stdout == ""


def test_the_baseline_has_the_hour_of_the_day(store, tmp_path):
	"""A week has 24 windows to compare, one per hour of the day: recordings at the same hour of seven days and of today make one."""
	files = [recording(tmp_path, f"day{day}", {"main;work": 100, f"main;day{day}": 1}, 24 * day + 1, minutes=5) for day in range(8)]
	add(tmp_path, store, *files, service="daily")
	result = run("regress", "--store", store, "--to", f"@{NOW}")
	assert result.returncode == 1 and "it has recordings in 1 window of the baseline and in 1 after it" in result.stderr


@pytest.mark.parametrize("words, message", [
	("", "missing option --store URL"), ("--store s.db --window 0s", "out of range"), ("--store s.db --window x", "is no age"),
	("--store s.db --window 9999999d", "the age '9999999d' is too large (at most 106751d)"), ("--store s.db --window 99999999999999999999999w", "is too large (at most 106751d)"),
	("--store s.db --window 106752d", "is too large (at most 106751d)"), ("--store s.db --window 106751d", "fewer than 3 windows"),
	("--store s.db --baseline x", "is no time"), ("--store s.db --baseline -2h", "fewer than 3 windows (--baseline -1d, or --window 15m)"),
	("--store s.db --window 3d", "fewer than 3 windows (--baseline -17d, or --window 36h)"),
	("--store s.db --since now", "--since is not before --to"), ("--store s.db --since -10m", "less than one window is left"), ("--store s.db --fail-above x", "not a change in percent"),
	("--store s.db more", "argument"), ("--store s.db --up main --body", "choose one report")])
def test_wrong_words(tmp_path, words, message):
	result = run("regress", *words.split(), directory=tmp_path)
	assert result.returncode == 2 and message in result.stderr and not list(tmp_path.iterdir())


def test_top_shows_services(fleet):
	words = ("--store", fleet, "--from", f"@{NOW - HOUR}", "--to", f"@{NOW}", "--format", "json")
	entries = valid_json(done("store", "top", *words))["results"][0]["entries"]
	assert [(entry["labels"]["service"], entry["hits"]) for entry in entries] == [("mail", 30002), ("shop", 21002), ("idle", 20002)]
	assert entries == valid_json(done("report", "--by-label=service", *words))["results"][0]["entries"]
	hosts = valid_json(done("report", "--by-label=host", *words))["results"][0]["entries"]
	assert sorted(entry["labels"]["host"] for entry in hosts) == ["a", "b"]
	text = done("store", "top", *words[:-2], "--host", "a", "--limit", "1")
	assert " service=mail [15001]\n" in text and "service=shop" not in text


def test_a_label_of_the_program_counts_in_place_of_its_source(profiles, store, tmp_path):
	"""Reports without the keys `service` and `host` have the labels of the recordings only."""
	add(profiles, store, "labels.data", service="s", label="host=other")
	words = ("-r", "cpu", "--store", store, "--format", "json")
	(result,) = valid_json(done("report", "--by-label=host", *words))["results"]
	assert [entry["labels"] for entry in result["entries"]] == [{"host": "other"}]
	(result,) = valid_json(done("report", "--by-label", *words))["results"]
	assert all("service" not in entry["labels"] for entry in result["entries"])


def test_windows_are_of_whole_buckets(tmp_path):
	"""Others would have three and four buckets in turns."""
	done("store", "init", "--store", "s.db", "--bucket", "3s", directory=tmp_path)
	for window, longer in (("10s", "12s"), ("1m", None), ("61s", "63s")):
		result = run("regress", "--store", "s.db", "--window", window, directory=tmp_path)
		message = f"a window of {window} is no multiple of the store's buckets of 3 s (--window {longer})"
		assert (result.returncode == 2 and message in result.stderr) if longer else "multiple" not in result.stderr, result.stderr
