"""The first steps of a new user: the demo, and an installation."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
sys.path.insert(0, str(REPOSITORY / "tests" / "cases"))

from record_support import needs_perf  # noqa: E402


@pytest.mark.long("samples CPU time for seconds")
@needs_perf
def test_demo_shows_both_profiles_and_a_command_that_works():
    done = subprocess.run([REPOSITORY / "tools" / "demo", BUILD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for title in ("CPU Time", "Page Faults"):
        assert f"Downward Call Path Profile for resource: {title}" in done.stdout
    assert done.stdout.count("(main uniquify_db qsort") >= 2
    command = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("    "))
    explored = subprocess.run(command.split(), input="resource page-faults\ndown read_db\n", capture_output=True, text=True)
    assert explored.returncode == 0, explored.stderr
    assert "(read_db " in explored.stdout


@pytest.mark.long("builds, records and measures a program twice")
@needs_perf
def test_demo_of_contextualize_copies_the_path_and_keeps_the_output():
    done = subprocess.run([REPOSITORY / "tools" / "demo-contextualize", BUILD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert " calls name_field_lt: " in done.stdout
    assert "Output     the same\n" in done.stdout
    assert "main;uniquify_db_1;qsort_1" in done.stdout
    for name in ("qsort_1", "uniquify_db_1"):
        assert f"{name}(" in (BUILD / "demo-contextualize/better.patch").read_text()
    assert " uniquify_db_1 qsort_1 sort_names" in done.stdout.rpartition("report --down main")[2]


def servers_of(folder):
    """The processes whose command line has a path below a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{folder}/".encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


def demo_of_fleet(folder, *words):
    """Starts the demo with this folder for what it makes."""
    return subprocess.Popen([REPOSITORY / "tools" / "demo-fleet", BUILD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": str(folder)})


@pytest.mark.long("adds hundreds of recordings to a store")
@pytest.mark.parametrize("words", [["--sqlite"], pytest.param([], marks=pytest.mark.needs("clickhouse-server"))])
def test_demo_of_a_fleet_finds_the_planted_path(tmp_path, words):
    demo = demo_of_fleet(tmp_path, *words)
    shown, errors = demo.communicate(timeout=240)
    assert demo.returncode == 0, errors
    assert ("The store is a file of SQLite" if words else "Three servers of ClickHouse") in shown
    for question in ("store top", "regress", "diff --functions", "html"):
        assert f"\n$ cpprof {question} " in shown
    assert "\nThe cause: main;serve;checkout;price;match_rules, in the service shop.\n" in shown
    assert (BUILD / "demo-fleet.html").stat().st_size > 100000
    assert not list(tmp_path.iterdir()) and not servers_of(tmp_path)


@pytest.mark.long("starts servers")
@pytest.mark.needs("clickhouse-server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_of_a_fleet_leaves_nothing(tmp_path, number):
    demo = demo_of_fleet(tmp_path)
    while "store add" not in demo.stdout.readline():
        assert demo.poll() is None
    assert servers_of(tmp_path)
    demo.send_signal(number)
    demo.communicate(timeout=60)
    assert demo.returncode != 0
    assert not list(tmp_path.iterdir()) and not servers_of(tmp_path)


def test_install(tmp_path):
    installed = subprocess.run(["/usr/bin/meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path],
                               capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    program, = tmp_path.rglob("bin/cpprof")
    version = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert version.returncode == 0
    assert version.stdout.startswith("cpprof ")
    pages = {path.name.removesuffix(".1") for path in tmp_path.rglob("man/man1/*.1")}
    assert pages == {path.name.removesuffix(".scd.in") for path in (REPOSITORY / "docs" / "man").glob("*.scd.in")}
    assert len([*tmp_path.rglob("man/man3/cpprof_runtime.3")]) == 1
    for file, line in (("bash-completion/completions/cpprof.bash", "complete -o default -F _cpprof cpprof"),
                       ("zsh/site-functions/_cpprof", "#compdef cpprof"),
                       ("fish/vendor_completions.d/cpprof.fish", "complete -c cpprof -f -a '(__cpprof)'")):
        completion, = tmp_path.rglob(file)
        assert line in completion.read_text()


def test_install_fails_if_a_page_cannot_be_made(tmp_path):
    """The installation fails and leaves no incomplete page behind."""
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nhead -c 9\nexit 1\n")
    failing.chmod(0o755)
    made = subprocess.run([REPOSITORY / "docs" / "install_pages", "man", BUILD / "src/cmd/cpprof", failing, REPOSITORY / "docs/man",
                           "/man"], env={**os.environ, "DESTDIR": str(tmp_path)}, capture_output=True, text=True)
    assert made.returncode != 0 and "cannot make the manual page" in made.stderr
    assert not [*tmp_path.rglob("*.1")]
