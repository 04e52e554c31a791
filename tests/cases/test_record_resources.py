"""Each resource counts what the program did, by the program's own account or the kernel's."""
import re

import pytest
from measuring import between, near
from record_support import build, check_truths, hits, needs_perf, record, record_well, run_cpprof, show

pytestmark = [needs_perf, pytest.mark.measured("counts of the kernel are compared with those of the program, whose readings are not simultaneous")]


def number(text, name):
	return float(re.search(rf"^{name} ([\d.]+)", text, re.MULTILINE).group(1))


@pytest.mark.parametrize("resource", ["page-faults", "minor-faults"])
def test_page_faults(tmp_path, resource):
	"""Each hit stands for 10 faults on average: N faults in one function, 2 N in another."""
	recorded = record_well(tmp_path, [build("page_faults.c"), "10000", "5"], "-r", f"{resource}/10")
	paths = recorded.paths(resource)
	for function in ("touch_some", "touch_twice_as_many"):
		expected = number(recorded.out, f"faults {function}") / 10
		measured = hits(paths, "main", function)
		near(measured, expected, 0.05 * expected + 4, f"{function}: {measured}, not {expected}\n{show(paths)}")


def test_every_page_fault(tmp_path):
	"""At interval 1 no count is estimated: the two functions have their faults, and a few of the calls around them."""
	recorded = record_well(tmp_path, [build("page_faults.c"), "2000", "50"], "-r", "page-faults/1")
	paths = recorded.paths("page-faults")
	near(hits(paths, "main", "touch_some"), 2000, 20, show(paths))
	near(hits(paths, "main", "touch_twice_as_many"), 4000, 20, show(paths))


def test_losses_are_counted(tmp_path):
	"""With a sample at every fault, more come than a reader can read: samples that are not in the file are counted as lost."""
	recorded = record(tmp_path, [build("page_faults.c"), "20000"], "-r", "page-faults/1")
	assert recorded.status == 0, recorded.err
	_, lost, complete = recorded.closing()
	faults = number(recorded.out, "rusage minor") + number(recorded.out, "rusage minor [0-9]+ major")
	assert complete >= 99
	near(hits(recorded.paths("page-faults")) + lost, faults, 0.01 * faults)


def test_context_switches(tmp_path):
	recorded = record(tmp_path, [build("switches.c")], "-r", "context-switches/1")
	paths, lost = recorded.paths("context-switches"), recorded.closing()[1]
	measured, expected = hits(paths), number(recorded.out, "switches")
	near(measured + lost, expected, 0.02 * expected + 10)
	between(lost, None, 0.2 * expected)
	between(hits(paths, "ping_pong", "pass"), 0.9 * measured, None, show(paths))


def test_user_and_system_time(tmp_path):
	recorded = record_well(tmp_path, [build("user_sys.c"), "10"], "-r", "user/250us", "-r", "sys/250us")
	user, system = recorded.paths("user"), recorded.paths("sys")
	for paths, name in ((user, "user"), (system, "sys")):
		seconds, expected = hits(paths) * 250e-6, number(recorded.out, name)
		near(seconds, expected, 0.2 * expected + 0.02, f"{name}: {seconds}, not {expected}")
	between(hits(user, "main", "compute"), 0.8 * hits(user), None, show(user))
	between(hits(system, "main", "call_system"), 0.8 * hits(system), None, show(system))


def test_several_resources_in_one_run(tmp_path):
	resources = ["cpu", "user", "sys", "page-faults", "minor-faults", "major-faults", "context-switches", "migrations"]
	options = [word for resource in resources for word in ("-r", resource)]
	recorded = record_well(tmp_path, [build("page_faults.c"), "30000", "5"], *options)
	info = run_cpprof("info", recorded.path).stdout
	assert all(resource in info for resource in resources), info
	for resource in ("cpu", "sys", "page-faults", "minor-faults"):
		assert hits(recorded.paths(resource), "main") > 0, resource
	for resource in resources:
		assert run_cpprof("report", "-r", resource, recorded.path).returncode == 0, resource


@pytest.mark.parametrize("resource", ["cycles", "instructions", "cache-misses", "branch-misses"])
def test_hardware_counters(tmp_path, resource):
	"""A counter that the machine has is recorded. Otherwise a message reports the lack, and the target does not run."""
	recorded = record(tmp_path, [build("forms.c"), "20"], "-r", resource)
	if recorded.status == 0:
		assert hits(recorded.paths(resource), "main") > 0
	else:
		assert recorded.status == 1
		assert resource in recorded.err
		assert recorded.out == ""
		assert not recorded.path.exists()


@pytest.mark.parametrize("period_us", [1000, 2000, 500, 1708, 2412])
def test_program_in_step_with_the_interval(tmp_path, period_us):
	"""The jitter keeps fractions right where samples at a fixed interval would all hit one function."""
	recorded = record_well(tmp_path, [build("lockstep.c"), str(period_us), "1.5"], "-r", "cpu/1ms")
	paths = recorded.paths()
	total = hits(paths)
	near(hits(paths, "main", "quarter") / total, 0.25, 0.10, show(paths))
	near(hits(paths, "main", "three_quarters") / total, 0.75, 0.10, show(paths))


@pytest.mark.parametrize("options, interval", [
	(["-r", "cpu/500us"], 500e-6),
	(["-r", "cpu/2ms"], 2e-3),
	(["-r", "cpu/0.5ms"], 500e-6),
	(["-F", "2000"], 500e-6),
	([], 1e-3),
], ids=lambda value: "_".join(value) if isinstance(value, list) else str(value))
def test_mean_interval(tmp_path, options, interval):
	"""Hits times the interval are the CPU time that was used, with any jitter."""
	recorded = record_well(tmp_path, [build("user_sys.c"), "15"], *options)
	used = number(recorded.out, "user") + number(recorded.out, "sys")
	measured = hits(recorded.paths()) * interval
	near(measured, used, 0.1 * used + 0.02, f"{measured} s, not {used}")


def test_high_rate(tmp_path):
	"""At 10,000 samples a second the paths are complete and no sample is lost."""
	check_truths(record_well(tmp_path, [build("mixture.c")], "-F", "10000"))
