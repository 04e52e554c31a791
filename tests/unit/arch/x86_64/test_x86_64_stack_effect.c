/* The effects of instructions on rsp and rbp (arch/stack_effect.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "arch/instruction.h"
#include "arch/stack_effect.h"

struct example {
	const char *text;
	uint8_t code[12];
	uint8_t kind;
	int32_t amount;
};

static const struct example examples[] = {
	{ "nop", { 0x90 }, STACK_KEEPS, 0 },
	{ "push %rbx", { 0x53 }, STACK_MOVES, -8 },
	{ "push %r12", { 0x41, 0x54 }, STACK_MOVES, -8 },
	{ "push %r13", { 0x41, 0x55 }, STACK_MOVES, -8 },
	{ "push %rbp", { 0x55 }, STACK_PUSHES_FP, 0 },
	{ "pop %rbp", { 0x5d }, STACK_POPS_FP, 0 },
	{ "pop %r13", { 0x41, 0x5d }, STACK_MOVES, 8 },
	{ "pop %rsp", { 0x5c }, STACK_LOSES_SP, 0 },
	{ "push $1", { 0x6a, 0x01 }, STACK_MOVES, -8 },
	{ "push 8(%rax)", { 0xff, 0x70, 0x08 }, STACK_MOVES, -8 },
	{ "pop 8(%rax)", { 0x8f, 0x40, 0x08 }, STACK_MOVES, 8 },
	{ "push %ax", { 0x66, 0x50 }, STACK_LOSES_SP, 0 },
	{ "pushf", { 0x9c }, STACK_MOVES, -8 },
	{ "sub $0x18, %rsp", { 0x48, 0x83, 0xec, 0x18 }, STACK_MOVES, -0x18 },
	{ "add $-128, %rsp", { 0x48, 0x83, 0xc4, 0x80 }, STACK_MOVES, -128 },
	{ "sub $0x118, %rsp", { 0x48, 0x81, 0xec, 0x18, 0x01, 0, 0 }, STACK_MOVES, -0x118 },
	{ "and $-32, %rsp", { 0x48, 0x83, 0xe4, 0xe0 }, STACK_LOSES_SP, 0 },
	{ "cmp $1, %rbp", { 0x48, 0x83, 0xfd, 0x01 }, STACK_KEEPS, 0 },
	{ "add $1, %rbp", { 0x48, 0x83, 0xc5, 0x01 }, STACK_LOSES_FP, 0 },
	{ "add $1, %r12", { 0x49, 0x83, 0xc4, 0x01 }, STACK_KEEPS, 0 },
	{ "add $1, (%rsp)", { 0x48, 0x83, 0x04, 0x24, 0x01 }, STACK_KEEPS, 0 },
	{ "sub %rax, %rsp", { 0x48, 0x29, 0xc4 }, STACK_LOSES_SP, 0 },
	{ "sub %rsp, %rax", { 0x48, 0x29, 0xe0 }, STACK_KEEPS, 0 },
	{ "add (%rax), %rbp", { 0x48, 0x03, 0x28 }, STACK_LOSES_FP, 0 },
	{ "cmp %rsp, %rbp", { 0x48, 0x39, 0xe5 }, STACK_KEEPS, 0 },
	{ "mov %rsp, %rbp", { 0x48, 0x89, 0xe5 }, STACK_SETS_FP, 0 },
	{ "mov %rsp, %rbp (8b)", { 0x48, 0x8b, 0xec }, STACK_SETS_FP, 0 },
	{ "mov %rbp, %rsp", { 0x48, 0x89, 0xec }, STACK_SETS_SP, 0 },
	{ "mov %esp, %ebp", { 0x89, 0xe5 }, STACK_LOSES_FP, 0 },
	{ "mov %rax, %rsp", { 0x48, 0x89, 0xc4 }, STACK_LOSES_SP, 0 },
	{ "mov %r12, %r13", { 0x4d, 0x89, 0xe5 }, STACK_KEEPS, 0 },
	{ "mov %rbp, 16(%rsp)", { 0x48, 0x89, 0x6c, 0x24, 0x10 }, STACK_STORES_FP, 16 },
	{ "mov 16(%rsp), %rbp", { 0x48, 0x8b, 0x6c, 0x24, 0x10 }, STACK_LOADS_FP, 16 },
	{ "mov 16(%rsp,%rax), %rbp", { 0x48, 0x8b, 0x6c, 0x04, 0x10 }, STACK_LOSES_FP, 0 },
	{ "mov %rbp, 16(%rax)", { 0x48, 0x89, 0x68, 0x10 }, STACK_KEEPS, 0 },
	{ "mov %al, %ch", { 0x88, 0xc5 }, STACK_KEEPS, 0 },
	{ "mov %al, %bpl", { 0x40, 0x88, 0xc5 }, STACK_LOSES_FP, 0 },
	{ "mov $5, %ebp", { 0xbd, 0x05, 0, 0, 0 }, STACK_LOSES_FP, 0 },
	{ "xchg %rax, %rbp", { 0x48, 0x95 }, STACK_LOSES_FP, 0 },
	{ "lea 8(%rsp), %rsp", { 0x48, 0x8d, 0x64, 0x24, 0x08 }, STACK_MOVES, 8 },
	{ "lea 8(%rsp), %rbp", { 0x48, 0x8d, 0x6c, 0x24, 0x08 }, STACK_SETS_FP, 8 },
	{ "lea -40(%rbp), %rsp", { 0x48, 0x8d, 0x65, 0xd8 }, STACK_SETS_SP, -40 },
	{ "lea 8(%r12), %rsp", { 0x49, 0x8d, 0x64, 0x24, 0x08 }, STACK_LOSES_SP, 0 },
	{ "lea (%rsp,%rax), %rsp", { 0x48, 0x8d, 0x24, 0x04 }, STACK_LOSES_SP, 0 },
	{ "leave", { 0xc9 }, STACK_LEAVES, 0 },
	{ "ret", { 0xc3 }, STACK_KEEPS, 0 },
	{ "ret $8", { 0xc2, 0x08, 0 }, STACK_LOSES_SP, 0 },
	{ "neg %rbp", { 0x48, 0xf7, 0xdd }, STACK_LOSES_FP, 0 },
	{ "test %rbp, %rbp", { 0x48, 0x85, 0xed }, STACK_KEEPS, 0 },
	{ "imul %rax, %rbp", { 0x48, 0x0f, 0xaf, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "cmove %rax, %rbp", { 0x48, 0x0f, 0x44, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "movzbl %al, %ebp", { 0x0f, 0xb6, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "sete %ch", { 0x0f, 0x94, 0xc5 }, STACK_KEEPS, 0 },
	{ "bswap %rbp", { 0x48, 0x0f, 0xcd }, STACK_LOSES_FP, 0 },
	{ "movaps %xmm5, %xmm4", { 0x0f, 0x28, 0xe5 }, STACK_KEEPS, 0 },
	{ "pmovmskb %xmm0, %ebp", { 0x66, 0x0f, 0xd7, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "movq %xmm0, %rbp", { 0x66, 0x48, 0x0f, 0x7e, 0xc5 }, STACK_LOSES_FP, 0 },
	{ "pshufb %xmm5, %xmm4", { 0x66, 0x0f, 0x38, 0x00, 0xe5 }, STACK_KEEPS, 0 },
	{ "vpaddd %ymm5, %ymm5, %ymm4", { 0xc5, 0xd5, 0xfe, 0xe5 }, STACK_KEEPS, 0 },
	{ "vpmovmskb %ymm0, %ebp", { 0xc5, 0xfd, 0xd7, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "andn %rax, %rbx, %rbp", { 0xc4, 0xe2, 0xe0, 0xf2, 0xe8 }, STACK_LOSES_FP, 0 },
	{ "blsr %rax, %rbp", { 0xc4, 0xe2, 0xd0, 0xf3, 0xc8 }, STACK_LOSES_FP, 0 },
	{ "pextrq $1, %xmm0, %rbp", { 0x66, 0x48, 0x0f, 0x3a, 0x16, 0xc5, 0x01 }, STACK_LOSES_FP, 0 },
};

static void effects(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *example = &examples[i];
		struct instruction instruction;
		assert_true(instruction_decode(example->code, sizeof(example->code), 0, &instruction));
		struct stack_effect effect = arch_stack_effect(example->code, instruction.bytes);
		if (effect.kind != example->kind || effect.amount != example->amount)
			fail_msg("%s: effect %d of %d, not %d of %d", example->text, effect.kind, effect.amount,
				 example->kind, example->amount);
	}
}

/* Bytes that end within an instruction are not read beyond their end. */
static void cut_off(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		for (size_t size = 0; size < 4; size++) {
			uint8_t code[4];
			for (size_t at = 0; at < size; at++)
				code[at] = examples[i].code[at];
			assert_true(arch_stack_effect(code, size).kind <= STACK_LOSES_FP);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(effects), cmocka_unit_test(cut_off) };
	return cmocka_run_group_tests_name("x86_64_stack_effect", tests, NULL, NULL);
}
