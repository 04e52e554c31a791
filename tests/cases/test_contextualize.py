"""Call paths with functions of their own in the source (`cpprof contextualize`)."""
import csv
import json
import math
import re
import shutil
import subprocess
import sys

import pytest
from measuring import between, near
from json_support import valid_json
from record_support import CPPROF, PROGRAMS, REPOSITORY, build, needs_whole_perf, record, record_well, run_cpprof

sys.path[:0] = [str(REPOSITORY / "tests/decoder"), str(REPOSITORY / "tests/naive")]
import candidates  # noqa: E402
import decode  # noqa: E402

SOURCES = PROGRAMS / "contextualize"
PROCESS_DB = REPOSITORY / "examples/process_db"
COMPILERS = {".c": "gcc", ".cc": "g++", ".cpp": "g++"}
RANK = re.compile(r"^ *([\d.]+) +([\d.]+) ±[ \d.]+ +([\d.]+) +([\d.]+|-) +(\S.*)$", re.MULTILINE)


def edit(folder, path, *words, names, flags=()):
	sources = [word for name in names for word in ("--source", name)]
	return run_cpprof("contextualize", "--edit", *words, *sources, path, *(("--", *flags) if flags else ()), cwd=folder)


def apply_patch(folder, text):
	subprocess.run(["patch", "-p1", "-s", "-N", "-r", "-"], input=text, text=True, cwd=folder, check=True)


def compiled(folder, names, output, *flags):
	compiler = COMPILERS[names[0][names[0].rindex("."):]]
	# An original that only the path called is unused now: the patch leaves it.
	command = [compiler, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", *flags, "-o", output, *names, "-lm", "-pthread"]
	result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
	assert result.returncode == 0, result.stderr
	return folder / output


def output_of(program, *arguments):
	result = subprocess.run([program, *arguments], capture_output=True, check=False, timeout=60)
	return result.returncode, result.stdout


# --- the copies ---

CASES = {
	"generic": (PROGRAMS, ["generic.c"], ["20"], {
		"main;digest;each;fold;op_xor": ["digest_1", "each_1, where f = op_xor", "fold_1, where f = op_xor", "op_xor_1"],
		"each;fold": ["fold_1"],
		"sum;each": ["each_1, where f = op_add"],
	}),
	"recursive": (SOURCES, ["recursive.c"], [], {
		"main;a;parse": ["a_1", "parse_1, where f = twice", "helper_1, where f = twice: leads back to the path",
			"group_1, where f = twice: leads back to the path"],
		"a;parse;twice": None,
		"main;a;parse;helper;group": ["a_1", "parse_1, where f = twice", "helper_1, where f = twice", "group_1, where f = twice"],
		"main;b;parse;plus": None,
	}),
	"members": (SOURCES, ["members.cc"], [], {
		"main;ns::first(std::vector<int> const&);ns::Sorter::run;inside": ["first_1", "run_1, where less = less", "inside_1"],
		"ns::second;run;more": ["run_1, where less = more", "more_1"],
	}),
	"files": (SOURCES / "files", ["main.c", "lib.c", "lib.h"], [], {
		"main;twice;fold;add": ["twice_1, where f = add", "fold_1, where f = add", "add_1"],
		"main;fold": ["fold_1"],
	}),
	"process_db": (PROCESS_DB, ["process_db.c", "employee.h"], ["db.txt"], {
		"main;uniquify_db;qsort": ["uniquify_db_1", "qsort_1, where __compar = name_field_lt"],
		"print_salary_stats;qsort_r": ["qsort_1, where __compar = integer_lt"],
		"main;read_db;add_record;allocate": ["read_db_1", "add_record_1", "allocate_1"],
	}),
}


@pytest.mark.parametrize(("case", "path"), [(case, path) for case, row in CASES.items() for path in row[3]])
def test_patched_program_has_the_same_output(tmp_path, case, path):
	"""The patch contains the expected copies, applies, compiles without a warning, and changes no output."""
	folder, names, arguments, paths = CASES[case]
	for name in names:
		shutil.copy(folder / name, tmp_path)
	if case == "process_db":
		subprocess.run(["gcc", "-O1", "-o", tmp_path / "generate_db", PROCESS_DB / "generate_db.c"], check=True)
		subprocess.run([tmp_path / "generate_db", "2000", tmp_path / "db.txt"], check=True)
	inputs = [str(tmp_path / word) if word.endswith(".txt") else word for word in arguments]
	sources = [name for name in names if not name.endswith(".h")]
	before = output_of(compiled(tmp_path, sources, "before"), *inputs)
	result = edit(tmp_path, path, names=sources)
	assert result.returncode == 0, result.stderr
	copies = re.findall(r"^  (.*)$", result.stdout.partition("\n---")[0], re.MULTILINE)
	assert paths[path] is None or copies == paths[path]
	apply_patch(tmp_path, result.stdout)
	assert before[0] == 0
	assert output_of(compiled(tmp_path, sources, "after"), *inputs) == before
	text = "".join((tmp_path / name).read_text() for name in names)
	for copy in copies:
		assert re.search(rf"\b{re.match('[A-Za-z_0-9]+', copy)[0]}\(", text)


def test_sources_of_a_database(tmp_path):
	"""The commands of compile_commands.json are used, from another folder; a second patch takes the next free names."""
	for name in CASES["files"][1]:
		shutil.copy(SOURCES / "files" / name, tmp_path)
	(tmp_path / "build").mkdir()
	(tmp_path / "build/compile_commands.json").write_text(json.dumps([
		{"directory": str(tmp_path / "build"), "file": f"../{name}", "command": f"gcc -DUNUSED=1 -c ../{name}"} for name in ("main.c", "lib.c")]))
	before = output_of(compiled(tmp_path, ["main.c", "lib.c"], "before"))
	for number in (1, 2):
		result = run_cpprof("contextualize", "--edit", "-p", "build", "main;fold", cwd=tmp_path)
		assert result.returncode == 0, result.stderr
		assert f"  fold_{number}\n" in result.stdout
		apply_patch(tmp_path, result.stdout)
		assert output_of(compiled(tmp_path, ["main.c", "lib.c"], "after")) == before
		# The second patch is for a call that the first one left.
		(tmp_path / "main.c").write_text((tmp_path / "main.c").read_text().replace("fold_1(items, 3, mul)", "fold(items, 3, mul)"))


def test_style_of_the_file_is_kept(tmp_path):
	"""Where the file follows its .clang-format, the patched file does, too."""
	(tmp_path / ".clang-format").write_text("BasedOnStyle: LLVM\nColumnLimit: 60\n")
	text = "int inner(int first_value, int second_value, int third) {\n  return first_value + second_value + third;\n}\n\n" \
		"int outer(int first_value, int second_value) {\n  return inner(first_value, second_value, second_value + 1);\n}\n\n" \
		"int main(void) { return outer(1, 2) - 6; }\n"
	(tmp_path / "style.c").write_text(text)
	assert subprocess.run(["clang-format", "style.c"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == text
	apply_patch(tmp_path, edit(tmp_path, "main;outer;inner", names=["style.c"]).stdout)
	patched = (tmp_path / "style.c").read_text()
	assert "outer_1(1, 2)" in patched
	assert subprocess.run(["clang-format", "style.c"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == patched
	assert output_of(compiled(tmp_path, ["style.c"], "after"))[0] == 0


REFUSALS = {
	"it has a static variable, 'calls'": "static int f(void) { static int calls; return ++calls; } int main(void) { return f(); }",
	"it uses its own name (__func__)": "static const char *f(void) { return __func__; } int main(void) { return f()[0]; }",
	"its text comes from a macro": "#define F(name) static int name(int x) { return x; }\nF(f)\nint main(void) { return f(0); }",
	"the call of 'f' in 'main' comes from a macro": "static int f(int x) { return x; }\n#define CALL f(0)\nint main(void) { int (*g)(int) = f; return CALL + g(0); }",
	"the call of 't' in 'main' comes from a macro": "int puts(const char *);\n#define SHOW(x) (puts(#x), x)\n#define CALL(x) SHOW(x)\nstatic int t(int x) { return x; }\nint main(void) { return CALL(t(0)); }",
	"the call of 'm' in 'main' comes from a macro": "#define m(x) m(x + 1)\nstatic int (m)(int x) { return x; }\nint main(void) { return m(-1); }",
	"it has no source here, and takes any number of arguments": "int f(int, ...); int main(void) { return f(1); }",
	"no call in 'main' is known to lead to 'f'": "int main(void) { return 0; }",
	"it runs when the program starts or ends": "__attribute__((constructor)) static void f(void) {} int main(void) { f(); return 0; }",
	"it begins or ends within an #if": "#if 1\nint f(void) {\n#else\nint f(int x) {\n#endif\nreturn 0; } int main(void) { return f(); }",
	"cannot read 'a.c': a.c:1: ": "int main(void) { return f(; }",
	"a path to contextualize has from 2 to": None,
}


def refuse(tmp_path, name, text, path, message):
	(tmp_path / name).write_text(text)
	result = edit(tmp_path, path, names=[name])
	assert result.returncode in (1, 2)
	assert message in result.stderr
	assert result.stdout == ""
	assert (tmp_path / name).read_text() == text


@pytest.mark.parametrize("message", REFUSALS)
def test_refusals_of_copies(tmp_path, message):
	name = next((name for name in "mt" if f"call of '{name}'" in message), "f")
	path = f"main;{name}" if REFUSALS[message] else "main;" + ";".join(f"f{i}" for i in range(70))
	refuse(tmp_path, "a.c", REFUSALS[message] or "int main(void) { return 0; }", path, message)


UNKNOWN = "the value of its parameter 'o' is not known: "
# {case: (path, text, the end of "no call in ... is known to lead to ...: ")}
REASONS = {
	"missing.c": ("main;f;apply;nowhere", "int apply(op o, int x) { return o(x); } int f(int x) { return apply(inc, x); }",
		"no source that was read defines it, and no call has this name"),
	"pointer.c": ("main;f;inc", "op table[1] = { inc }; int f(int x) { return table[0](x); }",
		"calls through pointers are, where the path passes the function as an argument"),
	"first.c": ("apply;inc", "int apply(op o, int x) { return o(x); } int f(int x) { return apply(inc, x); }",
		UNKNOWN + "its function is the first one of the path (begin with a caller)"),
	"assigned.c": ("main;f;apply;inc", "int apply(op o, int x) { if (x > 9) o = abs; return o(x); } int f(int x) { return apply(inc, x); }",
		UNKNOWN + "it is assigned, or its address or size is used"),
	"old.c": ("main;f;apply;inc", "int apply(o, x) op o; int x; { return o(x); } int f(int x) { return apply(inc, x); }",
		UNKNOWN + "the list of parameters names it twice (an old definition, or the size of an array)"),
	"varargs.c": ("main;f;apply;inc", "int apply(op o, ...) { return o(1); } int f(int x) { return apply(inc, x); }",
		UNKNOWN + "a call has another number of arguments than parameters"),
	"different.c": ("main;f;apply;inc", "int apply(op o, int x) { return o(x); } int f(int x) { return apply(inc, x) + apply(abs, x); }",
		UNKNOWN + "calls on the path pass different functions"),
	"variable.c": ("main;f;apply;inc", "op chosen = inc; int apply(op o, int x) { return o(x); } int f(int x) { return apply(chosen, x); }",
		UNKNOWN + "a call on the path passes something else than the name of a function"),
	"macro.c": ("main;f;apply;inc", "#define INC inc\nint apply(op o, int x) { return o(x); } int f(int x) { return apply(INC, x); }",
		UNKNOWN + "a macro makes the call, or passes the argument"),
	"name.c": ("main;f;apply;inc", "#define APPLY apply\nint apply(op o, int x) { return o(x); } int f(int x) { return APPLY(inc, x); }",
		UNKNOWN + "a macro makes the call, or passes the argument"),
	"attribute.c": ("main;f;apply;inc", "__attribute__((nonnull(1))) int apply(op o, int x) { return o(x); } int f(int x) { return apply(inc, x); }",
		UNKNOWN + "an attribute has the number of a parameter"),
	"member.cc": ("main;f;k::g", "struct k { int g() { return 1; } }; int f(int x) { k a; return a.g() + x; }", "it is a member function of objects"),
	"constructor.cc": ("main;f;k::k", "struct k { int n; k(int x) : n(x) {} }; int f(int x) { k a(x); return a.n; }", "it is a member function of objects"),
}


@pytest.mark.parametrize("case", REASONS)
def test_reasons_of_calls_that_are_not_known(tmp_path, case):
	path, text, reason = REASONS[case]
	caller, _, called = path.rpartition(";")
	refuse(tmp_path, case, HEAD + text + TAIL, path, f"no call in '{caller.rpartition(';')[2]}' is known to lead to '{called}': {reason}\n")


@pytest.mark.parametrize(("path", "remedy"), [("f;step", ""), ("main;f;step", " (take a shorter path)")])
def test_text_that_would_not_compile(tmp_path, path, remedy):
	"""The macro that renames the call renames a field of the same text. A path of two functions cannot be shorter."""
	text = "struct row { int step; };\nint step(int x) { return x; }\n#define STEP(x) step(x)\nint f(int x) { struct row r = { .step = x }; return STEP(r.step); }"
	refuse(tmp_path, "a.c", HEAD + text + TAIL, path, f"field designator 'step_1' does not refer to any field in type 'struct row'{remedy}\n")


def test_function_that_another_file_cannot_name(tmp_path):
	(tmp_path / "a.c").write_text("int apply(int (*o)(int), int x);\nstatic int inc(int x) { return x + 1; }\nint main(void) { return apply(inc, -1); }\n")
	(tmp_path / "b.c").write_text("int apply(int (*o)(int), int x) { return o(x); }\n")
	result = edit(tmp_path, "main;apply;inc", names=["a.c", "b.c"])
	assert f"{UNKNOWN}the function that is passed is not declared where the copy is (static in another file)" in result.stderr


# Each copy would differ from its original: {case: (message, the definition of f)}.
UNSOUND = {
	"struct": ("a static variable, 'row'", "int f(void) { static struct const_row { int n; } row; return row.n++; }"),
	"macro": ("a static variable, 'done'", "#define ONCE(x) do { static int done; if (!done++) x; } while (0)\nint f(void) { ONCE(return 1); return 0; }"),
	"names": ("a static variable, 'names'", 'int f(void) { static const char *names[] = { "a" }; return *names[0]++; }'),
	"address": ("another address of the static variable 'x'", "const int *g(const int *); int f(void) { static const int x = 5; return g(&x) == &x; }"),
	"element": ("another address of the static variable 't'", "const int *g(const int *); int f(void) { static const int t[2] = { 5 }; return g(&t[1]) == t; }"),
	"thread": ("a static variable, 'n'", "int f() { thread_local int n; return ++n; }"),
	"lambda": ("a static variable, 'n'", "int f() { auto l = [] { static int n; return n++; }; return l(); }"),
	"initializer": ("a static variable, 'x'", "int g(); int f() { static const int x = g(); return x; }"),
	"typeid": ("may differ at each occurrence", "#include <typeinfo>\nconst char *f() { struct s {}; return typeid(s).name(); }"),
	"counter": ("may differ at each occurrence", "int f(void) { return __COUNTER__; }"),
	"assembly": ("it has inline assembly", 'int f(void) { __asm__("nop\\n\\tlabel: nop"); return 0; }'),
	"directive": ("it has inline assembly", '#define A __asm__(".globl x")\nint f(void) { A; return 0; }'),
	"goto": ("the address of a label", "int f(void) { void *to = &&end; goto *to; end: return 0; }"),
	"symbol": ("a name of its own (asm)", 'int f(void) __asm__("other"); int f(void) { return 0; }'),
	"weak": ("another definition may replace it", "int f(void) __attribute__((weak)); int f(void) { return 0; }"),
	"name": ("a macro in it uses its name", "#define LOG() g(__func__)\nint g(const char *); int f(void) { return LOG(); }"),
	"section": ("a static variable, 'entry'", '#define MARK __attribute__((section("table"), used))\nint f(void) { static const int entry MARK = 5; return entry; }'),
	"redefined": ("it changes a macro", "#define K 7\nint f(void)\n{\n\tint r = K;\n#undef K\n#define K 8\n\treturn r;\n}"),
	"once": ("it changes a macro", "int f(void)\n{\n#ifndef ONCE\n#define ONCE\n\treturn 1;\n#endif\n\treturn 0;\n}"),
	"pragma": ("another definition may replace it", "#pragma weak f\nint f(void) { return 0; }"),
	"start": ("it runs when the program starts or ends", "#define INIT __attribute__((constructor))\nint n; INIT void f(void) { n++; }"),
	"end": ("it runs when the program starts or ends", "int n; void f(void) __attribute__((destructor)); void f(void) { n++; }"),
	"quoted": ("it has inline assembly", 'int f(void) { __asm__("\\"label\\": nop"); return 0; }'),
	"commented": ("it has inline assembly", 'int f(void) { __asm__("nop; /* : */ label: nop"); return 0; }'),
	"spaced": ("it has inline assembly", 'int f(void) { __asm__("nop\\n\\t\\tlabel : nop"); return 0; }'),
	"operand": ("it has inline assembly", 'int f(void) { __asm__("label%c0: nop" : : "i"(3)); return 0; }'),
	"assigned": ("it has inline assembly", 'int f(void) { __asm__("label = 5"); return 0; }'),
	"try": ("or is a try block", "int f() try { return 0; } catch (int e) { return e; }"),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_unsound_copies_are_refused(tmp_path, case):
	message, text = UNSOUND[case]
	is_cxx = any(word in text for word in ("f()", "typeid"))
	refuse(tmp_path, "a.cc" if is_cxx else "a.c", f"{text}\nint main(void) {{ f(); return 0; }}\n", "main;f", message)


def test_path_through_a_library_function(tmp_path):
	"""A library's function can only end a path; a definition in the project is a function as all others."""
	text = "int abs(int); int main(void) { return abs(-1) - 1; }\n"
	refuse(tmp_path, "a.c", text, "main;abs;f", "'abs' has no source here, so its calls cannot be changed (end the path with it, or read the project's own definition")
	(tmp_path / "abs.c").write_text("static int f(int x) { return x < 0 ? -x : x; }\nint abs(int x) { return f(x); }\n")
	result = edit(tmp_path, "main;abs;f", names=["a.c", "abs.c"])
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert "return abs_1(-1) - 1" in (tmp_path / "a.c").read_text() and "int abs_1(int x) { return f_1(x); }" in (tmp_path / "abs.c").read_text()
	assert output_of(compiled(tmp_path, ["a.c", "abs.c"], "after", "-fno-builtin"))[0] == 0


# --- the project's own definition of a library function ---

OWN_SORT = PROCESS_DB / "qsort.c"
SUPPLIED = ": defined in qsort.c"


def process_db(folder, *names):
	"""Copies process_db and other files into a folder, and makes an input. Returns the input's path."""
	for path in (PROCESS_DB / "process_db.c", PROCESS_DB / "employee.h", *names):
		shutil.copy(path, folder)
	subprocess.run(["gcc", "-O1", "-o", folder / "generate_db", PROCESS_DB / "generate_db.c"], check=True)
	subprocess.run([folder / "generate_db", "2000", folder / "db.txt"], check=True)
	return folder / "db.txt"


@pytest.mark.parametrize(("path", "copies"), [
	("main;uniquify_db;qsort", ["uniquify_db_1", f"qsort_1, where compare = name_field_lt{SUPPLIED}", f"sort_range_1, where compare = name_field_lt{SUPPLIED}",
		f"swap_1{SUPPLIED}", f"insert_1, where compare = name_field_lt{SUPPLIED}"]),
	("print_salary_stats;qsort", [f"qsort_1, where compare = integer_lt{SUPPLIED}", f"sort_range_1, where compare = integer_lt{SUPPLIED}",
		f"swap_1{SUPPLIED}", f"insert_1, where compare = integer_lt{SUPPLIED}"]),
	("main;uniquify_db;qsort;sort_range;name_field_lt", ["uniquify_db_1", f"qsort_1, where compare = name_field_lt{SUPPLIED}",
		f"sort_range_1, where compare = name_field_lt{SUPPLIED}", "name_field_lt_1", f"swap_1{SUPPLIED}", f"insert_1, where compare = name_field_lt{SUPPLIED}"]),
])
def test_supplied_function(tmp_path, path, copies):
	"""A copy of the project's own qsort, with what it calls, takes the place of the C library's on one path; the rest of its file is left out."""
	text = process_db(tmp_path, OWN_SORT)
	before = output_of(compiled(tmp_path, ["process_db.c"], "before"), text)
	result = edit(tmp_path, path, "--with", "qsort.c", names=["process_db.c"])
	assert result.returncode == 0, result.stderr
	found = re.findall(r"^  (.*)$", result.stdout.partition("\n---")[0], re.MULTILINE)
	assert sorted(found) == sorted(copies) and found[0] == copies[0]
	assert "+++ b/process_db.c" in result.stdout and result.stdout.count("\n+++ ") == 1
	apply_patch(tmp_path, result.stdout)
	patched = (tmp_path / "process_db.c").read_text()
	for word in ("is_sorted", "check_sorted", "A second use"):
		assert word not in patched
	compare = copies[-1].split(" = ")[1].partition(":")[0] + ("_1" if "name_field_lt_1" in copies else "")
	assert f"if ({compare}(AT(base, i, size), base) < 0 && ++less != i)" in patched # a direct call
	# The original of a copy that nothing else calls stays.
	assert patched.count("\tqsort(") == (2 if "uniquify_db_1" in copies else 1) and patched.count("#undef") == 2
	# All functions of the text are called. The original of a copy may be unused.
	unused = [] if "uniquify_db_1" in copies else ["-Werror=unused-function"]
	assert output_of(compiled(tmp_path, ["process_db.c"], "after", *unused), text) == before


def test_second_supplied_function(tmp_path):
	"""A second path through the same library function takes the next free names, and shares the declarations that the first one brought."""
	text = process_db(tmp_path, OWN_SORT)
	own = (tmp_path / "qsort.c").read_text().replace("static const size_t block", "struct item {\n\tchar bytes[16];\n};\ntypedef struct {\n\tint a;\n} other;\n\nstatic const size_t block")
	(tmp_path / "qsort.c").write_text(own.replace("char kept[16];", "struct item item;\n\tother unused = { 0 };\n\t(void)unused;\n\tchar *kept = item.bytes;"))
	before = output_of(compiled(tmp_path, ["process_db.c"], "before"), text)
	for number, path in enumerate(("main;uniquify_db;qsort", "main;print_salary_stats;qsort"), 1):
		result = edit(tmp_path, path, "--with", "qsort.c", names=["process_db.c"])
		assert result.returncode == 0, result.stderr
		assert f"qsort_{number}, where" in result.stdout
		apply_patch(tmp_path, result.stdout)
	patched = (tmp_path / "process_db.c").read_text()
	assert patched.count("static const size_t block") == patched.count("struct item {") == 1
	assert patched.count("#define SHORT") == patched.count("#undef SHORT") == 2
	assert output_of(compiled(tmp_path, ["process_db.c"], "after"), text) == before


def test_supplied_function_is_called_as_often_as_before(tmp_path):
	"""The paths of the copies have the calls that the paths of the originals have, where the program was built with the same qsort."""
	text = process_db(tmp_path, OWN_SORT)
	flags = ["-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-finstrument-functions"]
	calls = {}
	for build in ("before", "after"):
		if build == "after":
			apply_patch(tmp_path, edit(tmp_path, "main;uniquify_db;qsort", "--with", "qsort.c", names=["process_db.c"]).stdout)
		names = ["process_db.c", "qsort.c"] if build == "before" else ["process_db.c"]
		recorded = record(tmp_path, [compiled(tmp_path, names, build, *flags), text], "--instrumented=paths")
		assert recorded.status == 0, recorded.err
		result = run_cpprof("report", "--down", "main", "-r", "calls", "--format", "json", "--threshold", "0", recorded.path)
		entries = json.loads(result.stdout)["results"][0]["entries"]
		calls[build] = {tuple(entry["path"]): entry["hits"] for entry in entries if "uniquify_db" in " ".join(entry["path"])}
	copied = {tuple(name if name in ("main", "name_field_lt") else f"{name}_1" for name in path): count
		for path, count in calls["before"].items() if "qsort" in path}
	assert len(copied) >= 4
	assert {path: count for path, count in calls["after"].items() if "qsort_1" in path} == copied


@pytest.mark.measured("compares shares of two recordings")
def test_supplied_function_has_the_shares_of_the_original(tmp_path):
	"""In `report --down main`, the new names have the fractions that the old ones had in a program that was built with the same qsort."""
	text = process_db(tmp_path, OWN_SORT)
	subprocess.run([tmp_path / "generate_db", "300000", text], check=True)
	shares = []
	for path in (["main", "uniquify_db", "qsort", "sort_range"], ["main", "uniquify_db_1", "qsort_1", "sort_range_1"]):
		if shares:
			apply_patch(tmp_path, edit(tmp_path, "main;uniquify_db;qsort", "--with", "qsort.c", names=["process_db.c"]).stdout)
		# The other call of qsort leads to the file in both programs.
		program = compiled(tmp_path, ["process_db.c", "qsort.c"], "program", "-O1", "-fno-inline", "-fno-optimize-sibling-calls")
		recorded = record_well(tmp_path, [program, text])
		result = run_cpprof("report", "--down", "main", "-r", "cpu", "--format", "json", recorded.path)
		entries = {tuple(entry["path"]): (entry["fraction"], entry["error"]) for entry in json.loads(result.stdout)["results"][0]["entries"]}
		shares.append([entries[tuple(path[:length])] for length in (2, 3, 4)])
	for (old, old_error), (new, new_error) in zip(*shares, strict=True):
		near(old, new, 1.5 * (old_error + new_error))


CALLER = "#include <stdlib.h>\nstatic int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n" \
	"int main(void) { int a[] = { 2, 1 }; qsort(a, 2, sizeof(*a), less); return a[0] - 1; }\n"
SORT = "void qsort(void *base, size_t count, size_t size, int (*f)(const void *, const void *)) { if (count > 1 && f(base, (char *)base + size) > 0) swap(base, size); }\n"
SWAP = "static void swap(char *a, size_t size) { char t; for (size_t i = 0; i < size; i++) { t = a[i]; a[i] = a[i + size]; a[i + size] = t; } }\n"
OWN = "#include <stddef.h>\n" + SWAP + SORT
# {case: (the message, the supplied file, or None; the caller)}
WRONG_SUPPLIES = {
	"missing": ("cannot read 'own.c': No such file", None, CALLER),
	"damaged": ("cannot read 'own.c': own.c:1: ", "void qsort(void *base { }\n", CALLER),
	"other": ("'own.c' does not define 'qsort'", "void sort(void) { }\n", CALLER),
	"declared": ("'own.c' does not define 'qsort'", "#include <stdlib.h>\n", CALLER),
	"static": ("'own.c' has a static function 'qsort', which nothing else can call (leave out static)", OWN.replace("void qsort", "static void qsort"), CALLER),
	"signature": ("'qsort' in 'own.c' is 'void (void *, unsigned long)', but its caller calls 'void (void *, unsigned long, unsigned long, int (*)(const void *, const void *))'",
		"#include <stddef.h>\nvoid qsort(void *base, size_t count) { (void)base; (void)count; }\n", CALLER),
	"conflict": ("cannot read 'own.c': own.c:2: conflicting types for 'qsort'", "#include <stdlib.h>\nvoid qsort(void *base) { (void)base; }\n", CALLER),
	"variable": ("it defines the variable 'calls', which is not static", OWN + "int calls;\n", CALLER),
	"tentative": ("its caller's file has a name of its static variable: 'calls'", OWN.replace("{ if", "{ calls++; if").replace("static void", "static int calls;\nstatic void"),
		"static int calls;\n" + CALLER.replace("return a[0]", "return calls + a[0]")),
	"pointer": ("it uses the function 'swap' by a macro, or otherwise than by a call", OWN.replace("swap(base, size)", "{ void (*s)(char *, size_t) = swap; s(base, size)").replace("; }\n", "; } }\n"), CALLER),
	"table": ("it uses the function 'swap' by a macro, or otherwise than by a call", OWN.replace("void qsort", "static void (*const swaps[])(char *, size_t) = { swap };\nvoid qsort")
		.replace("swap(base", "swaps[0](base"), CALLER),
	"call": ("it uses the function 'swap' by a macro", OWN.replace("void qsort", "#define SWAP swap\nvoid qsort").replace("swap(base, size)", "{ void (*s)(char *, size_t) = SWAP; s(base, size)")
		.replace("; }\n", "; } }\n"), CALLER),
	"address": ("the call of 'swap' in 'qsort' comes from a macro", "void use(void *p);\n" + OWN.replace("{ if (count", "{ use(swap); if (count").replace("void qsort", "#define SWAP(a, b) swap(a, b)\nvoid qsort").replace("swap(base", "SWAP(base"), CALLER),
	"body": ("no copy of 'qsort' is possible: its text comes from a macro", "#include <stddef.h>\n" + SWAP + "#define SORT(name) " + SORT.replace("qsort(", "name(") + "SORT(qsort)\n", CALLER),
	"several": ("a declaration of 'swap' is not one alone", OWN.replace("static void", "static void swap(char *, size_t), other(void);\nstatic void", 1)
		+ "static void other(void) { }\nvoid unused(void) { other(); }\n", CALLER),
	"theirs": ("its caller's file has a macro with a name of it: 'count'", OWN, "#define count 1\n" + CALLER),
	"both": ("its caller's file has the macro, too: 'MOST'", "#define MOST 5\n" + OWN, "#include <sys/param.h>\n#define MOST 7\n" + CALLER),
	"undefined": ("it undefines a macro of another file: 'NULL'", OWN + "#undef NULL\n", CALLER),
	"pragma": ("it has a directive for all that follows: '#pragma'", "#pragma pack(1)\n" + OWN, CALLER),
	"assembly": ("it has inline assembly outside of functions", OWN + '__asm__(".globl x");\n', CALLER),
	"include": ("its caller's file would include another file as 'own.h'", '#include "own.h"\n' + OWN, CALLER),
	"type": ("the changed source would not compile: ", OWN.replace("static void", "struct item { int a; };\nstatic void", 1), "struct item { char b; };\n" + CALLER),
	"taken": ("'own.c' is not needed: the sources define all functions of the path", "int abs(int x) { return x; }\n", "int abs(int x) { return x; }\nint main(void) { return abs(0); }\n"),
	"again": ("the sources define the function, too: 'helper'", OWN + "int helper(void) { return 1; }\n", "int helper(void) { return 0; }\n" + CALLER),
	"itself": ("is one of the sources, and does not define the function", "", CALLER),
	"cxx": ("'own.c' is C, and its caller is C++", OWN, CALLER),
	"library": ("'memcpy' is a library function that 'own.c' calls (end the path before it)", "#include <string.h>\n" + OWN.replace("swap(base, size)", "memcpy(base, base, size)"), CALLER),
}


@pytest.mark.parametrize("case", WRONG_SUPPLIES)
def test_supplied_files_that_are_refused(tmp_path, case):
	message, supplied, caller = WRONG_SUPPLIES[case]
	folder = tmp_path / "lib" if case == "include" else tmp_path
	folder.mkdir(exist_ok=True)
	if supplied is not None:
		(folder / "own.c").write_text(supplied)
	(folder / "own.h").write_text("")
	name = {"cxx": "a.cc", "itself": "own.c"}.get(case, "a.c")
	(tmp_path / name).write_text(caller)
	path = "main;" + {"taken": "abs", "library": "qsort;memcpy"}.get(case, "qsort")
	result = edit(tmp_path, path, "--with", folder.relative_to(tmp_path) / "own.c", names=[name])
	assert result.returncode == 1, result.stdout
	assert message in result.stderr.replace(f"{tmp_path}/", "")
	assert result.stdout == "" and (tmp_path / name).read_text() == caller


@pytest.mark.parametrize("case", ["plain", "flags", "other file", "old list", "guarded", "macro"])
def test_supplied_files_that_are_taken(tmp_path, case):
	"""The file is parsed with the caller's options; it may be anywhere, and have headers and conditions."""
	supplied, flags = OWN, []
	if case == "flags":
		supplied, flags = "#ifdef OWN\n" + OWN + "#else\nint broken;\n#endif\n", ["-DOWN=1"]
	if case == "old list":
		supplied = OWN.replace("swap(char *a, size_t size)", "swap(a, size) char *a; size_t size;")
	if case == "macro":
		supplied = OWN.replace("void qsort", "#define SWAP(a, b) swap(a, b)\nvoid qsort").replace("swap(base", "SWAP(base")
	if case == "guarded":
		supplied = '#ifndef MOST\n#define MOST 64\n#endif\n#define _GNU_SOURCE 1\n#include "types.h"\n' + OWN.replace("size_t i = 0; i <", "size_t i = 0; i < MOST && i <")
	(tmp_path / "types.h").write_text("#define LIMIT 5\ntypedef int own_type;\n")
	(tmp_path / "own.c").write_text(supplied)
	(tmp_path / "a.c").write_text(CALLER.replace("int main", '#include "types.h"\nint own_type_of(int x);\nint main') if case == "guarded" else CALLER)
	names = ["a.c"]
	path = "main;qsort"
	if case == "other file":
		(tmp_path / "a.c").write_text("void sort(int *a);\nint main(void) { int a[] = { 2, 1 }; sort(a); return a[0] - 1; }\n")
		(tmp_path / "b.c").write_text(CALLER.partition("int main")[0] + "void sort(int *a);\nvoid sort(int *a) { qsort(a, 2, sizeof(*a), less); }\n")
		names, path = ["a.c", "b.c"], "main;sort;qsort"
	result = edit(tmp_path, path, "--with", "own.c", names=names, flags=flags)
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert "if (count > 1 && less(base, (char *)base + size) > 0)" in (tmp_path / names[-1]).read_text()
	assert output_of(compiled(tmp_path, names, "after", "-Wno-old-style-definition", *flags))[0] == 0


@pytest.mark.long("builds and measures a program")
def test_verification_with_a_supplied_function(tmp_path):
	folder = tmp_path / "project"
	folder.mkdir()
	process_db(folder, OWN_SORT)
	subprocess.run([folder / "generate_db", "60000", folder / "db.txt"], check=True)
	(folder / "Makefile").write_text("process_db: process_db.c\n\t$(CC) -O2 -o $@ process_db.c\n")
	result = verify(folder, "main;uniquify_db;qsort", "process_db.c", "./process_db db.txt", "--with", "qsort.c", "--turns", "2")
	assert result.returncode == 0, result.stderr
	assert "Output     the same" in result.stdout
	assert "qsort_1 (compare = name_field_lt)" in result.stdout


@pytest.mark.parametrize(("header", "call", "name"), [
	("unistd.h", "if (vfork() == 0) _exit(0)", "vfork"),
	("alloca.h", "char *p = alloca(8); *p = 0", "__builtin_alloca"),
	("setjmp.h", "jmp_buf at; setjmp(at)", "_setjmp"),
	("execinfo.h", "void *at[9]; backtrace(at, 9)", "backtrace"),
])
def test_functions_that_depend_on_their_caller_are_refused(tmp_path, header, call, name):
	text = f"#include <{header}>\nint main(void) {{ {call}; return 0; }}\n"
	refuse(tmp_path, "a.c", text, f"main;{name}", f"the result of '{name}' depends on its caller")


# {case: (path, text)}: `abs` or another function must be called where a careless copy calls `inc`.
HARD = {
	"parentheses.c": ("main;f;apply", "int apply(op o, int x) { (o) = abs; return o(x); } int f(int x) { return apply(inc, x); }"),
	"macro.c": ("main;f;apply", "#define SET(a, b) a = b\nint apply(op o, int x) { SET(o, abs); return o(x); } int f(int x) { return apply(inc, x); }"),
	"comment.c": ("main;f;apply", "int apply(op o, int x) { o /* = */ = abs; return o(x); } int f(int x) { return apply(inc, x); }"),
	"local.c": ("main;f;apply", "int apply(op o, int x) { op inc = abs; return o(x) + 100 * inc(x); } int f(int x) { return apply(inc, x); }"),
	"parameter.c": ("main;f;apply", "int apply(op o, op inc, int x) { return o(x) + 100 * inc(x); } int f(int x) { return apply(inc, abs, x); }"),
	"own_name.c": ("main;f;apply", "int use(op o, int x) { return o(x); } int apply(op inc, int x) { return inc ? use(inc, x) : 0; } int f(int x) { return apply(inc, x); }"),
	"compared.c": ("main;f;apply", "int apply(op o, int x) { return o == inc ? 100 : o(x); } int f(int x) { return apply(inc, x); }"),
	"self.c": ("main;f", "op saved; int f(int x) { if (!saved) { saved = f; return f(x); } return saved == f; }"),
	"swapped.c": ("main;f;apply", "int apply(op a, op b, int x) { return x < 0 ? a(apply(b, a, x + 1)) : b(x); } int f(int x) { return apply(inc, abs, x); }"),
	"assembly.c": ("main;f;g", 'int g(int x) { __asm__ volatile("# 1:" "\\n1: nop\\nl%=: nop" ::: "memory"); return x; } int f(int x) { return g(x); }'),
	"local_label.c": ("main;f;g", 'int g(int x) { __asm__ volatile("jmp .Lend%=\\n\\tnop\\n.Lend%=: # end:" ::: "memory"); return x; } int f(int x) { return g(x); }'),
	"list_of_names.c": ("main;f;apply", "int apply(o, x) op o; int x; { return o(x); } int f(int x) { return apply(inc, x); }"),
	"position.c": ("main;f;g", "#define NONNULL(n) __attribute__((nonnull(n)))\nNONNULL(2) int g(op o, char *a, char *b) { return (a != 0) + 2 * (b != 0) + 4 * o(1); }\n"
		"int f(int x) { char c; return g(inc, x ? &c : 0, 0); }"),
	"call_in_macro.c": ("main;f;g;h", "#define CALL(x) (x < 0 ? g(x) + g(0) : 0)\n#define NAME h\nint h(int x) { return x + 1; } int g(int x) { return NAME(x) + h(0); }\n"
		"int f(int x) { return CALL(x) + g(7); }"),
	"returns_by_macro.c": ("main;f;g", "#define AGAIN(x) (x < 0 ? helper(x + 1) : x)\nint g(int x); int helper(int x) { return g(x); }\nint g(int x) { return AGAIN(x) + 1; } int f(int x) { return g(x); }"),
	"name_by_macro.c": ("main;f;lib_g;h", "#define g lib_g\n#define API static\nint h(int x) { return x + 1; }\nAPI int g(int x);\nAPI int\ng (int x) { return h(x); } int f(int x) { return g(x) + (g(1)); }"),
	"inactive_macro.c": ("main;f;g", "#ifdef LOGGED\n#define g(x) g(__LINE__, x)\n#endif\n#define CALL(x) g(x)\nint g(int x) { return x; } int f(int x) { return CALL(x); }"),
	"macro_in_macro.c": ("main;f;apply;inc", "#define DO(o, x) o(x)\n#define TWICE(x) DO(inc, x) + DO(inc, x)\nint apply(op o, int x) { return TWICE(x) * o(x); } int f(int x) { return apply(inc, x); }"),
	"library_in_macro.c": ("f;abs", "#define MAGNITUDE(x) abs(x)\nint f(int x) { return MAGNITUDE(x) + abs(x - 1); }"),
	"library_as_macro.c": ("f;strlen", "#include <string.h>\n#define LENGTH strlen\nint f(int x) { char t[] = \"abc\"; t[x < 0] = 0; return (int)LENGTH(t); }"),
	"function_as_macro.c": ("f;qsort", "#define SORT qsort\nint less(const void *a, const void *b) { return *(char *)a - *(char *)b; }\n"
		"int f(int x) { char t[] = \"cba\"; SORT(t, 3, 1, less); return t[x < 0]; }"),
	"library_of_a_header.c": ("f;__ctype_b_loc", "#include <ctype.h>\nint f(int x) { return isalpha(x < 0 ? 'a' : x) != 0; }"),
	"own_macro.c": ("main;f;g", "int g(int x)\n{\n#define K 7\n\treturn x + K;\n#undef K\n}\nint f(int x) { return g(x); }"),
	"size.c": ("main;f;apply", "int apply(op o, int a[o(1)]) { return o(a[1]); } int f(int x) { int a[] = { 0, x }; return apply(inc, a); }"),
	"constants.c": ("main;f;g", "int g(int x) { static const int t[] = { 7, 8 }; return t[x < 0] + (int)sizeof(t); } int f(int x) { return g(x); }"),
	"overload.cc": ("main;f;apply", "int inc(double x) { return (int)(x * 100); } int apply(op o, double x) { return o(x); } int f(int x) { return apply(inc, x + 0.5); }"),
	"member.cc": ("main;f;k::apply", "struct k { static int inc(int x) { return x + 1000; } static int apply(op o, int x); };\n"
		"int k::apply(op o, int x) { return o(x); } int f(int x) { return k::apply(inc, x); }"),
	"space.cc": ("main;f;n::apply", "namespace n { int inc(int x) { return x + 1000; } int apply(op o, int x) { return o(x); } } int f(int x) { return n::apply(inc, x); }"),
	"reference.cc": ("main;f;apply", "int apply(op o, int x) { op &r = o; r = abs; return o(x); } int f(int x) { return apply(inc, x); }"),
	"lambda.cc": ("main;f;apply", "int apply(op o, int x) { auto l = [&] { o = abs; }; l(); return o && x ? o(x) : 0; } int f(int x) { return apply(inc, x); }"),
	"later.cc": ("main;f;n::g", "namespace n { int g(int, int = 3); } int f(int x) { return n::g(x); }\nstruct late { int a; };\n"
		"int n::g(int x, int y) { return late{x + y}.a; }"),
	"default.cc": ("main;f;g", "int g(int, int = 3); int g(int x, int y) { return x + y; } int f(int x) { return g(x); }"),
	"default_behind.cc": ("main;f;apply", "int apply(op o, int x = 10, int y = 20) { return o(x) + y; } int f(int x) { return apply(inc) + apply(inc, x); }"),
	"anonymous.cc": ("main;f;(anonymous namespace)::g(int)", "namespace { int g(int x) { return x + 1; } } int f(int x) { return g(x); }"),
}
HEAD = "#include <stdio.h>\n#include <stdlib.h>\ntypedef int (*op)(int);\nint inc(int x) { return x + 1; }\n"
TAIL = '\nint main(void) { printf("%d", f(-3)); return 0; }\n'


@pytest.mark.parametrize("case", HARD)
def test_hard_programs_keep_their_output(tmp_path, case):
	path, text = HARD[case]
	(tmp_path / case).write_text(HEAD + text + TAIL)
	before = output_of(compiled(tmp_path, [case], "before", "-w"))
	result = edit(tmp_path, path, names=[case])
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert path.rpartition(";")[2].split("::")[-1].split("(")[0] + "_1(" in (tmp_path / case).read_text()
	assert output_of(compiled(tmp_path, [case], "after", "-w")) == before


FILES = {
	# The header has no function, and the macro's name is nowhere in the text.
	"taken": ("main;f;g", "static int g_3(int x) { return x + 1; }", {"h.h": "int g_1(int x);\n#define DEFINE(n) int g_##n(int x) { return x; }\n",
		"a.c": '#include "h.h"\nint g(int x) { return x + 1; }\nDEFINE(2)\nint f(int x) { return g(x); }\nint main(void) { return f(-1); }\n'}),
	# Without a static copy, no object has the function: an inline definition of C is not external.
	"inline": ("main;f;g", "g_1(int x) { return x + 1; }", {"h.h": "inline int g(int x) { return x + 1; }\n", "b.c": '#include "h.h"\nextern int g(int x);\n',
		"a.c": '#include "h.h"\nint f(int x);\nint f(int x) { return g(x); }\nint main(void) { return f(-1); }\n'}),
	# A copy that calls `inc` would call the macro.
	"macro": ("main;f;g", "g_1(int (*o)(int), int x) { return o(x); }", {"a.c": "int g(int (*o)(int), int x);\nint inc(int x) { return x + 1; }\n"
		"int f(int x) { return g(inc, x); }\nint main(void) { return f(-1); }\n", "b.c": "int inc(int x);\n#define inc(x) 99\nint g(int (*o)(int), int x) { return o(x); }\n"}),
	# The macro is empty where the function is external, and `static` in a file that has its own.
	"linkage": ("main;f;g", "API int g_1(int x) { return x + 1; }", {"h.h": "#ifndef API\n#define API\n#endif\nAPI int g(int x);\n#ifdef BODY\nAPI int g(int x) { return x + 1; }\n#endif\n",
		"a.c": '#include "h.h"\nint f(int x) { return g(x); }\nint main(void) { return f(-1); }\n', "b.c": '#define BODY\n#include "h.h"\n',
		"c.c": '#define API static\n#define BODY\n#include "h.h"\nint other(int x) { return g(x); }\n'}),
	"elsewhere": ("main;f;g", None, {"a.c": "int g(int x);\nint f(int x) { return g(x); }\nint main(void) { return f(0); }\n",
		"b.c": "inline int g(int x) { return x; }\nextern int g(int x);\n"}),
}


@pytest.mark.parametrize("case", FILES)
def test_programs_of_several_files_link(tmp_path, case):
	path, copy, texts = FILES[case]
	for name, text in texts.items():
		(tmp_path / name).write_text(text)
	names = [name for name in texts if name.endswith(".c")]
	assert output_of(compiled(tmp_path, names, "before", "-O0"))[0] == 0
	result = edit(tmp_path, path, names=names)
	if copy is None:
		assert result.returncode == 1 and "a caller in another file does not include it" in result.stderr, result.stderr
		return
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert any(copy in (tmp_path / name).read_text() for name in texts)
	assert output_of(compiled(tmp_path, names, "after", "-O0"))[0] == 0


NAMESAKES = {
	"x/util.c": "#include \"util.h\"\nint run_x(int n) { return helper(n); }\nstatic int helper(int n) { return n + 1; }\n",
	"y/util.c": "#include \"util.h\"\nstatic int inner(int n) { return n * 7; }\nint run_y(int n) { return helper(n); }\nstatic int helper(int n) { return inner(n); }\n",
	"main.c": "#include <stdio.h>\nint run_x(int), run_y(int);\nint main(void) { printf(\"%d\", run_x(3) + run_y(4)); return 0; }\n",
}


def namesakes(tmp_path):
	(tmp_path / "util.h").write_text("static int helper(int n);\n")
	for name, text in NAMESAKES.items():
		(tmp_path / name).parent.mkdir(exist_ok=True)
		(tmp_path / name).write_text(text)
	return list(NAMESAKES)


@pytest.mark.parametrize(("path", "copy"), [
	("main;run_x;helper", "helper_1(int n) { return n + 1; }"), ("main;run_y;helper;inner", "helper_1(int n) { return inner_1(n); }"),
	("main;run_y;helper@util.c", "helper_1(int n) { return inner(n); }"), ("helper@y/util.c;inner", "inner_1(int n) { return n * 7; }"),
	("helper;inner", "2 functions are called 'helper': helper@x/util.c, helper@y/util.c (name one of them)"),
	("main;run_x;helper@y/util.c", "no call in 'run_x' is known to lead to 'helper@y/util.c'"),
])
def test_static_functions_of_one_name(tmp_path, path, copy):
	"""Two files of one name include one header, which declares a static function that each of them defines."""
	names = namesakes(tmp_path)
	before = output_of(compiled(tmp_path, names, "before", "-I."))
	result = edit(tmp_path, path, names=names, flags=["-I."])
	if "(" not in copy.partition(" ")[0]:
		assert result.returncode == 1 and copy in result.stderr, result.stderr
		return
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert f"static int {copy}" in (tmp_path / "x/util.c").read_text() + (tmp_path / "y/util.c").read_text()
	assert output_of(compiled(tmp_path, names, "after", "-I.")) == before


@pytest.mark.parametrize(("path", "copy"), [
	("main;g(double)", "g_1(double x) { return 2; }"), ("main;g(int)", "g_1(int) { return 1; }"),
	("main;a::g(int const*)", "g_1(const int *) { return 3; }"), ("main;b::a::g(int const*)", "g_1(const int *x) { return x != nullptr; }"),
	("main;g", "2 functions are called 'g': g(int), g(double) (name one of them)"),
])
def test_overloads_are_distinguished(tmp_path, path, copy):
	text = "namespace b { namespace a { int g(const int *x) { return x != nullptr; } } }\nnamespace a { int g(const int *) { return 3; } }\n" \
		"int g(int) { return 1; }\nint g(double x) { return 2; }\nint main() { return g(0) + g(0.0) + b::a::g(nullptr) + a::g(nullptr); }\n"
	(tmp_path / "a.cc").write_text(text)
	result = edit(tmp_path, path, names=["a.cc"])
	if "{" not in copy:
		assert result.returncode == 1 and copy in result.stderr, result.stderr
		return
	apply_patch(tmp_path, result.stdout)
	assert f"static int {copy}" in (tmp_path / "a.cc").read_text()
	assert output_of(compiled(tmp_path, ["a.cc"], "after", "-Wno-unused-parameter"))[0] == 6


@pytest.mark.parametrize(("name", "copy"), [
	("g(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)", "g_1(const std::string &s)"),
	("g(std::vector<int, std::allocator<int> > const&, int)", "g_1(const std::vector<int> &v, int)"),
	("g(const std::string &)", "g_1(const std::string &s)"), ("g(const std::vector<int> &, int)", "g_1(const std::vector<int> &v, int)"),
])
def test_overloads_with_templates(tmp_path, name, copy):
	"""A parameter has the name that a report prints, or the name that the source has."""
	(tmp_path / "a.cc").write_text("#include <string>\n#include <vector>\nint g(int x) { return x; }\nint g(const std::string &s) { return (int)s.size(); }\n"
		"int g(const std::vector<int> &v, int) { return v[0]; }\nint main() { return g(0) + g(std::string()) + g(std::vector<int>{0}, 0); }\n")
	result = edit(tmp_path, f"main;{name}", names=["a.cc"])
	assert result.returncode == 0, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert f"static int {copy}" in (tmp_path / "a.cc").read_text()
	assert output_of(compiled(tmp_path, ["a.cc"], "after"))[0] == 0


@pytest.mark.parametrize("attribute", ["[[gnu::noinline]] [[nodiscard]]", 'extern "C"', "// comment\n[[gnu::noinline]]"])
def test_copy_of_a_library_function_precedes_attributes(tmp_path, attribute):
	text = f"#include <cstdlib>\n\n{attribute}\nint f(int x) {{ return abs(x); }}\nint main() {{ return f(0); }}\n"
	(tmp_path / "a.cc").write_text(text)
	apply_patch(tmp_path, edit(tmp_path, "f;abs", names=["a.cc"]).stdout)
	copy = "static int abs_1(int x)\n{\n\treturn abs(x);\n}\n\n"
	assert (tmp_path / "a.cc").read_text() == text.replace(attribute, copy + attribute).replace("return abs(x); }\nint main", "return abs_1(x); }\nint main")


def test_ends_of_lines_are_kept(tmp_path):
	text = b"int f(int x)\r\n{\r\n\treturn x;\r\n}\r\nint main(void) { return f(0); }\r\n"
	(tmp_path / "a.c").write_bytes(text)
	result = edit(tmp_path, "main;f", "-o", "patch", names=["a.c"])
	assert result.returncode == 0, result.stderr
	subprocess.run(["patch", "--binary", "-p1", "-s", "-i", "patch"], cwd=tmp_path, check=True)
	patched = (tmp_path / "a.c").read_bytes()
	assert b"f_1(" in patched
	assert patched.count(b"\n") == patched.count(b"\r\n")


def test_blanks_around_names_are_ignored(tmp_path):
	shutil.copy(PROGRAMS / "generic.c", tmp_path)
	result = edit(tmp_path, "digest ; each;\tfold ", names=["generic.c"])
	assert result.stdout == edit(tmp_path, "digest;each;fold", names=["generic.c"]).stdout != ""


def test_names_of_files_with_blanks(tmp_path):
	text = "int f(int x) { return x; }\nint main(void) { return f(0); }\n"
	(tmp_path / "a folder").mkdir()
	(tmp_path / "a folder/sp ace.c").write_text(text)
	result = edit(tmp_path, "main;f", names=["a folder/sp ace.c"])
	assert "\n--- a/a folder/sp ace.c\t\n+++ b/a folder/sp ace.c\t\n" in result.stdout, result.stderr
	apply_patch(tmp_path, result.stdout)
	assert "return f_1(0)" in (tmp_path / "a folder/sp ace.c").read_text()


@pytest.mark.parametrize(("words", "message"), [
	(["--edit", "main;f"], "missing the sources of the path"),
	(["--edit", "--verify", "main;f"], "--edit cannot be combined with --verify"),
	(["main;f"], "missing --edit or --verify"),
	(["--edit", "x.data", "main"], "'main' is not a call path"),
	(["--edit", "main;f", "main;g"], "one argument too many: 'main;g'"),
	(["--turns", "3"], "need --verify"),
	(["--format", "json", "--edit", "main;f"], "--format is for the list of paths (leave out --edit)"),
	(["--output", "x"], "--output needs --edit"),
	(["--with", "x"], "--with needs --edit or --verify"),
	(["--source", "x.c"], "--source needs --edit or --verify"),
	(["--database", "x"], "--database needs --edit or --verify"),
	(["--edit", "main; "], "a function of the call path has no name: 'main;'"),
	(["--edit", " ;main"], "a function of the call path has no name: ';main'"),
	(["--edit", "main; ;f"], "a function of the call path has no name: 'main;;f'"),
	(["--verify", "main;f"], "missing the build command"),
	(["--verify", "main;f", "--", "make"], "missing the workload"),
	(["--verify", "--turns", "1", "--run", "./a", "main;f", "--", "make"], "'1' is not a number of runs"),
])
def test_usage_errors(words, message):
	result = run_cpprof("contextualize", *words)
	assert result.returncode == 2
	assert message in result.stderr


def test_patch_outside_of_the_working_folder_is_refused(tmp_path):
	(tmp_path / "here").mkdir()
	(tmp_path / "a.c").write_text("static int f(void) { return 0; }\nint main(void) { return f(); }\n")
	result = edit(tmp_path / "here", "main;f", names=["../a.c"])
	assert result.returncode == 1
	assert "it is not below the working folder" in result.stderr


# --- the programs of the tests ---

PATHS = 8 # of each program: a path costs a run of the parser and of the compiler


def paths_of(program, folder):
	"""Call paths of a recording that begin at main and whose functions are bare names of C."""
	recorded = record_well(folder, program)
	result = run_cpprof("report", "--down", "main", "--format", "json", "--threshold", "0.02", recorded.path)
	entries = json.loads(result.stdout)["results"][0]["entries"]
	return [";".join(entry["path"]) for entry in entries if 2 <= len(entry["path"]) <= 5 and all(map(str.isidentifier, entry["path"]))][:PATHS]


@pytest.mark.long("changes and compiles a program for each of its paths")
@pytest.mark.parametrize(("name", "arguments", "least"), [
	("generic.c", ["600"], 6), ("recursion.c", ["once", "20"], 2), ("mixture.c", ["300"], 3), ("cloned.c", ["300"], 2)])
def test_all_paths_of_a_program(tmp_path, name, arguments, least):
	"""Every recorded path is either refused with a reason or copied; a copy changes no output."""
	source = tmp_path / name
	for header in PROGRAMS.glob("*.h"):
		shutil.copy(header, tmp_path)
	shutil.copy(PROGRAMS / name, source)
	flags = ["-D_GNU_SOURCE", "-Wno-error"]
	before = output_of(compiled(tmp_path, [name], "before", *flags), *arguments)
	done = 0
	for path in paths_of([tmp_path / "before", *arguments], tmp_path):
		shutil.copy(PROGRAMS / name, source)
		result = edit(tmp_path, path, names=[name], flags=flags[:1])
		if result.returncode != 0:
			assert "cannot contextualize" in result.stderr
			continue
		apply_patch(tmp_path, result.stdout)
		assert output_of(compiled(tmp_path, [name], "after", *flags), *arguments) == before, path
		done += 1
	assert done >= least


# --- ranks ---

def ranked(path, *words):
	result = run_cpprof("contextualize", *words, path)
	assert result.returncode == 0, result.stderr
	return [(row[4], float(row[0]), float(row[1]), float(row[2]), row[3]) for row in RANK.findall(result.stdout)]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_ranks_agree_with_the_definition(tmp_path, compiler):
	recorded = record_well(tmp_path, [build("generic.c", compiler=compiler), "4000"])
	expected = candidates.ranked(decode.Profile(recorded.path.read_bytes()), 0.01)
	found = ranked(recorded.path, "--limit", "0")
	assert len(found) >= 4
	assert {row[0] for row in found[:4]} == {f"{caller};each;fold" for caller in ("sum", "digest", "largest", "bits")}
	assert [row[0] for row in found] == [row[0] for row in expected]
	entries = json.loads(run_cpprof("contextualize", "--format", "json", "--limit", "0", recorded.path).stdout)["candidates"]
	for row, entry, (path, score, share, bits, function, differences) in zip(found, entries, expected, strict=True):
		assert row[1:4] == pytest.approx((score, share, bits), abs=0.006), path
		name, _, line = entry["line"].rpartition(":")
		assert name.partition("@")[0] == function
		assert (entry["here"], entry["elsewhere"]) == pytest.approx(differences[int(line), entry["calls"] or None], abs=1e-6), path
	operations = {"sum": "op_add", "digest": "op_xor", "largest": "op_max", "bits": "op_or"}
	for entry in entries[:4]:
		assert entry["calls"] in (operations[entry["path"][0]], "") # few samples may be in a short operation


def test_ranks_as_json_and_csv(tmp_path):
	"""Both have the rows of the text, with all digits; --limit leaves out the same rows."""
	recorded = record_well(tmp_path, [build("generic.c"), "2000"])
	text = ranked(recorded.path, "--limit", "2")
	document = valid_json(run_cpprof("contextualize", "--format", "json", "--limit", "2", recorded.path).stdout)
	table = list(csv.DictReader(run_cpprof("contextualize", "--format", "csv", "--limit", "2", recorded.path).stdout.splitlines()))
	everything = valid_json(run_cpprof("contextualize", "--format", "json", "--limit", "0", recorded.path).stdout)
	assert document["omitted"] == len(everything["candidates"]) - 2 > 0
	for row, entry, fields in zip(text, document["candidates"], table, strict=True):
		assert row[0] == ";".join(entry["path"]) == fields["path"]
		assert row[1:4] == pytest.approx((entry["score"], entry["fraction"], entry["bits"]), abs=0.006)
		assert float(row[4]) == pytest.approx(entry["at_most"], abs=0.006)
		numbers = fields.keys() - {"path", "line", "calls"}
		assert (fields["line"], fields["calls"]) == (entry["line"], entry["calls"])
		assert {name: float(fields[name]) for name in numbers} == pytest.approx({name: entry[name] for name in numbers})


FAILURES = {
	"source": (["--edit", "--source", "missing.c", "digest;each;fold"], "cannot read 'missing.c': No such file or directory"),
	"memory": (["--memory", "10K", "--edit", "--source", "generic.c", "digest;each;fold"], "cannot load libclang: out of memory: the limit is 10 KiB (--memory SIZE raises it)"),
	"database": (["--edit", "-p", "missing", "digest;each;fold"], "missing"),
	"damaged": (["--edit", "-p", "damaged.json", "digest;each;fold"], "damaged.json"),
	"output": (["--edit", "--source", "generic.c", "-o", "missing/x.patch", "digest;each;fold"], "cannot write 'missing/x.patch': No such file"),
	"full": (["--edit", "--source", "generic.c", "-o", "/dev/full", "digest;each;fold"], "cannot write '/dev/full': No space left"),
	"profile": (["missing.data"], "missing.data"),
	"folder": (["--verify", "--source", "generic.c", "--run", "true", "-d", "missing/x", "digest;each;fold", "--", "true"], "missing/x"),
	"build": (["--verify", "--source", "generic.c", "--run", "true", "digest;each;fold", "--", "false"], "the build 'before' failed"),
	"patch": (["--verify", "--source", "generic.c", "--run", "./generic 9", "--patch", "missing.patch", "digest;each;fold", "--", "make"],
		"cannot read the patch 'missing.patch': No such file"),
}


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.unsanitized("limits memory")] * (case == "memory")) for case in FAILURES])
def test_failures(tmp_path, case):
	"""Each failure is reported with its object; nothing is written beside that, and the source stays as it was."""
	words, message = FAILURES[case]
	shutil.copy(PROGRAMS / "generic.c", tmp_path)
	(tmp_path / "damaged.json").write_text("[{")
	result = run_cpprof("contextualize", *words, cwd=tmp_path)
	assert result.returncode in (1, 2), result.stdout
	assert message in result.stderr
	assert result.stderr.startswith("cpprof contextualize: ")
	assert (tmp_path / "generic.c").read_bytes() == (PROGRAMS / "generic.c").read_bytes()
	assert not list(tmp_path.glob("*.patch"))
	assert not (tmp_path / "cpprof.contextualize").exists()


@pytest.mark.parametrize("words", [[], ["--format", "json"], ["--format", "csv"]])
def test_full_output(tmp_path, words):
	recorded = record_well(tmp_path, [build("generic.c"), "1500"])
	with open("/dev/full", "wb") as full:
		result = subprocess.run([CPPROF, "contextualize", *words, recorded.path], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
	assert result.returncode == 1
	assert "No space left" in result.stderr


@needs_whole_perf
def test_bound_is_that_of_what_if(tmp_path):
	recorded = record_well(tmp_path, [build("generic.c"), "2000"])
	for path, _, _, _, bound in ranked(recorded.path):
		result = run_cpprof("whatif", "-r", "cpu", "--format", "json", recorded.path, f"{path}=0")
		assert float(bound) == pytest.approx(1 / json.loads(result.stdout)["results"][0]["predicted_total"], rel=0.01)


def test_best_path_is_taken_without_one(tmp_path):
	shutil.copy(PROGRAMS / "generic.c", tmp_path)
	recorded = record_well(tmp_path, [build("generic.c"), "2000"])
	best = ranked(recorded.path)[0][0]
	result = run_cpprof("contextualize", "--edit", "--source", "generic.c", recorded.path, cwd=tmp_path)
	assert result.returncode == 0, result.stderr
	assert f"Copies for the call path {best}:" in result.stdout


def test_profile_of_the_path_is_checked(tmp_path):
	"""A named profile must have the path, and be one of a build of these sources."""
	shutil.copy(PROGRAMS / "generic.c", tmp_path)
	recorded = record_well(tmp_path, [build("generic.c"), "2000"])
	words = ["contextualize", "--edit", "--source", "generic.c", recorded.path]
	assert "where f = op_xor" in run_cpprof(*words, "digest;each;fold", cwd=tmp_path).stdout
	for path in ("main;each;fold", "main;nowhere"):
		result = run_cpprof(*words, path, cwd=tmp_path)
		assert result.returncode == 1 and result.stdout == ""
		assert f"no sample in '{recorded.path}' is on the path '{path}'" in result.stderr
	text = (tmp_path / "generic.c").read_text()
	(tmp_path / "generic.c").write_text("\n" + text)
	for path in (["digest;each;fold"], []):
		result = run_cpprof(*words, *path, cwd=tmp_path)
		assert result.returncode == 1 and result.stdout == ""
		line = next(number for number, row in enumerate(text.splitlines(), 1) if " digest(" in row)
		if path:
			assert f"'digest' began in line {line} there, and begins in line {line + 1} (build and record again)" in result.stderr
		assert "is of another build" in result.stderr


TOUCH = '''#include <sys/mman.h>
static void touch(int pages)
{
	char *memory = mmap(0, pages * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < pages; i++)
		memory[i * 4096L] = 1;
}
'''
TOUCHING = '''#include "touch.h"
static void helper(int first)
{
	if (first)
		touch(30);
	else
		touch(40);
}
void first_NAME(void) { helper(1); }
void second_NAME(void) { helper(0); }
'''


def recorded_namesakes(tmp_path):
	names = ["x/util.c", "y/util.c", "main.c"]
	for name in names[:2]:
		(tmp_path / name).parent.mkdir()
		# Functions of equal names, files and lines count as one header's, with two relative paths.
		(tmp_path / name).write_text("\n" * (name[0] == "y") + TOUCHING.replace("NAME", name[0]))
	functions = ["first_x", "second_x", "first_y", "second_y"]
	(tmp_path / "touch.h").write_text(TOUCH)
	(tmp_path / "main.c").write_text("".join(f"void {name}(void);\n" for name in functions) + "int main(void)\n{\n"
		+ "".join(f"\t{name}();\n" for name in functions) + "\treturn 0;\n}\n")
	program = compiled(tmp_path, names, "program", "-O0", "-I.")
	return names, record(tmp_path, [program], "-r", "page-faults/1")


def test_profile_with_functions_of_one_name(tmp_path):
	"""The sources decide which of the profile's functions a name means; a change of the other file does not matter."""
	names, recorded = recorded_namesakes(tmp_path)
	assert recorded.status == 0, recorded.err
	words = [recorded.path, "main;first_y;helper"]
	options = {"names": names, "flags": ["-I."]}
	assert "static void helper_1(int first)" in edit(tmp_path, words[1], words[0], **options).stdout
	(tmp_path / "x/util.c").write_text("\n" + (tmp_path / "x/util.c").read_text())
	result = edit(tmp_path, words[1], words[0], **options)
	assert result.returncode == 0 and "+++ b/y/util.c" in result.stdout and "b/x/util.c" not in result.stdout, result.stderr
	result = edit(tmp_path, "main;first_x;helper", words[0], **options)
	assert result.returncode == 1 and "'first_x' began in line 9 there, and begins in line 10" in result.stderr, result.stderr
	result = edit(tmp_path, "main;first_y;helper@x/util.c", words[0], **options)
	assert result.returncode == 1 and "no sample in" in result.stderr, result.stderr


@pytest.mark.parametrize("place", ["program", "program without lines", "library"])
def test_source_of_the_program_that_was_not_read(tmp_path, place):
	"""A function that the program's own header declares may be a library's; a profile tells whether it is."""
	(tmp_path / "touch.h").write_text(TOUCH)
	(tmp_path / "util.c").write_text('#include "touch.h"\nint work(int pages) { touch(pages); return 0; }\n')
	(tmp_path / "main.c").write_text("int work(int pages);\nint main(void) { return work(50); }\n")
	options, output = {"program": (["-g", "-c"], "util.o"), "program without lines": (["-c"], "util.o"), "library": (["-g", "-shared", "-fPIC"], "libutil.so")}[place]
	subprocess.run(["gcc", "-O0", *options, "-o", output, "util.c"], cwd=tmp_path, check=True)
	program = compiled(tmp_path, ["main.c", output], "program", "-O0", "-Wl,-rpath,$ORIGIN")
	recorded = record(tmp_path, [program], "-r", "page-faults/1")
	assert recorded.status == 0, recorded.err
	line = "  work_1\n    It only calls 'work', of which no source was read (--source FILE)\n"
	assert line in edit(tmp_path, "main;work", names=["main.c"]).stdout
	result = edit(tmp_path, "main;work", recorded.path, names=["main.c"])
	if place != "program":
		assert result.returncode == 0 and line in result.stdout, result.stderr
	else:
		assert result.returncode == 1 and result.stdout == ""
		assert f"'work' is a function of the program, but its source was not read (--source {tmp_path}/util.c)" in result.stderr
	assert "no source was read" not in edit(tmp_path, "main;work", names=["main.c", "util.c"]).stdout


def test_library_functions_of_system_headers_are_expected_without_a_source(tmp_path):
	(tmp_path / "a.c").write_text("#include <stdlib.h>\nint main(void) { return abs(0); }\n")
	result = edit(tmp_path, "main;abs", names=["a.c"])
	assert "  abs_1\n\n--- a/a.c" in result.stdout, result.stderr
	(tmp_path / "a.cc").write_text("template<class T> T g(T x) { return x; }\nint main() { return g(0); }\n")
	result = edit(tmp_path, "main;g", names=["a.cc"])
	assert "  g_1\n\n--- a/a.cc" in result.stdout, result.stderr


def test_ranked_paths_name_the_files_of_namesakes(tmp_path):
	names, recorded = recorded_namesakes(tmp_path)
	entries = json.loads(run_cpprof("contextualize", "--format", "json", "--limit", "0", recorded.path).stdout)["candidates"]
	paths = [";".join(entry["path"]) for entry in entries]
	found = {(path.partition(";")[0], path.rpartition("/")[0][-1]) for path in paths if path.endswith("/util.c")}
	assert found == {("first_x", "x"), ("second_x", "x"), ("first_y", "y"), ("second_y", "y")}, paths
	assert all(path.partition("@")[0].endswith(";helper") for path in paths if "@" in path)
	text = run_cpprof("contextualize", "--limit", "0", recorded.path).stdout
	assert all(f"  {path}\n" in text for path in paths)
	for path in paths:
		result = edit(tmp_path, path, recorded.path, names=names, flags=["-I."])
		assert result.returncode == 0, result.stderr
		assert f"+++ b/{path.partition(';')[0][-1]}/util.c" in result.stdout


def test_lines_of_line_directives_are_compared(tmp_path):
	"""Debug information has the lines that #line states, and so has the comparison with the profile's build."""
	(tmp_path / "touch.h").write_text(TOUCH)
	text = '#include "touch.h"\n#line 70\nstatic void f(void) { touch(30); }\nint main(void) { f(); return 0; }\n'
	(tmp_path / "a.c").write_text(text)
	recorded = record(tmp_path, [compiled(tmp_path, ["a.c"], "program", "-O0")], "-r", "page-faults/1")
	result = edit(tmp_path, "main;f", recorded.path, names=["a.c"])
	assert result.returncode == 0 and "f_1" in result.stdout, result.stderr
	(tmp_path / "a.c").write_text(text.replace("70", "71"))
	result = edit(tmp_path, "main;f", recorded.path, names=["a.c"])
	assert "began in line 71 there, and begins in line 72" in result.stderr, result.stderr


def test_program_without_contexts_has_no_candidate(tmp_path):
	recorded = record_well(tmp_path, [build("recursion.c"), "once", "20"])
	assert "No function works otherwise on one call path than on the others" in run_cpprof("contextualize", recorded.path).stdout


# --- shares, and the verification ---

@pytest.mark.measured("compares shares of two recordings")
def test_copies_have_the_shares_of_the_originals(tmp_path):
	shutil.copy(PROGRAMS / "generic.c", tmp_path)
	before = record_well(tmp_path, [compiled(tmp_path, ["generic.c"], "before"), "3000"])
	shares = {}
	for path, recorded in (("main digest", before), ("main digest_1", None)):
		if recorded is None:
			# Without the constant parameter of the copies below, the code is the same.
			apply_patch(tmp_path, edit(tmp_path, "main;digest", names=["generic.c"]).stdout)
			recorded = record_well(tmp_path, [compiled(tmp_path, ["generic.c"], "after"), "3000"])
		result = run_cpprof("report", "--down", "main", "-r", "cpu", "--format", "json", recorded.path)
		entries = json.loads(result.stdout)["results"][0]["entries"]
		shares[path] = next((entry["fraction"], entry["error"]) for entry in entries if " ".join(entry["path"]) == path)
	(old, old_error), (new, new_error) = shares.values()
	near(old, new, 1.5 * (old_error + new_error))


def verify(folder, path, name, run, *words):
	return run_cpprof("contextualize", "--verify", "--source", name, "--run", run, *words, path, "--", "make", cwd=folder, timeout=600)


def figures(text):
	return {name: tuple(map(float, row)) for name, *row in re.findall(r"^(Before|After|Predicted|Measured|Rest) +([\d.]+) ±([\d.]+)", text, re.MULTILINE)}


@pytest.mark.measured("compares CPU times of two builds")
def test_prediction_agrees_with_the_measurement(tmp_path):
	"""process_db as in the 1993 paper: its expensive sort gets a copy, and the copy a better algorithm."""
	shutil.rmtree(tmp_path / "project", ignore_errors=True)
	folder = tmp_path / "project"
	folder.mkdir()
	for name in ("process_db.c", "employee.h", "generate_db.c", "sort_names.h"):
		shutil.copy(PROCESS_DB / name, folder)
	(folder / "Makefile").write_text("process_db: process_db.c\n\t$(CC) -O2 -o $@ process_db.c\n")
	subprocess.run(["gcc", "-O2", "-o", "generate_db", "generate_db.c"], cwd=folder, check=True)
	subprocess.run(["./generate_db", "100000", "db.txt"], cwd=folder, check=True)
	original = (folder / "process_db.c").read_text()
	patch = edit(folder, "main;uniquify_db;qsort", names=["process_db.c"]).stdout
	apply_patch(folder, patch)
	copy = (folder / "process_db.c").read_text()
	assert "\tqsort(base, nmemb, size, name_field_lt);\n" in copy
	better = copy.replace("static void qsort_1(", '#include "sort_names.h"\n\nstatic void qsort_1(').replace(
		"\tqsort(base, nmemb, size, name_field_lt);\n", "\tif (!sort_names(base, nmemb, name_field_lt))\n\t\tqsort(base, nmemb, size, name_field_lt);\n")
	(folder / "process_db.c").write_text(original)
	(tmp_path / "better.c").write_text(better)
	difference = subprocess.run(["diff", "-u", "--label", "a/process_db.c", "--label", "b/process_db.c", folder / "process_db.c",
		tmp_path / "better.c"], capture_output=True, text=True, check=False)
	(folder / "better.patch").write_text(difference.stdout)
	result = verify(folder, "main;uniquify_db;qsort", "process_db.c", "./process_db db.txt", "--patch", "better.patch", "--turns", "8")
	assert result.returncode == 0, result.stderr
	assert "Output     the same" in result.stdout
	found = figures(result.stdout)
	between(found["Before"][0], 1.1 * found["After"][0], None)
	assert found["Measured"][0] < 0.95, result.stdout
	assert "they agree within their errors" in result.stdout, result.stdout


@pytest.mark.measured("compares CPU times of two builds")
def test_verify_of_generic_functions(tmp_path):
	shutil.rmtree(tmp_path / "project", ignore_errors=True)
	folder = tmp_path / "project"
	folder.mkdir()
	shutil.copy(PROGRAMS / "generic.c", folder)
	(folder / "Makefile").write_text("generic: generic.c\n\t$(CC) -O2 -o $@ generic.c\n")
	result = verify(folder, "digest;each;fold;op_xor", "generic.c", "./generic 3000", "--turns", "6")
	assert result.returncode == 0, result.stderr
	found = figures(result.stdout)
	bound = re.search(r"^Bound +([\d.]+) ±[\d.]+ of the time before \([\d.]+ times as fast\), if digest;each took no time$", result.stdout, re.MULTILINE)
	between(found["Predicted"][0], float(bound[1]), 0.95, result.stdout)
	assert found["Measured"][0] < 1, result.stdout
	# The prediction takes the rest of the program as it was before: what the rest gains or loses is the difference of the two.
	measured, predicted, rest = found["Measured"], found["Predicted"], found["Rest"]
	assert rest[0] == pytest.approx(measured[0] / predicted[0], abs=2e-4)
	assert rest[1] == pytest.approx(rest[0] * math.hypot(measured[1] / measured[0], predicted[1] / predicted[0]), abs=2e-4)
	assert ("do not agree" in result.stdout) == (abs(measured[0] - predicted[0]) > math.hypot(measured[1], predicted[1]))
	between(measured[0], None, predicted[0] + measured[1] + predicted[1], result.stdout)


# --- patches that change more than copies ---

OTHER_PATCHES = {
	"text": ("700", 'printf("%u\\n", result);', 'printf("%u.\\n", result);', "the patch changes the output of the workload (compare a run in '", "Output     NOT the same"),
	"endless": ("20", "return 0;", "for (;;) ;", "cannot verify the patch: with it, the workload takes more than 10 times as much CPU time", None),
}


@pytest.mark.parametrize("case", [pytest.param("text", marks=pytest.mark.long("measures a program")), "endless"])
def test_patch_that_changes_the_output_fails(tmp_path, case):
	turns, old, new, message, line = OTHER_PATCHES[case]
	folder = tmp_path / "project"
	folder.mkdir()
	shutil.copy(PROGRAMS / "generic.c", folder)
	(folder / "Makefile").write_text("generic: generic.c\n\t$(CC) -O2 -o $@ generic.c\n")
	copies = edit(folder, "digest;each", names=["generic.c"]).stdout
	for name in ("a", "b"):
		(tmp_path / name).mkdir()
		shutil.copy(PROGRAMS / "generic.c", tmp_path / name)
	apply_patch(tmp_path / "b", copies)
	text = (tmp_path / "b/generic.c").read_text()
	start = text.index("int main(")
	assert text.count(old, start) == 1
	(tmp_path / "b/generic.c").write_text(text[:start] + text[start:].replace(old, new))
	difference = subprocess.run(["diff", "-u", "a/generic.c", "b/generic.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
	(folder / "other.patch").write_text(difference.stdout)
	result = verify(folder, "digest;each", "generic.c", f"./generic {turns}", "--patch", "other.patch", "--turns", "2")
	assert result.returncode == 1
	assert message in result.stderr
	assert line in result.stdout.splitlines() if line else result.stdout == ""
	assert (folder / "cpprof.contextualize").exists() == bool(line)
