/* Names and lines of the vDSO and of real programs, built by gcc and clang with the options that change debug
 * information and symbols. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <cmocka.h>

#include "support/symbols_lab.h"

/* Checks each mark of inlines.c, at each address to which the compiler copied it. */
static void check_inlines(const char *program)
{
	struct mark marks[LAB_MARKS];
	size_t count = lab_marks(program, marks), in_outer = 0, in_main = 0;
	if (count < 6)
		fail_msg("only %zu marks", count);
	for (size_t i = 0; i < count; i++) {
		struct profile *profile = lab_symbolized(program, marks[i].address);
		uint32_t frames = profile->locations[0].frame_count;
		static const char *const plain[] = { NULL, NULL, "helper", "outer", "compare", "main" };
		if (marks[i].id != 1) {
			assert_int_equal(frames, 1);
			lab_expect(profile, 0, plain[marks[i].id], "inlines.c", marks[i].line);
		} else {
			assert_int_equal(frames, 3);
			lab_expect(profile, 0, "inner", "inlines.c", marks[i].line);
			lab_expect(profile, 1, "middle", "inlines.c", lab_line("inlines.c", "/* call inner */"));
			bool main_called = strcmp(lab_name(profile, 0, 2), "main") == 0;
			lab_expect(profile, 2, main_called ? "main" : "outer", "inlines.c",
				   lab_line("inlines.c", main_called ? "call middle from" : "/* call middle */"));
			in_main += main_called;
			in_outer += !main_called;
			assert_int_equal(lab_function(profile, 0, 0)->line, lab_line("inlines.c", "int inner"));
		}
		assert_int_equal(lab_function(profile, 0, frames - 1)->role,
				 strcmp(lab_name(profile, 0, frames - 1), "main") == 0 ? ROLE_MAIN : ROLE_NONE);
		profile_free(profile);
	}
	assert_true(in_main > 0);
	assert_true(in_outer > 0);
}

static void test_inlines(void **state)
{
	(void)state;
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const flags[] = { "-gdwarf-4 -O0",
					     "-gdwarf-4 -O2",
					     "-gdwarf-5 -O0",
					     "-gdwarf-5 -O2",
					     "-g -O3 -no-pie",
					     "-g -O2 -gsplit-dwarf",
					     "-g -O2 -ffunction-sections" };
	for (size_t c = 0; c < 2; c++)
		for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
			lab_run("%s %s \"$S/inlines.c\" -o inlines", compilers[c], flags[f]);
			check_inlines("inlines");
		}
	lab_run("gcc -g -O2 -flto \"$S/inlines.c\" -o inlines");
	check_inlines("inlines");
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o inlines && objcopy --compress-debug-sections inlines");
	check_inlines("inlines");
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o inlines && objcopy --compress-debug-sections=zstd inlines");
	check_inlines("inlines");
}

/* Checks the names of a mark's frames, the innermost first, and returns the line of the outermost. */
static uint32_t outer_line(int id, const char *const *names, uint32_t count)
{
	struct profile *profile = lab_symbolized("wrappers", lab_mark("wrappers", id).address);
	assert_int_equal(profile->locations[0].frame_count, count);
	for (uint32_t i = 0; i < count; i++)
		lab_expect(profile, i, names[i], NULL, 0);
	uint32_t line = lab_frame(profile, 0, count - 1)->line;
	profile_free(profile);
	return line;
}

/* A function that its source declares artificial is a part of its caller; one that the compiler makes is a frame. */
static void test_artificial_functions(void **state)
{
	(void)state;
	static const char *const compilers[] = { "g++", "clang++" };
	uint32_t call = lab_line("wrappers.cpp", "/* call wrapper */");
	for (size_t c = 0; c < 2; c++) {
		lab_run("%s -g -O2 \"$S/wrappers.cpp\" -o wrappers", compilers[c]);
		/* gcc writes no linkage name for a function with internal linkage. */
		const char *plain = c == 0 ? "plain" : "plain(int)";
		assert_int_equal(outer_line(1, (const char *const[]){ plain, "caller" }, 2), call);
		assert_int_equal(outer_line(2, (const char *const[]){ "caller" }, 1), call);
		outer_line(3, (const char *const[]){ "part::part()", "whole::whole()", "maker" }, 3);
	}
}

/* A profile with all marks has each function once. */
static void test_functions_are_distinct(void **state)
{
	(void)state;
	struct mark marks[LAB_MARKS];
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o inlines");
	size_t count = lab_marks("inlines", marks);
	struct profile *profile = lab_profile("inlines");
	for (size_t i = 0; i < count; i++)
		assert_true(profile_add_location(profile, 0, marks[i].address) >= 0);
	lab_symbolize(profile);
	assert_int_equal(profile->function_count, 6);
	for (size_t i = 0; i < profile->function_count; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(profile->functions[i].name, profile->functions[j].name);
	profile_free(profile);
}

/* Compares addresses of the program's functions with binutils' addr2line. */
static void test_agrees_with_addr2line(void **state)
{
	(void)state;
	lab_run("gcc -g -O2 -fno-pie -no-pie \"$S/inlines.c\" -o oracle");
	struct profile *profile = lab_profile("oracle");
	uint64_t first = lab_symbol("oracle", "outer"), start = lab_symbol("oracle", "main");
	for (uint64_t i = 0; i < 60; i++) {
		assert_true(profile_add_location(profile, 0, first + i) >= 0);
		assert_true(profile_add_location(profile, 0, start + i) >= 0);
	}
	lab_symbolize(profile);
	size_t compared = 0;
	for (uint32_t i = 0; i < profile->location_count; i++) {
		char *text =
			lab_output("addr2line -fi -e oracle 0x%llx", (unsigned long long)profile->locations[i].address);
		char *rest = text;
		for (uint32_t f = 0; f < profile->locations[i].frame_count; f++) {
			const struct profile_frame *frame = lab_frame(profile, i, f);
			char *name = strsep(&rest, "\n");
			char *place = strsep(&rest, "\n");
			if (strstr(lab_name(profile, i, f), "+0x"))
				continue; /* padding, which addr2line assigns to the function before it */
			assert_non_null(place);
			assert_string_equal(name, lab_name(profile, i, f));
			char expected[600];
			snprintf(expected, sizeof(expected), "%s:%u", profile_string(profile, frame->file),
				 frame->line);
			if (frame->line)
				assert_memory_equal(place, expected, strlen(expected));
			compared++;
		}
		assert_true(!rest || *rest == 0);
		free(text);
	}
	assert_true(compared > 100);
	profile_free(profile);
}

static void expect_shape(int id, const char *name)
{
	struct mark mark = lab_mark("shapes", id);
	struct profile *profile = lab_symbolized("shapes", mark.address);
	lab_expect(profile, 0, name, "shapes.cpp", mark.line);
	profile_free(profile);
}

static void test_cpp_names(void **state)
{
	(void)state;
	static const char *const compilers[] = { "g++ -gdwarf-4", "g++ -gdwarf-5", "clang++ -gdwarf-4",
						 "clang++ -gdwarf-5" };
	for (size_t c = 0; c < 4; c++) {
		lab_run("%s -O1 \"$S/shapes.cpp\" -o shapes", compilers[c]);
		bool is_gcc = compilers[c][0] == 'g';
		expect_shape(1, "geometry::(anonymous namespace)::hidden(int)");
		/* gcc writes no linkage name for a function with internal linkage, so that its parameters are
		 * unknown. */
		expect_shape(2, is_gcc ? "geometry::(anonymous namespace)::hidden_inline"
				       : "geometry::(anonymous namespace)::hidden_inline(int)");
		expect_shape(3, "double geometry::shape::scale<double>(double)");
		expect_shape(4, "geometry::shape::shape(int)");
		expect_shape(5, "geometry::shape::~shape()");
		expect_shape(6, "plain");
	}
	/* A gcc lambda has a symbol only if it is not inlined. */
	lab_run("g++ -g -O0 \"$S/shapes.cpp\" -o shapes");
	expect_shape(7, "main::{lambda(int)#1}::operator()(int) const");
	lab_run("g++ -g -O2 \"$S/shapes.cpp\" -o shapes");
	expect_shape(7, "main::{lambda}::operator()");
}

static void test_clones_are_their_original(void **state)
{
	(void)state;
	static const char *const flags[] = { "-O2", "-O2 -g" };
	for (size_t f = 0; f < 2; f++) {
		lab_run("gcc %s \"$S/clones.c\" -o clones", flags[f]);
		struct profile *profile = lab_profile("clones");
		profile_add_location(profile, 0, lab_mark("clones", 1).address);
		profile_add_location(profile, 0, lab_symbol("clones", "parse.cold"));
		profile_add_location(profile, 0, lab_mark("clones", 2).address);
		lab_symbolize(profile);
		assert_string_equal(lab_name(profile, 0, 0), "parse");
		assert_ptr_equal(lab_function(profile, 0, 0), lab_function(profile, 1, 0));
		assert_string_equal(profile_string(profile, lab_function(profile, 1, 0)->linkage), "parse");
		assert_string_equal(lab_name(profile, 2, 0), "scan");
		assert_string_equal(profile_string(profile, lab_function(profile, 2, 0)->linkage), "scan.constprop.0");
		profile_free(profile);
	}
}

/* A function without a symbol is named after its start address, which .eh_frame gives. */
static void expect_nameless(const char *program, uint64_t address, uint64_t start)
{
	char expected[100];
	struct profile *profile = lab_symbolized(program, address);
	snprintf(expected, sizeof(expected), "%s+0x%llx", program, (unsigned long long)start);
	lab_expect(profile, 0, expected, NULL, 0);
	assert_int_equal(lab_function(profile, 0, 0)->linkage, 0);
	profile_free(profile);
}

static void test_stripped_program(void **state)
{
	(void)state;
	static const char *const flags[] = { "gcc -O2", "gcc -O2 -no-pie", "clang -O1", "gcc -O2 -static" };
	for (size_t f = 0; f < 4; f++) {
		lab_run("%s \"$S/inlines.c\" -o stripped && cp stripped full && strip stripped", flags[f]);
		expect_nameless("stripped", lab_mark("full", 2).address, lab_symbol("full", "helper"));
		struct profile *profile = lab_symbolized("stripped", lab_mark("full", 5).address);
		lab_expect(profile, 0, "main", NULL, 0);
		assert_int_equal(lab_function(profile, 0, 0)->role, ROLE_MAIN);
		profile_free(profile);
		profile = lab_symbolized("stripped", lab_symbol("full", "_start") + 0x20);
		lab_expect(profile, 0, "_start", NULL, 0);
		assert_int_equal(lab_function(profile, 0, 0)->role, ROLE_START);
		profile_free(profile);
	}
}

static void test_stripped_library(void **state)
{
	(void)state;
	lab_run("gcc -O1 -fPIC -shared \"$S/library.c\" -o full.so && cp full.so lib.so && strip lib.so");
	/* secret_too follows library_call or library_read, whose symbol must not be used for it. */
	expect_nameless("lib.so", lab_mark("full.so", 2).address, lab_symbol("full.so", "secret"));
	expect_nameless("lib.so", lab_mark("full.so", 3).address, lab_symbol("full.so", "secret_too"));
	struct profile *profile = lab_symbolized("lib.so", lab_mark("full.so", 4).address);
	lab_expect(profile, 0, "library_read", NULL, 0);
	profile_free(profile);
	profile = lab_symbolized("lib.so", lab_mark("full.so", 1).address);
	lab_expect(profile, 0, "library_call", NULL, 0);
	profile_free(profile);
}

static void test_assembler(void **state)
{
	(void)state;
	lab_run("gcc -shared -nostdlib \"$S/plain.s\" -o plain.so");
	uint64_t first = lab_symbol("plain.so", "bare_first"), second = lab_symbol("plain.so", "bare_second");
	struct profile *profile = lab_profile("plain.so");
	profile_add_location(profile, 0, first + 2);
	profile_add_location(profile, 0, second);
	profile_add_location(profile, 0, second + 2);
	lab_symbolize(profile);
	assert_string_equal(lab_name(profile, 0, 0), "bare_first");
	assert_string_equal(lab_name(profile, 1, 0), "bare_second");
	assert_string_equal(lab_name(profile, 2, 0), "bare_second");
	profile_free(profile);
}

static void expect_name(const char *program, uint64_t address, const char *name)
{
	struct profile *profile = lab_symbolized(program, address);
	lab_expect(profile, 0, name, NULL, 0);
	profile_free(profile);
}

/* A symbol without a size names its code, but not the functions without symbols behind it. */
static void test_extents(void **state)
{
	(void)state;
	static const char *const hidden[] = { "hidden_first",  "hidden_second", "hidden_third",
					      "hidden_fourth", "hidden_fifth",  "hidden_other" };
	lab_run("$CC -shared -nostdlib \"$S/extents.S\" -o full.so && cp full.so lib.so && strip lib.so");
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		uint64_t start = lab_symbol("full.so", hidden[i]);
		expect_name("full.so", start, hidden[i]);
		expect_nameless("lib.so", start, start);
	}
	expect_name("lib.so", lab_symbol("full.so", "label"), "label");
	expect_name("lib.so", lab_symbol("full.so", "hidden_tail"), "label");
	expect_name("lib.so", lab_symbol("full.so", "label_in_sized"), "sized");
	expect_name("lib.so", lab_symbol("full.so", "framed"), "framed");
	/* All at once give the same names. */
	struct profile *profile = lab_profile("lib.so");
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		profile_add_location(profile, 0, lab_symbol("full.so", hidden[i]));
	lab_symbolize(profile);
	for (uint32_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		char expected[32];
		snprintf(expected, sizeof(expected), "lib.so+0x%llx",
			 (unsigned long long)lab_symbol("full.so", hidden[i]));
		assert_string_equal(lab_name(profile, i, 0), expected);
	}
	profile_free(profile);
}

/* Even where the next symbol is far away, a symbol without a size names few pages only. */
static void test_extent_is_limited(void **state)
{
	(void)state;
	enum { MOST = 4096 };
	lab_run("$CC -shared -nostdlib \"$S/extents.S\" -o full.so");
	uint64_t far = lab_symbol("full.so", "far");
	expect_name("full.so", far + MOST - 4, "far");
	expect_nameless("full.so", far + MOST, far + MOST);
	expect_nameless("full.so", far + MOST + 400, far + MOST);
}

/* The same debug information, in each location where a debug file may be, gives the same frames. */
static void expect_separate(const char *program, uint64_t address, bool lines)
{
	struct profile *profile = lab_symbolized(program, address);
	assert_int_equal(profile->locations[0].frame_count, lines ? 3 : 1);
	if (lines)
		lab_expect(profile, 0, "inner", "inlines.c", lab_line("inlines.c", "MARK(1)"));
	else
		assert_non_null(strstr(lab_name(profile, 0, 0), "part+0x"));
	profile_free(profile);
}

static void test_separate_debug_files(void **state)
{
	(void)state;
	static const char *const builds[] = { "-Wl,--build-id=none", "-Wl,--build-id=sha1" };
	for (size_t i = 0; i < 2; i++) {
		lab_run("rm -rf .debug other && gcc -g -O2 %s \"$S/inlines.c\" -o full", builds[i]);
		uint64_t address = lab_mark("full", 1).address;
		lab_run("objcopy --only-keep-debug full part.debug && strip full -o part && "
			"objcopy --add-gnu-debuglink=part.debug part");
		expect_separate("part", address, true);
		lab_run("mkdir -p .debug && mv part.debug .debug/");
		expect_separate("part", address, true);
		/* If the program is a symbolic link, the debug file is searched next to the linked file. */
		lab_run("mkdir other && ln -s ../part other/part");
		expect_separate("other/part", address, true);
		/* A debug file with this name that belongs to another program is not used. */
		lab_run("gcc -g -O1 %s \"$S/clones.c\" -o wrong && objcopy --only-keep-debug wrong .debug/part.debug",
			builds[i]);
		expect_separate("part", address, false);
	}
}

/* .gnu_debugdata, as in Fedora's programs: a compressed symbol table. */
static void test_mini_debug_info(void **state)
{
	(void)state;
	lab_run("gcc -O2 \"$S/inlines.c\" -o full && strip full -o mini && objcopy -S --keep-symbol=helper full names "
		"&& "
		"xz -k names && objcopy --add-section .gnu_debugdata=names.xz mini");
	struct profile *profile = lab_symbolized("mini", lab_mark("full", 2).address);
	lab_expect(profile, 0, "helper", NULL, 0);
	profile_free(profile);
}

static void test_plt_stubs(void **state)
{
	(void)state;
	static const char *const flags[] = { "gcc -O2", "gcc -O2 -fcf-protection -Wl,-z,ibtplt", "gcc -O2 -no-pie",
					     "gcc -O2 -Wl,-z,lazy", "clang -O2" };
	for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
		lab_run("%s \"$S/inlines.c\" -o plt", flags[f]);
		/* objdump prints the stubs' addresses. */
		char *text = lab_output("objdump -d plt | sed -n 's/^\\([0-9a-f]*\\) <qsort@plt>:$/\\1/p'");
		assert_true(text[0] != 0);
		struct profile *profile = lab_symbolized("plt", strtoull(text, NULL, 16) + 6);
		lab_expect(profile, 0, "qsort@plt", NULL, 0);
		profile_free(profile);
		free(text);
	}
}

static void test_damaged_debug_info(void **state)
{
	(void)state;
	static const char *const sections[] = { ".debug_info",     ".debug_abbrev", ".debug_line",
						".debug_rnglists", ".debug_str",    ".debug_aranges" };
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o whole && head -c 3000 /dev/zero | tr '\\0' '\\377' > ones && "
		"head -c 3000 \"$S/inlines.c\" > text");
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		static const char *const fillings[] = { "ones", "text" };
		for (size_t f = 0; f < 2; f++) {
			lab_run("objcopy --update-section %s=%s whole damaged", sections[i], fillings[f]);
			struct profile *profile = lab_symbolized("damaged", lab_mark("whole", 2).address);
			assert_string_equal(lab_name(profile, 0, profile->locations[0].frame_count - 1), "helper");
			profile_free(profile);
		}
	}
}

/* Random bytes of the debug information and of the section headers are changed. Any frames are correct, but each
 * location must have at least one. */
static void check_flipped_bytes(void)
{
	uint64_t address = lab_mark("whole", 1).address, state_bits = 1;
	uint64_t end, first = lab_section("whole", ".debug_aranges", &end);
	for (int round = 0; round < 60; round++) {
		lab_run("cp whole flipped");
		FILE *file = fopen(lab_path("flipped"), "r+");
		assert_non_null(file);
		for (int i = 0; i < 1 + round % 20; i++) {
			state_bits = hash_u64(state_bits + 0x9e3779b97f4a7c15);
			fseek(file, (long)(first + state_bits % (end - first)), SEEK_SET);
			fputc((int)(state_bits >> 56), file);
		}
		fclose(file);
		profile_free(lab_symbolized("flipped", address));
	}
}

static void test_flipped_bytes(void **state)
{
	(void)state;
	lab_run("gcc -g -O2 \"$S/inlines.c\" -o whole");
	check_flipped_bytes();
	lab_run("objcopy --compress-debug-sections=zstd whole");
	check_flipped_bytes();
}

static void test_vdso(void **state)
{
	(void)state;
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	assert_non_null(symbol);
	struct profile *profile = profile_new();
	struct profile_module module = { .path = (uint32_t)profile_add_string(profile, "[vdso]"), .kind = MODULE_VDSO };
	assert_int_equal(profile_add_module(profile, &module), 0);
	profile_add_location(profile, 0, (uint64_t)symbol - getauxval(AT_SYSINFO_EHDR));
	lab_symbolize(profile);
	assert_string_equal(lab_name(profile, 0, 0), "clock_gettime");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlines),
		cmocka_unit_test(test_artificial_functions),
		cmocka_unit_test(test_functions_are_distinct),
		cmocka_unit_test(test_agrees_with_addr2line),
		cmocka_unit_test(test_cpp_names),
		cmocka_unit_test(test_clones_are_their_original),
		cmocka_unit_test(test_stripped_program),
		cmocka_unit_test(test_stripped_library),
		cmocka_unit_test(test_assembler),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_extent_is_limited),
		cmocka_unit_test(test_separate_debug_files),
		cmocka_unit_test(test_mini_debug_info),
		cmocka_unit_test(test_plt_stubs),
		cmocka_unit_test(test_damaged_debug_info),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_vdso),
	};
	return cmocka_run_group_tests(tests, lab_setup, lab_teardown);
}
