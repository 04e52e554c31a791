/* The instructions that a step over floating point code must stop at, with each prefix and with as many as fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "processor/agent/fp_code.h"

/* Operand size, address size, repetition, segments, REX. */
static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x40, 0x48, 0x4f };

enum { INSTRUCTION_MAX = 15, OPCODE_MAX = 5 };

struct instruction {
	size_t bytes;
	uint8_t code[OPCODE_MAX];
};

/* Returns the class of an instruction behind `count` equal prefixes. Bytes that look like system calls follow it. */
static enum fp_next class_of(const struct instruction *instruction, uint8_t prefix, size_t count)
{
	uint8_t code[FP_CODE_BYTES];
	memset(code, 0xcd, sizeof(code));
	memset(code, prefix, count);
	memcpy(code + count, instruction->code, instruction->bytes);
	return fp_next_instruction(code);
}

static void assert_class(const struct instruction *instruction, enum fp_next expected)
{
	for (size_t i = 0; i < sizeof(prefixes); i++)
		for (size_t count = 0; count + instruction->bytes <= INSTRUCTION_MAX; count++)
			if (class_of(instruction, prefixes[i], count) != expected)
				fail_msg("%02x %02x behind %zu prefixes %02x", instruction->code[0],
					 instruction->code[1], count, prefixes[i]);
}

static void test_stops(void **state)
{
	static const struct instruction stops[] = {
		{ 2, { 0x0f, 0x05 } },                   /* syscall */
		{ 2, { 0x0f, 0x34 } },                   /* sysenter */
		{ 2, { 0xcd, 0x80 } },                   /* int 0x80 */
		{ 1, { 0xcc } },                         /* int3 */
		{ 1, { 0xcf } },                         /* iret */
		{ 2, { 0x0f, 0x0b } },                   /* ud2 */
		{ 1, { 0xf4 } },                         /* hlt */
		{ 1, { 0x9b } },                         /* fwait */
		{ 1, { 0x9c } },                         /* pushf */
		{ 1, { 0x9d } },                         /* popf */
		{ 3, { 0x0f, 0xae, 0x10 } },             /* ldmxcsr (%rax) */
		{ 3, { 0x0f, 0x01, 0xd0 } },             /* xgetbv */
		{ 3, { 0x0f, 0xc7, 0x20 } },             /* xsavec (%rax) */
		{ 2, { 0xd9, 0x28 } },                   /* fldcw (%rax) */
		{ 2, { 0xdd, 0x38 } },                   /* fnstsw (%rax) */
		{ 2, { 0xdb, 0xe2 } },                   /* fnclex */
		{ 2, { 0xdf, 0xe0 } },                   /* fnstsw %ax */
		{ 4, { 0xc5, 0xf8, 0xae, 0x10 } },       /* vldmxcsr (%rax) */
		{ 5, { 0xc4, 0xc1, 0x78, 0xae, 0x10 } }, /* vldmxcsr (%r8) */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		assert_class(&stops[i], FP_NEXT_STOPS);
}

static void test_legacy(void **state)
{
	static const struct instruction legacy[] = {
		{ 2, { 0xd8, 0xf1 } }, /* fdiv %st(1) */
		{ 2, { 0xd9, 0x00 } }, /* flds (%rax) */
		{ 2, { 0xdd, 0x10 } }, /* fstl (%rax) */
		{ 2, { 0xdb, 0x28 } }, /* fldt (%rax) */
		{ 2, { 0xdf, 0x38 } }, /* fistpll (%rax) */
		{ 2, { 0xdb, 0xd8 } }, /* fcmovnu */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(legacy) / sizeof(legacy[0]); i++)
		assert_class(&legacy[i], FP_NEXT_LEGACY);
}

static void test_other(void **state)
{
	static const struct instruction other[] = {
		{ 3, { 0x0f, 0x58, 0xc1 } },       /* addps */
		{ 1, { 0x90 } },                   /* nop */
		{ 1, { 0x9e } },                   /* sahf */
		{ 1, { 0xcb } },                   /* lret */
		{ 2, { 0xeb, 0x05 } },             /* jmp */
		{ 5, { 0xe8, 0x0f, 0x05, 0, 0 } }, /* call */
		{ 4, { 0xc5, 0xf8, 0x5e, 0xc1 } }, /* vdivps */
		{ 5, { 0xc4, 0xc1, 0x78, 0x5e, 0xae } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_class(&other[i], FP_NEXT_OTHER);
}

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
				uint8_t code[FP_CODE_BYTES] = { 0 };
				memset(code, prefixes[prefix], count);
				memcpy(code + count, cases[i].code, 2);
				assert_int_equal(fp_loads_legacy_flags(code), cases[i].loads);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_legacy),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_loads_of_flags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
