"""The documents are true: each of their commands is executed, in order, and prints what the document shows; links and installed paths exist.

The commands use an installation of the build in a scratch folder, in a folder that looks like a fresh clone after `make`.
docs_support.py defines which lines are commands.
"""
import contextlib
import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading

import pytest
from cli_support import BUILD, CPPROF, REPOSITORY
from docs_support import output_difference, shape, steps_of
from record_support import bpf_refusal, perf_refusal

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md"))]
EXAMPLES = ["generate_db", "process_db", "tutorial"]
SECONDS_ALLOWED = 600


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
	"""The prefix of an installation of the build."""
	root = tmp_path_factory.mktemp("installed")
	result = subprocess.run(["/usr/bin/meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root],
		capture_output=True, text=True)
	assert result.returncode == 0, result.stdout + result.stderr
	program, = root.rglob("bin/cpprof")
	return root, program.parents[1]


@pytest.fixture
def clone(tmp_path):
	"""A folder that looks like a fresh clone after `make`, as far as the documents use it."""
	folder = tmp_path / "clone"
	shutil.copytree(REPOSITORY / "examples", folder / "examples")
	for name in EXAMPLES:
		source = BUILD / "examples" / name
		copy = shutil.copy if source.is_file() else shutil.copytree
		(folder / "build/examples").mkdir(parents=True, exist_ok=True)
		copy(source, folder / "build/examples" / name)
	return folder


def lacking(needs):
	"""Returns the first need that this machine does not satisfy, with the reason, or None."""
	for need in needs:
		if need == "root":
			reason = None if os.geteuid() == 0 else "not root"
		elif need in ("bpf", "perf"):
			reason = {"bpf": bpf_refusal, "perf": perf_refusal}[need]()
		else:
			reason = None if shutil.which(need) else "not installed"
		if reason:
			return f"{need}: {reason}"
	return None


class Shell:
	"""One shell for all commands of a document: `cd`, variables and background processes stay."""

	def __init__(self, folder, installed):
		root, prefix = installed
		libraries = next(prefix.rglob("libcpprof.so.0")).parent
		self.environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ.get('PATH', os.defpath)}", "HOME": str(folder), "LC_ALL": "C.UTF-8",
			"TERM": "dumb", "TMPDIR": str(folder), "PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": str(root),
			"LD_LIBRARY_PATH": str(libraries), "LIBRARY_PATH": str(libraries), "CPATH": f"{prefix}/include"}
		self.output = folder.parent / "output"
		self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			text=True, start_new_session=True)
		self.limit = threading.Timer(SECONDS_ALLOWED, self.kill)
		self.limit.start()

	def kill(self):
		os.killpg(self.process.pid, signal.SIGKILL)

	def screen(self, command):
		"""Runs a command on a terminal of its own, and presses q once it shows its screen. Returns (exit status, what it wrote)."""
		_, folder = self.run("pwd")
		master, slave = os.openpty()
		fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
		process = subprocess.Popen(["bash", "-c", command], cwd=folder.strip(), env={**self.environment, "TERM": "xterm"}, stdin=slave, stdout=slave,
			stderr=slave, start_new_session=True)
		os.close(slave)
		limit = threading.Timer(SECONDS_ALLOWED, process.kill)
		limit.start()
		written, is_left = b"", False
		with contextlib.suppress(OSError): # the end of a terminal's output
			while data := os.read(master, 65536):
				written += data
				if not is_left and b"\x1b[?1049h" in written:
					is_left = os.write(master, b"q") == 1
		limit.cancel()
		os.close(master)
		return process.wait(), written.decode(errors="replace")

	def run(self, script):
		"""Returns (exit status, what it printed). The status is None if the time is over."""
		file = self.output.with_suffix(".sh")
		file.write_text(script + "\n")
		self.process.stdin.write(f"{{ . {file}; }} >{self.output} 2>&1 </dev/null; echo $?\n")
		self.process.stdin.flush()
		status = self.process.stdout.readline().strip()
		return int(status) if status else None, self.output.read_text(errors="replace")

	def close(self):
		self.limit.cancel()
		self.kill()
		self.process.communicate()


@pytest.fixture
def shell(clone, installed):
	process = Shell(clone, installed)
	yield process
	process.close()


def write_file(folder, step):
	before = (folder / step.after).read_text() if step.after else ""
	(folder / step.name).write_text(before + step.text)


@pytest.mark.long("executes each command of the documents, and samples CPU time")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands(document, clone, shell):
	"""Each command ends with status 0 and prints lines of the shape that the document shows."""
	missing = []
	for step in steps_of((REPOSITORY / document).read_text()):
		place = f"{document}:{step.line}: {step.text}"
		lack = lacking(step.needs)
		if step.unexecuted is not None:
			continue
		if lack:
			missing.append(f"{place} ({lack})")
		elif step.kind == "file":
			write_file(clone, step)
		elif step.kind == "screen":
			status, written = shell.screen(step.text)
			assert status == 0 and "\x1b[?1049l" in written, f"{place}\nstatus {status}\n{written}"
		else:
			status, printed = shell.run(step.text)
			assert status == 0, f"{place}\nstatus {status}\n{printed}"
			difference = step.output and output_difference(step.output, printed.splitlines())
			assert not difference, f"{place}\n{difference}\nit printed:\n{printed}"
	if missing:
		pytest.skip("not executed: " + "; ".join(missing))


def test_reasons_not_to_execute():
	"""A block of commands that are never executed has a reason, and there are few."""
	reasons = [reason for document in DOCUMENTS for reason in {step.unexecuted for step in steps_of((REPOSITORY / document).read_text())} - {None}]
	assert all(len(reason.split()) >= 3 for reason in reasons)
	assert len(reasons) <= 7


def test_there_are_commands_to_execute():
	"""The extraction finds the commands: the first example, the tutorial's five problems, and the table of the README."""
	counts = {document: sum(step.kind in ("command", "screen") for step in steps_of((REPOSITORY / document).read_text())) for document in DOCUMENTS}
	assert counts["README.md"] >= 15
	table = re.findall(r"^\| .*? \| `(cpprof [^`]*)`.*\|$", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
	steps = steps_of((REPOSITORY / "README.md").read_text())
	assert len(table) >= 20 and set(table) <= {step.text for step in steps}
	assert {step.text.split()[1] for step in steps if step.kind == "screen"} == {"browse", "top"}
	assert counts["docs/tutorial.md"] >= 24


@pytest.mark.parametrize("text, complaint", [
	("    cpprof report\n", "lacks `$ `"),
	("<!-- needs: bpf -->\nText\n", "needs an indented block"),
	("<!-- needs: bpf -->\n", "needs an indented block"),
	("<!-- need: bpf -->\n\n    $ true\n", "cannot read this comment"),
	("| question | command |\n|---|---|\n| Why? | see `cpprof report` |\n", "does not begin with a command"),
])
def test_no_command_escapes(text, complaint):
	with pytest.raises(AssertionError, match=re.escape(complaint)):
		steps_of(text)


@pytest.mark.parametrize("shown, printed, difference", [
	(["total: 281 ms -> 12 ms, -95.7 %"], ["total: 1.2 s -> 900 us, +3 %"], None),
	(["0.9 ±0.1 (main) [9]"], ["0.12 ±0.0167 (main) [2,760]"], None),
	(["0.9 ±0.1 (main) [9]"], ["0.9 ±0.1 (main2) [9]"], "no line has the shape"),
	(["a 1", "a 2"], ["a 3"], "no line has the shape"),
	(["a 1"], ["a 3", "b"], "does not show: b"),
	(["a 1", "..."], ["a 3", "b"], None),
	(["x __strlen_evex"], ["x __strlen_avx2"], None),
	(["x __strlen_evex"], ["x __strchr_avx2"], "no line has the shape"),
	(["cpprof: 9 samples, 0 lost, 100.00 % whole, 9 KB in x.data, by bpf"],
		["cpprof: 12 samples, 0 lost, 99.00 % whole, 1.00 % broken, 912 bytes in x.data, by preload; not by bpf: refused"], None),
])
def test_comparison_of_outputs(shown, printed, difference):
	found = output_difference(shown, printed)
	assert found is None if difference is None else difference in found


def test_shape_keeps_names():
	assert shape("3.5 ms 0x1f dl_main2 x86-64") == "# # dl_main2 x86-#"


def inline_commands(text):
	"""Returns the commands in running text: inline codes that begin with `cpprof WORD`."""
	text = re.sub(r"^    .*$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
	return [found.split()[1:] for found in re.findall(r"`(cpprof [a-z][^`]*)`", text)]


def test_commands_in_running_text_exist():
	"""Each command and each option in the text of the documents is one that cpprof has."""
	commands = set(re.findall(r"^  (\w+) ", subprocess.run([CPPROF, "--help"], capture_output=True, text=True, check=True).stdout, re.MULTILINE))
	assert {"record", "report"} <= commands
	for document in DOCUMENTS:
		for command, *words in inline_commands((REPOSITORY / document).read_text()):
			assert command in commands, f"{document}: cpprof {command}"
			own = words[:words.index("--")] if "--" in words else words
			help_text = subprocess.run([CPPROF, command, "--help"], capture_output=True, text=True, check=True).stdout
			for option in (word.split("=")[0] for word in own if re.match(r"--\w", word)):
				assert re.search(rf"{option}\b", help_text), f"{document}: cpprof {command} {option}"


LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)")
INSTALLED_PATH = re.compile(r"`((?:share|include|lib|bin)/[\w./-]*)`")


def test_links_and_installed_paths_exist(installed):
	"""Links of the documents lead to files, in the repository and after an installation; so do the paths that they name as installed."""
	_, prefix = installed
	documents = prefix / "share/doc/cpprof"
	for document in [*DOCUMENTS, "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]:
		text = (REPOSITORY / document).read_text()
		for link in LINK.findall(text):
			assert (REPOSITORY / document).parent.joinpath(link).exists(), f"{document}: {link}"
			assert (documents / document).parent.joinpath(link).exists(), f"{document}: {link} is not installed"
	paths = {path for document in DOCUMENTS for path in INSTALLED_PATH.findall((REPOSITORY / document).read_text())}
	assert "share/cpprof/examples/tutorial" in paths
	for path in paths:
		assert (prefix / path).exists(), f"{path} is not installed"


TUTORIAL = {"join": [], "tally": [], "photos": [], "lines": ["employees.tsv"], "spell": []}


@pytest.mark.parametrize("name", TUTORIAL)
def test_tutorial_programs_agree(name, clone):
	"""A program of the tutorial prints the same before and after its repair."""
	folder = clone / "build/examples/tutorial"
	subprocess.run([clone / "build/examples/generate_db", "500", folder / "employees.tsv"], check=True)
	before, after = (subprocess.run([folder / f"{name}_{state}", *TUTORIAL[name]], cwd=folder, capture_output=True, text=True, check=True).stdout
		for state in ("before", "after"))
	assert before == after != ""


def test_installed_tutorial_compiles(installed, tmp_path):
	"""The installed sources of the tutorial compile with their own Makefile."""
	_, prefix = installed
	shutil.copytree(prefix / "share/cpprof/examples/tutorial", tmp_path / "tutorial")
	made = subprocess.run(["make", "-C", tmp_path / "tutorial"], capture_output=True, text=True,
		env={**os.environ, "CFLAGS": "-O2 -g -Wall -Wextra -Werror", "MAKEFLAGS": "-e"})
	assert made.returncode == 0, made.stderr
	for name in TUTORIAL:
		assert os.access(tmp_path / "tutorial" / f"{name}_after", os.X_OK)


def test_tutorial_is_a_manual_page(installed):
	"""The manual page has the tutorial's sections and commands, and none of Markdown's marks."""
	_, prefix = installed
	page = (prefix / "share/man/man7/cpprof-tutorial.7").read_text().replace("\\&", "") # troff: no space
	for step in steps_of((REPOSITORY / "docs/tutorial.md").read_text()):
		if step.kind == "command":
			assert step.text.split(" ", 2)[1] in page
	assert page.count(".SH") >= 8
	assert "`" not in page.replace("\\`", "") and "**" not in page and "<!--" not in page


@pytest.mark.parametrize("command, tables", [("export", ["What an export loses", "written"]), ("import", ["What an import loses", "read"])])
def test_formats_are_described(tmp_path, command, tables):
	"""docs/formats.md lists each format with its direction, and states what it loses."""
	subprocess.run([CPPROF, "import", "-o", "a.data", "-"], cwd=tmp_path, input=b"main 1\n", capture_output=True, check=True)
	result = subprocess.run([CPPROF, command, "--format", "none", "a.data"], cwd=tmp_path, capture_output=True, text=True, check=False)
	names = re.split(r", | or ", re.search(r"unknown format 'none' \((.*)\)", result.stderr)[1])
	text = (REPOSITORY / "docs/formats.md").read_text()
	listed = re.findall(r"^\| (`.*?) \| (both|read|written) \|", text, re.MULTILINE)
	assert {name for cell, way in listed for name in re.findall("`(.*?)`", cell) if way in ("both", tables[1])} == set(names)
	part = text[text.index(tables[0]):]
	rows = re.findall(r"^\| (`.*?) \| .+ \|$", part[part.index("|---"):part.index("\n\n", part.index("|---"))], re.MULTILINE)
	assert sorted(name for cell in rows for name in re.findall("`(.*?)`", cell)) == sorted(names)
