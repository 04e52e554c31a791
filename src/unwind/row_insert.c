#include "unwind/parts.h"

#include "base/lower_bound.h"
#include <stdlib.h>
#include <string.h>

/* Returns the index of the row that is in force at a pc, or UINT32_MAX before the first row. */
static uint32_t row_at(const struct unwind_table *table, uint32_t pc)
{
	return (uint32_t)LOWER_BOUND(i, 0, table->row_count, table->rows[i].pc <= pc) - 1;
}

int row_insert(struct unwind_table *table, uint32_t start, uint32_t end, const struct unwind_row *row)
{
	enum { ADDED_MOST = 2 };
	uint32_t covering = row_at(table, start);
	if (end <= start || covering == UINT32_MAX || row_at(table, end - 1) != covering ||
	    table->row_count > UINT32_MAX - ADDED_MOST)
		return 0;
	struct unwind_row *rows = realloc(table->rows, (table->row_count + (size_t)ADDED_MOST) * sizeof(*rows));
	if (!rows)
		return ERROR_MEMORY;
	table->rows = rows;
	struct unwind_row before = rows[covering], after = before, own = *row;
	uint32_t next = covering + 1, kept = before.pc < start;
	bool ends_there = next < table->row_count && rows[next].pc == end;
	uint32_t first = covering + kept, added = kept + !ends_there;
	memmove(&rows[next + added], &rows[next], (table->row_count - next) * sizeof(*rows));
	own.pc = start;
	after.pc = end;
	rows[first] = own;
	if (!ends_there)
		rows[first + 1] = after;
	table->row_count += added;
	return 0;
}
