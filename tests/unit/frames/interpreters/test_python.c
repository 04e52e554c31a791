/* CPython's tables of lines, against what Python 3.11 itself says about them (co_lines). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/interpreters/interpreters.h"

/* A function whose lines grow and shrink, with an entry of the long form. */
static const uint8_t table[] = { 0x80, 0x00, 0xe0, 0x08, 0x09, 0x80, 0x41, 0xdd, 0x0d, 0x12, 0xd8, 0x0c, 0x0d, 0xf1,
				 0x03, 0x01, 0x0e, 0x0f, 0xf4, 0x00, 0x01, 0x0e, 0x0f, 0xf0, 0x00, 0x04, 0x05, 0x0f,
				 0xf0, 0x00, 0x04, 0x05, 0x0f, 0x88, 0x01, 0xe0, 0x08, 0x09, 0xd8, 0x0c, 0x0d, 0xd8,
				 0x0c, 0x0d, 0xf1, 0x03, 0x01, 0x0d, 0x0e, 0xf1, 0x03, 0x02, 0x09, 0x0f, 0x88, 0x01,
				 0x88, 0x01, 0xf0, 0x50, 0x02, 0x00, 0x0c, 0x0d, 0x80, 0x48 };

static const struct {
	uint32_t start, end, line;
} expected[] = {
	{ 0, 2, 2 },   { 2, 6, 4 },   { 6, 18, 5 },  { 18, 20, 6 }, { 20, 40, 5 },  { 40, 42, 7 },
	{ 42, 44, 8 }, { 44, 46, 9 }, { 46, 50, 8 }, { 50, 58, 7 }, { 58, 62, 79 },
};

static void lines_are_those_of_python(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		for (uint32_t place = expected[i].start; place < expected[i].end; place++)
			assert_int_equal(interpreter_python.line_at(table, sizeof(table), 2, place), expected[i].line);
	assert_int_equal(interpreter_python.line_at(table, sizeof(table), 2, 62), 0);
}

/* A table that is cut, or is none, gives lines for the places before its end at most. */
static void bad_tables_have_no_lines(void **state)
{
	(void)state;
	for (size_t bytes = 0; bytes < sizeof(table); bytes++)
		for (uint32_t place = 0; place < 64; place += 2) {
			uint32_t line = interpreter_python.line_at(table, bytes, 2, place);
			assert_true(line == 0 || line < 1000);
		}
	static const uint8_t no_entry[] = { 0x12, 0x80 }, no_line[] = { 0x80 | 15 << 3, 0 };
	assert_int_equal(interpreter_python.line_at(no_entry, sizeof(no_entry), 2, 0), 0);
	assert_int_equal(interpreter_python.line_at(no_line, sizeof(no_line), 2, 0), 0);
}

static void rows_are_found_by_kind(void **state)
{
	(void)state;
	assert_ptr_equal(interpreters_row(INTERPRETER_PYTHON), &interpreter_python);
	assert_null(interpreters_row(INTERPRETER_NONE));
	assert_null(interpreters_row(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_of_python),
		cmocka_unit_test(bad_tables_have_no_lines),
		cmocka_unit_test(rows_are_found_by_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
