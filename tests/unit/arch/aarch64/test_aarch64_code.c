/* The instructions that arch/aarch64 recognises in code. They are encoded as binutils assemble them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/instruction.h"

#define CODE(...)                           \
	(const uint8_t *)(const uint32_t[]) \
	{                                   \
		__VA_ARGS__                 \
	}

enum { BYTES = 4 };

enum {
	NOP = 0xd503201f,
	BTI_C = 0xd503245f,
	PACIASP = 0xd503233f,
	AUTIA1716 = 0xd503219f,
	MOV_X29_SP = 0x910003fd,
	BR_X17 = 0xd61f0220,
};

static void knows_calls(void **state)
{
	(void)state;
	enum { RETURN = 0x401000 };
	static const struct {
		uint32_t instruction;
		enum arch_call call;
		uint64_t target;
	} cases[] = {
		{ 0x94000040, ARCH_CALL, RETURN - BYTES + 0x100 }, /* bl . + 0x100 */
		{ 0x97fffffe, ARCH_CALL, RETURN - BYTES - 8 },     /* bl . - 8 */
		{ 0xd63f0100, ARCH_CALL, 0 },                      /* blr x8 */
		{ 0xd63f03c0, ARCH_CALL, 0 },                      /* blr x30 */
		{ 0xd63f091f, ARCH_CALL, 0 },                      /* blraaz x8 */
		{ 0xd73f0909, ARCH_CALL, 0 },                      /* blraa x8, x9 */
		{ 0xd73f0d09, ARCH_CALL, 0 },                      /* blrab x8, x9 */
		{ BR_X17, ARCH_NO_CALL, 0 },                       /* br x17 */
		{ 0x14000002, ARCH_NO_CALL, 0 },                   /* b . + 8 */
		{ 0xd65f03c0, ARCH_NO_CALL, 0 },                   /* ret */
		{ 0xd65f0bff, ARCH_NO_CALL, 0 },                   /* retaa */
		{ NOP, ARCH_NO_CALL, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t target = 1;
		enum arch_call call = arch_call_in(CODE(cases[i].instruction), RETURN, &target);
		if (call != cases[i].call || target != cases[i].target)
			fail_msg("case %zu: %d, 0x%llx", i, (int)call, (unsigned long long)target);
	}
}

/* adrp x16, 0x20000 from page 0; ldr x17, [x16, #8]; add x16, x16, #8; br x17 */
#define STUB 0x90000110, 0xf9400611, 0x91002210, BR_X17

static void finds_stubs(void **state)
{
	(void)state;
	size_t size;
	const uint8_t *plain = CODE(NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, STUB, STUB);
	assert_int_equal(arch_plt_stub(".plt", plain, 64, 31, &size), 0);
	assert_int_equal(size, 32);
	assert_int_equal(arch_plt_stub(".plt", plain, 64, 32, &size), 32);
	assert_int_equal(size, 16);
	assert_int_equal(arch_plt_stub(".plt", plain, 64, 60, &size), 48);
	const uint8_t *landing = CODE(BTI_C, STUB, NOP, BTI_C, STUB, NOP);
	assert_int_equal(arch_plt_stub(".plt.got", landing, 48, 44, &size), 24);
	assert_int_equal(size, 24);
	const uint8_t *checked = CODE(0x90000110, 0xf9400611, 0x91002210, AUTIA1716, BR_X17, NOP);
	assert_int_equal(arch_plt_stub(".plt.got", checked, 24, 20, &size), 0);
	assert_int_equal(size, 24);
}

static void follows_stubs(void **state)
{
	(void)state;
	struct arch_plt_jump jump = arch_plt_jump(CODE(STUB), 16, 0x5d0);
	assert_int_equal(jump.kind, ARCH_PLT_SLOT);
	assert_int_equal(jump.slot, 0x20008);
	/* adrp counts from its own page, which the landing may separate from the stub's. */
	jump = arch_plt_jump(CODE(BTI_C, STUB, NOP), 24, 0xffc);
	assert_int_equal(jump.kind, ARCH_PLT_SLOT);
	assert_int_equal(jump.slot, 0x21008);
	assert_true(arch_is_stub(CODE(STUB), 16));
	assert_false(arch_is_stub(CODE(STUB), 4));
	assert_false(arch_is_stub(CODE(NOP, NOP, NOP, NOP), 16));
	assert_int_equal(arch_plt_jump(CODE(0x90000110, NOP), 8, 0).kind, ARCH_PLT_UNKNOWN);
	assert_int_equal(arch_chosen_relocation, R_AARCH64_IRELATIVE);
	assert_int_equal(arch_relative_relocation, R_AARCH64_RELATIVE);
}

static void finds_main(void **state)
{
	(void)state;
	enum { START = 0x400600, LOW = 0x400000, HIGH = 0x402000, MAIN = 0x401123 };
	/* adrp x0, 0x401000; add x0, x0, #0x123 */
	assert_int_equal(arch_main_of_start(CODE(NOP, 0xb0000000, 0x91048c00, NOP), 16, START, LOW, HIGH), MAIN);
	assert_int_equal(arch_main_of_start(CODE(NOP, 0xb0000000, 0x91048c00, NOP), 16, START, LOW, MAIN), 0);
	/* ldr x0, [x0, #4056]: only the dynamic linker can resolve this. */
	assert_int_equal(arch_main_of_start(CODE(NOP, 0xb0000000, 0xf947ec00, NOP), 16, START, LOW, HIGH), 0);
	/* adrp x0, 0x400000; add x0, x0, #0x60c, where bti c; b . + 0x40 is */
	assert_int_equal(arch_main_of_start(CODE(0x90000000, 0x91183000, NOP, BTI_C, 0x14000010), 20, START, LOW, HIGH),
			 START + 16 + 0x40);
}

static void knows_ends(void **state)
{
	(void)state;
	assert_true(arch_ends_in_system_call(CODE(0xd4000001)));           /* svc #0 */
	assert_false(arch_ends_in_system_call(CODE(0xd4000021)));          /* svc #1 */
	assert_true(arch_ends_thread(CODE(0xd2800ba8, 0xd4000001, NOP)));  /* mov x8, #93 (exit) */
	assert_false(arch_ends_thread(CODE(0xd2801168, 0xd4000001, NOP))); /* mov x8, #139 */
	assert_int_equal(arch_code_address(UINT64_C(0x2a00aaaabbbbcccc)), UINT64_C(0xaaaabbbbcccc));
}

static void knows_calls_of_hooks(void **state)
{
	(void)state;
	const uint32_t known[] = { 0x94000040, BTI_C, PACIASP, 0x90000000, 0x91048c00, 0xa9be7bfd, MOV_X29_SP };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (arch_hook_instruction(CODE(known[i]), BYTES) != BYTES)
			fail_msg("0x%x is not known", known[i]);
	assert_int_equal(arch_hook_instruction(CODE(NOP), BYTES), 0);
	assert_int_equal(arch_hook_instruction(CODE(0x94000040), 3), 0);
}

static void follows_control(void **state)
{
	(void)state;
	enum { AT = 0x401000 };
	static const struct {
		uint32_t code;
		uint8_t flow;
		bool is_padding;
		uint64_t target;
	} cases[] = {
		{ 0x94000040, INSTRUCTION_CALL, false, AT + 0x100 },  /* bl . + 0x100 */
		{ 0xd63f0100, INSTRUCTION_CALL, false, 0 },           /* blr x8 */
		{ 0xd73f0909, INSTRUCTION_CALL, false, 0 },           /* blraa x8, x9 */
		{ 0x17ffffff, INSTRUCTION_JUMP, false, AT - 4 },      /* b . - 4 */
		{ BR_X17, INSTRUCTION_INDIRECT, false, 0 },           /* br x17 */
		{ 0x54000041, INSTRUCTION_BRANCH, false, AT + 8 },    /* b.ne . + 8 */
		{ 0x54ffffe0, INSTRUCTION_BRANCH, false, AT - 4 },    /* b.eq . - 4 */
		{ 0xb4000080, INSTRUCTION_BRANCH, false, AT + 0x10 }, /* cbz x0, . + 16 */
		{ 0x35ffffc1, INSTRUCTION_BRANCH, false, AT - 8 },    /* cbnz w1, . - 8 */
		{ 0x36180100, INSTRUCTION_BRANCH, false, AT + 0x20 }, /* tbz w0, #3, . + 32 */
		{ 0xb707ffe2, INSTRUCTION_BRANCH, false, AT - 4 },    /* tbnz x2, #32, . - 4 */
		{ 0xd65f03c0, INSTRUCTION_END, false, 0 },            /* ret */
		{ 0xd65f0bff, INSTRUCTION_END, false, 0 },            /* retaa */
		{ 0xd4200020, INSTRUCTION_END, true, 0 },             /* brk #1 */
		{ 0x00000000, INSTRUCTION_END, true, 0 },             /* udf #0 */
		{ NOP, INSTRUCTION_NEXT, true, 0 },
		{ MOV_X29_SP, INSTRUCTION_NEXT, false, 0 },
	};
	struct instruction found;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(instruction_decode(CODE(cases[i].code), BYTES, AT, &found));
		if (found.bytes != BYTES || found.flow != cases[i].flow || found.is_padding != cases[i].is_padding ||
		    found.has_target != (cases[i].target != 0) || found.target != cases[i].target)
			fail_msg("0x%x is decoded wrongly", cases[i].code);
	}
	assert_false(instruction_decode(CODE(NOP), 3, AT, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_calls),     cmocka_unit_test(finds_stubs),
		cmocka_unit_test(follows_stubs),   cmocka_unit_test(finds_main),
		cmocka_unit_test(knows_ends),      cmocka_unit_test(knows_calls_of_hooks),
		cmocka_unit_test(follows_control),
	};
	return cmocka_run_group_tests_name("aarch64_code", tests, NULL, NULL);
}
