"""A container's seccomp profile may refuse system calls that the recorder likes to use: it records without them."""
import os
import signal
import subprocess

import pytest
from record_support import CPPROF, Recorded, build, hits, run_cpprof, show

PIDFD_OPEN, PIDFD_SEND_SIGNAL, SIGNALFD, SIGNALFD4, BPF, PERF = 434, 424, 282, 289, 321, 298
DENIED = {
	"pidfd_open": [PIDFD_OPEN, PIDFD_SEND_SIGNAL],
	"signalfd4": [SIGNALFD, SIGNALFD4],
	"both": [PIDFD_OPEN, PIDFD_SEND_SIGNAL, SIGNALFD, SIGNALFD4, BPF, PERF],
}
SECONDS = 60


def denied(what):
	return [build("deny_calls.c"), ",".join(map(str, DENIED[what]))]


@pytest.mark.parametrize("what", DENIED)
def test_records_a_tree_of_processes(what, tmp_path):
	"""All processes are recorded to their ends, and the status is the command's."""
	path = tmp_path / "out.data"
	command = f"for i in 1 2 3; do {build('user_sys.c')} > /dev/null; done; exit 7"
	result = run_cpprof("record", "--backend", "preload", "-r", "cpu/1ms", "-o", path, "--", "sh", "-c", command, before=denied(what))
	assert result.returncode == 7, result.stderr
	recorded = Recorded(result, path)
	assert recorded.closing()[1] == 0, result.stderr
	assert sum(process["name"].startswith("user_sys") for process in recorded.info()["processes"]) == 3, recorded.info()["processes"]
	assert hits(recorded.paths(), "main") > 100, show(recorded.paths())


@pytest.mark.parametrize("measure", [["--backend", "preload"], ["--instrumented=paths"]])
def test_signals_reach_the_command(measure, tmp_path):
	"""A signal that is sent to the recorder alone is passed on, and is counted once."""
	program = build("interrupted.c", "-finstrument-functions")
	command = [*denied("both"), CPPROF, "record", *measure, "-o", tmp_path / "out.data", "--", program]
	with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
		assert process.stdout.readline() == "ready\n"
		process.send_signal(signal.SIGINT)
		assert process.stdout.readline() == "taken\n"
		out, err = process.communicate("\n", timeout=SECONDS)
	assert out == "interrupts 1\n", err
	assert process.returncode == 42, err


def test_an_ignored_signal_stays_ignored(tmp_path):
	"""As under nohup: SIGHUP ends neither the recorder nor the command."""
	command = ["sh", "-c", "echo ready; read line; echo end; exit 5"]
	everything = [*denied("both"), CPPROF, "record", "--backend", "preload", "-o", tmp_path / "out.data", "--", *command]
	with subprocess.Popen(everything, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
			preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process: # pylint: disable=subprocess-popen-preexec-fn
		assert process.stdout.readline() == "ready\n"
		os.kill(process.pid, signal.SIGHUP)
		out, err = process.communicate("\n", timeout=SECONDS)
	assert (out, process.returncode) == ("end\n", 5), err
