#include "table_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* libdw's convention: no operations, and the array itself for undefined, NULL for same value. */
enum table_place table_place_of(Dwarf_Frame *frame, int number, Dwarf_Op **operations, size_t *count)
{
	static Dwarf_Op memory[3];
	assert_int_equal(dwarf_frame_register(frame, number, memory, operations, count), 0);
	if (*count == 0)
		return *operations == NULL ? TABLE_PLACE_SAME : TABLE_PLACE_UNDEFINED;
	return TABLE_PLACE_EXPRESSION;
}

bool table_is(const Dwarf_Op *operation, unsigned atom, uint64_t number)
{
	return operation->atom == atom && operation->number == number;
}

/* Do the operations mean "saved at CFA + offset"? libdw writes call_frame_cfa and plus_uconst; where an offset does not
 * fit plus_uconst it writes constants and plus. */
bool table_is_at_cfa(const Dwarf_Op *operations, size_t count, int64_t offset)
{
	if (count == 0 || operations[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (count == 1)
		return offset == 0;
	return count == 2 && table_is(&operations[1], DW_OP_plus_uconst, (uint64_t)offset);
}

bool table_cfa_is(const Dwarf_Op *cfa, size_t count, unsigned number, int64_t offset)
{
	return count == 1 &&
	       ((cfa[0].atom == DW_OP_breg0 + number && (int64_t)cfa[0].number == offset) ||
		(cfa[0].atom == DW_OP_bregx && cfa[0].number == number && (int64_t)cfa[0].number2 == offset));
}
