"""Programs and libraries whose files are replaced or deleted while they run: names come from the file that is mapped, or there are none."""
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from attach_support import EACH, EVENT_US, Running, attach
from record_support import (BACKENDS, COUNTED, CPPROF, MOVES, Recorded, build, build_counted, check_counted, events_of, hits, needs_bpf, needs_perf,
	needs_two_processors, record, record_counted, record_held, show)

of_backends = pytest.mark.parametrize("backend", BACKENDS[:2])
of_fates = pytest.mark.parametrize("fate", ["replaced", "deleted"])
of_ids = pytest.mark.parametrize("flags", [[], ["-Wl,--build-id=none"]], ids=["build-id", "no-build-id"])
is_root = pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
# The kernel limits the rings of each user, so tests that run meanwhile have another one.
OTHER = 60000 + os.getpid() % 5000
AS_OTHER = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]


def build_pair(kind, *flags, linkage="pie"):
	"""Builds two programs or libraries of one source; in each, another function has the events, which are of a kind of COUNTED."""
	return [build("replaced.c", *version, f"-DEVENT_US={EVENT_US}", *flags, *kind[0], "-ldl", linkage=linkage, name="it")
		for version in (["-DFUNCTION=former"], ["-DFUNCTION=latter", "-DAHEAD=ahead"])]


def copy_of(file, path):
	shutil.copy(file, path)
	path.chmod(0o755)
	return path


def change(path, fate, by):
	"""As a package upgrade does it: another file takes the path, in one step. Or the file is deleted."""
	if fate == "replaced":
		copy_of(by, path.with_name("new")).rename(path)
	else:
		path.unlink()


@pytest.fixture
def shared_folder():
	"""A folder in which another user may write, with a cpprof that this user may run."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-") as name:
		folder = Path(name)
		folder.chmod(0o777)
		copy_of(CPPROF, folder / "cpprof")
		yield folder


def attach_as_other(folder, pid, until):
	return attach(folder, "perf", "-p", pid, until=until, before=AS_OTHER, program=folder / "cpprof")


def expect(recorded, function, other, *selection):
	"""The mapped file's function has all events, on whole paths; no name comes from the other file."""
	paths = events_of(recorded, *selection)
	assert paths == {("main", "work", function): EACH}, show(paths)
	assert hits(recorded.paths(None, *selection), other) == 0, show(recorded.paths(None, *selection))


@of_backends
@of_ids
@of_fates
def test_program(tmp_path, backend, flags, fate):
	former, latter = build_pair(COUNTED[backend], *flags)
	program = copy_of(former, tmp_path / "app")
	with Running(program) as running:
		change(program, fate, latter)
		expect(attach(tmp_path, backend, "-p", running.pid, until=running.turn), "former", "latter")


@pytest.mark.parametrize("backend", BACKENDS)
def test_recorded_command(tmp_path, backend):
	"""The program must run until the recorder has read its events, which the file shows by its growth."""
	former, _ = build_pair(COUNTED[backend])
	program, path = copy_of(former, tmp_path / "app"), tmp_path / "out.data"
	with Running(CPPROF, "record", "--backend", backend, "-r", COUNTED[backend][1], "-o", path, "--", program) as running:
		program.unlink()
		empty = path.stat().st_size
		running.turn()
		while path.stat().st_size == empty:
			assert running.process.poll() is None
			time.sleep(0.01)
		assert running.end() == 0
	expect(Recorded(subprocess.CompletedProcess([], 0, "", ""), path), "former", "latter")


@of_backends
@of_fates
def test_library(tmp_path, backend, fate):
	former, latter = build_pair(COUNTED[backend], linkage="shared")
	library = copy_of(former, tmp_path / "plugin.so")
	with Running(build_pair(COUNTED[backend])[1], library) as running:
		change(library, fate, latter)
		expect(attach(tmp_path, backend, "-p", running.pid, until=running.turn), "former", "latter")


@needs_two_processors
@of_backends
def test_machine(tmp_path, backend):
	"""Two builds that had one path run at once: each has its own names."""
	former, latter = build_pair(MOVES)
	program = copy_of(former, tmp_path / "app")
	with Running(program) as old:
		change(program, "replaced", latter)
		with Running(program) as new:
			recorded = attach(tmp_path, backend, "-a", resource=MOVES[1], until=lambda: (old.turn(), new.turn()))
	expect(recorded, "former", "latter", "--process", old.pid)
	expect(recorded, "latter", "former", "--process", new.pid)


@needs_perf
@is_root
@of_fates
def test_program_without_privileges(shared_folder, fate):
	"""The kernel shows the executable to the process's user, too."""
	former, latter = build_pair(COUNTED["perf"])
	program = copy_of(former, shared_folder / "app")
	with Running(*AS_OTHER, program) as running:
		change(program, fate, latter)
		expect(attach_as_other(shared_folder, running.pid, running.turn), "former", "latter")


@needs_perf
@is_root
@of_ids
@of_fates
def test_library_without_privileges(shared_folder, flags, fate):
	"""Only root can read the mapped library: the addresses stay addresses, and a finding says why."""
	former, latter = build_pair(COUNTED["perf"], *flags, linkage="shared")
	library = copy_of(former, shared_folder / "plugin.so")
	program = copy_of(build_pair(COUNTED["perf"])[0], shared_folder / "app")
	with Running(*AS_OTHER, program, library) as running:
		running.turn() # its next turn has no other page faults
		change(library, fate, latter)
		recorded = attach_as_other(shared_folder, running.pid, running.turn)
	paths = recorded.paths()
	assert hits(paths) == EACH and all(re.fullmatch(r"plugin\.so\+0x[0-9a-f]+", path[-1].split("@")[0]) for path in paths), show(paths)
	assert recorded.closing_shares()[2] == 0, recorded.err
	texts = [finding["text"] for finding in recorded.info()["findings"] if finding["code"] == "file-unreadable"]
	assert texts == [f"cannot read the file that is mapped as '{library}': it was {fate}, and only root can still read it "
		"(record as root)"]


@of_backends
def test_program_in_memory(tmp_path, backend):
	"""A program that was never on disk."""
	fd = os.memfd_create("program", 0)
	with open(build_pair(COUNTED[backend])[0], "rb") as source:
		os.write(fd, source.read())
	with Running("app", executable=f"/proc/self/fd/{fd}", pass_fds=[fd]) as running:
		expect(attach(tmp_path, backend, "-p", running.pid, until=running.turn), "former", "latter")
	os.close(fd)


@needs_bpf
@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="mounts an overlay")
def test_overlay(tmp_path):
	"""On overlayfs, stat(2) may report another device than the kernel reports for mappings. The file at the path is the mapped one."""
	script = """
		mount -t tmpfs none lower 2>/dev/null && cp "$1" lower/app &&
		mount -t overlay none -o lowerdir=lower,upperdir=layers/upper,workdir=layers/work merged 2>/dev/null || { echo refused; exit; }
		exec merged/app
	"""
	for name in ["lower", "layers/upper", "layers/work", "merged"]:
		(tmp_path / name).mkdir(parents=True)
	program = build_pair(COUNTED["bpf"], "-Wl,--build-id=none")[0]
	try:
		running = Running("unshare", "-m", "sh", "-c", script, "sh", program, cwd=tmp_path)
	except AssertionError:
		pytest.skip("overlayfs cannot be mounted")
	with running:
		inside = ["nsenter", "-t", str(running.pid), "-m", "--wd=" + str(tmp_path)]
		expect(attach(tmp_path, "bpf", "-p", running.pid, until=running.turn, before=inside), "former", "latter")


@pytest.mark.parametrize("backend", [*BACKENDS[:2], pytest.param("preload",
	marks=pytest.mark.measured("the recorder must get a processor while the program runs, to read its new map"))])
def test_file_of_another_format(tmp_path, backend):
	"""A file that runtimes map as their image, such as sbcl.core, exists and can be read: the finding says what it is not."""
	image = tmp_path / "runtime.core"
	if backend == "preload":
		recorded = record(tmp_path, [build("jit.c"), "framed", image], "-r", "cpu/1ms", "--backend", backend)
		assert any("runtime.core+0x5" in path for path in recorded.paths()), show(recorded.paths())
	else:
		recorded = record_counted(backend, tmp_path, [build_counted(backend, "jit.c", event_us=1000), "framed", image])
		paths = check_counted(recorded, 300)
		assert hits(paths, "main", "runtime.core+0x5", "called_back", "burn") == 150, show(paths)
	texts = [finding["text"] for finding in recorded.info()["findings"] if finding["code"] == "file-unreadable"]
	assert texts == [f"'{image}' is not an ELF file (its addresses have no names)"]


def build_moved(backend):
	"""The code that moves the text has a segment far away from it."""
	return build_counted(backend, "moved_text.c", "-Wl,--section-start=apart=0x600000", event_us=50)


def check_moved(recorded, turns=1):
	paths = events_of(recorded)
	assert {path[-2:]: count for path, count in paths.items()} == {("outer", "heavy"): 80 * turns, ("outer", "light"): 20 * turns}, show(paths)
	assert all(path[-3] == "main" and path[0] != "[incomplete stack]" for path in paths), show(paths)


@of_backends
@pytest.mark.parametrize("how", ["copied", "moved"])
def test_text_moved_to_anonymous_memory(tmp_path, backend, how):
	"""Programs move their text to huge pages. It is the file's if it has the file's bytes."""
	with Running(build_moved(backend), how) as running:
		check_moved(attach(tmp_path, backend, "-p", running.pid, until=running.turn))


@pytest.mark.parametrize("backend", [BACKENDS[0], BACKENDS[2]])
@pytest.mark.parametrize("how", ["copied", "moved"])
def test_command_that_moves_its_text(tmp_path, backend, how):
	def is_read(recorded):
		return sum(recorded.paths().values()) >= 100
	# The recorder compares the bytes when it reads the first sample there: the program must still have them.
	check_moved(record_held(backend, tmp_path, [build_moved(backend), how], None, is_read), turns=2)


@of_backends
def test_other_code_in_place_of_text(tmp_path, backend):
	"""Code that differs from the file's in a single byte is not the file's."""
	with Running(build_moved(backend), "other") as running:
		recorded = attach(tmp_path, backend, "-p", running.pid, until=running.turn)
	assert hits(recorded.paths(), "heavy") == 0 and hits(recorded.paths(), "[anon]") >= 100, show(recorded.paths())
