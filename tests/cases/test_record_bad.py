"""`cpprof record` with impossible requests: a clear message, the right status, no loss of an older profile, no files left behind."""
import contextlib
import json
import os
import random
import re
import signal
import stat
import struct
import subprocess
import time
from pathlib import Path

import pytest
from measuring import between
from record_support import CPPROF, Recorded, build, folded, hits, needs_bpf, needs_perf, record, run_cpprof
from user_support import PARANOID, is_root, open_folder, paranoid, unprivileged


@pytest.fixture
def older(tmp_path):
	"""A profile of an earlier run, which no failure may change."""
	path = tmp_path / "cpprof.data"
	path.write_bytes(b"precious")
	yield path
	assert path.read_bytes() == b"precious"
	assert not path.with_name("cpprof.data.old").exists()


@pytest.fixture
def witness(tmp_path):
	"""A command that leaves a file behind if it ever runs."""
	path = tmp_path / "ran"
	yield ["/bin/sh", "-c", f"echo > '{path}'"]
	assert not path.exists(), "the target ran"


def refused(result, *words, status=(1, 2, 126, 127)):
	"""Checks for one message on standard error that contains these words, and no standard output."""
	assert result.returncode in status, result.stderr
	assert result.stderr.startswith("cpprof"), result.stderr
	assert result.stdout == ""
	for word in words:
		assert word in result.stderr, result.stderr
	assert " lost, " not in result.stderr


def only(folder, *names):
	assert sorted(os.listdir(folder)) == sorted(names)


@needs_perf
@pytest.mark.parametrize("command", ["no-such-command-anywhere", "./no-such-file", "/nonexistent/program", ""])
def test_no_such_command(tmp_path, older, command):
	refused(run_cpprof("record", "--", command, cwd=tmp_path), command, status=(127,))
	only(tmp_path, "cpprof.data")


@needs_perf
def test_not_executable(tmp_path, older):
	(tmp_path / "text").write_text("just text\n")
	refused(run_cpprof("record", "--", "./text", cwd=tmp_path), "text", "executable", status=(126,))
	refused(run_cpprof("record", "--", "/tmp", cwd=tmp_path), "/tmp", status=(126,))
	only(tmp_path, "cpprof.data", "text")


@needs_perf
def test_script(tmp_path):
	"""The script's interpreter runs it, and its children are recorded."""
	script = tmp_path / "script"
	script.write_text(f"#!/bin/sh\n'{build('forms.c')}' 20\nexit 9\n")
	script.chmod(0o755)
	recorded = record(tmp_path, ["./script"])
	assert recorded.status == 9
	assert hits(recorded.paths(), "main", "db_update_record", "db_read_record") > 0


@needs_perf
def test_script_without_interpreter(tmp_path, older):
	script = tmp_path / "script"
	script.write_text("echo > ran\n")
	script.chmod(0o755)
	refused(run_cpprof("record", "--", "./script", cwd=tmp_path), "script", "#!", status=(126,))
	only(tmp_path, "cpprof.data", "script")


@needs_perf
def test_script_of_missing_interpreter(tmp_path, older):
	script = tmp_path / "script"
	script.write_text("#!/nonexistent/interpreter\n")
	script.chmod(0o755)
	refused(run_cpprof("record", "--", "./script", cwd=tmp_path), "script", status=(126,))
	only(tmp_path, "cpprof.data", "script")


@needs_perf
def test_wrong_architecture(tmp_path, older):
	program = bytearray(Path(build("ending.c")).read_bytes())
	struct.pack_into("<H", program, 18, 183) # e_machine: EM_AARCH64
	foreign = tmp_path / "foreign"
	foreign.write_bytes(program)
	foreign.chmod(0o755)
	refused(run_cpprof("record", "--", "./foreign", cwd=tmp_path), "foreign", "architecture", status=(126,))
	only(tmp_path, "cpprof.data", "foreign")


@needs_perf
@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\0" * 100],
	ids=["empty", "magic", "header"])
def test_broken_program(tmp_path, older, content):
	program = tmp_path / "broken"
	program.write_bytes(content)
	program.chmod(0o755)
	refused(run_cpprof("record", "--", "./broken", cwd=tmp_path), "broken", status=(126,))
	only(tmp_path, "cpprof.data", "broken")


@pytest.mark.parametrize("words", [
	[], ["-o"], ["-r"], ["--no-such-option", "true"], ["-F", "fast", "true"], ["-p"], ["-p", "zero"], ["-p", "0"],
	["-p", "-5"], ["-p", "99999999999999999999"], ["-p", "1", "true"], ["--duration", "1", "true"],
	["-p", "1", "--duration", "soon"], ["-p", "1", "--duration", "-1"], ["-p", "1", "--duration", "nan"],
	["-a", "-p", "1"], ["-a", "--duration", "1", "true"], ["-a", "--duration", "0"], ["--duration", "1"], ["--backend"],
	["--backend", "", "true"],
], ids=lambda words: " ".join(words) or "nothing")
def test_wrong_words(tmp_path, older, words):
	refused(run_cpprof("record", *words, cwd=tmp_path), status=(2,))
	only(tmp_path, "cpprof.data")


@needs_perf
def test_no_such_process(tmp_path, older):
	gone = subprocess.Popen(["true"])
	gone.wait()
	refused(run_cpprof("record", "-p", gone.pid, cwd=tmp_path), str(gone.pid), status=(1,))
	only(tmp_path, "cpprof.data")


@needs_perf
def test_thread_is_no_process(tmp_path, older):
	"""The number of a thread other than the first is refused: it is not a process id."""
	server = subprocess.Popen([build("server.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	assert server.stdout.readline() == "ready\n"
	thread = sorted(map(int, os.listdir(f"/proc/{server.pid}/task")))[1]
	result = run_cpprof("record", "-p", thread, "--duration", "1", cwd=tmp_path)
	server.communicate(timeout=60)
	refused(result, str(thread), "thread")
	only(tmp_path, "cpprof.data")


@pytest.mark.parametrize("command", ["record", "trace"])
def test_unknown_backend(tmp_path, older, witness, command):
	"""The message suggests the nearest name."""
	refused(run_cpprof(command, "--backend", "perv", "--", *witness, cwd=tmp_path), "perv", "mean perf", status=(2,))


@pytest.mark.parametrize("command", ["record", "trace"])
def test_no_backend(tmp_path, older, witness, command):
	refused(run_cpprof(command, "--backend", "none", "--", *witness, cwd=tmp_path), "'none' measures nothing (omit --backend to use bpf, perf or preload)",
		status=(1,))


@needs_perf
@pytest.mark.parametrize("command", ["record", "trace"])
def test_what_the_backend_cannot_measure(tmp_path, older, witness, command):
	"""A backend that the user names is not replaced: what it cannot measure is refused, and the message names a backend that can."""
	result = run_cpprof(command, "--backend", "perf", "-r", "page-faults", "-r", "read-bytes", "--", *witness, cwd=tmp_path)
	refused(result, "read-bytes", "bpf", status=(1,))


@needs_perf
@pytest.mark.parametrize("backend", ["perf", "bpf"])
@pytest.mark.parametrize("resource", ["own:orders", "fp-invalid"])
def test_what_only_the_inside_sees(tmp_path, older, witness, backend, resource):
	result = run_cpprof("record", "--backend", backend, "-r", resource, "--", *witness, cwd=tmp_path)
	refused(result, resource, "from outside the program", "--backend preload", status=(1,))


@needs_perf
def test_pause_from_outside(tmp_path, older, witness):
	"""A backend outside the program cannot see its cpprof_start()."""
	result = run_cpprof("record", "--backend", "perf", "--paused", "--", *witness, cwd=tmp_path)
	refused(result, "cpprof_start()", "--backend preload", status=(1,))


@pytest.mark.parametrize("subject", [["-p", "1"], ["-a"]])
def test_pause_of_what_runs_already(tmp_path, older, subject):
	refused(run_cpprof("record", "--paused", *subject, cwd=tmp_path), "--paused needs a command", status=(2,))


@pytest.mark.parametrize("name, near", [
	("cpuu", "cpu"), ("page-fault", "page-faults"), ("pagefaults", "page-faults"), ("context-switch", "context-switches"),
	("instruction", "instructions"), ("sy", "sys"), ("xyzzyplugh", "cpprof resources"), ("", "cpprof resources"),
])
def test_unknown_resource(tmp_path, older, witness, name, near):
	refused(run_cpprof("record", "-r", name, "--", *witness, cwd=tmp_path), near, status=(2,))


@pytest.mark.parametrize("resource", [
	"cpu/0", "cpu/", "cpu/0ms", "cpu/-5ms", "cpu/abc", "cpu/1parsec", "cpu/1 ms", "cpu/1ms/1ms", "cpu/1ns", "cpu/1e300s",
	"cpu/nan", "cpu/inf", "cpu/0x10ms", "cpu/99999999999999999999s", "cpu/18446744073709551617ns", "page-faults/1ms", "page-faults/0",
	"page-faults/-1", "page-faults/1.5", "page-faults/18446744073709551617", "page-faults/99999999999999999999999",
])
def test_bad_interval(tmp_path, older, witness, resource):
	refused(run_cpprof("record", "-r", resource, "--", *witness, cwd=tmp_path), status=(2,))


@pytest.mark.parametrize("rate", ["0", "-1", "", "1e9", "1000000000", "99999999999999999999", "nan", "1kHz?"])
def test_bad_rate(tmp_path, older, witness, rate):
	refused(run_cpprof("record", "-F", rate, "--", *witness, cwd=tmp_path), status=(2,))


@needs_perf
def test_same_resource_twice(tmp_path):
	"""Two requests for one resource are a usage error."""
	options = ["-r", "cpu", "-r", "cpu/5ms", "-o", "out.data"]
	result = run_cpprof("record", *options, "--", build("ending.c"), "exit", "0", cwd=tmp_path)
	assert result.returncode == 2
	assert "cpu" in result.stderr


@needs_perf
@pytest.mark.parametrize("output", ["missing/out.data", "folder", "file/out.data", "x" * 300])
def test_output_not_writable(tmp_path, witness, output):
	"""The message comes before the target runs."""
	(tmp_path / "folder").mkdir()
	(tmp_path / "file").write_text("")
	refused(run_cpprof("record", "-o", output, "--", *witness, cwd=tmp_path), output[:40])
	only(tmp_path, "file", "folder")


@needs_perf
def test_output_in_read_only_folder():
	with open_folder() as folder:
		locked = folder / "locked"
		locked.mkdir()
		locked.chmod(0o555)
		result = unprivileged(folder, "record", "-o", locked / "out.data", "--", "touch", folder / "own/ran")
		refused(result, "locked", "ermission", status=(1,))
		only(folder / "own")


@pytest.mark.measured("shares of sampled CPU time vary")
@needs_perf
def test_unprivileged_user_gets_user_time():
	"""At paranoid 2 the default is `user`, and the closing line reports that."""
	with open_folder(build("user_sys.c")) as folder, paranoid(2):
		result = unprivileged(folder, "record", "--", folder / "bin/user_sys", "5")
		assert result.returncode == 0, result.stderr
		recorded = Recorded(result, folder / "own/cpprof.data")
		assert recorded.closing()[0] > 10 # the kernel lowers the rate if its own samples take long
		assert "user" in re.search(r"cpprof: \d+ samples.*", result.stderr, re.DOTALL).group(0), result.stderr
		paths = recorded.paths()
		between(hits(paths, "main", "compute"), 0.9 * hits(paths), None)
		info = run_cpprof("info", recorded.path).stdout
		assert "user" in info
		# Only root may use the tracepoint of thread starts.
		assert "note: paths of threads begin at their start functions" in info, info


@needs_perf
@pytest.mark.parametrize("resource", ["sys", "cpu"])
def test_unprivileged_user_asks_for_kernel_time(resource):
	"""Kernel time is never silently replaced by user time. perf refuses with a remedy; without --backend, cpprof chooses preload,
	which measures both."""
	with open_folder(build("user_sys.c")) as folder, paranoid(2):
		result = unprivileged(folder, "record", "--backend", "perf", "-r", resource, "--", "touch", "ran")
		refused(result, resource, "perf_event_paranoid", status=(1,))
		only(folder / "own")
		result = unprivileged(folder, "record", "-r", resource, "--", folder / "bin/user_sys", "2")
		assert result.returncode == 0 and ", by preload; not by bpf: " in result.stderr, result.stderr


def test_perf_events_not_permitted():
	"""The message gives the setting, its value and a remedy. The target does not run, and no file is created."""
	with open_folder(build("deny_perf.c")) as folder:
		result = unprivileged(folder, "record", "--backend", "perf", "--", "touch", "ran", launcher=[folder / "bin/deny_perf"])
		refused(result, "perf_event_paranoid", PARANOID.read_text().strip(), status=(1,))
		only(folder / "own")


def test_perf_events_not_permitted_to_attach():
	with open_folder(build("deny_perf.c")) as folder:
		result = unprivileged(folder, "record", "-p", os.getpid(), launcher=[folder / "bin/deny_perf"])
		refused(result, status=(1,))
		only(folder / "own")


@needs_perf
@pytest.mark.skipif(not is_root, reason="who is not root already is refused elsewhere")
@pytest.mark.parametrize("words, said", [
	(["record", "-a"], ["every process", "sudo", "CAP_PERFMON"]),
	(["record", "-a", "--backend", "perf"], ["every process", "sudo", "CAP_PERFMON"]),
	(["record", "-r", "syscalls:read"], ["syscalls:read", "bpf"]),
	(["record", "-r", "page-faults", "-r", "signals"], ["signals", "bpf"]),
	(["record", "-r", "page-faults", "-r", "read-bytes"], ["(record them in two runs)", "read-bytes not by perf", "page-faults not by preload"]),
	(["record", "--backend", "bpf"], ["bpf"]),
	(["trace"], ["syscalls", "bpf"]),
	(["trace", "-r", "traps"], ["traps", "bpf"]),
], ids=lambda words: " ".join(words))
def test_without_privilege(words, said):
	"""Requests that need a privilege are refused before the target runs. The message names the privilege."""
	with open_folder() as folder, paranoid(2):
		refused(unprivileged(folder, *words, "--", "touch", "ran"), *said, status=(1,))
		only(folder / "own")


@contextlib.contextmanager
def small_disk(folder, size):
	mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True,
		check=False)
	if mounted.returncode:
		pytest.skip(f"no file system of {size} can be mounted: {mounted.stderr.strip()}")
	try:
		yield
	finally:
		subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.long("fills a disk with samples of CPU time")
@needs_perf
@pytest.mark.parametrize("program", [["mixture.c", "500"], ["recursion.c", "updown"]], ids=["steady", "recursion"])
def test_disk_full(tmp_path, program):
	"""The target runs to its end, the message reports the loss, and the samples that fit are kept and readable. Often none fits."""
	disk = tmp_path / "disk"
	disk.mkdir()
	command = [build(program[0]), program[1]]
	with small_disk(disk, "64k"):
		padding = disk / "padding"
		padding.write_bytes(b"x" * (36 << 10)) # 28 KiB are left, less than a few thousand samples need
		result = run_cpprof("record", "-r", "cpu/20us", "-r", "page-faults/1", "-o", disk / "out.data", "--", *command)
		assert "share main" in result.stdout, "the target ended before its time"
		assert result.returncode == 1, result.stderr
		assert "No space left" in result.stderr
		assert stat.S_ISREG((disk / "out.data").stat().st_mode)
		info = run_cpprof("info", "--format", "json", disk / "out.data")
		assert info.returncode == 0, info.stderr
		report = run_cpprof("report", disk / "out.data")
		fits = json.loads(info.stdout)["samples"] > 0
		assert report.returncode == (0 if fits else 1), report.stderr
		assert fits or "was cut before its first sample was written" in report.stderr


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
@needs_perf
def test_room_again(tmp_path, server):
	"""When a full disk has room again, the recording goes on, and the samples meanwhile were kept in memory."""
	disk = tmp_path / "disk"
	disk.mkdir()
	with small_disk(disk, "256k"):
		path, padding = disk / "out.data", disk / "padding"
		recorder = subprocess.Popen([CPPROF, "record", "-r", "cpu/200us", "-o", path, "-p", str(server.pid)], stderr=subprocess.PIPE, text=True)
		while not path.exists():
			assert recorder.poll() is None, recorder.stderr.read()
		with open(padding, "wb", buffering=0) as file, contextlib.suppress(OSError):
			while file.write(b"x" * 4096):
				pass
		warning = recorder.stderr.readline()
		assert "No space left" in warning and warning.endswith("; the recording goes on when there is room\n"), warning
		full = path.stat().st_size
		padding.unlink()
		end = time.monotonic() + 30
		while path.stat().st_size == full:
			assert time.monotonic() < end and recorder.poll() is None
			time.sleep(0.02)
		recorder.send_signal(signal.SIGINT)
		_, said = recorder.communicate(timeout=60)
		assert recorder.returncode == 0 and " 0 lost, " in said and "; the disk was full for " in said, said
		recorded = Recorded(subprocess.CompletedProcess([], 0, "", said), path)
		cpu = recorded.resource("cpu")
		assert cpu["hits"] * cpu["interval"] > 0.8 * cpu["total"] > 0.1e9, cpu
		assert hits(recorded.paths(), "first_duty") > 0 and recorded.info()["ended"]


@needs_perf
def test_disk_full_from_the_start(tmp_path, witness):
	disk = tmp_path / "disk"
	disk.mkdir()
	with small_disk(disk, "16k"):
		(disk / "padding").write_bytes(b"x" * 16384)
		refused(run_cpprof("record", "-o", disk / "out.data", "--", *witness), "No space left", status=(1,))


def cpu_seconds(pid):
	"""Returns the CPU time of a process from /proc, in steps of 10 ms."""
	try:
		fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
	except (FileNotFoundError, ProcessLookupError):
		return 0
	return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid):
	with contextlib.suppress(FileNotFoundError, ProcessLookupError):
		return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
	return []


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
@pytest.mark.parametrize("backend", [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf), "preload"])
def test_recorder_killed(tmp_path, backend):
	"""Killed at 20 moments, with SIGKILL: the file is readable and complete up to the last second."""
	rng = random.Random(f"1993 {backend}")
	program = build("forms.c")
	for moment in [rng.uniform(0.03, 1.0) for _ in range(16)] + [rng.uniform(1.3, 2.2) for _ in range(4)]:
		path = tmp_path / f"at-{moment:.3f}"
		recorder = subprocess.Popen([CPPROF, "record", "--backend", backend, "-r", "cpu/1ms", "-o", str(path), "--", program],
			stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		end = time.monotonic() + 60
		while not (targets := children(recorder.pid)) or cpu_seconds(targets[0]) < moment:
			assert time.monotonic() < end and recorder.poll() is None
			time.sleep(0.005)
		used = cpu_seconds(targets[0])
		recorder.kill()
		recorder.wait()
		for target in targets:
			with contextlib.suppress(ProcessLookupError):
				os.kill(target, signal.SIGKILL)
		info = run_cpprof("info", path)
		assert info.returncode == 0, f"killed after {moment} s: {info.stderr}"
		recorded = hits(folded(path)) if used > 1.1 else 0
		between(recorded, 1000 * 0.9 * (used - 1.1), None, f"{recorded} samples of a process that used {used} s")
		report = run_cpprof("report", path)
		assert report.returncode == 0 or recorded == 0, report.stderr


@needs_perf
def test_same_output_twice_at_once(tmp_path):
	"""Two recorders write to the same output: both succeed, and both files are complete profiles."""
	command = [CPPROF, "record", "--", build("forms.c"), "20"]
	recorders = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
		for _ in range(2)]
	for recorder in recorders:
		_, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
	only(tmp_path, "cpprof.data", "cpprof.data.old")
	for name in ("cpprof.data", "cpprof.data.old"):
		paths = folded(tmp_path / name)
		assert hits(paths, "main", "db_update_record") > 0
		assert run_cpprof("info", tmp_path / name).returncode == 0


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_output_into_the_commands_own(tmp_path, output):
	result = run_cpprof("record", "-o", output, "--", "echo", "ran", cwd=tmp_path)
	assert result.returncode == 2
	assert "(-o FILE)" in result.stderr
	assert result.stdout == ""
