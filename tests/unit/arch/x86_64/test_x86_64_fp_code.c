/* The instructions that a step treats in its own way, with each prefix and with as many as fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "processor/agent/fp_code.h"

/* Operand size, address size, repetition, segments, REX. */
static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x40, 0x48, 0x4f };

enum { INSTRUCTION_MAX = 15 };

/* Which instructions load the flags of the legacy unit: fldenv and frstor, in memory. */
static void test_loads_of_flags(void **state)
{
	static const struct {
		uint8_t code[2];
		bool loads;
	} cases[] = {
		{ { 0xd9, 0x20 }, true },  { { 0xdd, 0x60 }, true },  { { 0xd9, 0xe0 }, false },
		{ { 0xd9, 0x28 }, false }, { { 0xdb, 0x20 }, false }, { { 0xd9, 0x18 }, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t prefix = 0; prefix < sizeof(prefixes); prefix++)
			for (size_t count = 0; count <= INSTRUCTION_MAX - 2; count++) {
				uint8_t code[INSTRUCTION_MAX] = { 0 };
				memset(code, prefixes[prefix], count);
				memcpy(code + count, cases[i].code, 2);
				assert_int_equal(fp_loads_legacy_flags(code), cases[i].loads);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_of_flags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
