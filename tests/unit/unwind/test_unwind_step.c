/*
 * The slow step: each rule of call frame information gives the caller's value of a register, or leaves it unknown. All
 * registers of the result are compared. The call frame information is for one function (tiny_elf.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "processor/tests.h"
#include "support/tiny_table.h"
#include "unwind/cfi.h"

/* The module is loaded BIAS above its ELF addresses. Memory is readable from LOW to HIGH. */
enum { SP = 0x10000, LOW = SP - 0x40, HIGH = SP + 0x100, SCRATCH = 0 };
#define BIAS UINT64_C(0x7f0000000000)
#define RA TEST_RETURN_COLUMN

/* The CFA is sp + 32, and the return address is below it. */
#define CFA (SP + 32)
#define RULES 0x0c, ARCH_SP_REGISTER, 32, 0x80 | RA, 1

static uint64_t word_at(uint64_t address)
{
	return UINT64_C(0x5000000) + address;
}

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = word_at(address);
	return address >= LOW && address < HIGH ? 0 : -1;
}

static const struct unwind_source source = { .read = read_word };

static uint64_t value_of(unsigned number)
{
	return number == ARCH_SP_REGISTER ? SP : UINT64_C(0x1000) * (number + 1) + 7;
}

static struct cfi_frame start(void)
{
	struct cfi_frame frame = { .known = CFI_ALL_REGISTERS };
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		frame.registers.value[i] = value_of(i);
	return frame;
}

/* Returns a register that a callee saves, but not the frame pointer. */
static unsigned saved_register(void)
{
	unsigned number = 0;
	while (!(arch_callee_saved >> number & 1) || number == ARCH_FP_REGISTER || number == RA)
		number++;
	return number;
}

static struct unwind_table *table_of(const char *augmentation, const void *cie_rules, size_t cie_bytes,
				     const void *rules, size_t bytes)
{
	struct buffer section;
	buffer_init(&section);
	size_t cie = tiny_cie(&section, true, augmentation, cie_rules, cie_bytes);
	tiny_fde(&section, true, cie, TINY_FUNCTION, TINY_FUNCTION_BYTES, rules, bytes);
	struct unwind_table *table = tiny_table(&section, NULL, true);
	buffer_release(&section);
	return table;
}

/* Steps once with these rules, behind RULES. */
static enum cfi_status step(struct cfi_frame *frame, const void *rules, size_t bytes)
{
	struct unwind_table *table = table_of("z", BYTES(RULES), rules, bytes);
	enum cfi_status status = cfi_step(table, BIAS, BIAS + TINY_FUNCTION, &source, frame);
	unwind_table_free(table);
	return status;
}

/* The result of a rule of one register. */
struct expected {
	bool is_known;
	uint64_t value;
};

static const struct expected unknown = { false, 0 };

static struct expected is(uint64_t value)
{
	return (struct expected){ true, value };
}

/* The result has this value in one register, and all others as without a rule for them. */
static void assert_caller(const struct cfi_frame *old, const struct cfi_frame *frame, unsigned number,
			  struct expected expected)
{
	for (unsigned i = 0; i < ARCH_PC_REGISTER; i++) {
		bool is_kept = arch_callee_saved >> i & 1 && old->known >> i & 1;
		struct expected want = i == number             ? expected
				       : i == RA               ? is(word_at(CFA - 8))
				       : i == ARCH_SP_REGISTER ? is(CFA)
				       : is_kept               ? is(old->registers.value[i])
							       : unknown;
		if ((frame->known >> i & 1) != want.is_known)
			fail_msg("register %u is %s", i, want.is_known ? "unknown" : "known");
		if (want.is_known)
			assert_int_equal(frame->registers.value[i], want.value);
	}
	assert_true(frame->known >> ARCH_PC_REGISTER & 1);
	assert_int_equal(frame->known & ~CFI_ALL_REGISTERS, 0);
	assert_int_equal(frame->registers.value[ARCH_PC_REGISTER], word_at(CFA - 8));
	assert_false(frame->is_signal);
}

/* Steps from a frame with these rules, which give a value to one register. */
static void assert_step_from(struct cfi_frame frame, unsigned number, struct expected expected, const void *rules,
			     size_t bytes)
{
	const struct cfi_frame old = frame;
	assert_int_equal(step(&frame, rules, bytes), CFI_OK);
	assert_caller(&old, &frame, number, expected);
}

static void assert_step(unsigned number, struct expected expected, const void *rules, size_t bytes)
{
	assert_step_from(start(), number, expected, rules, bytes);
}

static void each_rule(void **state)
{
	(void)state;
	uint8_t r = (uint8_t)saved_register();
	assert_step(r, is(value_of(r)), BYTES(0));
	assert_step(SCRATCH, unknown, BYTES(0));
	assert_step(SCRATCH, is(value_of(SCRATCH)), BYTES(0x08, SCRATCH));
	assert_step(r, unknown, BYTES(0x07, r));
	assert_step(r, is(word_at(CFA - 16)), BYTES(0x80 | r, 2));
	assert_step(r, is(word_at(CFA - 16)), BYTES(0x05, r, 2));
	assert_step(r, is(word_at(CFA - 16)), BYTES(0x11, r, 2));
	assert_step(r, is(word_at(CFA + 16)), BYTES(0x2f, r, 2));
	assert_step(r, is(word_at(CFA + 16)), BYTES(0x11, r, 0x7e));
	assert_step(r, is(CFA - 16), BYTES(0x14, r, 2));
	assert_step(r, is(CFA + 16), BYTES(0x15, r, 0x7e));
	assert_step(r, is(value_of(SCRATCH)), BYTES(0x09, r, SCRATCH));
	assert_step(r, is(word_at(CFA - 16)), BYTES(0x10, r, 2, 0x40, 0x1c)); /* CFA - 16 */
	assert_step(r, is(CFA - 16), BYTES(0x16, r, 2, 0x40, 0x1c));
	/* Back to the rule of the CIE, which has none. */
	assert_step(r, is(value_of(r)), BYTES(0x80 | r, 2, 0xc0 | r));
	assert_step(r, is(value_of(r)), BYTES(0x80 | r, 2, 0x06, r));
	/* The rule of sp itself. */
	assert_step(ARCH_SP_REGISTER, is(CFA - 16), BYTES(0x14, ARCH_SP_REGISTER, 2));
	assert_step(ARCH_SP_REGISTER, is(word_at(SP - 8)), BYTES(0x05, ARCH_SP_REGISTER, 5));
}

/* Registers that a table of this processor does not have change nothing. */
static void foreign_registers(void **state)
{
	(void)state;
	enum { NEXT = ARCH_REGISTERS };
	uint8_t r = (uint8_t)saved_register();
	assert_step(r, is(value_of(r)),
		    BYTES(0x05, NEXT, 2, 0x06, NEXT, 0x07, NEXT, 0x08, NEXT, 0x09, NEXT, SCRATCH, 0x10, NEXT, 1, 0x40,
			  0x14, NEXT, 2));
	assert_step(r, unknown, BYTES(0x09, r, NEXT));
	assert_step(r, is(value_of(NEXT - 1)), BYTES(0x09, r, NEXT - 1));
	struct cfi_frame frame = start();
	assert_int_equal(step(&frame, BYTES(0x0c, NEXT, 8)), CFI_BAD);
	assert_int_equal(step(&frame, BYTES(0x05, NEXT, 2, 0x0b)), CFI_BAD); /* no state was remembered */
}

/* The table keeps what the rules of each CIE refer to, also behind the last function. */
static void rules_behind_the_functions(void **state)
{
	(void)state;
	uint8_t r = (uint8_t)saved_register();
	const uint8_t rules[] = { RULES, 0x16, r, 2, 0x40, 0x1c };
	struct buffer section;
	buffer_init(&section);
	size_t first = tiny_cie(&section, false, "", BYTES(RULES));
	tiny_fde(&section, false, first, TINY_FUNCTION + TINY_FUNCTION_BYTES, TINY_FUNCTION_BYTES, BYTES(0));
	size_t fde = section.size;
	tiny_fde(&section, false, 0, TINY_FUNCTION, TINY_FUNCTION_BYTES, BYTES(0));
	uint32_t behind = (uint32_t)section.size;
	memcpy(section.bytes + fde + sizeof(uint32_t), &behind, sizeof(behind));
	tiny_cie(&section, false, "", rules, sizeof(rules));
	struct unwind_table *table = tiny_table(NULL, &section, true);
	struct cfi_frame frame = start(), old = frame;
	assert_int_equal(cfi_step(table, BIAS, BIAS + TINY_FUNCTION, &source, &frame), CFI_OK);
	assert_caller(&old, &frame, r, is(CFA - 16));
	unwind_table_free(table);
	buffer_release(&section);
}

/* A slot below sp may have been popped: the register keeps its value if the slot has the same. */
static void slots_below_sp(void **state)
{
	(void)state;
	uint8_t r = (uint8_t)saved_register();
	assert_step(r, is(word_at(SP)), BYTES(0x80 | r, 4));
	assert_step(r, unknown, BYTES(0x80 | r, 5));
	struct cfi_frame frame = start();
	frame.registers.value[r] = word_at(SP - 8);
	assert_step_from(frame, r, is(word_at(SP - 8)), BYTES(0x80 | r, 5));
	assert_step_from(frame, r, is(word_at(SP - 8)), BYTES(0x80 | r, 24)); /* the slot is unreadable */
	frame.known &= ~(UINT64_C(1) << r);
	assert_step_from(frame, r, unknown, BYTES(0x80 | r, 5));
	assert_step_from(frame, r, is(word_at(SP)), BYTES(0x80 | r, 4));
}

static void unknown_registers(void **state)
{
	(void)state;
	uint8_t r = (uint8_t)saved_register();
	struct cfi_frame frame = start();
	frame.known &= ~(UINT64_C(1) << SCRATCH);
	assert_step_from(frame, r, unknown, BYTES(0x09, r, SCRATCH));
	assert_step_from(frame, SCRATCH, unknown, BYTES(0x08, SCRATCH));
	struct cfi_frame same = frame;
	assert_int_equal(step(&same, BYTES(0x0c, SCRATCH, 8)), CFI_UNKNOWN); /* the CFA */
	assert_memory_equal(&same, &frame, sizeof(same));
	same = frame;
	assert_int_equal(step(&same, BYTES(0x09, RA, SCRATCH)), CFI_UNKNOWN); /* the return address */
	assert_memory_equal(&same, &frame, sizeof(same));
	same = frame;
	assert_int_equal(step(&same, BYTES(0x07, ARCH_SP_REGISTER)), CFI_UNKNOWN);
	assert_memory_equal(&same, &frame, sizeof(same));
}

/* A register that a callee may change, and that no rule mentions, may have the value that it had, if it is known. */
static void assumed_registers(void **state)
{
	(void)state;
	static const struct {
		bool is_known, is_assumed, is_undefined, expected;
	} cases[] = { { true, false, false, true },
		      { false, true, false, true },
		      { false, false, false, false },
		      { true, false, true, false },
		      { false, true, true, false } };
	for (size_t n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
		size_t i = n / 2;
		uint8_t scratch = SCRATCH + n % 2;
		uint64_t bit = UINT64_C(1) << scratch;
		struct cfi_frame frame = start();
		frame.known &= cases[i].is_known ? CFI_ALL_REGISTERS : ~bit;
		frame.assumed = cases[i].is_assumed ? bit : 0;
		int status = cases[i].is_undefined ? step(&frame, BYTES(0x07, scratch)) : step(&frame, BYTES(0));
		assert_int_equal(status, CFI_OK);
		assert_int_equal(frame.assumed >> scratch & 1, cases[i].expected);
		assert_int_equal(frame.known >> scratch & 1, 0);
		if (cases[i].expected)
			assert_int_equal(frame.registers.value[scratch], value_of(scratch));
	}
}

static void return_addresses(void **state)
{
	(void)state;
	struct cfi_frame frame = start();
	assert_int_equal(step(&frame, BYTES(0x07, RA)), CFI_ROOT);
	assert_int_equal(step(&frame, BYTES(0x09, RA, SCRATCH)), CFI_OK);
	assert_int_equal(frame.registers.value[ARCH_PC_REGISTER], value_of(SCRATCH));
	/* In memory, also below sp. */
	frame = start();
	assert_int_equal(step(&frame, BYTES(0x80 | RA, 5)), CFI_OK);
	assert_int_equal(frame.registers.value[ARCH_PC_REGISTER], word_at(SP - 8));
	frame = start();
	assert_int_equal(step(&frame, BYTES(0x80 | RA, 24)), CFI_UNREADABLE);
	assert_int_equal(frame.unreadable, CFA - 24 * 8);
	assert_int_equal(frame.registers.value[ARCH_SP_REGISTER], SP);
	/* Without a rule, it is where a callee leaves it. */
	struct unwind_table *table = table_of("z", BYTES(0x0c, ARCH_SP_REGISTER, 32), BYTES(0));
	frame = start();
	enum cfi_status status = cfi_step(table, BIAS, BIAS + TINY_FUNCTION, &source, &frame);
	assert_int_equal(status, arch_callee_saved >> RA & 1 ? CFI_OK : CFI_BAD);
	unwind_table_free(table);
}

static void ways_to_the_cfa(void **state)
{
	(void)state;
	uint8_t r = (uint8_t)saved_register();
	static const struct {
		uint8_t rules[8];
		size_t bytes;
		int64_t offset; /* of the CFA from sp; 0: it is bad */
	} cases[] = {
		{ { 0x0c, ARCH_SP_REGISTER, 64 }, 3, 64 },   /* register and offset */
		{ { 0x12, ARCH_SP_REGISTER, 0x78 }, 3, 64 }, /* -8 times the data alignment, -8 */
		{ { 0x0e, 64 }, 2, 64 },                     /* offset */
		{ { 0x13, 0x78 }, 2, 64 },                   /* the same, times the alignment */
		{ { 0x0f, 3, 0x70 + ARCH_SP_REGISTER, 0xc0, 0 }, 5, 64 },
		{ { 0x0f, 1, 0x06 }, 3, 0 },            /* an expression that fails */
		{ { 0x0f, 1, 0x31, 0x0e, 64 }, 5, -1 }, /* an offset to an expression: damage */
		{ { 0x0f, 1, 0x31, 0x13, 64 }, 5, -1 },
		{ { 0x0f, 1, 0x31, 0x0d, ARCH_SP_REGISTER }, 5, -1 },
		{ { 0x0d, ARCH_SP_REGISTER }, 2, 32 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cfi_frame frame = start();
		enum cfi_status status = step(&frame, cases[i].rules, cases[i].bytes);
		assert_int_equal(status, cases[i].offset > 0 ? CFI_OK : CFI_BAD);
		if (status == CFI_OK) {
			assert_int_equal(frame.registers.value[ARCH_SP_REGISTER], SP + cases[i].offset);
			assert_int_equal(frame.registers.value[ARCH_PC_REGISTER], word_at(SP + cases[i].offset - 8));
		}
	}
	/* def_cfa_register keeps the offset. */
	struct cfi_frame frame = start();
	frame.registers.value[r] = SP + 8;
	assert_int_equal(step(&frame, BYTES(0x0d, r)), CFI_OK);
	assert_int_equal(frame.registers.value[ARCH_SP_REGISTER], SP + 8 + 32);
	/* No rule at all. */
	struct unwind_table *table = table_of("z", BYTES(0), BYTES(0x80 | RA, 1));
	frame = start();
	assert_int_equal(cfi_step(table, BIAS, BIAS + TINY_FUNCTION, &source, &frame), CFI_BAD);
	unwind_table_free(table);
}

/* The rules of the pc count: those behind it do not, not even if they are damaged. */
static void rules_of_the_pc(void **state)
{
	(void)state;
	struct unwind_table *table = table_of("zS", BYTES(RULES), BYTES(0x44, 0x0e, 40, 0x44, 0x0e, 48, 0x44, 0x3e));
	for (unsigned at = 0; at < TINY_FUNCTION_BYTES; at++) {
		struct cfi_frame frame = start();
		enum cfi_status status = cfi_step(table, BIAS, BIAS + TINY_FUNCTION + at, &source, &frame);
		assert_int_equal(status, at < 12 ? CFI_OK : CFI_BAD);
		if (status == CFI_OK) {
			assert_int_equal(frame.registers.value[ARCH_SP_REGISTER], SP + 32 + 8 * (at / 4));
			assert_true(frame.is_signal);
		}
	}
	struct cfi_frame frame = start();
	assert_int_equal(cfi_step(table, BIAS, BIAS + TINY_FUNCTION - 1, &source, &frame), CFI_NO_RULE);
	assert_int_equal(cfi_step(table, BIAS, BIAS + TINY_FUNCTION + TINY_FUNCTION_BYTES, &source, &frame),
			 CFI_NO_RULE);
	struct unwind_table without = *table;
	without.cfi = NULL;
	assert_int_equal(cfi_step(&without, BIAS, BIAS + TINY_FUNCTION, &source, &frame), CFI_NO_RULE);
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule),
		cmocka_unit_test(foreign_registers),
		cmocka_unit_test(slots_below_sp),
		cmocka_unit_test(unknown_registers),
		cmocka_unit_test(assumed_registers),
		cmocka_unit_test(return_addresses),
		cmocka_unit_test(ways_to_the_cfa),
		cmocka_unit_test(rules_of_the_pc),
		cmocka_unit_test(rules_behind_the_functions),
	};
	return cmocka_run_group_tests_name("unwind_step", tests, NULL, NULL);
}
