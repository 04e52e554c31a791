"""
Times of probe points, without the time of the probes: the truth is the same functions without probe points, in the same run.
"""
import json

import pytest
from measuring import between
from record_support import run_cpprof
from times_support import build_durations, times_of

# The two runs of a function, with probe points and without, do not get the same frequency of the processor.
FREQUENCY = 0.05


@pytest.fixture(scope="module", name="program")
def the_program():
	return build_durations()


@pytest.fixture(scope="module", name="recorded")
def the_recorded(program, tmp_path_factory):
	"""(the times of a run, its profile)"""
	folder = tmp_path_factory.mktemp("recorded")
	return times_of(program, folder, "paths-timed"), folder / "times.data"


def shown(times):
	return "\n".join(f"{caller} {function}: truth {one.truth:.1f}, {one.time:.1f} ±{one.error:.1f}, raw {one.raw:.1f}" for (caller, function), one in times.items())


@pytest.mark.measured("another process on the same core changes how long the functions and the probes take")
@pytest.mark.parametrize("measurement", ["paths-timed", "trace"])
def test_the_truth_is_within_the_error(program, measurement, tmp_path):
	times = times_of(program, tmp_path, measurement)
	del times["call_loads", "loads"], times["call_loads", None] # other processes share the memory
	for (_, function), one in times.items():
		off = abs(one.time - one.truth)
		between(off, None, one.error + FREQUENCY * one.truth, shown(times))
		assert function is None or one.truth < 30 or off <= 0.25 * one.truth, shown(times)
		assert function is None or one.truth < 200 or off <= 0.05 * one.truth + one.truth * FREQUENCY, shown(times)


def test_no_error_exceeds_its_time(recorded):
	times, _ = recorded
	for one in times.values():
		assert 0 < one.error <= one.time, shown(times)


@pytest.mark.parametrize("report", [["--functions"], ["--body"], ["--down", "next_round"], ["--up", "ns20"], ["--tree"]])
def test_rows_have_their_errors(recorded, report):
	"""The rows of a report of the errors are the rows of the same report of the times."""
	def rows(resource):
		result = run_cpprof("report", *report, "-t", 0, "-n", 0, "--format", "json", "-r", resource, recorded[1])
		assert result.returncode == 0, result.stderr
		(found,) = json.loads(result.stdout)["results"]
		return found
	shown_times, errors, above = rows("real"), {}, []
	def path_of(entry):
		if "path" in entry:
			return tuple(entry["path"])
		above[entry["depth"]:] = [entry["name"]]
		return tuple(above)
	for entry in rows("real-error")["entries"]:
		errors[path_of(entry)] = entry["hits"]
	above.clear()
	for entry in shown_times["entries"]:
		error = errors.get(path_of(entry), 0)
		assert entry["error"] == pytest.approx(error / shown_times["total_hits"], rel=1e-4, abs=1e-9), entry
		assert 0 <= entry["error"] <= entry["fraction"], entry
	assert any(errors.values())


@pytest.mark.measured("times of functions are compared with each other")
@pytest.mark.parametrize("measurement", ["paths-timed", "trace"])
def test_waiting_for_memory_is_the_functions_own_time(program, measurement, tmp_path):
	"""The stamp at its end waits until its loads have their values. The caller does nothing but call it."""
	times = times_of(program, tmp_path, measurement)
	between(times["call_loads", None].time, None, 0.25 * times["call_loads", "loads"].time, shown(times))


def test_raw_times_are_those_that_were_measured(recorded):
	def total(*options):
		result = run_cpprof("report", "--body", "-t", 0, "-n", 0, "--format", "json", *options, recorded[1])
		assert result.returncode == 0, result.stderr
		return {one["resource"]: one["total_hits"] for one in json.loads(result.stdout)["results"]}
	shown_times, raw_times, errors = total(), total("--raw"), total("-r", "real-error")
	assert {"real", "real-raw", "real-error"} & shown_times.keys() == {"real"}
	assert {"real", "real-raw", "real-error"} & raw_times.keys() == {"real-raw"}
	assert raw_times["real-raw"] > shown_times["real"] > errors["real-error"] > 0
