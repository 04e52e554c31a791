"""
The part `contextualize`: the first ranked call paths of real programs, each with functions of its own, beside the unchanged program. Both are
built with `gcc -O2`, and run the recorded workload in turns; figures are medians of the ratio in the same round, with quartiles. The copies
are as the patch makes them: what they save, the compiler saves. A path is left out if its copies are refused.
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from optimize import ratios, shown
from peers import CPPROF, words
from turns import BARE, in_turns

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests/cases"))
from contextualize_support import PROGRAMS_OF_OTHERS, Project # noqa: E402

FOLDER = HERE / "work/contextualize"
RANKED, COPIED = 8, 2


def contextualized(project, path):
	"""Applies the patch for a path. Returns whether there is one."""
	sources = [word for name in project.names for word in ("--source", name)]
	command = [CPPROF, "contextualize", "--edit", *sources, path, "--", "gcc", *project.flags]
	result = subprocess.run(words(command), cwd=project.folder, capture_output=True, text=True, check=False)
	if result.returncode:
		return False
	subprocess.run(["patch", "-p1", "-s", "-N", "-r", "-"], input=result.stdout, text=True, cwd=project.folder, check=True)
	return True


def ranked(project):
	"""Returns the ranked call paths of the program, which is built."""
	subprocess.run(words([CPPROF, "record", "-o", "ranked.data", "--", *project.command(project.program.workloads[0])]), cwd=project.folder, check=True, capture_output=True)
	result = subprocess.run(words([CPPROF, "contextualize", "--format", "json", "--limit", RANKED, "ranked.data"]), cwd=project.folder, capture_output=True, text=True, check=True)
	return [";".join(entry["path"]) for entry in json.loads(result.stdout)["candidates"]]


def bench_program(table, name, rounds):
	project = Project(name, FOLDER / name)
	project.build("-O2")
	shutil.copy(project.folder / "program", project.folder / BARE)
	outputs = project.outputs()
	ways, refused, paths = {BARE: BARE}, 0, ranked(project)
	for path in paths:
		if len(ways) > COPIED:
			break
		if not contextualized(project, path):
			refused += 1
			continue
		project.build("-O2")
		if project.outputs() != outputs:
			sys.exit(f"bench/run: {name} has another output with copies for {path}")
		ways[path] = f"copies{len(ways)}"
		shutil.copy(project.folder / "program", project.folder / ways[path])
		project.restore()
	workload = project.program.workloads[0]
	commands = {way: ["sh", "-c", f"cd {project.folder} && " + workload.replace("{program}", f"./{program}")] for way, program in ways.items()}
	runs = in_turns(commands, rounds)
	for path in list(ways)[1:]:
		table.add("times as fast with copies", f"{name}: {path}", shown(ratios(runs, path)))
	table.add("paths: copied, refused, not tried", name, f"{len(ways) - 1}, {refused}, {len(paths) - refused - len(ways) + 1}")


def bench_contextualize(table, rounds, only=("",)):
	shutil.rmtree(FOLDER, ignore_errors=True)
	FOLDER.mkdir(parents=True)
	for name, program in PROGRAMS_OF_OTHERS.items():
		if any(name.startswith(start) for start in only) and program.fetch():
			bench_program(table, name, rounds)
