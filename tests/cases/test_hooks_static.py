"""Programs that are linked statically, with libcpprof.a: their hooks count when the programs run alone and when they are
recorded. Also tests what the library adds to these programs."""
import os
import stat
import subprocess

import pytest
from hooks_support import HOOKS, Callgrind, Counted, Program, by_base_name, counted_calls, differences
from record_support import BUILD
from user_support import as_user, only_root, open_folder

RUNTIME = BUILD / "src/collect/agent"
LIBRARY, SHARED = RUNTIME / "libcpprof.a", RUNTIME / "libcpprof.so"
LINKAGES = ["static", "static-pie"]
# One of each kind: calls, deep and other stacks, handlers, threads that start and exit, processes.
PROGRAMS = ["recursion", "long_double", "longjmp_many", "exceptions", "handlers", "contexts", "threads", "thread_ends", "forks", "vfork_exec",
	"allocator", "deep", "constructors"]


def static_program(name, hook, linkage, compiler="gcc", level="-O2"):
	return Program(name, hook, compiler, level, linkage, libraries=[LIBRARY])


def wanted_calls(name, hook, counted, folder):
	"""The expected calls, from the dynamically linked build, which calls each function as often."""
	program = Program(name, hook, level="-O0" if hook == "cyg" else "-O2")
	return {**Callgrind(program.command, hook, folder).hooked(program.objects), **counted.stated()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_callgrinds(name, tmp_path):
	number = PROGRAMS.index(name)
	hook = list(HOOKS)[number % 3]
	program = static_program(name, hook, LINKAGES[number // 3 % 2])
	counted = Counted(program.command, tmp_path)
	assert counted.status == 0, counted.err
	assert differences(wanted_calls(name, hook, counted, tmp_path), by_base_name(counted.calls()), program.functions()) == []


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_runs_alone(hook, linkage, tmp_path):
	program = static_program("steps", hook, linkage)
	result = subprocess.run([program.path, "3", "1000"], cwd=tmp_path, capture_output=True, text=True, check=False)
	assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
	calls = by_base_name(counted_calls(tmp_path / "cpprof.data"))
	assert (calls["step"], calls["count"], calls["main"]) == (3000, 3, 1)


def test_writes_where_it_is_asked_to(tmp_path):
	program = static_program("steps", "mcount", "static")
	environment = {**os.environ, "CPPROF_OUTPUT": str(tmp_path / "elsewhere.data"), "CPPROF_MEASURE": "arcs"}
	assert subprocess.run([program.path, "1", "10"], cwd=tmp_path, env=environment, check=False).returncode == 0
	assert by_base_name(counted_calls(tmp_path / "elsewhere.data"))["step"] == 10
	assert stat.S_IMODE((tmp_path / "elsewhere.data").stat().st_mode) == 0o600
	assert not (tmp_path / "cpprof.data").exists() and not (tmp_path / "gmon.out").exists()


@only_root
def test_counts_beside_another_users_file():
	"""A file of another user, which only that user can read, may be in use: it is left alone."""
	with open_folder(static_program("steps", "mcount", "static").path) as folder:
		folder.chmod(0o1777)
		program = folder / "bin/steps"
		environment = {**os.environ, "CPPROF_OUTPUT": str(folder / "out"), "CPPROF_MEASURE": "arcs"}
		for user in (0, 65534):
			subprocess.run([*as_user(user), program, "1", "10"], env=environment, check=True)
		files = sorted(file for file in folder.iterdir() if file.is_file())
		assert [file.stat().st_uid for file in files] == [0, 65534] and files[0].name == "out", files
		assert all(by_base_name(counted_calls(file))["step"] == 10 for file in files)


@pytest.mark.parametrize("linkage, library, asked, is_said", [("static", LIBRARY, "path", True), ("static", LIBRARY, "./libmine.so", True),
	("static", LIBRARY, "", False), ("pie", SHARED, "path", True), ("pie", SHARED, "./libmine.so", False)])
def test_no_such_measurement(linkage, library, asked, is_said, tmp_path):
	"""The runtime prints the error once and counts paths. A static program loads no implementation, so a file name is an error
	too."""
	program = Program("steps", "mcount", linkage=linkage, libraries=[library])
	result = subprocess.run([program.path, "1", "10"], cwd=tmp_path, env={**os.environ, "CPPROF_MEASURE": asked, "LD_LIBRARY_PATH": str(RUNTIME)},
		capture_output=True, text=True, check=True)
	said = f"cpprof: CPPROF_MEASURE={asked} is an unknown measurement; using 'paths'. Measurements: off, arcs, paths, paths-timed, trace, blocks, counts\n"
	assert result.stderr == (said if is_said else "")
	assert by_base_name(counted_calls(tmp_path / "cpprof.data"))["step"] == 10


@pytest.mark.parametrize("starts_late", [False, True])
def test_counts_beside_who_records_it(starts_late, tmp_path):
	"""The recorder's file has the name that was requested, and the program's own file is beside it, whichever of them starts
	first."""
	program = static_program("steps", "mcount", "static")
	command = ["sh", "-c", 'until [ -e cpprof.data ]; do sleep 0.05; done; exec "$0" 3 1000', program.path]
	record = [BUILD / "src/cmd/cpprof", "record", "--backend", "perf", *(command if starts_late else [program.path, "3", "1000"])]
	result = subprocess.run(record, cwd=tmp_path, capture_output=True, text=True, check=False)
	assert result.returncode == 0 and "by perf" in result.stderr
	beside, = [path for path in tmp_path.iterdir() if path.name.startswith("cpprof.data.")]
	assert by_base_name(counted_calls(beside))["step"] == 3000
	info = subprocess.run([BUILD / "src/cmd/cpprof", "info", tmp_path / "cpprof.data"], capture_output=True, text=True, check=True)
	assert "by perf" in info.stdout


def test_library_has_no_names_but_those_that_are_public():
	listed = subprocess.run(["nm", "--extern-only", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
	names = {line.split()[2].split("@")[0] for line in listed.splitlines() if len(line.split()) == 3}
	shared = subprocess.run(["nm", "-D", "--defined-only", SHARED], capture_output=True, text=True, check=True).stdout
	exported = {line.split()[2].split("@")[0] for line in shared.splitlines() if line.split()[1] != "A"}
	assert names == exported
	assert {"mcount", "__fentry__", "cpprof_start", "moncontrol"} <= names
