/*
 * Arbitrary bytes as a .gopclntab: names and files lie inside the bytes, and the values of a function cover its code from its start on, in
 * order. Built for libFuzzer, or with replay.c.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/go_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS_MOST = 256 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_text(const char *text, const uint8_t *data, size_t size)
{
	const uint8_t *first = (const uint8_t *)text;
	require(!text || (first >= data && first < data + size && memchr(first, 0, (size_t)(data + size - first))));
}

static void check_values(const struct go_table *table, const struct go_function *function, uint32_t offset)
{
	struct go_values values = go_values_of(table, function, offset);
	uint64_t end = function->start;
	while (go_values_next(&values)) {
		require(values.start == end && values.end > values.start && values.end <= function->end);
		end = values.end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct go_table table;
	struct go_function function, found;
	if (!go_table_read(&table, (struct elf_bytes){ .bytes = data, .size = size }))
		return 0;
	for (uint64_t i = 0; i <= table.count && i < FUNCTIONS_MOST; i++) {
		const char *file;
		uint32_t line;
		if (!go_table_function(&table, i, &function))
			continue;
		require(i < table.count && function.start < function.end);
		require_text(go_table_name(&table, &function), data, size);
		check_values(&table, &function, function.stack);
		check_values(&table, &function, function.lines);
		go_table_place(&table, &function, function.end - 1, &file, &line);
		require_text(file, data, size);
		require(!go_table_find(&table, function.start, &found) ||
			(found.start <= function.start && function.start < found.end));
	}
	return 0;
}
