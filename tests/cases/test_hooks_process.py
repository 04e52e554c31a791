"""The counts of hooks when a process ends, forks, executes another program, loads and unloads code, or lacks memory or disk
space."""
import os
import re
import resource
import signal
import subprocess
import time

import pytest
from hooks_support import HOOKS, Counted, Program, by_base_name, counted_calls
from record_support import BUILD, SECONDS_ALLOWED, run_cpprof

RUNTIME = BUILD / "src/collect/agent"


def life(hook="mcount"):
	return Program("lives", hook, level="-O1").path


def calls_of(*words, folder, hook="mcount", **options):
	counted = Counted([life(hook), *map(str, words)], folder, **{"measurement": "paths", **options})
	return counted, by_base_name(counted.calls())


def alone(hook="mcount"):
	"""A program that is linked with the library and so counts without a recorder."""
	program = Program("lives", hook, level="-O1", libraries=[RUNTIME / "libcpprof.so"])
	return program.path, {**os.environ, "LD_LIBRARY_PATH": str(RUNTIME)}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("measurement", ["arcs", "paths", "trace"])
def test_unreported_forks(hook, measurement, tmp_path):
	"""Forks that bypass the handlers of pthread_atfork: calls are lost or doubled if a child counts in its parent's tables."""
	counted, calls = calls_of("forks", 100, folder=tmp_path, hook=hook, measurement=measurement)
	assert counted.status == 0, counted.err
	assert (calls["step"], calls["in_child"]) == (100, 20)


@pytest.mark.parametrize("way, status, total", [("_exit", 7, 50), ("quick_exit", 7, 50), ("exec", 7, 100)])
@pytest.mark.parametrize("measurement", ["paths", "trace"])
def test_ends_without_destructors(way, status, total, measurement, tmp_path):
	counted, calls = calls_of(way, 50, folder=tmp_path, measurement=measurement)
	assert counted.status == status, counted.err
	assert calls["step"] == total and "at_end" not in calls


STARTS_ITSELF = """extern char __executable_start, etext;
void monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);
static volatile int n;
void step(void) { n++; }
static void steps(int count) { while (count-- > 0) step(); }
int main(int argc, char **argv)
{
	steps(5);
	monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
	steps(argc > 1 ? 70 : 7);
	_mcleanup();
	steps(11);
	monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
	steps(100);
	return argv[0] == 0;
}
"""


@pytest.mark.parametrize("hook", ["mcount", "fentry"])
def test_program_that_starts_its_profile_itself(hook, tmp_path):
	"""Linked without -pg, a program is counted from its call of monstartup on; linked with it, from its start."""
	source = tmp_path / "starts.c"
	source.write_text(STARTS_ITSELF)
	flags = HOOKS[hook]
	subprocess.run(["gcc", "-O0", "-g", *flags, "-c", source, "-o", tmp_path / "starts.o"], check=True)
	for name, link, expected in [("without", [], 107), ("with", flags, 112)]:
		subprocess.run(["gcc", *link, tmp_path / "starts.o", "-o", tmp_path / name], check=True)
		counted = Counted([tmp_path / name], tmp_path, measurement="paths", name=f"{name}.data")
		assert counted.status == 0 and by_base_name(counted.calls())["step"] == expected, counted.err
	linked = [f"-Wl,-rpath,{RUNTIME}", f"-L{RUNTIME}", "-Wl,--no-as-needed", "-lcpprof"]
	subprocess.run(["gcc", tmp_path / "starts.o", "-o", tmp_path / "alone", *linked], check=True)
	subprocess.run([tmp_path / "alone", "more"], cwd=tmp_path, check=True)
	assert by_base_name(counted_calls(tmp_path / "cpprof.data"))["step"] == 170


def test_moncontrol(tmp_path):
	"""Nothing is counted between moncontrol(0) and moncontrol(1), or between _mcleanup and monstartup. The C library's own call
	of _mcleanup at exit comes before the destructors, which are counted."""
	counted, calls = calls_of("control", 10, folder=tmp_path)
	assert counted.status == 0, counted.err
	assert (calls["step"], calls["at_end"]) == (30, 1)


def test_code_that_comes_and_goes(tmp_path):
	"""A plugin is loaded and unloaded six hundred times, more often than there is room for addresses. All its calls have their
	function's name."""
	plugin = Program("plugins", "mcount").words[0]
	counted, calls = calls_of("load", 600, plugin, folder=tmp_path)
	assert counted.status == 0, counted.err
	assert calls["plugin_work"] == 600


def test_no_disk_space(tmp_path):
	"""The file size is limited: the program continues, the counts are right, and the closing line reports the threads that were
	not counted."""
	counted = Counted(["bash", "-c", f"ulimit -f 1000; exec {life()} threads 1000"], tmp_path, measurement="paths")
	assert counted.status == 0, counted.err
	calls = by_base_name(counted.calls())["step"]
	assert 0 < calls < 8000 and calls % 1000 == 0
	assert "thread" in counted.err


def test_what_was_lost_is_reported_first(tmp_path):
	"""A trace by -pg's hooks causes more findings than fit on a line. The line begins with the threads that were not counted."""
	counted = Counted(["bash", "-c", f"ulimit -f 1000; exec {life()} threads 1000"], tmp_path, measurement="trace")
	assert counted.status == 0, counted.err
	assert "counted only until" in counted.err or "not counted:" in counted.err
	assert re.search(r"by hooks \(trace\); [^;]*(counted only until|not counted:)", counted.err), counted.err


def test_little_memory(tmp_path):
	"""The address space is limited to little more than the program needs. The hooks' memory fits, and all calls are counted."""
	counted = Counted(["bash", "-c", f"ulimit -s 512 -v 60000; exec {life()} threads 1000"], tmp_path, measurement="paths")
	assert counted.status == 0, counted.err
	assert by_base_name(counted.calls())["step"] == 8000


def wait_for_calls(path, count):
	deadline = time.monotonic() + SECONDS_ALLOWED
	while not path.exists() or by_base_name(counted_calls(path)).get("step", 0) < count:
		assert time.monotonic() < deadline
		time.sleep(0.01)


def test_waits_are_left_alone(tmp_path):
	"""The library cannot keep ticks out of the waits of a program that is linked with it, so it must not send any there."""
	path, environment = alone()
	with subprocess.Popen([path, "wait", "1000000"], cwd=tmp_path, env=environment) as program:
		wait_for_calls(tmp_path / "cpprof.data", 1000000)
		time.sleep(0.05)
		assert program.poll() is None
		program.kill()


def test_runs_alone_and_is_killed(tmp_path):
	path, environment = alone()
	with subprocess.Popen([path, "wait", "300"], cwd=tmp_path, env=environment) as program:
		wait_for_calls(tmp_path / "cpprof.data", 300)
		# Another process of the program does not use the file meanwhile.
		other = subprocess.Popen([path, "_exit", "20"], cwd=tmp_path, env=environment)
		assert other.wait(SECONDS_ALLOWED) == 7
		assert by_base_name(counted_calls(tmp_path / f"cpprof.data.{other.pid}"))["step"] == 20
		program.send_signal(signal.SIGKILL)
	assert by_base_name(counted_calls(tmp_path / "cpprof.data"))["step"] == 300
	# Now no process uses the file.
	assert subprocess.run([path, "quick_exit", "10"], cwd=tmp_path, env=environment, check=False).returncode == 7
	assert by_base_name(counted_calls(tmp_path / "cpprof.data"))["step"] == 10
	assert by_base_name(counted_calls(tmp_path / "cpprof.data.old"))["step"] == 300


def test_where_nothing_can_be_written(tmp_path):
	path, environment = alone()
	environment["CPPROF_OUTPUT"] = str(tmp_path / "no/such/folder")
	result = subprocess.run([path, "_exit", "10"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
	assert (result.returncode, result.stdout, os.listdir(tmp_path)) == (7, "", [])
	assert result.stderr == f"cpprof: cannot create '{tmp_path}/no/such/folder': No such file or directory; nothing is counted (CPPROF_OUTPUT can name another file)\n"


@pytest.mark.parametrize("output, reason", [
	("x" * 300, "File name too long"),
	("x/" * 2100, "File name too long"),
	("full", "File too large"),
	("file/below", "Not a directory"),
	("folder", "Is a directory"),
	("pipe", "Operation not supported"),
	("/dev/null", None),
], ids=["name", "path", "limit", "below a file", "folder", "pipe", "device"])
def test_reason_why_nothing_is_counted(output, reason, tmp_path):
	"""The reason is on standard error, unless the name is the name of a device, as /dev/null. The program runs as without cpprof."""
	path, environment = alone()
	(tmp_path / "file").write_text("")
	(tmp_path / "folder").mkdir()
	os.mkfifo(tmp_path / "pipe")
	limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))) if output == "full" else None
	result = subprocess.run([path, "_exit", "10"], cwd=tmp_path, env={**environment, "CPPROF_OUTPUT": output}, capture_output=True, text=True,
		check=False, preexec_fn=limit)
	assert (result.returncode, result.stdout, sorted(os.listdir(tmp_path))) == (7, "", ["file", "folder", "pipe"])
	said = f"cpprof: cannot create '{output[:4096]}': {reason}; nothing is counted (CPPROF_OUTPUT can name another file)\n"
	assert result.stderr == (said if reason else "")


@pytest.mark.parametrize("hook", ["mcount", "fentry", "cyg"])
def test_the_library_calls_no_allocator_of_the_program(hook, tmp_path):
	"""The program counts the calls of its own malloc. They are the same with and without cpprof, and those in the profile."""
	path = Program("allocator", hook, level="-O1").path
	bare = subprocess.run([path], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
	counted = Counted([path], tmp_path, measurement="paths")
	sampled = run_cpprof("record", "--backend", "preload", "-r", "cpu", "-r", "alloc-bytes", "-o", tmp_path / "sampled.data", "--", path)
	assert counted.status == 0 and sampled.returncode == 0, (counted.err, sampled.stderr)
	calls = by_base_name(counted.calls())
	for output in (counted.out, sampled.stdout):
		# The C library allocates its own profile of a program with -pg, in its mcount.
		assert [line for line in output.splitlines() if "calloc" not in line and "take" not in line] == [
			line for line in bare.splitlines() if "calloc" not in line and "take" not in line]
	assert [calls[name] for name in ("malloc", "free", "take")] == [101, 100, 201]


def test_run_by_the_dynamic_linker(tmp_path):
	"""`ld.so ./program`: /proc/self/exe is ld.so, but the functions have the names of the program."""
	interpreter = re.search(r"interpreter: (\S+)\]", subprocess.run(["readelf", "-lW", life()], capture_output=True, text=True, check=True).stdout)[1]
	counted = Counted([interpreter, os.path.relpath(life(), tmp_path), "forks", "100"], tmp_path, measurement="paths")
	assert counted.status == 0, counted.err
	calls = by_base_name(counted.calls())
	assert (calls["step"], calls["in_child"]) == (100, 20), calls
