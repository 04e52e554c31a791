"""Help, manual pages and shell completion, which cpprof generates from the command table."""
import functools
import re
import subprocess

import pytest
from cli_support import COMMANDS, REPOSITORY, SECONDS_ALLOWED, done, run


def test_help_lists_every_command():
	text = done("--help")
	assert done() == text
	assert done("help") == text
	for command in COMMANDS:
		assert re.search(rf"^  {command} ", text, re.MULTILINE)
	assert not re.search(r"^  (man|completion) ", text, re.MULTILINE)


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
		assert "1 if any failed" in text


def test_completion_is_bash():
	script = done("completion")
	result = subprocess.run(["bash"], input=script + """
		COMP_WORDS=(cpprof rep); COMP_CWORD=1; _cpprof; echo "${COMPREPLY[@]}"
		COMP_WORDS=(cpprof report --thr); COMP_CWORD=2; _cpprof; echo "${COMPREPLY[@]}"
		COMP_WORDS=(cpprof report --by m); COMP_CWORD=3; _cpprof; echo "${COMPREPLY[@]}"
		""", capture_output=True, text=True, check=True)
	assert result.stdout.splitlines() == ["report", "--threshold --thread", "module"]


def completed(*words):
	"""The completions that bash offers for the last word."""
	script = done("completion") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cpprof; echo "${COMPREPLY[*]}"\n'
	result = subprocess.run(["bash", "-c", script, "bash", "cpprof", *words], capture_output=True, text=True,
		timeout=SECONDS_ALLOWED)
	assert result.returncode == 0, result.stderr
	return result.stdout.split()


def test_completion_offers_what_the_command_takes():
	assert completed("di") == ["diff"]
	assert completed("report", "--li") == ["--limit"]
	assert completed("import", "--format", "") == ["folded", "gmon"]
	assert completed("export", "--format", "") == ["folded", "gmon", "events"]
	assert completed("info", "--format", "") == ["text", "json"]
	assert completed("diff", "--format", "c") == ["csv"]
	assert completed("record", "--", "ls", "--f") == []
