"""The recipes of examples/ci: their commands run in a small repository with two versions of a program."""
import importlib
import os
import re
import subprocess

import pytest
from cli_support import CPPROF, REPOSITORY
from record_support import needs_bpf

RECIPES = REPOSITORY / "examples/ci"
COMMITS, FIRST_BAD = 8, 5
BUILD = "gcc -O1 -g -o program program.c"
SOURCE = """#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) void parse(int count)
{{
	for (int i = 0; i < count; i++) {{
		char *volatile text = malloc(100);
		if (write(1, text, 0) < 0)
			exit(1);
		free(text);
	}}
}}

int main(int argc, char **argv)
{{
	(void)argc;
	parse(atoi(argv[1]) + {more}); /* {remark} */
}}
"""


def steps(path):
	"""Returns {job: {step: (its commands, its condition)}} of a recipe. A step of GitLab has its number for a name."""
	found, job, name, condition, block = {}, None, None, None, None
	lines = path.read_text().splitlines()
	of_job = re.compile(r"  ([\w-]+):" if "jobs:" in lines else r"([\w.-]+):")
	for line in lines:
		text, depth = line.strip(), len(line) - len(line.lstrip())
		if block is not None and text and depth <= block:
			block = None
		if block is not None:
			found[job][name][0].append(text)
			continue
		if match := of_job.fullmatch(line):
			job = match.group(1)
			found[job] = {}
		if match := re.fullmatch(r"- name: (.*)", text):
			name, condition = match.group(1), None
		if match := re.fullmatch(r"if: (.*)", text):
			condition = match.group(1)
		if text == "- |":
			name = len(found[job])
		if text in ("- |", "run: |"):
			found[job][name] = ([], condition)
			block = depth
		elif match := re.fullmatch(r"run: (.*)", text):
			found[job][name] = ([match.group(1)], condition)
	return {job: {name: ("\n".join(lines), condition) for name, (lines, condition) in named.items()} for job, named in found.items() if named}


def git(folder, *words):
	return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=folder, check=True, capture_output=True,
		text=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}).stdout.strip()


@pytest.fixture
def machine(tmp_path):
	"""Returns a function that runs commands as a runner does, with cpprof and a sudo on PATH, in a repository with COMMITS commits; parse
	allocates once more from commit FIRST_BAD on. The tag of a commit is its number."""
	tools, folder = tmp_path / "tools", tmp_path / "repository"
	tools.mkdir()
	folder.mkdir()
	(tools / "cpprof").symlink_to(CPPROF)
	(tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
	(tools / "sudo").chmod(0o755)
	git(folder, "init", "-q")
	for number in range(1, COMMITS + 1):
		(folder / "program.c").write_text(SOURCE.format(more=int(number >= FIRST_BAD), remark=number))
		git(folder, "add", "program.c")
		git(folder, "commit", "-q", "-m", f"change {number}")
		git(folder, "tag", str(number))

	def run(commands, **variables):
		settings = {"BUILD": BUILD, "PROGRAM": "program 40", "COUNTS_LIMIT": "0", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
			"BISECT_GATE": str(REPOSITORY / "examples/bisect/bisect_gate"), **variables}
		return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands], cwd=folder, capture_output=True, text=True,
			env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **settings})
	run.folder, run.summary = folder, tmp_path / "summary"
	return run


def check_out(machine, base, head):
	git(machine.folder, "checkout", "-q", str(head))
	return {"BASE": git(machine.folder, "rev-parse", str(base))}


SIDES = pytest.mark.parametrize("base, head, status", [(1, FIRST_BAD - 1, 0), (FIRST_BAD - 1, FIRST_BAD, 3)], ids=["equal", "more"])


@SIDES
@pytest.mark.parametrize("step, file, measured", [
	("compare allocations", "cost-1.md", "allocs"),
	pytest.param("compare system calls", "cost-2.md", "syscalls", marks=needs_bpf),
])
def test_github(machine, base, head, status, step, file, measured):
	"""A later step shows what each of them found, also where an earlier one failed."""
	commands = steps(RECIPES / "github-actions.yml")["cost"]
	variables = check_out(machine, base, head)
	assert machine(commands["build both versions"][0], **variables).returncode == 0
	result = machine(commands[step][0], **variables)
	assert result.returncode == status, result.stderr
	changes = (machine.folder / file).read_text()
	assert changes.startswith("### cpprof: no change above" if status == 0 else "### cpprof: ")
	assert ("`main;parse`" in changes, f", {measured}:" in changes) == (status == 3, status == 3), changes
	shown, condition = commands["show the changes"]
	assert condition == "${{ !cancelled() }}" and machine(shown, **variables).returncode == 0
	assert machine.summary.read_text() == changes


@SIDES
def test_gitlab(machine, base, head, status):
	variables = check_out(machine, base, head)
	*prepare, compare = [commands for commands, _ in steps(RECIPES / "gitlab-ci.yml")["cost-counts"].values()]
	for commands in prepare:
		result = machine(commands, **variables)
		assert result.returncode == 0, result.stderr
	assert machine(compare, **variables).returncode == status
	assert ("`main;parse`" in (machine.folder / "cost.md").read_text()) == (status == 3)


def test_times_are_compared_in_turns():
	"""Times differ from run to run: each recipe records both sides in turns, several times, and compares shares."""
	for name, job in (("github-actions.yml", "cost"), ("gitlab-ci.yml", "cost-times")):
		(record,) = re.findall(r"^cpprof record .*times\.data.*$", "\n".join(text for text, _ in steps(RECIPES / name)[job].values()).replace("\\\n", ""), re.MULTILINE)
		assert "--repeat 10" in record and "--against" in record


def test_bisect_finds_the_commit(machine):
	git(machine.folder, "checkout", "-q", str(COMMITS))
	result = machine(steps(RECIPES / "github-actions.yml")["bisect"]["find the commit"][0], GOOD="1", BAD=str(COMMITS))
	assert result.returncode == 0, result.stdout + result.stderr
	assert machine.summary.read_text().startswith(f"{git(machine.folder, 'rev-parse', str(FIRST_BAD))} is the first bad commit\n")


@pytest.mark.needs("yaml")
def test_recipes_are_yaml():
	"""The steps that these tests read are what a reader of YAML finds."""
	yaml = importlib.import_module("yaml")
	document = yaml.safe_load((RECIPES / "github-actions.yml").read_text())
	for job, found in steps(RECIPES / "github-actions.yml").items():
		parsed = {step["name"]: (step["run"], step.get("if")) for step in document["jobs"][job]["steps"] if "run" in step}
		assert {name: (re.sub(r"^\s+", "", text, flags=re.MULTILINE).strip(), condition) for name, (text, condition) in parsed.items()} == \
			{name: (re.sub(r" # .*", "", text).strip(), condition) for name, (text, condition) in found.items()}
	document = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())
	for job, found in steps(RECIPES / "gitlab-ci.yml").items():
		assert [re.sub(r"^\s+", "", text, flags=re.MULTILINE).strip() for text in document[job]["script"]] == [text.strip() for text, _ in found.values()]
