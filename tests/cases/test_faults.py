"""
One allocation or system call of a command fails: it prints an error and returns a status that is not 0, or its result is as good as
without the failure. It never crashes, never hangs, and never damages an earlier profile. A run tests a sample of the moments;
CPPROF_FAULTS=all tests each.
"""
import os
import random
import re
import shutil
import signal
import subprocess

import pytest
from cli_support import CPPROF
from record_support import SECONDS_ALLOWED, build, needs_bpf, needs_perf, record, run_cpprof

ALL = os.environ.get("CPPROF_FAULTS") == "all"
SAMPLE = {"record": 8, "others": 10}

# {calls of the kernel that fail: the error}
CALLS = {
	"write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,fallocate": "ENOSPC",
	"read,pread64,readlink,readlinkat,getdents64,lseek": "EIO",
	"openat,newfstatat,fstat,statx,rename,renameat,renameat2,linkat,unlink,unlinkat,dup,dup3,fcntl": "EACCES",
	"mmap,mremap,memfd_create": "ENOMEM",
	"perf_event_open,bpf,ioctl,epoll_create1,epoll_ctl,eventfd2,pipe2,socketpair,timerfd_create,signalfd4,pidfd_open": "EMFILE",
	"clone,clone3,fork,vfork,wait4,kill,prctl,sched_getaffinity,setpriority,prlimit64": "EAGAIN",
}

COMMANDS = {
	"info": ["info", "A"],
	"report": ["report", "A"],
	"json": ["report", "--functions", "--format", "json", "A"],
	"diff": ["diff", "A", "B"],
	"whatif": ["whatif", "A", "main;invoice=0.5"],
	"export": ["export", "--format", "folded", "-o", "out.data", "A"],
	"import": ["import", "--format", "folded", "-o", "out.data", "F"],
	"bpf": ["record", "--backend", "bpf", "-o", "out.data", "--", "P", "3"],
	"perf": ["record", "--backend", "perf", "-o", "out.data", "--", "P", "3"],
	"preload": ["record", "--backend", "preload", "-o", "out.data", "--", "P", "3"],
}
MARKS = {"bpf": needs_bpf, "perf": needs_perf}
NAMES = [pytest.param(name, marks=MARKS.get(name, ())) for name in COMMANDS]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
	"""{letter of COMMANDS: the file}"""
	folder = tmp_path_factory.mktemp("faults")
	program = build("forms.c")
	found = {"P": program}
	for letter in "AB":
		path = record(folder, [program, "10"], "--backend", "preload").path
		found[letter] = path.rename(folder / f"{letter}.data")
	found["F"] = folder / "folded"
	found["F"].write_text(run_cpprof("export", "--format", "folded", found["A"]).stdout)
	return found


class Runs:
	"""The runs of a command in which something fails."""

	def __init__(self, folder, words, inputs, environment=None):
		self.folder = folder
		self.command = [CPPROF, *(str(inputs.get(word, word)) for word in words)]
		self.environment = environment or {}
		self.earlier = inputs["A"]
		self.records = words[0] == "record"
		good = self.run()
		assert good.returncode == 0, good.stderr
		self.good = good.stdout

	def run(self, before=(), **environment):
		shutil.copy(self.earlier, self.folder / "out.data")
		process = subprocess.Popen([*before, *self.command], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			env={**os.environ, **self.environment, **environment}, start_new_session=True)
		try:
			out, err = process.communicate(timeout=SECONDS_ALLOWED)
		except subprocess.TimeoutExpired:
			os.killpg(process.pid, signal.SIGKILL)
			process.communicate()
			return subprocess.CompletedProcess(process.args, None, "", "it hangs")
		return subprocess.CompletedProcess(process.args, process.returncode, out, err)

	def wrong(self, result):
		"""Returns what is wrong with a run in which something failed, or None."""
		if result.returncode is None or result.returncode < 0 or result.returncode >= 128:
			return f"status {result.returncode}: {result.stderr[-500:]}"
		if result.returncode and "cpprof" not in result.stderr:
			return f"status {result.returncode} without an error message: {result.stderr[-500:]}"
		if result.returncode == 0 and not self.records and result.stdout != self.good:
			return f"status 0, and another result: {result.stdout[-500:]}{result.stderr[-500:]}"
		profiles = [name for name in ("out.data", "out.data.old") if (self.folder / name).exists()]
		readable = [name for name in profiles if name == "out.data" and "export" in self.command or run_cpprof("info", self.folder / name).returncode == 0]
		if not readable or (self.records and result.returncode == 0 and readable[0] != "out.data"):
			return f"status {result.returncode}, readable: {readable} of {profiles}: {result.stderr[-500:]}"
		for name in profiles:
			(self.folder / name).unlink()
		left = [entry.name for entry in self.folder.iterdir() if "out.data" in entry.name]
		return f"left: {left}" if left else None


def moments(first, last, name, count):
	"""Returns the numbers from first to last that are tried: all, or some that the name selects."""
	numbers = range(first, last + 1)
	return list(numbers) if ALL or len(numbers) <= count else sorted(random.Random(name).sample(numbers, count))


@pytest.mark.parametrize("name", NAMES)
def test_memory(tmp_path, inputs, name):
	library = build("failing_memory.c", linkage="shared", name="failing_memory.so")
	counted = tmp_path / "count"
	runs = Runs(tmp_path, COMMANDS[name], inputs, environment={"LD_PRELOAD": library, "FAIL_COUNT": str(counted)})
	last = int(counted.read_text())
	assert last > 10
	numbers = moments(1, last, name, SAMPLE["record" if runs.records else "others"])
	results = []
	for number in numbers:
		result = runs.run(FAIL_NTH=str(number))
		problem = runs.wrong(result)
		if problem:
			results.append(f"allocation {number} of {last}: {problem}")
	assert not results, f"{len(results)} of {len(numbers)}\n" + "\n".join(results[:10])


@pytest.mark.skipif(not shutil.which("strace"), reason="strace makes system calls fail")
@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls.split(",")[0])
@pytest.mark.parametrize("name", NAMES)
def test_system_calls(tmp_path, inputs, name, calls):
	runs = Runs(tmp_path, COMMANDS[name], inputs)
	log = tmp_path / "log"
	def count(command):
		subprocess.run(["strace", "-qq", "-o", log, "-e", f"trace={calls}", *command], cwd=tmp_path, capture_output=True, check=False)
		return len(re.findall(r"^\w+\(", log.read_text(), re.MULTILINE))
	first = count([CPPROF, "--version"]) # the dynamic linker's
	last = count(runs.command)
	numbers = moments(first + 1, last, name + calls, SAMPLE["record" if runs.records else "others"] // 2)
	results = []
	for number in numbers:
		result = runs.run(["strace", "-qq", "-o", str(log), "-e", f"trace={calls}", "-e", f"inject={calls}:error={CALLS[calls]}:when={number}"])
		problem = runs.wrong(result)
		if problem:
			failed = re.search(r"^(\w+\(.*)\(INJECTED\)", log.read_text(), re.MULTILINE)
			results.append(f"call {number} of {last}, {failed and failed[1][:150]}: {problem}")
	assert not results, f"{len(results)} of {len(numbers)}\n" + "\n".join(results[:10])
