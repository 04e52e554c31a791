"""Programs and libraries whose files are replaced or deleted while they run: names come from the file that is mapped, or there are none."""
import csv
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from record_support import CPPROF, Recorded, build, hits, needs_bpf, needs_perf, record, run_cpprof, show

BACKENDS = [pytest.param("perf", marks=needs_perf), pytest.param("bpf", marks=needs_bpf)]
FORMER = ["-DFUNCTION=former"]
LATTER = ["-DFUNCTION=latter", "-DAHEAD=ahead"]
NO_ID = ["-Wl,--build-id=none"]
# The kernel limits the rings of each user, so tests that run meanwhile have another one.
OTHER = 60000 + os.getpid() % 5000
AS_OTHER = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]


def build_pair(*flags, linkage="pie"):
	"""Builds two programs or libraries of one source; in each, another function uses the time."""
	return [build("replaced.c", *version, *flags, "-ldl", linkage=linkage, name="it") for version in (FORMER, LATTER)]


def copy_of(file, path):
	shutil.copy(file, path)
	path.chmod(0o755)
	return path


def replace(path, by):
	"""As a package upgrade does it: another file takes the path, in one step."""
	copy_of(by, path.with_name("new")).rename(path)


class Running:
	"""A program that computes until the test ends."""

	def __init__(self, *command, before=(), **options):
		self.process = subprocess.Popen([*before, *map(str, command)], stdout=subprocess.PIPE, text=True, **options)
		assert self.process.stdout.readline() == "ready\n"

	def __enter__(self):
		return self.process.pid

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()
		self.process.stdout.close()


def attach(folder, *options, before=(), program=CPPROF):
	path = folder / "out.data"
	result = subprocess.run([*before, program, "record", "-o", path, "--duration", "0.3", *map(str, options)], cwd=folder,
		capture_output=True, text=True, check=False)
	assert result.returncode == 0, result.stderr
	return Recorded(result, path)


def functions_of(path, pid):
	result = run_cpprof("report", "--functions", "--format", "csv", "--process", pid, path)
	assert result.returncode == 0, result.stderr
	return {row["path"].split("@")[0] for row in csv.DictReader(result.stdout.splitlines())}


@pytest.fixture
def shared_folder():
	"""A folder in which another user may write, with a cpprof that this user may run."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-") as name:
		folder = Path(name)
		folder.chmod(0o777)
		copy_of(CPPROF, folder / "cpprof")
		yield folder


def attach_as_other(folder, pid):
	return attach(folder, "-p", pid, before=AS_OTHER, program=folder / "cpprof")


def expect_former(recorded, total=None):
	"""The mapped file's function has nearly all samples, on whole paths; no name comes from the other file."""
	paths = recorded.paths()
	total = sum(paths.values()) if total is None else total(paths)
	assert total > 0 and hits(paths, "main", "work", "former") >= 0.9 * total, show(paths)
	assert hits(paths, "latter") == hits(paths, "ahead") == 0, show(paths)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("flags", [[], NO_ID], ids=["build-id", "no-build-id"])
@pytest.mark.parametrize("fate", ["replaced", "deleted"])
def test_program(tmp_path, backend, flags, fate):
	former, latter = build_pair(*flags)
	program = copy_of(former, tmp_path / "app")
	with Running(program) as pid:
		program.unlink()
		if fate == "replaced":
			replace(program, latter)
		recorded = attach(tmp_path, "-p", pid, "--backend", backend)
	expect_former(recorded)
	assert recorded.closing()[2] > 99, recorded.err


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("fate", ["replaced", "deleted"])
def test_library(tmp_path, backend, fate):
	former, latter = build_pair(linkage="shared")
	library = copy_of(former, tmp_path / "plugin.so")
	with Running(build_pair()[1], library) as pid:
		library.unlink()
		if fate == "replaced":
			replace(library, latter)
		recorded = attach(tmp_path, "-p", pid, "--backend", backend)
	expect_former(recorded)
	assert recorded.closing()[2] > 99, recorded.err


@needs_perf
@pytest.mark.parametrize("backend", BACKENDS)
def test_machine(tmp_path, backend):
	"""Two builds that had one path run at once: each has its own names."""
	former, latter = build_pair()
	program = copy_of(former, tmp_path / "app")
	with Running(program) as old:
		replace(program, latter)
		with Running(program) as new:
			recorded = attach(tmp_path, "-a", "--backend", backend)
	named_old, named_new = functions_of(recorded.path, old), functions_of(recorded.path, new)
	assert {"former", "work", "main"} <= named_old and not {"latter", "ahead"} & named_old, named_old
	assert {"latter", "work", "main"} <= named_new and not {"former"} & named_new, named_new


@needs_perf
@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("fate", ["replaced", "deleted"])
def test_program_without_privileges(shared_folder, fate):
	"""The kernel shows the executable to the process's user, too."""
	former, latter = build_pair()
	program = copy_of(former, shared_folder / "app")
	with Running(program, before=AS_OTHER) as pid:
		program.unlink()
		if fate == "replaced":
			replace(program, latter)
		recorded = attach_as_other(shared_folder, pid)
	expect_former(recorded)


@needs_perf
@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("flags", [[], NO_ID], ids=["build-id", "no-build-id"])
@pytest.mark.parametrize("fate", ["replaced", "deleted"])
def test_library_without_privileges(shared_folder, flags, fate):
	"""Only root can read the mapped library: the addresses stay addresses, and a finding says why."""
	former, latter = build_pair(*flags, linkage="shared")
	library = copy_of(former, shared_folder / "plugin.so")
	program = copy_of(build_pair()[0], shared_folder / "app")
	with Running(program, library, before=AS_OTHER) as pid:
		library.unlink()
		if fate == "replaced":
			replace(library, latter)
		recorded = attach_as_other(shared_folder, pid)
	paths = recorded.paths()
	# The program itself calls the library's function in a loop, and is sampled there now and then.
	of_library = {path: count for path, count in paths.items() if path[-1] != "main"}
	assert all(re.fullmatch(r"plugin\.so\+0x[0-9a-f]+", path[-1].split("@")[0]) for path in of_library), show(paths)
	assert hits(of_library) >= 0.95 * hits(paths), show(paths)
	assert recorded.closing()[2] < 1, recorded.err
	texts = [finding["text"] for finding in recorded.info()["findings"] if finding["code"] == "file-unreadable"]
	assert texts == [f"cannot read the file that is mapped as '{library}': it was {fate}, and only root can still read it "
		"(record as root)"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_program_in_memory(tmp_path, backend):
	"""A program that was never on disk."""
	fd = os.memfd_create("program", 0)
	with open(build_pair()[0], "rb") as source:
		os.write(fd, source.read())
	with Running("app", executable=f"/proc/self/fd/{fd}", pass_fds=[fd]) as pid:
		recorded = attach(tmp_path, "-p", pid, "--backend", backend)
	os.close(fd)
	expect_former(recorded)


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="mounts an overlay")
def test_overlay(tmp_path):
	"""On overlayfs, stat(2) may report another device than the kernel reports for mappings. The file at the path is the mapped one."""
	script = """
		set -e
		mount -t tmpfs none lower 2>/dev/null || exit 77
		cp "$1" lower/app
		mount -t overlay none -o lowerdir=lower,upperdir=layers/upper,workdir=layers/work merged 2>/dev/null || exit 77
		merged/app > ready &
		until grep -q ready ready; do :; done
		"$2" record -p $! --duration 0.3 -o out.data; status=$?
		kill $!
		exit $status
	"""
	for name in ["lower", "layers/upper", "layers/work", "merged"]:
		(tmp_path / name).mkdir(parents=True)
	result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", build_pair(*NO_ID)[0], CPPROF], cwd=tmp_path,
		capture_output=True, text=True, check=False)
	if result.returncode == 77:
		pytest.skip("overlayfs cannot be mounted")
	assert result.returncode == 0, result.stderr
	expect_former(Recorded(result, tmp_path / "out.data"))


@pytest.mark.parametrize("backend", [*BACKENDS, "preload"])
def test_file_of_another_format(tmp_path, backend):
	"""A file that runtimes map as their image, such as sbcl.core, exists and can be read: the finding says what it is not."""
	image = tmp_path / "runtime.core"
	recorded = record(tmp_path, [build("jit.c"), "framed", image], "-r", "cpu/1ms", "--backend", backend)
	assert recorded.status == 0, recorded.err
	assert any("runtime.core+0x5" in path for path in recorded.paths()), show(recorded.paths())
	texts = [finding["text"] for finding in recorded.info()["findings"] if finding["code"] == "file-unreadable"]
	assert texts == [f"'{image}' is not an ELF file (its addresses have no names)"]
