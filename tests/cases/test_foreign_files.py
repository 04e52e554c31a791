"""Files of other tools: the commands that read a profile open them as if they had been imported. Empty, cut and damaged files are refused,
and nothing is written then."""
import gzip
import json
import random
import re
import shutil
import subprocess

import pytest
import zstandard
from browse_support import Browser
from cli_support import CPPROF, check_failure, done, run
from json_support import valid_json
from test_import_exports import CALLGRIND, firefox, speedscope, sampled
from test_import_formats import SCRIPT
from test_import_logs import LOG, RECORDING, TRACE

EXPORTED = ["folded", "pprof", "speedscope", "firefox", "callgrind", "chrome"]
# Times in microseconds, as profiles have them: a file that is not imported keeps its nanoseconds.
WRITTEN = {"perf-script": SCRIPT.replace("2.000000001", "2.000001").replace("2.000000002", "2.000002"), "trace": TRACE, "strace": LOG, "heaptrack": RECORDING}
OPENED = [*EXPORTED, *WRITTEN]
JSON = ["speedscope", "firefox", "chrome"]


@pytest.fixture(scope="module")
def files(profiles, tmp_path_factory):
	"""Folders with a file of each format, by its name: `foreign`, and `imported` with its profile under the same name."""
	folder = tmp_path_factory.mktemp("files")
	(folder / "foreign").mkdir()
	(folder / "imported").mkdir()
	for name in OPENED:
		if name in WRITTEN:
			(folder / "foreign" / name).write_text(WRITTEN[name])
		else:
			done("export", "--format", name, "-o", folder / "foreign" / name, profiles / "whole.data")
		done("import", "-o", folder / "imported" / name, folder / "foreign" / name)
	return folder


def plain(path):
	"""The bytes of a file, decompressed."""
	data = path.read_bytes()
	return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def printed(folder, *words, **options):
	result = run(*words, directory=folder, **options)
	assert result.returncode == 0, result.stderr
	return result.stdout, result.stderr


# --- opened without an import ---


def test_each_format_is_here(tmp_path):
	"""The formats of these tests are those that cpprof reads; test_import_perf.py opens a perf.data, and gmon.out needs its program."""
	(tmp_path / "text").write_text("hello, world\n")
	result = run("report", "text", directory=tmp_path)
	check_failure(result, "cpprof report: cannot open 'text': it is not a cpprof profile, and its format is unknown (known formats: ")
	named = re.search(r"known formats: (.*)\)", result.stderr)[1].replace(" or ", ", ").split(", ")
	assert sorted(named) == sorted([*OPENED, "perf", "gmon"])


@pytest.mark.parametrize("words", [["report"], ["report", "--functions", "--format", "json"], ["report", "--threads", "--format", "csv"],
	["report", "--lines", "--format", "json"], ["explain"], ["export", "--format", "chrome"], ["export", "--format", "firefox"]], ids=" ".join)
@pytest.mark.parametrize("name", OPENED)
def test_opened_as_if_imported(files, name, words):
	expected = printed(files / "imported", *words, name, text=False)
	assert printed(files / "foreign", *words, name, text=False) == expected and expected[0]


@pytest.mark.parametrize("name", OPENED)
def test_info(files, name):
	"""The contents are equal; only the sizes of the files differ."""
	contents = [valid_json(done("info", "--format", "json", name, directory=files / folder)) for folder in ("foreign", "imported")]
	sizes = [content.pop("file_bytes") for content in contents]
	assert contents[0] == contents[1] and sizes == [(files / folder / name).stat().st_size for folder in ("foreign", "imported")]


def test_compared_and_predicted(files):
	folder = files / "foreign"
	assert done("diff", "--format", "json", "speedscope", "pprof", directory=folder).replace("foreign", "") == done(
		"diff", "--format", "json", "speedscope", "pprof", directory=files / "imported")
	words = ["whatif", "pprof", "main=0.5", "-r", "cpu"]
	assert printed(folder, *words) == printed(files / "imported", *words)


def test_page_and_screen(files, tmp_path):
	done("html", "-o", tmp_path / "page.html", "speedscope", directory=files / "foreign")
	assert b"<html" in (tmp_path / "page.html").read_bytes()
	with Browser("pprof", folder=files / "foreign") as browser:
		browser.wait("main")
		browser.end("q")


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_standard_input(files, name, way):
	"""`-` reads the same from a file or a pipe, and a profile of cpprof too."""
	outputs = []
	for folder in ("foreign", "imported"):
		path = files / folder / name
		source = {"stdin": open(path, "rb")} if way == "file" else {"input": path.read_bytes()}
		result = subprocess.run([CPPROF, "report", "--functions", "-"], capture_output=True, check=False, **source)
		assert result.returncode == 0, result.stderr
		outputs.append((result.stdout, result.stderr))
	assert outputs[0] == outputs[1] and outputs[0][0]


@pytest.mark.parametrize("name", ["killed", "lossy"])
def test_pipe_with_a_profile(profiles, name):
	"""A profile of cpprof comes through a pipe as from standard input that is its file."""
	path = profiles / f"{name}.data"
	results = [subprocess.run([CPPROF, "report", "--functions", "-"], capture_output=True, check=True, **source) for source in ({"stdin": open(path, "rb")}, {"input": path.read_bytes()})]
	assert results[0].stdout == results[1].stdout and results[0].stderr == results[1].stderr


def test_pipe_with_a_name(files):
	command = f'"{CPPROF}" report --functions <(cat foreign/folded)'
	result = subprocess.run(["bash", "-c", command], cwd=files, capture_output=True, text=True, check=False)
	assert result.returncode == 0 and result.stdout == done("report", "--functions", "folded", directory=files / "imported")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_compressed_profile_of_cpprof(files, tmp_path, pack):
	(tmp_path / "folded").write_bytes(pack((files / "imported/folded").read_bytes()))
	assert printed(tmp_path, "report", "folded") == printed(files / "imported", "report", "folded")
	check_failure(run("import", "folded", directory=tmp_path), "cannot import 'folded': it is a cpprof profile already (cpprof report folded)")


def test_refused(tmp_path):
	"""Each refusal names the remedy."""
	(tmp_path / "gmon.out").write_bytes(b"gmon\x01\0\0\0" + bytes(12))
	check_failure(run("report", "gmon.out", directory=tmp_path),
		"cannot open 'gmon.out': ", "needs the program that ran (cpprof import --image ./a.out gmon.out)")
	check_failure(run("report", "/bin/true"), "cannot open '/bin/true': it is a program (cpprof record runs and records it)")
	(tmp_path / "zero").write_bytes(bytes(100))
	for words in (["export"], ["info"], ["explain"], ["html"], ["diff", "zero"], ["whatif", "main=0"]):
		result = run(words[0], "zero", *words[1:], directory=tmp_path)
		check_failure(result, f"cpprof {words[0]}: cannot open 'zero': it is not a cpprof profile, and its format is unknown (known formats: folded, ")


def test_name_does_not_replace_a_foreign_file(files, tmp_path):
	shutil.copy(files / "foreign/pprof", tmp_path / "profile.pb.gz")
	result = run("name", "profile.pb.gz", directory=tmp_path)
	assert result.returncode == 2 and "needs an output (-o FILE)" in result.stderr
	assert (tmp_path / "profile.pb.gz").read_bytes() == (files / "foreign/pprof").read_bytes() and len([*tmp_path.iterdir()]) == 1


@pytest.mark.unsanitized("a sanitizer's allocator ends the process where memory is limited")
def test_memory_is_limited(tmp_path):
	"""A command that opens a foreign file has the limit of import."""
	(tmp_path / "a").write_text(json.dumps(speedscope(sampled([[0, 1]] * 200000, [1] * 200000))))
	check_failure(run("report", "--memory", "24M", "a", directory=tmp_path), "out of memory", "the limit is 24 MiB (--memory SIZE raises it)")
	done("report", "a", directory=tmp_path)


# --- empty, cut and damaged ---


@pytest.mark.parametrize("content", [b"", b"\n \t\r\n", gzip.compress(b"")], ids=["no bytes", "blanks", "compressed"])
@pytest.mark.parametrize("name", [None, *OPENED, "perf"])
def test_empty(tmp_path, name, content):
	(tmp_path / "a").write_bytes(content)
	check_failure(run("import", *(["--format", name] if name else []), "a", directory=tmp_path), "cpprof import: cannot import 'a': it is empty\n")
	if content:
		check_failure(run("report", "a", directory=tmp_path), "cpprof report: cannot open 'a': it is empty\n")
	result = subprocess.run([CPPROF, "import", "-"], cwd=tmp_path, input=content, capture_output=True, check=False)
	assert (result.returncode, result.stderr) == (1, b"cpprof import: cannot import standard input: it is empty\n")
	assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_compressed_input_without_end(pack):
	"""An input that is refused in its first line is not read to an end that a pipe does not have."""
	process = subprocess.Popen([CPPROF, "import", "--format", "folded", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
	block = pack(b"y\n" * (1 << 20))
	taken = 0
	with pytest.raises(BrokenPipeError):
		while taken < 1 << 30: # as many bytes before compression as 1 TiB
			taken += process.stdin.write(block)
			process.stdin.flush()
	process.stdin = None
	assert b"standard input:1: expected" in process.communicate(timeout=60)[1] and process.returncode == 1


def test_damage_is_looked_for_in_the_first_bytes(tmp_path):
	"""Behind 64 MiB of a refused file, its damage is not looked for."""
	for size, message in ((1 << 20, "its gzip data are damaged"), (80 << 20, "a:1: expected")):
		packed = bytearray(gzip.compress(b"y\n" + bytes(size), 1))
		packed[-8] ^= 1 # in the check
		(tmp_path / "a").write_bytes(packed)
		check_failure(run("import", "--format", "folded", "a", directory=tmp_path), message)


# Where a text of lines may end, because its format has no end mark: behind a line. A line of folded stacks may also end within its count,
# because many writers leave out the last line feed.
MAY_END = {"perf-script": rb"\n\Z", "heaptrack": rb"\n\Z", "folded": rb"[ \n]\d*\Z|\n\Z"}


@pytest.mark.parametrize("name", OPENED)
def test_cut(files, tmp_path, name):
	"""A file that is cut at ten places is refused with the line or byte; nothing is written."""
	data = plain(files / "foreign" / name)
	for eleventh in range(1, 11):
		content = data[:len(data) * eleventh // 11]
		(tmp_path / "cut").write_bytes(content)
		result = run("import", "--format", name, "cut", directory=tmp_path)
		if name == "strace":
			# The program that strace wrote about may have been killed: its last line is left out then, and counted.
			if content.count(b" = ") < 2: # no call has returned
				check_failure(result, "it has no samples or counts in the format strace")
				continue
			assert result.returncode == 0, result.stderr
			assert content.endswith(b"\n") or "not strace's" in done("info", directory=tmp_path)
		elif name in MAY_END and re.search(MAY_END[name], content):
			assert result.returncode == 0, result.stderr
		else:
			check_failure(result, "cut")
			assert re.search(r"cannot read 'cut' as .* at byte \d+|cpprof import: cut:\d+: expected .*", result.stderr), result.stderr
			assert [path.name for path in tmp_path.iterdir()] == ["cut"]
		for path in tmp_path.glob("cpprof.data*"):
			path.unlink()


@pytest.mark.parametrize("name", JSON)
def test_flipped_byte(files, tmp_path, name):
	"""A damaged byte of JSON is refused with its place, or it changes only a text or a number."""
	dice, refused = random.Random(7), 0
	data = plain(files / "foreign" / name)
	for _ in range(60):
		damaged = bytearray(data)
		damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
		(tmp_path / "bad").write_bytes(damaged)
		result = run("import", "--format", name, "bad", directory=tmp_path)
		if result.returncode == 0:
			(tmp_path / "cpprof.data").unlink()
			continue
		refused += 1
		check_failure(result, "cpprof import: cannot read 'bad' as ")
		assert re.search(r"byte \d+|(?:event|sample|profile|thread|frame|stack) \d+|it has no list '", result.stderr), result.stderr
		assert [path.name for path in tmp_path.iterdir()] == ["bad"]
	assert refused > 20


@pytest.mark.parametrize("text, byte", [('{"a": 1,}', 9), ('{"a": tru}', 9), ('{"a": [1 2]}', 10), ('{"a": "\x01"}', 7)])
@pytest.mark.parametrize("name", JSON)
def test_place_in_json(tmp_path, name, text, byte):
	(tmp_path / "a").write_text(text)
	check_failure(run("import", "--format", name, "a", directory=tmp_path), f"not JSON at byte {byte}: ")


EVENTS = ['{"ph":"X","ts":1,"dur":2,"name":"a","pid":1,"tid":2}', '{"ph":"X","ts":5,"dur":3,"name":"b","pid":1,"tid":2}']


@pytest.mark.parametrize("end", ["]", "", "\n", ",", ",\n", " , \n\n"])
def test_open_list_of_chrome(tmp_path, end):
	"""A list of events may lack its closing bracket, and may end in a comma, as a program leaves it that was killed."""
	for count in (1, 2):
		(tmp_path / "a").write_text("[" + ",\n".join(EVENTS[:count]) + end)
		done("import", "-o", "a.data", "a", directory=tmp_path)
		lines = done("export", "--format", "folded", "a.data", directory=tmp_path).splitlines()
		assert lines == ["a 2000", "b 3000"][:count]


@pytest.mark.parametrize("text", ["[" + EVENTS[0][:-1], "[" + EVENTS[0][:20], '{"traceEvents":[' + EVENTS[0], "[" + EVENTS[0] + ",,", "[" + EVENTS[0] + ']]'])
def test_list_of_chrome_that_ends_elsewhere(tmp_path, text):
	(tmp_path / "a").write_text(text)
	result = run("import", "--format", "chrome", "a", directory=tmp_path)
	check_failure(result, "cannot read 'a' as a Chrome trace: not JSON at byte ")
	assert int(re.search(r"at byte (\d+)", result.stderr)[1]) <= len(text)


@pytest.mark.parametrize("text", ["[" + EVENTS[0], json.dumps(speedscope(sampled([[0]], [1])))[:-1]])
def test_other_json_must_end(tmp_path, text):
	(tmp_path / "a").write_text(text)
	check_failure(run("import", "--format", "speedscope", "a", directory=tmp_path), "cannot read 'a' as speedscope: not JSON at byte ")


# --- the resource ---


@pytest.mark.parametrize("name", ["speedscope", "firefox"])
@pytest.mark.parametrize("words", [[], ["-r", "cpu"], ["-r", "page-faults"]], ids=" ".join)
def test_resources_keep_their_names(profiles, tmp_path, name, words):
	"""A round trip keeps each resource's name, title, unit and amount, also of a file with one resource."""
	done("export", "--format", name, *words, "-o", tmp_path / "a", profiles / "whole.data")
	before, after = [valid_json(done("info", "--format", "json", path))["resources"] for path in (profiles / "whole.data", tmp_path / "a")]
	kept = {row["name"]: (row["title"], row["unit"], row["hits"] * row["interval"]) for row in before}
	found = {row["name"]: (row["title"], row["unit"], row["hits"] * row["interval"]) for row in after}
	assert found == {resource: kept[resource] for resource in found} and len(found) == (1 if words else len(found)) and (words[1:] or ["cpu"])[0] in found
	threads = [{(row["tid"], row["name"]) for row in valid_json(done("info", "--format", "json", path))["threads"]} for path in (profiles / "whole.data", tmp_path / "a")]
	assert threads[1] <= threads[0]


@pytest.mark.parametrize("resource", [{"name": "", "title": "T", "unit": "u"}, {"name": "n", "unit": "u"}, {"name": "n", "title": 1, "unit": "u"}, "cpu", None])
def test_resource_that_is_none(tmp_path, resource):
	"""A member of this name that another tool wrote is ignored."""
	(tmp_path / "s").write_text(json.dumps(speedscope(sampled([[0]], [1], resource=resource))))
	(tmp_path / "f").write_text(json.dumps(firefox(resource=resource)))
	for path in ("s", "f"):
		assert [row["name"] for row in valid_json(done("info", "--format", "json", path, directory=tmp_path))["resources"]] == ["samples"]


def test_callgrind_ends_in_its_totals(profiles, tmp_path):
	text = done("export", "--format", "callgrind", profiles / "whole.data")
	summary, totals = [re.search(rf"^{key}: (.*)$", text, re.MULTILINE)[1] for key in ("summary", "totals")]
	assert summary == totals and text.endswith(f"\ntotals: {totals}\n")
	for cut in (CALLGRIND.replace("totals: 1012 10\n", ""), text.replace(f"totals: {totals}\n", "")):
		(tmp_path / "cut").write_text(cut)
		check_failure(run("import", "--format", "callgrind", "cut", directory=tmp_path), "expected 'totals:' behind it, as callgrind writes it")
