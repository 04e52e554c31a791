"""`cpprof agent` records the machine slice by slice into a store. Its recordings count moves to another processor (migrations), which only the
programs of the tests make in known numbers."""
import configparser
import contextlib
import fcntl
import functools
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from attach_support import EACH, EVENT_US
from cli_support import check_failure, done, run
from measuring import between
from record_support import CPPROF, MOVES, REPOSITORY, build, needs_perf, needs_two_processors
from server_support import Server
from store_support import rows_of
from test_record_bad import small_disk
from user_support import only_root, open_folder, unprivileged

PACKAGING = REPOSITORY / "examples/agent"
SECONDS = 60


@functools.cache
def refusal():
	"""Returns the reason why -a is refused here, or None."""
	result = run("record", "-a", "--duration", "0.01", "-o", "/dev/null")
	return None if result.returncode == 0 else result.stderr.strip()


@pytest.fixture(scope="module")
def needs_machine():
	if refusal():
		pytest.skip(refusal())


records = [needs_perf, needs_two_processors, pytest.mark.usefixtures("needs_machine")]


def wait_until(condition, about, seconds=SECONDS):
	deadline = time.monotonic() + seconds
	while not condition():
		assert time.monotonic() < deadline, about()
		time.sleep(0.01)


class Agent:
	"""A running agent with its own spool and store."""

	def __init__(self, folder, *words, store=None, spool=None, every="1h"):
		self.store, self.spool, self.socket = store or folder / "store.db", spool or folder / "spool", folder / "metrics"
		self.log = folder / "log"
		with open(self.log, "ab") as log:
			self.began = log.tell()
			self.process = subprocess.Popen([CPPROF, "agent", "--store", self.store, "--spool", self.spool, "--every", every, "--cpu", "0",
				"--metrics", self.socket, *map(str, words)], stdin=subprocess.DEVNULL, stderr=log, cwd=folder)

	def __enter__(self):
		self.wait_for("recording into")
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()
		# Its last recorder ends its slice before the folder is removed.
		subprocess.run(["flock", "-w", str(SECONDS), self.spool / "agent.lock", "true"], check=True)

	def text(self):
		return self.log.read_bytes()[self.began:].decode()

	def wait_for(self, text):
		wait_until(lambda: text in self.text() or self.process.poll() is not None, self.text)
		assert text in self.text(), self.text()

	def metrics(self):
		with socket.socket(socket.AF_UNIX) as client:
			client.settimeout(SECONDS)
			client.connect(str(self.socket))
			client.sendall(b"GET /metrics HTTP/1.1\r\nHost: agent\r\n\r\n")
			answer = b""
			while part := client.recv(65536):
				answer += part
		head, _, body = answer.decode().partition("\r\n\r\n")
		assert head.startswith("HTTP/1.0 200 OK\r\n") and f"Content-Length: {len(body)}" in head
		return figures_of(body)

	def wait_for_figure(self, name, least):
		wait_until(lambda: self.metrics()[name] >= least, lambda: f"{self.metrics()}\n{self.text()}")

	def stop(self):
		"""Ends it as a service manager does. Returns (slices, samples) of its last line."""
		self.process.send_signal(signal.SIGTERM)
		assert self.process.wait(SECONDS) == 0, self.text()
		last = re.search(r"^cpprof agent: stopped: (\d+) slices?, (\d+) samples?, 0 lost\n\Z", self.text(), re.M)
		assert last, self.text()
		return tuple(map(int, last.groups()))


def figures_of(text):
	"""Reads Prometheus's exposition format: {name with labels: value}. Each metric has one # HELP, then one # TYPE, then its values."""
	figures, kinds, helped = {}, {}, None
	assert text.endswith("\n")
	for line in text.splitlines():
		if found := re.fullmatch(r"# HELP ([a-z_]+) \S.*", line):
			helped = found[1]
			assert helped not in kinds
		elif found := re.fullmatch(r"# TYPE ([a-z_]+) (counter|gauge)", line):
			assert found[1] == helped and found[2] == ("counter" if helped.endswith("_total") else "gauge")
			kinds[helped] = found[2]
		else:
			name, labels, value = re.fullmatch(r'([a-z_]+)((?:\{[a-z_]+="[^"\\]*"\})?) ([0-9.e+-]+)', line).groups()
			assert name == helped and name in kinds and name + labels not in figures
			figures[name.removeprefix("cpprof_agent_") + labels] = float(value)
			assert figures[name.removeprefix("cpprof_agent_") + labels] >= 0
	return figures


def make_moves():
	"""Runs a program that makes 3 * EACH moves. Its functions have names of this process, because other tests run the program at the same time."""
	names = [f"-D{name}={name}_{os.getpid()}" for name in ("even_generation", "odd_generation")]
	subprocess.run([build("fork_tree.c", f"-DEVENT_US={EVENT_US}", *names, *MOVES[0]), "3"], check=True, stdout=subprocess.DEVNULL)


def moves_in(store, *selection):
	"""The moves of the program in a store."""
	lines = done("export", "--store", store, *selection).splitlines()
	return sum(int(line.rpartition(" ")[2]) for line in lines if re.search(rf";(even|odd)_generation_{os.getpid()};.*;countable_event", line))


def stored(store):
	"""(slices, samples) of a store. The parts of a slice, one for each service, have one start."""
	samples = re.search(r"^samples +(\d+)$", done("store", "stats", "--store", store), re.M)[1]
	with contextlib.closing(sqlite3.connect(store)) as database:
		return database.execute("SELECT COUNT(DISTINCT start) FROM profiles").fetchone()[0], int(samples)


class TestRecording:
	pytestmark = records

	def test_slices(self, tmp_path):
		"""A reload ends a slice, which is added with the new options, as is the next one. The metrics, the last line and the store agree, and nothing
		is left."""
		config = tmp_path / "agent.conf"
		config.write_text("# options\n\nresource migrations/1\nlabel part=first\n")
		with Agent(tmp_path, "--config", config) as agent:
			check_failure(run("agent", "--spool", agent.spool), f"cannot use spool '{agent.spool}': another agent uses it")
			make_moves()
			config.write_text("\nresource nonsense\n")
			agent.process.send_signal(signal.SIGHUP)
			agent.wait_for(f"{config}:2: unknown resource 'nonsense'")
			config.write_text("evry 1h\n")
			agent.process.send_signal(signal.SIGHUP)
			agent.wait_for("unknown option '--evry' (did you mean '--every'?)\ncpprof agent: warning: the old settings stay in use")
			config.write_text("resource migrations/1\n  label  part=second \n")
			agent.process.send_signal(signal.SIGHUP)
			agent.wait_for_figure("stored_slices_total", 1)
			make_moves()
			metrics = agent.metrics()
			assert (metrics["slices_total"], metrics["reloads_total"], metrics["requested_rate_hertz"]) == (1, 1, 19)
			assert metrics["gap_seconds_total"] == metrics["failures_total{kind=\"record\"}"] == metrics["failures_total{kind=\"store\"}"] == 0
			assert min(metrics[name] for name in ("cpu_seconds_total", "memory_bytes", "child_memory_bytes", "stored_bytes_total")) > 0
			last = agent.stop()
		assert last[0] == 2 and last == stored(agent.store)
		assert moves_in(agent.store) == moves_in(agent.store, "--label", "part=second") == 6 * EACH
		assert [path.name for path in agent.spool.iterdir()] == ["agent.lock"] and not agent.socket.exists()
		assert done("store", "top", "--store", agent.store)

	def test_after_a_kill(self, tmp_path):
		"""The recorder of a killed agent ends its slice by itself, and the next agent adds it. So do files that were left earlier."""
		with Agent(tmp_path, "-r", MOVES[1]) as killed:
			make_moves()
			killed.process.kill()
			killed.process.wait()
			left = tmp_path / "spool/slice-0000000000001.kept"
			left.write_bytes(b"no recording")
			with Agent(tmp_path, "-r", MOVES[1]) as agent:
				agent.wait_for_figure("stored_slices_total", 1)
				agent.wait_for_figure("kept_slices", 1)
				assert moves_in(agent.store) == 3 * EACH
				assert agent.stop()[0] == 1
		assert "cannot open" in agent.text() and stored(agent.store)[0] == 2 and moves_in(agent.store) == 3 * EACH
		assert sorted(path.name for path in agent.spool.iterdir()) == ["agent.lock", "slice-0000000000001+.kept"]

	def test_slices_that_no_store_takes(self, tmp_path):
		"""Files that wait make room, the oldest first, and a file that is no recording is given up at the third try."""
		spool = tmp_path / "spool"
		spool.mkdir()
		names = [f"slice-{number:013}" for number in range(4)]
		for name in (f"{names[0]}.kept", f"{names[1]}.kept", f"{names[2]}.data"):
			with open(spool / name, "wb") as file:
				file.truncate(40 << 20)
		(spool / f"{names[3]}++.kept").write_bytes(b"no recording")
		with Agent(tmp_path, "-r", MOVES[1], "--spool-limit", "100M") as agent:
			agent.wait_for(f"warning: removed '{spool}/{names[3]}++.data' after 3 tries: it has no samples that a store can take\n")
			assert agent.text().count("dropped") == 1 and f"warning: dropped 1 slice of '{spool}', the oldest first: no room" in agent.text()
			assert agent.metrics()["dropped_slices_total"] == 2
			assert agent.stop()[0] == 1
		assert sorted(path.name for path in spool.iterdir()) == ["agent.lock", f"{names[1]}+.kept", f"{names[2]}.kept"]

	@pytest.mark.parametrize("store", ["http://127.0.0.1:1/none", "/dev"])
	def test_store_is_away(self, tmp_path, store):
		"""A store that cannot be reached at the start, or is none: what is recorded waits in the spool alone, until an agent whose store takes it. A
		damaged file there delays no slice."""
		with Agent(tmp_path, "-r", MOVES[1], store=store) as away:
			make_moves()
			away.stop()
		assert "kept 1 recording in" in away.text() and not list(away.spool.glob("slice-*"))
		assert len(list(away.spool.glob("*.spool"))) == 1
		with Agent(tmp_path, "-r", MOVES[1]) as agent:
			assert agent.metrics()["spooled_recordings"] == 1
			(agent.spool / "text.spool").write_text("text")
			assert agent.stop()[0] == 1
		assert "sent 1 recording of" in agent.text() and stored(agent.store)[0] == 2 and moves_in(agent.store) == 3 * EACH
		assert sorted(path.name for path in agent.spool.iterdir()) == ["agent.lock", "text.bad"]

	def test_figures_of_a_store_that_is_away(self, tmp_path):
		"""A slice that goes to the spool is a failure of the store, and is not stored."""
		with Agent(tmp_path, "-r", MOVES[1], store="http://127.0.0.1:1/none", every="1s") as agent:
			agent.wait_for_figure('failures_total{kind="store"}', 1)
			figures = agent.metrics()
			assert figures["stored_slices_total"] == figures["stored_bytes_total"] == 0 and figures["spooled_recordings"] >= 1

	def test_killed_adder(self, tmp_path):
		"""A `store add` that is killed leaves no message of its own. Its file stays."""
		with socket.create_server(("127.0.0.1", 0)) as server:
			server.settimeout(SECONDS)
			with Agent(tmp_path, "-r", MOVES[1], store=f"http://127.0.0.1:{server.getsockname()[1]}/none") as agent:
				agent.process.send_signal(signal.SIGTERM)
				with server.accept()[0]: # and no answer
					(adder,) = Path(f"/proc/{agent.process.pid}/task/{agent.process.pid}/children").read_text(encoding="ascii").split()
					os.kill(int(adder), signal.SIGKILL)
					assert agent.process.wait(SECONDS) == 0, agent.text()
		assert "cpprof agent: warning: store add ended by signal 9\n" in agent.text() and len(list(agent.spool.glob("slice-*.kept"))) == 1

	@pytest.mark.long("the store has ten seconds to answer")
	def test_silent_store(self, tmp_path):
		"""A server that accepts and does not answer delays the end by ten seconds. The slice stays, and the next agent adds it."""
		with socket.create_server(("127.0.0.1", 0)) as server:
			with Agent(tmp_path, "-r", MOVES[1], store=f"http://127.0.0.1:{server.getsockname()[1]}/none") as agent:
				make_moves()
				assert agent.stop()[0] == 1
		assert f"the store takes too long: its slices stay in '{agent.spool}' (the next start adds them)" in agent.text()
		assert len(list(agent.spool.glob("slice-*.kept"))) == 1
		with Agent(tmp_path, "-r", MOVES[1]) as agent:
			agent.stop()
		assert stored(agent.store)[0] == 2 and moves_in(agent.store) == 3 * EACH

	@pytest.mark.long("the store has ten seconds for all slices")
	def test_slow_store_and_many_slices(self, tmp_path):
		"""Each slice alone would be in the spool within ten seconds, after five requests that the store refuses for two seconds each."""
		(tmp_path / "spool").mkdir()
		for number in range(3):
			(tmp_path / "one.folded").write_text(f"main {number + 1}\n")
			done("import", "--format", "folded", "-o", tmp_path / f"spool/slice-{number:013}.data", tmp_path / "one.folded")
		with Server((503, {"Retry-After": "2"}, "busy")) as server:
			with Agent(tmp_path, "-r", MOVES[1], store=f"{server.url}/none") as agent:
				agent.process.send_signal(signal.SIGTERM)
				assert agent.process.wait(SECONDS) == 0, agent.text()
		assert f"the store takes too long: its slices stay in '{agent.spool}' (the next start adds them)" in agent.text()
		assert len(list(agent.spool.glob("slice-*"))) >= 2

	def test_second_signal(self, tmp_path):
		"""It ends the agent without adding: the file is complete, and stays for the next one."""
		with Agent(tmp_path, "-r", MOVES[1]) as agent:
			make_moves()
			agent.process.send_signal(signal.SIGTERM)
			agent.process.send_signal(signal.SIGINT)
			assert agent.process.wait(SECONDS) == 0, agent.text()
			(left,) = agent.spool.glob("slice-*.data")
			assert "recording-cut" not in done("info", "--format", "json", left)
		assert not agent.store.exists()

	@pytest.mark.measured("other processes change the CPU time of the recorder")
	def test_limit_of_the_rate(self, tmp_path):
		"""Slices of 2 s exceed any small limit by their start alone: the rate falls by half each time, and the recordings tell."""
		with Agent(tmp_path, "--cpu", "0.01%", "-r", "cpu", every="2s") as agent:
			agent.wait_for("lowered the rate from 9.5 to 4.75 Hz: the last slice used ")
			agent.wait_for_figure("stored_slices_total", 5)
			agent.stop()
		# Recordings at different rates add up: a sample at half the rate counts twice.
		with sqlite3.connect(agent.store) as store:
			weights = {row["size"] for block, in store.execute("SELECT block FROM hits") for row in rows_of(block)}
		assert {1, 2, 4} <= weights and weights <= {1, 2, 4, 8, 16}
		assert "note: sampled at 1/2 of the requested rate" in done("info", "--store", agent.store)

	@pytest.mark.long("the agent looks at the memory of its recorder each 5 s, and ends no slice before a quarter of its length")
	def test_limit_of_memory(self, tmp_path):
		"""A slice ends early if its recorder takes too much memory."""
		with Agent(tmp_path, "--memory", "1M", every="20s") as agent:
			agent.wait_for_figure("stored_slices_total", 1)
			metrics = agent.metrics()
			assert metrics["early_ends_total"] == 1 and metrics["recorded_seconds_total"] < 19
			assert metrics["child_memory_bytes"] > 2 ** 20
			agent.stop()
		assert "lowered the rate from 19 to 9.5 Hz" in agent.text()

	@pytest.mark.long("a soak: 2 minutes, or CPPROF_SOAK_SECONDS (a release: 1200)")
	def test_soak(self, tmp_path):
		"""The memory and the descriptors of the agent stay the same over many slices, and all that they sampled is in the store."""
		seconds = float(os.environ.get("CPPROF_SOAK_SECONDS", "120"))
		with Agent(tmp_path, every="4s") as agent:
			agent.wait_for_figure("stored_slices_total", 5)
			before, descriptors = agent.metrics(), len(os.listdir(f"/proc/{agent.process.pid}/fd"))
			end = time.monotonic() + seconds
			wait_until(lambda: time.monotonic() >= end, agent.text, seconds + SECONDS)
			after = agent.metrics()
			between(after["memory_bytes"], None, before["memory_bytes"] + 256 * 1024)
			between(after["slices_total"], seconds / 5, seconds / 4 + 6)
			between(after["gap_seconds_total"], None, seconds / 1000)
			assert len(os.listdir(f"/proc/{agent.process.pid}/fd")) <= descriptors + 6
			last = agent.stop()
		assert last == stored(agent.store)


	@pytest.mark.long("as many slices as a day has, each of a second: 5 minutes")
	def test_a_day(self, tmp_path):
		"""The agent needs as much memory at the end of a day as after its first tenth, with the standard number of slices, and all of them are stored."""
		slices = 24 * 60 // 5
		with Agent(tmp_path, every="1s") as agent:
			figures = []
			for part in (slices // 10, slices):
				wait_until(lambda: agent.metrics()["slices_total"] >= part, lambda: f"{agent.metrics()}\n{agent.text()}", 5 * slices)
				figures.append(agent.metrics())
			first, last = figures
			between(last["memory_bytes"], None, first["memory_bytes"] + 256 * 1024)
			assert last["dropped_slices_total"] == last["lost_samples_total"] == last["failures_total{kind=\"store\"}"] == 0
			ended = agent.stop()
		assert ended[0] >= slices and ended == stored(agent.store)

	@pytest.mark.long("fills a disk while the machine is recorded")
	def test_full_disk(self, tmp_path):
		"""The spool's disk is full for a while: the agent reports it, and what it records meanwhile is stored when there is room."""
		disk = tmp_path / "disk"
		disk.mkdir()
		with small_disk(disk, "4m"), Agent(tmp_path, "-r", MOVES[1], spool=disk / "spool") as agent:
			padding = disk / "padding"
			with contextlib.suppress(OSError), open(padding, "wb", buffering=0) as file:
				while True:
					file.write(bytes(4096))
			make_moves()
			time.sleep(3) # a recorder writes each second
			padding.unlink()
			make_moves()
			assert agent.stop() == stored(agent.store)
			assert agent.text().count("No space left on device") == 1 and moves_in(agent.store) == 6 * EACH


def test_words(tmp_path):
	for words, text in ((["--every", "0s"], "--every 0s is no time from 1s to 1d (as 30s, 5m or 1h)"), (["-F", "often"], "'often' is not a frequency"),
			(["--cpu", "much"], "'much' is not a share of a processor"), (["--memory", "much"], "'much' is not an amount of memory"),
			(["--memory", "1"], "--memory 1 is less than any process needs"),
			(["-r", "nothing", "--store", "s.db", "--spool", "spool"], "unknown resource 'nothing'"),
			(["-r", "cpu", "-r", "cpu"], "resource cpu is given twice"), (["--backend", "nothing"], "unknown backend 'nothing'"),
			(["--naming-time", "long"], "'long' is not a number of seconds"), (["--store", "file://x"], "'file://x' is no URL of a store"),
			(["--spool-limit", "abc"], "--spool-limit abc is no size"), (["--label", "bad"], "bad"),
			(["--service", "a", "--services", "auto"], "--services cannot be combined with --service")):
		result = run("agent", *words, directory=tmp_path)
		assert result.returncode == 2 and text in result.stderr and result.stderr.startswith("cpprof agent: "), result.stderr
		assert result.stderr.count("\n") == 1 and not list(tmp_path.iterdir())
	check_failure(run("agent", "--services", "none", directory=tmp_path), "cannot ", "'none'")
	# The first line with which the rest has an error; the command line wins over an error in the file.
	for lines, text in (("every 0s", "config:1: --every 0s is no time"), ("# a\n\nlabel a=1\nlabel a=2\ncpu 2%", "config:4: label 'a' is given twice"),
			("cpu 2%\nresource nothing", "config:2: unknown resource"), ("cpu 2%\nconfig other", "config:2: a file of --config cannot"),
			("cpu much", "'often' is not a frequency")):
		(tmp_path / "config").write_text(lines)
		words = ["-F", "often", "--cpu", "1%"] if "often" in text else []
		result = run("agent", "--config", "config", *words, directory=tmp_path)
		assert result.returncode == 2 and result.stderr.startswith(f"cpprof agent: {text}"), result.stderr
	(tmp_path / "config").write_text("config other\n")
	assert run("agent", "--config", "config", directory=tmp_path).returncode == 2
	check_failure(run("agent", "--config", "none", directory=tmp_path), "cannot ", "'none'")
	check_failure(run("agent", "--spool", "config", directory=tmp_path), "cannot use spool 'config'")
	(tmp_path / "config").write_text("")
	check_failure(run("agent", "--spool", "spool", "--metrics", "config", directory=tmp_path), "cannot listen at 'config'")


def test_lock_of_a_dead_agent(tmp_path):
	"""A dead agent that its parent has not waited for counts as dead: the next one waits for its recorder. A reload meanwhile comes afterwards."""
	dead = subprocess.Popen(["true"])
	os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
	with open(tmp_path / "agent.lock", "w", encoding="ascii") as lock:
		fcntl.flock(lock, fcntl.LOCK_EX)
		print(dead.pid, file=lock, flush=True)
		agent = Agent(tmp_path, spool=tmp_path)
		agent.wait_for("waiting for the recorder of an agent that was killed")
		agent.process.send_signal(signal.SIGHUP)
	with contextlib.ExitStack() as end:
		end.push(agent)
		agent.wait_for("cpprof agent: reloaded")
	assert dead.wait() == 0


@only_root
def test_without_privilege():
	"""The refusal is that of record -a."""
	with open_folder() as folder:
		words = ["--store", folder / "own/store.db", "--spool", folder / "own/spool"]
		result, recorded = unprivileged(folder, "agent", *words), unprivileged(folder, "record", "-a", "-o", folder / "own/a.data")
		assert result.returncode == recorded.returncode == 1 and result.stderr.splitlines()[-1] == recorded.stderr.splitlines()[-1]


@only_root
def test_folder_that_cannot_be_made():
	"""The reason is that of the folder above, which is not made."""
	with open_folder() as folder:
		result = unprivileged(folder, "agent", "--store", folder / "own/store.db", "--spool", folder / "bin/a/spool")
		check_failure(result, f"cannot make folder '{folder}/bin/a/spool': Permission denied")


def test_packaging():
	"""The unit, the configuration and the Containerfile have options and keys that exist."""
	known = set(re.findall(r"--([a-z-]+)", done("agent", "--help").partition("\noptions:")[2]))
	options = [line.lstrip("# ").split(" ")[0] for line in (PACKAGING / "agent.conf").read_text().splitlines() if not re.match("# [A-Z]", line)]
	assert options and set(options) <= known
	unit = configparser.RawConfigParser(strict=False, interpolation=None, comment_prefixes=("#",))
	unit.optionxform = str
	unit.read(PACKAGING / "cpprof-agent.service")
	assert unit.sections() == ["Unit", "Service", "Install"]
	container = (PACKAGING / "Containerfile").read_text()
	for text in (unit["Service"]["ExecStart"], *re.findall(r"cpprof-agent (--.*)|ENTRYPOINT (.*)", container)):
		assert set(re.findall(r"--([a-z-]+)", "".join(text))) <= known
	lines = re.sub(r"\\\n", " ", re.sub("^#.*\n", "", container, flags=re.M)).splitlines()
	assert [line.split()[0] for line in lines if line] == ["FROM", "COPY", "RUN", "VOLUME", "STOPSIGNAL", "ENTRYPOINT"]
	if shutil.which("systemd-analyze") and Path("/usr/bin/cpprof").exists():
		subprocess.run(["systemd-analyze", "verify", PACKAGING / "cpprof-agent.service"], check=True)
