/* collect/sample/probes/probe_points.c: functions, allocators and static probes, searched in a command or in a
 * process. */
#include <dlfcn.h>
#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/file_search.h"
#include "collect/sample/probes/libraries.h"
#include "collect/sample/probes/probe_points.h"
#include "collect/sample/probes/usdt_notes.h"
#include "support/alloc_fail.h"
#include "support/symbols_lab.h"

enum {
	TEXT_BASE = 0x400000, /* of programs linked with -no-pie */
	WAIT_MAX_S = 10,      /* ends a test that blocks */
};

/* --- the programs --- */

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(lab_path(name), "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int build(void **state)
{
	if (lab_setup(state) != 0)
		return -1;
	write_file("one.c", "static __attribute__((noipa)) int helper(int x) { return x + 1; }\n"
			    "int shared(int x) { return helper(x); }\n"
			    "int only_one(int x) { return helper(x) * 2; }\n");
	write_file("two.c", "static __attribute__((noipa)) int helper(int x) { return x + 2; }\n"
			    "static __attribute__((noipa)) int lonely(int x) { return x * 3; }\n"
			    "static __attribute__((noipa)) int same(int x) { return x * 3; }\n"
			    "int shared(int x) { return helper(x) + lonely(x) + same(x); }\n"
			    "int only_two(int x) { return helper(x) * 2; }\n");
	write_file("main.c", "int only_one(int); int only_two(int); int other(int);\n"
			     "static __attribute__((noipa)) int same(int x) { return x + 3; }\n"
			     "__attribute__((noipa)) int employees(int x) { return same(x); }\n"
			     "int main(int n, char **words) { (void)words;\n"
			     "return n > 99 ? only_one(n) + only_two(n) + employees(n) + other(n) : 0; }\n");
	write_file("other.c", "static __attribute__((noipa)) int same(int x) { return x + 4; }\n"
			      "int other(int x) { return same(x); }\n");
	lab_run("gcc -O1 -fPIC -shared -Wl,-soname,libone.so.1 -o libone.so.1.2 one.c && ln -s libone.so.1.2 "
		"libone.so.1");
	lab_run("gcc -O1 -fPIC -shared -Wl,-soname,libtwo.so -o libtwo.so two.c");
	lab_run("gcc -O1 -pie -fPIE -o prog main.c other.c -L. -l:libone.so.1 -ltwo -Wl,-rpath,'$ORIGIN'");
	lab_run("gcc -O1 -no-pie -o fixed main.c other.c -L. -l:libone.so.1 -ltwo -Wl,-rpath,'$ORIGIN'");
	lab_run("gcc -O1 -no-pie -static -o whole main.c other.c one.c -Donly_two=only_one");
	return 0;
}

/* --- searching --- */

/* `command`: a file of the folder, or an absolute path. */
static int find(const char *words, const char *command, pid_t pid, struct probe_points *points, struct error *error)
{
	struct resource_request request;
	const char *path = command && command[0] != '/' ? lab_path(command) : command;
	struct probe_scope scope = { .command = path, .pids = &pid, .pid_count = pid != 0 };
	error->message[0] = 0;
	if (resource_parse(words, &request, error) < 0)
		fail_msg("%s: %s", words, error->message);
	return probe_points_find(&request, &scope, points, error);
}

static struct probe_points found(const char *words, const char *command)
{
	struct probe_points points;
	struct error error;
	if (find(words, command, 0, &points, &error) < 0)
		fail_msg("%s: %s", words, error.message);
	assert_true(points.count > 0);
	return points;
}

static void refused(const char *words, const char *command, int code, const char *says)
{
	struct probe_points points;
	struct error error;
	int result = find(words, command, 0, &points, &error);
	if (result != code || error.code != code || !strstr(error.message, says))
		fail_msg("%s: %d, %s", words, result, error.message);
	assert_int_equal(points.count, 0);
}

/* Expects one probe point, at this offset of this file. */
static void expect(const char *words, const char *command, const char *file, uint64_t offset)
{
	struct probe_points points = found(words, command);
	assert_int_equal(points.count, 1);
	assert_string_equal(path_basename(points.items[0].path), file);
	assert_int_equal(points.items[0].offset, offset);
	probe_points_release(&points);
}

static bool has_offset(const struct probe_points *points, uint64_t offset)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->items[i].offset == offset)
			return true;
	return false;
}

/* --- functions --- */

static void test_own_and_libraries(void **state)
{
	(void)state;
	/* In position-independent code, addresses are offsets. */
	expect("calls:employees", "prog", "prog", lab_symbol("prog", "employees"));
	expect("calls:employees", "fixed", "fixed", lab_symbol("fixed", "employees") - TEXT_BASE);
	expect("calls:main", "fixed", "fixed", lab_symbol("fixed", "main") - TEXT_BASE);
	expect("calls:only_two", "prog", "libtwo.so", lab_symbol("libtwo.so", "only_two"));
	/* The PLT stub of a function in the program is not the function. */
	expect("calls:only_one", "fixed", "libone.so.1", lab_symbol("libone.so.1.2", "only_one"));
	/* The dynamic linker uses the first definition. */
	expect("calls:shared", "prog", "libone.so.1", lab_symbol("libone.so.1.2", "shared"));
	expect("calls:shared@libtwo.so", "prog", "libtwo.so", lab_symbol("libtwo.so", "shared"));
	expect("calls:shared@libtwo", "prog", "libtwo.so", lab_symbol("libtwo.so", "shared"));
	expect("calls:lonely", "prog", "libtwo.so", lab_symbol("libtwo.so", "lonely"));
	expect("calls:helper@libone.so.1.2", "prog", "libone.so.1", lab_symbol("libone.so.1.2", "helper"));
	expect("calls:helper@libone.so", "prog", "libone.so.1", lab_symbol("libone.so.1.2", "helper"));
}

static void test_by_path(void **state)
{
	(void)state;
	char words[700];
	snprintf(words, sizeof(words), "uprobe:%s:shared:arg1/10", lab_path("libtwo.so"));
	struct probe_points points = found(words, "prog");
	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].offset, lab_symbol("libtwo.so", "shared"));
	assert_int_equal(points.items[0].argument, 1);
	assert_false(points.items[0].at_return);
	probe_points_release(&points);
	snprintf(words, sizeof(words), "uprobe:%s:shared:ret", lab_path("libtwo.so"));
	points = found(words, "/bin/true"); /* the command may load the library later */
	assert_true(points.items[0].at_return);
	assert_true(points.items[0].argument != 0);
	probe_points_release(&points);
	snprintf(words, sizeof(words), "calls:shared@%s", lab_path("libtwo.so"));
	points = found(words, NULL); /* the whole machine */
	probe_points_release(&points);
}

static void test_statics_of_one_name(void **state)
{
	(void)state;
	/* Both static functions of the program, and not the function of libtwo. */
	struct probe_points points = found("calls:same", "prog");
	char *listed = lab_output("nm prog | grep -c ' t same$'");
	assert_int_equal(points.count, strtol(listed, NULL, 10));
	assert_int_equal(points.count, 2);
	assert_string_equal(points.items[0].path, lab_path("prog"));
	assert_true(points.items[0].offset != points.items[1].offset);
	free(listed);
	probe_points_release(&points);
	refused("calls:helper", "prog", ERROR_AMBIGUOUS,
		"several functions 'helper', in libone.so.1, libtwo.so (choose one: "
		"calls:helper@libone.so.1");
}

static void test_what_is_not_there(void **state)
{
	(void)state;
	refused("calls:employes", "prog", ERROR_NOT_FOUND, "calls:employes: no function 'employes' in prog and the ");
	refused("calls:employes", "prog", ERROR_NOT_FOUND, " (did you mean employees?)");
	refused("calls:only_twwo@libtwo.so", "prog", ERROR_NOT_FOUND, "in libtwo.so (did you mean only_two?)");
	refused("calls:f@libtwp.so", "prog", ERROR_NOT_FOUND, "no module 'libtwp.so' (did you mean libtwo.so?)");
	refused("calls:f@/nowhere/lib.so", "prog", ERROR_NOT_FOUND, "no module '/nowhere/lib.so'");
	refused("calls:f", NULL, ERROR_USAGE, "calls:f@libc.so.6");
	refused("calls:f", "none", ERROR_NOT_FOUND, "none");
	refused("calls:f", "main.c", ERROR_FORMAT, "not an ELF file");
	refused("cpu", "prog", ERROR_UNSUPPORTED, "cpu");
}

static void test_stripped(void **state)
{
	(void)state;
	lab_run("strip -o bare_prog prog && strip -o bare_whole whole");
	refused("calls:employees", "bare_prog", ERROR_NOT_FOUND, "(bare_prog is stripped, so");
	refused("calls:employees", "bare_whole", ERROR_NOT_FOUND, "build it without stripping");
	refused("calls:nothing_like_it", "prog", ERROR_NOT_FOUND,
		"(a function that is inlined everywhere has no code of its own)");
}

static void test_static_program(void **state)
{
	(void)state;
	expect("calls:employees", "whole", "whole", lab_symbol("whole", "employees") - TEXT_BASE);
	expect("calls:qsort", "whole", "whole", lab_symbol("whole", "qsort") - TEXT_BASE);
	struct probe_points points = found("alloc-bytes", "whole");
	assert_true(has_offset(&points, lab_symbol("whole", "malloc") - TEXT_BASE));
	assert_true(has_offset(&points, lab_symbol("whole", "calloc") - TEXT_BASE));
	probe_points_release(&points);
}

/* Finds each variant of an indirect function, and none of the function whose name is longer. */
static void test_indirect(void **state)
{
	(void)state;
	write_file(
		"ifunc.c",
		"#define F(name) __attribute__((noinline)) static int name(int x) { __asm__ volatile(\"\"); return x; "
		"}\n"
		"F(__picked_one) F(__picked_two_x) F(__picked_chk) F(__picked_l_one) F(__picked_l_two)\n"
		"typedef int f(int);\n"
		"static f *r(void) { return __picked_one(1) ? __picked_two_x : __picked_chk; }\n"
		"static f *rl(void) { return __picked_l_one(1) ? __picked_l_two : 0; }\n"
		"int picked(int) __attribute__((ifunc(\"r\")));\n"
		"int picked_l(int) __attribute__((ifunc(\"rl\")));\n"
		"__attribute__((target_clones(\"avx2\", \"default\"), noinline)) int cloned(int x) { return x + 1; }\n"
		"int main(int c, char **v) { (void)v; return picked(c) + picked_l(c) + cloned(c); }\n");
	lab_run("gcc -O1 -o ifunc ifunc.c && strip -o bare_ifunc ifunc");
	struct probe_points points = found("calls:picked", "ifunc");
	assert_int_equal(points.count, 2);
	assert_true(has_offset(&points, lab_symbol("ifunc", "__picked_one")));
	assert_true(has_offset(&points, lab_symbol("ifunc", "__picked_two_x")));
	probe_points_release(&points);
	points = found("calls:picked_l", "ifunc");
	assert_int_equal(points.count, 2);
	assert_true(has_offset(&points, lab_symbol("ifunc", "__picked_l_two")));
	probe_points_release(&points);
	points = found("calls:cloned", "ifunc");
	assert_int_equal(points.count, 2);
	probe_points_release(&points);
	/* No probe can be set on an instruction with a prefix of VEX: those at the start are left out. */
	write_file("vex.s",
		   ".globl wide, main\n.type wide, @function\n.type main, @function\n"
		   "wide: vpxor %xmm15, %xmm15, %xmm15\nvmovd %esi, %xmm0\nmov %edi, %eax\nret\n.size wide, . - wide\n"
		   "main: xor %eax, %eax\nret\n.section .note.GNU-stack\n");
	lab_run("gcc -o vex vex.s");
	expect("calls:wide", "vex", "vex", lab_symbol("vex", "wide") + 9);
	refused("calls:picked", "bare_ifunc", ERROR_NOT_FOUND, "no function 'picked'");
	/* This program has symbols for the functions from which IFUNC chooses. */
	points = found("calls:memcpy", "whole");
	assert_true(points.count > 1);
	probe_points_release(&points);
}

static void test_separate_symbols(void **state)
{
	(void)state;
	lab_run("cp libtwo.so.orig libtwo.so 2>/dev/null || cp libtwo.so libtwo.so.orig");
	uint64_t lonely = lab_symbol("libtwo.so", "lonely");
	lab_run("mkdir stripped && cp prog libone.so.1 stripped && objcopy --only-keep-debug libtwo.so "
		"stripped/libtwo.debug && strip -o stripped/libtwo.so libtwo.so");
	refused("calls:lonely", "stripped/prog", ERROR_NOT_FOUND, "no function 'lonely'");
	lab_run("cd stripped && objcopy --add-gnu-debuglink=libtwo.debug libtwo.so");
	expect("calls:lonely", "stripped/prog", "libtwo.so", lonely);
}

static void test_clones(void **state)
{
	(void)state;
	write_file("clone.c",
		   "static __attribute__((noinline)) int scaled(int x, int by) { volatile int y = x; return y * by; }\n"
		   "int main(int n, char **w) { (void)w; return scaled(n, 7) + scaled(n + 1, 7); }\n");
	lab_run("gcc -O2 -fipa-cp -o clone clone.c && nm clone | grep -q ' scaled.constprop.0$'");
	expect("calls:scaled", "clone", "clone", lab_symbol("clone", "scaled.constprop.0"));
	/* A clone has other arguments than the function. */
	refused("uprobe:clone:scaled:arg2", "clone", ERROR_NOT_FOUND, "no function 'scaled'");
	/* clang's names of static functions with -funique-internal-linkage-names, and of those that LTO made global. */
	write_file("unique.c",
		   "__attribute__((noinline)) static int local_work(int x) __asm__(\"local_work.__uniq.2773\");\n"
		   "static int local_work(int x) { __asm__ volatile(\"\"); return x; }\n"
		   "__attribute__((noinline)) int moved(int x) __asm__(\"_ZL5movedi.__uniq.17.llvm.99\");\n"
		   "int moved(int x) { __asm__ volatile(\"\"); return x; }\n"
		   "int main(int n, char **w) { (void)w; return local_work(n) + moved(n); }\n");
	lab_run("gcc -O1 -o unique unique.c");
	expect("calls:local_work", "unique", "unique", lab_symbol("unique", "local_work.__uniq.2773"));
	expect("uprobe:unique:local_work:arg1", "unique", "unique", lab_symbol("unique", "local_work.__uniq.2773"));
	expect("calls:moved", "unique", "unique", lab_symbol("unique", "_ZL5movedi.__uniq.17.llvm.99"));
	expect("uprobe:clone:scaled.constprop.0:arg1", "clone", "clone", lab_symbol("clone", "scaled.constprop.0"));
}

/* --- C++ --- */

static void test_cxx(void **state)
{
	(void)state;
	write_file("names.cc",
		   "#define KEEP __attribute__((noipa))\n"
		   "namespace ns { KEEP int parse(int x) { return x; }\n"
		   "KEEP int parse(char const *x) { return *x; }\n"
		   "template <typename T> KEEP T twice(T x) { return x + x; }\n"
		   "struct thing { int x; KEEP thing(int y) : x(y) {} KEEP virtual ~thing() {}\n"
		   "KEEP int operator()(int y) { return x + y; } KEEP int get() const { return x; } };\n"
		   "KEEP thing operator/(thing const &a, int b) { return thing(a.x / b); }\n"
		   "template <typename T> KEEP bool operator<(thing const &a, T b) { return a.x < b; }\n"
		   "namespace { KEEP int hidden(int x) { return x; } }\n"
		   "int use(int n) { thing t(n); thing *u = new thing(n); n = t(2) + u->get() + hidden(n); delete u;\n"
		   "return n + parse(1) + parse(\"a\") + twice(1) + (int)twice(1.0) + (t / 2).x + (t < 2); } }\n"
		   "KEEP int parse(long x) { return (int)x; }\n"
		   "int main(int n, char **) { return ns::use(n) + parse(n); }\n");
	lab_run("g++ -O1 -o names names.cc");
	static const struct {
		const char *words, *symbols[2];
	} cases[] = {
		{ "calls:ns::parse(int)", { "_ZN2ns5parseEi", NULL } },
		{ "calls:ns::parse(char const*)", { "_ZN2ns5parseEPKc", NULL } },
		{ "calls:ns::parse(char const *)", { "_ZN2ns5parseEPKc", NULL } },
		{ "calls:ns::parse", { "_ZN2ns5parseEi", "_ZN2ns5parseEPKc" } },
		{ "calls:parse", { "_Z5parsel", NULL } },
		{ "calls:_ZN2ns5parseEi", { "_ZN2ns5parseEi", NULL } },
		{ "calls:ns::twice", { "_ZN2ns5twiceIiEET_S1_", "_ZN2ns5twiceIdEET_S1_" } },
		{ "calls:ns::twice<int>", { "_ZN2ns5twiceIiEET_S1_", NULL } },
		{ "calls:ns::twice<double>(double)", { "_ZN2ns5twiceIdEET_S1_", NULL } },
		{ "calls:ns::thing::thing", { "_ZN2ns5thingC1Ei", NULL } },
		{ "calls:ns::thing::~thing", { "_ZN2ns5thingD1Ev", NULL } },
		{ "calls:ns::thing::operator()", { "_ZN2ns5thingclEi", NULL } },
		{ "calls:ns::thing::operator()(int)", { "_ZN2ns5thingclEi", NULL } },
		{ "calls:ns::thing::get", { "_ZNK2ns5thing3getEv", NULL } },
		{ "calls:ns::thing::get() const", { "_ZNK2ns5thing3getEv", NULL } },
		{ "calls:ns::operator/", { "_ZN2nsdvERKNS_5thingEi", NULL } },
		{ "calls:ns::operator<", { "_ZN2nsltIiEEbRKNS_5thingET_", NULL } },
		{ "calls:bool ns::operator< <int>(ns::thing const&, int)", { "_ZN2nsltIiEEbRKNS_5thingET_", NULL } },
		{ "calls:ns::(anonymous namespace)::hidden", { "_ZN2ns12_GLOBAL__N_16hiddenEi", NULL } },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct probe_points points = found(cases[i].words, "names");
		size_t count = cases[i].symbols[1] ? 2 : 1;
		if (points.count != count)
			fail_msg("%s: %zu places", cases[i].words, points.count);
		for (size_t j = 0; j < count; j++)
			if (!has_offset(&points, lab_symbol("names", cases[i].symbols[j])))
				fail_msg("%s: not %s", cases[i].words, cases[i].symbols[j]);
		probe_points_release(&points);
	}
	refused("calls:ns::prase", "names", ERROR_NOT_FOUND, "did you mean ns::parse");
	refused("calls:ns::parse(long)", "names", ERROR_NOT_FOUND, "no function 'ns::parse(long)'");
}

/* --- the libraries of a command --- */

/* libraries_by_needs, which reads the files, finds the same libraries as the dynamic linker, with the program
 * first and preloaded libraries after it. */
static void test_libraries(void **state)
{
	(void)state;
	struct libraries asked = { 0 }, read = { 0 };
	assert_int_equal(libraries_of_command(&asked, lab_path("prog"), NULL), 0);
	assert_int_equal(libraries_by_needs(&read, lab_path("prog"), NULL), 0);
	assert_int_equal(asked.count, 5); /* prog, libone, libtwo, libc, the dynamic linker */
	assert_int_equal(read.count, asked.count);
	for (size_t i = 0; i < asked.count; i++)
		assert_true(library_is(&read.items[i], asked.items[i].name));
	libraries_release(&asked);
	libraries_release(&read);
	lab_run("mkdir moved && mv libtwo.so moved");
	assert_int_equal(libraries_by_needs(&read, lab_path("prog"), NULL), 0);
	assert_int_equal(read.count, 4); /* a missing library is left out */
	libraries_release(&read);
	setenv("LD_LIBRARY_PATH", lab_path("moved"), 1);
	setenv("LD_PRELOAD", lab_path("moved/libtwo.so"), 1);
	for (int by_needs = 0; by_needs < 2; by_needs++) {
		struct libraries libraries = { 0 };
		assert_int_equal(
			(by_needs ? libraries_by_needs : libraries_of_command)(&libraries, lab_path("prog"), NULL), 0);
		assert_int_equal(libraries.count, 5);
		assert_string_equal(path_basename(libraries.items[1].path), "libtwo.so");
		libraries_release(&libraries);
	}
	expect("calls:shared", "prog", "libtwo.so", lab_symbol("moved/libtwo.so", "shared"));
	unsetenv("LD_PRELOAD");
	unsetenv("LD_LIBRARY_PATH");
	lab_run("mv moved/libtwo.so . && rmdir moved");
}

static void test_scripts(void **state)
{
	(void)state;
	write_file("script", "");
	lab_run("printf '#!%%s --flag\\n' $PWD/prog > script && printf '#! ./script\\n' > outer && chmod +x script "
		"outer");
	expect("calls:employees", "script", "prog", lab_symbol("prog", "employees"));
	lab_run("printf '#!/usr/bin/env cat\\n' > by_env && chmod +x by_env");
	struct libraries libraries = { 0 };
	assert_int_equal(libraries_of_command(&libraries, lab_path("by_env"), NULL), 0);
	assert_string_equal(path_basename(libraries.items[0].name), "cat");
	libraries_release(&libraries);
}

/* --- a process --- */

static void test_process(void **state)
{
	(void)state;
	write_file("wait.c", "#include <dlfcn.h>\n#include <stdio.h>\n#include <unistd.h>\n"
			     "int only_one(int);\n"
			     "int main(int n, char **w) { dlopen(w[1], RTLD_NOW); only_one(n); puts(\"\"); "
			     "fflush(stdout); pause(); }\n");
	lab_run("gcc -O1 -o wait wait.c -L. -l:libone.so.1 -Wl,-rpath,'$ORIGIN' -ldl");
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(lab_path("wait"), "wait", lab_path("libtwo.so"), (char *)NULL);
		_exit(1);
	}
	char ready;
	assert_int_equal(read(ends[0], &ready, 1), 1);
	static const struct {
		const char *words, *file, *symbol;
	} cases[] = {
		{ "calls:main", "wait", "main" },
		{ "calls:shared", "libone.so.1.2", "shared" },
		{ "calls:only_two", "libtwo.so", "only_two" },
		{ "calls:helper@libone", "libone.so.1.2", "helper" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct probe_points points;
		struct error error;
		if (find(cases[i].words, NULL, pid, &points, &error) < 0)
			fail_msg("%s", error.message);
		assert_int_equal(points.count, 1);
		assert_string_equal(path_basename(points.items[0].path), cases[i].file);
		assert_int_equal(points.items[0].offset, lab_symbol(cases[i].file, cases[i].symbol));
		probe_points_release(&points);
	}
	/* The file was deleted, but the process still maps it. */
	uint64_t only_two = lab_symbol("libtwo.so", "only_two");
	lab_run("mv libtwo.so libtwo.kept && cp libtwo.kept libtwo.so && rm libtwo.kept");
	struct probe_points points;
	struct error error;
	if (geteuid() == 0) {
		assert_int_equal(find("calls:only_two", NULL, pid, &points, &error), 0);
		assert_int_equal(points.items[0].offset, only_two);
		assert_non_null(strstr(points.items[0].path, "map_files"));
		probe_points_release(&points);
		/* A FIFO that has the name of the deleted file is not opened. */
		lab_run("mkfifo 'libtwo.kept (deleted)'");
		alarm(WAIT_MAX_S);
		assert_int_equal(find("calls:only_two", NULL, pid, &points, &error), 0);
		alarm(0);
		assert_non_null(strstr(points.items[0].path, "map_files"));
		probe_points_release(&points);
		lab_run("rm 'libtwo.kept (deleted)'");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(find("calls:main", NULL, pid, &points, &error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "there is no process"));
	close(ends[0]);
	close(ends[1]);
}

/* Opening a FIFO blocks until another process opens it for writing; no search may wait for that. */
static void test_no_files(void **state)
{
	(void)state;
	lab_run("mkfifo fifo && chmod +x fifo");
	struct elf_needs needs;
	struct found_functions functions;
	struct usdt_search probes = { 0 };
	struct error error;
	alarm(WAIT_MAX_S);
	assert_true(elf_needs_read(&needs, lab_path("fifo"), &error) < 0);
	assert_true(file_search_functions(lab_path("fifo"), "main", FILE_SEARCH_NO_VALUE, &functions, &error) < 0);
	assert_non_null(strstr(error.message, "cannot read"));
	assert_true(usdt_notes_count(lab_path("fifo"), &probes, &error) < 0);
	refused("calls:main", "fifo", ERROR_SYSTEM, "cannot read");
	/* A FIFO in an earlier folder than the library is skipped. */
	lab_run("mkdir in_front && mkfifo in_front/libtwo.so");
	setenv("LD_LIBRARY_PATH", lab_path("in_front"), 1);
	struct libraries libraries = { 0 };
	assert_int_equal(libraries_by_needs(&libraries, lab_path("prog"), &error), 0);
	alarm(0);
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(libraries.count, 5);
	libraries_release(&libraries);
}

/* --- allocators --- */

/* Returns the offset, in its file, of a function of this process. */
static uint64_t own_offset(const void *function)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	char line[1024];
	uint64_t offset = 0;
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, at;
		assert_int_equal(sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &at), 3);
		if ((uint64_t)function >= start && (uint64_t)function < end)
			offset = (uint64_t)function - start + at;
	}
	fclose(maps);
	return offset;
}

static const struct probe_point *point_at(const struct probe_points *points, const char *function)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	uint64_t offset = own_offset(dlsym(libc, function));
	dlclose(libc);
	for (size_t i = 0; i < points->count; i++)
		if (points->items[i].offset == offset)
			return &points->items[i];
	return NULL;
}

static void test_libc_allocator(void **state)
{
	(void)state;
	struct probe_points points = found("alloc-bytes", "prog");
	static const struct {
		const char *name;
		int argument, factor, guard;
	} cases[] = {
		{ "malloc", 1, 0, 0 },         { "calloc", 1, 2, 0 },   { "realloc", 2, 0, 1 },
		{ "posix_memalign", 3, 0, 2 }, { "memalign", 2, 0, 1 }, { "aligned_alloc", 2, 0, 1 },
		{ "valloc", 1, 0, 0 },         { "pvalloc", 1, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct probe_point *point = point_at(&points, cases[i].name);
		if (!point)
			fail_msg("no %s", cases[i].name);
		assert_string_equal(path_basename(point->path), "libc.so.6");
		assert_int_equal(point->argument, cases[i].argument);
		assert_int_equal(point->factor, cases[i].factor);
		assert_int_equal(point->guard, cases[i].guard);
	}
	assert_null(point_at(&points, "reallocarray")); /* it calls realloc */
	assert_null(point_at(&points, "free"));
	for (size_t i = 0; i < points.count; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(points.items[i].offset != points.items[j].offset);
	probe_points_release(&points);
	points = found("allocs", "prog");
	assert_int_equal(point_at(&points, "malloc")->argument, 0);
	assert_int_equal(point_at(&points, "calloc")->factor, 0);
	assert_int_equal(point_at(&points, "realloc")->guard, 1);
	probe_points_release(&points);
}

/* libstdc++'s operator new calls malloc, in a static program too: only malloc is a probe point. */
static void test_new_is_counted_once(void **state)
{
	(void)state;
	write_file("new.cc",
		   "int main(int n, char **) { int *x = new int[n]; int *y = new int; delete[] x; delete y; }\n");
	lab_run("g++ -O0 -o new new.cc && g++ -O0 -static -no-pie -o new_static new.cc");
	struct probe_points points = found("allocs", "new");
	for (size_t i = 0; i < points.count; i++)
		assert_string_equal(path_basename(points.items[i].path), "libc.so.6");
	probe_points_release(&points);
	points = found("allocs", "new_static");
	assert_true(has_offset(&points, lab_symbol("new_static", "malloc") - TEXT_BASE));
	assert_false(has_offset(&points, lab_symbol("new_static", "_Znwm") - TEXT_BASE));
	assert_false(has_offset(&points, lab_symbol("new_static", "_Znam") - TEXT_BASE));
	probe_points_release(&points);
}

static void test_own_allocator(void **state)
{
	(void)state;
	write_file("own.c",
		   "typedef unsigned long size_t;\n"
		   "static char heap[1 << 20]; static size_t used;\n"
		   "__attribute__((noipa)) static void *take(size_t n) { used += n; return heap + used - n; }\n"
		   "void *malloc(size_t n) { return take(n); }\n"
		   "void *calloc(size_t n, size_t m) { return malloc(n * m); }\n"
		   "void *realloc(void *p, size_t n) { (void)p; return take(n); }\n"
		   "void free(void *p) { (void)p; }\n"
		   "void *_Znwm(size_t n) { return take(n); }\n"
		   "void *_Znam(size_t n) { return _Znwm(n); }\n");
	lab_run("gcc -O1 -fno-builtin -fPIC -shared -o libown.so own.c");
	lab_run("gcc -O1 -pie -fPIE -o owner main.c other.c -L. -lown -l:libone.so.1 -ltwo -Wl,-rpath,'$ORIGIN' "
		"-Wl,--no-as-needed -lown");
	struct probe_points points = found("alloc-bytes", "owner");
	for (size_t i = 0; i < points.count; i++) {
		assert_string_equal(path_basename(points.items[i].path), "libown.so");
		assert_int_equal(points.items[i].guard, 0);
	}
	assert_true(has_offset(&points, lab_symbol("libown.so", "malloc")));
	assert_true(has_offset(&points, lab_symbol("libown.so", "realloc")));
	assert_true(has_offset(&points, lab_symbol("libown.so", "_Znwm")));
	/* calloc calls malloc, and _Znam calls _Znwm, through the PLT. */
	assert_false(has_offset(&points, lab_symbol("libown.so", "calloc")));
	assert_false(has_offset(&points, lab_symbol("libown.so", "_Znam")));
	assert_int_equal(points.count, 3);
	probe_points_release(&points);
}

static void test_no_allocator(void **state)
{
	(void)state;
	write_file("bare.c", "void _start(void) { for (;;); }\n");
	lab_run("gcc -O1 -nostdlib -static -o bare bare.c");
	refused("allocs", "bare", ERROR_NOT_FOUND, "no malloc in bare");
	struct probe_points points = found("allocs", NULL); /* the whole machine */
	assert_string_equal(path_basename(points.items[0].path), "libc.so.6");
	probe_points_release(&points);
}

/* --- static probes --- */

static void test_static_probes(void **state)
{
	(void)state;
	write_file("probed.c", "#include <sys/sdt.h>\n"
			       "int main(int n, char **w) { (void)w; DTRACE_PROBE2(shop, sold, n, 7); "
			       "DTRACE_PROBE(shop, closed); return 0; }\n");
	lab_run("gcc -O1 -o probed probed.c");
	struct probe_points points = found("usdt:shop:sold:arg2", "probed");
	assert_int_equal(points.count, 1);
	assert_string_equal(points.items[0].path, lab_path("probed"));
	assert_int_equal(points.items[0].offset, 0);
	assert_int_equal(points.items[0].argument, 2);
	probe_points_release(&points);
	points = found("usdt:shop:closed", "probed");
	assert_int_equal(points.items[0].argument, 0);
	probe_points_release(&points);
	lab_run("echo 'int main() { try { throw 1; } catch (int) { } }' > throw.cc && g++ -o throw throw.cc");
	points = found("usdt:libstdcxx:throw", "throw");
	assert_string_equal(path_basename(points.items[0].path), "libstdc++.so.6");
	probe_points_release(&points);
	refused("usdt:shop:sold:arg3", "probed", ERROR_USAGE, "the probe has 2 arguments");
	refused("usdt:shop:solt", "probed", ERROR_NOT_FOUND,
		"no such probe in probed and the 2 libraries that it needs (did you mean shop:sold?)");
	refused("usdt:shop:sold", NULL, ERROR_USAGE, "cannot be combined with -a");
	refused("usdt:shop:sold", "bare", ERROR_NOT_FOUND, "no static probe in bare (-p finds those of libraries");
}

/* --- no memory --- */

static void try_find(const char *words, const char *command)
{
	struct probe_points points;
	struct error error = { 0 };
	int result = find(words, command, 0, &points, &error);
	assert_true(result == 0 || error.message[0]);
	assert_true(result == 0 || points.count == 0);
	probe_points_release(&points);
}

static void test_no_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(try_find("calls:same", "fixed"));
	ALLOC_FAIL_EACH(try_find("calls:helper", "prog"));
	ALLOC_FAIL_EACH(try_find("allocs", "bare"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_and_libraries),
		cmocka_unit_test(test_by_path),
		cmocka_unit_test(test_statics_of_one_name),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_static_program),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_separate_symbols),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_libc_allocator),
		cmocka_unit_test(test_new_is_counted_once),
		cmocka_unit_test(test_own_allocator),
		cmocka_unit_test(test_no_allocator),
		cmocka_unit_test(test_static_probes),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, build, lab_teardown);
}
