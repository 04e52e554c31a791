"""Recorders that lack a capability, descriptors or time: each recording ends, and is right or is refused with its reason."""
import contextlib
import lzma
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from record_support import BACKENDS, COUNTED, CPPROF, SECONDS_ALLOWED, Recorded, build_counted, events_of, hits, record, run_cpprof, show
from user_support import only_root

# {a function: the events of one round of forms.c below it}
EVENTS = {"address_information": 40, "db_update_record": 11, "db_read_record": 61}


def program():
    return build_counted("perf", "forms.c", event_us=150)


def capabilities():
    """Returns the numbers of the capabilities that this process can have."""
    bounding = int(re.search(r"^CapBnd:\s*(\w+)", Path("/proc/self/status").read_text(), re.MULTILINE).group(1), 16)
    return [number for number in range(64) if bounding >> number & 1]


def ends_well(folder, *before):
    """Records page faults by whichever backend can. Returns whether that succeeded: then each path has its events. Otherwise the command was refused with one reason."""
    result = run_cpprof("record", "-o", folder / "out.data", "-r", "page-faults/1", "--", program(), "1", before=before)
    if result.returncode == 0:
        events = events_of(Recorded(result, folder / "out.data"))
        assert EVENTS == {name: hits(events, "main", name, *["db_read_record"][:name != "db_read_record"]) for name in EVENTS} and hits(events) == 61, show(events)
        return True
    last = result.stderr.splitlines()[-1]
    assert re.match(r"cpprof record: cannot .*: .*|cpprof record: '/.* (.*)", last) and "fault" not in result.stdout, result.stderr
    return False


@only_root
@pytest.mark.parametrize("number", capabilities())
def test_each_capability_missing(tmp_path, number):
    ends_well(tmp_path, "setpriv", "--bounding-set", f"-cap_{number}", "--inh-caps", f"-cap_{number}")


@pytest.mark.parametrize("descriptors", [*range(4, 24), 32, 64, 128])
def test_few_descriptors(tmp_path, descriptors):
    ends_well(tmp_path, "prlimit", f"--nofile={descriptors}:{descriptors}")


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_files_than_descriptors(tmp_path, backend):
    """A program maps 600 files, and the recorder may have 128 descriptors: it holds those open that it uses, also the program's that runs last."""
    many, last = build_counted(backend, "many_files.c", event_us=1), build_counted(backend, "forms.c", event_us=150)
    result = run_cpprof("record", "-o", tmp_path / "out.data", "--backend", backend, "-r", COUNTED[backend][1], "--", many, last, "1",
                        before=["prlimit", "--nofile=128:128"])
    assert result.returncode == 0, result.stderr
    events = events_of(Recorded(result, tmp_path / "out.data"))
    assert (hits(events), hits(events, "main", "work"), hits(events, "main", "db_read_record")) == (40 + 61, 40, 61), show(events)


# --- naming ---

def with_bomb(folder, megabytes):
    """Makes a program without symbols, whose compressed symbols (.gnu_debugdata) have so many megabytes of zeros."""
    compressor, zeros = lzma.LZMACompressor(preset=0), bytes(1 << 20)
    (folder / "zeros.xz").write_bytes(b"".join([*(compressor.compress(zeros) for _ in range(megabytes)), compressor.flush()]))
    subprocess.run(["objcopy", "--strip-all", "--add-section", f".gnu_debugdata={folder / 'zeros.xz'}", program(), folder / "bomb"], check=True)
    return folder / "bomb"


def findings(path, code):
    return [finding for finding in Recorded(subprocess.CompletedProcess([], 0), path).info()["findings"] if finding["code"] == code]


def stop_naming(recorder):
    """Stops the process in which a recorder names addresses. Returns false if the recorder ended before."""
    limit = time.monotonic() + SECONDS_ALLOWED
    assert any(line.startswith("share ") for line in recorder.stdout), "the program did nothing"
    while recorder.poll() is None and time.monotonic() < limit:
        with contextlib.suppress(OSError):  # a child that has just ended
            for child in Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split():
                if Path(f"/proc/{child}/comm").read_text() == "cpprof\n":
                    os.kill(int(child), signal.SIGSTOP)
                    return True
    return False


def test_interrupted_naming(tmp_path):
    """^C while the recorder names addresses ends that at once: the profile has all events, and `cpprof name` completes it."""
    bomb, path = with_bomb(tmp_path, 100), tmp_path / "out.data"
    words = ["record", "-o", path, "-r", "page-faults/1", "--naming-time", "1000", "--", bomb, "1"]
    for _ in range(20):  # the first of them, unless this process gets no time
        with subprocess.Popen([CPPROF, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as recorder:
            if stop_naming(recorder):
                recorder.send_signal(signal.SIGINT)
                _, err = recorder.communicate(timeout=SECONDS_ALLOWED)
                break
    else:
        pytest.fail("the recorder named the addresses before this process saw it")
    assert recorder.returncode == 0, err
    [finding] = findings(path, "naming-interrupted")
    assert finding["text"] in err and finding["count"] > 0, err
    assert Recorded(subprocess.CompletedProcess([], 0), path).resource("page-faults")["hits"] >= 61
    (tmp_path / "zeros.xz").unlink()
    bomb.write_bytes(Path(program()).read_bytes())
    assert run_cpprof("name", path).returncode == 0
    assert not findings(path, "naming-interrupted")


def test_file_that_takes_too_long(tmp_path):
    """A file whose symbols take longer than the time for naming stays without names; the reason has the remedy."""
    recorded = record(tmp_path, [with_bomb(tmp_path, 100), "1"], "-r", "page-faults/1", "--naming-time", "0.001")
    assert recorded.status == 0, recorded.err
    [text] = [finding["text"] for finding in findings(recorded.path, "file-unreadable") if "bomb" in finding["text"]]
    assert re.fullmatch(r"naming the addresses of '.*/bomb' takes more than [\d.]+ s of CPU time \(--naming-time permits more\)", text)

