/* The unwind rows of Go programs without call frame information, from the table of their runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_fail.h"
#include "support/tiny_go.h"
#include "support/tiny_table.h"

static struct elf_file *open_tiny(struct buffer *image, const struct buffer *go, const struct buffer *eh_frame)
{
	const struct tiny_section other = { ".gopclntab", SHT_PROGBITS, go->bytes, go->size };
	buffer_init(image);
	tiny_elf_with_code(image, eh_frame, "\x90", 1, &other);
	struct elf_file *file = elf_file_from_memory(image->bytes, image->size, "tiny", NULL);
	assert_non_null(file);
	return file;
}

static void assert_rows(const struct buffer *go, const struct buffer *eh_frame, const char *expected)
{
	struct buffer image;
	struct elf_file *file = open_tiny(&image, go, eh_frame);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	assert_string_equal(tiny_rows_text(table), expected);
	unwind_table_free(table);
	elf_file_free(file);
	buffer_release(&image);
}

static void rows_are_as_exact_as_information(void **state)
{
	(void)state;
	static const uint32_t magics[] = { 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		struct buffer go;
		buffer_init(&go);
		tiny_go(&go, magics[i], TINY_CODE, NULL);
		assert_rows(&go, NULL, "1000 sp+8; 1004 sp+32; 103c sp+8; 1040 sp+16; 1060 end; 1070 none");
		buffer_release(&go);
	}
}

/* C code that is linked to a Go program has information of its own, which precedes. */
static void information_precedes(void **state)
{
	(void)state;
	struct buffer go, eh_frame;
	buffer_init(&go);
	buffer_init(&eh_frame);
	tiny_go(&go, 0xfffffff1, TINY_CODE, NULL);
	size_t cie = tiny_cie(&eh_frame, true, "z", BYTES(0x0c, 7, 8, 0x90, 1));
	tiny_fde(&eh_frame, true, cie, TINY_CODE + 0x40, 0x10, BYTES(0x0e, 40));
	tiny_fde(&eh_frame, true, cie, TINY_CODE + 0x80, 0x10, BYTES(0x0e, 48));
	assert_rows(
		&go, &eh_frame,
		"1000 sp+8; 1004 sp+32; 103c sp+8; 1040 sp+40; 1050 none; 1060 end; 1070 none; 1080 sp+48; 1090 none");
	buffer_release(&go);
	buffer_release(&eh_frame);
}

/* Functions that overlap, or have no distance to the CFA, get no rows. */
static void damaged_functions_get_no_rows(void **state)
{
	(void)state;
	struct tiny_go_offsets offsets;
	struct buffer go;
	enum { STACK_OFFSET = 16 };
	buffer_init(&go);
	tiny_go(&go, 0xfffffff1, TINY_CODE, &offsets);
	memset(go.bytes + offsets.records[1] + STACK_OFFSET, 0, sizeof(uint32_t));
	assert_rows(&go, NULL, "1000 sp+8; 1004 sp+32; 103c sp+8; 1040 none; 1060 end; 1070 none");
	go.bytes[offsets.functions + 16] = 0x10; /* the third function begins in the first one */
	assert_rows(&go, NULL, "1000 sp+8; 1004 sp+32; 103c sp+8; 1040 none");
	buffer_release(&go);
}

/* Each function has the same long list of values: the rows would be as many as functions times values. The section that they are made of
 * takes at most twice the bytes of the table. */
static void shared_values_are_bounded(void **state)
{
	(void)state;
	enum {
		FUNCTIONS = 400,
		VALUES = 200,
		FUNCTION_BYTES = VALUES + 1,
		COLUMNS = 12,
		STACK_COLUMN = 4,
		VALUE_BYTES = 2
	};
	const uint64_t names = 72, values = names + 8, functions = values + 1 + VALUES * VALUE_BYTES + 1;
	const uint64_t words[] = { FUNCTIONS, 0, TINY_CODE, names, names, names, values, functions };
	const uint32_t magic[] = { 0xfffffff1, 0x08010000 };
	const uint32_t record[COLUMNS] = { [STACK_COLUMN] = 1 };
	const uint32_t end = FUNCTIONS * FUNCTION_BYTES;
	struct buffer go, image;
	buffer_init(&go);
	buffer_append(&go, magic, sizeof(magic));
	buffer_append(&go, words, sizeof(words));
	buffer_append(&go, "f\0\0\0\0\0\0\0", 9); /* the name, and a byte, so that no offset of values is 0 */
	for (unsigned i = 0; i < VALUES; i++)     /* 8, 16, 8, ... for a byte each */
		buffer_append(&go, i == 0 ? "\x12\1" : i % 2 ? "\x10\1" : "\x0f\1", VALUE_BYTES);
	buffer_append_byte(&go, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const uint32_t row[] = { i * FUNCTION_BYTES, (2 * FUNCTIONS + 1) * sizeof(uint32_t) };
		buffer_append(&go, row, sizeof(row));
	}
	buffer_append(&go, &end, sizeof(end));
	buffer_append(&go, record, sizeof(record));
	struct elf_file *file = open_tiny(&image, &go, NULL);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	assert_in_range(table->function_count, 1, FUNCTIONS / 10);
	assert_in_range(table->row_count, VALUES, go.size);
	unwind_table_free(table);
	elf_file_free(file);
	buffer_release(&image);
	buffer_release(&go);
}

static void survives_failing_allocations(void **state)
{
	(void)state;
	struct buffer go, image;
	struct unwind_table *table;
	buffer_init(&go);
	tiny_go(&go, 0xfffffff1, TINY_CODE, NULL);
	struct elf_file *file = open_tiny(&image, &go, NULL);
	ALLOC_FAIL_EACH({
		table = unwind_table_new(file, NULL);
		assert_true(!table || table->function_count == TINY_GO_FUNCTIONS);
		unwind_table_free(table);
	});
	elf_file_free(file);
	buffer_release(&image);
	buffer_release(&go);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_as_exact_as_information), cmocka_unit_test(information_precedes),
		cmocka_unit_test(damaged_functions_get_no_rows),    cmocka_unit_test(shared_values_are_bounded),
		cmocka_unit_test(survives_failing_allocations),
	};
	return cmocka_run_group_tests_name("x86_64_go", tests, NULL, NULL);
}
