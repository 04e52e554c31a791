"""The files that recordings write: nobody else can read them, under sudo they belong to the user who called it, and a link of another
user never chooses the file that is replaced."""
import os
import stat
import subprocess
from pathlib import Path

import pytest
from record_support import CPPROF, build, run_cpprof

is_root = os.geteuid() == 0
NOBODY = 65534

# Commands that write a file: the words before -o FILE, and those behind it.
WRITERS = {
	"profile": (["record", "--backend", "preload"], ["--", "true"]),
	"trace": (["trace", "--backend", "preload", "-r", "write-bytes"], ["--", "true"]),
	"tally": (["record", "--instrumented=arcs"], ["--"]),
	"calls": (["record", "--instrumented=trace"], ["--"]),
}


@pytest.fixture(params=list(WRITERS))
def write(request):
	"""Writes one kind of output."""
	before, behind = WRITERS[request.param]
	command = [build("forms.c", "-finstrument-functions"), "1"] if behind == ["--"] else []

	def write_it(path, **settings):
		return run_cpprof(*before, "-o", path, *behind, *command, **{"cwd": Path(path).parent, **settings})

	return write_it


@pytest.fixture
def public(tmp_path):
	"""A folder in which everybody may create files, as /tmp."""
	folder = tmp_path / "public"
	folder.mkdir()
	folder.chmod(0o1777)
	return folder


def test_only_the_owner_may_read(tmp_path, write):
	"""Whatever the umask permits, and also a file that replaces one that everybody may read."""
	path = tmp_path / "out"
	path.write_text("older")
	path.chmod(0o644)
	result = write(path, umask=0)
	assert result.returncode == 0, result.stderr
	for file in tmp_path.iterdir():
		if file.name != "out.old":
			assert stat.S_IMODE(file.stat().st_mode) == 0o600 and file.stat().st_uid == os.geteuid(), file


def test_file_while_it_is_written(tmp_path):
	"""The temporary file and the tally are not readable either."""
	program = build("server.c", "-finstrument-functions")
	for words, name in ((["--instrumented"], "out.tally"), (["--backend", "preload"], "out")):
		recorder = subprocess.Popen([CPPROF, "record", *words, "-o", "out", "--", program], cwd=tmp_path, stdin=subprocess.PIPE,
			stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, umask=0)
		assert recorder.stdout.readline() == "ready\n"
		assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
		recorder.communicate(timeout=60)


@pytest.mark.skipif(not is_root, reason="only root can give a file away")
def test_owner_under_sudo(tmp_path, write):
	path = tmp_path / "out"
	result = write(path, env={**os.environ, "SUDO_UID": "54321", "SUDO_GID": "54322"})
	assert result.returncode == 0, result.stderr
	assert (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (54321, 54322, 0o600)


@pytest.mark.skipif(not is_root, reason="only root can make the link of another user")
@pytest.mark.parametrize("through", ["file", "folder"])
def test_link_of_another_user(tmp_path, public, write, through):
	"""Root does not replace the file that another user's link names, nor one in the folder that it names."""
	victim = tmp_path / "victim"
	victim.mkdir()
	(victim / "out").write_text("precious")
	link = public / ("out" if through == "file" else "folder")
	link.symlink_to(victim / "out" if through == "file" else victim)
	os.lchown(link, NOBODY, NOBODY)
	result = write(link if through == "file" else link / "out", cwd=tmp_path)
	assert result.returncode == 1 and "symbolic link of another user" in result.stderr, result.stderr
	assert [file.read_text() for file in victim.iterdir()] == ["precious"]
	assert list(public.iterdir()) == [link] and link.is_symlink()


def test_own_link(tmp_path, public, write):
	"""An own link stays, and the file that it names is replaced."""
	target = tmp_path / "target"
	target.write_text("older")
	(public / "out").symlink_to(target)
	result = write(public / "out", cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	assert (public / "out").is_symlink() and target.read_bytes() != b"older"


@pytest.mark.skipif(not is_root, reason="only root can make the FIFO of another user")
def test_fifo_of_another_user(public):
	"""It would wait for that user, and show him the profile."""
	os.mkfifo(public / "out")
	os.chown(public / "out", NOBODY, NOBODY)
	result = run_cpprof("record", "--backend", "preload", "-o", public / "out", "--", "true")
	assert result.returncode == 1 and "it is a FIFO of another user" in result.stderr, result.stderr


@pytest.mark.skipif(not is_root, reason="only root can make the link of another user")
def test_exported_text(tmp_path, public):
	"""Exports follow the same rules for links and modes."""
	profile = tmp_path / "out.data"
	assert run_cpprof("record", "--backend", "preload", "-o", profile, "--", build("forms.c"), "5").returncode == 0
	(public / "out").symlink_to(tmp_path / "victim")
	os.lchown(public / "out", NOBODY, NOBODY)
	result = run_cpprof("export", "--format", "folded", "-o", public / "out", profile)
	assert result.returncode == 1 and "symbolic link of another user" in result.stderr, result.stderr
	result = run_cpprof("export", "--format", "folded", "-o", public / "new", profile, umask=0o022)
	assert result.returncode == 0 and stat.S_IMODE((public / "new").stat().st_mode) == 0o600, result.stderr
