"""gmon.out as input and output of profiles: files that the C library's runtime wrote, damaged files, and usage errors."""
import json
import re
import struct
import subprocess

import pytest
from gprof_support import Gmon, program, run_of, symbols
from record_support import REPOSITORY, run_cpprof

CORPUS = REPOSITORY / "tests/fuzz/corpus/gmon"
# Files of the corpus that can be read. All others are damaged.
READABLE = {"real", "real-no-pie", "real-twice", "blocks", "blocks-wide", "blocks-none", "blocks-none-wide",
	"histograms"}
FLAT = re.compile(r"^ *[\d.]+ +[\d.]+ +[\d.]+ +(?:(\d+) +[\d.]+ +[\d.]+ +)?(\S.*)$", re.MULTILINE)


def gprof_calls(image, gmon):
	"""{function: calls} from the flat profile of Debian's gprof; functions of the same name are added up."""
	text = subprocess.run(["gprof", "-b", "-p", image, gmon], check=True, capture_output=True, text=True).stdout
	found = {}
	for calls, name in FLAT.findall(text):
		found[name] = found.get(name, 0) + int(calls or 0)
	return found


def calls_of(path):
	"""{function: calls by other functions}, as in gprof's flat profile."""
	result = run_cpprof("export", "-r", "calls", "--untrimmed", path)
	assert result.returncode == 0, result.stderr
	found = {}
	for stack, count in (line.rsplit(" ", 1) for line in result.stdout.splitlines()):
		*callers, name = stack.split(";")
		if callers[-1:] != [name]:
			found[name] = found.get(name, 0) + int(count)
	return found


def imported(tmp_path, image, gmon, status=0):
	result = run_cpprof("import", "--format", "gmon", "--image", image, "-o", tmp_path / "in.data", gmon)
	assert result.returncode == status, result.stderr
	return tmp_path / "in.data", result.stderr


@pytest.mark.parametrize("linkage", [[], ["-no-pie"]], ids=["pie", "no-pie"])
def test_what_the_c_library_wrote(tmp_path, linkage):
	image = program("expressions", *linkage)
	profile, _ = imported(tmp_path, image, run_of(image))
	expected = {name: calls for name, calls in gprof_calls(image, run_of(image)).items() if calls}
	assert {name: calls for name, calls in calls_of(profile).items() if name in expected} == expected
	assert len(expected) > 4

	result = run_cpprof("export", "--format", "gmon", "-o", tmp_path / "out.gmon", profile)
	assert result.returncode == 0, result.stderr
	assert {name: calls for name, calls in gprof_calls(image, tmp_path / "out.gmon").items() if calls} == expected


def test_samples_are_their_functions(tmp_path):
	"""A bin of two bytes belongs to the function that begins in it, as with gprof."""
	image = program("expressions")
	at = symbols(image)
	low, high = min(at.values()) & ~15, (max(at.values()) + 256) & ~15
	bins = [0] * ((high - low) // 2)
	for number, address in enumerate(sorted(set(at.values()))):
		bins[(address - low) // 2] += number + 1
	gmon = Gmon([(low, high, bins)], [], rate=1).write(tmp_path / "gmon.out")
	profile, _ = imported(tmp_path, image, gmon)
	result = run_cpprof("report", "--body", "-r", "cpu", "-n", 0, "-t", 0, "--format", "json", "--untrimmed", profile)
	found = sorted(entry["hits"] for entry in json.loads(result.stdout)["results"][0]["entries"])
	text = subprocess.run(["gprof", "-b", "-p", image, gmon], check=True, capture_output=True, text=True).stdout
	seconds = [float(line.split()[2]) for line in text.splitlines() if re.match(r" +\d+\.\d+ +\d", line)]
	assert found == sorted(int(time) for time in seconds if time > 0)
	assert sum(found) == sum(bins)


def test_round_trip(tmp_path):
	"""Arcs, blocks and samples that exceed a record's fields are the same after import and export."""
	image = program("expressions")
	at = symbols(image)
	arcs = [(at["main"] + 9, at["term"], 0xffffffff)] * 3 + [(at["term"] + 5, at["factor"], 7)]
	low = min(at.values()) & ~1
	bins = [0] * 64
	bins[20] = 0xffff
	gmon = Gmon([(low, low + 128, bins)] * 2, arcs, [(at["main"] + 1, 1 << 40)], rate=1000)
	profile, _ = imported(tmp_path, image, gmon.write(tmp_path / "gmon.out"))
	assert run_cpprof("export", "--format", "gmon", "-o", tmp_path / "out.gmon", profile).returncode == 0
	out = (tmp_path / "out.gmon").read_bytes()
	for arc, times in (arcs[0], 3), (arcs[3], 1):
		assert out.count(b"\1" + struct.pack("<QQI", *arc)) == times
	assert out.endswith(b"\2" + struct.pack("<IQQ", 1, at["main"] + 1, 1 << 40))
	assert gprof_calls(image, tmp_path / "out.gmon")["term"] == 3 * 0xffffffff


def test_explore_exports_the_same(tmp_path):
	image = program("expressions")
	profile, _ = imported(tmp_path, image, run_of(image))
	assert run_cpprof("export", "--format", "gmon", "-o", tmp_path / "one", profile).returncode == 0
	result = run_cpprof("explore", profile, input=f"export gmon {tmp_path / 'two'}\nresource calls\nexport gmon {tmp_path / 'three'}\n")
	assert "it is not a time" in result.stderr
	assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_hostile_files(tmp_path, path):
	profile, err = imported(tmp_path, program("expressions"), path, status=0 if path.name in READABLE else 1)
	assert profile.exists() == (path.name in READABLE)
	assert len(err.splitlines()) == 1 and err.startswith("cpprof import: ")
	if path.name not in READABLE:
		assert str(path) in err


def test_another_program(tmp_path):
	"""gmon.out does not name its program. Addresses outside the code show that the image is another program or build."""
	gmon = Gmon([], [(0x90000000, 0x90000010, 3)]).write(tmp_path / "gmon.out")
	profile, _ = imported(tmp_path, program("expressions"), gmon)
	assert "of another program or of another build" in run_cpprof("info", profile).stdout


@pytest.mark.parametrize("words, message", [
	(["import", "--format", "gmon", "gmon.out"], "--image"),
	(["import", "--format", "folded", "--image", "a.out", "stacks.txt"], "--image cannot be combined with --format folded"),
	(["export", "--format", "gmon", "--untrimmed", "-o", "x", "in.data"], "--untrimmed"),
	(["export", "--object", "libm.so.6", "in.data"], "--object"),
	(["export", "--format", "gmon", "--object", "libnone.so", "-o", "x", "in.data"], "libnone.so"),
	(["export", "--format", "gmon", "-r", "calls", "-o", "x", "in.data"], "it is not a time"),
])
def test_wrong_words(tmp_path, words, message):
	image = program("expressions")
	imported(tmp_path, image, run_of(image))
	result = run_cpprof(*words, cwd=tmp_path)
	assert result.returncode != 0 and message in result.stderr, result.stderr
	assert not (tmp_path / "x").exists()


def test_no_image(tmp_path):
	image = program("expressions")
	for path, message in (tmp_path / "none", "No such file"), (CORPUS / "elf", "elf"), (tmp_path, "cannot read"):
		_, err = imported(tmp_path, path, run_of(image), status=1)
		assert message in err
