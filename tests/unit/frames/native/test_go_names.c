/* Names and lines by the table of Go's runtime, beside symbols and debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "frames/native/go_names.h"
#include "support/tiny_elf.h"
#include "support/tiny_go.h"

static void names_what_no_symbol_does(void **state)
{
	(void)state;
	static const uint64_t addresses[] = { TINY_CODE - 1, TINY_CODE + 4, TINY_CODE + 0x41, TINY_CODE + 0x70 };
	enum { COUNT = sizeof(addresses) / sizeof(addresses[0]) };
	struct symbol_match matches[COUNT] = { [2] = { .covering = { .name = "symbol", .start = 1 } } };
	struct buffer bytes;
	struct go_names names = { .is_open = false };
	buffer_init(&bytes);
	tiny_go(&bytes, 0xfffffff1, TINY_CODE, NULL);
	go_names_match(&names, addresses, COUNT, matches);
	assert_null(matches[1].covering.name);
	names.is_open = go_table_read(&names.table, (struct elf_bytes){ .bytes = bytes.bytes, .size = bytes.size });
	assert_true(names.is_open);
	go_names_match(&names, addresses, COUNT, matches);
	assert_null(matches[0].covering.name);
	assert_string_equal(matches[1].covering.name, "main.work");
	assert_int_equal(matches[1].covering.start, TINY_CODE);
	assert_int_equal(matches[1].covering.size, 0x40);
	assert_string_equal(matches[2].covering.name, "symbol");
	assert_null(matches[3].covering.name);
	struct source_place place = { .file = "known.c", .line = 7 };
	go_names_place(&names, TINY_CODE + 4, &place);
	assert_string_equal(place.file, "known.c");
	place = (struct source_place){ 0 };
	go_names_place(&names, TINY_CODE + 0x70, &place);
	assert_null(place.file);
	go_names_place(&names, TINY_CODE + 0x10, &place);
	assert_string_equal(place.file, "/src/main.go");
	assert_int_equal(place.line, 12);
	buffer_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_what_no_symbol_does) };
	return cmocka_run_group_tests_name("go_names", tests, NULL, NULL);
}
