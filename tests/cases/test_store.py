"""`cpprof store`, and reports of a store: their figures are as of the files that were added."""
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections import Counter

import pytest
from cli_support import CPPROF, check_failure, done, run
from json_support import valid_json
from server_support import Server
from store_support import add, large_recording, names, without_suffixes

ALL = ("--limit", 0, "--threshold", 0)
REPORTS = ["--functions", "--body", "--lines", "--modules", "--down main", "--up main", "--tree", "--threads", "--processes", "--pages",
	"--by-label", "--by-label=tenant --down main", "--call-graph", "--counts", "--groups", "--source main", "--by line", "--kernel hide"]


def recordings(store):
	return int(re.search(r"recordings +([0-9]+)", done("store", "stats", "--store", store)).group(1))


def in_order(gmon):
	"""The arcs of a gmon.out file, 21 bytes each at its end, have no order."""
	start = len(gmon)
	while gmon[start - 21] == 1:
		start -= 21
	return gmon[:start], sorted(gmon[at:at + 21] for at in range(start, len(gmon), 21))


def printed(result):
	return result.returncode, without_suffixes(result.stdout)


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_prints_the_figures_of_the_file(profiles, filled_store, report):
	"""As text and as JSON, of each kind of recording; an error is the same error."""
	for name in names(profiles):
		selection = ("--store", filled_store, "--service", name.removesuffix(".data"))
		of_file = run("report", *report.split(), *ALL, name, directory=profiles)
		of_store = run("report", *report.split(), *ALL, *selection, directory=profiles)
		assert printed(of_store) == printed(of_file), name
		if of_file.returncode == 0 and report != "--call-graph" and name in ("whole.data", "labels.data", "programs.data"):
			words = ("report", *report.split(), *ALL, "--format", "json")
			assert without_suffixes(done(*words, *selection, directory=profiles)) == \
				without_suffixes(done(*words, name, directory=profiles)), name


@pytest.mark.parametrize("command", ["whatif main=0.5", "explain --budget 64K", "export --format folded", "export --format callgrind -r cpu",
	"export --format gmon -o -", "report --asm main"])
def test_other_commands(profiles, store, command):
	name, words = "whole.data", command.split()
	at = 1 if words[0] == "whatif" else len(words)
	add(profiles, store, name)
	of_file = run(*words[:at], name, *words[at:], directory=profiles, text=False)
	of_store = run(*words[:at], "--store", store, *words[at:], directory=profiles, text=False)
	assert of_store.returncode == of_file.returncode, of_store.stderr
	text = of_store.stdout.replace(store.url.encode(), name.encode())
	assert (in_order if "gmon" in command else bytes)(text) == (in_order if "gmon" in command else bytes)(of_file.stdout)


def test_page_and_explorer(profiles, store, tmp_path):
	add(profiles, store, "whole.data")
	done("html", "--store", store, "-o", tmp_path / "store.html", directory=profiles)
	assert "<html" in (tmp_path / "store.html").read_text(errors="replace")
	(of_store,), (of_file,) = (valid_json(done("report", "--body", "-r", "cpu", "--format", "json", name, directory=profiles))["results"]
		for name in (store.url, "whole.data"))
	assert of_store == of_file


def test_info_explore_and_push(profiles, store):
	add(profiles, store, "whole.data")
	info = valid_json(done("info", "--format", "json", "--store", store))
	of_file = valid_json(done("info", "--format", "json", "whole.data", directory=profiles))
	assert [row["name"] for row in info["resources"]] == [row["name"] for row in of_file["resources"]]
	questions = subprocess.run([CPPROF, "explore", "--store", str(store)], input="down main\n", capture_output=True, text=True)
	assert (questions.returncode, questions.stdout.replace(store.url, "whole.data")) == (0, subprocess.run([CPPROF, "explore", "whole.data"], cwd=profiles, input="down main\n",
		capture_output=True, text=True).stdout)
	with Server() as server:
		assert run("push", "--server", "otlp", "--store", store, server.url).returncode == 0
	assert len(server.requests) == 1 and len(server.requests[0][2]) > 100


def test_formats_of_a_trace_need_a_file(profiles, store, tmp_path):
	add(profiles, store, "whole.data")
	result = run("export", "--format", "events", "--store", store, directory=profiles)
	assert result.returncode == 2 and "a store has no events (name a file)" in result.stderr


def test_sums_of_two_recordings(profiles, store, tmp_path):
	"""Two files that differ: their hits and samples add up."""
	add(profiles, store, "whole.data", "lossy.data")
	def bodies(*words):
		found = {}
		for result in valid_json(done("report", "--body", "--format", "json", *ALL, *words, directory=profiles))["results"]:
			for entry in result["entries"]:
				found[result["resource"], entry["path"][0]] = entry["hits"]
			found[result["resource"], "samples"] = result.get("samples") or 0
		return found
	one, two = bodies("whole.data"), bodies("lossy.data")
	assert bodies("--store", store) == {key: one.get(key, 0) + two.get(key, 0) for key in one | two}


def test_added_twice_counts_once(profiles, store, tmp_path):
	add(profiles, store, "whole.data")
	shutil.copy(profiles / "whole.data", tmp_path / "copy.data")
	before = done("export", "--store", store, "-r", "cpu")
	result = run("store", "add", "--store", store, tmp_path / "copy.data")
	assert result.returncode == 0 and "is in the store already" in result.stderr
	assert recordings(store) == 1
	assert done("export", "--store", store, "-r", "cpu") == before


def test_imports_of_equal_content(store, tmp_path):
	"""A file that does not state its start is another recording on another host, or at another time."""
	(tmp_path / "a.folded").write_text("main;f 3\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	for start, host, count in ((1_800_000_000, "a", 1), (1_800_000_000, "b", 2), (1_800_000_060, "a", 3), (1_800_000_000, "a", 3)):
		os.utime(tmp_path / "a.data", (start,) * 2)
		add(tmp_path, store, "a.data", host=host)
		assert recordings(store) == count


@pytest.fixture
def dated(store, tmp_path):
	"""A store with recordings of two services, two machines, two hours."""
	for index, (service, host, version, function) in enumerate([("shop", "a", "1", "f"), ("shop", "b", "1", "g"), ("shop", "a", "2", "h"),
			("mail", "a", "1", "i")]):
		source, data = tmp_path / f"{index}.folded", tmp_path / f"{index}.data"
		source.write_text(f"main;{function} {10 ** index}\n")
		done("import", "--format", "folded", "-o", data, source)
		os.utime(data, (1_800_000_000 + 3600 * index,) * 2)
		add(tmp_path, store, data, service=service, host=host, label=f"version={version}")
	return store


@pytest.mark.parametrize("selection, functions", [
	("", "fghi"), ("--service shop", "fgh"), ("--service mail", "i"), ("--host a", "fhi"), ("--host b --service shop", "g"),
	("--label version=2", "h"), ("--label version=1 --host a", "fi"), ("--from @1800000000 --to @1800000010", "f"),
	("--from @1800003590", "ghi"), ("--to @1800003600", "f"), ("--from 2027-01-15T09:00Z --to 2027-01-15T10:30Z", "gh"),
	("--from @1800003600 --host a", "hi")])
def test_selections(dated, tmp_path, selection, functions):
	for words in (["export", "--format", "folded"], ["html", "-o", tmp_path / "page.html"], ["explain"]):
		text = done(*words, "--store", dated, *selection.split(), TZ="Europe/Berlin")
		if words[0] == "export":
			assert {line.split(";")[1][0] for line in text.splitlines()} == set(functions)
	url = f"{dated.url}?" + "&".join(word.replace(" ", "=") for word in re.findall(r"--(\S+ \S+)", selection))
	assert done("export", url) == done("export", "--store", dated, *selection.split())


def test_diff_of_two_selections(dated):
	document = valid_json(done("diff", "--functions", "--format", "json", "--store", dated, "--service", "shop", *ALL, "host=a", "host=b"))
	entries = {entry["path"][0] if "path" in entry else entry["name"]: entry for entry in document["results"][0]["entries"]}
	assert {"f", "g", "h"} <= set(entries) and "i" not in entries
	urls = [f"{dated.url}?service=shop&host={host}" for host in "ab"]
	assert valid_json(done("diff", "--functions", "--format", "json", *ALL, *urls))["results"] == document["results"]


@pytest.mark.parametrize("words, message", [
	("--service none", "matches the selection (cpprof store stats)"), ("--label version=9", "matches the selection"),
	("--label version", "is no label (--label KEY=VALUE)"), ("--from @7 --to @7", "range of time is empty"),
	("--from @1800000001 --to @1800000009", "empty: its ends are rounded down to the store's buckets of 10 s"),
	("--from yesterday", "'yesterday' is no time (now, -1h"), ("--from -1y", "'1y' is no age"), ("colour=red", "selects nothing of a store")])
def test_wrong_selections(dated, words, message):
	result = run("export", "--store", dated, *words.split())
	assert result.returncode in (1, 2) and message in result.stderr and result.stdout == ""


def test_selection_without_a_store(profiles):
	for words in (["report", "--service", "x"], ["html", "--from", "-1h"], ["diff", "--host", "x", "a", "b"]):
		result = run(*words, directory=profiles)
		assert result.returncode == 2 and "needs a store (--store URL)" in result.stderr


def test_labels_of_a_recording_and_of_the_program(profiles, store, tmp_path):
	"""Hits have both; the program's own one counts where both have the key."""
	add(profiles, store, "labels.data", label="datacentre=x")
	assert "datacentre" in done("report", "--by-label", "--store", store)
	words = ("report", "--by-label=tenant", *ALL)
	assert done(*words, "--store", store) == done(*words, "labels.data", directory=profiles)
	whole = done("report", "--body", "-r", "cpu", *ALL, "--store", store, "--label", "datacentre=x")
	assert whole == done("report", "--body", "-r", "cpu", *ALL, "--store", store)


def test_findings_of_recordings_are_one(profiles, store, tmp_path):
	"""Many recordings with a finding of one kind give one warning, with the share of their sum."""
	for number in range(4):
		(tmp_path / "a.folded").write_text(f"main;f{number} {number + 1}\n")
		done("import", "--format", "folded", "-o", tmp_path / f"{number}.data", tmp_path / "a.folded")
		add(tmp_path, store, f"{number}.data")
	whole = [finding for finding in valid_json(done("info", "--format", "json", "0.data", directory=tmp_path))["findings"]]
	of_store = valid_json(done("info", "--format", "json", "--store", store))["findings"]
	assert len(of_store) == len(whole)


def test_a_store_is_no_profile(profiles, tmp_path):
	add(profiles, tmp_path / "s.db", "whole.data")
	check_failure(run("report", "s.db", directory=tmp_path), "cannot open 's.db': it is a store (--store FILE reads it)")
	with sqlite3.connect(tmp_path / "other.db") as other:
		other.execute("CREATE TABLE t(x)")
	check_failure(run("report", "other.db", directory=tmp_path), "cannot open 'other.db': it is not a cpprof profile, and its format is unknown")


def test_too_many_labels(profiles, tmp_path):
	"""A store refuses what it could not send from the spool, and nothing stays in the spool."""
	labels = [word for number in range(1025) for word in ("--label", f"k{number}=v")]
	for store in (tmp_path / "s.db", "http://127.0.0.1:1/db"):
		check_failure(run("store", "add", "--store", store, "--spool", tmp_path / "spool", *labels, profiles / "whole.data"),
			"it has 1025 labels, more than 1024")
		assert not list(tmp_path.glob("spool/*"))
	done("store", "add", "--store", tmp_path / "s.db", *labels[2:], profiles / "whole.data")


def test_a_file_of_a_far_year(profiles, tmp_path):
	"""whole.data states its start itself, and an import does not."""
	(tmp_path / "a.folded").write_text("main 1\n")
	done("import", "--format", "folded", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	shutil.copy(profiles / "whole.data", tmp_path)
	for name in ("a.data", "whole.data"):
		os.utime(tmp_path / name, (13_600_000_000,) * 2)
	check_failure(run("store", "add", "--store", tmp_path / "s.db", tmp_path / "a.data"), "the file's time is out of range (touch sets it)")
	assert "added 1 recording" in run("store", "add", "--store", tmp_path / "s.db", tmp_path / "whole.data").stderr


def test_ranges_of_time_add_up(store, tmp_path):
	"""Hits of a bucket are in one of two ranges that meet, at whatever second they meet, and so are hits without a time."""
	(tmp_path / "a.perf").write_text("".join(f"prog 1 [000] {100 + second}.5: 1 cpu-clock:\n\t401000 f{second} (/bin/prog)\n\n" for second in range(45)))
	(tmp_path / "b.folded").write_text("main;untimed 7\n")
	for form, name in (("perf-script", "a.perf"), ("folded", "b.folded")):
		data = tmp_path / f"{name}.data"
		done("import", "--format", form, "-o", data, tmp_path / name)
		os.utime(data, (1_800_000_003,) * 2)
		add(tmp_path, store, data, service=form)

	def hits(start, end, service="perf-script"):
		result = run("export", "--store", store, "--service", service, "--from", f"@{start}", "--to", f"@{end}")
		assert result.returncode == 0 or "no recording" in result.stderr or "is empty" in result.stderr, result.stderr
		return Counter({path: int(count) for path, _, count in (line.rpartition(" ") for line in result.stdout.splitlines())})
	first, last = 1_799_999_950, 1_800_000_100
	whole = hits(first, last)
	assert len(whole) == 45
	for middle in (1_799_999_999, 1_800_000_000, 1_800_000_004, 1_800_000_010, 1_800_000_015, 1_800_000_040):
		assert hits(first, middle) + hits(middle, last) == whole
		assert hits(first, middle, "folded") + hits(middle, last, "folded") == {"main;untimed": 7}
	assert 0 < len(hits(first, 1_800_000_015)) < 45


def test_sums_need_memory_for_call_paths_alone(store, tmp_path):
	"""420,000 hits at different times, of three paths and two services: reports of paths add them up, others do not."""
	for service in range(2):
		(tmp_path / "a.perf").write_text("".join(f"prog {1 + second % 2} [000] {service + 100 + 10 * second}.5: {1 + second % 3} cpu-clock:\n"
			f"\t401000 f{second % 3} (/bin/prog)\n\n" for second in range(210000)))
		done("import", "--format", "perf-script", "-o", tmp_path / "a.data", tmp_path / "a.perf")
		add(tmp_path, store, "a.data", service=f"s{service}")
	few = ("--memory", "16M", "--store", store)
	for words in (("--threads",), ("--body", "--process", "prog"), ()):
		check_failure(run("report", *words, *few), "(--memory, or select fewer: --service, --host, --from; 'report --functions' adds them up and needs less)")
	report = valid_json(done("report", "--body", "-r", "cpu", "--format", "json", *ALL, *few))
	assert {entry["path"][0]: entry["hits"] for entry in report["results"][0]["entries"]} == \
		{f"f{index}": 140000 * (1 + index) for index in range(3)}
	assert "[140000] x 0" in done("whatif", "f0=0", *few) and "f2" in done("diff", "--memory", "16M", store.url, store.url)
	of_service = valid_json(done("report", "--by-label=service", "--body", "--format", "json", *ALL, *few))
	assert len(of_service["results"]) == 2
	add(tmp_path, store, large_recording(tmp_path)) # 60,000 paths
	check_failure(run("report", "--functions", "--memory", "4M", "--store", store), "cannot read", "--memory")


def test_recordings_from_the_future(store, tmp_path):
	"""A host whose clock is ahead: its recordings are kept, with a warning, and are selected by their own times."""
	now = time.time()
	for name, ahead in (("ahead", 7200), ("right", -600), ("nearly", 20)):
		source, data = tmp_path / f"{name}.folded", tmp_path / f"{name}.data"
		source.write_text(f"main;{name} 7\n")
		done("import", "--format", "folded", "-o", data, source)
		os.utime(data, (now + ahead,) * 2)
		added = run("store", "add", "--store", store, "--host", name, data)
		warning = re.search(r"'.*ahead.data' starts (\d+) s in the future by the clock of this machine, .*\(set the clocks", added.stderr)
		assert added.returncode == 0 and bool(warning) == (name == "ahead"), added.stderr
		assert not warning or 7000 < int(warning[1]) <= 7200
	assert recordings(store) == 3
	assert {line.split(";")[1] for line in done("export", "--store", store, "--from", "-1h", "--to", "now").splitlines()} == {"right 7"}
	assert "main;ahead 7" in done("export", "--store", store, "--from", "-1h").splitlines()
	done("store", "prune", "--store", store, "--older-than", "0s")
	assert done("export", "--store", store, "--host", "ahead") == "main;ahead 7\n"


def test_two_machines_of_one_name(store, tmp_path):
	"""Both count; reports show one host, and a label tells them apart."""
	for number in (1, 2):
		source, data = tmp_path / f"{number}.folded", tmp_path / f"{number}.data"
		source.write_text(f"main;f{number} {number}\n")
		done("import", "--format", "folded", "-o", data, source)
		os.utime(data, (1_700_000_000,) * 2)
		add(tmp_path, store, data, service="shop", host="localhost", label=f"rack={number}")
	assert recordings(store) == 2
	assert done("export", "--store", store, "--host", "localhost") == "main;f1 1\nmain;f2 2\n"
	assert "1.0000 host=localhost [3]" in re.sub(r" ±\S+", "", done("report", "--by-label=host", "--store", store))
	assert done("export", "--store", store, "--host", "localhost", "--label", "rack=2") == "main;f2 2\n"


def sizes(store):
	"""All of `stats` but the times and the bytes."""
	text = done("store", "stats", "--store", store)
	return [line for line in text.splitlines() if line.split()[0] in ("recordings", "samples", "hit", "touch", "stacks")]


def test_writers_at_the_same_time(profiles, store):
	files = names(profiles)
	writers = [subprocess.Popen([CPPROF, "store", "add", "--store", str(store), *order], cwd=profiles, stderr=subprocess.PIPE, text=True)
		for order in (files, files[::-1], files[3:] + files[:3])]
	for writer in writers:
		assert writer.wait() == 0, writer.stderr.read()
		writer.stderr.close()
	alone = store.another("alone")
	add(profiles, alone, *files)
	assert sizes(store) == sizes(alone) and recordings(store) == len(files)


@pytest.mark.long("kills writers at many moments")
def test_killed_writer_leaves_whole_recordings(profiles, store, tmp_path):
	"""At any moment: the recording is there in whole, or not at all, and the next writer goes on."""
	data = large_recording(tmp_path)
	add(profiles, store, "forms.data")
	before = done("export", "--store", store)
	for pause in (0.01, 0.05, 0.1, 0.2, 0.3):
		writer = subprocess.Popen([CPPROF, "store", "add", "--store", str(store), data], stderr=subprocess.DEVNULL)
		time.sleep(pause)
		writer.send_signal(signal.SIGKILL)
		writer.wait()
		if recordings(store) == 1:
			assert done("export", "--store", store) == before
	add(profiles, store, data)
	alone = store.another("alone")
	add(profiles, alone, "forms.data", data)
	assert recordings(store) == 2
	assert done("export", "--store", store) == done("export", "--store", alone)


def test_intervals_that_differ_are_not_added_up(profiles, store, tmp_path):
	"""A hit then stands for other amounts."""
	add(profiles, store, "whole.data", service="one")
	add(profiles, store, "server.data", service="other")
	check_failure(run("export", "--store", store), "cannot add up 'page-faults': recordings have intervals of", "(select fewer: --service")
	for resource, name in (("cpu", "whole.data"), ("real", "server.data")):
		words = ("report", "--functions", "-r", resource, *ALL, "--format", "json")
		of_store = re.sub(r"main@\w+", "main", done(*words, "--store", store)) # there are two programs
		assert without_suffixes(of_store) == without_suffixes(done(*words, name, directory=profiles))
	unknown = run("report", "-r", "xyzzy", "--store", store, "--service", "one")
	assert "no resource 'xyzzy' in this profile; it has cpu" in unknown.stderr
	assert done("export", "--store", store, "--service", "one") == done("export", "whole.data", directory=profiles)


def sampled(folder, name, period_ns, functions):
	"""A recording of CPU time in which each sample stands for the period. `functions`: {name: samples}"""
	text, time_ns = "", 0
	for function, samples in functions.items():
		for _ in range(samples):
			time_ns += period_ns
			text += f"prog  100 [000] {time_ns / 1e9:.6f}:   {period_ns} cpu-clock: \n\t    1234 {function} (/bin/prog)\n\t    1100 main (/bin/prog)\n\n"
	(folder / f"{name}.txt").write_text(text)
	done("import", "-o", folder / f"{name}.data", folder / f"{name}.txt")
	return folder / f"{name}.data"


def test_rates_that_differ(store, tmp_path):
	"""An agent's 19 Hz and 1 kHz of one service: no command adds them up. Each of them alone is right, and diff compares their amounts."""
	functions = {"slow": {"f": 10, "g": 30}, "fast": {"f": 520, "g": 480}}
	for (name, period_ns), host in zip((("slow", 52631579), ("fast", 1000000)), "ab"):
		add(tmp_path, store, sampled(tmp_path, name, period_ns, functions[name]), service="shop", host=host)
	intervals = re.compile(r"cannot add up 'cpu': recordings have intervals of (52631579 and 1000000|1000000 and 52631579) gticks "
		r"\(select fewer: --service, --host, --from, or resources: -r\)\n\Z")
	for words in (["report"], ["report", "--functions", "--service", "shop"], ["report", "--by-label"], ["export"], ["info"], ["store", "top"],
			["diff", "--functions", "service=shop", "host=a"]):
		result = run(*words, "--store", store)
		assert result.returncode == 1 and result.stdout == "" and intervals.search(result.stderr), (words, result.stderr)
	for host, name in zip("ab", functions):
		entries = valid_json(done("report", "--functions", "--format", "json", *ALL, "--store", store, "--host", host))["results"][0]["entries"]
		assert {entry["path"][0]: entry["hits"] for entry in entries} == {"main": sum(functions[name].values()), **functions[name]}
	(result,) = valid_json(done("diff", "--functions", "--format", "json", *ALL, "--store", store, "host=a", "host=b"))["results"]
	assert {entry["path"][0]: (entry["gticks_a"], entry["gticks_b"]) for entry in result["entries"]} == {
		"main": (40 * 52631579, 1000 * 1000000), "f": (10 * 52631579, 520 * 1000000), "g": (30 * 52631579, 480 * 1000000)}


def test_prune(dated, tmp_path):
	done("store", "prune", "--store", dated, "--older-than", "0s", "--service", "mail") # recordings of the future stay
	assert recordings(dated) == 4
	source, data = tmp_path / "old.folded", tmp_path / "old.data"
	for service in ("mail", "shop"):
		source.write_text(f"main;old_{service} 7\n")
		done("import", "--format", "folded", "-o", data, source)
		os.utime(data, (1_500_000_000,) * 2)
		add(tmp_path, dated, data, service=service)
	result = run("store", "prune", "--store", dated, "--older-than", "1d", "--service", "mail")
	assert result.returncode == 0 and "removed 1 recording" in result.stderr
	assert recordings(dated) == 5
	result = run("store", "prune", "--store", dated, "--older-than", "1d")
	assert result.returncode == 0 and "removed 1 recording" in result.stderr
	assert {line.split(";")[1][0] for line in done("export", "--store", dated).splitlines()} == set("fghi")
	check = run("store", "prune", "--store", dated)
	assert check.returncode == 2 and "keeps everything for ever (--older-than 30d)" in check.stderr


def test_retention_is_a_setting(profiles, store, tmp_path):
	done("store", "init", "--store", store, "--retention", "1d")
	add(profiles, store, "whole.data")
	assert "retention    86400 s" in done("store", "stats", "--store", store)
	done("store", "prune", "--store", store)
	assert "recordings   0" in done("store", "stats", "--store", store)


@pytest.mark.parametrize("words, message", [
	("", "missing argument: init, add, stats, prune or top"), ("frob", "unknown verb 'frob'"), ("add", "missing argument FILE"), ("init --bucket 0s", "out of range"),
	("init --bucket x", "is no age"), ("stats --older-than 1d", "cannot be combined with stats"), ("stats more", "one argument too many"),
	("add --label x a.data", "is no label"), ("add --label a=1 --label a=2 a.data", "given twice"),
	("stats --store ftp://x/", "is no URL of a store"), ("stats --store http://127.0.0.1/a-b", "has no name of a database"),
	("stats --store http://127.0.0.1/a/b", "has no name of a database"), ("init --cluster x --store a.db", "a file is not distributed over a cluster"), ("stats --store sqlite://", "has no path")])
def test_wrong_words(tmp_path, words, message):
	result = run("store", *words.split(), directory=tmp_path)
	assert result.returncode == 2 and message in result.stderr
	assert not list(tmp_path.iterdir())


def test_init_and_missing_files(profiles, store):
	done("store", "init", "--store", store)
	again = run("store", "init", "--store", store)
	assert again.returncode == 2 and "it exists (cpprof store add FILE)" in again.stderr
	result = run("store", "add", "--store", store, "none.data", profiles / "forms.data")
	assert result.returncode == 1 and "none.data" in result.stderr
	assert recordings(store) == 1


def test_a_wrong_file_makes_no_store(tmp_path):
	(tmp_path / "text").write_text("no profile\n")
	for name, reason in (("text", "it is not a cpprof profile"), ("absent.data", "No such file")):
		refused = run("store", "add", name, directory=tmp_path)
		assert refused.returncode == 1 and reason in refused.stderr, refused.stderr
	assert [path.name for path in tmp_path.iterdir()] == ["text"]


@pytest.mark.long("a server has twenty seconds to answer")
def test_a_silent_server():
	"""A server that accepts a request and does not answer: a message after five seconds, and one attempt."""
	with socket.create_server(("127.0.0.1", 0)) as server:
		url = f"http://127.0.0.1:{server.getsockname()[1]}"
		began = time.monotonic()
		result = run("store", "stats", "--store", f"{url}/db")
		assert time.monotonic() - began < 40
	check_failure(result, f"cpprof store: waiting for '{url}/', which has sent nothing for 5 s\n", "cannot read store")
