#include "unwind/table_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static bool rbp_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped)
{
	Dwarf_Op *operations;
	size_t count;
	enum table_place place = table_place_of(frame, ARCH_FP_REGISTER, &operations, &count);
	if (row->kind == UNWIND_FP_DEREF)
		return place == TABLE_PLACE_EXPRESSION && count >= 1 &&
		       table_is(&operations[count - 1], DW_OP_breg6, 0);
	if (row->fp == 0 && row->kind == UNWIND_SP && place == TABLE_PLACE_EXPRESSION) {
		/* Popped already: libdw's slot must be below rsp. */
		++*popped;
		return count == 2 && table_is_at_cfa(operations, count, (int64_t)operations[1].number) &&
		       8 * (int64_t)row->cfa + (int64_t)operations[1].number < 0;
	}
	if (row->fp == 0 || row->kind == UNWIND_PLT)
		return place == TABLE_PLACE_SAME;
	return place == TABLE_PLACE_EXPRESSION && table_is_at_cfa(operations, count, 8 * (int64_t)row->fp);
}

static bool cfa_agrees(const struct unwind_row *row, const Dwarf_Op *cfa, size_t count)
{
	int64_t offset = 8 * (int64_t)row->cfa;
	switch (row->kind) {
	case UNWIND_SP:
		return table_cfa_is(cfa, count, ARCH_SP_REGISTER, offset);
	case UNWIND_FP:
		return table_cfa_is(cfa, count, ARCH_FP_REGISTER, offset);
	case UNWIND_FP_DEREF:
		return count == 2 && table_is(&cfa[0], DW_OP_breg6, (uint64_t)offset) && cfa[1].atom == DW_OP_deref;
	case UNWIND_PLT:
		return count == 8 && table_is(&cfa[0], DW_OP_breg7, (uint64_t)offset) &&
		       table_is(&cfa[1], DW_OP_breg16, 0) && cfa[2].atom == DW_OP_lit15 && cfa[3].atom == DW_OP_and &&
		       cfa[4].atom == (uint8_t)(DW_OP_lit0 + row->fp) && cfa[5].atom == DW_OP_ge &&
		       cfa[6].atom == DW_OP_lit3 && cfa[7].atom == DW_OP_shl;
	default:
		return false;
	}
}

/* The same for the kinds that are not of the form above. */
static bool special_agrees(Dwarf_Frame *frame, const struct unwind_row *row, bool is_signal)
{
	Dwarf_Op *operations;
	size_t count;
	enum table_place place = table_place_of(frame, ARCH_PC_REGISTER, &operations, &count);
	if (row->kind == UNWIND_END)
		return place == TABLE_PLACE_UNDEFINED;
	return row->kind == UNWIND_SIGNAL && is_signal && place == TABLE_PLACE_EXPRESSION && count >= 1 &&
	       table_is(&operations[count - 1], DW_OP_breg7, 168 + 8 * (uint64_t)row->cfa);
}

bool table_row_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped)
{
	Dwarf_Addr start, end;
	bool is_signal;
	Dwarf_Op *operations;
	size_t count;
	int number = dwarf_frame_info(frame, &start, &end, &is_signal);
	if (row->kind == UNWIND_SLOW)
		return true; /* test_unwind_stepped compares the walks */
	if (row->kind == UNWIND_END || row->kind == UNWIND_SIGNAL)
		return special_agrees(frame, row, is_signal);
	if (number != ARCH_PC_REGISTER || is_signal ||
	    table_place_of(frame, ARCH_PC_REGISTER, &operations, &count) != TABLE_PLACE_EXPRESSION ||
	    !table_is_at_cfa(operations, count, -8) || !rbp_agrees(frame, row, popped))
		return false;
	Dwarf_Op *cfa;
	size_t cfa_count;
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &cfa_count), 0);
	/* The PLT's last operation. */
	if (row->kind == UNWIND_PLT)
		return cfa_count == 9 && cfa[8].atom == DW_OP_plus && cfa_agrees(row, cfa, 8);
	return cfa_agrees(row, cfa, cfa_count);
}

bool table_slow_is_needed(Dwarf_Frame *frame)
{
	Dwarf_Op *cfa;
	Dwarf_Op *rbp;
	Dwarf_Op *rip;
	size_t count, rbp_count, rip_count;
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &count), 0);
	int64_t offset = count == 1 ? (int64_t)cfa[0].number : 1;
	bool simple = count == 1 && (cfa[0].atom == DW_OP_breg6 || cfa[0].atom == DW_OP_breg7) && offset % 8 == 0 &&
		      offset / 8 >= INT16_MIN && offset / 8 <= INT16_MAX;
	if (!simple || table_place_of(frame, ARCH_PC_REGISTER, &rip, &rip_count) != TABLE_PLACE_EXPRESSION ||
	    !table_is_at_cfa(rip, rip_count, -8))
		return true;
	enum table_place place = table_place_of(frame, ARCH_FP_REGISTER, &rbp, &rbp_count);
	if (place == TABLE_PLACE_UNDEFINED)
		return true;
	return place == TABLE_PLACE_EXPRESSION &&
	       !(rbp_count == 2 && rbp[0].atom == DW_OP_call_frame_cfa && rbp[1].atom == DW_OP_plus_uconst &&
		 (int64_t)rbp[1].number % 8 == 0 && (int64_t)rbp[1].number / 8 >= INT8_MIN);
}
