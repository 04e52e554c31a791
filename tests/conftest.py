"""The marks of tests: they alone state which of the commands runs a test (CONTRIBUTING.md).

    measured(reason)   compares times, shares of samples, rates or intervals: `make measure`
    needs(NAME...)     needs programs that only `make check-all` installs: `make check-all`
    long(reason)       takes longer than `make check` can wait for: `make check-all`

A test without a mark is in `make check`: its result depends on no clock, no scheduler and no share of time.

    unsanitized(reason)    the step `sanitize` of `make check-all` leaves it out, which runs all others that are neither measured nor long
"""
import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from measuring import pytest_pyfunc_call, pytest_terminal_summary  # noqa: F401, these are hooks

REPOSITORY = Path(__file__).resolve().parents[1]
NPM = Path(os.environ.get("CPPROF_NPM", REPOSITORY / "build/npm")).resolve() / "node_modules"
MARKS = {
    "measured(reason)": "compares times, shares, rates or intervals (make measure)",
    "needs(name, ...)": "needs programs that make check-all installs",
    "long(reason)": "takes too long for make check (make check-all)",
    "unsanitized(reason)": "cannot run where cpprof is built with sanitizers",
}


leave_process = subprocess.Popen.__exit__


def leave_at_failure(process, kind, *rest):
    """The end of `with subprocess.Popen(...)`: a test that fails in it does not wait for a process that nothing ends."""
    if kind:
        process.kill()
    return leave_process(process, kind, *rest)


subprocess.Popen.__exit__ = leave_at_failure


def answers(*command):
    """Returns whether a command exists and succeeds."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def has_openmp():
    """Returns whether clang links with its OpenMP runtime."""
    try:
        return subprocess.run(["clang", "-fopenmp", "-x", "c", "-", "-o", "/dev/null"], input=b"int main(void) { return 0; }",
                              capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def has_npm(path, *command):
    return (NPM / path).exists() and (not command or answers(*command))


PROFILER = "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
# {what a test needs: (the Debian packages that have it, how to find it if it is not a program of this name)}
NEEDS = {
    "aarch64-linux-gnu-gcc": ("gcc-aarch64-linux-gnu libc6-dev-arm64-cross", None),
    "chdb": ("nodejs", lambda: has_npm("@chdb/lib-linux-x64-gnu/libchdb.so")),
    "clang-19": ("clang-19", None),
    "clickhouse-server": ("clickhouse-server", None),
    "cmake": ("cmake", None),
    "debuginfod": ("debuginfod", None),
    "dpkg-shlibdeps": ("dpkg-dev", None),
    "dump_gcov": ("autofdo", None),
    "erl": ("erlang-nox", None),
    "firefox": ("firefox-esr", lambda: shutil.which("firefox-esr")),
    "fish": ("fish", None),
    "ghc": ("ghc", None),
    "go": ("golang-go", None),
    "heaptrack": ("heaptrack", None),
    "java": ("openjdk-17-jdk-headless", lambda: shutil.which("javac")),
    "luajit": ("luajit", None),
    "llvm-cov-14": ("llvm-14", None),
    "llvm-profdata-14": ("llvm-14", None),
    "llvm-profdata-19": ("llvm-19", None),
    "mpi": ("libopenmpi-dev openmpi-bin", lambda: shutil.which("mpicc") and shutil.which("mpirun")),
    "musl-gcc": ("musl-tools", None),
    "node": ("nodejs", None),
    "ocaml": ("ocaml-nox", lambda: shutil.which("ocamlopt")),
    "openmp": ("libomp-dev", has_openmp),
    "perf": ("linux-perf", None),
    "php": ("php8.2-cli php8.2-opcache", None),
    "profiler-cli": ("nodejs", lambda: has_npm(PROFILER, "node", NPM / PROFILER, "--version")),
    "rustc": ("rustc", None),
    "sbcl": ("sbcl", None),
    "speedscope": ("nodejs", lambda: has_npm("speedscope/dist/release")),
    "yaml": ("python3-yaml", lambda: answers("/usr/bin/python3", "-c", "import yaml")),
    "zsh": ("zsh", None),
}


@functools.cache
def is_missing(name):
    packages, find = NEEDS[name]
    return not (find() if find else shutil.which(name)) and f"{name} is not installed (Debian: {packages})"


def pytest_configure(config):
    for mark, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {meaning}")


def pytest_runtest_setup(item):
    """Skips a test if a program that it needs is missing."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            if is_missing(name):
                pytest.skip(is_missing(name))


def pytest_collection_modifyitems(items):
    """Each mark has its reason or its names."""
    for item in items:
        for mark in item.iter_markers():
            if mark.name in ("measured", "long", "unsanitized"):
                assert len(mark.args) == 1 and isinstance(mark.args[0], str), f"{item.nodeid}: the mark `{mark.name}` needs its reason"
            elif mark.name == "needs":
                assert mark.args and set(mark.args) <= NEEDS.keys(), f"{item.nodeid}: `needs` takes the names {sorted(NEEDS)}"
