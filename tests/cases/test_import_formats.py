"""Formats of other tools that import reads: what they hold is what report shows, and damaged files are refused."""
import gzip
import random
import re
import subprocess

import pytest
import zstandard
from cli_support import CPPROF, check_failure, done, run
from json_support import valid_json
from pprof_support import encode_field as field, encode_varint as varint

SCRIPT = """\
# ========
# captured on: a day
# ========
#
prog 4711 [001]  1234.567890:     250000 cpu-clock:uppp:
\t    55d0c0de burn+0x1d (/path/prog)
\t    55d0c111 helper (inlined)
\t    55d0c111 main+0x2f (/path/prog)
\t    7f00aa29 __libc_start_call_main+0x79 (/usr/lib/libc.so.6)

my prog 4711/4712 [000]  1234.568140:     250000 cpu-clock:uppp:
\tffffffff81000010 do_syscall_64+0x10 ([kernel.kallsyms])
\t    55d0c0de std::vector<int, std::allocator<int> >::push_back(int const&)+0x1d (/path/prog)
\t    55d0c211 operator()(int) const+0x1 (/path/with blank/prog)
\t    55d0c222 [unknown] (/path/prog)

sleeper 9 1.5: sched:sched_switch: prev_comm=x prev_pid=2
\t    55d0c0de main (/path/prog)

sleeper 9 1.6: net:net_x: dev=lo
\t    55d0c0de main (/path/prog)

one 12 2.000000001:  700 cycles:     55d0c0de spin+0x1 (/path/prog)
one 12 2.000000002:  300 cycles:     55d0c0de spin+0x1 (/path/prog)
"""
PATHS = {
	"cpu": ["__libc_start_call_main;main;helper;burn 1",
		"prog+0x55d0c222;operator()(int) const;std::vector<int, std::allocator<int> >::push_back(int const&);do_syscall_64 1"],
	"sched:sched_switch": ["main 1"],
	"net:net_x": ["main 1"],
	"cycles": ["spin 1000"],
}


def folded(path, resource):
	return sorted(done("export", "--format", "folded", "-r", resource, path).splitlines())


def info(path):
	return valid_json(done("info", "--format", "json", path))


def test_events_of_equal_names(tmp_path):
	"""cpu-clock is the resource cpu, which an event of a program can have as its name. Modifiers have each letter once; another word is a tracepoint's."""
	events = {"cpu-clock": "cpu", "cpu": "cpu-2", "cpu-2": "cpu-2-2", "sdt:ee": "sdt:ee", "cycles:ppp": "cycles", "probe:upp": "probe"}
	text = "".join(f"prog 12 1.{index}: {event}: \n\t401000 f{index} (/p/prog)\n\n" for index, event in enumerate(events))
	(tmp_path / "a").write_text(text)
	done("import", "-o", tmp_path / "a.data", tmp_path / "a")
	assert [row["name"] for row in info(tmp_path / "a.data")["resources"]] == list(events.values())
	for index, name in enumerate(events.values()):
		assert folded(tmp_path / "a.data", name) == [f"f{index} 1"]


@pytest.fixture
def script(tmp_path):
	(tmp_path / "script.txt").write_text(SCRIPT)
	done("import", "-o", tmp_path / "script.data", tmp_path / "script.txt")
	return tmp_path / "script.data"


def test_perf_script(script):
	for resource, paths in PATHS.items():
		assert folded(script, resource) == sorted(paths)
	found = info(script)
	assert {(thread["tid"], thread["name"], thread["pid"]) for thread in found["threads"]} == {
		(4711, "prog", 4711), (4712, "my prog", 4711), (9, "sleeper", 9), (12, "one", 12)}
	resources = {resource["name"]: resource for resource in found["resources"]}
	assert (resources["cpu"]["interval"], resources["cpu"]["hits"], resources["cpu"]["unit"], resources["cpu"]["title"]) == (250000, 2, "ns", "CPU Time")
	assert (resources["cycles"]["interval"], resources["cycles"]["samples"], resources["cycles"]["hits"]) == (1, 2, 1000)
	assert done("report", "--functions", "--kernel", "hide", "-r", "cpu", script).count("do_syscall_64") == 0


FRAMES = "\t    55d0c0de burn+0x1d (/path/prog)\n\t      401139 main+0x2f (/path/prog)\n"


@pytest.mark.parametrize("text, paths", [
	# Without call chains, and -G.
	("            prog  4711  1.567890:     250000 cpu-clock:ppp:      7f0b140385a6 burn+0x6 (/path/prog)\n"
	 "         my prog  4712  1.567891:     250000 cpu-clock:ppp:            401136 main (/path/prog)\n", ["burn 1", "main 1"]),
	("            prog  4711 cpu-clock:ppp: \n         my prog  4712 cpu-clock:ppp: \n", ["[no stack] 2"]),
	("prog 1 cpu-clock:ppp: \n\t   55d0c0de\n\t   401139\n\n", ["0x401139;0x55d0c0de 1"]),
	# -F +srcline
	("prog 1 1.5: cpu-clock:ppp: \n" + FRAMES.replace("\n", "\n  prog.c:12\n") + "\nprog 1 1.6: cpu-clock:ppp: \n" + FRAMES.replace("(/path/prog)\n", "(/path/prog)\n  ??:0\n", 1)
	 + "  prog[401139]\n\n", ["main;burn 2"]),
	("prog 1 1.5: cpu-clock:ppp: \n\t  55d0c0de burn+0x1d\n  /a b/prog.c:3 (inlined)\n" + FRAMES + "\n", ["main;burn;burn 1"]),
	# --header
	("# ========\n# captured on    : Mon Nov 30\n" + "# bpf_prog_info\n" * 300 + "# ========\n#\nprog 1 1.5: cpu-clock:ppp: \n" + FRAMES, ["main;burn 1"]),
	# --show-task-events --show-mmap-events --show-namespace-events
	("swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12090c8) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\n"
	 "perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:1834/1834\nprog  1834 [001]     1.5: PERF_RECORD_NAMESPACES 1834/1834 - nr_namespaces: 2\n"
	 "\t\t[0/net: 4/0xf0000098, 1/uts: 4/0xeffffffe]\nprog  1834  1.5: cpu-clock:ppp: \n" + FRAMES + "\nprog  1834  1.6: PERF_RECORD_EXIT(1834:1834):(1:1)\n", ["main;burn 1"]),
], ids=["chainless", "event", "address", "srcline", "inlined", "header", "records"])
def test_fields_of_perf_script(tmp_path, text, paths):
	(tmp_path / "a").write_text(text)
	done("import", "-o", "a.data", "a", directory=tmp_path)
	assert folded(tmp_path / "a.data", "cpu") == sorted(paths)


def test_names_with_line_feeds_in_perf_script(tmp_path):
	(tmp_path / "a").write_text(f'w;"0\n  1095  4.5: cpu-clock:ppp: \n{FRAMES}\na\n\nb 7 4.6: cpu-clock:ppp: \n{FRAMES}\nprog 8 4.7: cpu-clock:ppp: \n{FRAMES}\n')
	done("import", "-o", "a.data", "a", directory=tmp_path)
	assert folded(tmp_path / "a.data", "cpu") == ["main;burn 3"]
	assert {(row["tid"], row["name"]) for row in info(tmp_path / "a.data")["threads"]} == {(1095, 'w;"0\n'), (7, "a\n\nb"), (8, "prog")}


def test_events_of_perf_script(tmp_path):
	"""The kinds of events are the resources that they are in a perf.data; a second one of the same resource keeps its name."""
	(tmp_path / "a").write_text("".join(f"prog 1 1.5: {event} 55d0c0de burn (/path/prog)\n" for event in
		("cpu-clock:ppp:", "task-clock:", "faults:u:", "cpu-migrations:", "probe:burn:", "cpu-clock:ppp:", "L1-dcache-misses:")))
	done("import", "-o", "a.data", "a", directory=tmp_path)
	assert [(row["name"], row["title"], row["hits"]) for row in info(tmp_path / "a.data")["resources"]] == [("cpu", "CPU Time", 2), ("task-clock", "task-clock", 1),
		("page-faults", "Page Faults", 1), ("migrations", "CPU Migrations", 1), ("probe:burn", "probe:burn", 1), ("L1-dcache-misses", "L1-dcache-misses", 1)]


@pytest.mark.parametrize("text, message", [
	(SCRIPT + "\nno sample\n", ":26: expected 'COMMAND PID TIME: EVENT:'"),
	(SCRIPT.replace("55d0c0de burn", "burn"), ":6: expected an address and a name"),
	(SCRIPT.replace("prog 4711", "prog\0 4711"), ":5: expected text"),
])
def test_damaged_perf_script(tmp_path, text, message):
	(tmp_path / "script.txt").write_text(text)
	check_failure(run("import", "--format", "perf-script", "script.txt", directory=tmp_path), message)
	assert not (tmp_path / "cpprof.data").exists()


@pytest.mark.parametrize("name", ["whole", "server", "labels", "forms", "recursion"])
def test_pprof_again(profiles, tmp_path, name):
	"""The part of a profile that pprof holds is the same after export and import: the paths and amounts, lines, threads and labels."""
	done("export", "--format", "pprof", "-o", tmp_path / "a.pb.gz", profiles / f"{name}.data")
	done("import", "-o", tmp_path / "a.data", tmp_path / "a.pb.gz")
	before, after = info(profiles / f"{name}.data"), info(tmp_path / "a.data")
	kept = [resource for resource in before["resources"] if resource["name"] in {row["name"] for row in after["resources"]}]
	assert len(kept) == len(after["resources"]) > 0
	for old, new in zip(kept, after["resources"]):
		assert (old["name"], old["unit"], old["hits"] * old["interval"]) == (new["name"], new["unit"], new["hits"] * new["interval"])
		factor = old["interval"] // new["interval"]
		paths = [re.sub(r"\d+$", lambda number: str(int(number[0]) * factor), line) for line in folded(profiles / f"{name}.data", old["name"])]
		assert sorted(paths) == folded(tmp_path / "a.data", new["name"])
		for report, keys, amount in (("--lines", ("file", "line"), "body_hits"), ("--threads", ("tid", "name", "pid"), "hits")):
			before, after = (valid_json(done("report", report, "--threshold", "0", "--limit", "0", "--format", "json", "-r", old["name"], path))["results"][0]["entries"]
				for path in (profiles / f"{name}.data", tmp_path / "a.data"))
			figures = lambda entries, factor: sorted((*(entry[key] for key in keys), entry[amount] * factor) for entry in entries)
			assert figures(before, factor) == figures(after, 1), report
	if name == "labels":
		assert done("report", "--by-label", "tenant", tmp_path / "a.data").count("acme") == done("report", "--by-label", "tenant", profiles / "labels.data").count("acme")


@pytest.mark.needs("go")
def test_pprof_of_go(tmp_path):
	"""A profile that Go's own runtime wrote: the totals and functions are as of Go's tool."""
	(tmp_path / "main.go").write_text("""package main
import ("os"; "runtime/pprof")
var sink int
//go:noinline
func burn(n int) { for i := 0; i < n; i++ { sink += i * i } }
//go:noinline
func outer() { burn(300000000) }
func main() { f, _ := os.Create(os.Args[1]); pprof.StartCPUProfile(f); for i := 0; i < 3; i++ { outer() }; pprof.StopCPUProfile(); f.Close() }
""")
	environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "GO111MODULE": "off"}
	subprocess.run(["go", "build", "-o", "prog", "main.go"], cwd=tmp_path, check=True, env=environment)
	subprocess.run(["./prog", "cpu.pb.gz"], cwd=tmp_path, check=True)
	done("import", "-o", tmp_path / "go.data", tmp_path / "cpu.pb.gz")
	raw = subprocess.run(["go", "tool", "pprof", "-raw", "cpu.pb.gz"], cwd=tmp_path, check=True, env=environment, capture_output=True, text=True).stdout
	values = [tuple(map(int, row)) for row in re.findall(r"^ +(\d+) +(\d+): [\d ]+$", raw, re.MULTILINE)]
	resources = {resource["name"]: resource for resource in info(tmp_path / "go.data")["resources"]}
	assert set(resources) == {"samples", "cpu"}
	assert resources["samples"]["hits"] == sum(samples for samples, _ in values) > 0
	assert resources["cpu"]["hits"] * resources["cpu"]["interval"] == sum(ns for _, ns in values)
	assert resources["cpu"]["interval"] == 10_000_000
	assert any("main.main;main.outer;main.burn" in line for line in folded(tmp_path / "go.data", "cpu"))


def test_damaged_pprof(profiles, tmp_path):
	whole = gzip.decompress(done("export", "--format", "pprof", profiles / "whole.data", text=False))
	(tmp_path / "whole.pb").write_bytes(whole)
	assert "samples" in run("import", "-o", tmp_path / "whole.data", tmp_path / "whole.pb").stderr
	(tmp_path / "cut.pb").write_bytes(whole[:len(whole) // 2 + 1])
	check_failure(run("import", "--format", "pprof", "cut.pb", directory=tmp_path), "cannot read 'cut.pb' as pprof: ")
	dice = random.Random(1)
	for _ in range(60):
		damaged = bytearray(whole)
		for _ in range(dice.randrange(1, 8)):
			damaged[dice.randrange(len(damaged))] = dice.randrange(256)
		(tmp_path / "bad.pb").write_bytes(damaged)
		result = run("import", "--format", "pprof", "bad.pb", directory=tmp_path)
		assert result.returncode == 0 or (result.returncode == 1 and "cannot read 'bad.pb'" in result.stderr), result.stderr


@pytest.mark.parametrize("values, message", [([2**64 - 5], "it has negative values"), ([1, 2], "another number of values")])
def test_refused_pprof(tmp_path, values, message):
	sample = field(2, field(2, b"".join(map(varint, values))))
	(tmp_path / "a.pb").write_bytes(field(1, field(1, 1) + field(2, 2)) + sample + field(6, b"") + field(6, b"cpu") + field(6, b"nanoseconds"))
	check_failure(run("import", "a.pb", directory=tmp_path), f"cannot read 'a.pb' as pprof: ", message)


@pytest.mark.parametrize("fields, is_pprof", [(1, False), (2, False), (3, True)])
def test_pprof_is_recognised(tmp_path, fields, is_pprof):
	"""A file that begins with three fields of a profile is one."""
	(tmp_path / "a.pb").write_bytes(field(1, b"") * fields + b"\x7f" * 8)
	result = run("import", "a.pb", directory=tmp_path)
	assert result.returncode and ("as pprof: " in result.stderr) == is_pprof, result.stderr


@pytest.mark.parametrize("line, read", [(7, 7), (2**31 - 1, 2**31 - 1), (2**31, 0), (2**40, 0)])
def test_pprof_lines(tmp_path, line, read):
	"""A line that no source has counts as unknown."""
	location = field(1, 1) + field(4, field(1, 1) + field(2, line))
	function = field(1, 1) + field(2, 3) + field(4, 4)
	sample = field(1, varint(1)) + field(2, varint(7))
	texts = b"".join(field(6, text) for text in (b"", b"samples", b"count", b"main", b"main.c"))
	(tmp_path / "a.pb").write_bytes(field(1, field(1, 1) + field(2, 2)) + field(2, sample) + field(4, location) + field(5, function) + texts)
	done("import", "--format", "pprof", "-o", "a.data", "a.pb", directory=tmp_path)
	(entry,) = valid_json(done("report", "--lines", "--format", "json", "a.data", directory=tmp_path))["results"][0]["entries"]
	assert (entry["file"], entry["line"]) == ("main.c", read)


def test_pprof_address_of_a_long_module(tmp_path):
	"""The name of a location without lines ends with its address, also where the module's name is too long for the rest."""
	mapping = field(1, 1) + field(2, 0x400000) + field(3, 0x500000) + field(4, 0x2000) + field(5, 3)
	location = field(1, 1) + field(2, 1) + field(3, 0x401234)
	sample = field(1, varint(1)) + field(2, varint(7))
	texts = b"".join(field(6, text) for text in (b"", b"samples", b"count", b"/lib/" + b"x" * 300))
	(tmp_path / "a.pb").write_bytes(field(1, field(1, 1) + field(2, 2)) + field(2, sample) + field(3, mapping) + field(4, location) + texts)
	done("import", "--format", "pprof", "-o", "a.data", "a.pb", directory=tmp_path)
	assert re.fullmatch(r"x{200,250}\+0x3234 7", "\n".join(folded(tmp_path / "a.data", "samples")))


PACKINGS = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "zstd with sums": zstandard.ZstdCompressor(write_checksum=True).compress}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_compressed_input(tmp_path, way, packing):
	"""Any format may be compressed, in several parts."""
	lines = [f"main;f{i} {i + 1}\n" for i in range(30000)]
	parts = b"".join(PACKINGS[packing]("".join(lines[at:at + 10000]).encode()) for at in range(0, len(lines), 10000))
	(tmp_path / "a.gz").write_bytes(parts)
	if way == "file":
		done("import", "-o", "a.data", "a.gz", directory=tmp_path)
	else:
		subprocess.run([CPPROF, "import", "-o", "a.data", "-"], cwd=tmp_path, input=parts, check=True, capture_output=True)
	assert folded(tmp_path / "a.data", "samples") == sorted(line.rstrip("\n") for line in lines)
	for damaged, what in ((parts[:-100], f"end too early, at byte {len(parts) - 100}\n"), (parts[:-1], f"end too early, at byte {len(parts) - 1}\n"),
			(parts[:len(parts) // 2] + bytes(100) + parts[len(parts) // 2 + 100:], "are damaged, at or before byte ")):
		(tmp_path / "cut.gz").write_bytes(damaged)
		check_failure(run("import", "-o", "cut.data", "cut.gz", directory=tmp_path), f"cannot read 'cut.gz' as folded: its {packing[:4]} data {what}")
	assert not (tmp_path / "cut.data").exists()


def test_unknown_format(tmp_path):
	"""A file that is in no format is refused with the list of the formats, and not as a damaged file of one of them."""
	for name, content in (("binary", b"\x7fELF\x02\x01\x01\0\n 12\n"), ("text", b"hello, world\n"), ("other.json", b'{"a": [1]}\n')):
		(tmp_path / name).write_bytes(content)
		check_failure(run("import", name, directory=tmp_path), f"cannot import '{name}': its format is unknown (known formats: folded, perf-script, trace, strace, heaptrack, ")


def test_damaged_start_of_compressed_input(tmp_path):
	(tmp_path / "a.gz").write_bytes(gzip.compress(b"main 1\n")[:10] + b"\xff" * 50)
	check_failure(run("import", "a.gz", directory=tmp_path), "cannot read 'a.gz': its gzip data are damaged, at or before byte ")


def test_damage_that_only_the_sum_shows(tmp_path):
	"""A changed byte of compressed text that the format refuses, too, is damage of the compression."""
	data = gzip.compress(b"".join(b"main;f%d 12\n" % i for i in range(20000)), compresslevel=0)
	(tmp_path / "a.gz").write_bytes(data.replace(b"f9000 12", b"f9000 x2"))
	check_failure(run("import", "a.gz", directory=tmp_path), f"cannot read 'a.gz' as folded: its gzip data are damaged, at or before byte {len(data) - 4}\n") # behind it is the length


def test_gmon_is_recognised(tmp_path):
	(tmp_path / "gmon.out").write_bytes(b"gmon\x01\0\0\0" + bytes(12))
	result = run("import", "gmon.out", directory=tmp_path)
	assert result.returncode == 2 and "--format gmon needs the program that ran (--image ./a.out)" in result.stderr
