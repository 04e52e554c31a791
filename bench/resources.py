"""The part `resources`: the cost of counting bytes, calls and allocations, of walking stacks in the kernel, and of all at once."""
import ctypes
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

from peers import BUILD, CPPROF, closing_line, cpprof_record, measure_well, words
from turns import BARE, cpu, in_turns, own_time, times_bare, wall

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
DATA = WORK / "data"
OURS = "cpprof"
BPFTRACE = "bpftrace sum"
BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"
SYS_BPF, BPF_PROG_GET_FD_BY_ID = 321, 13 # the numbers on x86_64
TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
DATABASE = DATA / "turn.db"
# With address randomization the addresses, and therefore the page faults and the calls of brk, differ between runs.
SAME_ADDRESSES = ["setarch", "-R"]
COUNTS = ["page-faults", "syscalls", "read-bytes", "alloc-bytes"]
TIMES = ["cpu", "real"]
KERNEL_ROUNDS = 3


def check_tools():
	for tool in "bpftrace", "heaptrack", "perf", "setarch", "strace":
		if not shutil.which(tool):
			sys.exit(f"bench/run: {tool} is missing (tools/setup bench)")
	if os.geteuid() != 0:
		sys.exit("bench/run: the part 'resources' needs root, as the eBPF programs do")
	mount_tracefs()


def mount_tracefs():
	"""If tracefs is not mounted, restarts this program in a mount namespace that has it. cpprof does not need the mount, but
	bpftrace and perf do."""
	if any(os.path.isdir(f"{folder}/events") for folder in TRACEFS):
		return
	mount = f"mount -t tracefs tracefs {TRACEFS[0]}"
	if subprocess.run(["unshare", "-m", "sh", "-c", mount], check=False).returncode != 0:
		sys.exit(f"bench/run: the part 'resources' needs tracefs, which cannot be mounted here (as root: {mount})")
	os.execvp("unshare", ["unshare", "-m", "sh", "-c", f'{mount} && exec "$0" "$@"', sys.executable, *sys.argv])


def times(value):
	return f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


# --- one resource ---

def add_ratios(table, what, runs, figure, target, good, more=""):
	"""Adds one row: each way's figure divided by the bare program's. `good` gets {way: ratio}; `more` is appended to the peers."""
	ratios = {way: times_bare(runs, way, figure) for way in runs if way != BARE}
	bare = statistics.median(figure(run) for run in runs[BARE])
	peers = [f"{way} {times(ratio)}" for way, ratio in ratios.items() if way != OURS] + [more] * bool(more)
	table.add(what, f"bare {bare:.2f} s", times(ratios[OURS]), ", ".join(peers), target, good(ratios))


def slow_readers():
	"""Runs the tools that stop the program at each read: once, on fewer reads."""
	command = words([WORK / "reads", 100000])
	return in_turns({
		BARE: command,
		"strace -c": ["strace", "-c", "-o", "/dev/null", *command],
		"perf trace -s": ["perf", "trace", "-s", "-o", "/dev/null", *command],
	}, 1)


def bench_reads(table, rounds, quick):
	command = [WORK / "reads"]
	perf = ["perf", "record", "-q", "-B", "-N", "-e", "syscalls:sys_exit_read", "-o", str(DATA / "turn.perf")]
	runs = in_turns({
		BARE: words(command),
		OURS: cpprof_record(command, DATA / "turn.data", ["-r", "read-bytes/64KiB", "-r", "syscalls/1000"]),
		BPFTRACE: ["bpftrace", "-q", "-e", "tracepoint:syscalls:sys_exit_read { @ = sum(args->ret); }", "-c", str(command[0])],
		"perf record": [*perf, *words(command)],
		"perf record -g": [*perf, "-g", *words(command)],
	}, rounds, few={"perf record": 2, "perf record -g": 2})
	slow = {} if quick else slow_readers()
	more = ", ".join(f"{way} {times(times_bare(slow, way, own_time))}" for way in slow if way != BARE)
	more += " (own time of 0.1 M reads, once)" if more else ""
	what = "1 M small reads: "
	add_ratios(table, what + "the whole command", runs, wall, "<= 2.2x", lambda ratios: ratios[OURS] <= 2.2, more)
	add_ratios(table, what + "the target's own time", runs, own_time, "<= 2.2x", lambda ratios: ratios[OURS] <= 2.2, more)


def bench_allocations(table, rounds):
	command = [WORK / "mallocs"]
	ways = {
		BARE: words(command),
		OURS: cpprof_record(command, DATA / "turn.data", ["-r", "alloc-bytes/512KiB"]),
		BPFTRACE: ["bpftrace", "-q", "-e", "uprobe:libc:malloc { @ = sum(arg0); }", "-c", str(command[0])],
		"heaptrack": ["heaptrack", "-o", str(DATA / "turn.heaptrack"), *words(command)],
	}
	runs = in_turns(ways, rounds)
	for what, figure in ("2 M mallocs: the whole command", wall), ("2 M mallocs: the target's own time", own_time):
		add_ratios(table, what, runs, figure, f"<= {BPFTRACE}", lambda ratios: ratios[OURS] <= ratios[BPFTRACE])
	for left in DATA.glob("turn.heaptrack*"):
		left.unlink()


# --- all at once ---

def forget_database():
	for left in DATA.glob("turn.db*"):
		left.unlink()


def totals_of(profile):
	info = json.loads(subprocess.run([CPPROF, "info", "--format", "json", profile], check=True, stdout=subprocess.PIPE).stdout)
	return {resource["name"]: resource["total"] for resource in info["resources"]}


def record_database(resources):
	options = [word for name in resources for word in ("-r", name)]
	return [*SAME_ADDRESSES, *cpprof_record([WORK / "sqlite3", DATABASE], DATA / "turn.data", options)]


def totals_alone(script):
	"""Returns {resource: its total in a run that measures only this one}."""
	totals = {}
	for name in TIMES + COUNTS:
		forget_database()
		measure_well(record_database([name]), script)
		totals |= totals_of(DATA / "turn.data")
	return totals


def add_totals(table, together, alone, run):
	"""
	Adds the totals. Counts must be equal, whatever else is measured. Times need not be, because the kernel measures on the
	target's CPU and its work is part of them. cpu is therefore compared with the target's rusage of the same run.
	"""
	for name in COUNTS:
		table.add("total, together and alone", name, f"{together[name]:,}", f"alone {alone[name]:,}", "equal",
			together[name] == alone[name])
	used, elapsed = together["cpu"] / 1e9, together["real"] / 1e6
	target_cpu = run.cpu - run.own_cpu
	table.add("total, together and alone", "cpu", f"{used:.3f} s", f"alone {alone['cpu'] / 1e9:.3f} s, the run's rusage "
		f"{target_cpu:.3f} s", "rusage, +-2 %", abs(used / target_cpu - 1) <= 0.02)
	table.add("total, together and alone", "real", f"{elapsed:.3f} s", f"alone {alone['real'] / 1e6:.3f} s, the run's wall "
		f"{run.wall:.3f} s", "cpu to wall", used <= elapsed * 1.001 and elapsed <= run.wall)


def bench_database(table, rounds):
	script = HERE / "programs/database.sql"
	bare = [*SAME_ADDRESSES, *words([WORK / "sqlite3", DATABASE])]
	runs = in_turns({BARE: bare, OURS: record_database(TIMES + COUNTS)}, rounds, script, before=forget_database)
	together = totals_of(DATA / "turn.data")
	what = "six resources at once, file database"
	add_ratios(table, what + ": wall", runs, wall, "<= 1.5x", lambda ratios: ratios[OURS] <= 1.5)
	add_ratios(table, what + ": CPU", runs, cpu, "", lambda ratios: None)
	target = statistics.median((run.cpu - run.own_cpu) / bare.cpu for run, bare in zip(runs[OURS], runs[BARE]))
	table.add(what + ": CPU", "of the target", times(target))
	add_totals(table, together, totals_alone(script), runs[OURS][-1])
	forget_database()


# --- in the kernel ---

def fdinfo(pid, fd):
	"""Returns {name: value} of the kernel's fdinfo of a descriptor, empty if the descriptor is closed."""
	try:
		lines = Path(f"/proc/{pid}/fdinfo/{fd}").read_text(encoding="ascii").splitlines()
	except OSError:
		return {}
	return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def hold_program(pid, name):
	"""Returns a descriptor of the eBPF program with this name that a process holds, or None if it holds none. The descriptor
	keeps the program after the process has ended."""
	shown = json.loads(subprocess.run([BPFTOOL, "--json", "prog", "show"], check=True, stdout=subprocess.PIPE).stdout)
	ids = {program["id"] for program in shown if program.get("name") == name}
	for fd in os.listdir(f"/proc/{pid}/fd"):
		number = int(fdinfo(pid, fd).get("prog_id", 0))
		if number in ids:
			attributes = struct.pack("=I124x", number)
			held = ctypes.CDLL(None).syscall(SYS_BPF, BPF_PROG_GET_FD_BY_ID, attributes, len(attributes))
			return held if held >= 0 else None
	return None


def clock_cost(frames, reads=0, *options):
	"""
	Returns (ns a sample, samples) for a stack of so many frames, in a program that computes, or makes so many
	system calls in each turn of its loop. The clocks also interrupt other processes. These interrupts do
	little, and their time is charged to the samples too.
	"""
	command = cpprof_record([WORK / "frames", frames, 2, 0, 0, reads], DATA / "turn.data", ["-r", "cpu/100us", *options])
	with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as recorder:
		time.sleep(1) # the recorder needs a twentieth of that to load its programs, and runs for two seconds
		program = hold_program(recorder.pid, "on_clock")
		samples = closing_line(recorder.stderr.read())[0]
	if program is None:
		sys.exit("bench/run: the recorder holds no eBPF program on_clock")
	spent = int(fdinfo("self", program).get("run_time_ns", 0))
	os.close(program)
	return spent / samples, samples


def bench_walk(table):
	before = STATS.read_text(encoding="ascii")
	STATS.write_text("1", encoding="ascii")
	try:
		(small, samples), (large, _) = clock_cost(25), clock_cost(125)
		kernel = {frames: [(clock_cost(frames, 1000, "--no-kernel")[0], clock_cost(frames, 1000)[0])
			for _ in range(KERNEL_ROUNDS)] for frames in (10, 25)}
	finally:
		STATS.write_text(before, encoding="ascii")
	table.add("a sample in the kernel, walk and all", "25 frames", f"{small / 1000:.2f} us, {samples} samples",
		"published for the best: 3 us", "<= 5 us", small <= 5000)
	table.add("a sample in the kernel, walk and all", "125 frames", f"{large / 1000:.2f} us, {(large - small) / 100:.0f} ns a "
		"frame more")
	for frames, turns in kernel.items():
		ratio = statistics.median(whole / without for without, whole in turns)
		table.add("a sample in kernel code, with the kernel's stack", f"{frames} frames of the program",
			f"{statistics.median(whole for _, whole in turns) / 1000:.2f} us, {times(ratio)} of --no-kernel", "", "<= 1.3x",
			ratio <= 1.3)


def libc_path():
	with open("/proc/self/maps", encoding="utf-8") as maps:
		return next(line.split()[-1] for line in maps if "/libc.so.6" in line)


def bench_rows(table):
	files = {"libc": (libc_path(), 5), "sqlite3": (WORK / "sqlite3", 10)}
	command = words([BUILD / "bench/code", *(path for path, _ in files.values())])
	measured = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
	for (name, (_, most_ms)), figures in zip(files.items(), measured):
		index = figures["index_bytes"] / figures["rows"]
		table.add("bytes a row in the kernel", f"{name}, {figures['rows']:,} rows", f"{figures['row_bytes']} and {index:.2f} of "
			"index", "published for the best: 4 and shared rules", "<= 8, index apart", figures["row_bytes"] <= 8)
		table.add("rows in the kernel, from the file", name, f"{figures['all_ms']:.2f} ms (compile {figures['compile_ms']:.2f}, "
			f"load {figures['load_ms']:.2f})", "", f"<= {most_ms} ms", figures["all_ms"] <= most_ms)


def bench_resources(table, rounds, quick):
	check_tools()
	bench_reads(table, rounds, quick)
	bench_allocations(table, rounds)
	bench_database(table, rounds)
	bench_walk(table)
	bench_rows(table)
