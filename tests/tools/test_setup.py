"""tools/setup installs exactly the missing packages. dpkg, dpkg-query, apt-get and sudo are replaced by stand-ins."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "setup"

DPKG_QUERY = """#!/bin/sh
shift 2
for package; do
    architecture=amd64
    case $package in *:*) architecture=${package#*:} ;; esac
    case " $MISSING " in *" $package "*) ;; *) echo "installed ${package%:*} $architecture" ;; esac
done
"""
DPKG = """#!/bin/sh
case $1 in --print-architecture) echo amd64 ;; *) echo "dpkg $*" >>"$LOG" ;; esac
"""
LOG = """#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
"""
# Runs its arguments, as root would.
SUDO = """#!/bin/sh
echo sudo >>"$LOG"
exec "$@"
"""


@pytest.fixture
def machine(tmp_path):
    """Returns a function that runs tools/setup with a PATH of one folder: the commands of a bare machine, and the stand-ins."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "sed", "tr", "env", "basename", "mkdir", "cat"):
        (tools / name).symlink_to(f"/usr/bin/{name}")

    def add(name, text):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def run(*words, missing="", user=0, **more):
        add("id", f"#!/bin/sh\necho {user}\n")
        log = tmp_path / "log"
        log.write_text("")
        environment = {"PATH": str(tools), "MISSING": missing, "LOG": str(log), **more}
        done = subprocess.run([TOOL, *words], capture_output=True, text=True, env=environment)
        return done, log.read_text().splitlines()

    add("dpkg-query", DPKG_QUERY)
    add("dpkg", DPKG)
    add("apt-get", LOG)
    run.add = add
    run.tools = tools
    return run


@pytest.mark.parametrize("words", [[], ["build"], ["demo"], ["demo-fleet"], ["deb"], ["check"], ["quick"], ["check-all"], ["bench"]])
def test_silent_when_nothing_is_missing(machine, words):
    done, log = machine(*words)
    assert (done.returncode, done.stdout, done.stderr, log) == (0, "", "", [])


def test_installs_only_what_is_missing(machine):
    done, log = machine("check-all", missing="libdw-dev scdoc gdb")
    assert done.returncode == 0
    assert len(log) == 2
    assert log[0].endswith(" update")
    assert log[1].endswith(" install libdw-dev scdoc")


def test_libraries_of_another_architecture(machine):
    done, log = machine("check-all", missing="libelf-dev:arm64")
    assert done.returncode == 0
    assert log[0] == "dpkg --add-architecture arm64"
    assert log[1].endswith(" update")
    assert log[2].endswith(" install libelf-dev:arm64")


def test_another_architectures_library_is_not_this_machines(machine):
    assert machine("check", missing="libelf-dev")[1][-1].endswith(" install libelf-dev")


def test_each_word_asks_for_its_own(machine):
    for package, without, needing in [("libcmocka-dev", "build", "check"), ("dpkg-dev", "build", "deb"), ("clang-tidy", "check", "quick"),
                                      ("openjdk-17-jdk-headless", "quick", "check-all"), ("libelf-dev:arm64", "check", "check-all"), ("ghc", "check-all", "bench")]:
        assert machine(without, missing=package)[1] == []
        assert machine(needing, missing=package)[1] != []


def test_uses_sudo_when_not_root(machine):
    machine.add("sudo", SUDO)
    done, log = machine(missing="scdoc", user=1000)
    assert done.returncode == 0
    assert [line.split()[0] for line in log] == ["sudo", "apt-get", "sudo", "apt-get"]


def test_says_what_to_do_without_root_or_sudo(machine):
    done, log = machine(missing="scdoc", user=1000)
    assert done.returncode == 1
    assert "apt-get install scdoc" in done.stderr
    assert log == []


def test_says_which_architecture_to_add(machine):
    done, log = machine("check-all", missing="libelf-dev:arm64", user=1000)
    assert done.returncode == 1
    assert "dpkg --add-architecture arm64" in done.stderr
    assert log == []


def test_a_failed_installation_fails(machine):
    machine.add("apt-get", "#!/bin/sh\necho no network\nexit 100\n")
    done, _ = machine(missing="scdoc")
    assert done.returncode == 1
    assert "no network\n" in done.stderr and "cannot install packages: apt-get -qq update failed" in done.stderr


def test_prints_a_line_for_each_step(machine):
    machine.add("apt-get", "#!/bin/sh\necho many lines\n")
    done, _ = machine(missing="scdoc")
    assert (done.returncode, done.stdout, [line.split(": ")[0] for line in done.stderr.splitlines()]) == (0, "", ["tools/setup"] * 2)


def test_a_package_stands_in_one_row():
    rows = re.findall(r"^\| [\w, -]+ \| (\S[^|]*) \| \S", (TOOL.parent / "packages.md").read_text(), re.MULTILINE)
    packages = [package for row in rows for package in row.split(", ")]
    assert len(packages) > 80 and len(packages) == len({*packages})


def test_elsewhere_than_on_debian_it_lists_what_is_needed(machine):
    os.unlink(machine.tools / "dpkg-query")
    done, log = machine()
    assert done.returncode == 0
    assert "libdw-dev" in done.stderr
    assert log == []


def test_npm_installs_the_validators_once(machine, tmp_path):
    for name in ("cp", "cmp"):
        (machine.tools / name).symlink_to(f"/usr/bin/{name}")
    machine.add("npm", LOG)
    folder = tmp_path / "npm"
    assert machine("check", CPPROF_NPM=str(folder))[1] == []
    done, log = machine("check-all", CPPROF_NPM=str(folder))
    assert done.returncode == 0 and len(log) == 1 and log[0].startswith(f"npm ci --prefix {folder} ")
    assert (folder / "package-lock.json").exists()
    assert machine("check-all", CPPROF_NPM=str(folder))[1] == []
    (folder / "done").write_text("an older list")
    assert len(machine("check-all", missing="gdb scdoc", CPPROF_NPM=str(folder))[1]) == 3


def test_without_a_registry_the_validators_are_left_out(machine, tmp_path):
    for name in ("cp", "cmp"):
        (machine.tools / name).symlink_to(f"/usr/bin/{name}")
    machine.add("npm", "#!/bin/sh\nexit 1\n")
    done, _ = machine("check-all", CPPROF_NPM=str(tmp_path / "npm"))
    assert done.returncode == 0 and "skipped" in done.stderr


def test_unknown_word(machine):
    done, _ = machine("everything")
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_marked_tests_find_their_packages():
    """`check-all` or `bench` installs the packages of the mark `needs`, and `check` does not."""
    loader = importlib.machinery.SourceFileLoader("marks", str(TOOL.parents[1] / "tests" / "conftest.py"))
    marks = importlib.util.module_from_spec(importlib.util.spec_from_loader("marks", loader))
    loader.exec_module(marks)
    rows = re.findall(r"^\| ([\w, -]+) \| (\S[^|]*) \| ", (TOOL.parent / "packages.md").read_text(), re.MULTILINE)
    first = {package: for_ for for_, packages in rows for package in packages.split(", ")}
    needed = {package for packages, _ in marks.NEEDS.values() for package in packages.split()}
    assert needed and {package for package in needed if first.get(package) not in ("check-all", "bench", "demo, deb, check-all", "demo-fleet, check-all")} == set()
