"""`cpprof record --instrumented` from outside: its options, its refusals and their reasons, the files that it leaves, and the
files that the runtime itself writes, read by the commands."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest
from hooks_support import compile_once
from record_support import BUILD, CPPROF, PROGRAMS, SECONDS_ALLOWED, build, run_cpprof

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile long sink;

void leaf(void)
{
	sink++;
}

void branch(int leaves)
{
	for (int i = 0; i < leaves; i++)
		leaf();
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 10; i++)
		branch(100);
	if (argc > 1 && strcmp(argv[1], "waits") == 0) {
		puts("waits");
		fflush(stdout);
		pause();
	}
	return argc > 1 ? atoi(argv[1]) : 0;
}
"""
CALLS = {"main": 1, "branch": 10, "leaf": 1000}
RUNTIME = BUILD / "src/collect/agent"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
	path = tmp_path_factory.mktemp("source") / "leaves.c"
	path.write_text(SOURCE)
	return path


@pytest.fixture(scope="module")
def program(source):
	"""The program with -finstrument-functions."""
	return compile_once(["gcc", "-O1", "-g", "-finstrument-functions"], [source], "leaves")


@pytest.fixture(scope="module")
def with_pg(source):
	return compile_once(["gcc", "-O1", "-g", "-pg"], [source], "leaves_pg")


@pytest.fixture(scope="module")
def plain(source):
	return compile_once(["gcc", "-O1", "-g"], [source], "leaves_plain")


@pytest.fixture(scope="module")
def alone(source):
	"""The program linked with libcpprof, so that it counts without a recorder."""
	library = next(path for path in RUNTIME.glob("libcpprof.so.*") if path.is_file() and not path.is_symlink())
	return compile_once(["gcc", "-O1", "-g", "-pg", f"-Wl,-rpath,{RUNTIME}", "-Wl,--no-as-needed", f"-L{RUNTIME}", f"-l:{library.name}"],
		[source], "leaves_alone")


def count(folder, *words, **settings):
	return run_cpprof("record", *words, cwd=folder, **settings)


def calls_of(path):
	"""{function: calls} of a profile, or of another file that the commands read."""
	result = run_cpprof("export", "--format", "folded", "-r", "calls", path)
	assert result.returncode == 0, result.stderr
	calls = {}
	for line in result.stdout.splitlines():
		names, hits = line.rsplit(" ", 1)
		calls[names.split(";")[-1]] = calls.get(names.split(";")[-1], 0) + int(hits)
	return calls


def info_of(path):
	result = run_cpprof("info", "--format", "json", path)
	assert result.returncode == 0, result.stderr
	return json.loads(result.stdout)


def notes_of(path, key):
	return [note["value"] for note in info_of(path)["notes"] if note["key"] == key]


def findings_of(path, code):
	return [finding["text"] for finding in info_of(path)["findings"] if finding["code"] == code]


def assert_refused(result, status, *texts):
	assert result.returncode == status, result.stderr
	for text in texts:
		assert text in result.stderr
	assert "Traceback" not in result.stderr


# --- the outcome of a run ---

@pytest.mark.parametrize("measurement", ["arcs", "paths", "paths-timed", "trace", "blocks"])
def test_measurements(program, tmp_path, measurement):
	result = count(tmp_path, f"--instrumented={measurement}", program, "3")
	assert result.returncode == 3, result.stderr
	assert re.fullmatch(rf"cpprof: 1011 calls, \d+ samples?, 0 lost, [\d.]+ \w+ in cpprof.data, by hooks \({measurement}\).*\n", result.stderr)
	assert calls_of(tmp_path / "cpprof.data") == CALLS
	assert notes_of(tmp_path / "cpprof.data", "measurement") == [measurement]
	assert os.listdir(tmp_path) == ["cpprof.data"] # no tally is left
	is_raw = (tmp_path / "cpprof.data").read_bytes()[1:4] == b"CPT"
	assert is_raw == (measurement == "trace")


def test_paths_is_what_is_meant(program, tmp_path):
	result = count(tmp_path, "--instrumented", "-o", "named.data", "--", program)
	assert result.stderr.endswith("by hooks (paths)\n")
	tree = run_cpprof("report", "--tree", "-r", "calls", tmp_path / "named.data").stdout
	assert re.search(r"^main .*\n  branch .*\n    leaf .*\[1000\]", tree, re.MULTILINE)
	info = info_of(tmp_path / "named.data")
	assert {resource["name"]: resource["kind"] for resource in info["resources"]} == {"cpu": "sampled", "calls": "exact"}
	assert str(program) in notes_of(tmp_path / "named.data", "command")[0]


def test_times_add_up(program, tmp_path):
	count(tmp_path, "--instrumented=paths-timed", program)
	info = info_of(tmp_path / "cpprof.data")
	real = next(resource for resource in info["resources"] if resource["name"] == "real")
	assert real["kind"] == "exact" and real["unit"] == "ns"
	result = run_cpprof("report", "--functions", "-r", "real", "--format", "json", tmp_path / "cpprof.data")
	(rows,) = json.loads(result.stdout)["results"]
	assert {entry["path"][0] for entry in rows["entries"]} >= {"main", "branch", "leaf"}
	assert rows["total_hits"] == real["total"] > 0


def test_off_runs_the_program(program, tmp_path):
	result = count(tmp_path, "--instrumented=off", program, "5")
	assert result.returncode == 5
	assert "the measurement is off" in result.stderr
	assert os.listdir(tmp_path) == []


def test_older_profile_is_kept(program, tmp_path):
	for measurement in ["paths", "trace", "arcs"]:
		count(tmp_path, f"--instrumented={measurement}", program)
	assert sorted(os.listdir(tmp_path)) == ["cpprof.data", "cpprof.data.old"]
	assert notes_of(tmp_path / "cpprof.data", "measurement") == ["arcs"]
	assert notes_of(tmp_path / "cpprof.data.old", "measurement") == ["trace"]


def test_several_processes(program, tmp_path):
	result = count(tmp_path, "--instrumented", "sh", "-c", f"{program} & {program}; wait; exit 9")
	assert result.returncode == 9, result.stderr
	assert calls_of(tmp_path / "cpprof.data") == {name: 2 * calls for name, calls in CALLS.items()}


def test_killed_program_has_counted(program, tmp_path):
	result = count(tmp_path, "--instrumented", "sh", "-c", f"exec timeout -s KILL 1 {program} waits")
	assert result.returncode == 137, result.stderr
	assert calls_of(tmp_path / "cpprof.data") == CALLS
	assert findings_of(tmp_path / "cpprof.data", "processes-unended")


def test_other_resources(program, tmp_path):
	result = count(tmp_path, "--instrumented", "-r", "cpu/100us", "-r", "alloc-bytes/16", program)
	assert result.returncode == 0, result.stderr
	names = [resource["name"] for resource in info_of(tmp_path / "cpprof.data")["resources"]]
	assert names == ["cpu", "alloc-bytes", "calls"]


# --- nothing to count ---

def test_no_hooks(plain, tmp_path):
	result = count(tmp_path, "--instrumented", plain, "4")
	assert_refused(result, 1, "nothing was counted", "-pg", "-mfentry", "-finstrument-functions")
	assert os.listdir(tmp_path) == []
	result = count(tmp_path, "--instrumented=trace", plain)
	assert_refused(result, 1, "-finstrument-functions", "do not report when a function is left")
	result = count(tmp_path, "--instrumented=blocks", plain)
	assert_refused(result, 1, "-fsanitize-coverage=trace-pc")


def test_no_library(program, tmp_path):
	result = count(tmp_path, "--instrumented", "env", "-u", "LD_PRELOAD", "sh", "-c", f"env -i {program}")
	# `env` itself had the library, and counts nothing.
	assert_refused(result, 1, "nothing was counted")


def test_signal_before_the_first_hook(plain, tmp_path):
	"""A command that a signal ended has no hooks to blame, and its status is as of a shell."""
	result = count(tmp_path, "--instrumented", "sh", "-c", "kill -SEGV $$")
	assert_refused(result, 128 + signal.SIGSEGV, "nothing was counted: signal 11 (Segmentation fault) ended 'sh'\n")
	result = count(tmp_path, "--instrumented", "sh", "-c", "kill -INT $$") # as in a shell, where ^C is no news
	assert_refused(result, 1, "nothing was counted: 'sh' has no code")


def test_program_that_was_replaced(program, plain, tmp_path):
	"""Debug information of the new file would not help: it is another one."""
	shutil.copy(program, tmp_path / "it")
	shutil.copy(plain, tmp_path / "new")
	result = count(tmp_path, "--instrumented=counts", "sh", "-c", "./it; mv new it") # no CPU time, which the shell may have, too
	assert result.returncode == 0, result.stderr
	wanted = f"{tmp_path}/it was replaced since it was recorded (its build-id differs) (record again)"
	assert findings_of(tmp_path / "cpprof.data", "names-missing") == [f"100 % of calls in it, without names of functions: {wanted}"]
	assert findings_of(tmp_path / "cpprof.data", "file-unreadable") == [wanted]


def test_signal_after_hooks(program, tmp_path):
	result = count(tmp_path, "--instrumented", "sh", "-c", f"{program}; kill -TERM $$")
	assert (result.returncode, "; signal 15 (Terminated) ended the command" in result.stderr) == (128 + signal.SIGTERM, True), result.stderr
	assert findings_of(tmp_path / "cpprof.data", "command-killed") == ["signal 15 (Terminated) ended the command"]


def test_paused(program, tmp_path):
	result = count(tmp_path, "--instrumented", "--paused", program)
	assert_refused(result, 1, "did not call cpprof_start()")


def test_pg_is_not_timed(with_pg, tmp_path):
	result = count(tmp_path, "--instrumented=paths-timed", with_pg)
	assert result.returncode == 0
	assert "counted, not timed" in result.stderr
	assert calls_of(tmp_path / "cpprof.data") == CALLS
	assert any("-finstrument-functions" in text for text in findings_of(tmp_path / "cpprof.data", "calls-untimed"))
	assert notes_of(tmp_path / "cpprof.data", "hook") == ["mcount"]


def test_pg_has_no_blocks(with_pg, tmp_path):
	result = count(tmp_path, "--instrumented=blocks", with_pg)
	assert "no basic blocks were counted" in result.stderr


# --- refusals before anything runs ---

def test_unwritable_output(program, tmp_path):
	mark = tmp_path / "ran"
	command = ["sh", "-c", f"touch {mark}; {program}"]
	(tmp_path / "folder").mkdir()
	for output, text in [("none/x.data", "No such file"), ("folder", "directory"), ("/dev/null", "a regular file"), ("-", "(-o FILE)")]:
		result = count(tmp_path, "--instrumented", "-o", output, *command)
		assert result.returncode in (1, 2), result.stderr
		assert text in result.stderr
	assert not mark.exists()
	assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("limit", [4096, 24576])
def test_limit_of_files(program, tmp_path, limit):
	"""A file size limit below the size of the tally is an error and does not kill cpprof. No file is left behind."""
	result = count(tmp_path, "--instrumented", program, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
	assert result.returncode == 1 and "File too large" in result.stderr, (result.returncode, result.stderr)
	assert os.listdir(tmp_path) == []


def test_full_disk(program, tmp_path):
	"""The program's file size is limited: cpprof reports it and leaves no temporary file behind."""
	result = count(tmp_path, "--instrumented", "sh", "-c", f"ulimit -f 80; exec {program}")
	assert result.returncode in (0, 1), result.stderr
	assert "cpprof" in result.stderr
	assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


@pytest.mark.parametrize("words, text", [
	(["--instrumented=pathes", "true"], "(off, arcs, paths, paths-timed, trace, blocks"),
	(["--instrumented", "-p", "1"], "needs a command"),
	(["--instrumented", "-a", "true"], "needs a command"),
	(["--instrumented", "--backend", "preload", "true"], "cannot be combined with --backend"),
	(["--gmon", "true"], "--gmon needs --instrumented"),
	(["--instrumented=paths-timed", "-r", "real", "true"], "-r real cannot be combined with --instrumented=paths-timed"),
])
def test_wrong_words(tmp_path, words, text):
	assert_refused(count(tmp_path, *words), 2, text)
	assert os.listdir(tmp_path) == []


def test_resources_of_others(tmp_path):
	assert_refused(count(tmp_path, "--instrumented", "-r", "page-faults", "true"), 1, "page-faults", "with --instrumented")


def test_programs_that_preload_nothing(source, tmp_path):
	static = build(source, "-finstrument-functions", linkage="static")
	assert_refused(count(tmp_path, "--instrumented", static), 1, "statically linked", "libcpprof.a")
	sanitized = compile_once(["gcc", "-pg", "-fsanitize=address"], [source], "leaves_asan")
	assert_refused(count(tmp_path, "--instrumented", sanitized), 1, "AddressSanitizer", "without -fsanitize")
	assert_refused(count(tmp_path, "--instrumented", "no-such-command"), 127, "cannot run 'no-such-command': command not found")
	assert os.listdir(tmp_path) == []


def test_help_shows_it():
	result = run_cpprof("record", "--help")
	assert "--instrumented[=MEASUREMENT]" in result.stdout and "--gmon" in result.stdout


# --- gmon.out ---

def test_gmon_beside_the_output(with_pg, tmp_path):
	(tmp_path / "out").mkdir()
	result = count(tmp_path, "--instrumented", "--gmon", "-o", "out/p.data", with_pg)
	assert result.returncode == 0, result.stderr
	assert "and out/gmon.out" in result.stderr
	assert sorted(os.listdir(tmp_path / "out")) == ["gmon.out", "p.data"]
	flat = subprocess.run(["gprof", "-b", "-p", with_pg, tmp_path / "out/gmon.out"], capture_output=True, text=True, check=True).stdout
	assert re.search(r"\s1000\s.*leaf$", flat, re.MULTILINE)


# --- unconverted tallies ---

def wait_for(condition):
	end = time.monotonic() + SECONDS_ALLOWED
	while not condition():
		assert time.monotonic() < end
		time.sleep(0.01)


def test_killed_recorder(program, tmp_path):
	"""All commands read the tally that a killed recorder leaves. The next recorder makes it the output, as the killed one would have
	done; it then keeps it as the older output."""
	with subprocess.Popen([CPPROF, "record", "--instrumented", program, "waits"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as recorder:
		assert recorder.stdout.readline() == "waits\n"
		tally = tmp_path / "cpprof.data.tally"
		pid = info_of(tally)["processes"][0]["pid"]
		assert calls_of(tally) == CALLS # while the program writes it
		recorder.kill()
		recorder.wait()
		os.kill(pid, signal.SIGKILL)
	assert os.listdir(tmp_path) == ["cpprof.data.tally"]
	assert calls_of(tally) == CALLS
	assert count(tmp_path, "--instrumented", program).returncode == 0
	assert sorted(os.listdir(tmp_path)) == ["cpprof.data", "cpprof.data.old"]
	tally = tmp_path / "cpprof.data.old"
	assert calls_of(tally) == CALLS
	assert "main" in run_cpprof("report", "--source", "leaf", tally).stdout + run_cpprof("report", "--tree", "-r", "calls", tally).stdout
	assert run_cpprof("diff", "-r", "calls", tally, tmp_path / "cpprof.data").returncode == 0


def test_recorder_hands_signals_on(program, tmp_path):
	with subprocess.Popen([CPPROF, "record", "--instrumented", program, "waits"], cwd=tmp_path, stdout=subprocess.PIPE,
			stderr=subprocess.PIPE, text=True) as recorder:
		assert recorder.stdout.readline() == "waits\n"
		recorder.terminate()
		_, err = recorder.communicate(timeout=SECONDS_ALLOWED)
	assert recorder.returncode == 128 + signal.SIGTERM, err
	assert calls_of(tmp_path / "cpprof.data") == CALLS


def test_program_left_behind(program, tmp_path):
	"""cpprof reports a process that continues after the command has ended. The profile has what it had counted until then."""
	fifo = tmp_path / "fifo"
	os.mkfifo(fifo)
	with subprocess.Popen([CPPROF, "record", "--instrumented", "sh", "-c", f"{program} waits >{fifo} 2>&1 & exec head -1 {fifo}"],
			cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
		_, err = recorder.communicate(timeout=SECONDS_ALLOWED)
	still = re.search(r"(\d+) process(es)? still runs?", err)
	for process in info_of(tmp_path / "cpprof.data")["processes"]:
		if process["name"] == program.name:
			os.kill(process["pid"], signal.SIGKILL)
	assert still, err
	assert calls_of(tmp_path / "cpprof.data") == CALLS


SORT_SOURCE = """
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	static int numbers[100000];
	for (int i = 0; i < 100000; i++)
		numbers[i] = rand();
	qsort(numbers, 100000, sizeof(*numbers), compare);
	return 0;
}
"""


def test_time_of_the_hooks_is_theirs(tmp_path):
	"""The hooks' own time is charged to [hooks], also when they query the dynamic linker, as for the caller of a comparator."""
	(tmp_path / "sort.c").write_text(SORT_SOURCE)
	program = compile_once(["gcc", "-O1", "-pg"], [tmp_path / "sort.c"], "sort")
	assert count(tmp_path, "--instrumented", program).returncode == 0
	text = run_cpprof("report", "--body", "-r", "cpu", "--threshold", "0", "--limit", "0", tmp_path / "cpprof.data").stdout
	assert "[hooks]" in text and "_dl_find_object" not in text, text


PLUGINS_SOURCE = """
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) {
		void *plugin = dlopen(argv[2 + i % (argc - 2)], RTLD_NOW);
		void (*work)(void) = (void (*)(void))dlsym(plugin, "work");
		work();
		dlclose(plugin);
	}
	return 0;
}
"""


@pytest.mark.parametrize("rounds, is_mixed", [(1000, False), (1400, True)])
def test_libraries_that_come_and_go(tmp_path, rounds, is_mixed):
	"""Each of many libraries that are loaded and unloaded keeps its counts. cpprof reports if there are too many to keep them
	apart."""
	(tmp_path / "program.c").write_text(PLUGINS_SOURCE)
	(tmp_path / "plugin.c").write_text("void NAME(void) {}\nvoid work(void) { NAME(); }\n")
	program = compile_once(["gcc"], [tmp_path / "program.c"], "plugins")
	plugins = [compile_once(["gcc", "-shared", "-fPIC", "-finstrument-functions", f"-DNAME={name}"], [tmp_path / "plugin.c"], f"{name}.so")
		for name in "ab"]
	result = count(tmp_path, "--instrumented", program, str(rounds), *plugins)
	counts = calls_of(tmp_path / "cpprof.data")
	assert counts["work"] == rounds and sum(counts.values()) == 2 * rounds, counts
	assert ("where others had been unloaded" in result.stderr) == is_mixed, result.stderr
	if not is_mixed:
		assert counts == {"work": rounds, "a": rounds // 2, "b": rounds // 2}


LATE_SOURCE = """
#include <unistd.h>
__attribute__((constructor)) static void wait_a_moment(void)
{
	usleep(200000);
}
"""


def test_program_that_begins_late(program, tmp_path):
	"""cpprof waits for a process that the command left running, also if the process has not started to count when the command
	ends (a daemon's fork)."""
	(tmp_path / "late.c").write_text(LATE_SOURCE)
	late = compile_once(["gcc", "-shared", "-fPIC"], [tmp_path / "late.c"], "late.so")
	result = count(tmp_path, "--instrumented", "sh", "-c", f"LD_PRELOAD=$LD_PRELOAD:{late} {program} & exit 0")
	assert result.returncode == 0, result.stderr
	assert calls_of(tmp_path / "cpprof.data") == CALLS


@pytest.mark.parametrize("measurement, said", [("paths", f"{sum(CALLS.values())} calls"), ("trace", "was removed meanwhile")])
def test_tally_that_is_removed(program, tmp_path, measurement, said):
	"""The program deletes the files of its folder. cpprof reads the counts nevertheless, but a trace is that file, and so is
	lost."""
	result = count(tmp_path, f"--instrumented={measurement}", "sh", "-c", f"{program}; rm *")
	assert said in result.stderr and "which 'cpprof report' reads" not in result.stderr, result.stderr


def test_standalone_file(alone, tmp_path):
	result = subprocess.run([alone, "6"], cwd=tmp_path, check=False)
	assert result.returncode == 6
	path = tmp_path / "cpprof.data"
	assert path.read_bytes()[1:4] == b"CPT"
	assert calls_of(path) == CALLS
	info = run_cpprof("info", path)
	assert "measurement:  paths" in info.stdout and alone.name in info.stdout
	assert "CPU Time" in run_cpprof("report", "--functions", path).stdout
	# `cpprof report` finds the file by its default name.
	assert run_cpprof("report", cwd=tmp_path).returncode == 0


def test_damaged_tallies(program, tmp_path):
	count(tmp_path, "--instrumented=trace", program)
	whole = (tmp_path / "cpprof.data").read_bytes()
	damaged = tmp_path / "damaged.data"
	for data, text in [
		(whole[:100], "ends within"), (whole[:65636], "ends within"), (whole[:8] + b"\x63" + whole[9:], "newer"),
		(whole[:12] + b"\x63" + whole[13:], "damaged"), (whole[:65544] + b"\x01" + whole[65545:], "damaged"),
	]:
		damaged.write_bytes(data)
		for words in ["info"], ["report"], ["export", "--format", "folded"]:
			result = run_cpprof(*words, damaged)
			assert result.returncode == 1 and text in result.stderr, (text, result.stderr)


def test_units_of_the_programs_own_resources(tmp_path):
	"""The profile has the unit that the program declares, also one that is the name of a unit of time."""
	source = tmp_path / "declares.c"
	source.write_text("""#include <cpprof/runtime.h>
int main(void)
{
	cpprof_counter *orders = cpprof_resource("orders", "order"), *jobs = cpprof_resource("jobs", "ms");
	for (int i = 0; i < 1000; i++) {
		cpprof_tick(orders, 1);
		cpprof_tick(jobs, 2);
	}
	cpprof_resource("orders", "other");
	return 0;
}
""")
	program = compile_once(["gcc", "-pg", f"-I{PROGRAMS.parents[1] / 'include'}", f"-Wl,-rpath,{RUNTIME}"], [source], "declares", [RUNTIME / "libcpprof.so"])
	result = run_cpprof("record", "--instrumented", "-r", "own:orders/1", "-r", "own:jobs/1", "-o", tmp_path / "own.data", "--", program)
	assert result.returncode == 0, result.stderr
	resources = json.loads(run_cpprof("info", "--format", "json", tmp_path / "own.data").stdout)["resources"]
	units = {row["name"]: (row["unit"], row["total"]) for row in resources if row["name"].startswith("own:")}
	assert units == {"own:orders": ("order", 1000), "own:jobs": ("ms", 2000)}


UNNAMED = """static volatile int x;
static __attribute__((noinline)) void hidden(int n) { while (n-- > 0) x++; }
void open_to_all(int n) { hidden(n); x++; }
"""
CALLS_IT = """void open_to_all(int);
static volatile int y;
__attribute__((noinline)) void caller(int n) { y++; open_to_all(n); y++; }
int main(void) { for (int i = 0; i < 50; i++) caller(3000000); return 0; }
"""


@pytest.mark.measured("the program works for a time, not for an amount")
@pytest.mark.parametrize("hook", ["-pg", "-finstrument-functions", "objects"])
def test_unnamed_code_of_a_library_is_below_its_caller(hook, tmp_path):
	"""The library is stripped. Its time is not the body's time of the function that called it, and not its own caller's."""
	(tmp_path / "unnamed.c").write_text(UNNAMED)
	(tmp_path / "calls.c").write_text(CALLS_IT)
	subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-s", "unnamed.c", "-o", "libunnamed.so"], cwd=tmp_path, check=True)
	compiler = [CPPROF, "cc", "--", "gcc"] if hook == "objects" else ["gcc", hook]
	subprocess.run([*compiler, "-O1", "-g", "calls.c", "-o", "calls", "-L.", "-l:libunnamed.so", f"-Wl,-rpath,{tmp_path}"], cwd=tmp_path, check=True)
	result = run_cpprof("record", "--instrumented", "-o", tmp_path / "out.data", "--", tmp_path / "calls")
	assert result.returncode == 0, result.stderr
	result = run_cpprof("report", "--down", "main", "-r", "cpu", "--format", "json", "-t", 0, "-n", 0, tmp_path / "out.data")
	hits = {" ".join(entry["path"]): entry["hits"] for entry in json.loads(result.stdout)["results"][0]["entries"]}
	unnamed = sum(count for path, count in hits.items() if re.fullmatch(r"main caller libunnamed\.so\+0x\w+", path))
	assert unnamed > 0.8 * hits["main"] > 3 and not [path for path in hits if path.startswith("main libunnamed")], hits


LABELLED = """
#include <cpprof/runtime.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static cpprof_counter *orders;

void take(int count)
{
	for (int i = 0; i < count; i++)
		cpprof_tick(orders, 1);
}

void *serve(void *unused)
{
	cpprof_label("tenant", "red");
	cpprof_label("kind", "search");
	take(200);
	return unused;
}

int main(void)
{
	pthread_t thread;
	orders = cpprof_resource("orders", "order");
	cpprof_label("tenant", "blue");
	take(300);
	pthread_create(&thread, 0, serve, 0);
	pthread_join(thread, 0);
	pid_t child = fork();
	if (child == 0) {
		take(40);
		cpprof_label("tenant", "green");
		take(50);
		_exit(0);
	}
	waitpid(child, 0, 0);
	take(5);
	cpprof_label("tenant", 0);
	take(60);
	return 0;
}
"""


def test_labels(tmp_path):
	"""Samples have the labels of their threads; a forked process keeps those that it was forked with."""
	(tmp_path / "labelled.c").write_text(LABELLED)
	program = compile_once(["gcc", "-O1", "-g", "-finstrument-functions", f"-I{PROGRAMS.parents[1] / 'include'}", f"-Wl,-rpath,{RUNTIME}"],
		[tmp_path / "labelled.c"], "labelled", [RUNTIME / "libcpprof.so"])
	result = run_cpprof("record", "--instrumented", "-r", "own:orders/1", "-o", tmp_path / "l.data", "--", program)
	assert result.returncode == 0, result.stderr
	text = run_cpprof("report", "--by-label", "-r", "own:orders", "--format", "json", tmp_path / "l.data").stdout
	shares = {tuple(sorted(entry["labels"].items())): entry["hits"] for entry in json.loads(text)["results"][0]["entries"]}
	assert shares == {(("tenant", "blue"),): 345, (("kind", "search"), ("tenant", "red")): 200, (("tenant", "green"),): 50, (): 60}
