"""Resources that both backends support: each backend agrees with the program's own figures and with the other backend."""
import re

import pytest
from record_support import (amounts, build, check_truths, hits, needs_bpf, needs_perf, record, record_well, run_cpprof, show,
	tolerance)

pytestmark = [needs_perf, needs_bpf]

BACKENDS = ["perf", "bpf"]


def both(folder, command, *options):
	"""Records the command with each backend. Returns {backend: recording}."""
	recorded = {}
	for backend in BACKENDS:
		(folder / backend).mkdir()
		recorded[backend] = record_well(folder / backend, command, "--backend", backend, *options)
		assert all(resource["backend"] == backend for resource in recorded[backend].info()["resources"])
	return recorded


def number(text, name):
	return float(re.search(rf"^{name} ([\d.]+)", text, re.MULTILINE)[1])


def alike(one, other, names):
	"""Fails unless the two shares are equal within their combined error."""
	shares, errors = [], []
	for paths in (one, other):
		total = hits(paths)
		shares.append(hits(paths, *names) / total)
		errors.append(tolerance(shares[-1], total))
	assert abs(shares[0] - shares[1]) <= (errors[0] ** 2 + errors[1] ** 2) ** 0.5, f"{names}: {shares}\n{show(one)}\n{show(other)}"


def test_cpu_time(tmp_path):
	recorded = both(tmp_path, [build("forms.c"), "60"], "-r", "cpu/500us")
	perf, bpf = (check_truths(recorded[backend]) for backend in BACKENDS)
	for names in (["main", "invoice"], ["main", "db_update_record"], ["address_information", "db_get_property"]):
		alike(perf, bpf, names)


@pytest.mark.parametrize("backend", BACKENDS)
def test_mean_interval(tmp_path, backend):
	recorded = record_well(tmp_path, [build("user_sys.c"), "12"], "--backend", backend, "-r", "cpu/500us")
	used = number(recorded.out, "user") + number(recorded.out, "sys")
	measured = hits(recorded.paths()) * 500e-6
	assert abs(measured - used) <= 0.1 * used + 0.02, f"{measured} s, not {used}"
	total = recorded.resource("cpu")["total"] / 1e9
	assert abs(total - used) <= 0.05 * used + 0.02, f"{total} s counted, not {used}"


def test_user_and_system_time(tmp_path):
	recorded = both(tmp_path, [build("user_sys.c"), "10"], "-r", "user/250us", "-r", "sys/250us")
	for one in recorded.values():
		for resource, function in (("user", "compute"), ("sys", "call_system")):
			paths = one.paths(resource)
			seconds, expected = hits(paths) * 250e-6, number(one.out, resource)
			assert abs(seconds - expected) <= 0.2 * expected + 0.02, f"{resource}: {seconds}, not {expected}"
			# The kernel's interrupts, of whatever the machine does, also come in `compute`.
			least = 0.8 if resource == "user" else 0.5
			assert hits(paths, "main", function) > least * hits(paths), show(paths)


@pytest.mark.parametrize("resource", ["page-faults", "minor-faults"])
def test_page_faults(tmp_path, resource):
	recorded = both(tmp_path, [build("page_faults.c"), "1500", "20"], "-r", f"{resource}/1")
	totals = [one.resource(resource)["total"] for one in recorded.values()]
	assert abs(totals[0] - totals[1]) <= 20, totals
	for one in recorded.values():
		paths = one.paths(resource)
		for function, expected in (("touch_some", 1500), ("touch_twice_as_many", 3000)):
			assert abs(hits(paths, "main", function) - expected) <= 10, show(paths)


def test_context_switches(tmp_path):
	# So few that the ring of the perf backend holds all, with their stacks, where the recorder gets no processor meanwhile.
	recorded = both(tmp_path, [build("switches.c"), "400"], "-r", "context-switches/1")
	for one in recorded.values():
		expected = number(one.out, "switches")
		assert abs(one.resource("context-switches")["total"] - expected) <= 0.02 * expected + 10
		paths = one.paths("context-switches")
		assert abs(hits(paths) - expected) <= 0.02 * expected + 10
		assert hits(paths, "ping_pong", "pass") > 0.9 * hits(paths), show(paths)


def test_migrations(tmp_path):
	for backend in BACKENDS:
		(tmp_path / backend).mkdir()
		one = record(tmp_path / backend, [build("migrations.c"), "30"], "--backend", backend, "-r", "migrations/1")
		if one.status == 77:
			pytest.skip("one processor alone")
		assert one.status == 0, one.err
		paths = one.paths("migrations")
		for _, names, gticks in amounts(one.out):
			# The kernel may move the process once more between two of its own migrations.
			assert abs(hits(paths, *names) - gticks) <= 4, f"{names}: {hits(paths, *names)}, not {gticks}\n{show(paths)}"


def test_bpf_is_taken_where_it_can_be(tmp_path):
	recorded = record_well(tmp_path, [build("forms.c"), "20"])
	assert [resource["backend"] for resource in recorded.info()["resources"]] == ["bpf"]


def test_what_perf_cannot(tmp_path):
	"""The refusal names the backend that supports the resource, and the target is not run."""
	witness = tmp_path / "ran"
	result = run_cpprof("record", "--backend", "perf", "-r", "read-bytes", "--", "touch", witness, cwd=tmp_path)
	assert result.returncode == 1
	assert "read-bytes" in result.stderr and "bpf" in result.stderr
	assert not witness.exists() and not (tmp_path / "cpprof.data").exists()
