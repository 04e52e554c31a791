"""`cpprof record --paused` counts only after the program's cpprof_start(), in all of its threads."""
import pytest
from measuring import between
from record_support import BUILD, REPOSITORY, amounts, build, check_amounts, hits, record, run_cpprof, show

LIBRARIES = BUILD / "src/collect/agent"


def paused_program():
	return build("paused.c", f"-I{REPOSITORY / 'include'}", f"-L{LIBRARIES}", "-lcpprof", f"-Wl,-rpath,{LIBRARIES}")


def record_paused(folder, *options):
	recorded = record(folder, [paused_program()], "-r", "own:steps/1", *options)
	assert recorded.status == 0, recorded.err
	return recorded


@pytest.mark.measured("hits are compared with the CPU time that the kernel counts")
def test_counts_between_start_and_stop(tmp_path):
	"""preload is chosen automatically, because a backend outside the process cannot see cpprof_start(). The program's own count
	is exact."""
	recorded = record_paused(tmp_path, "--paused", "-r", "cpu")
	assert ", by preload" in recorded.err
	check_amounts(recorded, "own:steps")
	paths = recorded.paths("cpu")
	for thread in ("main", "other"):
		assert hits(paths, thread, "between") > 20, show(paths)
		assert hits(paths, thread, "before") == hits(paths, thread, "after") == 0, show(paths)
	# The time outside of the window is not reported as missing.
	assert "not sampled" not in recorded.err, recorded.err
	reported = recorded.resource("cpu")
	between(reported["total"], None, 1.2 * reported["hits"] * reported["interval"], reported)


def test_counts_from_the_start_without_it(tmp_path):
	"""Without --paused, counting begins at the start and ends at cpprof_stop()."""
	recorded = record_paused(tmp_path)
	stated = sum(gticks for _, _, gticks in amounts(recorded.out))
	paths = recorded.paths("own:steps")
	assert hits(paths, "before") == hits(paths, "between") == stated, show(paths)
	assert hits(paths, "after") == 0, show(paths)
	assert recorded.resource("own:steps")["total"] == 2 * stated


def test_who_never_starts_has_no_samples(tmp_path):
	recorded = record(tmp_path, ["/bin/sh", "-c", "true"], "--paused", "-r", "cpu")
	assert recorded.status == 0, recorded.err
	assert recorded.resource("cpu")["hits"] == 0


def test_own_resource_nobody_declares(tmp_path):
	"""A recording of an own resource that the program never declares succeeds, because this cannot be checked before the program
	runs."""
	recorded = record(tmp_path, ["/bin/true"], "-r", "own:nothing")
	assert recorded.status == 0, recorded.err
	assert recorded.resource("own:nothing")["total"] == 0
	assert "; the program did not declare 'nothing' or any other resource" in recorded.err


def test_what_runs_elsewhere(tmp_path):
	"""--paused with a resource that preload does not measure is refused with preload's reason."""
	result = run_cpprof("record", "--paused", "--backend", "preload", "-r", "page-faults", "--", "/bin/true", cwd=tmp_path)
	assert result.returncode == 1 and "page-faults" in result.stderr, result.stderr
