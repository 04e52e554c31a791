/* Rows that are put into a table: only within one row, and never before the first one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/alloc_fail.h"
#include "unwind/parts.h"

enum { ROWS = 3, KIND_OLD = UNWIND_SP, KIND_NEW = UNWIND_FRAME };

/* Rows at 16, 32 and 48. */
static struct unwind_table *new_table(void)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	assert_non_null(table);
	table->rows = calloc(ROWS, sizeof(*table->rows));
	assert_non_null(table->rows);
	table->row_count = ROWS;
	for (uint32_t i = 0; i < ROWS; i++)
		table->rows[i] = (struct unwind_row){ .pc = 16 * (i + 1), .kind = KIND_OLD, .cfa = (int16_t)i };
	return table;
}

static void free_table(struct unwind_table *table)
{
	free(table->rows);
	free(table);
}

/* Puts a row in, and compares the whole table: "pc:kind" with the old row's number, or "+" for the new one. */
static void check(uint32_t start, uint32_t end, const char *expected)
{
	struct unwind_table *table = new_table();
	const struct unwind_row row = { .pc = 7, .kind = KIND_NEW };
	char text[128] = "";
	assert_int_equal(row_insert(table, start, end, &row), 0);
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct unwind_row *each = &table->rows[i];
		size_t used = strlen(text);
		if (each->kind == KIND_NEW)
			snprintf(text + used, sizeof(text) - used, " %u+", each->pc);
		else
			snprintf(text + used, sizeof(text) - used, " %u:%d", each->pc, each->cfa);
	}
	assert_string_equal(text, expected);
	free_table(table);
}

static void within_a_row(void **state)
{
	(void)state;
	check(20, 24, " 16:0 20+ 24:0 32:1 48:2");
	check(16, 24, " 16+ 24:0 32:1 48:2");
	check(20, 32, " 16:0 20+ 32:1 48:2");
	check(16, 32, " 16+ 32:1 48:2");
	check(50, 60, " 16:0 32:1 48:2 50+ 60:2");
	check(48, 49, " 16:0 32:1 48+ 49:2");
	check(31, 32, " 16:0 31+ 32:1 48:2");
}

static void across_rows_nothing_changes(void **state)
{
	(void)state;
	const char *unchanged = " 16:0 32:1 48:2";
	check(20, 33, unchanged);
	check(31, 49, unchanged);
	check(20, 20, unchanged);
	check(24, 20, unchanged);
	check(0, 8, unchanged);
	check(15, 16, unchanged);
	check(15, 20, unchanged);
}

static void without_memory(void **state)
{
	(void)state;
	struct unwind_table *table = new_table();
	const struct unwind_row row = { .kind = KIND_NEW };
	alloc_fail_start(1);
	assert_int_equal(row_insert(table, 20, 24, &row), ERROR_MEMORY);
	assert_true(alloc_fail_stop());
	assert_int_equal(table->row_count, ROWS);
	free_table(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_a_row),
		cmocka_unit_test(across_rows_nothing_changes),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
