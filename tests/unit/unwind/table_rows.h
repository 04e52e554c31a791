/* Whether rows mean what libdw reads from the same call frame information. */
#ifndef TESTS_TABLE_ROWS_H
#define TESTS_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "unwind/unwind.h"

/* --- of the processor: arch/PROCESSOR/table_rows.c --- */

/* Does the row mean what libdw's frame does? UNWIND_SLOW always does: it refers to the unwind information itself.
 * *popped counts the rows that restore a popped fp where libdw leaves it unknown. */
bool table_row_agrees(Dwarf_Frame *frame, const struct unwind_row *row, unsigned *popped);

/* Is there no fast row that means the same as libdw's frame? */
bool table_slow_is_needed(Dwarf_Frame *frame);

/* --- libdw's answers: table_rows.c --- */

enum table_place { TABLE_PLACE_UNDEFINED, TABLE_PLACE_SAME, TABLE_PLACE_EXPRESSION };

/* Where the caller's register is; *operations is valid until the next call. */
enum table_place table_place_of(Dwarf_Frame *frame, int number, Dwarf_Op **operations, size_t *count);

bool table_is(const Dwarf_Op *operation, unsigned atom, uint64_t number);

/* Are the operations "saved at CFA + offset"? */
bool table_is_at_cfa(const Dwarf_Op *operations, size_t count, int64_t offset);

/* Is the CFA that register plus the offset? */
bool table_cfa_is(const Dwarf_Op *cfa, size_t count, unsigned number, int64_t offset);

#endif
