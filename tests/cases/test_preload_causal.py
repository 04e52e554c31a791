"""cpprof causal: virtual speed-ups agree with real speed-ups, also where threads wait for each other."""
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import check_failure, done, run
from json_support import valid_json
from measuring import between, near
from record_support import CPPROF, REPOSITORY, await_program, build

sys.path.insert(0, str(REPOSITORY / "tests" / "naive"))

import causal as naive  # noqa: E402

TOYS = "causal/toys.c"
# Other processes take the processors from one thread and not from the other one; where that is permitted, the toys go first.
FIRST = ["chrt", "-f", "1"] if subprocess.run(["chrt", "-f", "1", "true"], capture_output=True, check=False).returncode == 0 else []
disturbed = pytest.mark.measured("times are compared with each other, and the machine's speed changes")
two_processors = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two threads need two processors")


def causal(*words):
	result = subprocess.run([*FIRST, CPPROF, "causal", "--format", "json", *words], capture_output=True, text=True, check=False)
	assert result.returncode == 0, result.stderr
	return valid_json(result.stdout)


def points_of(document, *path):
	"""Returns the points of a path by its last functions."""
	found = [point for point in document["points"] if tuple(point["path"][-len(path):]) == path]
	assert found, document["points"]
	return found


def real_gain(toy, rounds, name, turns=7):
	"""Returns the median gain of the toy whose function `name` does 40 % less work, and its scatter, from runs in turns."""
	before, after = build(TOYS), build(TOYS, f"-DFASTER_{name}=40")
	gains = []
	for _ in range(turns):
		times = []
		for program in (before, after):
			start = time.monotonic()
			subprocess.run([*FIRST, program, toy, str(rounds)], check=True)
			times.append(time.monotonic() - start)
		gains.append(1 - times[1] / times[0])
	middle = statistics.median(gains)
	return middle, 2 * statistics.median(abs(gain - middle) for gain in gains)


def compare(toy, rounds, names):
	"""Compares the gains at 40 % with the real gains. Returns {name: (gain, what-if's gain)}."""
	document = causal("--progress", "round", "--faster", "40", "--", build(TOYS), toy, str(rounds))
	gains = {}
	for name in names:
		(point,) = points_of(document, name)
		real, scatter = real_gain(toy, rounds // 15, name)
		print(toy, point, "real", real, "scatter", scatter)
		assert point["error"] < 0.35
		assert abs(point["gain"] - real) <= point["error"] + scatter + 0.05, (name, point, real, scatter)
		gains[name] = (point["gain"], 0.4 * point["share"])
	return gains


@disturbed
def test_a_serial_program_gains_what_whatif_predicts():
	document = causal("--progress", "round", "--", build(TOYS), "serial", "2500")
	first = points_of(document, "first")[0]
	print(first)
	assert first["slope_error"] < 0.3
	near(first["slope"], first["share"], first["slope_error"] + 0.05)
	near(first["share"], 0.75, 0.05)


@two_processors
@disturbed
def test_at_a_barrier_only_the_longer_part_counts():
	gains = compare("barrier", 3000, ["long_part", "short_part"])
	gain, predicted = gains["long_part"]
	between(gain, predicted, None)
	gain, predicted = gains["short_part"]
	assert gain < predicted


@two_processors
@disturbed
def test_under_a_lock_only_the_held_part_counts():
	gains = compare("lock", 3500, ["held"])
	assert gains["held"][0] > 0.2


@two_processors
@disturbed
def test_in_a_pipeline_only_the_slower_stage_counts():
	gains = compare("pipeline", 3000, ["use", "make"])
	between(gains["use"][0], gains["make"][0], None)
	between(gains["make"][0], None, gains["make"][1])


@disturbed
def test_paths_of_a_forked_process():
	document = causal("--progress", "round", "--faster", "80", "--", build(TOYS), "fork", "1500")
	(point,) = points_of(document, "main", "serial", "first")
	assert point["gain"] > 0.2 > 0


@disturbed
def test_runs_are_experiments_where_there_is_no_progress_point():
	document = causal("--runs", "17", "--faster", "80", "--", build(TOYS), "serial", "60")
	assert document["progress"] == "run"
	assert document["visits"] == document["experiments"] == 16
	assert points_of(document, "first")[0]["gain"] > 0.2


@disturbed
def test_the_analysis_is_that_of_the_definition():
	document = causal("--progress", "round", "--length", "0.02", "--", build(TOYS), "serial", "600")
	points, slopes = naive.gains(document["trials"])
	assert len(points) > 1
	assert len(points) == len(document["points"])
	for point in document["points"]:
		path = tuple(point["path"])
		gain, error, count = points[path, round(100 * point["faster"])]
		assert point["experiments"] == count
		assert point["gain"] == pytest.approx(gain, rel=1e-4, abs=1e-5)
		assert point["error"] == pytest.approx(error, rel=1e-3)
		assert point["slope"] == pytest.approx(slopes[path][0], rel=1e-4, abs=1e-5)
		assert point["slope_error"] == pytest.approx(slopes[path][1], rel=1e-3)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("linkage", ["pie", "no-pie"])
def test_progress_points_need_no_library_at_link_time(tmp_path, compiler, linkage):
	program = build(TOYS, compiler=compiler, linkage=linkage)
	done("record", "--backend", "preload", "-r", "own:round/1", "-o", tmp_path / "a.data", "--", program, "serial", "20")
	(resource,) = valid_json(done("info", tmp_path / "a.data", "--format", "json"))["resources"]
	assert resource["hits"] == 20


@disturbed
def test_the_text_and_csv(tmp_path):
	words = ["causal", "--progress", "round", "--length", "0.02", "--", build(TOYS), "serial", "500"]
	text = done(*words)
	assert text.startswith("Causal Profile: ")
	assert "(main serial first)" in text
	done(*words[:5], "--format", "csv", "-o", tmp_path / "a.csv", *words[5:])
	lines = (tmp_path / "a.csv").read_text().splitlines()
	assert lines[0] == "path,share,slope,slope_error,faster,gain,error,experiments"
	assert any(line.startswith('"main;serial;first",') for line in lines)


@disturbed
def test_without_progress_there_is_no_result():
	program = build(TOYS)
	check_failure(run("causal", "--progress", "nothing", "--length", "0.01", "--", program, "serial", "300"), "there was no progress", "choose")
	check_failure(run("causal", "--progress", "round", "--", program, "serial", "1"), "ended before an experiment was complete", "--runs")
	check_failure(run("causal", "--runs", "2", "--", program, "serial", "60"), "too few")


@disturbed
def test_a_program_with_one_path():
	"""A path that has all time is tried where there is no other one."""
	document = causal("--progress", "round", "--length", "0.02", "--", build(TOYS, "-DFASTER_second=100"), "serial", "400")
	assert points_of(document, "first")[0]["share"] > 0.9


def test_a_static_program_is_refused():
	check_failure(run("causal", "--", build(TOYS, linkage="static"), "serial", "1"), "statically linked")


def test_a_command_that_fails():
	check_failure(run("causal", "--runs", "3", "--", "false"), "the command failed with exit status 1")
	assert run("causal", "--", "./no-such-command").returncode == 127


@pytest.mark.parametrize("words, part", [
	(["-r", "cpu"], "it passes by itself"),
	(["-r", "write-bytes/10"], "has an interval"),
	(["-r", "write-bytes", "--progress", "x"], "cannot be combined"),
	(["--progress", "x" * 300], "too long"),
	(["--runs", "0"], "not a number of runs"),
	(["--faster", "30"], "not a speed-up"),
	(["--length", "0.1"], "--length needs --progress"),
	(["--progress", "x", "--length", "0.001"], "out of range"),
])
def test_usage_errors(words, part):
	result = run("causal", *words, "--", "true")
	assert result.returncode == 2
	assert part in result.stderr


def test_the_target_goes_on_without_pauses_if_the_recorder_is_killed(tmp_path):
	"""With all speed-ups at 100 %, the other thread would be paused most of the time."""
	out = tmp_path / "out"
	with open(out, "wb") as stream:
		recorder = subprocess.Popen([CPPROF, "causal", "--progress", "round", "--faster", "100", "--", "sh", "-c",
			f"{build(TOYS)} barrier 300; echo ended"], stdout=stream, stderr=subprocess.DEVNULL)
		await_program(recorder, Path(build(TOYS)).name)
		time.sleep(0.5) # experiments begin
		recorder.send_signal(signal.SIGKILL)
		recorder.wait()
	for _ in range(600):
		if out.read_text() == "ended\n":
			return
		time.sleep(0.1)
	raise AssertionError("the target did not end")
