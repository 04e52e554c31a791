/* Names, roles and refusals of frames/native that do not depend on a compiler. */
#include <dlfcn.h>
#include <execinfo.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/frames.h"
#include "frames/native/names.h"
#include "frames/native/roles.h"
#include "profile/findings.h"
#include "profile/module_name.h"
#include "support/symbols_lab.h"

static void expect_base(const char *linkage, const char *base)
{
	size_t length = name_base_length(linkage);
	assert_int_equal(length, strlen(base));
	assert_memory_equal(linkage, base, length);
}

static void test_base_names(void **state)
{
	(void)state;
	expect_base("parse", "parse");
	expect_base("parse.constprop.0", "parse");
	expect_base("parse.part.3.isra.0", "parse");
	expect_base("parse.cold", "parse");
	expect_base("parse.lto_priv.12.cold", "parse");
	expect_base("parse.llvm.1234567", "parse");
	expect_base("nested.0", "nested");
	expect_base("read@@GLIBC_2.2.5", "read");
	expect_base("_ZN1a1bEv.cold", "_ZN1a1bEv");
	/* The dots in Go's names are not suffixes of a compiler. */
	expect_base("main.main", "main.main");
	expect_base("runtime.clone", "runtime.clone");
	expect_base("main.main.func1.2", "main.main.func1.2");
	expect_base("runtime.part", "runtime");
	expect_base(".cold", ".cold");
	expect_base("", "");
}

static void expect_demangled(const char *mangled, const char *name)
{
	char *demangled = name_demangle(mangled);
	if (name)
		assert_string_equal(demangled, name);
	else
		assert_null(demangled);
	free(demangled);
}

/* Each pair of this function's argument repeats the earlier one twice: 2^30 times "int" in 200 bytes. */
static void test_exponential_name(void **state)
{
	(void)state;
	expect_demangled("_Z1f1PIiiE", "f(P<int, int>)");
	expect_demangled(
		"_Z1f1PIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_E"
		"S_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_E"
		"S_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_ES_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_E",
		NULL);
}

static void test_demangling(void **state)
{
	(void)state;
	expect_demangled("main", NULL);
	expect_demangled("_start", NULL);
	expect_demangled("_Znonsense", NULL);
	expect_demangled("_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
	expect_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			 "std::vector<int, std::allocator<int> >::push_back(int const&)");
	/* Rust's legacy mangling: the hash is removed. */
	expect_demangled("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place");
	expect_demangled(
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		"<Test + 'static as foo::Bar<Test>>::bar");
	/* Rust's v0 mangling. */
	expect_demangled("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	assert_true(name_is_rust("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"));
	assert_true(name_is_rust("_RNvC6_123foo3bar"));
	assert_false(name_is_rust("_ZN3foo3barEiPKc"));
	assert_false(name_is_rust("_ZE"));
}

static void expect_haskell(const char *symbol, const char *name)
{
	char *readable = name_haskell(symbol);
	if (name)
		assert_string_equal(readable, name);
	else
		assert_null(readable);
	free(readable);
}

static void test_haskell(void **state)
{
	(void)state;
	expect_haskell("base_GHCziBase_zpzp_info", "base:GHC.Base.++");
	expect_haskell("ghczmprim_GHCziCString_unpackCStringzh_info", "ghc-prim:GHC.CString.unpackCString#");
	expect_haskell("Main_main_info", "Main.main");
	expect_haskell("HTTPzm4000zi4_NetworkziHTTP_get_info", "HTTP-4000.4:Network.HTTP.get");
	expect_haskell("Main_zdwbuzzz_info", "Main.$wbuzz");
	expect_haskell("base_GHCziClasses_zdfEqZLz2cUZR_info", "base:GHC.Classes.$fEq(,)");
	expect_haskell("Main_zdfEqZ3T_info", "Main.$fEq(,,)");
	expect_haskell("Main_zdfEqZ2H_info", "Main.$fEq(#,#)");
	expect_haskell("Main_Z99999999999T_info", "Main.Z99999999999T");
	expect_haskell("Main_zdfz41cU_info", "Main.$fz41cU");
	expect_haskell("Main_fz_info", "Main.fz");
	/* Names of the runtime, of local code, and of other languages. */
	expect_haskell("stg_ap_v_info", NULL);
	expect_haskell("c2Kx_info", NULL);
	expect_haskell("Main__info", NULL);
	expect_haskell("Main_info", NULL);
	expect_haskell("_info", NULL);
	expect_haskell("base_GHCziBase_map_closure", NULL);
	expect_haskell("", NULL);
}

static uint32_t add_string(struct profile *profile, const char *text)
{
	return (uint32_t)profile_add_string(profile, text);
}

static uint32_t add_module(struct profile *profile, const char *path, uint8_t kind)
{
	struct profile_module module = { .path = add_string(profile, path), .kind = kind };
	return (uint32_t)profile_add_module(profile, &module);
}

static void test_modules_that_are_no_files(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t anon = add_module(profile, "[anon]", MODULE_ANON);
	uint32_t kernel = add_module(profile, "[kernel]", MODULE_KERNEL);
	profile_add_location(profile, anon, 0x1000);
	profile_add_location(profile, kernel, 0);
	profile_add_location(profile, anon, 0x2000);
	lab_symbolize(profile);
	assert_string_equal(lab_name(profile, 0, 0), "[anon]");
	assert_string_equal(lab_name(profile, 1, 0), "[kernel]");
	assert_ptr_equal(lab_function(profile, 0, 0), lab_function(profile, 2, 0));
	assert_int_equal(profile->finding_count, 0);
	/* A second run adds no frames. */
	size_t frames = profile->frame_count;
	lab_symbolize(profile);
	assert_int_equal(profile->frame_count, frames);
	profile_free(profile);
}

static void test_missing_file(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t module = add_module(profile, "/nowhere/libgone.so (deleted)", MODULE_FILE);
	profile_add_location(profile, module, 0x1234);
	profile_add_location(profile, module, 0x1238);
	lab_symbolize(profile);
	assert_string_equal(lab_name(profile, 0, 0), "libgone.so+0x1234");
	assert_string_equal(lab_name(profile, 1, 0), "libgone.so+0x1238");
	const struct profile_finding *finding = finding_find(profile, FINDING_FILE_UNREADABLE);
	assert_non_null(finding);
	assert_non_null(strstr(profile_string(profile, finding->text), "/nowhere/libgone.so"));
	assert_int_equal(finding->count, 2); /* addresses */
	assert_int_equal(profile->finding_count, 1);
	profile_free(profile);
}

static void test_file_that_is_no_elf(void **state)
{
	(void)state;
	lab_run("echo '#!/bin/sh' > script; head -c 200 /bin/sh > short; : > empty");
	static const char *const names[] = { "script", "short", "empty" };
	for (size_t i = 0; i < 3; i++) {
		struct profile *profile = lab_symbolized(names[i], 0x40);
		assert_int_equal(strncmp(lab_name(profile, 0, 0), names[i], strlen(names[i])), 0);
		profile_free(profile);
	}
}

static void test_other_build_id(void **state)
{
	(void)state;
	lab_run("$CC -g -Wl,--build-id=0x0102030405060708 \"$S/inlines.c\" -o dated");
	for (uint8_t last = 7; last <= 8; last++) {
		struct profile *profile = lab_profile("dated");
		profile->modules[0].build_id_bytes = 8;
		memcpy(profile->modules[0].build_id, (uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, last }, 8);
		uint64_t address = lab_symbol("dated", "outer") + 1;
		profile_add_location(profile, 0, address);
		lab_symbolize(profile);
		char expected[60];
		snprintf(expected, sizeof(expected), "dated+0x%llx", (unsigned long long)address);
		assert_string_equal(lab_name(profile, 0, 0), last == 8 ? "outer" : expected);
		assert_int_equal(profile->finding_count, last == 8 ? 0 : 1);
		if (last != 8)
			assert_non_null(strstr(profile_string(profile, profile->findings[0].text), "build-id differs"));
		profile_free(profile);
	}
}

/* Locations that have frames keep them, and a function that is found again is not added twice. */
static void test_what_is_named_stays(void **state)
{
	(void)state;
	lab_run("$CC -g -O2 \"$S/inlines.c\" -o inlines");
	struct profile *profile = lab_profile("inlines");
	struct profile_function function = { .name = add_string(profile, "outer"),
					     .linkage = add_string(profile, "outer") };
	struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
	profile_add_location(profile, 0, 0x10);
	profile->locations[0].first_frame = (uint32_t)profile_add_frame(profile, &frame);
	profile->locations[0].frame_count = 1;
	profile_add_location(profile, 0, lab_mark("inlines", 3).address);
	lab_symbolize(profile);
	assert_string_equal(lab_name(profile, 0, 0), "outer");
	assert_int_equal(profile->function_count, 1);
	assert_int_equal(profile->locations[1].frame_count, 1);
	assert_int_equal(profile->functions[0].line, lab_line("inlines.c", "int outer"));
	profile_free(profile);
}

struct progress {
	size_t calls, done, total;
};

static void note_progress(void *context, size_t done, size_t total)
{
	struct progress *progress = context;
	assert_true(done >= progress->done);
	*progress = (struct progress){ progress->calls + 1, done, total };
	assert_true(done <= total);
}

static int open_full(void *context, uint32_t module, struct error *error)
{
	(void)context;
	FILE *file = module == 0 ? fopen(lab_path("inlines"), "r") : NULL;
	int fd = file ? dup(fileno(file)) : -1;
	if (file)
		fclose(file);
	return fd < 0 ? error_set(error, ERROR_NOT_FOUND, "no such file") : fd;
}

/* The caller opens the file, since the module's path may not be valid on this machine. */
static void test_options(void **state)
{
	(void)state;
	struct progress progress = { 0 };
	lab_run("$CC -g -O2 \"$S/inlines.c\" -o inlines");
	struct profile *profile = profile_new();
	add_module(profile, "/in/a/container/inlines", MODULE_FILE);
	profile_add_location(profile, 0, lab_mark("inlines", 2).address);
	struct frames_options options = { .open_module = open_full, .progress = note_progress, .context = &progress };
	assert_int_equal(frames_name_profile(profile, &options, NULL), 0);
	lab_expect(profile, 0, "helper", "inlines.c", lab_mark("inlines", 2).line);
	assert_int_equal(profile->finding_count, 0);
	assert_true(progress.calls >= 1);
	assert_int_equal(progress.done, 1);
	profile_free(profile);
}

/* --- roles --- */

enum { STACK_MAX = 16 };

struct stack {
	void *addresses[STACK_MAX];
	int count;
};

static __attribute__((noinline)) void *take_stack(void *context)
{
	struct stack *stack = context;
	stack->count = backtrace(stack->addresses, STACK_MAX);
	return stack;
}

struct loaded {
	uint64_t address;
	uint64_t bias;
	const char *path;
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	struct loaded *loaded = context;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && loaded->address - info->dlpi_addr >= segment->p_vaddr &&
		    loaded->address - info->dlpi_addr < segment->p_vaddr + segment->p_memsz) {
			loaded->bias = info->dlpi_addr;
			loaded->path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
			return 1;
		}
	}
	return 0;
}

/* Adds a stack to a profile whose module 0 is a copy of the C library without symbols, and whose module 1 is this
 * program. */
static uint32_t add_stack(struct profile *profile, const struct stack *stack)
{
	uint32_t node = PROFILE_ROOT;
	for (int i = stack->count - 1; i >= 0; i--) {
		struct loaded loaded = { .address = (uint64_t)stack->addresses[i] - 1 };
		assert_int_equal(dl_iterate_phdr(find_loaded, &loaded), 1);
		uint32_t module = strstr(loaded.path, "libc.so.6") ? 0 : 1;
		if (!strstr(loaded.path, "libc.so.6") && strcmp(loaded.path, "/proc/self/exe") != 0)
			continue; /* a function of cmocka */
		int64_t location = profile_add_location(profile, module, loaded.address - loaded.bias);
		node = (uint32_t)profile_add_node(profile, node, (uint32_t)location);
	}
	return node;
}

/* libcpprof makes pthread_create start cpprof_thread_main. This name is start code only in that library. */
static void test_runtime_start_function(void **state)
{
	(void)state;
	static const struct {
		const char *path, *name;
		uint8_t role;
	} rows[] = {
		{ "/usr/lib/libcpprof-preload.so", "cpprof_thread_main", ROLE_START },
		{ "/opt/x/libcpprof.so.0 (deleted)", "cpprof_thread_main", ROLE_START },
		{ "libcpprof.so", "cpprof_tick_measured", ROLE_NONE },
		{ "libcpprof.so", "start_thread", ROLE_NONE },
		{ "libcpprofile.so", "cpprof_thread_main", ROLE_NONE },
		{ "program", "cpprof_thread_main", ROLE_NONE },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct module_file file = { .is_runtime = module_name_is_agent(rows[i].path) };
		assert_int_equal(role_of_name(&file, rows[i].name), rows[i].role);
	}
}

static struct stack main_stack;

/* The stacks of this test program, with a C library that has no symbols for its start functions, as Debian's has
 * none. */
static void test_nameless_start_functions(void **state)
{
	(void)state;
	struct stack thread_stack;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, take_stack, &thread_stack), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* A function of the C library that no sanitizer intercepts. */
	struct loaded library = { .address = (uint64_t)gnu_get_libc_version };
	assert_int_equal(dl_iterate_phdr(find_loaded, &library), 1);
	/* Without its build-id, its debug information cannot be found. */
	lab_run("$OBJCOPY -S --remove-section .note.gnu.build-id --remove-section .gnu_debuglink "
		"--remove-section .gnu_debugdata '%s' libc.so.6",
		library.path);
	struct profile *profile = lab_profile("libc.so.6");
	add_module(profile, "/proc/self/exe", MODULE_FILE);
	uint32_t thread_node = add_stack(profile, &thread_stack), main_node = add_stack(profile, &main_stack);
	lab_symbolize(profile);
	uint32_t location = profile->nodes[thread_node].location;
	/* A sanitizer's backtrace() may be the innermost frame. */
	while (strcmp(lab_name(profile, location, 0), "take_stack") != 0) {
		thread_node = profile->nodes[thread_node].parent;
		assert_int_not_equal(thread_node, PROFILE_ROOT);
		location = profile->nodes[thread_node].location;
	}
	thread_node = profile->nodes[thread_node].parent;
	location = profile->nodes[thread_node].location;
	assert_string_equal(lab_name(profile, location, 0), "start_thread");
	assert_int_equal(lab_function(profile, location, 0)->role, ROLE_START);
	thread_node = profile->nodes[thread_node].parent;
	location = profile->nodes[thread_node].location;
	assert_string_equal(lab_name(profile, location, 0), "clone3");
	assert_int_equal(lab_function(profile, location, 0)->role, ROLE_START);
	assert_int_equal(profile->nodes[thread_node].parent, PROFILE_ROOT);

	while (strcmp(lab_name(profile, profile->nodes[main_node].location, 0), "main") != 0) {
		main_node = profile->nodes[main_node].parent;
		assert_int_not_equal(main_node, PROFILE_ROOT);
	}
	assert_int_equal(lab_function(profile, profile->nodes[main_node].location, 0)->role, ROLE_MAIN);
	static const char *const above[] = { "__libc_start_call_main", "__libc_start_main", "_start" };
	for (size_t i = 0; i < 3; i++) {
		main_node = profile->nodes[main_node].parent;
		location = profile->nodes[main_node].location;
		assert_string_equal(lab_name(profile, location, 0), above[i]);
		assert_int_equal(lab_function(profile, location, 0)->role, ROLE_START);
	}
	assert_int_equal(profile->nodes[main_node].parent, PROFILE_ROOT);
	profile_free(profile);
}

/* A function of the C library without a name is not a start function if it is also called from elsewhere, or if it
 * calls nothing outside of the library. */
static void test_nameless_others(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t library = add_module(profile, "/lib/libc.so.6", MODULE_FILE);
	uint32_t program = add_module(profile, "/bin/program", MODULE_FILE);
	static const char *const names[] = { "libc.so.6+0x100", "libc.so.6+0x200", "libc.so.6+0x300", "work" };
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_function function = { .name = add_string(profile, names[i]),
						     .module = i < 3 ? library : program };
		struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
		int64_t location = profile_add_location(profile, function.module, 0x100 * i);
		profile->locations[location].first_frame = (uint32_t)profile_add_frame(profile, &frame);
		profile->locations[location].frame_count = 1;
	}
	/* 0x100 starts work; work calls 0x200, which calls work; 0x300 calls nothing. */
	uint32_t node = (uint32_t)profile_add_node(profile, PROFILE_ROOT, 0);
	node = (uint32_t)profile_add_node(profile, node, 3);
	node = (uint32_t)profile_add_node(profile, node, 1);
	profile_add_node(profile, node, 3);
	uint32_t alone = (uint32_t)profile_add_node(profile, PROFILE_ROOT, 1);
	profile_add_node(profile, alone, 3);
	profile_add_node(profile, PROFILE_ROOT, 2);
	lab_symbolize(profile);
	assert_int_equal(profile->functions[0].role, ROLE_START);
	assert_int_equal(profile->functions[1].role, ROLE_NONE);
	assert_int_equal(profile->functions[2].role, ROLE_NONE);
	assert_int_equal(profile->functions[3].role, ROLE_NONE);
	profile_free(profile);
}

/* A function that starts a thread is start code although it also occurs below pthread_create. */
static void test_nameless_below_creation(void **state)
{
	(void)state;
	struct profile *profile = profile_new();
	uint32_t library = add_module(profile, "/lib/libc.so.6", MODULE_FILE);
	uint32_t program = add_module(profile, "/bin/program", MODULE_FILE);
	uint32_t thread = add_module(profile, "[thread]", MODULE_THREAD);
	static const struct {
		const char *name;
		uint8_t role;
	} rows[] = { { "libc.so.6+0x100", ROLE_NONE }, { "pthread_create", ROLE_CREATE }, { "work", ROLE_NONE } };
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_function function = { .name = add_string(profile, rows[i].name),
						     .module = i < 2 ? library : program,
						     .role = rows[i].role };
		struct profile_frame frame = { .function = (uint32_t)profile_add_function(profile, &function) };
		int64_t location = profile_add_location(profile, function.module, 0x100 * i);
		profile->locations[location].first_frame = (uint32_t)profile_add_frame(profile, &frame);
		profile->locations[location].frame_count = 1;
	}
	int64_t mark = profile_add_location(profile, thread, 0);
	const int64_t path[] = { 2, 1, 0, mark, 0, 2 };
	uint32_t node = PROFILE_ROOT;
	for (size_t i = 0; i < sizeof(path) / sizeof(*path); i++)
		node = (uint32_t)profile_add_node(profile, node, (uint32_t)path[i]);
	lab_symbolize(profile);
	assert_int_equal(profile->functions[0].role, ROLE_START);
	assert_int_equal(profile->locations[mark].first_frame, PROFILE_NONE); /* the mark gets no name */
	assert_int_equal(profile->function_count, 3);
	assert_int_equal(profile_check(profile), 0);
	profile_free(profile);
}

int main(void)
{
	take_stack(&main_stack);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base_names),
		cmocka_unit_test(test_demangling),
		cmocka_unit_test(test_haskell),
		cmocka_unit_test(test_exponential_name),
		cmocka_unit_test(test_modules_that_are_no_files),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_file_that_is_no_elf),
		cmocka_unit_test(test_other_build_id),
		cmocka_unit_test(test_what_is_named_stays),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_runtime_start_function),
		cmocka_unit_test(test_nameless_start_functions),
		cmocka_unit_test(test_nameless_others),
		cmocka_unit_test(test_nameless_below_creation),
	};
	return cmocka_run_group_tests(tests, lab_setup, lab_teardown);
}
