"""gmon.out files made from what hooks counted: Debian's gprof and ours read the same counts from them, object by object. Where
gprof's averages are wrong, the call paths have the right times."""
import json
import re
import subprocess
from collections import Counter

import pytest
from measuring import between
from hooks_support import Counted, Program
from record_support import CPPROF, build, run_cpprof
from test_gmon import calls_of, gprof_calls

MEASURED = pytest.mark.measured("two sampled times are compared")

ROUNDS = "6000000"


def counted(program, folder, measurement="paths", words=()):
	run = Counted([*program.command, *words], folder, measurement, options=["--gmon"])
	assert run.status == 0, run.err
	return run


def relatives(text, function):
	"""{caller or callee: (self + children, calls)} of a function's entry in the call graph that gprof prints."""
	entry, = [entry for entry in text.split("-----------------------------------------------\n")
		if re.search(rf"^\[\d+\].* {function} \[\d+\]$", entry, re.MULTILINE)]
	lines = re.findall(r"^ +([\d.]+) +([\d.]+) +(\d+)/\d+ +(\S+) \[\d+\]$", entry, re.MULTILINE)
	return {name: (float(own) + float(below), int(calls)) for own, below, calls, name in lines}


@pytest.mark.parametrize("hook, linkage, level", [("mcount", "pie", "-O0"), ("fentry", "no-pie", "-O2"), ("cyg", "pie", "-O1")])
def test_one_file_for_each_object(tmp_path, hook, linkage, level):
	"""Each object has a file with its calls. A call from another object has a caller that exists in each object."""
	program = Program("library", hook, level=level, linkage=linkage)
	run = counted(program, tmp_path, "arcs")
	assert sorted(path.name for path in tmp_path.glob("gmon.out*")) == ["gmon.out", "gmon.out.liblibrary.so"]
	calls = run.calls()
	for image, gmon, functions in (program.path, "gmon.out", ["main", "call_library", "callback"]), (
			library_of(program), "gmon.out.liblibrary.so", ["library_sum", "library_inner"]):
		found = gprof_calls(image, tmp_path / gmon)
		for name in functions:
			assert found[name] == calls[name], (name, found, calls)


def library_of(program):
	"""The path of the program's library."""
	text = subprocess.run(["ldd", program.path], check=True, capture_output=True, text=True).stdout
	return re.search(r"liblibrary\.so => (\S+)", text).group(1)


def test_callers_outside(tmp_path):
	"""Comparators, visitors and handlers: the calls by the C library are counted, with _start as their caller."""
	program = Program("callbacks", "cyg", level="-O0")
	run = counted(program, tmp_path)
	calls = run.calls()
	found = gprof_calls(program.path, tmp_path / "gmon.out")
	for name in "compare", "visit", "begin", "at_end", "main", "order":
		assert found[name] == calls[name], name
	text = subprocess.run(["gprof", "-b", "-q", program.path, tmp_path / "gmon.out"], check=True, capture_output=True, text=True).stdout
	for name in "compare", "begin", "at_end", "at_end_with", "main":
		assert relatives(text, name)["_start"][1] == calls[name], name
	assert sum(count for _, count in relatives(text, "visit").values()) == calls["visit"]


@pytest.mark.parametrize("name", ["forks", "mutual", "plugins", "constructors", "thread_ends", "vfork_exec"])
def test_all_calls(tmp_path, name):
	"""The counts of all gmon.out files add up to the counts of the profile: forked processes, plugins, threads, before and after
	main."""
	program = Program(name, "mcount", level="-O0")
	run = counted(program, tmp_path)
	found = {}
	for gmon in tmp_path.glob("gmon.out*"):
		image = program.path if gmon.name == "gmon.out" else next(path for path in modules(run.path)
			if path.endswith(gmon.name.replace("gmon.out.", "/")))
		for function, calls in gprof_calls(image, gmon).items():
			found[function] = found.get(function, 0) + calls
	wanted = {function: calls for function, calls in calls_of(run.path).items() if "@" not in function}
	assert len(wanted) > 2
	assert {function: found.get(function) for function in wanted} == wanted


def modules(path):
	"""Paths of the modules that the process had loaded."""
	result = run_cpprof("info", "--format", "json", path)
	return [module["path"] for module in json.loads(result.stdout).get("modules", [])]


@MEASURED
def test_averages(tmp_path):
	"""The example of gprof's paper: gprof charges both callers equally for a function that takes time below one of them only."""
	program = Program("averages", "mcount", level="-O1")
	run = counted(program, tmp_path, words=[ROUNDS])
	for command in ["gprof", "-b", "-q", program.path, tmp_path / "gmon.out"], [CPPROF, "gprof", "-b", "-q", program.path, run.path]:
		parents = relatives(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "work")
		assert parents["light"][1] == parents["heavy"][1] == 100
		assert parents["light"][0] == pytest.approx(parents["heavy"][0], abs=0.02) and parents["light"][0] > 0.01
	result = subprocess.run([CPPROF, "gprof", "-b", "-q", program.path, run.path], check=True, capture_output=True, text=True)
	assert re.search(r"(49|50)\.\d % .*'work'.*--true", result.stderr), result.stderr
	for command in [CPPROF, "gprof", "-b", "-q", "--true", program.path, run.path], [CPPROF, "report", "--call-graph", run.path]:
		parents = relatives(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "work")
		between(parents["light"][0], None, 0.01 * parents["heavy"][0])
		assert parents["light"][1] == parents["heavy"][1] == 100


def test_sums_of_runs(tmp_path):
	"""The files of several runs have the same layout, whatever was sampled, so gprof can add them up."""
	program = Program("averages", "fentry", level="-O2")
	for name, rounds in ("one", "10"), ("two", ROUNDS):
		(tmp_path / name).mkdir()
		counted(program, tmp_path / name, words=[rounds])
	files = [tmp_path / "one/gmon.out", tmp_path / "two/gmon.out"]
	text = subprocess.run(["gprof", "-b", "-p", program.path, *files], check=True, capture_output=True, text=True).stdout
	assert re.search(r" 400 .* work$", text, re.MULTILINE), text
	result = run_cpprof("gprof", "-b", "-p", "--no-errors", program.path, *files)
	assert result.stdout == text


def test_unwritable(tmp_path):
	program = Program("averages", "mcount")
	(tmp_path / "gmon.out").mkdir()
	run = Counted(program.command, tmp_path, options=["--gmon"])
	assert run.status != 0 and "gmon.out" in run.err, run.err
	assert run.calls()["work"] == 200


def test_selected_threads(tmp_path):
	"""gmon.out of one thread has its calls and its time; the files of all threads add up to the whole."""
	run = Counted([build("threads.c", "-finstrument-functions"), "6", "20000"], tmp_path, "paths", options=["-r", "cpu"])
	assert run.status == 0, run.err

	def figures(resource, *words):
		output = tmp_path / "one.out"
		for command in (["export", "--format", "gmon", *words, "-o", output, run.path],
				["import", "--format", "gmon", "--image", build("threads.c", "-finstrument-functions"), "-o", tmp_path / "one.data", output]):
			result = run_cpprof(*command)
			assert result.returncode == 0, result.stderr
		lines = run_cpprof("export", "--format", "folded", "-r", resource, tmp_path / "one.data").stdout.splitlines()
		return Counter({line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines})

	tids = [thread["tid"] for thread in json.loads(run_cpprof("info", "--format", "json", run.path).stdout)["threads"]]
	assert len(tids) == 7
	each = {tid: figures("calls", "--thread", tid) for tid in tids}
	workers = [calls for calls in each.values() if calls["worker"]]
	assert len(workers) == 6
	for calls in workers:
		assert calls == {"worker": 1, "worker;short_work": 1, "worker;long_work": 1, "short_work;burn": 1, "long_work;burn": 1}
	assert sum(each.values(), Counter()) == figures("calls")
	cpu = [figures("cpu", "--thread", tid) for tid, calls in each.items() if calls["worker"]]
	assert min(times["burn"] for times in cpu) > 0
	whole = figures("cpu")
	assert sum(times["burn"] for times in cpu) <= whole["burn"]
