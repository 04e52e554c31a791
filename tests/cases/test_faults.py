"""
One allocation or system call of a command fails: it prints an error and returns a status that is not 0, or its result is as good as
without the failure. It never crashes, never hangs, and never damages an earlier profile. A run tests a sample of the moments;
CPPROF_FAULTS=all tests each, and `pytest -rP` shows how many there were.
"""
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest
from cli_support import CPPROF
from pprof_support import encode_field as field, encode_varint as varint
from record_support import PROGRAMS, SECONDS_ALLOWED, build, needs_bpf, needs_perf, record, run_cpprof

pytestmark = pytest.mark.long("one system call or allocation fails at a time")

ALL = os.environ.get("CPPROF_FAULTS") == "all"
SAMPLE = {"record": 8, "report": 400, "others": 10, "naming": 30} # of the summary all: a part that is left out looks like a shorter summary

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
	"markdown": ["diff", "--markdown", "--shares", "--path", "main", "A", "B"],
	"explain": ["explain", "--format", "json", "A"],
	"whatif": ["whatif", "A", "main;invoice=0.5"],
	"export": ["export", "--format", "folded", "-o", "out.data", "A"],
	"import": ["import", "--format", "folded", "-o", "out.data", "F"],
	"pprof": ["import", "--format", "pprof", "-o", "out.data", "G"],
	"script": ["import", "--format", "perf-script", "-o", "out.data", "L"],
	"strace": ["import", "--format", "strace", "-o", "out.data", "Y"],
	"heaptrack": ["import", "--format", "heaptrack", "-o", "out.data", "Z"],
	"speedscope": ["import", "--format", "speedscope", "-o", "out.data", "S"],
	"callgrind": ["import", "--format", "callgrind", "-o", "out.data", "C"],
	"chrome": ["import", "--format", "chrome", "-o", "out.data", "T"],
	"firefox": ["import", "--format", "firefox", "-o", "out.data", "X"],
	"bpf": ["record", "--backend", "bpf", "-o", "out.data", "--", "P", "3"],
	"perf": ["record", "--backend", "perf", "-o", "out.data", "--", "P", "3"],
	"preload": ["record", "--backend", "preload", "-o", "out.data", "--", "P", "3"],
	"instrumented": ["record", "--instrumented=paths", "-o", "out.data", "--", "H", "3"],
	"trace": ["record", "--instrumented=trace", "-r", "cpu", "-o", "out.data", "--", "H", "3"],
	"allocations": ["record", "--instrumented", "-r", "alloc-bytes/1", "-o", "out.data", "--", "H", "3"],
	"events": ["trace", "-o", "events", "--", "P", "3"],
	"contextualize": ["contextualize", "A"],
	"copies": ["contextualize", "--edit", "--source", "generic.c", "main;digest;each;fold;op_xor"],
	"mcp": ["mcp"],
	"unfinished": ["report", "--lines", "--format", "csv", "K"],
	"init": ["store", "init", "--store", "new.db"],
	"add": ["store", "add", "--store", "store.db", "B"],
	"stats": ["store", "stats", "--store", "store.db"],
	"prune": ["store", "prune", "--store", "store.db", "--older-than", "0s"],
}
CHILDREN = {"copies"} # a child does their work
EXHAUSTED = COMMANDS if ALL else ["bpf", "perf", "preload", "instrumented", "trace", "events", "unfinished", "add"]
LATE = {"events": 170} # of the allocations, the last allocations happen while events arrive
STORES = {"new.db": None, "store.db": "D"} # {file: what it is before each run}
MARKS = {"bpf": needs_bpf, "perf": needs_perf, "events": needs_bpf}
SCRIPT = """prog 100/101 [001] 12.5: 1000 cpu-clock:u:
\t    4005d0 work+0x10 (/bin/prog)
\t    400600 main+0x20 (/bin/prog)

prog 100/102 12.6: 1 page-faults:u:
\t    7f00 [unknown] ([unknown])
\t    400600 main+0x20 (/bin/prog)

"""
STRACE_LOG = """10<prog> 1.5 execve("./prog", ["prog"], 0x1) = 0 <0.001>
 > /bin/prog(main+0x20) [0x600]
10<prog> 1.6 clone(flags=SIGCHLD) = 11 <0.002>
11<prog> 1.7 close(3) = 0 <0.003>
no call
"""
HEAPTRACK_LOG = """v 10400 3
X ./prog
s 9 /bin/prog
s 4 main
s 6 prog.c
i 4005d0 1 2 3 a
t 1 0
a 10 1
+ 0
c 10
+ 0
- 0
"""
REQUESTS = [
	{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
	{"method": "tools/list"},
	{"method": "tools/call", "params": {"name": "report_functions", "arguments": {"file": "out.data", "resource": ["cpu"]}}},
	{"method": "tools/call", "params": {"name": "explain", "arguments": {"file": "absent.data"}}},
]
NAMES = [pytest.param(name, marks=MARKS.get(name, ())) for name in COMMANDS]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
	"""{letter of COMMANDS: the file}"""
	folder = tmp_path_factory.mktemp("faults")
	program = build("forms.c")
	found = {"P": program, "H": build("forms.c", "-finstrument-functions", name="forms_hooks")}
	for letter in "AB":
		path = record(folder, [program, "10"], "--backend", "preload").path
		found[letter] = path.rename(folder / f"{letter}.data")
	found["F"] = folder / "folded"
	found["F"].write_text(run_cpprof("export", "--format", "folded", found["A"]).stdout)
	found["G"] = folder / "a.pb.gz"
	found["G"].write_bytes(gzip.compress(labelled_pprof()))
	found["L"] = folder / "script"
	found["L"].write_text(SCRIPT)
	found["Y"] = folder / "strace"
	found["Y"].write_text(STRACE_LOG)
	found["Z"] = folder / "heaptrack"
	found["Z"].write_text(HEAPTRACK_LOG)
	found["D"] = folder / "D.db"
	assert run_cpprof("store", "add", "--store", found["D"], found["A"]).returncode == 0
	found["K"] = unfinished(folder, program)
	for letter, name in {"S": "speedscope", "C": "callgrind", "T": "chrome", "X": "firefox"}.items():
		found[letter] = folder / f"A.{name}"
		assert run_cpprof("export", "--format", name, "-o", found[letter], found["A"]).returncode == 0
	return found


def unfinished(folder, program):
	"""Returns the profile of a recorder that was killed. Its addresses have no names: readers name them in the jail."""
	path = folder / "K.data"
	recorder = subprocess.Popen([CPPROF, "record", "--backend", "preload", "-o", path, "--", program, "100000"], stderr=subprocess.DEVNULL,
		stdout=subprocess.DEVNULL, start_new_session=True)
	while not path.exists() or not re.search(r"^\d+ samples?\b|\bhits\b", run_cpprof("info", path).stdout, re.MULTILINE):
		time.sleep(0.1)
	os.killpg(recorder.pid, signal.SIGKILL)
	recorder.wait()
	return path


def labelled_pprof():
	"""Returns a profile of pprof: two samples with labels, of a path of two functions."""
	texts = ("", "samples", "count", "main", "work", "main.c", "tenant", "acme", "/bin/prog")
	samples = [field(2, field(1, varint(2) + varint(1)) + field(2, varint(count)) + field(3, field(1, 6) + field(2, 7))) for count in (3, 4)]
	places = [field(4, field(1, id) + field(2, 1) + field(4, field(1, id) + field(2, id))) + field(5, field(1, id) + field(2, 2 + id) + field(4, 5)) for id in (1, 2)]
	mapping = field(3, field(1, 1) + field(2, 0x400000) + field(3, 0x500000) + field(5, 8))
	return field(1, field(1, 1) + field(2, 2)) + b"".join(samples) + mapping + b"".join(places) + b"".join(field(6, text.encode()) for text in texts)


def reports_error(line):
	"""Returns whether an answer of the server is an error, or the result of a tool that failed."""
	answer = json.loads(line)
	return "error" in answer or answer["result"].get("isError", False)


class Runs:
	"""The runs of a command in which something fails."""

	def __init__(self, folder, words, inputs, environment=None):
		self.folder = folder
		self.command = [CPPROF, *(str(inputs.get(word, word)) for word in words)]
		self.environment = environment or {}
		self.input = "".join(json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n" for number, request in enumerate(REQUESTS))
		self.earlier = inputs["A"]
		self.records = words[0] == "record"
		self.stores = {folder / name: inputs.get(letter) for name, letter in STORES.items() if words[0] == "store"}
		shutil.copy(PROGRAMS / "generic.c", folder)
		self.restore_stores()
		self.before = self.contents()
		good = self.run()
		assert good.returncode == 0, good.stderr
		self.good = good.stdout
		self.after = self.contents()

	def restore_stores(self):
		for path, original in self.stores.items():
			for left in path.parent.glob(path.name + "*"):
				left.unlink()
			if original:
				shutil.copy(original, path)

	def contents(self):
		"""Returns {name: the figures of the store, or False if it does not exist}. Its size is not compared: the log may remain."""
		return {path.name: path.exists() and run_cpprof("store", "stats", "--store", path).stdout.partition("\nsize ")[0]
			for path in self.stores}

	def run(self, before=(), **environment):
		shutil.copy(self.earlier, self.folder / "out.data")
		self.restore_stores()
		process = subprocess.Popen([*before, *self.command], cwd=self.folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			env={**os.environ, **self.environment, **environment}, start_new_session=True)
		try:
			out, err = process.communicate(self.input, timeout=SECONDS_ALLOWED)
		except subprocess.TimeoutExpired:
			os.killpg(process.pid, signal.SIGKILL)
			process.communicate()
			return subprocess.CompletedProcess(process.args, None, "", "it hangs")
		return subprocess.CompletedProcess(process.args, process.returncode, out, err)

	def is_good(self, result):
		"""Returns whether a command with status 0 has printed its result. The server continues after an answer that reports an error."""
		if "mcp" in self.command:
			answers, good = result.stdout.splitlines(), self.good.splitlines()
			return len(answers) == len(good) and all(answer == expected or reports_error(answer) for answer, expected in zip(answers, good))
		if re.search(r"K\.data: cannot (open|read|inspect) ", result.stderr):
			return True # without the program's file, there are no names and lines
		if "trace" in self.command and ("exit_group" not in (self.folder / "events").read_text() or ", 0 lost, " not in result.stderr):
			return False
		return result.stdout == self.good

	def wrong(self, result):
		"""Returns what is wrong with a run in which something failed, or None."""
		if result.returncode is None or result.returncode < 0 or result.returncode >= 128:
			return f"status {result.returncode}: {result.stderr[-500:]}"
		if result.returncode and "cpprof" not in result.stderr:
			return f"status {result.returncode} without an error message: {result.stderr[-500:]}"
		if result.returncode == 0 and not self.records and not self.is_good(result):
			return f"status 0, and another result: {result.stdout[-500:]}{result.stderr[-500:]}"
		contents = self.contents()
		if contents != self.after and (result.returncode == 0 or contents != self.before):
			return f"status {result.returncode}, stores {contents} in place of {self.after}: {result.stderr[-500:]}"
		profiles = [name for name in ("out.data", "out.data.old") if (self.folder / name).exists()]
		readable = [name for name in profiles if name == "out.data" and "export" in self.command or run_cpprof("info", self.folder / name).returncode == 0]
		if not readable or (self.records and result.returncode == 0 and readable[0] != "out.data"):
			return f"status {result.returncode}, readable: {readable} of {profiles}: {result.stderr[-500:]}"
		for name in profiles:
			(self.folder / name).unlink()
		tally = self.folder / "out.data.tally" # the counts of a run whose profile could not be written; the error names it
		if tally.exists() and result.returncode and f"the counts are in {tally}" in result.stderr:
			if run_cpprof("info", tally).returncode:
				return f"status {result.returncode}, an unreadable tally: {result.stderr[-500:]}"
			tally.unlink()
		left = [entry.name for entry in self.folder.iterdir() if "out.data" in entry.name]
		return f"left: {left}" if left else None


def moments(first, last, name, count):
	"""Returns the numbers from first to last that are tried: all, or some that the name selects."""
	numbers = range(first, last + 1)
	return list(numbers) if ALL or len(numbers) <= count else sorted(random.Random(name).sample(numbers, count))


@pytest.mark.parametrize("name, rest", [pytest.param(name, rest, marks=MARKS.get(name, ()), id=f"{name}-{rest}")
	for rest, names in {"one": COMMANDS, "all": EXHAUSTED}.items() for name in names])
def test_memory(tmp_path, inputs, name, rest):
	"""One allocation fails, or from that one on all do."""
	library = build("failing_memory.c", linkage="shared", name="failing_memory.so")
	counted = tmp_path / "count"
	runs = Runs(tmp_path, COMMANDS[name], inputs, environment={"LD_PRELOAD": library, "FAIL_COUNT": str(counted),
		**({"FAIL_CHILD": "1"} if name in CHILDREN else {}), **({"FAIL_REST": "1"} if rest == "all" else {})})
	last = int(counted.read_text())
	assert last > 10
	first = 1 if ALL or name not in LATE else last - LATE[name]
	numbers = moments(first, last, name, SAMPLE["record" if runs.records else name if name in SAMPLE else "others"])
	results = []
	for number in numbers:
		result = runs.run(FAIL_NTH=str(number))
		problem = runs.wrong(result)
		if problem:
			results.append(f"allocation {number} of {last}: {problem}")
	print(f"{len(numbers)} of {last} allocations failed")
	assert not results, f"{len(results)} of {len(numbers)}\n" + "\n".join(results[:10])


@pytest.mark.parametrize("rest", ["one", "all"])
@pytest.mark.parametrize("calls", ["memory", "reads"])
def test_naming_process(tmp_path, inputs, calls, rest):
	"""An allocation, or a call that reads or answers, fails in the process without privileges that names addresses. The command goes on.
	Each function has its name and each address its line as without the failure, or a finding reports the module."""
	command = [CPPROF, "report", "--tree", "--by", "line", "--limit", "0", "--threshold", "0", "--format", "json", inputs["K"]]
	counted = tmp_path / "count"
	environment = {**os.environ, "LD_PRELOAD": build(f"failing_{calls}.c", linkage="shared", name=f"failing_{calls}.so"),
		"FAIL_COUNT": str(counted), "FAIL_CHILD": "1", **({"FAIL_REST": "1"} if rest == "all" else {})}
	def run(number):
		result = subprocess.run(command, env={**environment, "FAIL_NTH": str(number)}, capture_output=True, text=True, timeout=SECONDS_ALLOWED,
			check=False)
		return result.returncode, result.stderr, json.loads(result.stdout or "{}")
	status, err, good = run(0)
	assert status == 0, err
	last = int(counted.read_text())
	assert last > 100
	numbers = moments(1, last, calls + rest, SAMPLE["naming"])
	results, reported = [], 0
	for number in numbers:
		status, err, report = run(number)
		new = [finding for finding in report.get("findings", []) if finding not in good["findings"]]
		reported += any(finding["code"] == "file-unreadable" for finding in new)
		if status or report["results"] != good["results"] and not any(finding["code"] == "file-unreadable" for finding in new):
			results.append(f"call {number} of {last}: status {status}, {err[-300:]}, findings {new}")
	print(f"{len(numbers)} of {last} calls failed, {reported} with a finding")
	assert not results and reported, f"{len(results)} of {len(numbers)}\n" + "\n".join(results[:10])


@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls.split(",")[0])
@pytest.mark.parametrize("name", NAMES)
def test_system_calls(tmp_path, inputs, name, calls):
	runs = Runs(tmp_path, COMMANDS[name], inputs)
	log = tmp_path / "log"
	traced = ["strace", "-qq", *(["-f"] if name in CHILDREN else []), "-o", str(log), "-e", f"trace={calls}"]
	def calls_of(command):
		"""Returns the calls, of the process that makes most of them."""
		subprocess.run([*traced, *command], cwd=tmp_path, input=runs.input, text=True, capture_output=True, check=False)
		processes = {}
		for process, call in re.findall(r"^(?:(\d+) +)?(\w+\(\d*)", log.read_text(), re.MULTILINE):
			processes.setdefault(process, []).append(call)
		return max(processes.values(), key=len, default=[])
	first = sum(not call.endswith("(1") for call in calls_of([CPPROF, "--version"])) # the dynamic linker's, without those for the printed text
	last = len(calls_of(runs.command))
	numbers = moments(first + 1, last, name + calls, SAMPLE["record" if runs.records else "others"] // 2)
	results = []
	for number in numbers:
		result = runs.run([*traced, "-e", f"inject={calls}:error={CALLS[calls]}:when={number}"])
		problem = runs.wrong(result)
		failed = re.search(r"^((?:\d+ +)?\w+\(.*)\(INJECTED\)", log.read_text(), re.MULTILINE)
		# A message that standard error refuses can be reported nowhere.
		if problem and not (failed and re.match(r"(?:\d+ +)?write\(2,", failed[1])):
			results.append(f"call {number} of {last}, {failed and failed[1][:150]}: {problem}")
	print(f"{len(numbers)} of {last - first} system calls failed")
	assert not results, f"{len(results)} of {len(numbers)}\n" + "\n".join(results[:10])
