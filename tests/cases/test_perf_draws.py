"""Counted events by perf: one of each interval is drawn at random, so that no program's events are in step with the samples."""
import pytest
from record_support import agrees, build, hits, needs_whole_perf, record, run_cpprof, show
from measuring import near

from json_support import valid_json

FUNCTIONS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
TURNS = 200 # all events fit into a ring: none is lost, however late the recorder is


def record_turns(folder, interval, turns=TURNS):
	"""Returns the recording, and its paths."""
	recorded = record(folder, [build("in_step.c"), str(turns)], "--backend", "perf", "-r", f"page-faults/{interval}")
	assert recorded.status == 0, recorded.err
	return recorded, recorded.paths()


@needs_whole_perf
@pytest.mark.parametrize("interval", [2, 5, 10, 20, 30])
def test_each_position_is_drawn(tmp_path, interval):
	recorded, paths = record_turns(tmp_path, interval)
	assert recorded.closing()[1] == 0, recorded.err
	for name in FUNCTIONS:
		agrees(paths, [name], 0.1, FUNCTIONS)


@needs_whole_perf
@pytest.mark.parametrize("interval", [1, 2, 7, 10, 1000])
def test_one_event_of_each_interval(tmp_path, interval):
	"""The hits are the counted total divided by the interval, to within one, and each sample is one hit. There are about 200 samples, which the
	recorder's buffer holds however late it is."""
	turns = min(TURNS, 20 * interval)
	recorded, paths = record_turns(tmp_path, interval, turns)
	reported = recorded.resource("page-faults")
	assert recorded.closing()[1] == 0, recorded.err
	assert reported["total"] >= 10 * turns, reported
	assert abs(hits(paths) - reported["total"] / interval) <= 1, (reported, show(paths))
	assert recorded.closing()[0] == hits(paths)


@needs_whole_perf
@pytest.mark.measured("events are lost where the recorder is late")
def test_errors_hold(tmp_path):
	"""At most 13 % of 200 intervals of shares do not contain the true one: with 95 %, more have a probability of 1e-6."""
	missed = 0
	for run in range(20):
		(tmp_path / str(run)).mkdir()
		record_turns(tmp_path / str(run), 10)
		result = run_cpprof("report", "--body", "-t", 0, "-n", 0, "--format", "json", tmp_path / str(run) / "out.data")
		entries = {entry["path"][0]: entry for entry in valid_json(result.stdout)["results"][0]["entries"]}
		total = sum(entries[name]["fraction"] for name in FUNCTIONS)
		missed += sum(abs(entries[name]["fraction"] - total / 10) > entries[name]["error"] for name in FUNCTIONS)
	near(missed / 200, 0.05, 0.08)


@needs_whole_perf
@pytest.mark.measured("events are lost where the recorder is late")
def test_costly_events(tmp_path):
	"""A longer interval has fewer samples, not fewer that the kernel takes: the finding names the cause."""
	recorded, _ = record_turns(tmp_path, 1000, turns=100000)
	assert "samples a second slow the program: perf takes one of each event" in recorded.err
