"""Requests that the kernel cannot satisfy: cpprof prints a message with the remedy, exits with status 1 and does not run the target.
cpprof leaves no objects in the kernel behind."""
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from record_support import (CPPROF, Recorded, build, check_amounts, hits, needs_bpf, record, run_cpprof, show)
from user_support import only_root, open_folder, unprivileged

pytestmark = needs_bpf

BPF = ["--backend", "bpf"]


@pytest.fixture
def witness(tmp_path):
	"""A file that the command would create. Neither it nor a profile may exist after the test."""
	path = tmp_path / "ran"
	yield path
	assert not path.exists(), "the target ran"
	assert not (tmp_path / "cpprof.data").exists()


def refused(result, *words, status=1):
	assert result.returncode in (status if isinstance(status, tuple) else (status,)), result.stderr
	assert result.stderr.startswith("cpprof"), result.stderr
	assert result.stdout == ""
	for word in words:
		assert word in result.stderr, result.stderr
	assert " lost, " not in result.stderr


@pytest.mark.parametrize("resource, words", [
	("tracepoint:sched:sched_swich", ["sched_swich", "sched_switch"]),
	("tracepoint:shed:sched_switch", ["shed", "sched"]),
	("tracepoint:sched:sched_switch:next_pod", ["next_pod", "next_pid"]),
	("tracepoint:sched:sched_switch:common_pid", ["common_pid", "no eBPF program can read it"]),
	("calls:no_such_function_anywhere", ["no_such_function_anywhere"]),
	("calls:consum", ["consum", "consume"]),
	("calls:consume@libc.so.6", ["consume", "libc.so.6"]),
	("calls:consume@libnothing.so", ["libnothing.so"]),
	("uprobe:libnothing.so:consume:arg1", ["libnothing.so"]),
	("uprobe:calls:consum:ret", ["consum", "consume"]),
	("usdt:cpprof_test:consumed", ["cpprof_test:consumed"]),
	("usdt:no_such_provider:probe", ["no_such_provider"]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_not_to_be_found(tmp_path, witness, resource, words):
	"""cpprof detects an unknown name before the target runs, and suggests similar names."""
	program = build("calls.c", build("calls_library.c", linkage="shared", name="libcalls_library.so"))
	result = run_cpprof("record", *BPF, "-r", resource, "--", program, cwd=tmp_path)
	refused(result, *words)


def test_field_that_is_no_number(tmp_path, witness):
	result = run_cpprof("record", *BPF, "-r", "tracepoint:sched:sched_switch:prev_comm", "--", "touch", witness, cwd=tmp_path)
	refused(result, "prev_comm", "number", status=(1, 2))


def test_no_such_probe_of_a_provider(tmp_path, witness):
	refused(run_cpprof("record", *BPF, "-r", "usdt:cpprof_test:consume", "--", build("usdt.c"), cwd=tmp_path), "consumed")


@pytest.mark.parametrize("resource", [
	"tracepoint", "tracepoint:", "tracepoint:sched", "tracepoint:sched:", "tracepoint:a:b:c:d", "calls", "calls:", "calls:@x",
	"calls:f@", "uprobe:x", "uprobe:x:", "uprobe:x:f:arg0", "uprobe:x:f:arg7", "uprobe:x:f:argh", "usdt:x", "usdt:x:y:ret",
	"syscalls:", "syscalls:raed", "read-bytes:", "read-bytes:reqested", "signals:HUP", "real/1", "blocked/0us", "read-bytes/64kB",
	"syscalls/1KiB", "alloc-bytes/0", "calls:" + "f" * 400,
])
def test_wrong_words(tmp_path, witness, resource):
	result = run_cpprof("record", *BPF, "-r", resource, "--", "touch", witness, cwd=tmp_path)
	refused(result, status=2)


def test_near_names_of_system_calls(tmp_path, witness):
	refused(run_cpprof("record", *BPF, "-r", "syscalls:raed", "--", "touch", witness, cwd=tmp_path), "raed", "read", status=2)


def test_too_many_resources(tmp_path, witness):
	options = [word for number in range(17) for word in ("-r", f"calls:f{number}")]
	refused(run_cpprof("record", *BPF, *options, "--", "touch", witness, cwd=tmp_path), "16", status=2)


def test_no_such_backend(tmp_path, witness):
	refused(run_cpprof("record", "--backend", "bpff", "--", "touch", witness, cwd=tmp_path), "bpff", "bpf", status=2)


def test_process_gone(tmp_path, witness):
	gone = subprocess.Popen(["true"])
	gone.wait()
	refused(run_cpprof("record", *BPF, "-r", "syscalls", "-p", gone.pid, cwd=tmp_path), str(gone.pid))


def test_function_of_a_process_gone(tmp_path, witness):
	gone = subprocess.Popen(["true"])
	gone.wait()
	refused(run_cpprof("record", *BPF, "-r", "calls:main", "-p", gone.pid, cwd=tmp_path), str(gone.pid))


def in_own_mounts(script, *words, **options):
	"""Runs cpprof in a mount namespace of its own, after `script` has changed what is mounted."""
	command = ["unshare", "-m", "sh", "-c", f'{script} || exit 99; exec "$0" "$@"', CPPROF, *map(str, words)]
	result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
	if result.returncode == 99 or "unshare" in result.stderr:
		pytest.skip(f"mounts cannot be changed here: {result.stderr.strip()}")
	return result


def test_sys_not_mounted(tmp_path):
	"""The processors are then those of /proc/stat, and a backend that needs no file of /sys records."""
	path = tmp_path / "out.data"
	result = in_own_mounts("umount -l /sys; test ! -e /sys/devices", "record", "-o", path, "-r", "page-faults/1", "true")
	assert result.returncode == 0 and "by perf; not by bpf: no /sys/kernel/btf/vmlinux" in result.stderr, result.stderr


NO_TRACEFS = "umount -a -t tracefs; ! mount | grep -q tracefs"


@pytest.mark.parametrize("resource", ["syscalls:getppid", "tracepoint:syscalls:sys_enter_getppid", "tracepoint:raw_syscalls:sys_enter"])
def test_tracefs_not_mounted(tmp_path, resource):
	"""cpprof mounts tracefs for itself alone, or does not need it."""
	path = tmp_path / "out.data"
	result = in_own_mounts(NO_TRACEFS, "record", *BPF, "-o", path, "-r", f"{resource}/1", "--", build("syscalls.c"), "50")
	assert result.returncode == 0, result.stderr
	check_amounts(Recorded(result, path), resource)


def test_probes_without_tracefs(tmp_path):
	program = build("calls.c", build("calls_library.c", linkage="shared", name="libcalls_library.so"))
	path = tmp_path / "out.data"
	result = in_own_mounts(NO_TRACEFS, "record", *BPF, "-o", path, "-r", "calls:static_work/1", "--", program, "50")
	assert result.returncode == 0, result.stderr
	check_amounts(Recorded(result, path), "calls:static_work")


def test_no_description_of_the_kernels_types(tmp_path, witness):
	hidden = "test -e /sys/kernel/btf/vmlinux && mount --bind /dev/null /sys/kernel/btf/vmlinux"
	result = in_own_mounts(hidden, "record", *BPF, "-r", "syscalls", "--", "touch", witness, cwd=tmp_path)
	refused(result, "BTF")


@only_root
@pytest.mark.parametrize("options", [["-r", "syscalls"], [*BPF, "-r", "syscalls"], [*BPF, "-r", "user"], ["-r", "traps", "-r", "user"],
	["-r", "calls:main"]], ids=" ".join)
def test_unprivileged_user(options):
	"""The message names the missing capabilities. The target is not run."""
	with open_folder() as folder:
		refused(unprivileged(folder, "record", *options, "--", "touch", "ran"), "root", "cap_bpf", "cap_perfmon")
		assert os.listdir(folder / "own") == []


def test_two_recorders_at_once(tmp_path):
	"""Two recorders run at the same time: each counts all calls of its own target, and none of the other's."""
	program = build("calls.c", build("calls_library.c", linkage="shared", name="libcalls_library.so"))
	resources = ["calls:static_work", "uprobe:calls:consume:arg2"]
	options = [word for resource in resources for word in ("-r", f"{resource}/1")]
	recorders = []
	for name, rounds in (("one", 300), ("two", 400)):
		(tmp_path / name).mkdir()
		recorders.append(subprocess.Popen([CPPROF, "record", *BPF, *options, "--", program, str(rounds)], cwd=tmp_path / name,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
	for name, recorder in zip(("one", "two"), recorders):
		out, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
		recorded = Recorded(subprocess.CompletedProcess([], 0, out, err), tmp_path / name / "cpprof.data")
		for resource in resources:
			check_amounts(recorded, resource)


@pytest.mark.measured("the totals of two recordings of CPU time are compared")
def test_two_recorders_of_one_process(tmp_path, server):
	"""Two recorders attach to one process: their totals differ only by what happens between their starts and between their ends."""
	command = [CPPROF, "record", *BPF, "-r", "calls:burn/1", "-r", "cpu/1ms", "-p", str(server.pid), "--duration", "1", "-o"]
	recorders = [subprocess.Popen([*command, str(tmp_path / name)], stderr=subprocess.PIPE, text=True) for name in ("one", "two")]
	totals = []
	for name, recorder in zip(("one", "two"), recorders):
		_, err = recorder.communicate(timeout=60)
		assert recorder.returncode == 0, err
		recorded = Recorded(subprocess.CompletedProcess([], 0, "", err), tmp_path / name)
		totals.append(recorded.resource("calls:burn")["total"])
		assert totals[-1] == hits(recorded.paths("calls:burn")), err
	assert min(totals) > 0.5 * max(totals) > 0, totals
	assert server.poll() is None


def in_kernel():
	"""(kind, id) of all BPF programs, maps and links in the kernel, of any owner."""
	found = set()
	for kind in ("prog", "map", "link"):
		result = subprocess.run(["bpftool", kind, "list", "-j"], capture_output=True, text=True, check=True)
		found |= {(kind, entry["id"]) for entry in json.loads(result.stdout or "[]")}
	return found


@pytest.mark.parametrize("attached", [False, True], ids=["command", "attached"])
def test_killed_recorder_leaves_nothing(tmp_path, server, attached):
	"""A killed recorder leaves no BPF program, map, link or probe behind, and the target keeps running."""
	before = in_kernel()
	probes = Path("/sys/kernel/tracing/uprobe_events")
	probes_before = probes.read_text() if probes.exists() else ""
	path = tmp_path / "out.data"
	resources = ["-r", "calls:burn/100", "-r", "alloc-bytes", "-r", "cpu", "-r", "real", "-r", "syscalls", "-r", "page-faults"]
	what = ["-p", str(server.pid)] if attached else ["--", build("mixture.c"), "100000"]
	recorder = subprocess.Popen([CPPROF, "record", *BPF, *resources, "-o", str(path), *what], stdout=subprocess.DEVNULL,
		stderr=subprocess.DEVNULL)
	end = time.monotonic() + 60
	while not path.exists() or path.stat().st_size < 1000: # the first second's samples
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.05)
	children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
	ours = in_kernel() - before
	assert {"prog", "map"} <= {kind for kind, _ in ours}
	recorder.kill()
	recorder.wait()
	try:
		assert all(Path(f"/proc/{child}").exists() for child in children), "the command ended with its recorder"
		while (left := ours & in_kernel()) and time.monotonic() < end: # the kernel frees them a moment later
			time.sleep(0.1)
		assert not left
		assert (probes.read_text() if probes.exists() else "") == probes_before
	finally:
		for child in children:
			os.kill(int(child), signal.SIGKILL)
	assert server.poll() is None
	server.stdin.close()
	assert server.wait(timeout=60) == 5
	assert run_cpprof("info", path).returncode == 0


def test_command_keeps_its_status(tmp_path):
	recorded = record(tmp_path, [build("ending.c"), "exit", "77"], *BPF, "-r", "syscalls/1", "-r", "cpu")
	assert recorded.status == 77
	assert recorded.resource("syscalls")["total"] == hits(recorded.paths("syscalls")) > 0


def test_losses_are_counted_by_resource(tmp_path):
	"""A sample at each of 400,000 events, which may be faster than cpprof reads them: the total stays exact, and hits and lost add up to
	it."""
	recorded = record(tmp_path, [build("syscalls.c"), "100000"], *BPF, "-r", "syscalls:getppid/1")
	assert recorded.status == 0, recorded.err
	reported = recorded.resource("syscalls:getppid")
	assert reported["total"] == 4 * 100000 + 20, reported
	assert reported["hits"] == hits(recorded.paths("syscalls:getppid")), reported
	assert reported["hits"] + reported["lost"] == reported["total"], reported
	assert re.search(r"[\d,]+ lost", recorded.err), show(recorded.paths("syscalls:getppid"))
