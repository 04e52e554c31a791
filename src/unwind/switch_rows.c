#include "unwind/switch_rows.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"

/* A program has few such calls. */
enum { SWITCHES_MAX = 8, PIECE_BYTES = 1 << 16 };

struct call {
	uint32_t start, end; /* minus the table's base */
	struct unwind_row row;
};

struct calls {
	struct call items[SWITCHES_MAX];
	size_t count;
};

/* Adds the calls in a piece of code, but those that begin in its last bytes, fewer than ARCH_SWITCH_BYTES. */
static void find_in(struct calls *calls, const uint8_t *code, size_t size, uint32_t pc)
{
	struct unwind_row row;
	size_t end;
	for (size_t at = 0; calls->count < SWITCHES_MAX && arch_next_switch(code, size, &at, &end, &row); at = end)
		calls->items[calls->count++] =
			(struct call){ .start = pc + (uint32_t)at, .end = pc + (uint32_t)end, .row = row };
}

/* Returns the size of the functions from number *i on that are read at once, and advances *i behind them. */
static uint32_t piece_size(const struct unwind_table *table, uint32_t *i)
{
	const struct unwind_function *first = &table->functions[*i];
	uint32_t size = 0;
	for (; *i < table->function_count; ++*i) {
		const struct unwind_function *function = &table->functions[*i];
		uint64_t with = (uint64_t)function->start - first->start + function->size;
		if (with > PIECE_BYTES && size > 0)
			break;
		size = with < PIECE_BYTES ? (uint32_t)with : PIECE_BYTES;
	}
	return size;
}

/* Searches the functions piece by piece, because all of the text would stay in memory. */
static int find(struct calls *calls, const struct unwind_table *table, struct elf_file *file)
{
	uint8_t *code = malloc(PIECE_BYTES + ARCH_SWITCH_BYTES);
	if (!code)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < table->function_count;) {
		uint32_t start = table->functions[i].start;
		size_t size = piece_size(table, &i);
		size_t more = size + ARCH_SWITCH_BYTES - 1; /* a call at the end is found by the code behind it */
		if (elf_file_copy(file, table->base + start, code, more))
			find_in(calls, code, more, start);
		else if (elf_file_copy(file, table->base + start, code, size))
			find_in(calls, code, size, start);
	}
	free(code);
	return 0;
}

/* Returns the index of the row that is in force at a pc, which is not before the first row. */
static uint32_t row_at(const struct unwind_table *table, uint32_t pc)
{
	uint32_t low = 0, high = table->row_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* Puts a call's row between the two parts of the row that covers it. */
static void insert(struct unwind_table *table, const struct call *call)
{
	uint32_t covering = row_at(table, call->start);
	if (row_at(table, call->end - 1) != covering)
		return;
	struct unwind_row before = table->rows[covering], after = before, own = call->row;
	uint32_t next = covering + 1, kept = before.pc < call->start;
	bool ends_there = next < table->row_count && table->rows[next].pc == call->end;
	uint32_t first = covering + kept, added = kept + !ends_there;
	memmove(&table->rows[next + added], &table->rows[next], (table->row_count - next) * sizeof(*table->rows));
	own.pc = call->start;
	after.pc = call->end;
	table->rows[first] = own;
	if (!ends_there)
		table->rows[first + 1] = after;
	table->row_count += added;
}

int switch_rows_add(struct unwind_table *table, struct elf_file *file)
{
	enum { ROWS_EACH = 2 };
	struct calls calls = { 0 };
	if (!elf_file_section(file, ".note.go.buildid").bytes)
		return 0;
	int status = find(&calls, table, file);
	if (status < 0 || calls.count == 0)
		return status;
	struct unwind_row *rows =
		realloc(table->rows, (table->row_count + ROWS_EACH * calls.count) * sizeof(*table->rows));
	if (!rows)
		return ERROR_MEMORY;
	table->rows = rows;
	for (size_t i = 0; i < calls.count; i++)
		insert(table, &calls.items[i]);
	return 0;
}
