"""The kernel limits the memory that the rings of perf events lock, for all processes of a user together, and in a user namespace
also for its root: recordings shrink their rings, then take the next backend, and report that."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from record_support import Recorded, build, hits, needs_perf
from user_support import as_user, open_folder, paranoid

pytestmark = needs_perf

AS_NOBODY = as_user()


def in_namespace(*words):
	return ["unshare", "--user", "--map-root-user", *words]


def need_namespaces(*before):
	result = subprocess.run([*before, *in_namespace("true")], capture_output=True, text=True, check=False)
	if result.returncode != 0:
		pytest.skip(f"there can be no user namespace here: {result.stderr.strip()}")


@pytest.mark.parametrize("before", [[], AS_NOBODY], ids=["own", "nobody"])
def test_user_namespace(before):
	"""The root of a user namespace has CAP_IPC_LOCK there, which does not count: the rings are as large as its user may have."""
	need_namespaces(*before)
	with open_folder() as folder, paranoid(2):
		shutil.copy(build("forms.c"), folder / "bin")
		path = folder / "own" / "out.data"
		path.parent.chmod(0o777) # the root of the namespace has no right to the files of others
		command = [*before, "prlimit", "--memlock=8388608", *in_namespace(folder / "bin/cpprof", "record", "-o", path, "--", folder / "bin/forms", "10")]
		result = subprocess.run(command, cwd=folder / "own", capture_output=True, text=True, check=False, timeout=60)
		assert result.returncode == 0 and ", by perf" in result.stderr, result.stderr
		assert hits(Recorded(result, path).paths(), "main", "db_update_record") > 0


def test_many_recordings_of_one_user():
	"""Where no memory may be locked beyond the user's share, each further recording has smaller rings, until one is by preload."""
	with open_folder() as folder, paranoid(2):
		shutil.copy(build("server.c"), folder / "bin")
		recorders = []
		try:
			for number in range(8):
				command = [*AS_NOBODY, "prlimit", "--memlock=0", folder / "bin/cpprof", "record", "-o", f"{number}.data", "--", folder / "bin/server"]
				recorders.append(subprocess.Popen(command, cwd=folder / "own", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
					stderr=subprocess.PIPE, text=True))
				assert recorders[-1].stdout.readline() == "ready\n", recorders[-1].stderr.read()
				if "libcpprof-preload" in maps_of(recorders[-1]):
					break
		finally:
			said = [recorder.communicate(timeout=60)[1] for recorder in recorders]
		assert all(recorder.returncode == 5 for recorder in recorders), said
		assert ", by preload" in said[-1] and "nor by perf: rings exceed the limit of locked memory" in said[-1], said
		assert all(", by perf" in text for text in said[:-1]), said
		sizes = [int(found.group(1)) for found in (re.search(r"rings of only (\d+) KB", text) for text in said) if found]
		assert sizes == sorted(sizes, reverse=True), said


def maps_of(recorder):
	"""Returns the maps of the command that a recorder has started."""
	children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
	return "".join(Path(f"/proc/{child}/maps").read_text() for child in children)
