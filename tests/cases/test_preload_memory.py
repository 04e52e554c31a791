"""The memory that the preload backend shares with its targets: what they map of it, and when they do not believe in it."""
import ctypes
import fcntl
import os
import re
import struct
import subprocess

import pytest
from record_support import BUILD, CPPROF, build, record, record_well

LIBRARY = BUILD / "src/collect/agent/libcpprof-preload.so"
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
HEADER, MONITOR_AT, OVER_AT = 4096, 8, 12 # src/abi/channel.h; the process slots follow the header
SECONDS = 60


def sizes(output):
	return {(when, what): int(kb) for when, what, kb in re.findall(r"^(\w+) (\w+):\s+(\d+) kB$", output, re.MULTILINE)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may lock so much memory")
@pytest.mark.parametrize("way", ["function", "syscall"])
def test_locks_only_what_is_used(way, tmp_path):
	"""mlockall locks at most 1 MB of ours, not the 645 MB of the channel, and 1 MB for each later thread."""
	threads, mb = 4, 1024
	program = build("locked_memory.c")
	alone = subprocess.run([program, way], capture_output=True, text=True, check=True, timeout=SECONDS)
	recorded = record_well(tmp_path, [program, way], "--backend", "preload", "-r", "cpu/200us")
	wanted, found = sizes(alone.stdout), sizes(recorded.out)
	assert len(wanted) == 4
	assert found["first", "VmLck"] - wanted["first", "VmLck"] < mb, recorded.out
	assert found["threads", "VmLck"] - wanted["threads", "VmLck"] < mb * (1 + threads), recorded.out
	assert found["threads", "VmSize"] - wanted["threads", "VmSize"] < mb * (12 + threads), recorded.out


@pytest.mark.parametrize("how", [["--backend", "preload"], ["--instrumented"]], ids=["preload", "hooks"])
@pytest.mark.parametrize("mb, status", [(8, 0), (1, 1)])
def test_locks_within_the_limit(mb, status, how, tmp_path):
	"""A user may lock 8 MB. The kernel compares them with all mappings: ours must not count, and the program's mappings must."""
	program = build("locked_memory.c", *(["-finstrument-functions"] if how == ["--instrumented"] else []))
	before = ["setpriv", "--bounding-set", "-ipc_lock"] if os.geteuid() == 0 else []
	user = [*before, "prlimit", f"--memlock={mb << 20}"]
	alone = subprocess.run([*user, program, "current"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=SECONDS)
	recorded = record(tmp_path, [*user, program, "current"], *how)
	assert (recorded.status, alone.returncode) == (status, status), (alone.stderr, recorded.err)
	assert alone.stderr.splitlines()[0] == recorded.err.splitlines()[0]
	assert abs(sizes(recorded.out)["first", "VmLck"] - sizes(alone.stdout)["first", "VmLck"]) < 512, (alone.stdout, recorded.out)


# --- a channel whose recorder has gone ---


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
	"""A recording. Returns the value of CPPROF_CHANNEL in its target."""
	path = tmp_path_factory.mktemp("recorder") / "out.data"
	ready = "echo ready; exec sleep 60"
	command = [CPPROF, "record", "--backend", "preload", "-o", path, "--", "sh", "-c", f"echo $CPPROF_CHANNEL; {ready}"]
	with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
		yield process.stdout.readline().strip()
		process.terminate()


def run_with(channel):
	"""Runs `true` with the library and this channel."""
	environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "CPPROF_CHANNEL": channel}
	subprocess.run(["true"], env=environment, check=True, timeout=SECONDS)


class Copy:
	"""A memfd that looks like the recorder's, with this process as the monitor. Its descriptor stays open."""

	def __init__(self, recorder, name="cpprof-channel", seals=SEALS, monitor=None, is_over=0, owner=None):
		path = recorder.rsplit(":", 1)[0]
		self.fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
		os.ftruncate(self.fd, os.stat(path).st_size)
		with open(path, "rb") as original:
			header = bytearray(original.read(HEADER))
		struct.pack_into("II", header, MONITOR_AT, monitor or os.getpid(), is_over)
		os.pwrite(self.fd, header, 0)
		if seals:
			fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)
		if owner is not None:
			os.fchown(self.fd, owner, -1)
		self.inode = os.stat(self.fd).st_ino

	def value(self, inode=None):
		return f"/proc/{os.getpid()}/fd/{self.fd}:{self.inode if inode is None else inode}"

	def is_believed(self, value):
		"""Returns whether a program takes a slot for its process."""
		run_with(value)
		return os.pread(self.fd, 4, HEADER) != bytes(4)


def test_a_live_channel_is_believed(recorder):
	"""Without this, the refusals below would prove nothing."""
	copy = Copy(recorder)
	assert copy.is_believed(copy.value())
	os.close(copy.fd)


REFUSED = {
	"name": {"name": "other-memory"},
	"no seals": {"seals": 0},
	"may shrink": {"seals": fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL},
	"another monitor": {"monitor": 1},
	"over": {"is_over": 1},
	"another owner": {"owner": 65534},
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_doubtful_channel_is_ignored(what, recorder):
	if what == "another owner" and os.geteuid() != 0:
		pytest.skip("only root can give a file away")
	copy = Copy(recorder, **REFUSED[what])
	assert not copy.is_believed(copy.value())
	os.close(copy.fd)


def test_another_memory_with_the_same_number_is_ignored(recorder):
	"""After the recorder's end, its pid and its descriptor's number may belong to another recorder's memory."""
	copy = Copy(recorder)
	assert not copy.is_believed(copy.value(copy.inode + 1))
	for value in (copy.value().rsplit(":", 1)[0], copy.value() + "x", copy.value("x"), copy.value(""), "/proc/self" + copy.value()):
		assert not copy.is_believed(value)
	os.close(copy.fd)


def test_no_other_file_is_opened(tmp_path):
	"""To open a device or a FIFO may have effects."""
	in_open = 0x20
	file = tmp_path / "file"
	file.touch()
	fd = os.open(file, os.O_RDWR)
	libc = ctypes.CDLL(None, use_errno=True)
	watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
	assert libc.inotify_add_watch(watch, os.fsencode(file), in_open) > 0
	for value in (f"/proc/{os.getpid()}/fd/{fd}:{os.stat(fd).st_ino}", f"/proc/{os.getpid()}/fd/{fd}", str(file)):
		run_with(value)
	with pytest.raises(BlockingIOError):
		os.read(watch, 4096)
	os.close(os.open(f"/proc/{os.getpid()}/fd/{fd}", os.O_RDWR))
	assert os.read(watch, 4096)
	os.close(watch)
	os.close(fd)
