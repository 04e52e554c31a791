"""Side effects of probes on a program do not appear in its profile, and unusual programs are counted correctly."""
import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from record_support import CPPROF, Recorded, build, check_amounts, hits, needs_bpf, record, run_cpprof

pytestmark = needs_bpf

BPF = ["--backend", "bpf"]


def record_each(folder, what, *resources):
	return record(folder, [build("probed.c"), what], *BPF, *(word for resource in resources for word in ("-r", f"{resource}/1")))


def test_negative_argument(tmp_path):
	check_amounts(record_each(tmp_path, "negative", "uprobe:probed:take:arg1"), "uprobe:probed:take:arg1")


def test_negative_ints(tmp_path):
	"""The upper half of a register with an int is not part of its value: the debug information says so."""
	resources = [f"uprobe:probed:take_int:{value}" for value in ("arg1", "arg2", "ret")]
	recorded = record_each(tmp_path, "negative_ints", *resources)
	for resource in resources:
		check_amounts(recorded, resource)
	assert "signs-assumed" not in {finding["code"] for finding in recorded.info()["findings"]}


def test_negative_ints_without_types(tmp_path):
	"""Without debug information, numbers from 2^31 to 2^32 - 1 are taken for negative numbers, and a finding says so."""
	program = build("probed.c", "-g0")
	resources = [f"uprobe:probed:take_int:{value}" for value in ("arg1", "ret")]
	recorded = record(tmp_path, [program, "negative_ints"], *BPF, *(word for resource in resources for word in ("-r", f"{resource}/1")))
	for resource in resources:
		check_amounts(recorded, resource)
	found = [finding for finding in recorded.info()["findings"] if finding["code"] == "signs-assumed"]
	assert [finding["count"] for finding in found] == [20], found
	assert "; 20 values of 2^31 to 2^32 - 1 in an argument" in recorded.err


def test_time_beside_probes_is_warned_of(tmp_path):
	"""Each call of malloc takes a trap, whose time cpu charges to malloc. A few calls, or no time resource, are no reason to warn."""
	program, calls = build("allocations.c"), 9 * 4 * 100
	for resources, warned in ((["alloc-bytes", "cpu"], "cpu"), (["allocs", "real"], "real"), (["alloc-bytes"], None), (["cpu", "calls:heavy"], None)):
		recorded = record(tmp_path, [program, "100"], *BPF, *(word for resource in resources for word in ("-r", resource)))
		found = [finding for finding in recorded.info()["findings"] if finding["code"] == "probes-costly"]
		assert len(found) == (warned is not None), (resources, found)
		if warned:
			assert found[0]["severity"] == "warning" and found[0]["count"] >= calls
			assert f"; {warned} includes the probes' own time at {found[0]['count']} calls of the functions they count" in recorded.err


def test_negative_descriptor(tmp_path):
	check_amounts(record_each(tmp_path, "bad_closes", "uprobe:libc.so.6:close:arg1"), "uprobe:libc.so.6:close:arg1")


def test_more_than_there_can_be(tmp_path):
	"""A request that is larger than the address space, or whose product overflows, counts no bytes."""
	recorded = record(tmp_path, [build("probed.c"), "huge"], *BPF, "-r", "alloc-bytes/1", "-r", "allocs/1")
	assert recorded.status == 0, recorded.err
	# Requests of 2^48 bytes are too large as well. The total has at most what the program allocates as it starts.
	assert recorded.resource("alloc-bytes")["total"] < 1 << 20


def test_probes_at_returns(tmp_path):
	"""Paths below 50 probed returns are complete, and the probes' own system calls are not counted."""
	recorded = record_each(tmp_path, "returns", "syscalls:getppid", "syscalls:rt_sigreturn", "uprobe:probed:descend:ret")
	assert recorded.status == 0, recorded.err
	check_amounts(recorded, "syscalls:getppid")
	paths = recorded.paths("syscalls:getppid")
	assert {sum(frame == "descend" for frame in path) for path in paths} == {51}
	assert recorded.resource("syscalls:rt_sigreturn")["total"] == 0
	assert recorded.closing()[2] == 100


def test_probe_on_a_nop(tmp_path):
	"""Kernels since 6.18 replace the nop with a call, which makes a system call: that system call is not counted."""
	recorded = record_each(tmp_path, "nops", "calls:nop_first", "syscalls:rt_sigreturn")
	check_amounts(recorded, "calls:nop_first")
	assert recorded.resource("syscalls:rt_sigreturn")["total"] == 0
	assert recorded.closing()[2] == 100


def test_calls_by_32_bit_numbers(tmp_path):
	"""32-bit system calls count as system calls, but not as the 64-bit system calls with the same numbers."""
	if subprocess.run([build("probed.c"), "old_calls"], capture_output=True, check=False).returncode == -signal.SIGSEGV:
		pytest.skip("this kernel has no system calls of 32-bit programs")
	recorded = record_each(tmp_path, "old_calls", "syscalls", "syscalls:getppid", "syscalls:writev", "write-bytes:requested")
	check_amounts(recorded, "syscalls:getppid")
	assert recorded.resource("syscalls:writev")["total"] == 0
	assert recorded.resource("syscalls")["total"] >= 200
	assert recorded.resource("write-bytes:requested")["total"] < 10000


@pytest.mark.parametrize("own, way, is_seen", [(False, "deep", True), (False, "apart", True), (True, "", True), (True, "deep", False)])
def test_libraries_with_an_allocator(own, way, is_seen, tmp_path):
	"""A library that the program loads later allocates by the watched malloc, or by its own: a finding reports that this is not counted."""
	plugin = build("allocating_plugin.c", "-fno-builtin", *["-DOWN_MALLOC"] * own, linkage="shared")
	recorded = record(tmp_path, [build("opens_apart.c"), way, plugin], *BPF, "-r", "allocs/1")
	assert recorded.status == 0, recorded.err
	assert hits(recorded.paths("allocs"), "plugin_allocate") == is_seen, recorded.err
	assert (f"1 library has a malloc of its own, which is not counted: {Path(plugin).name}" in recorded.err) == own, recorded.err


def test_exec_from_a_thread(tmp_path):
	"""The new program runs as the first thread of its process, and its paths begin at its own main."""
	recorded = record_each(tmp_path, "exec_from_thread", "syscalls:getppid")
	check_amounts(recorded, "syscalls:getppid")
	assert set(path[0] for path in recorded.paths("syscalls:getppid")) == {"main"}
	assert not any("exec_here" in path for path in recorded.paths("syscalls:getppid"))
	assert "still run" not in recorded.err


def test_calls_in_children(tmp_path):
	recorded = record_each(tmp_path, "children", "calls:take")
	check_amounts(recorded, "calls:take")


def test_bystanders_are_not_probed(tmp_path):
	"""While cpprof counts the calls of one process, the function is unchanged in other processes of the same program."""
	program = build("probed.c")
	with subprocess.Popen([program, "bystander"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other, \
			subprocess.Popen([program, "bystander"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
		assert other.stdout.readline() == target.stdout.readline() == "ready\n"

		def first_byte(process):
			process.stdin.write("x")
			process.stdin.flush()
			return process.stdout.readline().strip()

		clean = first_byte(other)
		assert clean != "cc"
		with subprocess.Popen([CPPROF, "record", *BPF, "-r", "calls:take/1", "-p", str(target.pid), "-o", tmp_path / "out.data"],
				stderr=subprocess.PIPE, text=True) as recorder:
			while first_byte(target) != "cc":
				assert recorder.poll() is None, recorder.stderr.read()
			assert first_byte(other) == clean
			recorder.terminate()
			recorder.wait(timeout=30)
		assert first_byte(target) == clean


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program set-user-ID")
def test_set_user_id_program(tmp_path):
	"""Root records the whole set-user-ID program, although the kernel ends the perf events of such a process."""
	program = Path(shutil.copy(build("syscalls.c"), tmp_path / "syscalls"))
	os.chown(program, 65534, 65534)
	program.chmod(program.stat().st_mode | stat.S_ISUID)
	recorded = record(tmp_path, [program, "50"], *BPF, "-r", "syscalls:getppid/1", "-r", "cpu")
	assert recorded.status == 0, recorded.err
	check_amounts(recorded, "syscalls:getppid")
	assert "still run" not in recorded.err
	assert recorded.info()["processes"][0]["name"] == "syscalls"


def test_whole_machine_of_a_pid_namespace(tmp_path):
	"""Within a PID namespace, -a records only the processes of the namespace, with the PIDs that they have there."""
	path = tmp_path / "out.data"
	command = ["unshare", "-p", "-f", "--mount-proc", CPPROF, "record", *BPF, "-a", "-o", path, "-r", "syscalls/1",
		"--", build("syscalls.c"), "50"]
	with subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) as outside:
		result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
		outside.kill()
	if "unshare" in result.stderr:
		pytest.skip(f"there can be no namespace here: {result.stderr.strip()}")
	assert result.returncode == 0, result.stderr
	recorded = Recorded(result, path)
	assert {process["name"] for process in recorded.info()["processes"]} <= {"syscalls", "cpprof"}
	assert all(process["pid"] < 100 for process in recorded.info()["processes"])
	reported = recorded.resource("syscalls")
	assert reported["total"] == reported["hits"] == hits(recorded.paths("syscalls"))


@pytest.fixture
def group():
	"""A new control group: its folder, and its path as its processes see it."""
	for root in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")):
		folder = root / "cpprof-test"
		try:
			folder.mkdir()
		except OSError:
			continue
		if (folder / "cgroup.procs").exists():
			yield folder, "/cpprof-test"
			folder.rmdir()
			return
		folder.rmdir()
	pytest.skip("no control group can be made here")


def test_control_groups(tmp_path, group):
	"""The profile separates processes in a control group from the rest of the machine."""
	folder, name = group
	inside = f'echo $$ > {folder}/cgroup.procs && exec "$0" 50'
	path = tmp_path / "out.data"
	script = f"sh -c '{inside}' {build('syscalls.c')}; /bin/ls >/dev/null"
	result = run_cpprof("record", *BPF, "-o", path, "-r", "syscalls:getppid/1", "-r", "syscalls/1", "--", "sh", "-c", script)
	assert result.returncode == 0, result.stderr
	recorded = Recorded(result, path)
	groups = {process["name"]: process["cgroup"] for process in recorded.info()["processes"]}
	assert groups["syscalls"] == name and groups["ls"] != name, groups
	own = run_cpprof("report", path, "-r", "syscalls", "--cgroup", name, "--functions", "--threshold", "0", "--limit", "0").stdout
	assert "getppid" in own and "ls" not in [line.split()[2] for line in own.splitlines() if line.count(" ") > 2]
	none = run_cpprof("report", path, "-r", "syscalls", "--cgroup", "/no-such-group")
	assert none.returncode != 0 and "/no-such-group" in none.stderr
