/*
 * Rows from code (unwind/parts.h) against the rows from unwind information: the libraries of this machine, once as they are and
 * once with their unwind information hidden.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind/unwind.h"

static char **libraries;
static int library_count;

static uint8_t *read_file(const char *path, size_t *size)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	uint8_t *bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), *size);
	close(fd);
	return bytes;
}

/* Gives .eh_frame another type of segment and another name. */
static void hide_information(uint8_t *bytes)
{
	Elf64_Ehdr header;
	memcpy(&header, bytes, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint32_t type, none = PT_NULL;
		uint8_t *segment = bytes + header.e_phoff + i * sizeof(Elf64_Phdr);
		memcpy(&type, segment, sizeof(type));
		if (type == PT_GNU_EH_FRAME)
			memcpy(segment, &none, sizeof(none));
	}
	Elf64_Shdr names;
	memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
	for (size_t at = 0; at + sizeof(".eh_frame") <= names.sh_size; at++) {
		char *name = (char *)bytes + names.sh_offset + at;
		if (strncmp(name, ".eh_frame", strlen(".eh_frame")) == 0)
			name[1] = 'x';
	}
}

static struct unwind_table *table_of(const uint8_t *bytes, size_t size)
{
	struct elf_file *file = elf_file_from_memory(bytes, size, "library", NULL);
	assert_non_null(file);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	elf_file_free(file);
	return table;
}

struct counts {
	unsigned long bytes, with_rows, compared, other_cfa, other_fp;
};

/* Compares at each byte of each function. A row by rbp and one by rsp may be equivalent; only rows of one kind are compared. */
static void compare(const struct unwind_table *known, const struct unwind_table *found, struct counts *counts)
{
	for (uint32_t i = 0; i < known->function_count; i++) {
		const struct unwind_function *function = &known->functions[i];
		for (uint32_t pc = function->start; pc < function->start + function->size; pc++) {
			const struct unwind_row *a = unwind_table_row(known, known->base + pc);
			const struct unwind_row *b = unwind_table_row(found, found->base + pc);
			counts->bytes++;
			if (!a || !b || b->kind == UNWIND_NO_RULE)
				continue;
			counts->with_rows++;
			if (a->kind != b->kind)
				continue;
			counts->compared++;
			counts->other_cfa += a->cfa != b->cfa;
			counts->other_fp += a->cfa == b->cfa && a->fp != b->fp;
		}
	}
}

/* Code that is followed gets the rows of its unwind information. The exceptions are functions behind calls that never return,
 * to which only pointers lead, and the code that handles exceptions of C++, to which only unwind information leads. */
static void rows_are_those_of_the_information(void **state)
{
	(void)state;
	struct counts all = { 0 };
	for (int i = 0; i < library_count; i++) {
		struct counts counts = { 0 };
		size_t size;
		uint8_t *bytes = read_file(libraries[i], &size);
		struct unwind_table *known = table_of(bytes, size);
		hide_information(bytes);
		struct unwind_table *found = table_of(bytes, size);
		assert_int_equal(found->function_count, 0);
		compare(known, found, &counts);
		print_message("%s: %lu bytes, with rows %lu, compared %lu, other CFA %lu, other fp %lu\n", libraries[i],
			      counts.bytes, counts.with_rows, counts.compared, counts.other_cfa, counts.other_fp);
		assert_true(counts.other_cfa + counts.other_fp <= counts.compared / 100);
		all.bytes += found->row_count ? counts.bytes : 0;
		all.with_rows += counts.with_rows;
		all.compared += counts.compared;
		unwind_table_free(known);
		unwind_table_free(found);
		free(bytes);
	}
	assert_true(all.with_rows > all.bytes / 2);
	assert_true(all.compared > all.with_rows / 10 * 9);
}

int main(int argc, char **argv)
{
	libraries = argv + 1;
	library_count = argc - 1;
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_those_of_the_information) };
	return cmocka_run_group_tests_name("code_rows", tests, NULL, NULL);
}
