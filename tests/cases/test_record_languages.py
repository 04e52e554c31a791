"""Call paths of programs in other languages than C: their shares are known, and their paths reach the root."""
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from measuring import between
from record_support import (BUILD, BURST_BACKENDS, PROGRAMS, REPOSITORY, agrees, amounts, build_counted, check_counted, hits, holds, most_by_chance, needs_bpf, needs_perf, of_work, record,
	record_counted, record_held, run_cpprof, show)

sys.path.insert(0, str(PROGRAMS / "languages"))
import language_rows as languages # noqa: E402

BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
BUILT = BUILD / "tests/languages"
MEASURED = pytest.mark.measured("shares of samples of CPU time are compared")
LISP = pytest.mark.needs("sbcl")
# {language: the name of its compiler or runtime in tests/conftest.py}
NEEDS = {"Rust": "rustc", "Go": "go", "OCaml": "ocaml", "Common Lisp": "sbcl", "JavaScript": "node", "Java": "java", "Haskell": "ghc", "Erlang": "erl",
	"LuaJIT": "luajit", "PHP": "php"}


def named(*names):
	"""Returns languages as parameters of a test, each with its mark."""
	needs = [(name, NEEDS.get(name.partition(" (")[0])) for name in names]
	return [pytest.param(name, marks=pytest.mark.needs(need) if need else ()) for name, need in needs]


def forget_maps():
	"""Removes the perf maps of processes that have ended."""
	for path in Path("/tmp").glob("perf-*.map"):
		number = re.fullmatch(r"perf-(\d+)\.map", path.name)
		if number and not Path(f"/proc/{number[1]}").exists():
			path.unlink(missing_ok=True)


def record_lisp(tmp_path, name, backend, *options):
	"""Records a Lisp program of tests/programs/languages."""
	program = ["sbcl", "--noinform", "--non-interactive", "--load", languages.PERF_MAP, "--load", PROGRAMS / "languages" / name]
	recorded = record(tmp_path, program, "--backend", backend, *options)
	assert recorded.status == 0, recorded.err
	forget_maps()
	return recorded


def record_language(tmp_path, name, backend, *options, rounds=None, without=()):
	"""Records a language's program. Returns (row, recorded, {path in the words of its source: hits})."""
	row = languages.language(name)
	recorded = record(tmp_path, [*(word for word in row.run if word not in without), *([str(rounds)] if rounds else [])], "--backend", backend, "-r", "cpu/1ms", *options, cwd=languages.build(row, BUILT))
	assert recorded.status == 0, recorded.err
	forget_maps()
	return row, recorded, languages.in_source_words(row, recorded.paths())


def check_shares(paths):
	"""Checks the three shares, and that each call of the recursion is a frame."""
	for names, fraction in languages.SHARES:
		agrees(paths, names, fraction, ["work"])
	below = of_work({path: count for path, count in paths.items() if holds(path, ["descend", "work"])}, ["work"])
	complete = {path: count for path, count in below.items() if path[0] != "[incomplete stack]"}
	assert {path.count("descend") for path in complete} == {languages.RECURSIONS}, show(complete)


def check_whole(recorded, late=()):
	"""Requires that at least 99 % of the paths reach their root by rules that are exact (with a binomial tolerance), but for those with the causes
	`late`."""
	samples, lost, whole, *_ = recorded.closing_shares()
	assert lost == 0 and samples > 200, recorded.err
	read_late = sum(cause["count"] for cause in recorded.info()["causes"] if cause["cause"] in late)
	assert (100 - whole) / 100 * samples - read_late <= most_by_chance(0.01, samples), f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"
	return read_late / samples


LATE_IN_GO = ["Go's runtime, for a goroutine that is not known", "the copied stack is too short"]


@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", named("Rust", "Go", "OCaml", "Common Lisp"))
def test_whole_paths(tmp_path, name, backend):
	_, recorded, paths = record_language(tmp_path, name, backend)
	check_shares(paths)
	# perf reads the stack of C below a callback of Go after the sample. A fifth of the samples is in callbacks.
	late = LATE_IN_GO if (name, backend) == ("Go", "perf") else ()
	between(check_whole(recorded, late), None, 0.2)


@MEASURED
@pytest.mark.needs("erl")
@pytest.mark.parametrize("backend", BACKENDS)
def test_whole_paths_of_erlang(tmp_path, backend):
	"""Erlang's code runs on stacks of its own, and the C code that it calls on the thread's: a walk where the sample is taken goes from one to the
	other. perf has copied one of them."""
	_, recorded, paths = record_language(tmp_path, "Erlang", backend, rounds=40)
	check_shares(paths)
	below = {path: count for path, count in paths.items() if any(frame.startswith("global::call_") for frame in path)}
	assert hits(below, "init:do_boot/3") > 5 or backend == "perf", show(below)
	if backend != "perf":
		check_whole(recorded)


# The causes for which walks end where a language's compiled code cannot be walked.
NO_FRAME = "generated code without a frame pointer"
ENDS = {
	"Haskell": ["Haskell code, whose frames are on another stack"],
	"LuaJIT": [NO_FRAME],
	"PHP": [NO_FRAME],
	"Erlang": [NO_FRAME, "reached the root through generated code without names", "the copied stack is too short"],
}
LISTS_CODE = ["+JPperf", "true"] # by which Erlang keeps frame pointers, too


@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", named(*ENDS))
def test_broken_paths_name_their_cause(tmp_path, name, backend):
	"""Where a language keeps no frames that can be verified, nearly all broken paths have the cause that states this."""
	_, recorded, paths = record_language(tmp_path, name, backend, rounds=60, without=LISTS_CODE)
	causes = {cause["cause"]: cause["count"] for cause in recorded.info()["causes"] if not cause["whole"]}
	broken, samples = sum(causes.values()), sum(cause["count"] for cause in recorded.info()["causes"])
	assert samples > 200, causes
	between(broken, 0.5 * samples, None, causes)
	assert broken - sum(causes.get(cause, 0) for cause in ENDS[name]) <= most_by_chance(0.01, broken), causes
	remedies = {"Haskell": "without names of functions: GHC gives local functions none", "LuaJIT": "in generated code without names (LuaJIT does not list it; luajit -joff interprets)",
		"PHP": "in generated code without frame pointers (PHP's JIT keeps none; php -d opcache.jit=off interprets)"}
	assert name not in remedies or remedies[name] in recorded.err, recorded.err
	if name == "PHP": # its traces have names
		between(hits(paths, "work"), 0.9 * broken, None, show(paths))


@pytest.mark.parametrize("name", named(*(row.name for row in languages.LANGUAGES)))
def test_each_program_runs(name):
	"""Each program prints the shares that its source is written for."""
	row = languages.language(name)
	result = subprocess.run([*row.run, "2"], cwd=languages.build(row, BUILT), capture_output=True, text=True, check=True, timeout=120)
	assert re.findall(r"^share (.*)$", result.stdout, re.MULTILINE) == [";".join(names) + f" {fraction}" for names, fraction in languages.SHARES]


LISP_PATHS = [["OUTER"], ["OUTER", "MIDDLE"], ["OUTER", "MIDDLE", "INNER"], ["OUTER", "MIDDLE", "ADDS"]]
ROUTINE = "SB-VM::GENERIC"


@LISP
@MEASURED
@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_of_lisp(tmp_path, backend):
	"""Where a sample is in the middle of a call or a return, its path is the same as elsewhere."""
	recorded = record_lisp(tmp_path, "calls.lisp", backend, "-r", "cpu/200us") # the kernel's functions are in lower case
	check_whole(recorded)
	below = {}
	for path, count in recorded.paths().items():
		if "CALLS::MAIN" not in path or path[0] == "[incomplete stack]":
			continue
		lisp = [frame for frame in path[path.index("CALLS::MAIN") + 1:] if frame.startswith(("CALLS::", ROUTINE)) or not frame[0].islower()]
		callees = [frame.removeprefix("CALLS::") for frame in lisp if not frame.startswith((ROUTINE, "_"))]
		below[tuple(callees)] = below.get(tuple(callees), 0) + count
	allowed = {(), *(tuple(path) for path in LISP_PATHS)}
	compiling = {path: count for path, count in below.items() if path and path[0] not in ("OUTER", "MIDDLE", "INNER", "ADDS")}
	assert set(below) - set(compiling) == allowed, below
	between(sum(compiling.values()), None, 0.01 * sum(below.values()), compiling)
	assert min(below[path] for path in allowed) > 20, below


@LISP
@needs_bpf
def test_resources_of_lisp(tmp_path):
	"""Page faults and allocations by C have the path of the Lisp functions that caused them."""
	recorded = record_lisp(tmp_path, "memory.lisp", "bpf", "-r", "page-faults/1", "-r", "alloc-bytes/1")
	stated = amounts(recorded.out)
	assert len(stated) == 4
	for resource, names, gticks in stated:
		found = hits(recorded.paths(resource), *(f"MEMORY::{name}" for name in names))
		assert gticks <= found <= 1.02 * gticks, (resource, names, found)


@LISP
@pytest.mark.parametrize("backend", BURST_BACKENDS[:2])
def test_an_executable_of_lisp(tmp_path, backend):
	"""A program that contains its core has whole paths through Lisp, by the same names, if it writes the map."""
	saves = """(save-lisp-and-die "memory" :executable t :toplevel (lambda () (cpprof-perf-map:write-map) (memory::few) (memory::many) (exit)))"""
	built = subprocess.run(["sbcl", "--noinform", "--non-interactive", "--load", languages.PERF_MAP, "--load", PROGRAMS / "languages/memory.lisp", "--eval", saves],
		cwd=tmp_path, capture_output=True, text=True, check=True)
	recorded = record(tmp_path, [tmp_path / "memory"], "--backend", backend, "-r", "page-faults/1")
	assert recorded.status == 0, recorded.err
	forget_maps()
	stated = [amount for amount in amounts(built.stdout) if amount[0] == "page-faults"]
	assert len(stated) == 2
	for resource, names, gticks in stated:
		below = {path: count for path, count in recorded.paths(resource).items() if holds(path, [f"MEMORY::{name}" for name in names])}
		assert gticks <= hits(below) <= 1.02 * gticks and all(path[0] != "[incomplete stack]" for path in below), show(below)


@LISP
@needs_bpf
def test_lisp_without_a_map(tmp_path):
	"""The closing line states how much is in Lisp functions without names, and what names them."""
	recorded = record(tmp_path, ["sbcl", "--noinform", "--non-interactive", "--load", PROGRAMS / "languages/memory.lisp"], "--backend", "bpf", "-r",
		"page-faults/1")
	assert recorded.status == 0, recorded.err
	assert re.search(r"; \d+ % of page-faults in compiled Lisp without names \(sbcl --load perf-map.lisp, of share/cpprof\)", recorded.err), recorded.err


@LISP
@MEASURED
@needs_bpf
def test_functions_of_the_collector(tmp_path):
	"""Garbage collection is C code with a name, below Lisp's function GC."""
	recorded = record_lisp(tmp_path, "garbage.lisp", "bpf", "-r", "cpu/1ms")
	check_whole(recorded)
	assert hits(recorded.paths(), "GC", "collect_garbage") > 50, show(recorded.paths())


@LISP
def test_process_db_in_lisp(tmp_path):
	"""The paper's example prints the same in Lisp as in C."""
	examples = BUILD / "examples"
	subprocess.run([examples / "generate_db", "5000", tmp_path / "employees.tsv"], check=True)
	expected = subprocess.run([examples / "process_db", "employees.tsv"], cwd=tmp_path, capture_output=True, text=True, check=True)
	lisp = ["sbcl", "--noinform", "--non-interactive", "--load", REPOSITORY / "examples/process_db/process_db.lisp", "--eval",
		'(process-db:main "employees.tsv")']
	result = subprocess.run(lisp, cwd=tmp_path, capture_output=True, text=True, check=True)
	assert result.stdout == expected.stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_interpreters_without_functions(tmp_path, backend):
	"""Nearly all samples of a loop in Perl are in perl itself, which the finding says."""
	recorded = record(tmp_path, ["perl", "-e", "for (1 .. 2e6) { $x += sqrt($_) }"], "--backend", backend, "-r", "cpu/1ms")
	(finding,) = [row["text"] for row in recorded.info()["findings"] if row["code"] == "interpreter-not-shown"]
	assert re.fullmatch("[0-9]+ % of cpu in an interpreter whose functions are not shown: Perl", finding) and finding in recorded.err


@pytest.mark.parametrize("flags, path", [(["-DLINKED_BY_GHC"], ["main", "stg_ap_v_info", "Main.$fEq(,)", "base:GHC.Base.++"]),
	([], ["main", "stg_ap_v_info", "Main_zdfEqZ2T_info", "base_GHCziBase_zpzp_info"])], ids=["ghc", "gcc"])
def test_names_of_haskell(tmp_path, flags, path):
	"""The symbols of a file that GHC linked are shown as Haskell's names; equal symbols of a C program stay as they are."""
	recorded = record_counted("preload", tmp_path, [build_counted("preload", "haskell_names.c", *flags)])
	assert [list(found) for found in recorded.paths()] == [[*path, "countable_event"]]


@pytest.mark.parametrize("version", ["3.13", "3.14", "3.15", "4.0", "3.10"])
@pytest.mark.parametrize("backend", [pytest.param("bpf", marks=needs_bpf), "preload"])
def test_unknown_versions_have_no_names(tmp_path, backend, version):
	"""The finding names the version (of 3.13 this program lacks the offsets that Python's file states), and the paths have the functions of the interpreter, none of which is left out or taken for one of the program."""
	major, minor = map(int, version.split("."))
	program = build_counted(backend, "unknown_python.c", f"-DVERSION={major << 24 | minor << 16 | 0xf0:#x}", "-rdynamic", event_us=1000)
	recorded = record_counted(backend, tmp_path, [program])
	paths = check_counted(recorded, 2 * 20)
	assert hits(paths, "_PyEval_EvalFrameDefault", "work") == 20, paths
	finding = f"functions of Python {version} programs are not shown: cpprof does not know this version"
	assert [row["text"] for row in recorded.info()["findings"] if row["code"] == "interpreter-not-shown"] == [finding]
	assert finding in recorded.err, recorded.err


@needs_bpf
@pytest.mark.parametrize("version", ["0x030b02f0", "0x030c01f0"])
def test_unreadable_structures_give_no_names(tmp_path, version):
	"""A known version whose structures lead nowhere: the paths have the functions of the interpreter, and none of a program."""
	program = build_counted("bpf", "unknown_python.c", f"-DVERSION={version}", "-rdynamic", event_us=1000)
	recorded = record_counted("bpf", tmp_path, [program])
	paths = check_counted(recorded, 2 * 20)
	assert hits(paths, "main", "_PyEval_EvalFrameDefault", "work") == 20 and len(paths) == 2, paths


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the trampolines of other processors keep frame pointers")
@pytest.mark.parametrize("backend", BACKENDS)
def test_trampolines_of_python(tmp_path, backend):
	"""Generated code without frame pointers, whose callers use the register for something else."""
	called = ("evaluate", "[anon]", "function", "countable_event")
	program = build_counted(backend, "python_trampolines.c", "-fomit-frame-pointer")
	recorded = record_held(backend, tmp_path, [program], lambda so_far: so_far.paths().get(("main", "begin", *called)))
	assert recorded.paths()["main", *called] == 20, recorded.err
