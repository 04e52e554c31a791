/* Call frame instructions of arm64 to rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/tiny_table.h"

/* How each function begins: CFA = sp, and the return address in x30. */
#define CALLED BYTES(0x0c, 31, 0)

/* "record+16": x29 and x30 are at 16 and 24 above the base, which is sp or x29. */
static const struct tiny_rows rules[] = {
	TINY_ROWS("a leaf", "z", "1000 sp+0; 1040 none", 0x00),
	TINY_ROWS("stp x29, x30, [sp, #-32]!; ...; ldp x29, x30, [sp], #32", "z",
		  "1000 sp+0; 1004 sp+32 record+0; 103c sp+0; 1040 none", 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x78, 0xde,
		  0xdd, 0x0e, 0),
	TINY_ROWS("mov x29, sp", "z", "1000 sp+0; 1004 sp+32 record+0; 1008 fp+32 record+0; 1040 none", 0x44, 0x0e, 32,
		  0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29),
	TINY_ROWS("a leaf with variables", "z", "1000 sp+0; 1004 sp+16; 1040 none", 0x44, 0x0e, 16),
	TINY_ROWS("x19 and d8 saved", "z", "1000 sp+48 record+0; 1040 none", 0x0e, 48, 0x9d, 6, 0x9e, 5, 0x93, 4, 0x05,
		  72, 3),
	TINY_ROWS("the record in the middle", "z", "1000 sp+1040 record+16; 1040 none", 0x0e, 0x90, 0x08, 0x9d, 0x80, 1,
		  0x9e, 0x7f),
	TINY_ROWS("the record as far up as a row says", "z", "1000 sp+1032 record+1016; 1040 none", 0x0e, 0x88, 0x08,
		  0x9d, 2, 0x9e, 1),
	TINY_ROWS("the record too far up", "z", "1000 slow; 1040 none", 0x0e, 0x90, 0x08, 0x9d, 2, 0x9e, 1),
	TINY_ROWS("the record below sp", "z", "1000 slow; 1040 none", 0x9d, 2, 0x9e, 1),
	TINY_ROWS("x30 saved alone", "z", "1000 slow; 1040 none", 0x0e, 16, 0x9e, 2),
	TINY_ROWS("x29 saved alone", "z", "1000 slow; 1040 none", 0x0e, 16, 0x9d, 2),
	TINY_ROWS("x30 below x29", "z", "1000 slow; 1040 none", 0x0e, 16, 0x9d, 1, 0x9e, 2),
	TINY_ROWS("x30 apart from x29", "z", "1000 slow; 1040 none", 0x0e, 32, 0x9d, 4, 0x9e, 2),
	TINY_ROWS("same value", "z", "1000 sp+0; 1040 none", 0x08, 29, 0x08, 30),
	TINY_ROWS("x29 undefined", "z", "1000 slow; 1040 none", 0x07, 29),
	TINY_ROWS("the return address in x16", "z", "1000 slow; 1040 none", 0x09, 30, 16),
	TINY_ROWS("the outermost frame", "z", "1000 end; 1040 none", 0x07, 30),
	TINY_ROWS("the CFA is no multiple of 8", "z", "1000 slow; 1040 none", 0x0e, 20),
	TINY_ROWS("the CFA is too far away", "z", "1000 sp+262136; 1004 slow; 1040 none", 0x0e, 0xf8, 0xff, 0x0f, 0x44,
		  0x0e, 0x80, 0x80, 0x10),
	TINY_ROWS("the CFA in x10", "z", "1000 slow; 1040 none", 0x0c, 10, 0),
	TINY_ROWS("the CFA is an expression", "z", "1000 slow; 1040 none", 0x0f, 2, 0x8f, 0),
	TINY_ROWS("sp is not the CFA", "z", "1000 slow; 1040 none", 0x16, 31, 2, 0x8f, 0),
	TINY_ROWS("signed return address", "z", "1000 sp+0; 1008 sp+16 record+0; 1040 none", 0x44, 0x2d, 0x44, 0x0e, 16,
		  0x9d, 2, 0x9e, 1, 0x44, 0x2d),
	TINY_ROWS("return from a signal handler", "zS", "1000 signal+128; 1040 none", 0x0c, 29, 0, 0x9d, 0, 0x05, 30,
		  0x7f),
	TINY_ROWS("an expression that is cut off", "z", "1000 none", 0x0f, 30, 0x77),
};

static void instructions_become_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		tiny_rows_check(&rules[i], CALLED);
}

/* Another column than x30's for the return address. */
static void other_columns_are_slow(void **state)
{
	(void)state;
	static const uint8_t cie[] = { 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, 17, 0x0c, 31, 0 };
	static const uint8_t fde[] = { 0, 0, 0, 0, 0x00, 0x10, 0x40, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0 };
	struct buffer section, content;
	buffer_init(&section);
	buffer_init(&content);
	buffer_append(&content, cie, sizeof(cie));
	tiny_entry(&section, &content);
	buffer_clear(&content);
	buffer_append(&content, fde, sizeof(fde));
	tiny_entry(&section, &content);
	struct unwind_table *table = tiny_table(NULL, &section, true);
	assert_string_equal(tiny_rows_text(table), "1000 slow; 1040 none");
	unwind_table_free(table);
	buffer_release(&content);
	buffer_release(&section);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_become_rows),
		cmocka_unit_test(other_columns_are_slow),
	};
	return cmocka_run_group_tests_name("aarch64_rows", tests, NULL, NULL);
}
