/* Own code and library code, also of languages that are interpreted, or compiled at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/own_labels.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

struct code {
	const char *name, *module, *file;
	enum frame_kind kind;
	bool is_own;
};

static const struct code codes[] = {
	{ "main", "/usr/bin/app", "", FRAME_NATIVE, true },
	{ "work_of_c", "/home/me/build/libwork.so", "/home/me/work.c", FRAME_NATIVE, true },
	{ "malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "./malloc/malloc.c", FRAME_NATIVE, false },
	{ "inlined", "/usr/bin/app", "/usr/include/c++/12/bits/stl_algo.h", FRAME_NATIVE, false },
	{ "std::sort<int*>(int*)", "/usr/bin/app", "", FRAME_NATIVE, false },
	{ "void std::fill<int>()", "/usr/bin/app", "", FRAME_NATIVE, false },
	{ "core::fmt::write", "/home/me/app", "", FRAME_NATIVE, false },
	{ "crate_of_others", "/home/me/app", "/home/me/.cargo/registry/src/x/lib.rs", FRAME_NATIVE, false },
	{ "runtime.mallocgc", "/home/me/app", "/usr/local/go/src/runtime/malloc.go", FRAME_NATIVE, false },
	{ "standard", "/home/me/app", "/home/me/standard.cc", FRAME_NATIVE, true },
	{ "memcmp@plt", "/home/me/app", "", FRAME_NATIVE, false },
	{ "[plt]", "/home/me/app", "", FRAME_NATIVE, false },
	{ "@plt", "/home/me/app", "", FRAME_NATIVE, true },
	{ "memcmp@plt_", "/home/me/app", "", FRAME_NATIVE, true },
	/* CPython: its file interprets, even if its source is not in a folder of the system. */
	{ "eval", "/home/u/python3", "/build/ceval.c", FRAME_NATIVE, false },
	{ "list_sort", "/home/u/python3", "", FRAME_NATIVE, false },
	{ "work", "[Python]", "/home/u/app.py", FRAME_INTERPRETER, true },
	{ "dumps", "[Python]", "/home/u/.venv/lib/python3.11/json/encoder.py", FRAME_INTERPRETER, false },
	{ "import", "[Python]", "<frozen importlib._bootstrap>", FRAME_INTERPRETER, false },
	{ "extension", "/home/u/fast.so", "", FRAME_NATIVE, true },
	/* V8: the program that runs generated code, and has no source. */
	{ "Builtins_JSEntry", "/home/u/node", "", FRAME_NATIVE, false },
	{ "native_part", "/home/u/node", "/home/u/part.cc", FRAME_NATIVE, true },
	{ "compute", "[anon]", "/home/u/app.js", FRAME_JIT, true },
	{ "load", "[anon]", "node:internal/modules/cjs/loader", FRAME_JIT, false },
	{ "express", "[anon]", "/home/u/node_modules/express/index.js", FRAME_JIT, false },
	{ "BytecodeHandler", "[anon]", "", FRAME_JIT, false },
	/* HotSpot: the launcher, which is installed, starts a thread of the library. A perf map has no source files. */
	{ "JavaMain", "/usr/lib/jvm/bin/java", "java.c", FRAME_NATIVE, false },
	{ "JavaCalls", "/home/u/jvm/libjvm.so", "", FRAME_NATIVE, false },
	{ "void Shares.work(int)", "[anon:2]", "", FRAME_JIT, true },
	{ "int java.util.HashMap.size()", "[anon:2]", "", FRAME_JIT, false },
	/* A program that starts others is not above their functions, and generated code without a name is of no language. */
	{ "make", "/usr/bin/make", "", FRAME_NATIVE, true },
	{ "database", "/usr/bin/database", "", FRAME_NATIVE, true },
	{ "[generated]", "[anon:3]", "", FRAME_JIT, false },
};

static uint32_t module_of(struct paths *paths, const char *path)
{
	for (uint32_t i = 0; i < paths->profile->module_count; i++)
		if (strcmp(profile_string(paths->profile, paths->profile->modules[i].path), path) == 0)
			return i;
	return paths_module(paths, path);
}

static void define(struct paths *paths, const struct code *code)
{
	uint32_t module = module_of(paths, code->module), lines[] = { code->file[0] != 0 };
	uint32_t function = paths_function(paths, code->name, module, code->file, lines[0], ROLE_NONE);
	paths_define(paths, code->name, module, &function, lines, 1);
	struct profile *profile = paths->profile;
	profile->frames[profile->frame_count - 1].kind = (uint8_t)code->kind;
	if (code->module[0] == '[')
		profile->modules[module].kind = code->kind == FRAME_JIT ? MODULE_ANON : MODULE_NAMES;
}

static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		define(paths, &codes[i]);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		paths_add(paths, codes[i].name, 1);
	paths_add(paths, "eval;import;work;eval;dumps;extension;list_sort", 1);
	paths_add(paths, "Builtins_JSEntry;load;express;compute;BytecodeHandler;native_part", 1);
	paths_add(paths, "JavaMain;JavaCalls;void Shares.work(int);int java.util.HashMap.size()", 1);
	paths_add(paths, "make;database;[generated]", 1);
	assert_int_equal(profile_check(paths->profile), 0);
}

static void code_is_own_or_of_libraries(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	bool *is_own = own_labels_find(view);
	assert_non_null(is_own);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (is_own[paths_label(view, codes[i].name)] != codes[i].is_own)
			fail_msg("%s is %s code", codes[i].name, codes[i].is_own ? "no own" : "own");
	free(is_own);
	view_free(view);
	paths_end(&paths);
}

static void without_memory(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	bool *is_own;
	unsigned long failed = 0;
	ALLOC_FAIL_EACH({
		is_own = own_labels_find(view);
		failed += !is_own;
		free(is_own);
	});
	assert_int_equal(failed, 3);
	view_free(view);
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_own_or_of_libraries),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
