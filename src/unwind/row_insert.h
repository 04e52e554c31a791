/* Rows for code that the CFI describes wrongly or not at all. */
#ifndef UNWIND_ROW_INSERT_H
#define UNWIND_ROW_INSERT_H

#include "unwind/unwind.h"

/* Puts a row for the code from `start` up to `end` (both minus the table's base) between the two parts of the row that covers it, in a table
 * whose pages are not made yet. Does nothing if no single row covers it. Returns 0 or ERROR_MEMORY. */
int row_insert(struct unwind_table *table, uint32_t start, uint32_t end, const struct unwind_row *row);

#endif
