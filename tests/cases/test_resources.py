"""`cpprof resources` prints one line for each resource, with the reason where it cannot be measured."""
import os
import subprocess

import pytest
from record_support import needs_perf, run_cpprof
from user_support import as_user, only_root, open_folder, paranoid, unprivileged

NAMES = ["cpu", "user", "sys", "page-faults", "minor-faults", "major-faults", "text-faults", "data-faults", "context-switches", "migrations", "cycles",
	"instructions", "cache-misses", "branch-misses", "real", "blocked", "io-time", "lock-wait", "syscalls[:NAME]",
	"read-bytes[:requested]", "write-bytes[:requested]", "io-bytes[:requested]", "io-calls", "signals", "traps", "disk-bytes",
	"calls:FUNCTION[@MODULE]", "alloc-bytes", "allocs", "tracepoint:SYSTEM:NAME[:FIELD]",
	"uprobe:MODULE:FUNCTION[:argN|:ret]", "usdt:PROVIDER:PROBE[:argN]", "fp-exceptions", "fp-invalid",
	"fp-divzero", "fp-overflow", "fp-underflow", "fp-denormal", "fp-inexact", "own:NAME"]


def rows(**options):
	return rows_of(run_cpprof("resources", **options))


def rows_of(result):
	assert result.returncode == 0, result.stderr
	return {line.split()[0]: line.split(None, 4) for line in result.stdout.splitlines()[1:]}


def test_lists_every_resource():
	assert list(rows()) == NAMES


@needs_perf
def test_says_who_measures_it():
	"""The line lists all backends, the preferred one first. preload is the only one for resources that only code inside the
	program sees."""
	shown = rows()
	assert shown["cpu"][2] == "1ms"
	assert shown["cpu"][3] in ("bpf,perf,preload", "perf,preload")
	assert "perf" in shown["page-faults"][3] and "preload" not in shown["page-faults"][3]


def test_preload_needs_no_privilege():
	"""preload measures all of its resources without any privilege."""
	served = {name for name, row in rows().items() if "preload" in row[3].split(",")}
	assert served == {"cpu", "user", "sys", "real", "blocked", "io-time", "lock-wait", "read-bytes[:requested]",
		"write-bytes[:requested]", "io-bytes[:requested]", "io-calls", "alloc-bytes", "allocs", "fp-exceptions", "fp-invalid",
		"fp-divzero", "fp-overflow", "fp-underflow", "fp-denormal", "fp-inexact", "own:NAME"}
	assert rows()["own:NAME"][3] == rows()["fp-invalid"][3] == "preload"


def test_columns_are_aligned():
	lines = run_cpprof("resources").stdout.splitlines()
	columns = [lines[0].index(heading) for heading in ("gtick", "interval", "backends", "description")]
	for line in lines:
		assert all(line[at - 1] == " " and line[at] != " " for at in columns), line


def test_intervals_are_as_they_are_typed():
	shown = {name: row[1:3] for name, row in rows().items()}
	assert shown["real"] == ["us", "1ms"]
	assert shown["read-bytes[:requested]"] == ["byte", "256KiB"]
	assert shown["syscalls[:NAME]"] == ["call", "1000"]
	assert shown["own:NAME"] == ["unit", "1000"]
	assert shown["fp-invalid"] == ["exception", "1"] and shown["fp-inexact"] == ["exception", "10000"]


def test_says_why_not():
	for name, row in rows().items():
		names = row[3].split(",")
		assert names == ["-"] or names == [name for name in ("bpf", "perf", "preload") if name in names], row
		assert row[3] != "-" or len(row[4]) > 40, f"{name} is refused without a reason"


@needs_perf
@only_root
def test_of_an_unprivileged_user():
	with open_folder() as folder, paranoid(2):
		shown = rows_of(unprivileged(folder, "resources"))
	assert "here perf measures user mode only" in shown["cpu"][4]
	assert shown["sys"][3] == "preload"
	assert shown["context-switches"][3] == "-" and "perf_event_paranoid" in shown["context-switches"][4]
	assert "seccomp" not in shown["cycles"][4], "it lacks counters, not permission"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can unmount tracefs and give up capabilities")
@pytest.mark.parametrize("is_mounted", [False, True])
def test_tracepoints_need_their_list(is_mounted):
	"""A user who may load eBPF programs may not mount tracefs, and usually not read it. Root does not need it mounted."""
	mounts = "umount -a -t tracefs; ! grep -q tracefs /proc/mounts"
	if is_mounted:
		mounts += " && mount -t tracefs tracefs /sys/kernel/tracing"
	in_own_mounts = ["unshare", "-m", "sh", "-c", f'{mounts} || exit 99; exec "$0" "$@"']
	if subprocess.run([*in_own_mounts, "true"], capture_output=True, check=False).returncode != 0:
		pytest.skip("mounts cannot be changed here")
	name = "tracepoint:SYSTEM:NAME[:FIELD]"
	of_root = rows(before=in_own_mounts)
	if of_root["signals"][3] != "bpf":
		pytest.skip(of_root["signals"][4])
	assert of_root[name][3] == "bpf"
	capabilities = "+bpf,+perfmon,+dac_read_search,+sys_ptrace"
	with open_folder() as folder:
		command = [*in_own_mounts, *as_user(), "--inh-caps", capabilities, "--ambient-caps", capabilities, folder / "bin/cpprof", "resources"]
		shown = rows_of(subprocess.run(command, capture_output=True, text=True, check=False))
	assert shown["signals"][3] == "bpf", shown["signals"]
	if not is_mounted:
		assert shown[name][3] == "-" and "mount -t tracefs tracefs /sys/kernel/tracing" in shown[name][4]
	else:
		assert shown[name][3] == "bpf", shown[name]
