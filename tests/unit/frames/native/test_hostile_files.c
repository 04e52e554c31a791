/* Files that a hostile user could make to exhaust or to end a program that names their addresses. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/native/line_rows.h"
#include "profile/findings.h"
#include "support/symbols_lab.h"

static struct module_file open_linked(const char *program)
{
	struct module_file file;
	struct error error = { 0 };
	const char *path = lab_path(program);
	assert_int_equal(module_file_open(&file, open(path, O_RDONLY), path, &error), 0);
	return file;
}

/* The owner of the file truncates it while it is read. */
static void test_truncated_meanwhile(void **state)
{
	(void)state;
	static const off_t sizes[] = { 0, 100, 5000 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		lab_run("$CC -g -O2 $S/inlines.c -o cut");
		struct module_file file = open_linked("cut");
		struct line_rows rows;
		assert_int_equal(truncate(lab_path("cut"), sizes[i]), 0);
		assert_int_equal(line_rows_read(&rows, &file, 0, UINT64_MAX), 0);
		line_rows_release(&rows);
		module_file_function(&file, 0x1000);
		module_file_close(&file);
	}
}

/* Makes a section of a program 2 GB larger, by a hole at the end of the file. */
static void inflate(const char *program, const char *section)
{
	uint64_t bytes;
	struct elf_image image;
	lab_section(program, section, &bytes);
	int fd = open(lab_path(program), O_RDWR);
	assert_true(fd >= 0);
	Elf64_Ehdr header;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	Elf64_Shdr *sections = calloc(header.e_shnum, sizeof(*sections));
	size_t table = header.e_shnum * sizeof(*sections);
	assert_int_equal(pread(fd, sections, table, (off_t)header.e_shoff), table);
	uint64_t offset = lab_section(program, section, &bytes);
	for (int i = 0; i < header.e_shnum; i++) {
		if (sections[i].sh_offset != offset)
			continue;
		sections[i].sh_size = UINT64_C(2) << 30;
		sections[i].sh_offset = bytes;
	}
	assert_int_equal(pwrite(fd, sections, table, (off_t)header.e_shoff), table);
	assert_int_equal(ftruncate(fd, (off_t)(bytes + (UINT64_C(2) << 30))), 0);
	free(sections);
	struct error error = { 0 };
	bool is_read = strncmp(section, ".debug", 6) == 0;
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
	lab_run("$CC -g -O2 $S/inlines.c -o hollow");
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
	lab_run("$CC -g -O2 $S/inlines.c -o hollow");
	uint64_t address = lab_mark("hollow", 2).address;
	inflate("hollow", ".eh_frame");
	long before = most_kilobytes();
	struct module_file file = open_linked("hollow");
	module_file_function(&file, address);
	assert_null(elf_file_section(file.bytes, ".eh_frame").bytes);
	assert_in_range(most_kilobytes() - before, 0, 128 << 10);
	module_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_truncated_meanwhile, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_sparse_debug_information, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_sparse_unwind_information, lab_setup, lab_teardown),
	};
	return cmocka_run_group_tests_name("hostile files", tests, NULL, NULL);
}
