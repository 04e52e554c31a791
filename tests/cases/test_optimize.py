"""LLVM's sample profiles, and builds with them (`cpprof optimize`)."""
import collections
import hashlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys

import pytest
from record_support import BUILD, CPPROF, PROGRAMS, REPOSITORY, build, record_well, run_cpprof

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


def exported(path, form, *options):
	result = run_cpprof("export", "--format", form, *options, "-o", "-", path)
	assert result.returncode == 0, result.stderr
	return result.stdout


def agree(path, least, *options, resource=0, chosen=lambda hit: True):
	"""Compares each form with the naive version. Returns the contexts of the last form."""
	profile = decode.Profile(path.read_bytes())
	for form, nesting in FORMS.items():
		text = exported(path, form, *options)
		found, expected = parsed(text), source_counts.counts(profile, nesting, resource, chosen)
		if nesting == "all":
			expected = {context: row for context, row in expected.items() if row[1]}
		assert {context: row[1] for context, row in found.items()} == {context: row[1] for context, row in expected.items()}
		heads = {context: row[0] for context, row in found.items() if row[0] is not None}
		assert heads == {context: expected[context][0] for context in heads}
		assert len(found) >= least
	return found


@pytest.mark.long("samples CPU time for seconds")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("source", "arguments", "least"), [("generic.c", ["1500"], 5), ("recursion.c", ["once", "20"], 1)])
def test_counts_agree_with_the_definition(tmp_path, compiler, source, arguments, least):
	program = build(source, LOOP if compiler == "clang" else "-g", compiler=compiler)
	agree(record_well(tmp_path, [program, *arguments]).path, least)


def counted(folder, source, compiler, *arguments):
	"""Counts the calls of a program with hooks. Returns the profile's path."""
	program = build(source, LOOP if compiler == "clang" else "-g", "-finstrument-functions", compiler=compiler)
	result = run_cpprof("record", "--instrumented=counts", "-o", folder / "calls.data", "--", program, *arguments)
	assert result.returncode == 0, result.stderr
	return folder / "calls.data"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("source", "arguments", "least"), [("generic.c", ["20"], 5), ("recursion.c", ["once", "20"], 2)])
def test_counted_calls_are_heads(tmp_path, compiler, source, arguments, least):
	agree(counted(tmp_path, source, compiler, *arguments), least, "-r", "calls")


@pytest.mark.needs("llvm-profdata-19")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_counted_calls_are_the_programs_own(tmp_path, compiler):
	"""The counts of generic.c: 20 turns of 64 sweeps, with 16 rows of 16 columns each. LLVM reads them."""
	path = counted(tmp_path, "generic.c", compiler, "20")
	text = exported(path, "llvm-profile-contexts", "-r", "calls")
	heads = {context[0::2]: row[0] for context, row in parsed(text).items()}
	for caller, op in ("sum", "op_add"), ("digest", "op_xor"), ("largest", "op_max"), ("bits", "op_or"):
		path = ("main", caller, "each", "fold", op)
		assert [heads[path[:depth]] for depth in range(2, 6)] == [1280, 1280, 1280 * 16, 1280 * 16 * 16]
	(tmp_path / "a.prof").write_text(text)
	shown = subprocess.run(["llvm-profdata-19", "show", "--sample", "a.prof"], cwd=tmp_path, capture_output=True, text=True, check=False)
	assert (shown.returncode, shown.stderr) == (0, "")


def test_recursive_calls_count_each(tmp_path):
	"""bottom() of recursion.c is reached after 20 calls of descend()."""
	text = exported(counted(tmp_path, "recursion.c", "gcc", "once", "20"), "llvm-profile-flat", "-r", "calls")
	heads = {context[-1]: row[0] for context, row in parsed(text).items() if len(context) == 1}
	assert (heads["descend"], heads["bottom"]) == (20, 1)


@pytest.mark.long("samples CPU time for seconds")
def test_discriminators_distinguish_calls_in_one_line(tmp_path):
	"""main of generic.c calls four functions in one line, which clang gives four discriminators."""
	recorded = record_well(tmp_path, [build("generic.c", LOOP, compiler="clang"), "1500"])
	main = parsed(exported(recorded.path, "llvm-profile"))[("main",)]
	own = {"bits", "digest", "largest", "sum"} # a sample may also be in atoi or printf
	calls = {at: own & set(row[1]) for at, row in main[1].items() if own & set(row[1])}
	assert sorted(map(sorted, calls.values())) == [["bits"], ["digest"], ["largest"], ["sum"]]
	assert len({offset for offset, _ in calls}) == 1


@pytest.mark.needs("llvm-profdata-14", "llvm-profdata-19", "clang-19")
@pytest.mark.long("samples CPU time for seconds")
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


@pytest.mark.long("samples CPU time for seconds")
def test_selection(tmp_path):
	"""The counts are of the selected thread, label or time; gcc's format has the same."""
	runtime = BUILD / "src/collect/agent"
	program = build("tenants.cpp", f"-I{REPOSITORY}/include", f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-Wl,--no-as-needed", "-lcpprof", name="chosen")
	path = record_well(tmp_path, [program, "60"], "--backend", "preload", "-r", "cpu").path
	profile = decode.Profile(path.read_bytes())
	tids = {index: thread["tid"] for index, thread in enumerate(profile.threads)}
	label = lambda hit: profile.labels_of_hit(hit).get(b"tenant")
	since = lambda hit: hit["time"] * 1000 - profile.totals[-1]["start_ns"] if hit["time"] else -1
	middle = statistics.median_low(since(hit) for hit in profile.hits if label(hit) == b"initech") // 1_000_000 # in ms
	busy = collections.Counter(tids[hit["thread"]] for hit in profile.hits if label(hit) == b"initech").most_common(1)[0][0]
	for words, chosen in (
			(["--label", "tenant=acme"], lambda hit: label(hit) == b"acme"),
			(["--thread", str(busy)], lambda hit: tids.get(hit["thread"]) == busy),
			(["--from", f"{middle / 1000}"], lambda hit: since(hit) >= middle * 1e6),
			(["--to", f"{middle / 1000}", "--label", "tenant=initech"], lambda hit: 0 <= since(hit) < middle * 1e6 and label(hit) == b"initech")):
		agree(path, 1, *words, chosen=chosen)
		output = tmp_path / "x.afdo"
		assert run_cpprof("export", "--format", "gcc-profile", *words, "-o", output, path).returncode == 0
		assert Words(output.read_bytes(), False).read() == without_discriminators(exported(path, "llvm-profile", *words))
	result = run_cpprof("export", "--format", "llvm-profile", "--from", "1000", "-o", tmp_path / "none", path)
	assert result.returncode == 1 and "cannot export: no hits in this selection" in result.stderr and not (tmp_path / "none").exists()


@pytest.mark.long("samples CPU time for seconds")
@pytest.mark.parametrize(("form", "remedy"), [("llvm-profile", "(build with -g -fdebug-info-for-profiling"), ("gcc-profile", "(build with -g,")])
def test_profile_without_lines_is_refused(tmp_path, form, remedy):
	recorded = record_well(tmp_path, [build("generic.c", "-g0", compiler="clang"), "1500"])
	result = run_cpprof("export", "--format", form, "-o", tmp_path / "x", recorded.path)
	assert result.returncode == 1
	assert f"no hits in code with line numbers and linkage names {remedy}" in result.stderr
	assert not (tmp_path / "x").exists()


# --- gcc's format ---

class Words:
	"""Reads gcc's file by its description in src/formats/gcc_profile.c."""

	def __init__(self, data, padded):
		self.data, self.at, self.padded = data, 0, padded

	def word(self):
		self.at += 4
		return int.from_bytes(self.data[self.at - 4:self.at], "little")

	def counter(self):
		return self.word() | self.word() << 32

	def name(self):
		length = self.word() * (4 if self.padded else 1)
		self.at += length
		text, _, rest = self.data[self.at - length:self.at].partition(b"\0")
		assert not rest.strip(b"\0")
		return text.decode()

	def context(self, names, path, found):
		path = (*path, names[self.word()])
		positions, calls = self.word(), self.word()
		rows = found[path] = {}
		for _ in range(positions):
			offset, targets, count = self.word() >> 16, self.word(), self.counter()
			rows[offset] = (count, {})
			for _ in range(targets):
				assert self.word() == 7
				name = names[self.counter()]
				assert name not in rows[offset][1]
				rows[offset][1][name] = self.counter()
		for _ in range(calls):
			offset = self.word() >> 16
			self.context(names, (*path, offset), found)

	def read(self):
		found, heads = {}, {}
		assert [self.word() for _ in range(3)] == [0x67636461, 2, 0]
		assert (self.word(), self.word() > 0) == (0xaa000000, True)
		names = [self.name() for _ in range(self.word())]
		assert (self.word(), self.word() > 0) == (0xac000000, True)
		for _ in range(self.word()):
			head = self.counter()
			before = set(found)
			self.context(names, (), found)
			heads[min(set(found) - before, key=len)] = head
		assert (self.word(), self.word(), self.word()) == (0xae000000, 1, 0)
		return found, heads


def without_discriminators(text):
	"""LLVM's nested profile as gcc's has it: {(name, offset, name): {offset: (count, {callee: count})}}, and the heads."""
	found, heads = {}, {}
	for context, (head, rows) in parsed(text).items():
		path = tuple(step[0] if isinstance(step, tuple) else step for step in context)
		if head is not None:
			heads[path] = head
		merged = {}
		for (offset, _), (_, calls) in rows.items():
			targets = merged.setdefault(offset, {})
			for name, count in calls.items():
				targets[name] = targets.get(name, 0) + count
		found[path] = {offset: (max(max(row[0] for (at, _), row in rows.items() if at == offset), sum(calls.values())), calls)
			for offset, calls in merged.items()}
	return found, heads


@pytest.mark.long("samples CPU time for seconds")
@pytest.mark.parametrize("form", ["gcc-profile", "gcc-profile-11"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_gcc_profile_has_the_counts_of_the_other(tmp_path, compiler, form):
	recorded = record_well(tmp_path, [build("generic.c", LOOP if compiler == "clang" else "-g", compiler=compiler), "1500"])
	path = tmp_path / "x.afdo"
	assert run_cpprof("export", "--format", form, "-o", path, recorded.path).returncode == 0
	found, heads = Words(path.read_bytes(), form.endswith("11")).read()
	assert len(found) >= 5
	assert (found, heads) == without_discriminators(exported(recorded.path, "llvm-profile"))


@pytest.mark.long("samples CPU time for seconds")
@pytest.mark.needs("dump_gcov")
def test_dump_gcov_reads_the_older_form(tmp_path):
	recorded = record_well(tmp_path, [build("generic.c"), "1500"])
	path = tmp_path / "x.afdo"
	assert run_cpprof("export", "--format", "gcc-profile-11", "-o", path, recorded.path).returncode == 0
	result = subprocess.run(["dump_gcov", "--gcov_version=2", path], capture_output=True, text=True, check=False)
	assert result.returncode == 0, result.stderr
	found, heads = Words(path.read_bytes(), padded=True).read()
	shown = dict(re.findall(r"^(\S+) total:\d+ head:(\d+)$", result.stdout, re.MULTILINE))
	assert {(name,): int(head) for name, head in shown.items()} == {path: head for path, head in heads.items() if found[path]}
	assert sum(map(len, found.values())) == len(re.findall(r"^ *\d+: \d+", result.stdout, re.MULTILINE))


@pytest.mark.long("samples CPU time for seconds")
def test_gcc_finds_the_functions_in_its_profile(tmp_path):
	"""gcc warns of each function that the profile lacks: of the function that never ran, and of no other."""
	recorded = record_well(tmp_path, [build("generic.c"), "1500"])
	assert run_cpprof("export", "--format", "gcc-profile", "-o", tmp_path / "x.afdo", recorded.path).returncode == 0
	result = subprocess.run(["gcc", "-O2", "-g", f"-fauto-profile={tmp_path / 'x.afdo'}", "-Wmissing-profile", "-c", "-o", "/dev/null",
		PROGRAMS / "generic.c"], capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
	assert result.returncode == 0, result.stderr
	assert set(re.findall(r"profile for function '(\w+)' not found", result.stderr)) <= {"refuse"}, result.stderr
	assert "error" not in result.stderr


@pytest.mark.long("builds and runs a program with its profile")
def test_optimize_with_gcc(tmp_path):
	"""gcc gains little by the profile here, also by its own instrumented one: only the loop is checked."""
	folder = project(tmp_path)
	result = optimize(folder, "--compiler", "gcc", "--turns", "2")
	assert result.returncode == 0, result.stderr
	made = folder / "cpprof.optimize"
	kept = re.search(r"^Kept +(\S+)", result.stdout, re.MULTILINE)[1]
	assert kept == (made / "best").readlink().name and (made / "best/generic").exists()
	table = result.stdout.partition("\nBuilds")[2].partition("\n\n")[0] # behind it may be another one, of what a kept profile changed
	assert re.findall(r"^ .*  (own|before|gcc-profile)\b", table, re.MULTILINE) == ["own", "before", "gcc-profile"]
	assert "-fauto-profile" not in (made / "before.compiled").read_text()
	assert not (made / "own.compiled").exists()
	flags = ["gcc", "-g", f"-fauto-profile={made / 'gcc-profile.profile'}"]
	assert kept != "gcc-profile" or re.search(r"^Flags +(.*)$", result.stdout, re.MULTILINE)[1].split() == flags
	subprocess.run([*flags, "-O2", "generic.c", "-o", tmp_path / "own"], cwd=folder, check=True)


SLOW_WITH_A_PROFILE = "#!/bin/sh\nturns=1\n[ -z \"$CPPROF_OPTIMIZE_PROFILE\" ] || turns=$SLOWER\n" \
	"$CC -O2 -DTURNS=$turns -o generic generic.c\n"


@pytest.mark.measured("compares CPU times of builds")
@pytest.mark.parametrize(("slower", "kept"), [(30, "own"), (1, None)])
def test_no_build_is_kept_that_loses(tmp_path, slower, kept):
	"""A build with a profile that takes many times as long is not kept, and the others are compared with the user's own."""
	shutil.rmtree(tmp_path / "project", ignore_errors=True)
	folder = project(tmp_path)
	source = (folder / "generic.c").read_text()
	assert source.count("atoi(argv[1])") == 1
	(folder / "generic.c").write_text(source.replace("atoi(argv[1])", "TURNS * atoi(argv[1])"))
	(folder / "build.sh").write_text(SLOW_WITH_A_PROFILE.replace("$SLOWER", str(slower)))
	result = optimize(folder, "--turns", "4", run="./generic 2000", build_command=("env", "CC=clang", "sh", "./build.sh"))
	assert result.returncode == 0, result.stderr
	found = re.search(r"^Kept +(\S+)", result.stdout, re.MULTILINE)[1]
	assert not (kept and found.startswith("llvm")), result.stdout
	assert ("Gain       none beyond the error: your own build is kept" in result.stdout) == (found == "own")
	assert ("Flags" in result.stdout) == found.startswith("llvm")


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


@pytest.mark.needs("clang-19")
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
	low = float(re.search(r"times as fast as [^,]*, ([\d.]+) to", result.stdout)[1])
	assert low > 2, result.stdout # bench/run optimize measures it: 3.6 to 4.1
	assert "main > digest > each > fold" in result.stdout
	flags = re.search(r"^Flags +(.*)$", result.stdout, re.MULTILINE)[1].split()
	subprocess.run([*flags, "-O2", "generic.c", "-o", tmp_path / "own"], cwd=folder, check=True)


@pytest.mark.parametrize(("words", "settings", "message"), [
	([], {"run": ""}, "missing the workload to optimize for"),
	(["--turns", "1"], {}, "'1' is not a number of runs"),
	(["--compiler", "tcc"], {}, "only clang and gcc read these profiles"),
	(["--compiler", "clang-1"], {}, "cannot run 'clang-1'"),
	(["-d", "."], {}, "cannot make the folder '.'"),
	([], {"build_command": ["true"]}, "the build compiled nothing with the compiler that cpprof put in front of PATH"),
	([], {"build_command": ["false"]}, "the build 'before' failed"),
	([], {"build_command": ["make", "CC=/usr/bin/gcc"]}, "the build compiled nothing"),
	([], {"run": "exit 3"}, "the workload 'exit 3' failed"),
	([], {"run": "./generic 15"}, "and 1000 are needed (a workload that takes|or is too short"),
	([], {"run": "exec perl -e 'for (1 .. 1e6) { $x = sprintf(q(%.40f), $_) }'"}, "the workload does not run what was built"),
])
def test_refusals(tmp_path, words, settings, message):
	folder = project(tmp_path)
	result = optimize(folder, *words, **settings)
	assert result.returncode in (1, 2), result.stdout
	assert sorted(path.name for path in folder.iterdir()) == ["Makefile", "generic.c"]
	assert any(part in result.stderr for part in message.split("|")), result.stderr # how many samples a short workload has is chance
	assert result.stdout == ""


def test_own_folder_is_refused_with_a_remedy(tmp_path):
	folder = project(tmp_path)
	(folder / "cpprof.optimize").mkdir()
	assert "(remove it, or name another: --directory DIR)" in optimize(folder).stderr
	assert (folder / "cpprof.optimize").exists()


def test_interrupt_removes_the_folder(tmp_path):
	folder = project(tmp_path)
	os.mkfifo(tmp_path / "ready")
	command = [CPPROF, "optimize", "--compiler", "gcc", "--run", "true", "--", "sh", "-c", "echo >../../../ready; exec sleep 600"]
	with subprocess.Popen(command, cwd=folder, start_new_session=True) as process:
		assert (tmp_path / "ready").read_bytes() == b"\n" # the build runs
		assert (folder / "cpprof.optimize").exists()
		os.killpg(process.pid, signal.SIGINT)
		assert process.wait(60) == -signal.SIGINT
	assert sorted(path.name for path in folder.iterdir()) == ["Makefile", "generic.c"]


def test_results_of_other_runs_are_not_copied(tmp_path):
	folder = project(tmp_path)
	(folder / "old").mkdir()
	(folder / "old/before.compiled").touch()
	result = optimize(folder, "--compiler", "gcc", build_command=("sh", "-c", "echo *; exit 1"))
	assert "\nMakefile generic.c\n" in "\n" + result.stderr


# A build with the profile, and no other one, leaves the file `other`.
OTHER_WITH_A_PROFILE = "#!/bin/sh\ngcc -O2 -o generic generic.c || exit\n[ -z \"$CPPROF_OPTIMIZE_PROFILE\" ] || touch other\n"
OTHER_OUTPUTS = {
	"text": ("; [ ! -e other ] || echo other", "Output     the same in 2 of 3 builds", "not kept: its output is not that of own"),
	"status": ("; [ ! -e other ] || exit 3", "Output     the same in 2 of 3 builds", "not kept: its output is not that of own"),
	"endless": ("; while [ -e other ]; do :; done", "Output     the same in 2 of 3 builds", "not kept: it takes more than 10 times as long as own"),
	"random": ("; echo $$", "Output     not compared: that of the build 'own' differs from run to run", None),
	"random status": ("; echo $$; [ ! -e other ] || exit 3", "Output     not compared: that of the build 'own' differs from run to run",
		"not kept: its output is not that of own"),
}


@pytest.mark.long("builds and runs a program several times")
@pytest.mark.parametrize("case", OTHER_OUTPUTS)
def test_build_with_another_output_is_not_kept(tmp_path, case):
	more, line, reason = OTHER_OUTPUTS[case]
	folder = project(tmp_path)
	(folder / "build.sh").write_text(OTHER_WITH_A_PROFILE)
	result = optimize(folder, "--compiler", "gcc", "--turns", "2", run="./generic 700" + more, build_command=("sh", "./build.sh"))
	assert result.returncode == 0, result.stderr
	assert line in result.stdout.splitlines()
	assert re.findall(r"^ +-  - +gcc-profile: (.*)$", result.stdout, re.MULTILINE) == ([reason] if reason else [])
	assert reason is None or not re.search(r"^Kept +gcc-profile", result.stdout, re.MULTILINE)
