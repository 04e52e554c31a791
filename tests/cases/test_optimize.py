"""LLVM's sample profiles, and builds with them (`cpprof optimize`)."""
import hashlib
import re
import shutil
import subprocess
import sys

import pytest
from record_support import PROGRAMS, REPOSITORY, build, record_well, run_cpprof

sys.path[:0] = [str(REPOSITORY / "tests/decoder"), str(REPOSITORY / "tests/naive")]
import decode  # noqa: E402
import source_counts  # noqa: E402

FORMS = {"llvm-profile": "file", "llvm-profile-contexts": "all", "llvm-profile-flat": "inlined"}
LOOP = "-fdebug-info-for-profiling"


def position(text):
	offset, _, discriminator = text.partition(".")
	return int(offset), int(discriminator or 0)


def parsed(text):
	"""Reads either form, as tests/naive/source_counts.py writes it; nested contexts have no head."""
	found, stack = {}, []
	for line in text.splitlines():
		depth = len(line) - len(line.lstrip(" "))
		words = line.split()
		if line.startswith("#"):
			continue
		if line.startswith("["):
			path, _, numbers = line[1:].partition("]:")
			steps = [step.rsplit(":", 1) for step in path.split(" @ ")]
			stack = [tuple(part for step in steps[:-1] for part in (step[0], position(step[1]))) + (steps[-1][0],)]
			found[stack[0]] = [int(numbers.split(":")[1]), {}]
		elif depth == 0:
			name, _, head = line.rsplit(":", 2)
			stack = [(name,)]
			found[stack[0]] = [int(head), {}]
		elif not words[1].isdigit():
			stack[depth:] = [(*stack[depth - 1], position(words[0][:-1]), words[1].rsplit(":", 1)[0])]
			found[stack[depth]] = [None, {}]
		else:
			calls = {name: int(count) for name, count in (word.rsplit(":", 1) for word in words[2:])}
			found[stack[depth - 1]][1][position(words[0][:-1])] = [int(words[1]), calls]
	return found


def exported(path, form):
	result = run_cpprof("export", "--format", form, "-o", "-", path)
	assert result.returncode == 0, result.stderr
	return result.stdout


def agree(path, least):
	"""Compares each form with the naive version. Returns the contexts of the last form."""
	profile = decode.Profile(path.read_bytes())
	for form, nesting in FORMS.items():
		text = exported(path, form)
		found, expected = parsed(text), source_counts.counts(profile, nesting)
		if nesting == "all":
			expected = {context: row for context, row in expected.items() if row[1]}
		assert {context: row[1] for context, row in found.items()} == {context: row[1] for context, row in expected.items()}
		heads = {context: row[0] for context, row in found.items() if row[0] is not None}
		assert heads == {context: expected[context][0] for context in heads}
		assert len(found) >= least
	return found


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("source", "arguments", "least"), [("generic.c", ["1500"], 5), ("recursion.c", ["once", "20"], 1)])
def test_counts_agree_with_the_definition(tmp_path, compiler, source, arguments, least):
	program = build(source, LOOP if compiler == "clang" else "-g", compiler=compiler)
	agree(record_well(tmp_path, [program, *arguments]).path, least)


def test_discriminators_distinguish_calls_in_one_line(tmp_path):
	"""main of generic.c calls four functions in one line, which clang gives four discriminators."""
	recorded = record_well(tmp_path, [build("generic.c", LOOP, compiler="clang"), "1500"])
	main = parsed(exported(recorded.path, "llvm-profile"))[("main",)]
	calls = {at: set(row[1]) for at, row in main[1].items() if row[1]}
	assert sorted(map(sorted, calls.values())) == [["bits"], ["digest"], ["largest"], ["sum"]]
	assert len({offset for offset, _ in calls}) == 1


@pytest.mark.parametrize("version", ["14", "19"])
@pytest.mark.parametrize("form", FORMS)
def test_llvm_reads_it_without_a_warning(tmp_path, version, form):
	"""llvm-profdata shows the same total, and merges two profiles into one with the sums. clang uses it."""
	recorded = record_well(tmp_path, [build("generic.c", LOOP, compiler="clang"), "1500"])
	text = exported(recorded.path, form)
	(tmp_path / "a.prof").write_text(text)
	for words in (["show", "--sample", "a.prof"], ["merge", "--sample", "--text", "a.prof", "a.prof", "-o", "two.prof"]):
		result = subprocess.run([f"llvm-profdata-{version}", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
		assert (result.returncode, result.stderr) == (0, "")
	assert {context: {at: row[0] for at, row in lines[1].items()} for context, lines in parsed((tmp_path / "two.prof").read_text()).items()} == {
		context: {at: 2 * row[0] for at, row in lines[1].items()} for context, lines in parsed(text).items()}
	compiled = subprocess.run([f"clang-{version}", "-O2", "-Wall", "-Werror", "-g", LOOP, "-fprofile-sample-use=a.prof", "-c", "-o", "a.o",
		PROGRAMS / "generic.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
	assert (compiled.returncode, compiled.stderr) == (0, "")


def test_profile_without_lines_is_refused(tmp_path):
	recorded = record_well(tmp_path, [build("generic.c", "-g0", compiler="clang"), "1500"])
	result = run_cpprof("export", "--format", "llvm-profile", "-o", tmp_path / "x", recorded.path)
	assert result.returncode == 1
	assert "no hits in code with line numbers (build with -g -fdebug-info-for-profiling" in result.stderr
	assert not (tmp_path / "x").exists()


# --- cpprof optimize ---

MAKEFILE = "CC = gcc\nCFLAGS = -O2\ngeneric: generic.c\n\t$(CC) $(CFLAGS) -o $@ generic.c\n"


def project(tmp_path, makefile=MAKEFILE):
	folder = tmp_path / "project"
	folder.mkdir()
	(folder / "Makefile").write_text(makefile)
	shutil.copy(PROGRAMS / "generic.c", folder)
	return folder


def optimize(folder, *words, run="./generic 3000", build_command=("make",)):
	return run_cpprof("optimize", "--run", run, *words, "--", *build_command, cwd=folder)


def digest_of(folder):
	return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


@pytest.mark.measured("compares CPU times of two builds")
@pytest.mark.parametrize("compiler", ["clang-14", "clang-19"])
def test_generic_functions_become_faster(tmp_path, compiler):
	"""Each caller gets its own copy of the generic functions. The sources stay as they are, and the printed flags work."""
	shutil.rmtree(tmp_path / "project", ignore_errors=True)
	folder = project(tmp_path)
	before = digest_of(folder)
	result = optimize(folder, "--compiler", compiler, "--turns", "4")
	assert result.returncode == 0, result.stderr
	assert digest_of(folder) == before
	low = float(re.search(r"times as fast, ([\d.]+) to", result.stdout)[1])
	assert low > 3.5, result.stdout
	assert "main > digest > each > fold" in result.stdout
	flags = re.search(r"^Flags +(.*)$", result.stdout, re.MULTILINE)[1].split()
	subprocess.run([*flags, "-O2", "generic.c", "-o", tmp_path / "own"], cwd=folder, check=True)


@pytest.mark.parametrize(("words", "settings", "message"), [
	([], {"run": ""}, "missing the workload to optimize for"),
	(["--turns", "1"], {}, "'1' is not a number of runs"),
	(["--compiler", "gcc"], {}, "only clang reads these profiles"),
	(["--compiler", "clang-1"], {}, "cannot run 'clang-1'"),
	(["-d", "."], {}, "cannot make the folder '.'"),
	([], {"build_command": ["true"]}, "the build compiled nothing with the compiler that cpprof put in front of PATH"),
	([], {"build_command": ["false"]}, "the build 'before' failed"),
	([], {"build_command": ["make", "CC=/usr/bin/gcc"]}, "the build compiled nothing"),
	([], {"run": "exit 3"}, "the workload 'exit 3' failed"),
	([], {"run": "./generic 60"}, "and 1000 are needed (a workload that takes"),
	([], {"run": "exec perl -e 'for (1 .. 3e7) { $x += $_ }'"}, "the workload does not run what was built"),
])
def test_refusals(tmp_path, words, settings, message):
	result = optimize(project(tmp_path), *words, **settings)
	assert result.returncode in (1, 2), result.stdout
	assert message in result.stderr
	assert result.stdout == ""


def test_own_folder_is_refused_with_a_remedy(tmp_path):
	folder = project(tmp_path)
	(folder / "cpprof.optimize").mkdir()
	assert "(remove it, or name another: --directory DIR)" in optimize(folder).stderr
