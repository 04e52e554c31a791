"""`cpprof report --asm`: the instructions of a function and their hits, and the reasons why there are none."""
import os
import random
import re
import struct
import subprocess
import sys

import pytest
from cli_support import REPOSITORY, check_failure, done, run
from code_support import ANON, FILE, KERNEL, NAMES, VDSO, WRITE_CODE, Code, profile_of
from json_support import valid_json
from record_support import build, needs_whole_perf, record

sys.path.insert(0, str(REPOSITORY / "tests/naive"))
import definitions  # noqa: E402

TOOLS = {"x86_64": "", "aarch64": "aarch64-linux-gnu-"}


def entries(path, function, *options):
	return valid_json(done("report", "--asm", function, "--format", "json", *options, path))["results"][0]["entries"]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=() if name == os.uname().machine else pytest.mark.needs(f"{TOOLS[name]}gcc")) for name in TOOLS])
def code(request):
	"""The program for each processor: a profile of another machine is disassembled like one of this."""
	prefix = TOOLS[request.param]
	if os.uname().machine == request.param:
		return Code(build("asm.c", level="-O1"))
	return Code(build("asm.c", "-Wl,--build-id", compiler=f"{prefix}gcc", level="-O1"), prefix)


@pytest.fixture(scope="module")
def native():
	return Code(build("asm.c", level="-O1"))


def test_instructions_are_those_of_objdump(code, tmp_path):
	expected = code.instructions("caller")
	path = profile_of(tmp_path / "p.data", code, [([(expected[0][0], ["caller"])], 5)])
	found = entries(path, "caller")
	assert [(int(entry["address"], 16), entry["bytes"]) for entry in found] == [(start, end - start) for start, end, _ in expected]
	assert {entry["module"] for entry in found} == {str(code.path)}
	# objdump prints "call 1149 <leaf>" and "jne 1170 <caller+0x12>".
	names = {start: re.search(r"\b([0-9a-f]+) <([^>]+)>$", text) for start, _, text in expected}
	reached = set()
	for entry in found:
		named = names[int(entry["address"], 16)]
		if named and named[2].startswith("caller"):
			reached.add(int(named[1], 16))
			assert (int(entry["target"], 16), entry["callee"]) == (int(named[1], 16), ""), entry
		elif named and entry["target"]:
			assert int(entry["target"], 16) == int(named[1], 16), entry
	assert {int(entry["address"], 16) for entry in found if entry["is_target"]} == reached and reached
	assert "leaf" in {entry["callee"] for entry in found}
	lines = {entry["line"] for entry in found if entry["file"].endswith("asm.c")}
	text = (REPOSITORY / "tests/programs/asm.c").read_text().splitlines()
	assert next(number for number, line in enumerate(text, 1) if "sum += leaf(i)" in line) in lines


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the bytes are code of x86_64")
def test_unknown_instructions_have_their_bytes(tmp_path):
	"""An instruction that libcapstone cannot decode is shown as its bytes, and the next one follows behind it, not inside."""
	unknown = Code(build("unknown_x86_64.s"))
	first, wild = (unknown.instructions(name)[0][0] for name in ("main", "wild"))
	path = profile_of(tmp_path / "p.data", unknown, [([(first, ["main"])], 5), ([(wild + 7, ["wild"])], 2)])
	assert [(int(entry["address"], 16) - first, entry["bytes"], entry["instruction"]) for entry in entries(path, "main")] == [
		(0, 5, "(unknown) c4 e1 fb 92 c0"), (5, 6, "vmovdqu8 zmm0, zmmword ptr [rsi]"), (11, 8, "(unknown) 62 f3 75 48 3f 46 01 00"),
		(19, 8, "(unknown) 62 f5 74 48 58 44 24 01"), (27, 1, "(unknown) 06"), (28, 1, "ret"), (29, 1, "(unknown) 66"), (30, 15, "nop"),
		(45, 1, "(unknown) c4"), (46, 1, "(unknown) e1")]
	rows = entries(path, "wild")
	assert len(rows) == 5000 and {(row["bytes"], row["instruction"]) for row in rows} == {(1, "(unknown) 06")}
	assert [(int(row["address"], 16) - wild, row["body_hits"]) for row in rows if row["body_hits"]] == [(7, 2)]


def test_a_call_through_the_plt_has_the_name_of_its_function(native, tmp_path):
	path = profile_of(tmp_path / "p.data", native, [([(native.instructions("caller")[0][0], ["caller"])], 5)])
	assert any(entry["callee"] == "rand@plt" for entry in entries(path, "caller"))


@pytest.mark.parametrize("seed", range(4))
def test_hits_are_those_of_the_definition(code, tmp_path, seed):
	"""Random stacks of addresses in the program's code, with recursion; a caller's address is the last byte of its call."""
	rng = random.Random(seed)
	places = []
	for name in ("leaf", "caller", "main"):
		for start, end, _ in code.instructions(name):
			inner = ["mixed", name] if rng.random() < 0.3 else [name]
			places += [(start, inner), (end - 1, inner)] if end - start > 1 else [(start, inner)]
	samples = [([rng.choice(places) for _ in range(rng.randint(1, 6))], rng.randint(1, 20)) for _ in range(40)]
	path = profile_of(tmp_path / "p.data", code, samples)
	all_code = [(start, end) for name in ("leaf", "caller", "main") for start, end, _ in code.instructions(name)]
	hits = definitions.total(samples)
	for function in ("leaf", "caller", "main", "mixed"):
		expected, unplaced = definitions.instructions([(tuple(stack), count) for stack, count in samples], function, all_code)
		assert unplaced == 0
		found = entries(path, function)
		assert {(int(entry["address"], 16), entry["body_hits"], entry["total_hits"]) for entry in found if entry["total_hits"]} == \
			{(start, *counts) for (start, _), counts in expected.items()}
		for entry in found:
			assert entry["body_fraction"] == pytest.approx(entry["body_hits"] / hits, abs=1e-6)
			assert entry["total_fraction"] == pytest.approx(entry["total_hits"] / hits, abs=1e-6)


def test_an_inlined_function_is_shown_in_each_function_that_contains_it(native, tmp_path):
	places = {name: native.instructions(name)[1][0] for name in ("leaf", "caller", "gap")}
	samples = [([(places[name], ["mixed", name])], hits) for name, hits in (("leaf", 3), ("caller", 5))] + [([(places["gap"], ["gap"])], 2)]
	path = profile_of(tmp_path / "p.data", native, samples)
	found = entries(path, "mixed")
	assert {entry["container"] for entry in found} == {"leaf", "caller"}
	assert {entry["container"]: entry["body_hits"] for entry in found if entry["body_hits"]} == {"leaf": 3, "caller": 5}
	# It is a part of the functions that contain it, unless --no-inlines is given and it is no function at all.
	assert sum(entry["body_hits"] for entry in entries(path, "leaf")) == 3
	check_failure(run("report", "--asm", "mixed", "--no-inlines", path), "mixed")
	text = done("report", "--asm", "mixed", path)
	assert "mixed inlined in leaf in " in text and "mixed inlined in caller in " in text


def test_the_text_marks_targets_and_leaves_out_long_runs(native, tmp_path):
	first, *_, last = native.instructions("gap")
	path = profile_of(tmp_path / "p.data", native, [([(first[0], ["gap"])], 3), ([(last[0], ["gap"])], 1)])
	text = done("report", "--asm", "gap", path)
	count = len(native.instructions("gap"))
	left_out = int(re.search(r"\.\.\. (\d+) instructions without hits$", text, re.MULTILINE)[1])
	rows = re.findall(r"^.{44} [ >] +[0-9a-f]+  \S", text, re.MULTILINE)
	assert len(rows) + left_out == count and len(rows) < 30
	assert re.search(rf"^  0\.7500 ±0\.\d+   0\.7500 ±0\.\d+          3 +{first[0]:x}  ", text, re.MULTILINE), text
	assert re.search(r"^ +asm\.c:\d+  TEN\(TEN\(sink\+\+;\)\)$", text, re.MULTILINE), text
	path = profile_of(tmp_path / "loop.data", native, [([(native.instructions("caller")[0][0], ["caller"])], 1)])
	text = done("report", "--asm", "caller", path)
	targets = {entry["address"][2:] for entry in entries(path, "caller") if entry["is_target"]}
	assert set(re.findall(r"^.{44} > +([0-9a-f]+)  ", text, re.MULTILINE)) == targets
	assert "  <leaf>\n" in text


def test_csv_and_explore_have_the_same_rows(native, tmp_path):
	path = profile_of(tmp_path / "p.data", native, [([(native.instructions("leaf")[0][0], ["leaf"])], 3)])
	rows = done("report", "--asm", "leaf", "--format", "csv", path).splitlines()
	assert rows[0].startswith("resource,function,container,module,address,bytes,")
	assert len(rows) - 1 == len(native.instructions("leaf"))
	with (tmp_path / "commands").open("w+") as commands:
		commands.write("asm leaf\n")
		commands.seek(0)
		assert done("report", "--asm", "leaf", path) in done("explore", path, stdin=commands)


def test_what_cannot_be_disassembled(native, tmp_path):
	at = native.instructions("leaf")[0][0]

	def refusal(*parts, **options):
		check_failure(run("report", "--asm", "leaf", profile_of(tmp_path / "p.data", native, [([(at, ["leaf"])], 3)], **options)),
			"cannot disassemble 'leaf': ", *parts)

	refusal("has another build-id than the recorded file", "record again", build_id="00" * 20)
	refusal("has no build-id", "-Wl,--build-id", build_id="-")
	refusal("[vdso]", kind=VDSO)
	refusal("generated at run time", kind=ANON)
	refusal("code of the kernel", kind=KERNEL)
	refusal("has no addresses", kind=NAMES)
	known = native.path
	native.path = tmp_path / "gone"
	try:
		refusal(f"cannot open '{tmp_path}/gone': No such file or directory", "run this where")
		os.mkfifo(tmp_path / "fifo")
		native.path = tmp_path / "fifo"
		refusal("cannot open")
		native.path = tmp_path / "none"
		native.path.write_text("no program")
		refusal("")
	finally:
		native.path = known
	# An address outside of all functions.
	path = profile_of(tmp_path / "p.data", native, [([(16, ["leaf"])], 3)])
	check_failure(run("report", "--asm", "leaf", path), "neither a symbol nor unwind information", "install its debug symbols")
	check_failure(run("report", "--asm", "nothing", path), "nothing")


def test_one_module_without_code_does_not_hide_the_others(native, tmp_path):
	at = native.instructions("leaf")[0][0]
	lines = [f"M {FILE} {native.path} {native.build_id}", f"M {ANON} [anon] -", f"S 0:{at}!leaf 3", f"S 1:{at}!leaf 2"]
	subprocess.run([WRITE_CODE, tmp_path / "p.data"], input="\n".join(lines) + "\n", text=True, check=True)
	text = done("report", "--asm", "leaf", tmp_path / "p.data")
	assert "2 raw_samples at addresses whose instructions are not known\n" in text or "2 raw_hits at" in text
	assert re.search(r"^a part is missing: it was generated at run time", text, re.MULTILINE)


def test_a_stripped_program_is_disassembled_by_its_unwind_information(native, open_path):
	expected = native.instructions("caller")
	stripped = open_path / "stripped"
	subprocess.run(["strip", "-o", stripped, native.path], check=True)
	path = profile_of(open_path / "p.data", Code(stripped), [([(expected[3][0], ["caller"])], 5)])
	assert [int(entry["address"], 16) for entry in entries(path, "caller")] == [start for start, _, _ in expected]


def test_damaged_files_do_no_harm(native, open_path):
	"""Whatever a file has become, the result is instructions or a reason."""
	rng = random.Random(1)
	good = open(native.path, "rb").read()
	at = native.instructions("caller")[0][0]
	for _ in range(25):
		damaged = bytearray(good)
		for _ in range(rng.randint(1, 40)):
			damaged[rng.randrange(len(damaged) if rng.random() < 0.5 else 4096)] = rng.randrange(256)
		if rng.random() < 0.3:
			del damaged[rng.randrange(len(damaged)):]
		path = open_path / "damaged"
		path.write_bytes(damaged)
		broken = Code(native.path)
		broken.path = path
		result = run("report", "--asm", "caller", "--format", "json", profile_of(open_path / "p.data", broken, [([(at, ["caller"])], 5)]))
		if result.returncode == 0:
			valid_json(result.stdout)
		else:
			check_failure(result, "cannot disassemble 'caller': ")


def test_a_symbol_of_any_size_is_bounded(native, tmp_path):
	"""A forged size of a symbol cannot make the command read what the file does not have."""
	table = subprocess.run(["readelf", "-SW", native.path], capture_output=True, text=True, check=True).stdout
	offset, size = (int(word, 16) for word in re.search(r"\.symtab\s+SYMTAB\s+\S+ (\S+) (\S+)", table).groups())
	at = native.instructions("leaf")[0][0]
	forged = bytearray(open(native.path, "rb").read())
	for symbol in range(offset, offset + size, 24):
		if struct.unpack_from("<Q", forged, symbol + 8)[0] == at:
			struct.pack_into("<Q", forged, symbol + 16, 1 << 62)
	broken = Code(native.path)
	broken.path = tmp_path / "forged"
	broken.path.write_bytes(forged)
	result = run("report", "--asm", "leaf", profile_of(tmp_path / "p.data", broken, [([(at, ["leaf"])], 5)]))
	check_failure(result, "cannot disassemble 'leaf': ")


@needs_whole_perf
def test_a_recorded_program(tmp_path):
	"""All hits of a function's own code are at its instructions."""
	path = record(tmp_path, [build("asm.c", level="-O1"), "60"]).path
	bodies = valid_json(done("report", "--body", "--no-inlines", "-r", "cpu", "-n", "0", "-t", "0", "--format", "json", path))
	hits = {entry["path"][0]: entry["hits"] for entry in bodies["results"][0]["entries"]}
	assert sum(entry["body_hits"] for entry in entries(path, "leaf", "-r", "cpu")) == hits["leaf"] > 0
