"""The preload backend finds code that the program maps without an interposed call, when a walk reaches it."""
import pytest
from record_support import build, check_truths, record_well

pytestmark = pytest.mark.measured("the recorder must get a processor while the program computes 200 ms, to read the new code")


FINE = ["--backend", "preload", "-r", "cpu/500us"]


def test_code_that_the_program_maps_itself(tmp_path):
	recorded = record_well(tmp_path, [build("remapped.c")], *FINE)
	for path in check_truths(recorded):
		assert "[incomplete stack]" not in path or "at_first" in path, path
