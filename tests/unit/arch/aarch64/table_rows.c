#include "unwind/table_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORD = 8, MOST_RECORD_WORDS = INT8_MAX };

/* Where x29 and x30 are, as libdw reads it. */
struct record {
	bool is_kept;   /* both are unchanged */
	bool is_record; /* both are saved, x30 behind x29 */
	int64_t offset; /* of x29 from the CFA */
};

static bool saved_at(Dwarf_Frame *frame, int number, int64_t *offset)
{
	Dwarf_Op *operations;
	size_t count;
	if (table_place_of(frame, number, &operations, &count) != TABLE_PLACE_EXPRESSION)
		return false;
	*offset = count == 2 ? (int64_t)operations[1].number : 0;
	return table_is_at_cfa(operations, count, *offset);
}

static bool is_kept(Dwarf_Frame *frame, int number)
{
	Dwarf_Op *operations;
	size_t count;
	return table_place_of(frame, number, &operations, &count) == TABLE_PLACE_SAME;
}

static struct record record_of(Dwarf_Frame *frame)
{
	struct record record = {
		.is_kept = is_kept(frame, ARCH_FP_REGISTER) && is_kept(frame, ARCH_LR_REGISTER),
	};
	int64_t lr;
	record.is_record = saved_at(frame, ARCH_FP_REGISTER, &record.offset) &&
			   saved_at(frame, ARCH_LR_REGISTER, &lr) && lr == record.offset + WORD;
	return record;
}

static bool return_is_undefined(Dwarf_Frame *frame)
{
	Dwarf_Op *operations;
	size_t count;
	return table_place_of(frame, ARCH_LR_REGISTER, &operations, &count) == TABLE_PLACE_UNDEFINED;
}

bool table_row_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped)
{
	(void)popped;
	Dwarf_Addr start, end;
	bool is_signal;
	int column = dwarf_frame_info(frame, &start, &end, &is_signal);
	if (row->kind == UNWIND_SLOW)
		return true;
	if (row->kind == UNWIND_END)
		return return_is_undefined(frame);
	if (row->kind == UNWIND_SIGNAL || is_signal)
		return row->kind == UNWIND_SIGNAL && is_signal && row->cfa == ARCH_SIGNAL_WORDS;
	if ((row->kind != UNWIND_SP && row->kind != UNWIND_FP) || column != ARCH_LR_REGISTER)
		return false;
	Dwarf_Op *cfa;
	size_t count;
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &count), 0);
	unsigned base = row->kind == UNWIND_SP ? ARCH_SP_REGISTER : ARCH_FP_REGISTER;
	struct record record = record_of(frame);
	return table_cfa_is(cfa, count, base, WORD * (int64_t)row->cfa) &&
	       (row->fp < 0 ? record.is_kept
			    : record.is_record && record.offset + WORD * (int64_t)row->cfa == WORD * (int64_t)row->fp);
}

bool table_slow_is_needed(Dwarf_Frame *frame)
{
	Dwarf_Op *cfa;
	size_t count;
	struct record record = record_of(frame);
	assert_int_equal(dwarf_frame_cfa(frame, &cfa, &count), 0);
	bool has_base = count == 1 && (cfa[0].atom == DW_OP_breg29 || cfa[0].atom == DW_OP_breg31);
	if (return_is_undefined(frame))
		return false;
	if (!has_base || (!record.is_kept && !record.is_record))
		return true;
	int64_t offset = (int64_t)cfa[0].number, from_base = offset + record.offset;
	bool fits = offset % WORD == 0 && offset / WORD >= INT16_MIN && offset / WORD <= INT16_MAX;
	return !fits ||
	       (record.is_record && (from_base % WORD != 0 || from_base < 0 || from_base / WORD > MOST_RECORD_WORDS));
}
