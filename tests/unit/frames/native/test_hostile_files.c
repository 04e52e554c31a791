/* Files that a hostile user could make to stop, to exhaust or to end a program that names their addresses. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/frames.h"
#include "frames/native/line_rows.h"
#include "profile/findings.h"
#include "support/hostile_lab.h"
#include "support/symbols_lab.h"

/* A test that waits longer for a file is ended by SIGALRM. */
enum { PATIENCE_S = 30 };

/* Makes a program whose debug information refers to a file that dwz made, which is at `where`. */
static void make_linked(const char *program, const char *where)
{
	lab_run("$CC -g -O2 -Wl,--build-id=0x0102030405060708090a \"$S/inlines.c\" -o %s && "
		"printf '%s\\0\\001\\002\\003\\004\\005\\006\\007\\010' > link && "
		"$OBJCOPY --add-section .gnu_debugaltlink=link %s",
		program, where, program);
}

static void test_fifo_of_dwz(void **state)
{
	(void)state;
	static const char *const places[] = { "", "$PWD/" };
	lab_run("mkdir .dwz && mkfifo .dwz/shared");
	for (size_t i = 0; i < 2; i++) {
		char where[600] = ".dwz/shared";
		if (places[i][0])
			snprintf(where, sizeof(where), "%s", lab_path(".dwz/shared"));
		make_linked("linked", where);
		struct mark mark = lab_mark("linked", 2);
		alarm(PATIENCE_S);
		struct profile *profile = lab_symbolized("linked", mark.address);
		alarm(0);
		lab_expect(profile, 0, "helper", "inlines.c", mark.line);
		profile_free(profile);
	}
}

static struct module_file open_linked(const char *program)
{
	struct module_file file;
	struct error error = { 0 };
	const char *path = lab_path(program);
	assert_int_equal(module_file_open(&file, open(path, O_RDONLY), path, &error), 0);
	return file;
}

/* libdw searches for the shared file itself when it first meets a reference into it. */
static void test_libdw_searches_nothing(void **state)
{
	(void)state;
	uint64_t bias;
	make_linked("linked", ".dwz/shared");
	struct module_file file = open_linked("linked");
	alarm(PATIENCE_S);
	Dwarf *dwarf = module_file_dwarf(&file, &bias);
	assert_non_null(dwarf);
	Dwarf *shared = dwarf_getalt(dwarf);
	alarm(0);
	assert_non_null(shared);
	Dwarf_CU *unit = NULL;
	assert_int_not_equal(dwarf_get_units(shared, NULL, &unit, NULL, NULL, NULL, NULL), 0);
	module_file_close(&file);
}

/* A shared file is used if it has the build-id. */
static void test_shared_file(void **state)
{
	(void)state;
	static const char *const ids[] = { "0x0102030405060708", "0x0102030405060709" };
	make_linked("linked", "shared");
	for (size_t i = 0; i < 2; i++) {
		lab_run("$CC -g -Wl,--build-id=%s \"$S/clones.c\" -o shared", ids[i]);
		uint64_t bias;
		struct module_file file = open_linked("linked");
		Dwarf *dwarf = module_file_dwarf(&file, &bias);
		Dwarf_CU *unit = NULL;
		int found = dwarf_get_units(dwarf_getalt(dwarf), NULL, &unit, NULL, NULL, NULL, NULL);
		assert_int_equal(found == 0, i == 0);
		module_file_close(&file);
	}
}

/* A split unit's file is opened by libdw: where it was compiled, or beside the program. It may be a FIFO. */
static void test_split_units(void **state)
{
	(void)state;
	lab_run("mkdir build && cd build && $CC -c -g -O2 -gsplit-dwarf \"$S/inlines.c\" -o split.o && $CC split.o -o "
		"../split");
	const struct mark mark = lab_mark("split", 2);
	static const struct {
		const char *command;
		uint32_t line; /* 1: the mark's */
	} places[] = { { "true", 1 },
		       { "mv build/*.dwo .", 1 },
		       { "rm *.dwo && mkfifo build/split.dwo", 0 },
		       { "mkfifo split.dwo && rm build/split.dwo", 0 } };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		lab_run("%s", places[i].command);
		alarm(PATIENCE_S);
		struct profile *profile = lab_symbolized("split", mark.address);
		alarm(0);
		assert_string_equal(lab_name(profile, 0, 0), "helper");
		assert_int_equal(lab_function(profile, 0, 0)->line != 0, places[i].line);
		profile_free(profile);
	}
}

/* The owner of the file truncates it while it is read. */
static void test_truncated_meanwhile(void **state)
{
	(void)state;
	static const off_t sizes[] = { 0, 100, 5000 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		lab_run("$CC -g -O2 \"$S/inlines.c\" -o cut");
		struct module_file file = open_linked("cut");
		struct line_rows rows;
		assert_int_equal(truncate(lab_path("cut"), sizes[i]), 0);
		assert_int_equal(line_rows_read(&rows, &file, 0, UINT64_MAX), 0);
		line_rows_release(&rows);
		module_file_function(&file, 0x1000);
		module_file_close(&file);
	}
}

/* Makes a section of a program 2 GB larger. elf_image_open refuses it, if it reads that section. */
static void inflate(const char *program, const char *section)
{
	struct elf_image image;
	struct error error = { 0 };
	bool is_read = strncmp(section, ".debug", 6) == 0;
	hostile_hollow(program, section);
	int fd = open(lab_path(program), O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(&image, fd, program, &error), is_read ? ERROR_LIMIT : 0);
	if (is_read)
		assert_non_null(strstr(error.message, "is sparse"));
	elf_end(image.elf);
	elf_image_release(&image);
	close(fd);
}

static long most_kilobytes(void)
{
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void test_sparse_debug_information(void **state)
{
	(void)state;
	lab_run("$CC -g -O2 \"$S/inlines.c\" -o hollow");
	uint64_t address = lab_mark("hollow", 2).address;
	inflate("hollow", ".debug_info");
	long before = most_kilobytes();
	struct profile *profile = lab_symbolized("hollow", address);
	assert_in_range(most_kilobytes() - before, 0, 128 << 10);
	assert_int_equal(strncmp(lab_name(profile, 0, 0), "hollow+0x", 9), 0);
	const struct profile_finding *finding = finding_find(profile, FINDING_FILE_UNREADABLE);
	assert_non_null(finding);
	assert_non_null(strstr(profile_string(profile, finding->text), "is sparse"));
	profile_free(profile);
}

static void test_sparse_unwind_information(void **state)
{
	(void)state;
	lab_run("$CC -g -O2 \"$S/inlines.c\" -o hollow");
	uint64_t address = lab_mark("hollow", 2).address;
	inflate("hollow", ".eh_frame");
	long before = most_kilobytes();
	struct module_file file = open_linked("hollow");
	module_file_function(&file, address);
	assert_null(elf_file_section(file.bytes, ".eh_frame").bytes);
	assert_in_range(most_kilobytes() - before, 0, 128 << 10);
	module_file_close(&file);
}

/* --- the process in the jail --- */

extern void __asan_init(void) __attribute__((weak));

/* Its memory includes a copy of the recorder's. A reader that believes the 2 GB takes 2.1 GB, and 28 s. */
enum { CHILD_MOST_KB = 128 << 10, CHILD_MOST_S = 10 };

struct cost {
	int status;
	long kilobytes, seconds;
};

/* Names an address of a program in a process of its own, whose only child is the process in the jail. Returns that child's cost. */
static struct cost cost_of_naming(const char *program, uint64_t address)
{
	int pipes[2];
	struct cost cost = { .status = 1 };
	struct profile *profile = lab_profile(program);
	assert_int_equal(profile_add_location(profile, 0, address), 0);
	assert_int_equal(pipe(pipes), 0);
	alarm(PATIENCE_S);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rusage usage;
		struct error error = { 0 };
		cost.status = frames_name_profile(profile, NULL, &error);
		getrusage(RUSAGE_CHILDREN, &usage);
		cost.kilobytes = usage.ru_maxrss;
		cost.seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
		_exit(write(pipes[1], &cost, sizeof(cost)) == sizeof(cost) ? 0 : 1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &cost, sizeof(cost)), sizeof(cost));
	alarm(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pipes[0]);
	profile_free(profile);
	return cost;
}

static void expect_bounded(const char *program, uint64_t address, const char *what)
{
	const struct cost cost = cost_of_naming(program, address);
	assert_int_equal(cost.status, 0);
	assert_true(cost.kilobytes > 0); /* there was a child */
	if (cost.kilobytes > CHILD_MOST_KB || cost.seconds > CHILD_MOST_S)
		fail_msg("%s: %ld KB of memory, %ld s of CPU time", what, cost.kilobytes, cost.seconds);
}

static void test_child_is_bounded_by_sections(void **state)
{
	static const char *const sections[] = { ".debug_info",    ".debug_abbrev", ".debug_line", ".debug_str",
						".debug_aranges", ".symtab",       ".strtab",     ".shstrtab",
						".dynsym",        ".dynstr",       ".eh_frame",   ".text" };
	(void)state;
	if (__asan_init)
		skip(); /* its own memory is larger */
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		lab_run("$CC -g -O2 \"$S/inlines.c\" -o hollow");
		uint64_t address = lab_mark("hollow", 2).address;
		hostile_hollow("hollow", sections[i]);
		expect_bounded("hollow", address, sections[i]);
	}
}

/* The parts of a file that ends early, by the lengths that its headers have. */
static void test_child_is_bounded_by_ends(void **state)
{
	static const off_t sizes[] = { 1, 64, 100, 4096, 9000 };
	(void)state;
	if (__asan_init)
		skip();
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		char what[64];
		off_t size = sizes[i / 2];
		snprintf(what, sizeof(what), "%lld bytes%s", (long long)size, i % 2 ? ", and a hole" : "");
		lab_run("$CC -g -O2 \"$S/inlines.c\" -o cut");
		uint64_t address = lab_mark("cut", 2).address;
		assert_int_equal(truncate(lab_path("cut"), size), 0);
		if (i % 2)
			assert_int_equal(truncate(lab_path("cut"), (off_t)2 << 30), 0);
		expect_bounded("cut", address, what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fifo_of_dwz, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_libdw_searches_nothing, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_shared_file, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_split_units, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_truncated_meanwhile, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_sparse_debug_information, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_sparse_unwind_information, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_child_is_bounded_by_sections, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_child_is_bounded_by_ends, lab_setup, lab_teardown),
	};
	return cmocka_run_group_tests_name("hostile files", tests, NULL, NULL);
}
