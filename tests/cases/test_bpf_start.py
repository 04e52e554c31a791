"""
The start of a recording with eBPF programs: libbpf gets the few kernel types that the programs use, and does not read all of them.
Where that fails, it does, and the recording is the same.
"""
import json
import re
import subprocess

import pytest
from cli_support import CPPROF
from record_support import SECONDS_ALLOWED, Recorded, build, check_amounts, needs_bpf, record

pytestmark = needs_bpf

TYPES = "/sys/kernel/btf/vmlinux"
INSTRUCTION_BYTES = 8
# libbpf, and nothing else, asks whether it may read the kernel's types before it reads them.
ASKS = "access,faccessat,faccessat2"
# Each group of hooks in the kernel needs programs of its own.
RESOURCES = ["cpu", "real", "syscalls", "context-switches", "signals", "traps", "page-faults", "disk-bytes", "calls:invoice", "tracepoint:sched:sched_switch"]


def record_traced(folder, command, *options, inject=()):
	"""Records a command under strace. Returns (recording, whether libbpf read all of the kernel's types)."""
	data, log = folder / "traced.data", folder / "log"
	run = subprocess.run(["strace", "-qq", "-o", log, "-e", f"trace={ASKS},memfd_create", *inject, CPPROF, "record", "--backend", "bpf", *options,
		"-o", data, "--", *map(str, command)], text=True, capture_output=True, timeout=SECONDS_ALLOWED)
	assert run.returncode == 0, run.stderr
	return Recorded(run, data), TYPES in log.read_text()


BELOW_STRACE = pytest.mark.unsanitized("leaks are not found in a process that strace traces")


@BELOW_STRACE
@pytest.mark.parametrize("resource", RESOURCES)
def test_reads_few_types(tmp_path, resource):
	"""The programs of every resource are loaded without libbpf's search through all types."""
	_, read_all = record_traced(tmp_path, [build("forms.c"), "1"], "-r", resource)
	assert not read_all


@BELOW_STRACE
@pytest.mark.parametrize("refused", ["memfd_create:error=EMFILE", "memfd_create:retval=1000000"])
def test_reads_all_types_otherwise(tmp_path, refused):
	"""Without the file for the types, or with one that cannot be used, libbpf reads the kernel's own. Every count is the same."""
	program = [build("io_bytes.c"), "2"]
	recorded, read_all = record_traced(tmp_path, program, "-r", "io-calls/1", inject=["-e", f"inject={refused}"])
	assert read_all
	check_amounts(recorded, "io-calls")
	recorded, read_all = record_traced(tmp_path, program, "-r", "io-calls/1")
	assert not read_all
	check_amounts(recorded, "io-calls")


def test_two_at_once(tmp_path):
	"""Recordings that start at the same time share nothing."""
	program = build("forms.c")
	(tmp_path / "inner").mkdir()
	outer = record(tmp_path, [CPPROF, "record", "--backend", "bpf", "-o", tmp_path / "inner/inner.data", "--", program, "3"], "--backend", "bpf")
	assert re.search(r"by bpf", outer.err)
	assert (tmp_path / "inner/inner.data").exists()


# The command is the recorder's child, and lists its programs.
LIST_PROGRAMS = "cat /proc/$PPID/fdinfo/*; bpftool -j prog show"


def verified_programs(folder):
	"""Returns {name of an eBPF program: (instructions that the verifier checked, instructions)} of a recorder."""
	recorded = record(folder, ["sh", "-c", LIST_PROGRAMS], "--backend", "bpf")
	descriptors, programs = recorded.out.split("[{", 1)
	# A link's description has the program's number, too, but not what was verified.
	verified = dict(re.findall(r"^prog_id:\s+(\d+)\n(?:(?!prog_id).*\n)*?verified_insns:\s+(\d+)$", descriptors, re.M))
	return {program["name"]: (int(verified[str(program["id"])]), program["bytes_xlated"] // INSTRUCTION_BYTES)
		for program in json.loads("[{" + programs) if str(program["id"]) in verified}


@pytest.mark.parametrize("name", ["on_clock", "on_fork"])
def test_verifies_code_once(tmp_path, name):
	"""The verifier checks few instructions of a program more than once. Where it checks a function anew in each state of its callers, that
	takes most of a recording's start."""
	verified, instructions = verified_programs(tmp_path)[name]
	assert verified < 2.2 * instructions
