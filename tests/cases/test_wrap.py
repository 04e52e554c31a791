"""libcpprof-wrap: the C library's functions, C++'s threads and OpenMP's regions as probe points of the group RUNTIME; and
cpprof::collection."""
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess

import pytest
from hooks_support import compile_once
from record_support import BUILD, CHECKED, PROGRAMS, REPOSITORY, SECONDS_ALLOWED, run_cpprof

FOLDER = PROGRAMS / "wrap"
RUNTIME = BUILD / "src/collect/agent"
HEADERS = REPOSITORY / "include"
ROUNDS = 10
# gcc 12 warns of an overlap in its own std::string (its bug 105651).
COMPILERS = {".c": ["gcc"], ".cpp": ["g++", "-std=c++11", "-Wpedantic", "-Wno-restrict"]}


@functools.cache
def headers():
	"""Returns a hash of the headers, so that a program is compiled again when they change."""
	return hashlib.sha256(b"".join(path.read_bytes() for path in sorted((HEADERS / "cpprof").iterdir()))).hexdigest()


def program(name, *flags, compiler=None, libraries=("cpprof-wrap", "cpprof")):
	source = next(FOLDER.glob(f"{name}.c*"))
	command = [*(compiler or COMPILERS[source.suffix]), "-O2", "-g", "-pthread", *CHECKED, "-Wall", "-Wextra", "-Werror", "-Wno-unused-result",
		f"-I{HEADERS}", f"-DHEADERS=\"{headers()}\"", *flags, f"-Wl,-rpath,{RUNTIME}", f"-L{RUNTIME}", "-Wl,--no-as-needed"]
	return compile_once([*command, *(f"-l{library}" for library in libraries)], [source], name)


def record(path, folder, *options, measurement="paths", status=0):
	"""Runs a program by `cpprof record`. Returns its profile."""
	output = folder / "out.data"
	result = run_cpprof("record", f"--instrumented={measurement}", "-o", output, *options, "--", *path, cwd=folder)
	assert result.returncode == status, result.stderr
	return output


def run_alone(path, folder, status=0, **environment):
	"""Runs a program without a recorder. Returns the profile that it writes itself, and the result."""
	result = subprocess.run(path, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
		timeout=SECONDS_ALLOWED)
	assert result.returncode == status, result.stderr
	return folder / "cpprof.data", result


def entries(profile, resource="calls", *options):
	result = run_cpprof("report", "--tree", "-r", resource, "--untrimmed", "-n", 0, "-t", 0, "--format", "json", *options, profile)
	assert result.returncode == 0, result.stderr
	return json.loads(result.stdout)["results"][0]["entries"]


def paths(profile, resource="calls", *options):
	"""Returns {(function, function, ...): own hits of the path}, with names without parameters and modules."""
	found, path = {}, []
	for entry in entries(profile, resource, *options):
		path[entry["depth"]:] = [re.sub(r"[(@].*", "", entry["name"])]
		found[tuple(path)] = found.get(tuple(path), 0) + entry["own_hits"]
	return found


def called_by(counts, caller):
	"""Returns {function: its calls directly from this caller}."""
	found = {}
	for path, count in counts.items():
		if len(path) > 1 and path[-2] == caller:
			found[path[-1]] = found.get(path[-1], 0) + count
	return found


def called(counts, function):
	return sum(count for path, count in counts.items() if path[-1] == function)


MEMORY = {"malloc": 1, "realloc": 1, "calloc": 1, "aligned_alloc": 1, "posix_memalign": 1, "free": 4}
DESCRIPTORS = {"open": 1, "write": 1, "writev": 1, "poll": 1, "read": 2, "send": 1, "recv": 1, "lseek": 1, "close": 1}
STREAMS = {"fprintf": 1, "fputs": 1, "fwrite": 1, "fputc": 1, "fscanf": 1, "fgets": 3, "fread": 1, "fgetc": 1}
MEMBERS = {"pthread_mutex_lock": 1, "pthread_cond_broadcast": 1, "pthread_mutex_unlock": 1, "pthread_rwlock_rdlock": 1,
	"pthread_rwlock_wrlock": 1, "pthread_rwlock_unlock": 2, "pthread_barrier_wait": 1}
THREADS = {"sem_post": 1, "sem_wait": 1, "sem_trywait": 1, "mtx_lock": 1, "mtx_unlock": 1, "pthread_mutex_trylock": 1,
	"pthread_mutex_unlock": 1}


def times(counts, rounds):
	return {function: count * rounds for function, count in counts.items()}


def check_calls(profile, *options):
	"""Checks a profile of calls.c, recorded in any way."""
	counts = paths(profile, "calls", *options)
	assert called_by(counts, "memory") == times(MEMORY, 2 * ROUNDS)  # the calls of the process and of its child
	assert called_by(counts, "descriptors") == times(DESCRIPTORS, ROUNDS)
	streams = called_by(counts, "streams")
	assert {name: streams[name] for name in STREAMS} == times(STREAMS, ROUNDS)
	assert called(counts, "vfprintf") == ROUNDS and streams["rewind"] == 1 and streams["fclose"] == 1
	assert called_by(counts, "member") == times(MEMBERS, 3 * ROUNDS)
	assert {name: called_by(counts, "threads")[name] for name in THREADS} == times(THREADS, ROUNDS)
	assert called(counts, "pthread_create") + called(counts, "thrd_create") == 4
	assert called(counts, "pthread_join") + called(counts, "thrd_join") == 4
	assert called(counts, "waitpid") == 1 and called(counts, "puts") == 1


@pytest.mark.parametrize("how", ["alone", "recorded", "--wrap", "preloaded"])
def test_known_calls(how, tmp_path):
	linked = how in ("alone", "recorded")
	command = [program("calls", libraries=("cpprof-wrap", "cpprof") if linked else ("cpprof",)), str(ROUNDS)]
	if how == "recorded" or how == "--wrap":
		profile = record(command, tmp_path, *(["--wrap"] if how == "--wrap" else []), status=5)
	else:
		profile, result = run_alone(command, tmp_path, 5, **({} if linked else {"LD_PRELOAD": str(RUNTIME / "libcpprof-wrap.so")}))
		assert (result.stdout, result.stderr) == ("done\n", "")
	check_calls(profile)


def test_functions_that_check_lengths(tmp_path):
	"""_FORTIFY_SOURCE calls checking variants, which are shown by the usual names."""
	check_calls(run_alone([program("calls", "-D_FORTIFY_SOURCE=2"), str(ROUNDS)], tmp_path, 5)[0], "--no-inlines")


@pytest.mark.parametrize("measurement", ["trace", "paths-timed"])
def test_measurements(measurement, tmp_path):
	check_calls(record([program("calls"), str(ROUNDS)], tmp_path, measurement=measurement, status=5))


def test_no_other_code(tmp_path):
	"""A program that is not linked with libcpprof, and has no other probe points."""
	(tmp_path / "in").write_text("b\na\n")
	profile, result = run_alone([shutil.which("sort"), "in"], tmp_path, LD_PRELOAD=str(RUNTIME / "libcpprof-wrap.so"))
	assert result.stdout == "a\nb\n"
	counts = paths(profile)
	assert called(counts, "malloc") > 0 and called(counts, "fclose") > 0


def test_group(tmp_path):
	profile = record([program("calls"), str(ROUNDS)], tmp_path, status=5)
	result = run_cpprof("report", "--functions", "-r", "calls", "--group", "RUNTIME", "-n", 0, "-t", 0, profile)
	assert result.returncode == 0, result.stderr
	names = set(re.findall(r"^\S+ (?:\S+ )*?(\w+)(?:@\S+)? \[", result.stdout, re.MULTILINE))
	assert {"pthread_mutex_lock", "malloc"} <= names and not names & {"main", "memory", "member"}


def milliseconds(profile, resource, function):
	return called(paths(profile, resource), function) / 1e6


@pytest.mark.parametrize("measurement", ["paths-timed", "trace"])
def test_waiting_is_its_own(measurement, tmp_path):
	profile = record([program("waits")], tmp_path, measurement=measurement)
	waits, real = paths(profile, "wait"), paths(profile, "real")
	assert milliseconds(profile, "wait", "pthread_mutex_lock") >= 20  # of 50; a busy machine may delay it
	assert milliseconds(profile, "wait", "pthread_cond_timedwait") >= 15
	assert milliseconds(profile, "wait", "nanosleep") >= 29
	assert all(milliseconds(profile, "wait", function) >= 9 for function in ("thrd_sleep", "sigtimedwait", "semtimedop"))
	for path, ns in waits.items():
		assert ns <= real[path] and (ns == 0 or path[-1] not in ("main", "holder", "rarely"))


def test_locks_time_off_the_processor(tmp_path):
	"""Waits that the library with hooks measures in these calls are below them, and its attempts to lock are not counted as
	calls."""
	profile = record([program("waits")], tmp_path, "-r", "lock-wait/100us")
	waits = {function: sum(hits for path, hits in paths(profile, "lock-wait").items() if function in path)
		for function in ("pthread_mutex_lock", "pthread_cond_timedwait")}
	assert all(hits >= 150 for hits in waits.values()), waits  # of 500 and 400
	assert called(paths(profile), "pthread_mutex_lock") == 2 and called(paths(profile), "pthread_mutex_trylock") == 0


@pytest.mark.parametrize("measurement", ["paths", "paths-timed", "trace"])
def test_calls_that_do_not_return(measurement, tmp_path):
	counts = paths(record([program("leaves", "-Wno-clobbered")], tmp_path, measurement=measurement))
	assert called(counts, "read") == 10 and called(counts, "step") == 10 and called(counts, "cleaned") == 5
	assert called_by(counts, "cleaned") == {"step": 5}
	assert {path[-2] for path in counts if path[-1] == "step"} == {"cleaned", "interrupted"}
	assert not [path for path in counts if "read" in path[:-1] and path[-1] == "step" and "cleaned" not in path]


def test_cxx_threads(tmp_path):
	counts = paths(record([program("threads")], tmp_path))
	below = {name: sum(count for path, count in counts.items() if path[-1] == name and caller in path)
		for caller, name in (("member", "pthread_mutex_lock"), ("member", "pthread_mutex_unlock"), ("member", "pthread_cond_signal"),
			("allocate", "malloc"), ("allocate", "free"))}
	assert below == {"pthread_mutex_lock": 100, "pthread_mutex_unlock": 100, "pthread_cond_signal": 100, "malloc": 50, "free": 50}
	assert called(counts, "pthread_create") == called(counts, "pthread_join") == 4


@pytest.mark.needs("openmp")
@pytest.mark.parametrize("measurement", ["paths", "paths-timed"])
def test_openmp(measurement, tmp_path):
	profile = record([program("regions", "-fopenmp", compiler=["clang"])], tmp_path, measurement=measurement)
	counts = paths(profile)
	assert (called(counts, "step"), called(counts, "tasked")) == (3 * 90 + 3 * 10 + 1, 3 * 10)
	assert called(counts, "omp_parallel") == called(counts, "omp_for") == called(counts, "omp_critical") == 9
	assert (called(counts, "omp_task"), called(counts, "omp_single")) == (30, 3)
	for path, count in counts.items():
		if count and path[-1] == "step" and path[-2] != "main":
			assert "omp_parallel" in path and ("omp_task" in path) == ("tasked" in path) and ("omp_for" in path) != ("tasked" in path)
	assert counts[tuple(path for path in min((path for path in counts if path[-1] == "step"), key=len))] == 1
	if measurement == "paths-timed":
		assert milliseconds(profile, "wait", "omp_barrier") > 3 * 2 * 15


@pytest.fixture(scope="module")
def accesses(tmp_path_factory):
	names = ("vector", "reader", "map", "other")
	requests = [word for name in names for kind in ("reads", "writes") for word in ("-r", f"own:{name}-{kind}/1")]
	profile = record([program("collections", libraries=("cpprof",))], tmp_path_factory.mktemp("accesses"), *requests)
	return {kind: {name: paths(profile, f"own:{name}-{kind}") for name in names} for kind in ("reads", "writes")}


@pytest.mark.long("compiles the C++ library many times")
@pytest.mark.parametrize("name, function, reads, writes", [
	("vector", "vectors", 203, 103), ("reader", "readers", 110, 0), ("map", "keys", 10, 16), ("other", "others", 6, 6)])
def test_collections(accesses, name, function, reads, writes):
	for kind, expected in (("reads", reads), ("writes", writes)):
		found = accesses[kind][name]
		assert sum(found.values()) == expected, kind
		assert all(function in path for path, count in found.items() if count), found


@pytest.mark.long("compiles the C++ library many times")
@pytest.mark.parametrize("compiler", [COMPILERS[".cpp"], ["clang++", "-std=c++20", "-Wpedantic"]])
def test_collections_behave_as_containers(compiler):
	path = program("collections", compiler=compiler, libraries=("cpprof",))
	result = subprocess.run([path], env={**os.environ, "CPPROF_MEASURE": "off"}, capture_output=True, text=True, check=True,
		cwd=path.parent, timeout=SECONDS_ALLOWED)
	assert result.stdout == "1 31\n"


def test_names_do_not_depend_on_samples(tmp_path):
	"""A sample in the C library's own function, below its wrapper, does not make two functions of one name."""
	source = tmp_path / "writes.c"
	source.write_text("""#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	int fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 200000; i++)
		if (write(fd, "x", 1) != 1)
			return 1;
	return 0;
}
""")
	path = compile_once(["gcc", "-O1", "-g"], [source], "writes")
	profile = record([path], tmp_path, "--wrap")
	result = run_cpprof("report", "--functions", "--format", "json", "-t", 0, "-n", 0, profile)
	assert result.returncode == 0, result.stderr
	hits = {part["resource"]: {entry["path"][0]: entry["hits"] for entry in part["entries"]} for part in json.loads(result.stdout)["results"]}
	assert hits["calls"]["write"] == 200000 and hits["cpu"]["write"] > 0
	# 'write@plt' is code of the program.
	assert not [name for counts in hits.values() for name in counts if "@" in name and not name.endswith("@plt")]
