"""Help, manual pages and shell completion, which cpprof generates from the command table."""
import functools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_support import COMMANDS, CPPROF, REPOSITORY, SECONDS_ALLOWED, done, make_input, run


def test_help_lists_every_command():
	text = done("--help")
	assert done() == text
	assert done("help") == text
	for command in COMMANDS:
		assert re.search(rf"^  {command} ", text, re.MULTILINE)
	assert not re.search(r"^  man ", text, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
	text = done(command, "--help")
	assert text == done(command, "-h") == done("help", command)
	assert text.startswith(f"cpprof {command}: ")
	assert "--help" in text
	assert max(map(len, text.splitlines())) <= 110


@functools.cache
def long_options(command):
	return set(re.findall(r"--[a-z-]+", done(command, "--help").split("\nexamples:")[0].split("\noptions:")[1]))


@pytest.mark.parametrize("command", COMMANDS)
def test_manual_page_has_every_option(command):
	page = done("man", command, REPOSITORY / f"docs/man/cpprof-{command}.scd.in")
	assert not re.search(r"^@[A-Z_]+@$", page, re.MULTILINE)
	missing = [option for option in long_options(command) if f"*{option}*" not in page]
	assert not missing
	made = subprocess.run(["scdoc"], input=page, capture_output=True, text=True)
	assert made.returncode == 0, made.stderr


def test_help_and_manual_of_explore_list_its_commands(profiles):
	"""The help and the manual page of explore list the commands as the loop's own help does, and document the exit status."""
	(profiles / "commands").write_text("help\n")
	with open(profiles / "commands") as commands:
		listed = done("explore", "forms.data", directory=profiles, stdin=commands)
	rows = [line for line in listed.splitlines() if line.startswith("  ")]
	assert len(rows) > 15
	manual = done("man", "explore", REPOSITORY / "docs/man/cpprof-explore.scd.in")
	for text in (done("help", "explore"), manual):
		assert all(row in text for row in rows)
		assert "1 if any failed" in " ".join(text.split())


def test_formats_come_from_their_rows(profiles):
	"""The help of an option that is not for all formats begins with the others. explore's help lists the formats that it writes."""
	export, imported = " ".join(done("help", "export").split()), " ".join(done("help", "import").split())
	assert "--object NAME gmon, symbol-order: Write of the program" in export
	assert "symbol-order: Export only resource RES" in export
	assert "--untrimmed folded, pprof, speedscope, firefox, callgrind, chrome, otlp: Show also" in export
	assert "-o, --output FILE Write to FILE" in export
	assert "--image FILE gmon: The program or library" in imported
	with make_input("help export\n") as questions:
		text = done("explore", "whole.data", directory=profiles, stdin=questions)
	for name in ("folded", "gmon"):
		summary = re.search(rf"{name}: (.{{20}})", export).group(1)
		assert re.search(rf"^  {name} +{re.escape(summary)}", text, re.M), text
	assert "  events" not in text


def completed_by_bash(*words):
	"""The completions that bash offers for the last word."""
	script = done("completion", "bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cpprof; echo "${COMPREPLY[*]}"\n'
	# The words as bash splits them: '=' is a word.
	split = [part for word in words for part in re.findall("=|[^=]+|^$", word)]
	return interpreted(["bash", "-c", script, "bash", "cpprof", *split])


def value(word):
	"""The word behind the option: `page` of --resource=page, `drop=` of --transform=drop=."""
	return re.sub(".*=(?=.)", "", word)


def completed_by_zsh(*words):
	"""The completions that zsh offers. zsh's completion functions need a terminal, so functions that print replace them."""
	script = """
		compdef() {}
		_files() {}
		_describe() { print -rl -- "${(@P)${@[-1]}}" }
		""" + done("completion", "zsh") + """
		words=("$@") CURRENT=$#
		_cpprof
		"""
	lines = interpreted(["zsh", "-f", "-c", script, "zsh", "cpprof", *words], lines=True)
	return [value(re.match(r"(?:[^\\:]|\\.)*", line)[0]) for line in lines]


def completed_by_fish(*words):
	script = done("completion", "fish") + 'complete -C "$argv"\n'
	lines = interpreted(["fish", "--no-config", "-c", script, "cpprof", *words], lines=True)
	return [value(line.partition("\t")[0]) for line in lines]


def interpreted(argv, lines=False):
	path = f"{os.path.dirname(CPPROF)}:{os.environ['PATH']}"
	result = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS_ALLOWED, env={**os.environ, "PATH": path})
	assert (result.returncode, result.stderr) == (0, "")
	return result.stdout.splitlines() if lines else result.stdout.split()


COMPLETED = {"bash": completed_by_bash, "zsh": completed_by_zsh, "fish": completed_by_fish}


@pytest.fixture(params=["bash", *(pytest.param(name, marks=pytest.mark.needs(name)) for name in ("zsh", "fish"))])
def completed(request):
	return COMPLETED[request.param]


def test_completion_offers_what_the_command_takes(completed):
	assert completed("di") == ["diff"]
	assert completed("report", "--lim") == ["--limit"]
	assert sorted(completed("report", "--thr")) == ["--thread", "--threads", "--threshold"]
	assert completed("record", "--", "ls", "--f") == []


@pytest.mark.parametrize("words", [["record", "ls", "--"], ["record", "./a", "--fo"], ["record", "-r", "cpu", "ls", "--"],
	["record", "--instrumented=paths", "ls", "--"], ["trace", "ls", "-r", ""], ["cc", "gcc", "--"], ["control", "1", "--"]], ids=" ".join)
def test_completion_leaves_the_target_alone(completed, words):
	"""Words behind the target are the target's. Files may be offered."""
	assert not [word for word in completed(*words) if word.startswith("--") or word == "cpu"]


def test_completion_before_the_target(completed):
	"""The value of an option is not the target."""
	assert "--resource" in completed("record", "-r", "cpu", "--re")
	assert "--resource" in completed("record", "--instrumented=paths", "--re")
	assert "--resource" in completed("record", "--resource=cpu", "--re")
	assert completed("record", "-o", "x.data", "-r", "page-f") == ["page-faults"]


def test_completion_offers_values(completed):
	assert sorted(completed("control", "4711", "o")) == ["off", "on"]
	assert completed("gprof", "--demangle=g") == ["gnu-v3"]
	assert completed("gprof", "--file-format", "m") == ["magic"]
	assert completed("record", "--backend", "no") == ["none"]
	assert sorted(completed("import", "--format", "")) == ["callgrind", "chrome", "firefox", "folded", "gmon", "heaptrack", "perf", "perf-script", "pprof", "speedscope", "strace", "trace"]
	assert sorted(completed("export", "--format", "")) == ["callgrind", "chrome", "events", "firefox", "folded", "gcc-profile", "gcc-profile-11", "gmon", "llvm-profile", "llvm-profile-contexts", "llvm-profile-flat", "otlp", "pprof", "speedscope", "symbol-order"]
	assert sorted(completed("info", "--format", "")) == ["json", "text"]
	assert completed("diff", "--format", "c") == ["csv"]
	assert completed("report", "--by", "m") == ["module"]
	assert completed("report", "--by=g") == ["group"]
	assert completed("record", "--instrumented=paths-") == ["paths-timed"]
	assert completed("trace", "-r", "page-f") == ["page-faults"]
	assert completed("completion", "f") == ["fish"]
	assert completed("help", "wh") == ["whatif"]


def test_completion_offers_transforms(completed, profiles):
	"""The kinds, and then functions of the profile."""
	path = str(profiles / "whole.data")
	assert sorted(completed("report", path, "--transform", "")) == sorted(f"{kind}=" for kind in ("focus", "path", "drop", "merge", "above", "collapse"))
	assert completed("report", path, "--transform", "drop=wor") == ["work"]
	assert completed("report", path, "--transform=focus=qs") == ["qsort"]


def test_completion_offers_threads_and_processes(profiles):
	"""Those of a profile by name and number, and the running ones by number and name."""
	listed = json.loads(done("info", "--format", "json", "programs.data", directory=profiles))
	processes, threads = listed["processes"], listed["threads"]
	offered = done("complete", "fish", "report", "programs.data", "--process", "", directory=profiles).splitlines()
	assert sorted(offered) == sorted({f"{row['name']}\t" for row in processes} | {f"{row['pid']}\t{row['name']}" for row in processes})
	offered = done("complete", "fish", "report", "programs.data", "--thread=", directory=profiles).splitlines()
	assert sorted(offered) == sorted({f"--thread={row['name']}\t" for row in threads} | {f"--thread={row['tid']}\t{row['name']}" for row in threads})
	name = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
	for words in (["record", "-p"], ["record", "--pid"], ["top", "-p"]):
		assert f"{os.getpid()}\t{name}" in done("complete", "fish", *words, str(os.getpid())).splitlines()
	assert done("complete", "bash", "record", "--comm", name).splitlines().count(name) == 1


def test_completion_follows_the_tables(profiles):
	"""The same values are offered as the usage errors list, because both come from the same tables."""
	for words in (["report", "--by", "?"], ["report", "--format", "?"], ["export", "--format", "?"], ["import", "--format", "?", "-"]):
		message = run(*words, *([] if words[0] == "import" else ["whole.data"]), directory=profiles).stderr
		listed = re.findall(r"[a-z0-9-]+", message.partition("(")[2])
		assert len(listed) > 1, message
		assert done("complete", "bash", *words[:2], "").split() == [word for word in listed if word != "or"]


def test_completion_of_split_words(profiles):
	"""bash splits words at '=' and ':', and replaces the last part."""
	assert done("complete", "bash", "report", "--by", "=", directory=profiles).split() == done("complete", "bash", "report", "--by", "", directory=profiles).split()
	assert done("complete", "bash", "report", "--by", "=", "g").split() == ["group"]
	assert done("complete", "bash", "record", "-r", "syscalls", ":", "").split() == []
	assert done("complete", "fish", "report", "--by=g") == "--by=group\t\n"
	assert done("complete", "zsh", "report", "--by=g") == "--by=group:\n"


def test_completion_names_its_shells():
	result = run("completion", "tcsh")
	assert (result.returncode, result.stdout) == (2, "")
	assert "unknown shell 'tcsh' (bash, zsh or fish)" in result.stderr
