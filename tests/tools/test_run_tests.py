"""tools/run_tests counts correctly: a program that crashes, hangs or prints no results does not count as passed."""
import importlib.machinery
import importlib.util
import itertools
import json
import signal
import subprocess
import xml.etree.ElementTree
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "tools" / "run_tests"


@pytest.fixture(scope="module")
def runner():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


def counts(tally):
    return tally.passed, len(tally.failures), len(tally.skips)


@pytest.mark.parametrize("stdout, result, expected", [
    ("1..2\nok 1 - one\nok 2 - two\n", "OK", (2, 0, 0)),
    ("1..3\nok 1 - one\nnot ok 2 - two\n# 1 != 2\nnot ok 3 # SKIP three\n# not ok - group\n", "FAIL", (1, 1, 1)),
    ("1..2\nok 1 - one\n", "FAIL", (1, 1, 0)),
    ("1..2\nok 1 - one\n", "TIMEOUT", (1, 1, 0)),
    ("", "ERROR", (0, 1, 0)),
    ("", "FAIL", (0, 1, 0)),
    ("", "OK", (1, 0, 0)),
    ("", "SKIP", (0, 0, 1)),
    ("ok 1 - one\nok 2 - a sanitizer speaks up at the end\n", "FAIL", (2, 1, 0)),
])
def test_unit_tests(runner, stdout, result, expected):
    tally = runner.Tally()
    runner.count_unit_test(tally, "", {"name": "cpprof:x", "stdout": stdout, "result": result, "returncode": 1})
    assert counts(tally) == expected


@pytest.mark.parametrize("inner, expected", [
    ("", (1, 0, 0)),
    ('<failure message="no"/>', (0, 1, 0)),
    ('<error message="in a fixture"/>', (0, 1, 0)),
    ('<skipped message="no perf events"/>', (0, 0, 1)),
])
def test_cases(runner, inner, expected):
    tally = runner.Tally()
    runner.count_case(tally, "", xml.etree.ElementTree.fromstring(f'<testcase classname="c" name="n">{inner}</testcase>'))
    assert counts(tally) == expected


@pytest.mark.parametrize("marks", itertools.product([False, True], repeat=4))
def test_each_test_is_in_one_command(runner, marks):
    """Whatever marks a test has, exactly one of the steps gcc, long and measure runs it; one without marks is in the gate. The step sanitize runs each
    test of the gate unless its own mark excludes the test."""
    names = dict(zip(("measured", "needs", "long", "unsanitized"), marks))
    runs = [eval(expression, {}, names) for expression in (runner.GATE, runner.OTHERS, runner.MEASURED)]
    assert runs.count(True) == 1 and runs[0] == (not any(marks[:3]))
    is_sanitized = eval(runner.SANITIZED, {}, names)
    assert is_sanitized == (not names["unsanitized"]) if runs[0] else not (is_sanitized and names["unsanitized"])


def test_commands_are_made_of_steps(runner):
    assert all(step in runner.STEPS for steps in runner.COMMANDS.values() for step in steps)
    assert {step for steps in runner.COMMANDS.values() for step in steps} == runner.STEPS.keys()
    assert set(runner.COMMANDS["check"]) < set(runner.COMMANDS["check-all"])


def test_unknown_words_are_answered_with_all_choices():
    refused = subprocess.run([PATH, "clnag"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "no command or step clnag; there are: check, check-all, measure, gcc, " in refused.stderr
    assert refused.stderr.count("measure") == 1, refused.stderr


def test_record_of_a_run(runner, tmp_path, monkeypatch):
    """last_run.json states the commit, whether the tree was clean, and each step; also before the run has finished."""
    def in_repository(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True)

    in_repository("init")
    in_repository("commit", "--allow-empty", "-m", "first")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "CHECK", tmp_path)
    tally, record = runner.Tally(), runner.Record("check")
    tally.count("a")
    tally.count("b", failed="status 3")
    record.step("gcc", 1.26, (0, 0, 0), tally)
    read = json.loads((tmp_path / "last_run.json").read_text())
    assert read == {"command": "check", "commit": runner.git("rev-parse", "HEAD"), "clean": True, "finished": False, "passed": 1, "failed": 1, "skipped": 0,
                    "failures": ["b: status 3"], "steps": [{"name": "gcc", "seconds": 1.3, "passed": 1, "failed": 1, "skipped": 0}]}
    record.write(tally, finished=True)
    assert json.loads((tmp_path / "last_run.json").read_text())["finished"]
    assert not runner.Record("check").run["clean"], "last_run.json itself is new here"


def test_last_line(runner, capsys):
    tally = runner.Tally()
    tally.count("a")
    tally.count("b", skipped="no perf events")
    tally.count("c", skipped="no perf events")
    tally.count("d", failed="status 3")
    tally.print()
    assert capsys.readouterr().out.splitlines() == [
        "skipped 2: no perf events (b, ...)", "FAILED d: status 3", "1 passed, 1 failed, 2 skipped"]


def test_a_check_is_its_status(runner):
    tally = runner.Tally()
    assert runner.check(tally, "good", ["true"])
    assert not runner.check(tally, "bad", ["false"])
    assert counts(tally) == (1, 1, 0)


def test_signals_that_the_parent_ignores(tmp_path):
    """A program that the runner starts has the default dispositions, except for an ignored hangup (nohup), and no blocked
    signals."""
    def ignore():
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    script = tmp_path / "script.py"
    script.write_text(f"""
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("run_tests", {str(PATH)!r})
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(runner)
runner.restore_signals()
runner.run(["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"])
""")
    shown = subprocess.run(["/usr/bin/python3", script], preexec_fn=ignore, check=True, capture_output=True, text=True).stdout
    masks = {line.split(":")[0]: int(line.split()[1], 16) for line in shown.splitlines()}
    ours = sum(1 << (number - 1) for number in signal.valid_signals())  # the C library reserves two other signals
    assert (masks["SigBlk"] & ours, masks["SigIgn"] & ours) == (0, 1 << (signal.SIGHUP - 1))
