"""A profile that another user wrote makes its reader open no file but its own, and takes a bounded time."""
import base64
import json
import os
import re
import stat
import subprocess
import tempfile
import zlib
from pathlib import Path

import pytest
from cli_support import CPPROF, check_failure, done, make_input, run
from foreign_support import ONE_FRAME, Watched, bombs, chain, deep_path, profile, spread, table, whole
from record_support import PROGRAMS, run_cpprof
from user_support import NOBODY, is_root, only_root

SECRET = "the secret of its reader"
FORMATS = "callgrind chrome events firefox folded gcc-profile gmon llvm-profile otlp pprof speedscope".split()


@pytest.fixture
def folder():
	"""A folder that every user can enter, with a file that only its owner can read."""
	with tempfile.TemporaryDirectory(prefix="cpprof-test-", dir="/tmp") as name:
		path = Path(name)
		path.chmod(0o755)
		(path / "secret.c").write_text(f"{SECRET}\n" * 9)
		(path / "secret.c").chmod(0o600)
		(path / "open.c").write_text("the text of open.c\n" * 9)
		(path / "open.c").chmod(0o644)
		yield path


def page_of(path, *options):
	done("html", "-o", path.with_suffix(".html"), *options, path)
	return sources_in(path.with_suffix(".html").read_text())


def sources_in(page):
	parts = re.findall(r'<script type="text/plain">([^<]*)', re.search(r'<div hidden id="sources".*?</div>', page, re.DOTALL)[0])
	return json.loads(zlib.decompress(b"".join(map(base64.b64decode, parts))))


def lines_of(path, **options):
	return run("report", "--source", "work", path, **options)


def write(path, **options):
	path.write_bytes(profile(**options))
	return path


# --- sources ---

def test_sources_of_the_readers_own_processes_are_shown(folder):
	own = write(folder / "own.data", sources=[str(folder / "secret.c")], user=os.geteuid())
	assert SECRET in lines_of(own).stdout
	assert list(page_of(own)) == [str(folder / "secret.c")]


@only_root
def test_root_reads_only_what_the_recorded_user_may_read(folder):
	foreign = write(folder / "foreign.data", sources=[str(folder / "secret.c"), str(folder / "open.c")], user=NOBODY)
	result = lines_of(foreign)
	assert SECRET not in result.stdout and "the text of open.c" in result.stdout
	assert f"cannot show the text of '{folder}/secret.c': a user whose processes executed it may not read it" in result.stderr
	explored = run("explore", foreign, stdin=make_input("source work\nlines\n"))
	assert SECRET not in explored.stdout and "the text of open.c" in explored.stdout
	assert page_of(foreign) == {}
	assert list(page_of(foreign, "--source")) == [str(folder / "open.c")]
	# Root gives the file to the user.
	os.chown(folder / "secret.c", NOBODY, NOBODY)
	assert SECRET in lines_of(foreign).stdout


@only_root
@pytest.mark.parametrize("claim", [{"user": 0}, {"user": None}, {"user": 0, "host": "elsewhere"}])
def test_a_profile_cannot_claim_to_be_roots(folder, claim):
	foreign = write(folder / "foreign.data", sources=[str(folder / "secret.c")], **claim)
	if claim == {"user": 0}:
		os.chown(foreign, NOBODY, NOBODY) # who wrote it
	assert SECRET not in lines_of(foreign).stdout
	assert page_of(foreign, "--source") == {}


@only_root
def test_a_file_that_everybody_may_write_has_no_author(folder):
	foreign = write(folder / "foreign.data", sources=[str(folder / "secret.c")], user=0)
	foreign.chmod(0o666)
	assert SECRET not in lines_of(foreign).stdout


@only_root
def test_merging_keeps_the_author(folder):
	"""A profile that root makes of a foreign one is root's file, but the processes stay the author's."""
	foreign = write(folder / "foreign.data", sources=[str(folder / "secret.c")], user=0)
	os.chown(foreign, NOBODY, NOBODY)
	done("merge", "-o", folder / "merged.data", foreign, foreign)
	assert SECRET not in lines_of(folder / "merged.data").stdout


@only_root
def test_a_pipe_has_no_author(folder):
	own = write(folder / "own.data", sources=[str(folder / "secret.c")], user=0)
	assert SECRET in lines_of(own).stdout
	with open(own, "rb") as bytes_of_profile:
		piped = subprocess.run([CPPROF, "report", "--source", "work", "-"], input=bytes_of_profile.read(), capture_output=True, check=True)
	assert SECRET.encode() not in piped.stdout


def test_users_of_another_machine_are_not_the_readers(folder):
	other = write(folder / "other.data", sources=[str(folder / "open.c")], user=os.geteuid(), host="elsewhere")
	assert "the text of open.c" in lines_of(other).stdout
	assert page_of(other) == {}
	result = run("html", "-o", folder / "a.html", other)
	assert "left out 1 source file, which processes of other or unknown users executed (--source embeds it)" in result.stderr
	assert list(page_of(other, "--source")) == [str(folder / "open.c")]


def test_files_of_the_system_are_no_sources(folder):
	(folder / "link.c").symlink_to("/etc/passwd")
	system = write(folder / "system.data", sources=["/etc/passwd", "/proc/self/status", "/sys/kernel/uevent_seqnum", str(folder / "link.c"),
		"../../../../../../etc/passwd"], user=os.geteuid())
	result = lines_of(system, directory=folder)
	assert "root:" not in result.stdout and "VmPeak" not in result.stdout
	assert page_of(system, "--source") == {}
	# The end of a path below the working folder.
	relative = write(folder / "relative.data", sources=["/build/passwd"], user=os.geteuid())
	assert "root:" not in lines_of(relative, directory="/etc").stdout


@only_root
def test_recording_notes_the_user_of_each_process(folder):
	"""Root records a program of another user, whose debug information names a file that only root can read."""
	program = folder / "evil.c"
	program.write_text(f'#include "events.h"\n#line 1 "{folder}/secret.c"\n'
		"__attribute__((noinline)) void work(void) { for (int i = 0; i < 300; i++) EVENT_HERE(); }\nint main(void) { work(); return 0; }\n")
	evil = folder / "evil"
	subprocess.run(["gcc", "-g", "-O1", "-DEVENTS=EVENTS_PAGES", f"-I{PROGRAMS}", "-o", evil, program], check=True)
	for launcher, is_shown in ([], True), (["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"], False):
		recorded = run_cpprof("record", "-o", folder / "out.data", "-r", "page-faults/1", "--", *launcher, evil, cwd=folder)
		assert recorded.returncode == 0, recorded.stderr
		result = lines_of(folder / "out.data")
		assert f"work in {folder}/secret.c" in result.stdout, result
		assert (SECRET in result.stdout) == is_shown, result.stdout
		assert bool(page_of(folder / "out.data")) == is_shown


@only_root
def test_refused_programs_are_reported_with_the_reason(folder):
	"""The remedy was to record again as root, who was the reader, or none."""
	program = folder / "prog"
	subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id=sha1", "-x", "c", "-o", program, "-"], input=b"int main(void) { return 0; }", check=True)
	program.chmod(0o700)
	why = f"cannot read '{program}': Permission denied (let the users of the recorded processes read it; root needs them to be known)"
	path = write(folder / "foreign.data", sources=["a.c"], modules=[str(program)], user=NOBODY, symbolized=False)
	assert [why] == [finding["text"] for finding in json.loads(done("info", "--format", "json", path))["findings"]
		if finding["code"] == "file-unreadable"]
	named = folder / "named.data"
	done("merge", "-o", named, path)
	check_failure(run("name", named), "their debug symbols were not found", why)


@only_root
def test_gprof_reports_why_a_source_is_refused(folder):
	"""It was advised to name a folder, by -I, for a file that was found."""
	(folder / "prog.c").write_text("int called(void) { return 0; }\nint main(void) { return called(); }\n")
	subprocess.run(["gcc", "-pg", "-g", "prog.c", "-o", "prog"], cwd=folder, check=True)
	subprocess.run([folder / "prog"], cwd=folder, check=True)
	text = done("gprof", "-A", "-b", "prog", directory=folder)
	assert "int called(void)" in text, text
	os.chown(folder / "prog", NOBODY, NOBODY)
	(folder / "prog.c").chmod(0o600)
	text = done("gprof", "-A", "-b", "prog", directory=folder)
	assert "prog.c: Permission denied; you and the owner of the program must be permitted to read it\n" in text, text
	(folder / "prog.c").unlink()
	text = done("gprof", "-A", "-b", "prog", directory=folder)
	assert "prog.c: No such file or directory; -I names a folder that it is in\n" in text, text


# --- which files are opened ---

def commands(name, page):
	yield ["info", name]
	for words in ([], ["--lines"], ["--source", "work"], ["--source", "work", "--counts"], ["--asm", "work"], ["--functions", "--by", "callsite"],
			["--format", "json", "--limit", "0", "--threshold", "0"], ["--call-graph"], ["--tree"], ["--modules"]):
		yield ["report", *words, name]
	for format in FORMATS:
		yield ["export", "--format", format, "-o", "out", name]
	yield ["html", "--source", "-o", page, name]
	yield ["explain", name]
	yield ["whatif", "work=0.5", name]
	yield ["diff", name, name]
	yield ["merge", "-o", "out", name, name]
	yield ["name", "-o", "out", name]
	yield ["explore", name]


@pytest.mark.unsanitized("each system call of forty commands is watched")
@pytest.mark.parametrize("symbolized", [True, False], ids=["named", "without names"])
def test_readers_open_only_their_own_files(folder, symbolized):
	traps = ["/etc/shadow", "/etc/passwd", "/proc/kmsg", "/proc/self/mem", "/dev/zero", "/dev/stdin", "/sys/kernel/uevent_seqnum"]
	for name in ("fifo.c", "fifo.so"):
		os.mkfifo(folder / name)
		traps.append(str(folder / name))
	(folder / "link.c").symlink_to("/etc/passwd")
	(folder / "work").mkdir()
	(folder / "work/etc").mkdir()
	traps += [str(folder / "link.c"), "fifo.c", "../fifo.c", str(folder / "secret.c"), "/", "."]
	name = write(folder / "work/hostile.data", sources=traps, modules=traps, user=NOBODY if is_root else os.geteuid(), directory=str(folder),
		symbolized=symbolized)
	own = [folder / "work"]
	if not is_root: # who may read what is theirs
		own.append(folder / "secret.c")
	for words in commands(name.name, "page.html"):
		watched = Watched(folder / "work", *words, stdin="source work\nlines\nasm work\nexport folded out\nquit\n")
		assert watched.opens(name), words # the watch is not blind
		assert watched.run.returncode in (0, 1, 2), (words, watched.run)
		assert watched.foreign(*own) == [], (words, watched.run.stderr)


# --- outputs ---

def mode_of(path):
	return stat.S_IMODE(path.stat().st_mode)


def writers(folder):
	"""[(the words of a command that writes a page or an export, its input)]"""
	yield ["html", "-o", "out", "own.data"], ""
	yield ["export", "-o", "out", "own.data"], ""
	yield ["export", "--format", "pprof", "-o", "out", "own.data"], ""
	yield ["explore", "own.data"], "export folded out\n"


def test_pages_and_exports_concern_their_owner_alone(folder):
	write(folder / "own.data", sources=[str(folder / "open.c")], user=os.geteuid())
	out = folder / "out"
	for words, text in writers(folder):
		out.unlink(missing_ok=True)
		done(*words, directory=folder, stdin=make_input(text))
		assert mode_of(out) == 0o600, words
		out.chmod(0o644) # an older version made it
		done(*words, directory=folder, stdin=make_input(text))
		assert mode_of(out) == 0o600, words


@only_root
def test_a_prepared_file_of_another_user_does_not_keep_its_mode(folder):
	write(folder / "own.data", sources=[str(folder / "open.c")], user=0)
	out = folder / "out"
	for words, text in writers(folder):
		out.write_text("")
		out.chmod(0o666)
		os.chown(out, NOBODY, NOBODY)
		done(*words, directory=folder, stdin=make_input(text))
		assert (mode_of(out), out.stat().st_uid) == (0o600, 0), words
		out.unlink()


def outputs(folder):
	"""[(the words of each command that writes a file that the user names, its input)]"""
	(folder / "a.c").write_text("int main(void) { return 0; }\n")
	yield from writers(folder)
	yield ["merge", "-o", "out", "own.data", "own.data"], ""
	yield ["cc", "--report", "out", "--", "gcc", "-c", "-o", "a.o", "a.c"], ""


@only_root
def test_outputs_follow_no_link_of_another_user(folder):
	"""The rule of -o is one for all outputs."""
	write(folder / "own.data", sources=[str(folder / "open.c")], user=0)
	target = folder / "target"
	public = folder / "public"
	public.mkdir()
	public.chmod(0o1777)
	for words, text in outputs(folder):
		target.write_text("kept")
		(public / "out").symlink_to(target)
		os.chown(public / "out", NOBODY, NOBODY, follow_symlinks=False)
		result = run(*[str(public / "out") if word == "out" else word for word in words], directory=folder,
			stdin=make_input(text.replace(" out", f" {public}/out")))
		assert target.read_text() == "kept", words
		assert "it is, or leads through, a symbolic link of another user" in result.stderr, (words, result)
		(public / "out").unlink()


@only_root
def test_outputs_go_into_no_fifo_of_another_user(folder):
	write(folder / "own.data", sources=[str(folder / "open.c")], user=0)
	os.mkfifo(folder / "out")
	os.chown(folder / "out", NOBODY, NOBODY)
	for words, text in outputs(folder):
		result = run(*words, directory=folder, stdin=make_input(text))
		assert "it is a FIFO of another user" in result.stderr, (words, result)


def test_instrumented_copies_follow_no_link_of_another_user(folder):
	if not is_root:
		pytest.skip("only root can give links away")
	(folder / "a.c").write_text("int main(void) { return 0; }\n")
	(folder / "copies").mkdir()
	(folder / "target").write_text("kept")
	(folder / "copies/a.c").symlink_to(folder / "target")
	os.chown(folder / "copies/a.c", NOBODY, NOBODY, follow_symlinks=False)
	result = run("instrument", "-o", folder / "copies", "a.c", "--", "gcc", directory=folder)
	assert (folder / "target").read_text() == "kept", result
	assert "a symbolic link of another user" in result.stderr


# --- time ---

SECONDS_ENOUGH = 100 # far more than a limit of one second takes on a busy machine


@pytest.mark.long("up to a second of CPU time for each of many commands")
@pytest.mark.parametrize("name", list(bombs()))
def test_readers_take_a_bounded_time(folder, name):
	"""Each command ends by itself: with a result, or with a message about memory or time."""
	path = folder / "bomb.data"
	path.write_bytes(bombs()[name])
	for words in commands(path.name, "page.html"):
		limited = [] if words[0] == "explore" else ["--cpu-time", "1"]
		result = subprocess.run([CPPROF, words[0], *limited, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
			timeout=SECONDS_ENOUGH)
		assert result.returncode in (0, 1), (words, result.stderr[-500:])
		assert result.returncode == 0 or result.stderr, words


def test_inlined_frames_are_written_once(folder):
	"""Each location is written with its 65,536 lines, not also each of its parts."""
	path = folder / "bomb.data"
	path.write_bytes(bombs()["inlined at one place"])
	for format in "pprof", "otlp":
		done("export", "--format", format, "-o", folder / "out", path)
		assert (folder / "out").stat().st_size < 4 << 20


def test_pages_of_many_inlined_frames_are_written(folder):
	"""It took 34 s: each node of the path went through the million frames."""
	path = folder / "bomb.data"
	path.write_bytes(bombs()["a million inlined"])
	done("html", "--cpu-time", "20", "-o", "out", path, directory=folder)


def test_call_graphs_of_deep_paths_are_printed(folder):
	"""It took seconds for 65,536 nodes, and four times as long for twice as many: each node searched all above it."""
	path = folder / "bomb.data"
	path.write_bytes(whole(table(9, 0, [0], [0x1000]), *chain(4), *spread(4), *ONE_FRAME))
	done("report", "--call-graph", "--cpu-time", "20", path)


# These formats write each path whole: a path of N frames with a sample at each takes N^2 / 2 entries. The limits end them.
WHOLE_PATHS = {"folded", "speedscope", "pprof", "otlp"}


@pytest.mark.long("seconds of CPU time for each of many commands")
@pytest.mark.parametrize("is_recursion", [True, False], ids=["recursion", "functions"])
def test_readers_are_linear_in_the_depth_of_paths(folder, is_recursion):
	"""131,072 nodes above one another, each with a hit. Whoever goes from each node to the root does 8.6 billion steps, and exceeds the limit."""
	path = folder / "bomb.data"
	path.write_bytes(deep_path(2, is_recursion))
	for words in commands(path.name, "page.html"):
		if words[0] == "export" and words[words.index("--format") + 1] in WHOLE_PATHS:
			continue
		limited = [] if words[0] == "explore" else ["--cpu-time", "8"]
		result = subprocess.run([CPPROF, words[0], *limited, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
			timeout=SECONDS_ENOUGH)
		assert b"cannot finish" not in result.stderr and b"out of memory" not in result.stderr, (words, result.stderr[-500:])


def test_frames_that_too_many_locations_share_are_damage(folder):
	path = folder / "bomb.data"
	path.write_bytes(bombs()["shared frames"])
	check_failure(run("info", path), "is damaged: its tables do not fit together")


def test_the_limit_of_time_is_an_option(folder):
	path = folder / "bomb.data"
	path.write_bytes(bombs()["deep"])
	words = ["export", "--format", "folded", "--cpu-time"]
	check_failure(run(*words, "0.2", "-o", "out", path, directory=folder),
		"cannot finish: it takes more than 0.2 s of CPU time (--cpu-time SECONDS raises the limit)")
	assert not (folder / "out").exists()
	for wrong in "-1", "much", "1e30":
		result = run(*words, wrong, path)
		assert result.returncode == 2 and f"'{wrong}' is not a number of seconds (--cpu-time 600; 0: no limit)" in result.stderr
