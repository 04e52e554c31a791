/*
 * Compares the unwind tables of real libraries with libdw. At the first byte of a row and at the last byte before
 * it, the row must mean the same as libdw's rules from the same CFI: the expression of the CFA, and where fp and
 * the return address are saved. The meaning of rows depends on the processor (arch/PROCESSOR/table_rows.c).
 * Usage: test_unwind_tables FILE...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unwind/table_rows.h"

enum { MOST_FILES = 16, LOOKS_PER_FILE = 20000 };

struct library {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct unwind_table *table;
};

struct counts {
	unsigned slow;
	unsigned popped;
};

static void look_at(struct library *library, uint64_t address, struct counts *counts)
{
	Dwarf_Frame *frame = NULL;
	const struct unwind_row *row = unwind_table_row(library->table, address);
	int status = dwarf_cfi_addrframe(library->cfi, address, &frame);
	bool right;
	if (status != 0) /* rows of other code come from the code itself: test_code_rows.c */
		right = !row || row->kind == UNWIND_NO_RULE ||
			unwind_table_function(library->table, address, NULL) == 0;
	else
		right = row && row->kind != UNWIND_NO_RULE && table_row_agrees(frame, row, &counts->popped);
	if (right && row && row->kind == UNWIND_SLOW) {
		right = table_slow_is_needed(frame);
		counts->slow++;
	}
	free(frame);
	if (!right)
		fail_msg("0x%" PRIx64 ": kind %d, cfa %d, fp %d is not libdw's rule", address, row ? row->kind : -1,
			 row ? row->cfa : 0, row ? row->fp : 0);
}

static void whole_table(void **state)
{
	const char *path = *state;
	struct library library;
	struct counts counts = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	elf_version(EV_CURRENT);
	library.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	library.cfi = dwarf_getcfi_elf(library.elf);
	assert_non_null(library.cfi);
	struct elf_file *file = elf_file_open(fd, path, NULL);
	assert_non_null(file);
	library.table = unwind_table_new(file, NULL);
	assert_non_null(library.table);
	elf_file_free(file);
	assert_int_equal(library.table->skipped, 0);
	uint32_t rows = library.table->row_count;
	assert_true(rows > 0);
	/* An odd stride, so that rows of all kinds are compared. */
	uint32_t stride = rows / LOOKS_PER_FILE | 1;
	for (uint32_t i = 0; i < rows; i += stride) {
		uint64_t address = library.table->base + library.table->rows[i].pc;
		look_at(&library, address, &counts);
		if (i > 0)
			look_at(&library, address - 1, &counts);
	}
	print_message("%u rows, every %u.; met %u slow ones, %u with a popped fp\n", rows, stride, counts.slow,
		      counts.popped);
	unwind_table_free(library.table);
	dwarf_cfi_end(library.cfi);
	elf_end(library.elf);
	close(fd);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[MOST_FILES];
	size_t count = 0;
	for (int i = 1; i < argc && count < MOST_FILES; i++)
		tests[count++] = (struct CMUnitTest){
			.name = argv[i],
			.test_func = whole_table,
			.initial_state = argv[i],
		};
	if (count == 0 || count != (size_t)argc - 1) {
		fprintf(stderr, "usage: test_unwind_tables FILE...\n");
		return 2;
	}
	return _cmocka_run_group_tests("unwind_tables", tests, count, NULL, NULL);
}
