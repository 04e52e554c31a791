/* DWARF expressions, as call frame information uses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cfi_frame frame = { .known = UINT64_C(1) << ARCH_SP_REGISTER };
		uint64_t value = 0;
		frame.registers.value[ARCH_SP_REGISTER] = STACK;
		enum cfi_status status =
			cfi_expression(cases[i].bytes, cases[i].size, BIAS, &source, &frame, NULL, &value);
		if (status != cases[i].status || (status == CFI_OK && value != cases[i].value))
			fail_msg("expression %zu: status %d, value 0x%llx", i, (int)status, (unsigned long long)value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(expressions) };
	return cmocka_run_group_tests_name("unwind_expressions", tests, NULL, NULL);
}
