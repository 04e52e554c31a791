"""Resources that both backends support: each backend agrees with the program's own figures."""
import re

import pytest
from measuring import between, near
from record_support import (BACKENDS, COUNTED, MOVES, build, check_counted, hits, needs_bpf, needs_perf, needs_two_processors, record,
	record_well, run_cpprof, show)

MEASURED = pytest.mark.measured("the program's clocks are compared with those of the kernel, whose readings are not simultaneous")
of_backends = pytest.mark.parametrize("backend", BACKENDS[:2])


def number(text, name):
	return float(re.search(rf"^{name} ([\d.]+)", text, re.MULTILINE)[1])


@MEASURED
@of_backends
def test_mean_interval(tmp_path, backend):
	recorded = record_well(tmp_path, [build("user_sys.c"), "12"], "--backend", backend, "-r", "cpu/500us")
	used = number(recorded.out, "user") + number(recorded.out, "sys")
	near(hits(recorded.paths()) * 500e-6, used, 0.1 * used + 0.02)
	near(recorded.resource("cpu")["total"] / 1e9, used, 0.05 * used + 0.02)


@MEASURED
@of_backends
def test_user_and_system_time(tmp_path, backend):
	recorded = record_well(tmp_path, [build("user_sys.c"), "10"], "--backend", backend, "-r", "user/250us", "-r", "sys/250us")
	for resource, function in (("user", "compute"), ("sys", "call_system")):
		paths, expected = recorded.paths(resource), number(recorded.out, resource)
		near(hits(paths) * 250e-6, expected, 0.2 * expected + 0.02, what=resource)
		# The kernel's interrupts, of whatever the machine does, also come in `compute`.
		between(hits(paths, "main", function), (0.8 if resource == "user" else 0.5) * hits(paths), None, show(paths), what=function)


@of_backends
@pytest.mark.parametrize("resource", ["page-faults", "minor-faults", pytest.param("migrations", marks=needs_two_processors)])
def test_counters(tmp_path, backend, resource):
	"""Each event is counted, on its path, in each thread."""
	flags = (MOVES if resource == "migrations" else COUNTED["perf"])[0]
	program = build("threads.c", "-DEVENT_US=1000", *flags)
	recorded = record(tmp_path, [program, "15"], "--backend", backend, "-r", f"{resource}/1")
	assert recorded.status == 0, recorded.err
	check_counted(recorded, 15 * 4)
	counted = recorded.resource(resource)
	assert counted["backend"] == backend and counted["lost"] == 0 and counted["total"] == counted["hits"] == hits(recorded.paths()), counted


@needs_bpf
def test_bpf_is_taken_where_it_can_be(tmp_path):
	recorded = record(tmp_path, ["true"])
	assert [resource["backend"] for resource in recorded.info()["resources"]] == ["bpf"]


@needs_perf
def test_what_perf_cannot(tmp_path):
	"""The refusal names the backend that supports the resource, and the target is not run."""
	witness = tmp_path / "ran"
	result = run_cpprof("record", "--backend", "perf", "-r", "read-bytes", "--", "touch", witness, cwd=tmp_path)
	assert result.returncode == 1
	assert "read-bytes" in result.stderr and "bpf" in result.stderr
	assert not witness.exists() and not (tmp_path / "cpprof.data").exists()
