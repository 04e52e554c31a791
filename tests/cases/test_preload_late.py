"""A recorder that is late: the agent's rings keep the samples until it reads them."""
from record_support import build, record


def test_copied_stacks_become_shorter_before_samples_are_lost(tmp_path):
	"""Each stack is copied. A ring has room for four copies of the largest size, and the recorder does not read it for 12 ms."""
	recorded = record(tmp_path, [build("stops_recorder.c"), "12"], "--backend", "preload", "-r", "cpu/1ms")
	assert recorded.status == 0, recorded.err
	_, lost, _ = recorded.closing()
	assert lost == 0 and sum(recorded.paths().values()) >= 25, recorded.err
	causes = {cause["cause"] for cause in recorded.info()["causes"] if not cause["whole"]}
	assert causes <= {"the copied stack is too short"}, causes
