/*
 * Compares the unwind tables of real libraries with libdw. At the first byte of a row and at the last byte before
 * it, the row must mean the same as libdw's rules from the same CFI: the expression of the CFA, and where rbp and
 * the return address are saved. Usage: test_unwind_tables FILE...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unwind/unwind.h"

enum { MOST_FILES = 16, LOOKS_PER_FILE = 20000, MOST_OPERATIONS = 16 };

struct library {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct unwind_table *table;
};

struct counts {
	unsigned slow;
	unsigned popped;
};

static bool is(const Dwarf_Op *operation, unsigned atom, uint64_t number)
{
	return operation->atom == atom && operation->number == number;
}

/* libdw expresses "saved at CFA + offset" as call_frame_cfa, followed by plus_uconst unless the offset is 0. */
static bool is_at_cfa(const Dwarf_Op *operations, size_t count, int64_t offset)
{
	if (count == 0 || operations[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (count == 1)
		return offset == 0;
	return count == 2 && is(&operations[1], DW_OP_plus_uconst, (uint64_t)offset);
}

/* libdw returns no operations for both: NULL means the same value, and the caller's array means undefined. */
enum { PLACE_UNDEFINED, PLACE_SAME, PLACE_EXPRESSION };

static int place_of(Dwarf_Frame *frame, int number, Dwarf_Op **operations, size_t *count)
{
	static Dwarf_Op memory[3];
	assert_int_equal(dwarf_frame_register(frame, number, memory, operations, count), 0);
	if (*count == 0)
		return *operations == NULL ? PLACE_SAME : PLACE_UNDEFINED;
	return PLACE_EXPRESSION;
}

static bool cfa_is_register(const Dwarf_Op *cfa, size_t count, unsigned number, int64_t offset)
{
	return count == 1 &&
	       ((cfa[0].atom == DW_OP_breg0 + number && (int64_t)cfa[0].number == offset) ||
		(cfa[0].atom == DW_OP_bregx && cfa[0].number == number && (int64_t)cfa[0].number2 == offset));
}

static bool rbp_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped)
{
	Dwarf_Op *operations;
	size_t count;
	int place = place_of(frame, ARCH_FP_REGISTER, &operations, &count);
	if (row->kind == UNWIND_FP_DEREF)
		return place == PLACE_EXPRESSION && count >= 1 && is(&operations[count - 1], DW_OP_breg6, 0);
	if (row->fp == 0 && row->kind == UNWIND_SP && place == PLACE_EXPRESSION) {
		/* rbp is popped already: libdw's slot must be below rsp. */
		++*popped;
		return count == 2 && is_at_cfa(operations, count, (int64_t)operations[1].number) &&
		       8 * (int64_t)row->cfa + (int64_t)operations[1].number < 0;
	}
	if (row->fp == 0 || row->kind == UNWIND_PLT)
		return place == PLACE_SAME;
	return place == PLACE_EXPRESSION && is_at_cfa(operations, count, 8 * (int64_t)row->fp);
}

static bool cfa_agrees(const struct unwind_row *row, const Dwarf_Op *cfa, size_t count)
{
	int64_t offset = 8 * (int64_t)row->cfa;
	switch (row->kind) {
	case UNWIND_SP:
		return cfa_is_register(cfa, count, ARCH_SP_REGISTER, offset);
	case UNWIND_FP:
		return cfa_is_register(cfa, count, ARCH_FP_REGISTER, offset);
	case UNWIND_FP_DEREF:
		return count == 2 && is(&cfa[0], DW_OP_breg6, (uint64_t)offset) && cfa[1].atom == DW_OP_deref;
	case UNWIND_PLT:
		return count == 8 && is(&cfa[0], DW_OP_breg7, (uint64_t)offset) && is(&cfa[1], DW_OP_breg16, 0) &&
		       cfa[2].atom == DW_OP_lit15 && cfa[3].atom == DW_OP_and &&
		       cfa[4].atom == (uint8_t)(DW_OP_lit0 + row->fp) && cfa[5].atom == DW_OP_ge &&
		       cfa[6].atom == DW_OP_lit3 && cfa[7].atom == DW_OP_shl;
	default:
		return false;
	}
}

/* Compares the row kinds that have no CFA and no slot of rbp. */
static bool special_agrees(Dwarf_Frame *frame, const struct unwind_row *row, bool is_signal)
{
	Dwarf_Op *operations;
	size_t count;
	int place = place_of(frame, ARCH_PC_REGISTER, &operations, &count);
	if (row->kind == UNWIND_END)
		return place == PLACE_UNDEFINED;
	return row->kind == UNWIND_SIGNAL && is_signal && place == PLACE_EXPRESSION && count >= 1 &&
	       is(&operations[count - 1], DW_OP_breg7, 168 + 8 * (uint64_t)row->cfa);
}

static bool row_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped)
{
	Dwarf_Addr start, end;
	bool is_signal;
	Dwarf_Op *operations;
	size_t count;
	int number = dwarf_frame_info(frame, &start, &end, &is_signal);
	if (row->kind == UNWIND_SLOW)
		return true; /* the walk evaluates the CFI: see test_unwind_stepped */
	if (row->kind == UNWIND_END || row->kind == UNWIND_SIGNAL)
		return special_agrees(frame, row, is_signal);
	if (number != ARCH_PC_REGISTER || is_signal ||
	    place_of(frame, ARCH_PC_REGISTER, &operations, &count) != PLACE_EXPRESSION ||
	    !is_at_cfa(operations, count, -8) || !rbp_agrees(frame, row, popped))
		return false;
	Dwarf_Op *cfa;
	size_t cfa_count;
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &cfa_count), 0);
	/* The last operation of the PLT's expression. */
	if (row->kind == UNWIND_PLT)
		return cfa_count == 9 && cfa[8].atom == DW_OP_plus && cfa_agrees(row, cfa, 8);
	return cfa_agrees(row, cfa, cfa_count);
}

/* Whether libdw's rule cannot be expressed as a fast row. If it can, a slow row wastes time. */
static bool slow_is_needed(Dwarf_Frame *frame)
{
	Dwarf_Op *cfa;
	Dwarf_Op *rbp;
	Dwarf_Op *rip;
	size_t count, rbp_count, rip_count;
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &count), 0);
	int64_t offset = count == 1 ? (int64_t)cfa[0].number : 1;
	bool simple = count == 1 && (cfa[0].atom == DW_OP_breg6 || cfa[0].atom == DW_OP_breg7) && offset % 8 == 0 &&
		      offset / 8 >= INT16_MIN && offset / 8 <= INT16_MAX;
	if (!simple || place_of(frame, ARCH_PC_REGISTER, &rip, &rip_count) != PLACE_EXPRESSION ||
	    !is_at_cfa(rip, rip_count, -8))
		return true;
	int place = place_of(frame, ARCH_FP_REGISTER, &rbp, &rbp_count);
	if (place == PLACE_UNDEFINED)
		return true;
	return place == PLACE_EXPRESSION &&
	       !(rbp_count == 2 && rbp[0].atom == DW_OP_call_frame_cfa && rbp[1].atom == DW_OP_plus_uconst &&
		 (int64_t)rbp[1].number % 8 == 0 && (int64_t)rbp[1].number / 8 >= INT8_MIN);
}

static void look_at(struct library *library, uint64_t address, struct counts *counts)
{
	Dwarf_Frame *frame = NULL;
	const struct unwind_row *row = unwind_table_row(library->table, address);
	int status = dwarf_cfi_addrframe(library->cfi, address, &frame);
	bool right;
	if (status != 0)
		right = !row || row->kind == UNWIND_NO_RULE;
	else
		right = row && row->kind != UNWIND_NO_RULE && row_agrees(frame, row, &counts->popped);
	if (right && row && row->kind == UNWIND_SLOW) {
		right = slow_is_needed(frame);
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
	print_message("%u rows, every %u.; met %u slow ones, %u with a popped rbp\n", rows, stride, counts.slow,
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
