/*
 * Arbitrary bytes as .debug_line: each row of a table's program covers addresses, each wanted address gets the line of the last
 * row that contains it, and every file has a path or none. Built for libFuzzer, or with replay.c.
 *
 *   u16 size of the texts | .debug_line, one unit from its start on | texts: .debug_line_str and .debug_str
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "frames/native/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rows can be any distance apart. The wanted addresses are the starts of the first rows, and one between each two of them. */
enum { STARTS_MAX = 32, WANTED_MAX = 2 * STARTS_MAX };

struct rows {
	uint64_t starts[STARTS_MAX];
	size_t count, in_all;
	bool is_stopped;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int see_row(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line)
{
	struct rows *rows = context;
	(void)file;
	(void)line;
	require(start < end && !rows->is_stopped);
	if (rows->count < STARTS_MAX)
		rows->starts[rows->count++] = start;
	rows->in_all++;
	return 0;
}

static int stop(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line)
{
	(void)see_row(context, start, end, file, line);
	((struct rows *)context)->is_stopped = true;
	return ERROR_LIMIT;
}

/* Finds what a row has for the wanted addresses that it contains: the naive version of line_tables_find. */
static int assign(void *context, uint64_t start, uint64_t end, uint32_t file, uint32_t line)
{
	for (struct line_wanted *wanted = context; wanted->address != UINT64_MAX; wanted++)
		if (wanted->line == 0 && wanted->address >= start && wanted->address < end) {
			wanted->file = file;
			wanted->line = line;
		}
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct line_wanted *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Fills in the wanted addresses, ascending and distinct, with UINT64_MAX at the end. Returns their number without it. */
static size_t want(struct line_wanted *wanted, const struct rows *rows)
{
	size_t count = 0, distinct = 0;
	for (size_t i = 0; i < rows->count; i++) {
		wanted[count++] = (struct line_wanted){ .address = rows->starts[i] };
		wanted[count++] = (struct line_wanted){ .address = rows->starts[i] + 1 };
	}
	qsort(wanted, count, sizeof(*wanted), by_address);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].address != UINT64_MAX && (i == 0 || wanted[i].address != wanted[i - 1].address))
			wanted[distinct++] = wanted[i];
	wanted[distinct] = (struct line_wanted){ .address = UINT64_MAX };
	return distinct;
}

static void check_rows(struct line_tables *tables)
{
	struct rows rows = { 0 }, stopped = { 0 };
	struct line_wanted found[WANTED_MAX + 1], expected[WANTED_MAX + 1];
	require(line_tables_each(tables, 0, see_row, &rows) == 0);
	require(line_tables_each(tables, 0, stop, &stopped) == (rows.in_all ? ERROR_LIMIT : 0));
	require(stopped.in_all == (rows.in_all > 0));
	size_t count = want(found, &rows);
	memcpy(expected, found, sizeof(*found) * (count + 1));
	require(line_tables_find(tables, 0, found, count) == 0);
	require(line_tables_each(tables, 0, assign, expected) == 0);
	for (size_t i = 0; i < count; i++) {
		require(found[i].line == expected[i].line);
		require(found[i].line == 0 || found[i].file == expected[i].file);
		const char *path = line_tables_file(tables, 0, found[i].file);
		require(!path || path == line_tables_file(tables, 0, found[i].file));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t text_bytes;
	if (size < sizeof(text_bytes))
		return 0;
	memcpy(&text_bytes, data, sizeof(text_bytes));
	data += sizeof(text_bytes);
	size -= sizeof(text_bytes);
	size_t texts = text_bytes < size ? text_bytes : size;
	const struct cursor strings = cursor_over(data + size - texts, texts);
	const struct line_sections sections = { .lines = cursor_over(data, size - texts),
						.line_strings = strings,
						.strings = strings };
	struct line_tables tables;
	line_tables_init(&tables);
	tables.tables = calloc(1, sizeof(*tables.tables));
	require(tables.tables != NULL);
	tables.table_count = 1;
	int status = line_header_read(&tables.tables[0], &sections, 0);
	require(status == 0 || status == ERROR_CORRUPT);
	tables.tables[0].unit_directory = "/unit";
	if (status == 0)
		check_rows(&tables);
	for (size_t i = 0; i < tables.tables[0].file_count; i++) {
		const char *path = line_tables_file(&tables, 0, i);
		require(!path || strlen(path) < size + sizeof("/unit//"));
	}
	require(line_tables_file(&tables, 0, tables.tables[0].file_count) == NULL);
	line_tables_release(&tables);
	return 0;
}
