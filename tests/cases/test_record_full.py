"""A disk that stays full for so long that the recorder drops samples: they are reported, and the recording goes on when there is room."""
import contextlib
import re
import signal
import subprocess
import time

import pytest
from record_support import CPPROF, Recorded, SECONDS_ALLOWED, build, hits, needs_perf
from test_record_bad import small_disk

KEPT_MAX = 1 << 18 # as in src/collect/sample/drain.c
LOST, LATER = 3000, 2000


def request(target, pages):
	target.stdin.write(f"{pages}\n")
	target.stdin.flush()
	assert target.stdout.readline() == "done\n"


def await_that(condition, recorder):
	end = time.monotonic() + SECONDS_ALLOWED
	while not condition():
		assert time.monotonic() < end and recorder.poll() is None
		time.sleep(0.02)


@pytest.mark.long("stops the recorder for seconds")
@needs_perf
def test_samples_are_recorded_again_after_losses(tmp_path):
	disk = tmp_path / "disk"
	disk.mkdir()
	path, padding = disk / "out.data", disk / "padding"
	with small_disk(disk, "8m"), subprocess.Popen([build("faults_on_request.c")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
		assert target.stdout.readline() == "ready\n"
		recorder = subprocess.Popen([CPPROF, "record", "-r", "page-faults/1", "-o", path, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
		await_that(path.exists, recorder)
		with open(padding, "wb", buffering=0) as file, contextlib.suppress(OSError):
			while file.write(b"x" * 4096):
				pass
		request(target, KEPT_MAX * 3 // 2)
		warning = recorder.stderr.readline()
		assert "No space left" in warning, warning
		time.sleep(2.5) # the recorder tries to write each second
		request(target, LOST)
		padding.unlink()
		full = path.stat().st_size
		await_that(lambda: path.stat().st_size > full, recorder)
		request(target, LATER)
		recorder.send_signal(signal.SIGINT)
		_, said = recorder.communicate(timeout=SECONDS_ALLOWED)
		target.stdin.close()
		recorded = Recorded(subprocess.CompletedProcess([], recorder.returncode, "", said), path)
		faults = recorded.paths("page-faults")
		lost = re.search(r"(\d+) samples were lost while the disk was full, for [\d.]+ s", said)
		assert recorder.returncode == 0 and lost and int(lost[1]) >= LOST, said
		assert hits(faults, "touch_first") > KEPT_MAX and hits(faults, "touch_later") >= 0.9 * LATER, said
