"""Tests with the mark `measured(reason)`: their comparisons, their repetition, and the table that `make measure` prints.

Such a test compares times, or counts within a period, with the times or counts of another clock or another recording. A process that runs
meanwhile changes them by any amount, so no tolerance excludes it. The mark's reason states what is disturbed. On a machine that
disturbs one recording in a hundred, three independent recordings are all disturbed in one of a million tests, whereas a defect of the
product fails all three. Shares of samples need no repetition: record_support.py compares them with exact binomial tails.
"""
import ast
import dataclasses
import linecache
import subprocess
import sys
from pathlib import Path

import pytest

ATTEMPTS = 3


@dataclasses.dataclass
class Row:
    what: str
    expected: str
    found: float
    allowed: str
    deviation: float # in units of what is allowed, so that 1 is the bound; None if there is no single expected figure
    holds: bool

    def texts(self):
        deviation = "" if self.deviation is None else f"{self.deviation:+.2f}"
        return self.what, self.expected, figure(self.found), self.allowed, deviation, "holds" if self.holds else "DEVIATES"


rows = [] # of the current attempt of the current test


def figure(number):
    return f"{number:.6g}"


def first_argument(frame):
    """Returns the text of the first argument of the call that is the current line of this frame."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    try:
        return ast.unparse(ast.parse(line).body[0].value.args[0])
    except (SyntaxError, AttributeError, IndexError):
        return "a figure"


def check(row, about):
    rows.append(row)
    assert row.holds, f"{row.what} = {figure(row.found)}, not {row.expected} {row.allowed}\n{about}"


def near(found, expected, allowed, about="", what=None):
    """Requires that a figure is the expected one, up to the allowed distance. `about`: further lines of the message. `what`: the
    figure's name in the table; the default is its expression in the test."""
    distance = found - expected
    check(Row(what or first_argument(sys._getframe(1)), figure(expected), found, f"± {figure(allowed)}",
        distance / allowed if allowed else float("inf") if distance else 0.0, abs(distance) <= allowed), about)


def between(found, least, most, about="", what=None):
    """Requires that a figure is within two bounds, of which one may be None."""
    bounds = [f"{word} {figure(bound)}" for word, bound in ((">=", least), ("<=", most)) if bound is not None]
    holds = (least is None or found >= least) and (most is None or found <= most)
    check(Row(what or first_argument(sys._getframe(1)), "", found, " ".join(bounds), None, holds), about)


def table(measured):
    """Returns the lines of the table of [(name of the test, its rows as texts)]."""
    lines = [("test", "what", "expected", "found", "allowed", "deviation", "verdict")]
    lines += [(name, *row) for name, found in measured for row in found]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    marker = pyfuncitem.get_closest_marker("measured")
    if marker is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    # The first attempt may have ended a process that a fixture started, so such a test has one attempt.
    is_once = any(isinstance(pyfuncitem.funcargs[name], subprocess.Popen) for name in names)
    first_error = None
    for attempt in range(1 if is_once else ATTEMPTS):
        rows.clear()
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        if attempt > 0:
            arguments = {name: again(value, attempt) for name, value in arguments.items()}
        try:
            pyfuncitem.obj(**arguments)
            keep_rows(pyfuncitem, attempt, None)
            return True
        except AssertionError as error:
            first_error = first_error or error
            keep_rows(pyfuncitem, attempt, error)
            pyfuncitem.add_report_section("call", f"attempt {attempt + 1}", str(error))
    raise first_error


def keep_rows(item, attempt, error):
    """Keeps the comparisons of an attempt for the table. A failure outside of them is a row of its own."""
    found = [list(row.texts()) for row in rows]
    if error is not None and all(row.holds for row in rows):
        found.append([str(error).splitlines()[0][:60] if str(error) else "an assertion", "", "", "", "", "DEVIATES"])
    elif not found:
        found.append(["its assertions", "", "", "", "", "holds"])
    item.user_properties.append(("measured", [f"{item.nodeid.split('/')[-1]}{f' (attempt {attempt + 1})' if attempt else ''}", found]))


def pytest_terminal_summary(terminalreporter):
    """Prints the table of all comparisons."""
    reports = [report for name in ("passed", "failed") for report in terminalreporter.stats.get(name, [])]
    measured = [value for report in reports if report.when == "call" for name, value in report.user_properties if name == "measured"]
    if measured:
        terminalreporter.section("measurements")
        terminalreporter.write_line("\n".join(table(measured)))


def again(value, attempt):
    """Returns a new empty folder in the place of a folder, and any other value unchanged."""
    if isinstance(value, Path) and value.is_dir():
        folder = value / f"attempt{attempt + 1}"
        folder.mkdir()
        return folder
    return value
