"""What is not over when the program ends is in the profile nevertheless."""
import pytest
from record_support import build, hits, record, show

pytestmark = pytest.mark.measured


@pytest.mark.parametrize("resource", ["real", "blocked"])
def test_waits_that_do_not_end(tmp_path, resource):
	"""Three threads wait for a second, and none of the waits is over before they are killed: two never, one just then."""
	recorded = record(tmp_path, [build("waits_at_end.c")], "--backend", "preload", "-r", f"{resource}/1ms")
	assert recorded.status == 128 + 9, recorded.err
	paths = recorded.paths()
	assert 1980 <= hits(paths, "main", "waits", "poll") <= 2200, show(paths)
	assert 990 <= hits(paths, "main", "ends", "poll") <= 1100, show(paths)
	told = recorded.resource(resource)
	assert 2.97 <= told["total"] * 1e-6 <= 3.4, told
