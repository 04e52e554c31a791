"""The interface for programs (include/cpprof/runtime.h): it compiles in every C and C++ standard, pkg-config and CMake find it,
it exports what it documents, and it does nothing without a recorder. test_preload_interface.py tests it with a recorder."""
import os
import re
import subprocess

import pytest
from record_support import BUILD, PROGRAMS, REPOSITORY

LIBRARY = BUILD / "src/collect/agent/libcpprof.so"
PRELOADED = BUILD / "src/collect/agent/libcpprof-preload.so"
WITH_HOOKS = BUILD / "src/collect/agent/libcpprof-hooks.so"
STATIC = BUILD / "src/collect/agent/libcpprof.a"
PUBLIC = {"cpprof_flush", "cpprof_is_recording", "cpprof_label", "cpprof_resource", "cpprof_start", "cpprof_stop",
	"cpprof_tick_measured", "cpprof_runtime_begin"}
SINCE_2 = {"cpprof_event"}
# Functions that compilers and the C library's start code call, and those that the C library offers to programs with hooks.
HOOKS = {"mcount", "_mcount", "__fentry__", "__cyg_profile_func_enter", "__cyg_profile_func_exit", "__sanitizer_cov_trace_pc",
	"__sanitizer_cov_trace_pc_guard", "__sanitizer_cov_trace_pc_guard_init", "__sanitizer_cov_pcs_init", "__monstartup", "monstartup",
	"_mcleanup", "moncontrol"}
# Functions that cpprof/profiler.h calls, and those that switch its probe points.
PROBES = {"cpprof_probe_block", "cpprof_probe_enter", "cpprof_probe_enter_from", "cpprof_probe_leave", "cpprof_probe_restore", "cpprof_thread_1"}
SINCE_3 = {"cpprof_probes_level", "cpprof_probes_list", "cpprof_probes_throttle", "cpprof_probes_turn"}
SINCE_4 = {"cpprof_progress_visit"}  # looked up by cpprof/progress.h
VERSIONS = {**dict.fromkeys(PUBLIC, "CPPROF_0.1"), **dict.fromkeys(SINCE_2 | HOOKS, "CPPROF_0.2"), **dict.fromkeys(PROBES | SINCE_3, "CPPROF_0.3"),
	**dict.fromkeys(SINCE_4, "CPPROF_0.4")}

COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
# A compiler may accept only the older name of a recent standard.
STANDARDS = {"c": ["c99", "c11", "c17", "c23"], "c++": ["c++11", "c++14", "c++17", "c++20", "c++23"]}
OLDER = {"c23": "c2x", "c++20": "c++2a", "c++23": "c++2b"}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Werror"]

CASES = [(language, compiler, standard) for language in COMPILERS for compiler in COMPILERS[language]
	for standard in STANDARDS[language]]


def knows(compiler, language, standard):
	command = [compiler, f"-std={standard}", "-x", language, "-fsyntax-only", os.devnull]
	return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(*command, **options):
	result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
	assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
	return result.stdout


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("language,compiler,standard", CASES)
def test_compiles_in_every_standard(tmp_path, language, compiler, standard, level):
	"""It compiles without a warning, and the program runs."""
	names = [name for name in (standard, OLDER.get(standard)) if name and knows(compiler, language, name)]
	assert names, f"{compiler} does not know {standard}"
	program = tmp_path / "program"
	run(compiler, f"-std={names[0]}", *STRICT, level, f"-I{REPOSITORY}/include", "-x", language, PROGRAMS / "interface.c",
		"-x", "none", "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
	assert run(program) == "flush -1\n"


@pytest.mark.parametrize("header", ["runtime.h", "progress.h"])
@pytest.mark.parametrize("language", COMPILERS)
def test_header_needs_no_other(language, header):
	run(COMPILERS[language][0], *STRICT, "-fsyntax-only", "-x", language, REPOSITORY / "include/cpprof" / header,
		"-Wno-unused-function", "-Wno-pragma-once-outside-header")


def exported(library):
	lines = run("nm", "-D", "--defined-only", library).splitlines()
	return {line.split()[-1].split("@")[0] for line in lines if " A " not in line}


def test_library_exports_the_interface_alone():
	assert exported(LIBRARY) == VERSIONS.keys()


def test_each_function_has_the_version_that_it_came_with():
	"""A symbol's version never changes, so that programs that are already linked find it."""
	lines = run("nm", "-D", "--defined-only", LIBRARY).splitlines()
	assert dict(line.split()[-1].split("@@") for line in lines if " A " not in line) == VERSIONS


def test_static_library_exports_the_same():
	names = {line.split()[-1] for line in run("nm", "-g", "--defined-only", STATIC).splitlines() if re.search(" [TDB] ", line)}
	assert names == VERSIONS.keys()


@pytest.mark.parametrize("library", [PRELOADED, WITH_HOOKS])
def test_preloaded_library_takes_its_place(library):
	"""A preloaded library exports the same interface and interposed functions, and no other symbol of ours. Only the library with
	hooks exports hooks, so that with the other one programs use the C library's."""
	names, interface = exported(library), PUBLIC | SINCE_2 | SINCE_4
	interface |= PROBES | SINCE_3 if library == WITH_HOOKS else set()
	assert names >= interface
	assert not {name for name in names - interface if "cpprof" in name or name.startswith("__start")}
	assert names & HOOKS == (HOOKS if library == WITH_HOOKS else set())


def test_library_needs_libc_alone():
	needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", LIBRARY)))
	assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2"}
	assert "[libcpprof.so.0]" in run("readelf", "-d", LIBRARY)


def test_stale_channel_is_ignored(tmp_path):
	"""A channel of a recorder that has ended, or a variable that names no channel, is ignored."""
	program = tmp_path / "program"
	run("gcc", f"-I{REPOSITORY}/include", PROGRAMS / "interface.c", "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
	other = tmp_path / "other"
	other.write_bytes(bytes(4096))
	for path in ("/proc/1/fd/12345", "", str(other), str(tmp_path)):
		assert run(program, env={**os.environ, "CPPROF_CHANNEL": path}) == "flush -1\n"


# --- installed ---


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
	"""Returns the files that `meson install` installs for developers: (the root folder, the folder of the libraries)."""
	root = tmp_path_factory.mktemp("installed")
	meson = "/usr/bin/meson" if os.path.exists("/usr/bin/meson") else "meson"
	run(meson, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--tags", "runtime,devel", "--destdir", root)
	found = sorted(root.rglob("libcpprof.so"))
	assert len(found) == 1, found
	return root, found[0].parent


def prefix_of(folder, configuration):
	"""Returns the folder of the prefix below the root."""
	prefix = re.search(r"^prefix=(.*)", configuration.read_text(), re.MULTILINE).group(1)
	return folder / prefix.lstrip("/")


def check_installed_program(program, libraries):
	environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
	assert run(program, env=environment) == "flush -1\n"


def test_all_libraries_and_the_header_are_installed(installed):
	root, libraries = installed
	assert (libraries / "libcpprof.so.0").resolve().is_file()
	for name in ("libcpprof-preload.so", "libcpprof-hooks.so", "libcpprof-wrap.so", "libcpprof.a", "pkgconfig/cpprof-wrap.pc"):
		assert (libraries / name).is_file()
	for header in sorted(path.name for path in (REPOSITORY / "include/cpprof").iterdir()):
		assert [path.parent.name for path in root.rglob(header)] == ["cpprof"], header


def test_pkg_config(installed, tmp_path):
	root, libraries = installed
	prefix = prefix_of(root, libraries / "pkgconfig/cpprof.pc")
	words = run("pkg-config", "--cflags", "--libs", f"--define-variable=prefix={prefix}", "cpprof",
		env={**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}).split()
	program = tmp_path / "program"
	run("gcc", PROGRAMS / "interface.c", "-o", program, *words)
	check_installed_program(program, libraries)


def test_pkg_config_of_a_static_program(installed, tmp_path):
	root, libraries = installed
	prefix = prefix_of(root, libraries / "pkgconfig/cpprof.pc")
	words = run("pkg-config", "--static", "--cflags", "--libs", f"--define-variable=prefix={prefix}", "cpprof",
		env={**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}).split()
	run("gcc", "-static", PROGRAMS / "interface.c", "-o", tmp_path / "program", *words)
	assert run(tmp_path / "program") == "flush -1\n"


CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(cpprof 0.1 REQUIRED CONFIG)
find_package(cpprof REQUIRED CONFIG)
add_executable(program interface.c)
target_link_libraries(program PRIVATE cpprof::runtime)
"""


@pytest.mark.needs("cmake")
def test_cmake_package(installed, tmp_path):
	_, libraries = installed
	(tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT)
	(tmp_path / "interface.c").write_text((PROGRAMS / "interface.c").read_text())
	run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dcpprof_DIR={libraries}/cmake/cpprof")
	run("cmake", "--build", tmp_path / "build")
	check_installed_program(tmp_path / "build/program", libraries)


@pytest.mark.needs("cmake")
@pytest.mark.parametrize("wanted", ["1.0", "0.99"])
def test_cmake_refuses_a_newer_version(installed, tmp_path, wanted):
	_, libraries = installed
	(tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT.replace("cpprof 0.1", f"cpprof {wanted}"))
	(tmp_path / "interface.c").write_text("int main(void) { return 0; }\n")
	result = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dcpprof_DIR={libraries}/cmake/cpprof"],
		capture_output=True, text=True, check=False)
	assert result.returncode != 0
	assert "0.1.0" in result.stderr and "version" in result.stderr, result.stderr
