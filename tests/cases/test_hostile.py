"""
Programs that do unusual things do them as without cpprof: the same output, the same status, whatever the collector. One recording
runs all programs, one after the other; those in ALONE are recorded each by itself, once.
"""
import shlex
import subprocess

import pytest
from hostile_support import HOSTILE, UNUSUAL, again
from record_support import PROGRAMS, build, needs_bpf, needs_perf, record

pytestmark = pytest.mark.long("records many hostile programs for a while")

ALONE = ["thousands-of-threads"]
COMMANDS = {name: lambda name=name: again(name, 2) for name in HOSTILE} | {
	name: lambda source=source, name=name: [build("hostile/again.c"), "2", "0", build(f"hostile/{source}"), name]
	for source, names in UNUSUAL.items() for name in names if name not in ALONE}
BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"]
# Not alloc-bytes with bpf: its breakpoints in the C library would end programs of other tests that run under valgrind.
RESOURCES = {"bpf": ["-r", "cpu", "-r", "page-faults", "-r", "blocked", "-r", "syscalls"], "perf": ["-r", "cpu", "-r", "page-faults"],
	"preload": ["-r", "cpu", "-r", "real", "-r", "alloc-bytes", "-r", "io-time", "-r", "lock-wait"]}


def test_there_are_enough_kinds():
	assert len(COMMANDS) >= 60 and len(COMMANDS) + len(ALONE) == len(HOSTILE) + sum(map(len, UNUSUAL.values()))


def test_each_program_is_run():
	"""Each program in the folder, and each thing that it lists, is in a table, and so is tested."""
	driven = {source for source, *_ in HOSTILE.values()} | {*UNUSUAL} | {"again.c", "library.c", "storm.c"}
	assert driven == {path.name for path in (PROGRAMS / "hostile").iterdir() if path.suffix != ".h"}
	for source, names in UNUSUAL.items():
		usage = subprocess.run([build(f"hostile/{source}")], capture_output=True, text=True, check=False)
		assert usage.stderr.splitlines()[1:] == names


@pytest.fixture(scope="module")
def script(tmp_path_factory):
	"""A shell script that runs all programs and prints for each its name, its output in order, and its status."""
	lines = []
	for name, command in COMMANDS.items():
		lines.append(f"out=$({shlex.join(command())} 2>&3); echo {shlex.quote(name)} status $?; echo \"$out\" | sort")
	path = tmp_path_factory.mktemp("hostile") / "all.sh"
	path.write_text("exec 3>/dev/null\n" + "\n".join(lines) + "\n")
	return path


@pytest.fixture(scope="module")
def bare(script):
	result = subprocess.run(["bash", script], capture_output=True, text=True, timeout=600, check=True)
	assert result.stdout.count(" status 0\n") == result.stdout.count("2 of 2 well\n") == len(COMMANDS), result.stdout
	return result.stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_as_without_us(tmp_path, script, bare, backend):
	recorded = record(tmp_path, ["bash", str(script)], "--backend", backend, *RESOURCES[backend])
	assert recorded.out.splitlines() == bare.splitlines(), recorded.err[-2000:]
	assert recorded.status == 0, recorded.err


@pytest.mark.parametrize("backend", BACKENDS)
def test_2500_threads(tmp_path, backend):
	"""More threads than the preload backend has timers for. It says how many it did not record."""
	recorded = record(tmp_path, [build("hostile/unusual_memory.c"), "thousands-of-threads"], "--backend", backend, *RESOURCES[backend])
	assert (recorded.status, recorded.out) == (0, "it is done\n"), recorded.err
	assert ("threads were not recorded: limit 2048" in recorded.err) == (backend == "preload"), recorded.err


def test_threads_without_timers(tmp_path):
	"""The kernel gives a user 100 timers. The finding names the cause; the program goes on."""
	program = [build("hostile/unusual_memory.c"), "many-threads"]
	recorded = record(tmp_path, ["prlimit", "--sigpending=100", *program], "--backend", "preload", "-r", "cpu")
	assert (recorded.status, recorded.out) == (0, "it is done\n"), recorded.err
	found = [finding for finding in recorded.info()["findings"] if finding["code"] == "threads-not-recorded"]
	assert len(found) == 1 and found[0]["count"] >= 401, recorded.info()["findings"]
	assert "the kernel gave no timer (ulimit -i)" in found[0]["text"], found
