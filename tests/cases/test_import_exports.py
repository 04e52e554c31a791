"""Formats that cpprof writes and reads: a profile that is exported, imported and exported again has the figures that the format holds. Files
of other writers, and damaged files."""
import gzip
import json
import re
import subprocess

import pytest
from cli_support import check_failure, done, run
from json_support import valid_json
from test_callgrind import Callgrind
from test_chrome import stack
from test_firefox import Firefox
from trace_support import inclusive_times, traced  # noqa: F401 (a fixture)

NAMES = ["whole", "server", "forms", "recursion", "labels"]
FORMATS = ["speedscope", "callgrind", "chrome", "firefox"]
ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]


def exported(format_name, path, output):
	done("export", "--format", format_name, "-o", output, path)
	return output.read_bytes()


def summed(rows):
	"""{key: sum} of (key, amount), without zeros."""
	sums = {}
	for key, amount in rows:
		sums[key] = sums.get(key, 0) + amount
	return {key: amount for key, amount in sums.items() if amount}


def speedscope_figures(data):
	document = json.loads(data)
	names = [(frame["name"], frame.get("file"), frame.get("line")) for frame in document["shared"]["frames"]]
	factors = {"nanoseconds": 1, "microseconds": 1000, "milliseconds": 10**6, "bytes": 1, "none": 1}
	return summed(((profile["name"], tuple(names[frame] for frame in frames)), weight * factors[profile["unit"]]) for profile in document["profiles"]
		for frames, weight in zip(profile["samples"], profile["weights"]))


def callgrind_figures(data):
	"""Self costs of lines. The file has no paths."""
	found = Callgrind(data.decode())
	level = re.compile(r"'\d+$")
	return summed(((level.sub("", function), file, line, event), cost) for (function, file, line), costs in found.exclusive.items()
		for event, cost in zip(found.events, costs)) | {("total", event): cost for event, cost in zip(found.events, found.summary) if cost}


def chrome_figures(data):
	document = json.loads(data)
	names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in document["traceEvents"] if event["ph"] == "M" and event["pid"]}
	modules = {frame["name"]: frame["category"] for frame in document["stackFrames"].values()}
	figures = summed(((event["pid"], event["tid"], event["cat"], event["args"]["unit"], tuple(stack(document, event))), event["args"]["amount"])
		for event in document["traceEvents"] if event["ph"] == "i")
	return figures | {("name", *key): name for key, name in names.items()} | {("module", *item): 1 for item in modules.items()}


def firefox_figures(data):
	found = Firefox(data)
	tables = found.tables
	names = [category["name"] for category in found.meta["categories"]]
	kinds = [{"Library": "Program"}.get(names[category], names[category]) for category in tables["frameTable"]["category"]]
	lines = [(frame, tables["frameTable"]["line"][frame], tables["frameTable"]["inlineDepth"][frame], kinds[frame])
		for frame in tables["stackTable"]["frame"]]
	libraries = [library["path"] for library in found.document["libs"]]
	times = {(thread["name"], time) for thread in found.document["threads"] for time in thread["samples"]["time"]}
	return summed(((thread["name"], thread["tid"], thread["pid"], thread["samples"]["weightType"],
		tuple(found.stacks[stack]) if stack is not None else (), lines[stack][1:] if stack is not None else ()), weight) for thread in found.document["threads"]
		for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"])) | {("libraries", path): 1 for path in libraries} | {
		("time", *time): 1 for time in times}


FIGURES = {"speedscope": speedscope_figures, "callgrind": callgrind_figures, "chrome": chrome_figures, "firefox": firefox_figures}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format_name", FORMATS)
def test_again(profiles, tmp_path, name, format_name):
	first = exported(format_name, profiles / f"{name}.data", tmp_path / "a")
	done("import", "-o", tmp_path / "a.data", tmp_path / "a")
	second = exported(format_name, tmp_path / "a.data", tmp_path / "b")
	figures = FIGURES[format_name]
	assert figures(first) == figures(second) and len(figures(first)) > 1


@pytest.mark.parametrize("format_name", FORMATS)
def test_totals_of_reports(profiles, tmp_path, format_name):
	"""The figures of `report` are as in the exported profile: by function, and with paths where the format has them."""
	exported(format_name, profiles / "whole.data", tmp_path / "a")
	done("import", "-o", tmp_path / "a.data", tmp_path / "a")
	report = "--body" if format_name == "callgrind" else "--functions"
	def figures(path):
		found = {}
		for result in valid_json(done("report", report, *ALL, path))["results"]:
			sums = summed((entry["path"][0], entry["hits"] * result.get("interval", 1)) for entry in result["entries"])
			if sums:
				# Chrome's events have names of resources, and no titles.
				found[result["resource" if format_name == "chrome" else "title"]] = sums
		return found

	before, after = figures(profiles / "whole.data"), figures(tmp_path / "a.data")
	assert before == after and len(before) > 2


@pytest.mark.parametrize("format_name", FORMATS)
def test_compressed(profiles, tmp_path, format_name):
	data = exported(format_name, profiles / "whole.data", tmp_path / "a")
	data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
	for name, content in (("plain", data), ("packed", gzip.compress(data))):
		(tmp_path / name).write_bytes(content)
		done("import", "-o", tmp_path / f"{name}.data", tmp_path / name)
	assert (tmp_path / "plain.data").read_bytes() == (tmp_path / "packed.data").read_bytes()


@pytest.mark.parametrize("format_name", FORMATS)
def test_cut_files(profiles, tmp_path, format_name):
	"""A file that ends too early is refused with its name; nothing is written then."""
	data = exported(format_name, profiles / "server.data", tmp_path / "a")
	data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
	for twentieth in range(1, 20):
		(tmp_path / "cut").write_bytes(data[:len(data) * twentieth // 20])
		result = run("import", "--format", format_name, "-o", "cut.data", "cut", directory=tmp_path)
		check_failure(result, "cut")
		assert re.search(r"cannot read 'cut' as .*at byte \d+", result.stderr) or re.search(r"cut:\d+: expected ", result.stderr), result.stderr
		assert not (tmp_path / "cut.data").exists()


SPEEDSCOPE = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "a"}, {"name": "b", "file": "b.c", "line": 7}]}}


def speedscope(*profiles, **members):
	return SPEEDSCOPE | {"profiles": list(profiles)} | members


def sampled(samples, weights, **members):
	return {"type": "sampled", "name": "one", "unit": "none", "startValue": 0, "endValue": 1, "samples": samples, "weights": weights} | members


def evented(*events, **members):
	return {"type": "evented", "name": "one", "unit": "none", "startValue": 0, "endValue": 1,
		"events": [{"type": type, "at": at, "frame": frame} for type, at, frame in events]} | members


def call(kind, ts, name=None, **members):
	return {"ph": kind, "pid": 1, "tid": 2, "ts": ts} | ({"name": name} if name else {}) | members


FIREFOX = {"meta": {"product": "x"}, "threads": [{"name": "t", "samples": {"stack": [0, 1, None], "time": [0, 1, 2]}, "stringArray": ["f", "g", "x.js"],
	"stackTable": {"prefix": [None, 0], "frame": [0, 1]}, "frameTable": {"func": [0, 1], "line": [None, 4]},
	"funcTable": {"name": [0, 1], "resource": [-1, -1], "fileName": [None, 2], "lineNumber": [None, 3]}}]}


def firefox(**members):
	"""FIREFOX with other members of its thread."""
	return FIREFOX | {"threads": [FIREFOX["threads"][0] | members]}


@pytest.mark.parametrize("format_name, document, message", [
	("speedscope", [], "it has no list 'profiles'"),
	("speedscope", {"profiles": []}, "it has no list 'frames' in 'shared'"),
	("speedscope", speedscope(shared={"frames": [{}]}), "frame 0 has no name"),
	("speedscope", speedscope(shared={"frames": [{"name": "a\0b"}]}), "frame 0 has no name"),
	("speedscope", speedscope(7), "profile 0 has no 'type', or an unknown 'unit'"),
	("speedscope", speedscope(sampled([], [], unit="fortnights")), "profile 0 has no 'type', or an unknown 'unit'"),
	("speedscope", speedscope(sampled([], [], type="other")), "profile 0 is neither 'sampled' nor 'evented'"),
	("speedscope", speedscope(sampled([[0]], [])), "profile 0 has not as many 'weights' as 'samples'"),
	("speedscope", speedscope(sampled([[2]], [1])), "a sample has a frame that does not exist"),
	("speedscope", speedscope(sampled([[-1]], [1])), "a sample has a frame that does not exist"),
	("speedscope", speedscope(sampled([[2**40]], [1])), "a sample has a frame that does not exist"),
	("speedscope", speedscope(sampled(["x"], [1])), "a sample is no list of frames"),
	("speedscope", speedscope(sampled([[0]], [-1])), "a weight is no amount (sample 0 of profile 0)"),
	("speedscope", speedscope(sampled([[0]], [1e300])), "a weight is no amount (sample 0 of profile 0)"),
	("speedscope", speedscope(sampled([[0]], [1]), sampled([[0], [0]], [1, "1"])), "a weight is no amount (sample 1 of profile 1)"),
	("speedscope", speedscope(sampled([[0], [0]], [2**62, 1])), "its values add up to more than 2^62"),
	("speedscope", speedscope(evented(("C", 0, 0))), "an event closes a frame that is not the innermost"),
	("speedscope", speedscope(evented(("O", 0, 0), ("C", 1, 1))), "an event closes a frame that is not the innermost"),
	("speedscope", speedscope(evented(("O", 9, 0), ("C", 1, 0))), "the times are not in order (event 1 of profile 0)"),
	("speedscope", speedscope(evented(("O", "x", 0))), "the times are not in order (event 0 of profile 0)"),
	("speedscope", speedscope(evented(("X", 0, 0))), "an event is neither 'O' nor 'C'"),
	("speedscope", speedscope(evented(("O", 0, 2))), "an event has no type, or a frame that does not exist"),
	("chrome", {"traceEvents": 1}, "it has no list 'traceEvents'"),
	("chrome", [1], "an event has no kind ('ph')"),
	("chrome", [call("B", None, "a")], "a call has no time"),
	("chrome", [call("B", 1)], "a call has no name"),
	("chrome", [call("X", 1, "a", dur=-5)], "the duration of a call is not a number from 0 to 146 years (event 0)"),
	("chrome", [call("X", 1, "a", dur="5")], "the duration of a call is not a number from 0 to 146 years (event 0)"),
	("chrome", [call("B", 0, "a"), call("E", 1e300)], "a call begins or ends 146 years or more behind the first one (event 1)"),
	("chrome", [call("B", 0, "a"), call("E", 9007199254740993)], "a call begins or ends 146 years or more behind the first one (event 1)"),
	("chrome", [call("P", 0, sf=1)], "a stack refers to a frame that does not exist"),
	("chrome", {"traceEvents": [call("P", 0, sf=1)], "stackFrames": {"1": {"name": "a", "parent": 1}}}, "a frame is its own caller"),
	("chrome", {"traceEvents": [call("P", 0, sf=1)], "stackFrames": {"1": {"name": "a", "parent": "2"}, "2": {"name": "b", "parent": 1}}},
		"a frame is its own caller"),
	("chrome", {"traceEvents": [call("P", 0, sf=1)], "stackFrames": {"1": {}}}, "a frame has no name"),
	("chrome", [call("P", 0, stack=[1])], "a stack has a frame without a name"),
	("firefox", {"meta": {}}, "it has no list 'threads'"),
	("firefox", {"meta": {}, "threads": [1]}, "thread 0 has no 'samples' with stacks"),
	("firefox", firefox(samples={"schema": {}, "data": []}), "it is not processed (open and save it at profiler.firefox.com)"),
	("firefox", firefox(stackTable={"prefix": [], "frame": [0]}), "the tables of stacks and strings of thread 0 are incomplete"),
	("firefox", firefox(stackTable={"prefix": [0], "frame": [0]}), "stack 0 refers to what does not exist"),
	("firefox", firefox(stackTable={"prefix": [None, 0], "frame": [0, 2]}), "stack 1 refers to what does not exist"),
	("firefox", firefox(samples={"stack": [2]}), "a sample refers to a stack that does not exist (sample 0 of thread 0)"),
	("firefox", firefox(samples={"stack": [0], "weight": [-1], "weightType": "bytes"}), "a sample's weight is no amount"),
	("firefox", firefox(stringArray=[]), "frame 0 has no function with a name"),
])
def test_refused_documents(tmp_path, format_name, document, message):
	(tmp_path / "a").write_text(json.dumps(document))
	check_failure(run("import", "--format", format_name, "a", directory=tmp_path), "cannot read 'a'", message)
	assert not (tmp_path / "cpprof.data").exists()


@pytest.mark.parametrize("text", ["{", "[" * 100000, '{"a":' * 100000, "[1e999]", '["\\ud800"]', '{"a\\u0000": 1}',
	"[1] 2", "nul"], ids=lambda text: text[:20])
@pytest.mark.parametrize("format_name", ["speedscope", "chrome", "firefox"])
def test_texts_that_are_not_json(tmp_path, format_name, text):
	(tmp_path / "a").write_text(text)
	check_failure(run("import", "--format", format_name, "a", directory=tmp_path), "cannot read 'a' as ", "not JSON at byte ")


@pytest.mark.parametrize("text, message", [
	("fn=f\n1 2\n", ":2: expected 'events:' before the costs"),
	("events:\n", ":1: expected the names of events"),
	("events: Ir\nfn=(1)\n", ":2: expected a name at the first use of its number"),
	("events: Ir\nfn=f\n1 2 3\n", ":3: expected a cost for each event"),
	("events: Ir\nfn=f\n1 99999999999999999999\n", ":3: expected a cost for each event"),
	("events: Ir\nfn=f\n1 -2\n", ":3: expected a cost for each event"),
	("events: Ir\nfn=f\nx 2\n", ":3: expected a line of costs or names"),
	("events: Ir\nfn=f\n+ 2\n", ":3: expected a line number and costs"),
	("events: Ir\ncalls=x\n", ":2: expected 'calls=NUMBER LINE'"),
	("positions: x\n", ":1: expected the positions 'line' or 'instr'"),
	("events: Ir\nfn=f\n1 2", ":3: expected a whole line"),
	("creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 2\n", ":4: expected 'totals:' behind it"),
	("creator: callgrind-3.19.0\npart: 1\nevents: Ir\nfn=f\n1 2\ntotals: 2\npart: 2\nevents: Ir\n1 2\n", ":9: expected 'totals:' behind it"),
	("events: Ir\nfn=f\n1 5\ntotals: 24\n", ":4: the costs of 'Ir' add up to 5, but their total is 24: the file is damaged"),
	("events: Ir Dr\nfn=f\n1 5 3\ntotals: 5\n", ":4: the costs of 'Dr' add up to 3, but their total is 0: the file is damaged"),
	("part: 1\nevents: Ir\nfn=f\n1 5\ntotals: 5\npart: 2\nevents: Ir\n1 2\ntotals: 7\n", ":9: the costs of 'Ir' add up to 2, but their total is 7"),
	("events: Ir\nfn=f\n1 5\ntotals: 5 0\n", ":4: expected a total for each event"),
	("events: Ir\nfn=f\n1 5\ntotals: x\n", ":4: expected a total for each event"),
	("events: Ir\nfn=f\0\n", ":2: expected text"),
	("fn=f\n", "cannot read 'a' as callgrind: it has no 'events:'"),
	("events: Ir\nfn=f\n1 4611686018427387904\n2 1\n", "its values add up to more than 2^62"),
])
def test_damaged_callgrind(tmp_path, text, message):
	(tmp_path / "a").write_text(text)
	check_failure(run("import", "--format", "callgrind", "a", directory=tmp_path), message)


@pytest.mark.parametrize("text, costs", [
	("events: Ir Dr\nsummary: 9 9\nfn=f\n1 5\ntotals: 5\n", {"f": "5"}),
	("part: 1\nevents: Ir\nfn=f\n1 5\ntotals: 5\npart: 2\nevents: Ir\n1 2\nfn=g\n1 1\ntotals: 3\n", {"f": "7", "g": "1"}),
	("events: Ir\nfn=f\ncfn=g\ncalls=2 1\n1 40\n1 5\nfn=g\n1 40\ntotals: 45\n", {"f": "5", "g": "40"}),
])
def test_totals_of_callgrind(tmp_path, text, costs):
	"""The totals are those of each part without the costs of calls; at the end of the line, totals that are 0 may be missing."""
	assert folded(imported(tmp_path, text), "Ir") == costs


def test_jumps_of_callgrind(tmp_path):
	"""The target of a jump may be the first use of a name, which later lines refer to by its number."""
	path = imported(tmp_path, "positions: line\nevents: Ir\nfl=(1) a.c\nfn=(1) f\n4 5\njfi=(2) b.c\njfn=(2) g\njump=3 +16\n+1\njcnd=1/2 7\n*\nfl=(2)\nfn=(2)\n20 7\ntotals: 12\n")
	assert folded(path, "Ir") == {"f": "5", "g": "7"}
	lines = {(entry["file"], entry["line"]): entry["body_hits"] for entry in valid_json(done("report", "--lines", *ALL, "-r", "Ir", path))["results"][0]["entries"]}
	assert lines == {("a.c", 4): 5, ("b.c", 20): 7}


def folded(path, resource):
	"""{path: hits}"""
	return dict(line.rsplit(" ", 1) for line in done("export", "--format", "folded", "-r", resource, path).splitlines())


def info(path):
	return valid_json(done("info", "--format", "json", path))


def imported(tmp_path, document):
	(tmp_path / "a").write_text(document if isinstance(document, str) else json.dumps(document))
	done("import", "-o", "a.data", "a", directory=tmp_path)
	return tmp_path / "a.data"


def test_speedscope_of_others(tmp_path):
	"""Units are translated, profiles are threads, and an evented profile has the time in which a stack stays the same."""
	path = imported(tmp_path, speedscope(sampled([[0, 1], [0], []], [0.25, 1.5, 2], unit="milliseconds"),
		evented(("O", 10, 0), ("O", 11, 1), ("C", 11.5, 1), ("O", 12, 0), unit="seconds", name="two", startValue=10, endValue=13), sampled([[1]], [3], name="count"),
		name="title"))
	assert folded(path, "time") == {"a;b": str(250_000 + 500_000_000), "a": str(1_500_000 + 1_500_000_000), "a;a": "1000000000", "[no stack]": "2000000"}
	assert folded(path, "samples") == {"b": "3"}
	found = info(path)
	assert [(thread["tid"], thread["name"]) for thread in found["threads"]] == [(1, "one"), (2, "two"), (3, "count")] and "title" in done("info", path)
	assert {(resource["name"], resource["unit"]) for resource in found["resources"]} == {("time", "ns"), ("samples", "sample")}
	assert any(entry["file"] == "b.c" and entry["line"] == 7 for entry in valid_json(done("report", "--lines", *ALL, "-r", "time", path))["results"][0]["entries"])
	# The times of the events select them.
	assert valid_json(done("report", *ALL, "-r", "time", "--from", "1.9", "--to", "2.5", path))["results"][0]["total_hits"] == 1_000_000_000


def test_chrome_of_others(tmp_path):
	"""Calls of three kinds, in any order and of several threads, become paths with the time in which no inner call runs."""
	events = [call("X", 5, "late", dur=100, tid=9), call("B", 10, "main"), call("X", 20, "f", dur=30), call("X", 25, "g", dur=5), call("E", 100), call("E", 101),
		call("B", 110, "open"), call("i", 120, "mark"), call("C", 130, "counter", args={"x": 1}), call("X", 140, "beyond", dur=50), call("E", 150), call("B", 160, "never"),
		call("X", 180, "zero"), call("M", 0, "thread_name", args={"name": "worker"}), call("M", 0, "process_name", args={"name": "prog"}),
		call("X", 0.5, "texts", pid="Spans", tid="GPU", dur=0.25)]
	for document in (events, {"traceEvents": events}):
		path = imported(tmp_path, document)
		assert folded(path, "time") == {"late": "100000", "main": "60000", "main;f": "25000", "main;f;g": "5000", "open": "30000", "open;beyond": "10000", "never": "30000",
			"texts": "250"}
		assert {(thread["name"], thread["tid"]) for thread in info(path)["threads"]} >= {("worker", 2)}
		assert {thread["name"] for thread in info(path)["threads"]} == {"worker", "", "GPU"}


def test_chrome_samples(tmp_path):
	frames = {"1": {"name": "main", "category": "prog"}, "x": {"name": "f", "parent": "1"}, "3": {"name": "do_page", "category": "[kernel.kallsyms]", "parent": "x"}}
	path = imported(tmp_path, {"traceEvents": [call("P", 1, "p", sf=3), call("P", 2, "p", stack=["inner", "outer"]), call("i", 3, "m", sf="x", s="t")], "stackFrames": frames,
		"samples": [{"cpu": 0, "tid": 7, "ts": 5, "name": "cycles", "sf": 1, "weight": 4}]})
	assert folded(path, "samples") == {"main;f;do_page": "1", "outer;inner": "1", "main;f": "1", "main": "4"}
	assert "do_page" not in done("report", "--functions", "--kernel", "hide", "-r", "samples", path)


def test_firefox_of_older_versions(tmp_path):
	"""Tables of each thread, samples without weights, and times as differences."""
	path = imported(tmp_path, FIREFOX)
	assert folded(path, "samples") == {"f": "1", "f;g": "1", "[no stack]": "1"}
	assert [(entry["file"], entry["line"]) for entry in valid_json(done("report", "--lines", *ALL, path))["results"][0]["entries"] if entry["file"]] == [("x.js", 4)]
	path = imported(tmp_path, firefox(samples={"stack": [0, 1], "timeDeltas": [1, 2], "weight": [0.5, 2], "weightType": "tracing-ms"}))
	assert folded(path, "time") == {"f": "500000", "f;g": "2000000"}
	assert valid_json(done("report", *ALL, "--from", "0.002", path))["results"][0]["total_hits"] == 2_000_000
	inlined = firefox(samples={"stack": [1]}, frameTable={"func": [0, 1], "line": [None, 4], "inlineDepth": [0, 1]})
	path = imported(tmp_path, inlined)
	assert folded(path, "samples") == {"f;g": "1"}
	assert done("export", "--format", "folded", "--no-inlines", path) == "f 1\n"


CALLGRIND = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd: ./prog
part: 1
positions: instr line
events: Ir Dr

ob=(1) /bin/prog
fl=(1) a.c
fn=(1) main
0x10 4 100 7
cfn=(2) f'2
calls=3 20
+4 +2 900 3
fi=(2) inline.h
+4 9 11
fe=(1)
* * 1
fn=(2)
0x20 20 300 2
cob=(2) libc.so
cfi=(3) qsort.c
cfn=(3) qsort
calls=1 0
+1 +1 600 1
jcnd=1/2 0x30 5
* *
ob=(2)
fl=(3)
fn=(3)
0 -1 600 1
totals: 1012 10
"""


def test_callgrind_of_valgrind(tmp_path):
	path = imported(tmp_path, CALLGRIND)
	assert folded(path, "Ir") == {"main": "112", "f": "300", "qsort": "600"} and folded(path, "Dr") == {"main": "7", "f": "2", "qsort": "1"}
	assert folded(path, "calls") == {"main;f": "3", "f;qsort": "1"}
	lines = {(entry["file"], entry["line"]): entry["body_hits"] for entry in valid_json(done("report", "--lines", *ALL, "-r", "Ir", path))["results"][0]["entries"]}
	assert lines == {("a.c", 4): 100, ("inline.h", 9): 12 - 1, ("a.c", 9): 1, ("a.c", 20): 300, ("qsort.c", 20): 600}
	assert {(entry["path"][0]) for entry in valid_json(done("report", "--modules", *ALL, "-r", "Ir", path))["results"][0]["entries"]} == {"prog", "libc.so"}


@pytest.mark.parametrize("options", [[], ["--dump-instr=yes", "--separate-recs=3", "--cache-sim=yes"], ["--dump-line=no", "--dump-instr=yes"], ["--collect-jumps=yes"],
	["--collect-jumps=yes", "--dump-instr=yes"], ["--compress-pos=no", "--compress-strings=no"]])
def test_callgrind_itself(tmp_path, options):
	"""The totals are those at the end of the file, and the costs of the program's functions those that callgrind_annotate prints."""
	(tmp_path / "prog.c").write_text("""static volatile int sum;
__attribute__((noinline)) void g(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void f(int n) { if (n > 0) f(n - 1); g(n); }
int main(void) { f(50); g(1000); }
""")
	subprocess.run(["gcc", "-O1", "-g", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
	subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=a.out", *options, "./prog"], cwd=tmp_path, check=True, capture_output=True)
	text = (tmp_path / "a.out").read_text()
	done("import", "-o", "a.data", "a.out", directory=tmp_path)
	totals = dict(zip(re.search(r"^events: (.*)$", text, re.MULTILINE)[1].split(), map(int, re.search(r"^totals: (.*)$", text, re.MULTILINE)[1].split())))
	hits = {resource["name"]: resource["hits"] for resource in info(tmp_path / "a.data")["resources"]}
	assert {name: hits[name] for name in totals} == totals and hits["calls"] > 50
	printed = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "a.out"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
	found = {name: int(hits) for name, hits in folded(tmp_path / "a.data", "Ir").items()}
	for name in ("f", "g", "main"):
		costs = [int(row.replace(",", "")) for row in re.findall(rf"^ *([\d,]+) .*\S:{name}(?:'\d)? \[.*/prog\]$", printed, re.MULTILINE)]
		assert costs and found[name] == sum(costs)


@pytest.mark.parametrize("format_name", ["speedscope", "chrome", "firefox"])
def test_calls_of_a_trace(traced, tmp_path, format_name):
	"""The calls that a trace is exported as become paths: each function has the time of its calls, as the events state it."""
	done("export", "--format", format_name, "-o", tmp_path / "a", traced)
	done("import", "-o", tmp_path / "a.data", tmp_path / "a")
	resource = "time" if format_name == "chrome" else "Trace"
	found = summed((name, int(hits)) for frames, hits in folded(tmp_path / "a.data", resource).items() for name in set(frames.split(";")))
	assert found == {name.replace(";", ":"): time for name, time in inclusive_times(traced).items()}


@pytest.mark.parametrize("format_name", ["folded", "pprof", "firefox", "speedscope", "callgrind", "chrome"])
def test_amounts_above_32_bits(tmp_path, format_name):
	"""Exact counts of one path, such as calls or ns, are often larger than 2^32."""
	(tmp_path / "a.folded").write_text("main;f 5000004000\nmain;g 3\n")
	done("import", "-o", tmp_path / "a.data", tmp_path / "a.folded")
	done("export", "--format", format_name, "-o", tmp_path / "a.out", tmp_path / "a.data")
	done("import", "--format", format_name, "-o", tmp_path / "b.data", tmp_path / "a.out")
	lines = done("export", "--format", "folded", tmp_path / "b.data").splitlines()
	assert sorted(line.rpartition(";")[2] for line in lines) == ["f 5000004000", "g 3"]
