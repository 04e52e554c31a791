"""
Where the kernel permits neither perf events nor eBPF, as in a container, cpprof chooses preload automatically. It refuses what
preload cannot do before the target runs. However target or recorder end, the profile has all samples and the target is not
affected.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import user_support
from measuring import between, near
from record_support import CPPROF, Recorded, await_program, build, check_truths, hits, record, run_cpprof, show
from user_support import is_root, only_root, open_folder, paranoid

MEASURED = pytest.mark.measured("CPU time is compared with the clock of the program")

FINE_NS = 500_000
PRELOAD = ["--backend", "preload"]


@pytest.fixture
def reached():
	with open_folder(build("forms.c"), build("deny_perf.c"), shutil.which("touch")) as folder:
		yield folder


def unprivileged(folder, *words, denied=True, **options):
	"""`denied`: perf_event_open is refused, as by the filters of containers and by kernels that support a perf_event_paranoid above 2."""
	return user_support.unprivileged(folder, *words, launcher=[folder / "bin/deny_perf"] if denied else [], **options)


def refused(result, *words):
	"""Checks for one message with the reason and the remedy, status 1, and no trace of the target: it would print something, or
	leave a file."""
	assert result.returncode == 1, result.stderr
	assert result.stderr.startswith("cpprof"), result.stderr
	assert result.stdout == ""
	for word in words:
		assert word in result.stderr, result.stderr
	assert " lost, " not in result.stderr


def is_good(recorded):
	assert recorded.status == 0, recorded.err
	_, lost, complete = recorded.closing()
	assert lost == 0 and complete >= 99, recorded.err
	check_truths(recorded)


@MEASURED
@pytest.mark.parametrize("level", [3, 4])
def test_preload_is_taken_by_itself(reached, level):
	"""One line reports that preload was chosen, and why. The profile is complete, including kernel time."""
	with paranoid(level):
		result = unprivileged(reached, "record", "--", reached / "bin/forms", "60")
	assert re.findall(r"^cpprof: .*\bpreload\b.*$", result.stderr, re.MULTILINE), result.stderr
	recorded = Recorded(result, reached / "own/cpprof.data")
	is_good(recorded)
	assert [(resource["name"], resource["backend"]) for resource in recorded.info()["resources"]] == [("cpu", "preload")]


@pytest.mark.parametrize("resource", ["cpu", "user", "sys", "real", "alloc-bytes", "allocs", "read-bytes", "write-bytes", "io-time",
	"lock-wait"])
def test_what_is_asked_for_is_had(reached, resource):
	"""Each resource is recorded by name, without the choice of a backend."""
	result = unprivileged(reached, "record", "-r", resource, "--", reached / "bin/forms", "2")
	assert result.returncode == 0, result.stderr
	reported = Recorded(result, reached / "own/cpprof.data").resource(resource)
	assert reported["backend"] == "preload", reported


def test_nothing_is_said_where_perf_serves(reached):
	"""preload is the last choice: where perf events are permitted, cpprof uses them and prints nothing about it."""
	result = unprivileged(reached, "record", "-r", "user", "--", reached / "bin/forms", "5", denied=False)
	if "perf_event_paranoid" in result.stderr or "preload" in result.stderr:
		pytest.skip(f"perf events are refused to unprivileged users here: {result.stderr.strip()}")
	assert result.returncode == 0, result.stderr
	assert Recorded(result, reached / "own/cpprof.data").resource("user")["backend"] == "perf"


@only_root
@pytest.mark.parametrize("hidden", ["libcpprof-preload.so", "."])
def test_library_that_the_user_cannot_open(reached, hidden):
	"""A library that is there but cannot be opened is not called missing: the message names it, and the target does not run."""
	(reached / "lib").mkdir()
	(reached / "bin/libcpprof-preload.so").rename(reached / "lib/libcpprof-preload.so")
	(reached / "bin/libcpprof-preload.so").symlink_to("../lib/libcpprof-preload.so")
	(reached / "lib" / hidden).chmod(0o600)
	result = unprivileged(reached, "record", *PRELOAD, "--", reached / "bin/touch", "ran")
	refused(result, f"cannot open {reached}/bin/./libcpprof-preload.so, which the preload backend needs: Permission denied (")
	assert os.listdir(reached / "own") == []


@pytest.mark.parametrize("backend, words", [("perf", ["perf_event_paranoid"]), ("bpf", ["cap_bpf", "root"])])
def test_forced_backends_are_refused(reached, backend, words):
	"""A backend that the user names is refused, not replaced."""
	result = unprivileged(reached, "record", "--backend", backend, "--", reached / "bin/touch", "ran")
	refused(result, backend, *words)
	assert os.listdir(reached / "own") == []


@pytest.mark.parametrize("resource, word", [("page-faults", "perf"), ("syscalls", "bpf"), ("calls:main", "bpf")])
def test_resources_of_others_are_refused(reached, resource, word):
	result = unprivileged(reached, "record", *PRELOAD, "-r", resource, "--", reached / "bin/touch", "ran")
	refused(result, resource.partition(":")[0], word)
	assert os.listdir(reached / "own") == []


@pytest.mark.parametrize("words", [["-p", str(os.getpid()), "--duration", "1"], ["-a", "--duration", "1"]], ids=["-p", "-a"])
def test_only_what_it_starts(tmp_path, words):
	"""preload has to be loaded at the program's start. For a running process, or all processes, the message names the other
	backends."""
	result = run_cpprof("record", *PRELOAD, *words, cwd=tmp_path)
	refused(result, "preload", "bpf")
	assert os.listdir(tmp_path) == []


# --- programs into which the library cannot be loaded ---

def with_interpreter(program, path, interpreter):
	"""Returns a copy of a program that requests another dynamic linker."""
	known = b"/lib64/ld-linux-x86-64.so.2\0"
	content = Path(program).read_bytes()
	assert content.count(known) == 1
	path.write_bytes(content.replace(known, interpreter.encode().ljust(len(known), b"\0")))
	path.chmod(0o755)
	return path


def make_static(folder, _):
	return shutil.copy(build("counted_ending.c", linkage="static"), folder / "static")


def make_static_pie(folder, _):
	return shutil.copy(build("counted_ending.c", linkage="static-pie"), folder / "static-pie")


def make_musl(folder, program):
	return with_interpreter(program, folder / "of-musl", "/lib/ld-musl-x86_64.so.1")


def of_root(program, path, mode):
	if not is_root:
		pytest.skip("only root can make a program of root's")
	if os.statvfs(path.parent).f_flag & os.ST_NOSUID:
		pytest.skip(f"{path.parent} is mounted nosuid")
	shutil.copy(program, path)
	path.chmod(mode)
	return path


def make_set_user(folder, program):
	return of_root(program, folder / "set-user", 0o4755)


def make_set_group(folder, program):
	return of_root(program, folder / "set-group", 0o2755)


def make_capable(folder, program):
	path = of_root(program, folder / "capable", 0o755)
	setcap = shutil.which("setcap", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
	if not setcap:
		pytest.skip("setcap is not installed")
	if subprocess.run([setcap, "cap_net_raw+ep", path], capture_output=True, check=False).returncode:
		pytest.skip(f"no capabilities can be given to files in {folder}")
	return path


def make_32_bit(folder, _):
	"""Returns a file with only an ELF header: it must be refused before it runs."""
	path = folder / "of-32-bits"
	path.write_bytes(b"\x7fELF\x01\x01\x01" + b"\0" * 9 + b"\x02\0\x03\0\x01\0\0\0" + b"\0" * 200)
	path.chmod(0o755)
	return path


@pytest.mark.parametrize("make, words", [
	(make_static, ["static"]),
	(make_static_pie, ["static"]),
	(make_musl, ["ld-musl"]),
], ids=lambda value: value.__name__.removeprefix("make_") if callable(value) else "")
@pytest.mark.parametrize("options", [PRELOAD, []], ids=["forced", "by itself"])
def test_programs_that_are_refused(reached, make, words, options):
	"""The message gives the reason, and the backend that could measure the program."""
	program = make(reached / "bin", reached / "bin/touch")
	result = unprivileged(reached, "record", *options, "--", program, "ran")
	refused(result, Path(program).name, *words, "bpf")
	assert os.listdir(reached / "own") == []


@pytest.mark.parametrize("make, words", [(make_set_user, ["set-user-ID", "bpf"]), (make_set_group, ["set-group-ID", "bpf"]),
	(make_capable, ["capabilit", "bpf"]), (make_32_bit, ["32"])],
	ids=lambda value: value.__name__.removeprefix("make_") if callable(value) else "")
def test_privileged_programs_are_refused(reached, make, words):
	"""Runs without the filter: behind a filter the kernel grants programs no privileges (the filter requires that), so they can
	be preloaded."""
	program = make(reached / "bin", reached / "bin/touch")
	result = unprivileged(reached, "record", *PRELOAD, "--", program, "ran", denied=False)
	refused(result, Path(program).name, *words)
	assert os.listdir(reached / "own") == []


def test_static_program_is_measured_by_others(tmp_path):
	"""The backend that the message names records the program, where it is permitted."""
	result = run_cpprof("record", "--", build("counted_ending.c", linkage="static"), "0", cwd=tmp_path)
	if result.returncode == 1:
		pytest.skip(f"the kernel permits neither perf events nor eBPF here: {result.stderr.strip()}")
	assert result.returncode == 0 and "used" in result.stdout, result.stderr


# --- ends ---

def test_recorder_killed(tmp_path):
	"""After the recorder is killed the target runs to its normal end, and the profile is readable."""
	with open(tmp_path / "said", "w+", encoding="utf-8") as said:
		command = [CPPROF, "record", *PRELOAD, "-r", "cpu/200us", "-r", "alloc-bytes", "-o", str(tmp_path / "out.data"), "--", "/bin/sh",
			"-c", '"$0" 300; echo ended with $?', build("forms.c")]
		recorder = subprocess.Popen(command, stdout=said, stderr=subprocess.PIPE, text=True)
		await_program(recorder, "forms")
		recorder.kill()
		recorder.wait()
		end = time.monotonic() + 60
		while "ended with" not in (text := (tmp_path / "said").read_text()):
			assert time.monotonic() < end, f"the target did not end: {text}"
			time.sleep(0.05)
	assert "share main;db_update_record;db_read_record" in text and "ended with 0" in text, text
	info = run_cpprof("info", tmp_path / "out.data")
	assert info.returncode == 0, info.stderr


@MEASURED
@pytest.mark.parametrize("how", [0, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM], ids=str)
def test_nothing_that_was_sampled_is_lost(tmp_path, how):
	"""The target prints its CPU time and ends at once, in each way: the profile has the same CPU time."""
	status = 128 + how if how else 0
	recorded = record(tmp_path, [build("counted_ending.c"), str(int(how))], *PRELOAD, "-r", "cpu/500us")
	assert recorded.status == status, recorded.err
	used_ns = 1000 * int(re.search(r"^used (\d+)$", recorded.out)[1])
	paths = recorded.paths("cpu")
	assert recorded.closing()[1] == 0, recorded.err
	sampled_ns = hits(paths, "work") * FINE_NS
	# Two threads: a tick of each, and their time outside of the work.
	near(sampled_ns, used_ns, 0.02 * used_ns + 4 * FINE_NS, f"{sampled_ns / 1e6} ms, not {used_ns / 1e6}\n{show(paths)}")
	near(hits(paths, "work_and_wait", "work") * FINE_NS, used_ns / 2, 0.05 * used_ns, show(paths))


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
def test_target_killed_from_outside(tmp_path):
	"""Killed at any moment: the profile has at least nine tenths of its CPU time, and the recorder's status reports its end."""
	path = tmp_path / "out.data"
	command = [CPPROF, "record", *PRELOAD, "-r", "cpu/500us", "-o", str(path), "--", build("forms.c"), "100000"]
	recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children")
	end = time.monotonic() + 60
	while not (targets := children.read_text().split()) or cpu_seconds(targets[0]) < 0.5:
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.01)
	os.kill(int(targets[0]), signal.SIGKILL)
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 128 + signal.SIGKILL, err
	recorded = Recorded(subprocess.CompletedProcess(command, 0, "", err), path)
	assert recorded.closing()[1] == 0, err
	between(hits(recorded.paths("cpu")) * FINE_NS, 0.9 * 0.5e9, None, show(recorded.paths("cpu")))


def cpu_seconds(pid):
	fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
	return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
