"""Executions of lines, counted by hooks at basic blocks: they equal gcov's figures, wherever the blocks run."""
import os
import re
import shutil
import subprocess

import pytest
from hooks_support import CXX, SYMBOLS, compile_once
from json_support import valid_json
from record_support import BUILD, PROGRAMS, SECONDS_ALLOWED, run_cpprof

FOLDER = PROGRAMS / "blocks"
RUNTIME = BUILD / "src/collect/agent"
HOOKS = {
	"gcc": ["-fsanitize-coverage=trace-pc"],
	"clang": ["-fsanitize-coverage=trace-pc-guard,pc-table"],
	"clang-all-blocks": ["-fsanitize-coverage=trace-pc-guard,pc-table,no-prune"],
}
# Without this option clang links hooks of its own.
LINK = {"gcc": [], "clang": ["-fno-sanitize-link-runtime"]}


def driver(source, compiler):
	return CXX[compiler] if source.suffix == ".cpp" else compiler


def built(name, hooks, *flags, level="-O0", link=True):
	"""Builds a program of tests/programs/blocks with hooks at its basic blocks."""
	source, compiler = FOLDER / name, hooks.split("-")[0]
	library = next(path for path in RUNTIME.glob("libcpprof.so.*") if path.is_file() and not path.is_symlink())
	linked = [f"-Wl,-rpath,{RUNTIME}", "-Wl,--no-as-needed", f"-L{RUNTIME}", f"-l:{library.name}", *LINK[compiler]] if link else []
	command = [driver(source, compiler), level, SYMBOLS[compiler], "-w", "-D_GNU_SOURCE", "-pthread", *HOOKS[hooks], *flags]
	return compile_once([*command, *linked], [source], source.stem)


def counted(folder, program, *words, status=0):
	"""Records a program's blocks. Returns the profile's path and the program's output."""
	profile = folder / "blocks.data"
	result = run_cpprof("record", "--instrumented=blocks", "-o", profile, "--", program, *words, cwd=folder)
	assert result.returncode == status, result.stderr
	return profile, result.stdout


def entries(*words):
	result = run_cpprof("report", *words, "--format", "json", "--limit", "0", "--threshold", "0")
	assert result.returncode == 0, result.stderr
	return valid_json(result.stdout)["results"][0]["entries"]


def line_counts(profile, function):
	result = run_cpprof("report", "--source", function, "--counts", "--format", "json", profile)
	assert result.returncode == 0, result.stderr
	return {(os.path.basename(entry["file"]), entry["line"]): entry["count"] for entry in valid_json(result.stdout)["results"][0]["entries"]}


def all_counts(profile, source):
	"""{line: executions} of a source file, from all functions with hits and those named `never`."""
	names = {entry["path"][0] for entry in entries("--functions", "-r", "lines", profile)}
	counts = {}
	for name in names | ({"never"} if "never(" in source.read_text() else set()):
		for (file, line), count in line_counts(profile, name).items():
			if file == source.name:
				counts[line] = counts.get(line, 0) + count
	return counts


def gcov_counts(folder, source, compiler):
	"""{line: executions} by gcov, or by clang's gcov."""
	folder = folder / f"gcov-{compiler}"
	folder.mkdir()
	shutil.copy(source, folder)
	subprocess.run([driver(source, compiler), "-w", "--coverage", "-O0", "-D_GNU_SOURCE", source.name, "-o", "program"], cwd=folder, check=True)
	subprocess.run(["./program"], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS_ALLOWED)
	data = next(folder.glob("*.gcda")).name
	command = ["gcov", data] if compiler == "gcc" else ["llvm-cov-14", "gcov", data]
	subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS_ALLOWED)
	counts = {}
	for count, line in re.findall(r"^\s*([\d#=]+)\*?:\s*(\d+):", (folder / f"{source.name}.gcov").read_text(), re.MULTILINE):
		# For a template, gcov lists the sum of the instances first.
		counts.setdefault(int(line), 0 if count[0] in "#=" else int(count))
	return counts


def unlike(source, ours, gcovs, compiler="gcc"):
	"""The lines whose count is not the count of any of the gcovs: {line: (ours, theirs, text)}. Skips labels and lines that the
	source marks, for all compilers or one."""
	found = {}
	for number, text in enumerate(source.read_text().splitlines(), 1):
		expected = {counts[number] for counts in gcovs if number in counts}
		is_label = re.match(r"\s*(case .*|default|\w+):$", text)
		is_marked = "differs" in text and ("with clang" not in text or compiler == "clang")
		if expected and ours.get(number) not in expected and not is_marked and not is_label:
			found[number] = (ours.get(number), sorted(expected), text)
	return found


@pytest.mark.parametrize("name", ["shapes.c", "templates.cpp"])
def test_gcc_counts_lines_as_gcov_does(tmp_path, name):
	source = FOLDER / name
	profile, _ = counted(tmp_path, built(name, "gcc"))
	ours = all_counts(profile, source)
	expected = gcov_counts(tmp_path, source, "gcc")
	assert len(expected) > 40
	assert unlike(source, ours, [expected]) == {}
	# A line that gcov counts as executed must not have the count 0.
	assert [line for line, count in ours.items() if count == 0 and expected.get(line, 0) > 0] == []


@pytest.mark.needs("llvm-cov-14")
@pytest.mark.parametrize("hooks", ["clang", "clang-all-blocks"])
def test_clang_counts_lines_as_one_of_the_gcovs_does(tmp_path, hooks):
	"""The two gcovs differ in the part of a statement that they charge to a line."""
	source = FOLDER / "shapes.c"
	profile, _ = counted(tmp_path, built("shapes.c", hooks))
	gcovs = [gcov_counts(tmp_path, source, compiler) for compiler in ("gcc", "clang")]
	different = unlike(source, all_counts(profile, source), gcovs, "clang")
	# Lines for which clang makes no code, although its table lists them; and a setjmp that returns again within a block.
	assert {text.strip() for _, _, text in different.values()} <= {"}", "c;", "if (r == 0)"}, different


@pytest.mark.parametrize("hooks", [pytest.param(hooks, marks=pytest.mark.needs("llvm-cov-14") if hooks.startswith("clang") else ()) for hooks in HOOKS])
def test_lines_have_the_counts_that_they_state(tmp_path, hooks):
	"""Loops without a condition or on one line, and conditions of several lines or with calls: the counts are as the source states, and as of
	the compiler's gcov."""
	source, compiler = FOLDER / "stated.c", hooks.split("-")[0]
	profile, _ = counted(tmp_path, built("stated.c", hooks))
	ours = all_counts(profile, source)
	stated = {}
	for number, text in enumerate(source.read_text().splitlines(), 1):
		if found := re.search(r"/\* (\d+)(?:, clang: (\d+))?( \*/|[,:;])", text):
			stated[number] = int(found[2] if found[2] and compiler == "clang" else found[1])
	assert len(stated) > 40 and {line: ours.get(line) for line in stated} == stated
	different = unlike(source, ours, [gcov_counts(tmp_path, source, compiler)], compiler)
	assert {text.strip() for _, _, text in different.values()} <= ({"}"} if compiler == "clang" else set()), different


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_threads_lose_nothing(tmp_path, compiler):
	profile, _ = counted(tmp_path, built("workers.c", compiler), "threads")
	counts = line_counts(profile, "work")
	text = (FOLDER / "workers.c").read_text().splitlines()
	line = {word: number for number, content in enumerate(text, 1) for word in ("in a thread", "i < ROUNDS", "i % 3") if word in content}
	# With clang the end of the statement is on this line too, and clang's gcov counts it as well.
	assert counts["workers.c", line["i % 3"]] == 4 * (300000 if compiler == "gcc" else 400000)
	assert counts["workers.c", line["in a thread"]] == 4 * 100000
	assert counts["workers.c", line["i < ROUNDS"]] == 4 * 300001
	# Each thread has its own counts, which can be selected.
	threads = valid_json(run_cpprof("info", "--format", "json", profile).stdout)["threads"]
	assert len(threads) == 5


def test_a_handler_that_interrupts_the_hook_is_counted_and_harms_nothing(tmp_path):
	profile, out = counted(tmp_path, built("workers.c", "gcc"), "handlers")
	rounds, handled = map(int, out.split())
	text = (FOLDER / "workers.c").read_text().splitlines()
	line = {word: number for number, content in enumerate(text, 1) for word in ("in the handler", "/* interrupted") if word in content}
	assert handled >= 300
	assert line_counts(profile, "on_alarm")["workers.c", line["in the handler"]] == handled
	assert line_counts(profile, "run_handlers")["workers.c", line["/* interrupted"]] == rounds


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_library_that_was_unloaded_is_counted(tmp_path, compiler):
	library = built("workers.lib.c", compiler, "-shared", "-fPIC", link=compiler == "clang")
	profile, out = counted(tmp_path, built("workers.c", compiler), "library", library)
	assert out.strip() == "42"
	counts = line_counts(profile, "twice")
	assert {line: count for (file, line), count in counts.items() if line >= 4} == {4: 7, 5: 3, 6: 7} | {
		line: count for (file, line), count in counts.items() if line == 7}


def test_what_a_killed_program_had_counted_is_there(tmp_path):
	profile, _ = counted(tmp_path, built("workers.c", "gcc"), "threads", "and", "dies", status=128 + 9)
	assert 4 * 300000 in line_counts(profile, "work").values()


def test_many_blocks_are_each_counted(tmp_path):
	"""The tables grow when there are more blocks than they have room for."""
	source = tmp_path / "many.c"
	functions = 3000
	source.write_text("int sink;\n" + "".join(f"void f{i}(int n) {{ if (n) sink += {i}; }}\n" for i in range(functions)) +
		"int main(void) {\n" + "".join(f"f{i}({i} % 2); f{i}(0);\n" for i in range(functions)) + "return 0; }\n")
	library = next(path for path in RUNTIME.glob("libcpprof.so.*") if path.is_file() and not path.is_symlink())
	program = compile_once(["gcc", "-O0", *HOOKS["gcc"], f"-Wl,-rpath,{RUNTIME}", "-Wl,--no-as-needed", f"-L{RUNTIME}", f"-l:{library.name}"],
		[source], "many")
	profile, _ = counted(tmp_path, program)
	blocks = {entry["path"][0]: entry["hits"] for entry in entries("--functions", "-r", "blocks", profile)}
	# Both calls execute the test and the block behind it; the guarded block runs once in every other function.
	assert [blocks[f"f{i}"] - blocks["f0"] for i in range(functions)] == [i % 2 for i in range(functions)]
	assert blocks["f0"] > 0


def test_calls_are_counted_where_their_hooks_are_there_too(tmp_path):
	profile, _ = counted(tmp_path, built("workers.c", "gcc", "-finstrument-functions"), "threads")
	calls = {entry["path"][-1]: entry["hits"] for entry in entries("--body", "-r", "calls", profile)}
	assert calls["work"] == 4
	assert calls["run_threads"] == 1


def test_it_is_said_what_never_was_executed_and_what_has_no_code(tmp_path):
	profile, _ = counted(tmp_path, built("shapes.c", "gcc"))
	text = run_cpprof("report", "--source", "never", "--counts", profile).stdout
	assert re.search(r"^ +##### +\d+  \t+return 3;$", text, re.MULTILINE), text
	assert re.search(r"^ +- +\d+  \{$", text, re.MULTILINE), text
	assert re.search(r"^ +\S+ +\d+  \}\n\Z", text, re.MULTILINE), text
	# Another function of one line follows this one: the listing must end with this one.
	text = run_cpprof("report", "--source", "brief", "--counts", profile).stdout
	assert re.search(r"^ +\d+ +\d+  .*int brief\(.*\n\Z", text, re.MULTILINE), text
	table = run_cpprof("report", "--source", "never", "--counts", "--format", "csv", profile).stdout.splitlines()
	assert table[0] == "function,file,line,count"
	assert {row.rsplit(",", 1)[1] for row in table[1:]} == {"0"}


def test_counts_that_are_not_there_are_refused_with_what_to_do(tmp_path):
	profile, _ = counted(tmp_path, built("workers.c", "gcc"), "threads")
	refusals = [
		(["--counts"], 2, "--source FN --counts"),
		(["--source", "work", "--counts", "--thread", "1"], 2, "--thread cannot be combined with --counts: it shows all lines"),
		(["--source", "work", "--counts", "-r", "blocks"], 2, "by the resource 'lines' alone"),
	]
	for words, status, message in refusals:
		result = run_cpprof("report", *words, profile)
		assert (result.returncode, message in result.stderr) == (status, True), result.stderr
	paths = tmp_path / "paths.data"
	run_cpprof("record", "--instrumented=paths", "-o", paths, built("workers.c", "gcc", "-pg"), "threads")
	result = run_cpprof("report", "--source", "work", "--counts", paths)
	assert result.returncode == 1
	assert "-fsanitize-coverage=trace-pc" in result.stderr
	assert "--instrumented=blocks" in result.stderr


def test_without_lines_it_is_said_that_there_are_none(tmp_path):
	profile, _ = counted(tmp_path, built("workers.c", "gcc", "-g0"), "threads")
	result = run_cpprof("report", "--source", "work", "--counts", profile)
	assert result.returncode == 1
	assert "-g" in result.stderr
	assert sum(entry["hits"] for entry in entries("--body", "-r", "blocks", profile)) > 4 * 300000
