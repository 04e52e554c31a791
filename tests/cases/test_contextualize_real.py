"""Call paths of other projects' programs with functions of their own (`cpprof contextualize`)."""
import json
import subprocess

import pytest
from contextualize_support import PROGRAMS_OF_OTHERS, Project
from record_support import record_well, run_cpprof

PATHS = 6 # of each program: a path costs two runs of the parser, and one of the compiler
# {program: how many of its first paths are copied at least}; the others are refused.
LEAST = {"lua": 2, "sqlite3": 1, "zstd": 2, "halibut": 2}


@pytest.mark.long("builds a program for each of its call paths")
@pytest.mark.parametrize("name", PROGRAMS_OF_OTHERS)
def test_ranked_paths(tmp_path, name):
	"""Each ranked path is refused with a reason, which leaves the sources as they are, or copied without another output."""
	program = PROGRAMS_OF_OTHERS[name]
	if not program.fetch():
		pytest.skip(f"the source package of {program.package} cannot be fetched")
	project = Project(name, tmp_path / "project")
	project.build(program.level)
	before = project.outputs()
	assert all(status == 0 for status, _ in before), before
	recorded = record_well(tmp_path, project.command(program.workloads[0]), cwd=project.folder)
	entries = json.loads(run_cpprof("contextualize", "--format", "json", "--limit", "0", recorded.path).stdout)["candidates"]
	paths = [";".join(entry["path"]) for entry in entries][:PATHS]
	done = 0
	for path in paths:
		sources = [word for source in project.names for word in ("--source", source)]
		result = run_cpprof("contextualize", "--edit", *sources, recorded.path, path, "--", "gcc", *project.flags, cwd=project.folder)
		if result.returncode != 0:
			assert result.returncode == 1 and result.stdout == "", path
			assert result.stderr.startswith("cpprof contextualize: cannot contextualize: "), result.stderr
			print(path, result.stderr)
			continue
		subprocess.run(["patch", "-p1", "-s", "-N", "-r", "-"], input=result.stdout, text=True, cwd=project.folder, check=True)
		project.build(program.level)
		assert project.outputs() == before, path
		project.restore()
		done += 1
		print(path, "copied")
	assert done >= LEAST[name], f"{done} of {len(paths)}"
