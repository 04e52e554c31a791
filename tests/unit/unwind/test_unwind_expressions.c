/* DWARF expressions, as call frame information uses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "unwind/cfi.h"

/* The module is loaded BIAS above its ELF addresses; sp points to STACK, above which one word is readable. */
enum { STACK = 0x10000, WORD = 8, BREG_SP = 0x70 + ARCH_SP_REGISTER };
#define BIAS UINT64_C(0x7f0000000000)

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = UINT64_C(0x1122334455667788);
	return address == STACK + WORD ? 0 : -1;
}

static void expressions(void **state)
{
	(void)state;
	const struct unwind_source source = { .read = read_word };
	static const struct {
		uint8_t bytes[16];
		size_t size;
		enum cfi_status status;
		uint64_t value;
	} cases[] = {
#define E(status, value, ...) { { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), status, value }
		E(CFI_OK, 7, 0x37),
		E(CFI_OK, STACK + 16, BREG_SP, 16),
		E(CFI_OK, STACK - 8, 0x92, ARCH_SP_REGISTER, 0x78),
		E(CFI_OK, UINT64_C(0x1122334455667788), BREG_SP, 8, 0x06),
		E(CFI_OK, 0x55667788, BREG_SP, 8, 0x94, 4),
		E(CFI_OK, BIAS + 0x100, 0x03, 0, 1, 0, 0, 0, 0, 0, 0),
		E(CFI_OK, UINT64_MAX, 0x09, 0xff),
		E(CFI_OK, 0xfffe, 0x0a, 0xfe, 0xff),
		E(CFI_OK, (uint64_t)-2, 0x0b, 0xfe, 0xff),
		E(CFI_OK, (uint64_t)-2, 0x0d, 0xfe, 0xff, 0xff, 0xff),
		E(CFI_OK, 0x80, 0x10, 0x80, 1),
		E(CFI_OK, (uint64_t)-128, 0x11, 0x80, 0x7f),
		E(CFI_OK, 3, 0x38, 0x35, 0x1c),                  /* 8 - 5 */
		E(CFI_OK, (uint64_t)-2, 0x09, 0xfb, 0x32, 0x1b), /* -5 / 2 */
		E(CFI_OK, 1, 0x35, 0x32, 0x1d),
		E(CFI_OK, 10, 0x35, 0x32, 0x1e),
		E(CFI_OK, 4, 0x09, 0xfc, 0x19),
		E(CFI_OK, (uint64_t)-4, 0x34, 0x1f),
		E(CFI_OK, (uint64_t)-5, 0x34, 0x20),
		E(CFI_OK, 7, 0x35, 0x36, 0x21),
		E(CFI_OK, 8, 0x35, 0x33, 0x22),
		E(CFI_OK, 3, 0x35, 0x36, 0x27),
		E(CFI_OK, 40, 0x35, 0x33, 0x24),
		E(CFI_OK, 1, 0x38, 0x33, 0x25),
		E(CFI_OK, (uint64_t)-1, 0x09, 0xf8, 0x33, 0x26),
		E(CFI_OK, 9, 0x35, 0x23, 4),
		E(CFI_OK, 1, 0x09, 0xff, 0x31, 0x2d), /* -1 < 1: signed */
		E(CFI_OK, 0, 0x35, 0x35, 0x2e),
		E(CFI_OK, 3, 0x31, 0x33, 0x32, 0x16, 0x13, 0x1a, 0x33, 0x1a, 0x33, 0x21),
		E(CFI_OK, 2, 0x31, 0x32, 0x33, 0x17),        /* rot */
		E(CFI_OK, 5, 0x35, 0x36, 0x14, 0x15, 0),     /* over, pick 0 */
		E(CFI_OK, 1, 0x31, 0x2f, 1, 0, 0x3f),        /* skip over lit15 */
		E(CFI_OK, 1, 0x31, 0x31, 0x28, 1, 0, 0x3f),  /* bra, taken */
		E(CFI_OK, 15, 0x31, 0x30, 0x28, 1, 0, 0x3f), /* bra, not taken */
		E(CFI_BAD, 0, 0x2f, 0xfd, 0xff),             /* for ever */
		E(CFI_BAD, 0, 0x2f, 0x00, 0x70),             /* out of the expression */
		E(CFI_BAD, 0, 0x22),                         /* empty stack */
		E(CFI_BAD, 0, 0x31, 0x30, 0x1b),             /* division by 0 */
		E(CFI_BAD, 0, 0x0c, 1, 2),                   /* cut off */
		E(CFI_BAD, 0, 0x97),                         /* push_object_address */
		E(CFI_BAD, 0, 0x31, 0x12, 0x2f, 0xfc, 0xff), /* the stack overflows */
		E(CFI_UNKNOWN, 0, 0x70, 0),                  /* another register than sp */
		E(CFI_UNREADABLE, 0, 0x31, 0x06),
		E(CFI_UNREADABLE, 0, 0x31, 0x06, 0x22), /* the first failure counts */
		E(CFI_OK, 31, 0x4f),                    /* lit31; behind it are locations of registers */
		E(CFI_BAD, 0, 0x50),
		E(CFI_BAD, 0, 0x90, 7),
		E(CFI_BAD, 0, 0x92, ARCH_REGISTERS, 0),
		E(CFI_OK, UINT32_MAX, 0x0c, 0xff, 0xff, 0xff, 0xff),
		E(CFI_OK, UINT64_C(0x8000000000000001), 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80),
		E(CFI_OK, UINT64_C(0x8000000000000001), 0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80),
		E(CFI_OK, 255, 0x08, 0xff),
		E(CFI_BAD, 0, 0x31, 0x08), /* its operand is cut off */
		E(CFI_OK, 4, 0x34, 0x19),
		E(CFI_OK, 0, 0x30, 0x19),
		E(CFI_OK, 2, 0x36, 0x33, 0x1a),
		E(CFI_OK, UINT64_C(1) << 63, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b), /* INT64_MIN / -1 */
		E(CFI_OK, 5, 0x09, 0xff, 0x3a, 0x1d), /* the remainder is unsigned */
		E(CFI_BAD, 0, 0x31, 0x30, 0x1d),
		E(CFI_BAD, 0, 0x31, 0x1c), /* one word instead of two */
		E(CFI_OK, UINT64_C(1) << 63, 0x31, 0x08, 63, 0x24),
		E(CFI_OK, 0, 0x31, 0x08, 64, 0x24),
		E(CFI_OK, UINT64_MAX, 0x09, 0xff, 0x30, 0x25),
		E(CFI_OK, 1, 0x09, 0xff, 0x08, 63, 0x25),
		E(CFI_OK, 0, 0x09, 0xff, 0x08, 64, 0x25),
		E(CFI_OK, (uint64_t)-128, 0x09, 0x80, 0x30, 0x26),
		E(CFI_OK, UINT64_MAX, 0x09, 0x80, 0x08, 63, 0x26),
		E(CFI_OK, UINT64_MAX, 0x09, 0x80, 0x08, 64, 0x26),
		E(CFI_OK, 2, 0x35, 0x31, 0x26),
		E(CFI_OK, 0, 0x35, 0x08, 64, 0x26),
		E(CFI_OK, 0, 0x30, 0x31, 0x26),
		E(CFI_OK, 5, 0x35, 0x36, 0x15, 1),
		E(CFI_BAD, 0, 0x35, 0x36, 0x15, 2),
		E(CFI_BAD, 0, 0x35, 0x14), /* over, with one word */
		E(CFI_BAD, 0, 0x12),
		E(CFI_BAD, 0, 0x35, 0x16),
		E(CFI_BAD, 0, 0x35, 0x36, 0x17),
		E(CFI_OK, 6, 0x35, 0x36, 0x37, 0x17), /* 5 6 7 -> 7 5 6 */
		E(CFI_OK, 5, 0x35, 0x36, 0x37, 0x17, 0x13),
		E(CFI_OK, 7, 0x35, 0x36, 0x37, 0x17, 0x13, 0x13),
		E(CFI_OK, UINT64_C(0x1122334455667788), BREG_SP, 8, 0x94, 8),
		E(CFI_OK, UINT64_C(0x22334455667788), BREG_SP, 8, 0x94, 7),
		E(CFI_OK, 0x88, BREG_SP, 8, 0x94, 1),
		E(CFI_BAD, 0, BREG_SP, 8, 0x94, 0),
		E(CFI_BAD, 0, BREG_SP, 8, 0x94, 9),
		E(CFI_BAD, 0, 0x06),
		E(CFI_OK, 1, 0x31, 0x2f, 0, 0), /* skips and branches to the end, and not beyond */
		E(CFI_BAD, 0, 0x31, 0x2f, 1, 0),
		E(CFI_OK, 1, 0x31, 0x31, 0x28, 0, 0),
		E(CFI_BAD, 0, 0x31, 0x31, 0x28, 1, 0),
		E(CFI_OK, 1, 0x31, 0x30, 0x28, 1, 0), /* not taken */
		E(CFI_BAD, 0, 0x28, 0, 0),
		E(CFI_BAD, 0, 0x31, 0x2f, 0),
		E(CFI_OK, 7, 0x96, 0x37, 0x96),
		E(CFI_BAD, 0, 0x18), /* xderef is before the arithmetic operations */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cfi_frame frame = { .known = UINT64_C(1) << ARCH_SP_REGISTER };
		uint64_t value = 0;
		frame.registers.value[ARCH_SP_REGISTER] = STACK;
		enum cfi_status status =
			cfi_expression(cases[i].bytes, cases[i].size, BIAS, &source, &frame, NULL, &value);
		if (status != cases[i].status || (status == CFI_OK && value != cases[i].value))
			fail_msg("expression %zu: status %d, value 0x%llx", i, (int)status, (unsigned long long)value);
		if (status == CFI_UNREADABLE)
			assert_int_equal(frame.unreadable, 1);
	}
}

static enum cfi_status run(const uint8_t *bytes, size_t size, const uint64_t *initial, uint64_t *value)
{
	const struct unwind_source source = { .read = read_word };
	struct cfi_frame frame = { 0 };
	return cfi_expression(bytes, size, BIAS, &source, &frame, initial, value);
}

/* Comparisons are signed. */
static void comparisons(void **state)
{
	(void)state;
	static const int64_t numbers[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	for (size_t i = 0; i < 25; i++) {
		int64_t left = numbers[i / 5], right = numbers[i % 5];
		const bool expected[] = { left == right, left >= right, left > right,
					  left <= right, left < right,  left != right };
		for (uint8_t operation = 0; operation < 6; operation++) {
			uint8_t bytes[19] = { [0] = 0x0e, [9] = 0x0e, [18] = (uint8_t)(0x29 + operation) };
			uint64_t value = 2;
			memcpy(bytes + 1, &left, sizeof(left));
			memcpy(bytes + 10, &right, sizeof(right));
			assert_int_equal(run(bytes, sizeof(bytes), NULL, &value), CFI_OK);
			assert_int_equal(value, expected[operation]);
		}
	}
}

static void limits(void **state)
{
	(void)state;
	enum { WORDS = 64, OPERATIONS = 1000 };
	uint8_t bytes[OPERATIONS + 1];
	uint64_t value = 0, initial = 9;
	memset(bytes, 0x35, sizeof(bytes));
	assert_int_equal(run(bytes, WORDS, NULL, &value), CFI_OK);
	assert_int_equal(value, 5);
	assert_int_equal(run(bytes, WORDS + 1, NULL, &value), CFI_BAD);
	assert_int_equal(run(bytes, WORDS - 1, &initial, &value), CFI_OK);
	assert_int_equal(run(bytes, WORDS, &initial, &value), CFI_BAD);
	memset(bytes, 0x96, sizeof(bytes));
	assert_int_equal(run(bytes, OPERATIONS, &initial, &value), CFI_OK);
	assert_int_equal(value, 9);
	assert_int_equal(run(bytes, OPERATIONS + 1, &initial, &value), CFI_BAD);
	assert_int_equal(run(bytes, 0, &initial, &value), CFI_OK);
	assert_int_equal(value, 9);
	assert_int_equal(run(bytes, 0, NULL, &value), CFI_BAD);
	/* A loop that goes back to the first byte, and one that would go before it: minus 1, until 0. */
	static const uint8_t loop[] = { 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff },
			     before[] = { 0x31, 0x1c, 0x12, 0x28, 0xf9, 0xff };
	assert_int_equal(run(loop, sizeof(loop), &initial, &value), CFI_OK);
	assert_int_equal(value, 0);
	assert_int_equal(run(before, sizeof(before), &initial, &value), CFI_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(expressions), cmocka_unit_test(comparisons),
					    cmocka_unit_test(limits) };
	return cmocka_run_group_tests_name("unwind_expressions", tests, NULL, NULL);
}
