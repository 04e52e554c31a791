"""Helpers for the tests of the command line: they run cpprof, check a failure, and make the profiles that the tests read."""
import os
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tests/golden"
INPUTS = GOLDEN / "inputs"
BUILD = Path(os.environ.get("CPPROF_BUILD", REPOSITORY / "build")).resolve()
CPPROF = str(BUILD / "src/cmd/cpprof")
MAKE_PROFILE = str(BUILD / "tests/unit/make_profile")
SECONDS_ALLOWED = 60
COMMANDS = ("record", "agent", "trace", "report", "explore", "info", "whatif", "diff", "import", "export", "help", "completion")


def run(*words, directory=None, stdin=subprocess.DEVNULL, text=True, **environment):
	return subprocess.run([CPPROF, *map(str, words)], cwd=directory, stdin=stdin, capture_output=True, text=text,
		timeout=SECONDS_ALLOWED, env={**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8", **environment})


def done(*words, **options):
	result = run(*words, **options)
	assert result.returncode == 0, result.stderr
	return result.stdout


def check_failure(result, *parts):
	assert result.returncode == 1, result.stderr
	assert result.stdout == ""
	for part in parts:
		assert part in result.stderr, result.stderr
	assert result.stderr.startswith("cpprof ")


def make_input(text):
	file = tempfile.TemporaryFile("w+")
	file.write(text)
	file.seek(0)
	return file


def make_profiles(directory):
	"""Fills a directory with the profiles of the tests: one for each folded file of INPUTS and one for each kind of MAKE_PROFILE, as
	NAME.data."""
	for source in sorted(INPUTS.glob("*.folded")):
		done("import", "--format", "folded", "-o", directory / f"{source.stem}.data", source)
	for kind in ("whole", "killed", "lossy", "empty", "programs", "program", "server", "labels"):
		subprocess.run([MAKE_PROFILE, kind, directory / f"{kind}.data"], check=True)
	# The made profiles name this source file. cpprof looks for it below the current directory.
	(directory / "inputs").mkdir()
	(directory / "inputs/demo.cpp").write_text((INPUTS / "demo.cpp").read_text())
