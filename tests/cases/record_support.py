"""Helpers of the tests of `cpprof record`: they build programs, record them, and read the profiles."""
import csv
import ctypes
import functools
import hashlib
import math
import os
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest
from json_support import valid_json
from measuring import near

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
PROGRAMS = REPOSITORY / "tests/programs"
SECONDS_ALLOWED = 120

SYS_PERF_EVENT_OPEN = 298
CLOSING_LINE = re.compile(r"cpprof: ([\d,]+) samples?, ([\d,]+) lost(?:, ([\d.]+) % whole(?: \([\d,]+ completed\))?)?"
	r"(?:, ([\d.]+) % partly guessed)?(?:, ([\d.]+) % broken)?, .*")


@functools.cache
def perf_refusal():
	"""Returns the reason why the kernel refuses a user-mode CPU clock of our own process, or None."""
	attribute = bytearray(128)
	exclude_kernel_and_hypervisor = 0x60
	struct.pack_into("=IIQQQQQ", attribute, 0, 1, 128, 0, 1000000, 0, 0, exclude_kernel_and_hypervisor)
	buffer = (ctypes.c_char * len(attribute)).from_buffer(attribute)
	libc = ctypes.CDLL(None, use_errno=True)
	fd = libc.syscall(SYS_PERF_EVENT_OPEN, buffer, 0, -1, -1, 0)
	if fd < 0:
		return os.strerror(ctypes.get_errno())
	os.close(fd)
	return None


needs_perf = pytest.mark.skipif(perf_refusal() is not None, reason=f"perf events are refused here: {perf_refusal()}")

# A test that samples each event, or the kernel's: the rings of an unprivileged user are too small, and may not show what happens in the kernel.
needs_whole_perf = pytest.mark.skipif(perf_refusal() is not None or os.geteuid() != 0, reason="perf limits the rings and the events of users other than root")


@functools.cache
def bpf_refusal():
	"""Returns the reason that `cpprof resources` gives why system calls cannot be counted in the kernel here, or None."""
	if not os.path.exists(CPPROF):
		return None
	result = subprocess.run([CPPROF, "resources"], capture_output=True, text=True, check=False)
	refused = re.search(r"^syscalls\S*\s+\S+\s+\S+\s+-\s+(.*)", result.stdout, re.MULTILINE)
	return refused.group(1) if refused else None


needs_bpf = pytest.mark.skipif(bpf_refusal() is not None, reason=f"{bpf_refusal()}")

# The standard C++ library checks its callers.
CHECKED = ["-D_GLIBCXX_ASSERTIONS"]

LINKAGES = {
	"pie": ["-fPIE", "-pie"],
	"no-pie": ["-fno-pie", "-no-pie"],
	"static": ["-static"],
	"static-pie": ["-static-pie", "-fPIE"],
	"shared": ["-fPIC", "-shared"],
}


def build(source, *flags, compiler="gcc", level="-O2", linkage="pie", name=None, strip=False):
	"""Compiles a file of tests/programs, once for each text and set of flags. Returns the program's path."""
	path = PROGRAMS / source
	if path.suffix == ".rs":
		command = ["rustc", "--edition=2021", "-O", "-g", *flags]
	else:
		if path.suffix == ".cpp":
			compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
		command = [compiler, level, "-g", "-D_GNU_SOURCE", "-pthread", *CHECKED, *LINKAGES[linkage]]
		if level != "-O0":
			command.append("-fomit-frame-pointer")
	key = hashlib.sha256()
	for part in [path, *sorted({PROGRAMS / "burn.h", PROGRAMS / "events.h", *path.parent.glob("*.h")})]:
		key.update(part.read_bytes())
	key.update(repr((command, flags, strip)).encode())
	output = BUILD / "tests/programs" / key.hexdigest()[:16] / (name or path.stem)
	if not output.exists():
		output.parent.mkdir(parents=True, exist_ok=True)
		partial = output.with_name(f"{output.name}.{os.getpid()}")
		subprocess.run([*command, "-o", partial, path, *(() if path.suffix == ".rs" else flags)], check=True)
		if strip:
			subprocess.run(["strip", partial], check=True)
		partial.rename(output)
	return str(output)


class Recorded:
	"""One run of `cpprof record`: its status, its output, and its profile."""

	def __init__(self, result, path):
		self.status = result.returncode
		self.out = result.stdout
		self.err = result.stderr
		self.path = Path(path)

	def closing(self):
		"""Returns (samples, lost, % that reach their root) from the closing line."""
		samples, lost, _, _, broken = self.closing_shares()
		return samples, lost, 100 - broken

	def closing_shares(self):
		"""Returns (samples, lost, whole %, partly guessed %, broken %) from the closing line."""
		found = CLOSING_LINE.findall(self.err)
		assert found, f"no closing line in: {self.err!r}"
		samples, lost, *shares = found[-1]
		return int(samples.replace(",", "")), int(lost.replace(",", "")), *(float(share or 0) for share in shares)

	def paths(self, resource=None, *selection):
		return folded(self.path, resource, *selection)

	def info(self):
		result = run_cpprof("info", "--format", "json", self.path)
		assert result.returncode == 0, result.stderr
		return valid_json(result.stdout)

	def resource(self, name):
		"""Returns the entry of `cpprof info` for a resource: its total, hits, samples, interval, unit."""
		found = [resource for resource in self.info()["resources"] if resource["name"] == name]
		assert len(found) == 1, self.info()["resources"]
		return found[0]


def run_cpprof(*args, before=(), **options):
	"""Runs cpprof. `before`: a command that starts it, such as setpriv with its options."""
	settings = {"capture_output": True, "text": True, "timeout": SECONDS_ALLOWED, **options}
	return subprocess.run([*before, CPPROF, *map(str, args)], check=False, **settings)


def reported(path, *options):
	"""Returns {path as `cpprof report` prints it: hits} for a profile and a kind of list, without the modules of ambiguous names."""
	result = run_cpprof("report", "--threshold", 0, "--limit", 0, "--format", "csv", *options, path)
	assert result.returncode == 0, result.stderr
	return {row["path"].split("@")[0]: int(row["hits"]) for row in csv.DictReader(result.stdout.splitlines())}


def record(folder, command, *options, **settings):
	"""Records a command into `folder`/out.data. Returns the run."""
	path = Path(folder) / "out.data"
	result = run_cpprof("record", "-o", path, *options, "--", *command, **{"cwd": folder, **settings})
	return Recorded(result, path)


HITS = 14 # the type of a block


def blocks_of(data):
	"""Returns [(offset, size, type, rows)] of a profile's blocks (docs/format.md)."""
	found, at = [], 16
	while at < len(data):
		kind, _, rows, stored = struct.unpack_from("<HHII", data, at)
		found.append((at, 40 + stored, kind, rows))
		at += 40 + stored
	return found


NEW_THREAD = [("clone3",), ("clone",), ("__clone3",), ("__clone",)]


def record_well(folder, command, *options, status=0, **settings):
	"""Records a command and requires the given exit status, no losses, and at most 1 % broken paths (with a binomial tolerance).
	Does not count the paths of threads that are still in their first system call: they have no caller and last an unknown time."""
	recorded = record(folder, command, *options, **settings)
	assert recorded.status == status, recorded.err
	samples, lost, complete = recorded.closing()
	assert samples > 0, recorded.err
	assert lost == 0, recorded.err
	if complete < 100:
		paths = [recorded.paths(resource["name"]) for resource in recorded.info()["resources"] if resource["hits"]]
		broken = sum(count for one in paths for path, count in one.items() if path[0] == "[incomplete stack]" and path[1:] not in NEW_THREAD)
		everything = sum(map(hits, paths))
		assert broken <= most_by_chance(0.01, everything), f"{recorded.err}\n{run_cpprof('info', recorded.path).stdout}"
	return recorded


def folded(path, resource=None, *selection):
	"""Returns {(outermost function, ..., innermost): hits}, from `cpprof export` with the options of a selection."""
	options = [*selection, *(["-r", resource] if resource else [])]
	result = run_cpprof("export", "--format", "folded", *options, path)
	assert result.returncode == 0, result.stderr
	paths = {}
	for line in result.stdout.splitlines():
		frames, count = line.rsplit(" ", 1)
		key = tuple(frames.split(";"))
		paths[key] = paths.get(key, 0) + int(count)
	return paths


def frame_is(frame, name):
	"""Returns whether a frame shows this function, with any parameters, template arguments, namespaces and clone suffixes."""
	return re.search(rf"(?:^|[:\s]){re.escape(name)}(?:$|[.(<@\s])", frame) is not None


def holds(path, names):
	"""Returns whether the path has frames with these names in this order, with any frames between them."""
	frames = iter(path)
	return all(any(frame_is(frame, name) for frame in frames) for name in names)


def hits(paths, *names):
	"""Returns the hits of all paths that contain these names in order; without a name, all hits."""
	return sum(count for path, count in paths.items() if holds(path, names))


FALSE_ALARM = 1e-7 # the probability that one comparison fails by chance; there are about 2,000 in a run of all tests


@functools.cache
def tail(samples, count, fraction):
	"""Returns the probability that at least `count` of so many independent samples hit code that uses this fraction of the time."""
	if count <= 0:
		return 1.0
	if fraction <= 0 or count > samples:
		return 0.0
	if fraction >= 1:
		return 1.0
	log_p, log_q = math.log(fraction), math.log1p(-fraction)
	whole = math.lgamma(samples + 1)
	total = 0.0
	for k in range(count, samples + 1):
		term = math.exp(whole - math.lgamma(k + 1) - math.lgamma(samples - k + 1) + k * log_p + (samples - k) * log_q)
		total += term
		if k > samples * fraction and term < 1e-4 * total:
			break
	return total


@functools.cache
def most_by_chance(fraction, samples, alarm=FALSE_ALARM):
	"""Returns the largest number of independent samples, up to the probability `alarm`, that hits code with this fraction."""
	low, high = int(fraction * samples), samples
	while low < high:
		middle = (low + high + 1) // 2
		low, high = (middle, high) if tail(samples, middle, fraction) >= alarm else (low, middle - 1)
	return low


def tolerance(fraction, samples):
	"""Returns how far a measured fraction of so many samples may be from the true one. A larger distance, to either side, has a
	probability below FALSE_ALARM: exactly, by the binomial distribution. Clocks that sample at even intervals vary less. (With
	many samples it is 5.3 standard errors.) It is never below half a percent, which allows for what a program does besides its
	work and what is inlined."""
	samples = max(int(samples), 1)
	above = most_by_chance(fraction, samples) / samples - fraction
	below = most_by_chance(1 - fraction, samples) / samples - (1 - fraction)
	return max(above, below, 0.005)


def agrees(paths, names, fraction, work=None, hits_each=1):
	"""Fails unless these names have the expected share of the hits. Only samples that contain one of the names `work` count.
	The share may be smaller by the fraction of broken stacks. `hits_each`: the hits of a sample on average; late ticks have several."""
	paths = of_work(paths, work or names[-1:])
	total = hits(paths)
	assert total > 50, f"{total} samples"
	share = hits(paths, *names) / total
	broken = hits(paths, "[incomplete stack]") / total
	allowed = tolerance(fraction, total / hits_each)
	near(share if share > fraction else min(share + broken, fraction), fraction, allowed, f"{total} samples\n{show(paths)}", what=";".join(names))


def of_work(paths, work):
	"""Returns the paths that contain one of these names. That excludes the start and end of processes and threads, which last an
	unknown time."""
	return {path: count for path, count in paths.items() if any(holds(path, [name]) for name in work)}


def of_main(paths):
	"""Returns the paths without those in which the kernel, the dynamic linker and the C library start and end a process."""
	return {path: count for path, count in paths.items()
		if path[0] not in ("_start", "_exit", "exit", "[kernel: exec or exit]", "[not sampled]") and not path[0].startswith("_dl_")}


def show(paths, most=12):
	"""Returns the heaviest paths as text, for a failure's message."""
	ordered = sorted(paths.items(), key=lambda item: -item[1])[:most]
	return "\n".join(f"{count:6d} {';'.join(path[:12])}{f' ... {len(path)} frames' if len(path) > 12 else ''}"
		for path, count in ordered)


def truths(text):
	"""Returns what the program states about itself: [([names], fraction)] from its `share` lines."""
	found = re.findall(r"^share (\S+) ([\d.]+)$", text, re.MULTILINE)
	assert found, f"the program stated nothing: {text!r}"
	return [(path.split(";"), float(fraction)) for path, fraction in found]


def check_truths(recorded, within=()):
	"""Checks the fractions that the program states. `within`: use only paths that contain these names, because other programs ran
	too. Returns the paths."""
	paths = recorded.paths()
	stated = truths(recorded.out)
	work = {names[-1] for names, _ in stated}
	paths = {path: count for path, count in paths.items() if holds(path, within)}
	for names, fraction in stated:
		agrees(paths, names, fraction, work)
	return paths


def amounts(text):
	"""Returns what the program states about itself: [(resource, [names], gticks)] from its `amount` lines."""
	found = re.findall(r"^amount (.+) (\S+) (\d+)$", text, re.MULTILINE)
	assert found, f"the program stated nothing: {text!r}"
	return [(resource, path.split(";"), int(gticks)) for resource, path, gticks in found]


def check_amounts(recorded, resource):
	"""Checks the amounts that the program states, for a recording at interval 1: each gtick is a hit, so all amounts and the
	total are exact."""
	reported = recorded.resource(resource)
	paths = recorded.paths(resource)
	assert reported["interval"] == 1 and reported["lost"] == 0, reported
	assert reported["total"] == reported["hits"] == hits(paths), f"{reported}\n{show(paths)}"
	stated = [(names, gticks) for name, names, gticks in amounts(recorded.out) if name == resource]
	assert stated
	for names, gticks in stated:
		assert hits(paths, *names) == gticks, f"{resource} {';'.join(names)}: {hits(paths, *names)}, not {gticks}\n{show(paths)}"


def await_program(process, name):
	"""Waits until a descendant of a process executes the program of this name."""
	end = time.monotonic() + SECONDS_ALLOWED
	while name[:15] not in names_below(process.pid):
		assert process.poll() is None and time.monotonic() < end, f"{name} does not run"
		time.sleep(0.01)


def names_below(pid):
	"""Returns the names of all descendants of a process."""
	try:
		children = [int(word) for path in Path(f"/proc/{pid}/task").iterdir() for word in (path / "children").read_text().split()]
		return {name for child in children for name in ((Path(f"/proc/{child}/comm").read_text().strip()), *names_below(child))}
	except OSError: # one has just ended
		return set()


def have(tool):
	return shutil.which(tool) is not None


# --- programs that count ---

# How each backend samples each event of a program of tests/programs/events.h: how the program is compiled, and what is recorded.
LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
COUNTED = {
	"perf": (["-DEVENTS=EVENTS_PAGES"], "page-faults/1"),
	"bpf": (["-DEVENTS=EVENTS_CALLS"], "syscalls:getppid/1"),
	"preload": (["-DEVENTS=EVENTS_TICKS", f"-I{REPOSITORY}/include", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], "own:event/1"),
}
# Events of a whole machine that perf or bpf can sample there, where page faults are frequent.
MOVES = (["-DEVENTS=EVENTS_MOVES"], "migrations/1")
needs_two_processors = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor alone")
# The backends as parameters of a test that counts.
PERF = pytest.param("perf", marks=needs_whole_perf)
BACKENDS = [PERF, pytest.param("bpf", marks=needs_bpf), "preload"]
# perf copies a stack for each event: of a burst that does not fit into its rings, a slow recorder loses a part.
BURST_BACKENDS = [pytest.param("perf", marks=[needs_whole_perf, pytest.mark.unsanitized("a sanitized recorder is too slow for the burst")]), *BACKENDS[1:]]


def build_counted(backend, source, *flags, event_us=5, **options):
	"""Compiles a program so that it makes one event of this backend where it would otherwise use `event_us` microseconds."""
	return build(source, *flags, f"-DEVENT_US={event_us}", *COUNTED[backend][0], **options)


def record_counted(backend, folder, command, *options, status=0, **settings):
	"""Records each event of a program that counts. Requires that no sample is lost."""
	recorded = record(folder, command, "--backend", backend, "-r", COUNTED[backend][1], *options, **settings)
	assert recorded.status == status, recorded.err
	assert recorded.closing()[1] == 0, recorded.err
	return recorded


def record_held(backend, folder, command, *conditions, resource=None):
	"""Records a program that waits for input, as hold() of hold.h does, and lets it go on each time that its profile fulfils the next condition: then the
	recorder has read the stack, and what is above the copy of it, as they were. The condition None: the profile is there, without samples."""
	path = folder / "out.data"
	assert not path.exists(), "an older profile would fulfil the conditions"
	words = ["record", "-o", path, "--backend", backend, "-r", resource or COUNTED[backend][1], "--", *command]
	recorder = subprocess.Popen([CPPROF, *words], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	recorded = Recorded(subprocess.CompletedProcess(command, None), path)
	limit, read = time.monotonic() + SECONDS_ALLOWED, 0
	for condition in conditions:
		while True:
			before, read = read, path.stat().st_size if path.exists() else 0
			words = ["info"] if condition is None else ["export", "--format", "folded"]
			if read != before and run_cpprof(*words, path).returncode == 0 and (condition is None or condition(recorded)):
				break
			assert time.monotonic() < limit and recorder.poll() is None, f"{command}: it does not hold"
			time.sleep(0.02)
		recorder.stdin.write("\n")
		recorder.stdin.flush()
	out, err = recorder.communicate(timeout=SECONDS_ALLOWED)
	recorded = Recorded(subprocess.CompletedProcess(command, recorder.returncode, out, err), path)
	assert recorded.status == 0 and recorded.closing()[1] == 0, recorded.err
	return recorded


def events_of(recorded, *selection, within=()):
	"""Returns {path: events} of the program's events, without `countable_event` and what is below it. Other page faults end elsewhere.
	`selection`: options of `cpprof export`. `within`: only paths that contain these names, because other programs ran too."""
	paths = {}
	for path, count in recorded.paths(None, *selection).items():
		last = next((at for at, frame in enumerate(path) if frame_is(frame, "countable_event")), None)
		if last is not None and holds(path, within):
			paths[path[:last]] = paths.get(path[:last], 0) + count
	return paths


def check_counted(recorded, events, within=(), may_break=()):
	"""Checks that the program's events are so many, and that each path that it states has exactly its part of them. A path may be broken
	only if it contains one of the names `may_break`: then its outermost frames may be missing, but no event and no other frame. Returns
	the paths of the events."""
	paths = events_of(recorded, within=within)
	assert hits(paths) == events, f"{hits(paths)} events, not {events}\n{show(paths)}"
	for path in paths:
		assert path[0] != "[incomplete stack]" or set(path) & set(may_break), show(paths)
	for names, fraction in truths(recorded.out):
		cut = ["[incomplete stack]", *names[1:]]
		found = sum(count for path, count in paths.items() if holds(path, names) or holds(path, cut))
		assert abs(found - fraction * events) < 0.1, f"{';'.join(names)}: {found} events, not {fraction * events:.1f}\n{show(paths)}"
	return paths
