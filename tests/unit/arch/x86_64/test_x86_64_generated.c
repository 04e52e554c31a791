/* Steps out of code that a run-time compiler generated: by its frame pointer or, where its instructions show that it has no frame, without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "arch/arch.h"
#include "support/walk_world.h"

/* --- by instructions --- */

enum { NO_STEP = -1, CODE_MAX = 32, UNCHANGED = -1 };

static const struct generated {
	const char *instructions;
	uint8_t code[CODE_MAX];
	int bytes;
	int return_at; /* offset of the return address to rsp, or NO_STEP: there is a frame, or it is not known */
	int fp_at;     /* offset of the caller's rbp, or UNCHANGED */
} generated[] = {
	{ "push %rbp; mov %rsp,%rbp", { 0x55, 0x48, 0x89, 0xe5 }, 4, 0, UNCHANGED },
	{ "mov %eax,-0x14000(%rsp); push %rbp", { 0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55 }, 8, 0, UNCHANGED },
	{ "test %al,%al; jne; push %rbp", { 0x84, 0xc0, 0x75, 0x40, 0x55 }, 5, 0, UNCHANGED },
	{ "mov %rsp,%rbp", { 0x48, 0x89, 0xe5, 0x90 }, 4, 8, 0 },
	{ "mov %rsp,%rbp, the other form", { 0x48, 0x8b, 0xec, 0x90 }, 4, 8, 0 },
	{ "ret", { 0xc3 }, 1, 0, UNCHANGED },
	{ "ret $16", { 0xc2, 0x10, 0 }, 3, 0, UNCHANGED },
	{ "pop %rbp; ret", { 0x5d, 0xc3 }, 2, 8, 0 },
	{ "add $24,%rsp; pop %rbp; ret", { 0x48, 0x83, 0xc4, 24, 0x5d, 0xc3 }, 6, 32, 24 },
	{ "add $256,%rsp; ret", { 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3 }, 8, 256, UNCHANGED },
	{ "sub $8,%rsp; add $16,%rsp; ret", { 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 16, 0xc3 }, 9, 8, UNCHANGED },
	{ "sub $256,%rsp; add $256,%rsp; ret",
	  { 0x48, 0x81, 0xec, 0, 1, 0, 0, 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3 },
	  15,
	  0,
	  UNCHANGED },
	{ "pop %rcx; push %rcx; ret", { 0x59, 0x51, 0xc3 }, 3, 0, UNCHANGED },
	{ "pop %r12; ret", { 0x41, 0x5c, 0xc3 }, 3, 8, UNCHANGED },
	{ "cmp; ja; ret", { 0x49, 0x3b, 0xa7, 0, 1, 0, 0, 0x0f, 0x87, 0, 1, 0, 0, 0xc3 }, 14, 0, UNCHANGED },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, 0, UNCHANGED },
	{ "jmp over 1; ret", { 0xeb, 1, 0xcc, 0xc3 }, 4, 0, UNCHANGED },
	{ "jmp back", { 0x90, 0xeb, 0xfd, 0xc3 }, 4, NO_STEP, 0 },
	{ "jmp out of sight", { 0xe9, 0, 0, 1, 0, 0xc3 }, 6, NO_STEP, 0 },
	{ "leave; ret", { 0xc9, 0xc3 }, 2, NO_STEP, 0 },
	{ "mov %rbp,%rsp; pop %rbp; ret", { 0x48, 0x89, 0xec, 0x5d, 0xc3 }, 5, NO_STEP, 0 },
	{ "mov %rbp,%rsp, the other form", { 0x48, 0x8b, 0xe5, 0x5d, 0xc3 }, 5, NO_STEP, 0 },
	{ "call; ret", { 0xe8, 0, 0, 0, 0, 0xc3 }, 6, NO_STEP, 0 },
	{ "int3", { 0xcc, 0xf4 }, 2, NO_STEP, 0 },
	{ "push %rax; push %rbp", { 0x50, 0x55 }, 2, NO_STEP, 0 },
	{ "no instruction", { 0x06 }, 1, NO_STEP, 0 },
	{ "push %rax; ret: the return address would be below", { 0x50, 0xc3 }, 2, NO_STEP, 0 },
};

struct memory {
	const struct generated *code;
	size_t readable; /* bytes of the code */
};

enum { SP = 0x8000, PC = 0x100000, STACK_BYTES = 0x400 };

static int read_code(void *context, uint64_t address, uint64_t *value)
{
	const struct memory *memory = context;
	uint8_t bytes[CODE_MAX + sizeof(*value)];
	memset(bytes, 0x90, sizeof(bytes)); /* nop: never decides */
	memcpy(bytes, memory->code->code, (size_t)memory->code->bytes);
	uint64_t at = address - PC;
	if (at >= memory->readable)
		return -1;
	memcpy(value, at < CODE_MAX ? bytes + at : bytes + CODE_MAX, sizeof(*value));
	return 0;
}

static uint64_t word_at(uint64_t address)
{
	return 0x5000000 + address;
}

static int read_stack(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = word_at(address);
	return address >= SP && address < SP + STACK_BYTES ? 0 : -1;
}

static bool step(const struct generated *row, size_t readable, uint64_t sp, struct arch_frame *frame)
{
	struct memory memory = { .code = row, .readable = readable };
	const struct arch_memory code = { .read = read_code, .context = &memory };
	const struct arch_memory stack = { .read = read_stack };
	*frame = (struct arch_frame){ .pc = PC, .sp = sp, .fp = 0x1234 };
	return arch_generated_step(&code, &stack, frame);
}

static void instructions_decide(void **state)
{
	(void)state;
	struct arch_frame frame;
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++) {
		const struct generated *row = &generated[i];
		bool steps = step(row, 256, SP, &frame);
		if (steps != (row->return_at != NO_STEP))
			fail_msg("%s: steps %d", row->instructions, steps);
		if (!steps)
			continue;
		uint64_t return_at = (uint64_t)SP + (uint64_t)row->return_at;
		uint64_t fp = row->fp_at == UNCHANGED ? 0x1234 : word_at((uint64_t)SP + (uint64_t)row->fp_at);
		if (frame.pc != word_at(return_at) || frame.sp != return_at + 8 || frame.fp != fp)
			fail_msg("%s: pc at %lx, fp %lx", row->instructions, (unsigned long)frame.sp - 8,
				 (unsigned long)frame.fp);
	}
}

static void memory_may_be_missing(void **state)
{
	(void)state;
	struct arch_frame frame;
	assert_false(step(&generated[0], 0, SP, &frame));        /* no code */
	assert_false(step(&generated[0], 256, SP - 16, &frame)); /* no return address */
	assert_false(step(&generated[7], 256, SP - 8, &frame));  /* no saved rbp */
	assert_false(step(&generated[8], 256, SP + STACK_BYTES - 16, &frame));
	assert_true(step(&generated[7], 256, SP + STACK_BYTES - 16, &frame)); /* both are the last words */
}

/* Erlang's loops are calls in tail position: the frame is removed, and the function begins again. */
static void jumps_to_a_function_have_no_frame(void **state)
{
	(void)state;
	static const struct {
		struct generated code;
		unsigned pc;
		bool steps;
	} rows[] = {
		{ { "push %rbp; mov %rsp,%rbp; leave; jmp to the first",
		    { 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xeb, 0xf9 },
		    7,
		    0,
		    0 },
		  5,
		  true },
		{ { "mov %eax,%eax; jmp to the first: a loop", { 0x89, 0xc0, 0xeb, 0xfc }, 4, 0, 0 }, 2, false },
		{ { "jmp to code that cannot be read", { 0xe9, 0, 0, 0xff, 0xff }, 5, 0, 0 }, 0, false },
		{ { "mov %rsp,%rbp; jmp to it", { 0x48, 0x89, 0xe5, 0xeb, 0xfb }, 5, 0, 0 }, 3, false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct memory memory = { .code = &rows[i].code, .readable = 256 };
		const struct arch_memory code = { .read = read_code, .context = &memory };
		const struct arch_memory stack = { .read = read_stack };
		struct arch_frame frame = { .pc = PC + rows[i].pc, .sp = SP, .fp = 0x1234 };
		if (arch_generated_step(&code, &stack, &frame) != rows[i].steps)
			fail_msg("%s: steps %d", rows[i].code.instructions, !rows[i].steps);
		if (rows[i].steps && (frame.pc != word_at(SP) || frame.sp != SP + WORD || frame.fp != 0x1234))
			fail_msg("%s: pc at %lx", rows[i].code.instructions, (unsigned long)frame.sp - WORD);
	}
}

/* --- both walks --- */

#define IN_GENERATED(offset) (GENERATED + (offset))

/* A frame in generated code, whose caller is the outermost function of a module. */
static void put_frame(struct walk_world *world, unsigned word, uint64_t return_address)
{
	world->stack[word] = STACK + 0x2000;
	world->stack[word + 1] = return_address;
}

/* An interpreter pushes return addresses that no call precedes; native code calls. */
static void steps_by_frame_pointers(void **state)
{
	struct walk_world *world = *state;
	memset(world->code, 0x90, sizeof(world->code));
	world->code[OUTERMOST * FUNCTION_BYTES + 0x1b] = 0xe8; /* call in front of call_in(OUTERMOST) */
	world->stack[8] = STACK + 20 * WORD;
	world->stack[9] = IN_GENERATED(0x40);
	put_frame(world, 20, call_in(OUTERMOST));
	walk_world_walk(world, IN_GENERATED(0x80), STACK, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, IN_GENERATED(0x80), IN_GENERATED(0x40) - 1, call_in(OUTERMOST) - 1);
	assert_true(world->kernel.is_generated);
	assert_int_equal(world->user.cause, UNWIND_ROOT_NAMELESS);
	/* From native code into it. */
	world->stack[0] = IN_GENERATED(0x80);
	walk_world_walk(world, call_in(LEAF), STACK, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), IN_GENERATED(0x80) - 1, IN_GENERATED(0x40) - 1, call_in(OUTERMOST) - 1);
	/* Without generated code, nothing is marked. */
	world->stack[0] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(OUTERMOST) - 1);
	assert_false(world->kernel.is_generated);
	assert_int_equal(world->user.cause, UNWIND_ROOT);
}

/* The kernel leaves a leaf to the monitor that may have no frame; the monitor decodes the code. */
static void leaves_leaves_without_frame_to_the_monitor(void **state)
{
	struct walk_world *world = *state;
	memset(world->code, 0x90, sizeof(world->code));
	world->code[OUTERMOST * FUNCTION_BYTES + 0x1b] = 0xe8;
	memset(world->generated, 0x90, sizeof(world->generated));
	world->generated[0x80] = 0xc3;
	world->stack[0] = IN_GENERATED(0x40);
	put_frame(world, 20, call_in(OUTERMOST));
	walk_world_walk(world, IN_GENERATED(0x80), STACK, STACK + 20 * WORD);
	ASSERT_FRAMES(WALK_NO_FRAME, IN_GENERATED(0x80));
	assert_int_equal(world->user.count, 3);
	assert_int_equal(world->frames[1].pc, IN_GENERATED(0x40) - 1);
	assert_int_equal(world->user.cause, UNWIND_ROOT_NAMELESS);
	/* rbp = 0 marks an outermost frame only if a frame pointer led to it. */
	memcpy(world->generated + 0x40, "\x48\x83\xc4\x10\xc3", 5);
	world->stack[3] = call_in(OUTERMOST);
	walk_world_walk_as_user(world, IN_GENERATED(0x80), STACK, 0);
	assert_int_equal(world->user.count, 3);
	assert_int_equal(world->frames[2].pc, call_in(OUTERMOST) - 1);
	/* A word that an earlier call has left there: the code has a frame. */
	world->generated[0x80] = 0xc9;
	walk_world_walk(world, IN_GENERATED(0x80), STACK, STACK + 20 * WORD);
	ASSERT_FRAMES(WALK_NO_FRAME, IN_GENERATED(0x80));
	assert_int_equal(world->user.count, 2);
	assert_int_equal(world->frames[1].pc, call_in(OUTERMOST) - 1);
	/* The first byte of the code, and the first one behind it, may be what a call returned to. */
	static const struct {
		uint64_t word;
		size_t count;
	} ends[] = { { IN_GENERATED(0), 2 },
		     { IN_GENERATED(1), 3 },
		     { IN_GENERATED(GENERATED_BYTES), 3 },
		     { IN_GENERATED(GENERATED_BYTES + 1), 2 } };
	world->generated[0x80] = 0xc3;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		world->stack[0] = ends[i].word;
		walk_world_walk_as_user(world, IN_GENERATED(0x80), STACK, STACK + 20 * WORD);
		assert_int_equal(world->user.count, ends[i].count);
	}
	/* rbp has just been pushed. */
	memcpy(world->generated + 0x80, "\x48\x89\xe5", 3);
	world->stack[0] = STACK + 20 * WORD;
	world->stack[1] = IN_GENERATED(0x40);
	walk_world_walk(world, IN_GENERATED(0x80), STACK, STACK + 20 * WORD);
	ASSERT_FRAMES(WALK_NO_FRAME, IN_GENERATED(0x80));
	assert_int_equal(world->user.count, 3);
	assert_int_equal(world->frames[1].pc, IN_GENERATED(0x40) - 1);
}

/* Code of a runtime without frame pointers: rbp leads nowhere, or to a return address in native code that no call precedes. */
static void ends_where_frame_pointers_do(void **state)
{
	struct walk_world *world = *state;
	memset(world->code, 0x90, sizeof(world->code));
	memset(world->generated, 0x90, sizeof(world->generated));
	const struct {
		uint64_t fp, word;
	} wild[] = { { 1, 0 },
		     { STACK - 8, call_in(OUTERMOST) },
		     { STACK + 8 * WORD, call_in(OUTERMOST) },
		     { STACK + 8 * WORD, NOWHERE } };
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		world->stack[9] = wild[i].word;
		world->registers.value[ARCH_PC_REGISTER] = IN_GENERATED(0x80);
		walk_world_walk_as_user(world, IN_GENERATED(0x80), STACK, wild[i].fp);
		assert_int_equal(world->user.cause, UNWIND_NO_FRAME);
		assert_int_equal(world->user.count, 1);
	}
	/* Its own instructions lead out of it. */
	memcpy(world->generated + 0x80, "\x48\x83\xc4\x10\xc3", 5);
	world->code[OUTERMOST * FUNCTION_BYTES + 0x1b] = 0xe8;
	world->stack[2] = call_in(OUTERMOST);
	walk_world_walk_as_user(world, IN_GENERATED(0x80), STACK, 1);
	assert_int_equal(world->user.cause, UNWIND_ROOT_NAMELESS);
	assert_int_equal(world->user.count, 2);
	/* A caller in generated code with rbp = 0 is the outermost frame, by the ABI. */
	memset(world->generated, 0x90, sizeof(world->generated));
	world->stack[0] = IN_GENERATED(0x80);
	walk_world_walk_as_user(world, call_in(LEAF), STACK, 0);
	assert_int_equal(world->user.cause, UNWIND_ROOT_NAMELESS);
	assert_int_equal(world->user.count, 2);
}

/* Erlang's code, on a stack of its own, calls C on the stack of the thread: rbp leads back, once, and to generated code only. rbp = 0 marks the
 * outermost frame. */
static void leads_from_one_stack_to_another(void **state)
{
	struct walk_world *world = *state;
	memset(world->code, 0x90, sizeof(world->code));
	memset(world->generated, 0x90, sizeof(world->generated));
	world->stack[16] = IN_GENERATED(0x80);
	world->stack[8] = STACK + 12 * WORD;
	world->stack[9] = IN_GENERATED(0x40);
	world->stack[12] = 0;
	world->stack[13] = IN_GENERATED(0xc0);
	walk_world_walk(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), IN_GENERATED(0x80) - 1, IN_GENERATED(0x40) - 1, IN_GENERATED(0xc0) - 1);
	assert_int_equal(world->user.cause, UNWIND_ROOT_NAMELESS);
	assert_int_equal(world->user.count, 4);
	/* The outermost frame is the last one, even if its instructions lead out of it. */
	memcpy(world->generated + 0xc0, "\x48\x83\xc4\x10\xc3", 5);
	walk_world_walk(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
	assert_int_equal(world->user.count, 4);
	memset(world->generated, 0x90, sizeof(world->generated));
	/* Its first byte is what a call returned to, or its last one. */
	for (uint64_t end = 0; end < 2; end++) {
		world->stack[9] = IN_GENERATED(end ? GENERATED_BYTES : 1);
		walk_world_walk(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
		assert_int_equal(world->user.count, 4);
		assert_int_equal(world->frames[2].pc, world->stack[9] - 1);
	}
	world->stack[9] = IN_GENERATED(0x40);
	/* A second time. */
	world->stack[12] = STACK + 4 * WORD;
	world->stack[5] = IN_GENERATED(0x40);
	walk_world_walk_as_user(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
	walk_world_walk_as_kernel(world);
	ASSERT_FRAMES(WALK_NO_PROGRESS, call_in(LEAF), IN_GENERATED(0x80) - 1, IN_GENERATED(0x40) - 1,
		      IN_GENERATED(0xc0) - 1);
	assert_int_equal(world->user.cause, UNWIND_NO_FRAME);
	assert_int_equal(world->user.count, 4);
	/* To native code: rbp is no frame pointer. */
	world->stack[9] = call_in(OUTERMOST);
	walk_world_walk_as_user(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
	walk_world_walk_as_kernel(world);
	ASSERT_FRAMES(WALK_NO_PROGRESS, call_in(LEAF), IN_GENERATED(0x80) - 1);
	assert_int_equal(world->user.cause, UNWIND_NO_FRAME);
	assert_int_equal(world->user.count, 2);
}

/* Builtins of V8 are in a module whose other code has rules: generated code may return to them, as to other generated code, behind any
 * instruction. */
static void builtins_are_generated_code(void **state)
{
	struct walk_world *world = *state;
	struct unwind_row rows[FUNCTIONS + 1];
	memcpy(rows, world->table.rows, sizeof(rows));
	rows[GAP].kind = UNWIND_FRAME;
	rows[GAP].cfa = ARCH_FRAME_CFA;
	rows[GAP].fp = ARCH_FRAME_FP;
	world->table.rows = rows;
	memset(world->code, 0x90, sizeof(world->code));
	memset(world->generated, 0x90, sizeof(world->generated));
	/* By a frame pointer, on one stack. The return address is right behind the builtins. */
	world->stack[8] = STACK + 12 * WORD;
	world->stack[9] = at(FIRST, ENTRY, 0);
	world->stack[12] = 0;
	world->stack[13] = IN_GENERATED(0xc0);
	walk_world_walk(world, IN_GENERATED(0x40), STACK, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, IN_GENERATED(0x40), at(FIRST, ENTRY, 0) - 1, IN_GENERATED(0xc0) - 1);
	/* To a lower stack. */
	world->stack[16] = IN_GENERATED(0x80);
	walk_world_walk(world, call_in(LEAF), STACK + 16 * WORD, STACK + 8 * WORD);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), IN_GENERATED(0x80) - 1, at(FIRST, ENTRY, 0) - 1,
		      IN_GENERATED(0xc0) - 1);
	assert_int_equal(world->user.count, 4);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, walk_world_set_up, walk_world_tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_decide),
		cmocka_unit_test(memory_may_be_missing),
		cmocka_unit_test(jumps_to_a_function_have_no_frame),
		T(steps_by_frame_pointers),
		T(leaves_leaves_without_frame_to_the_monitor),
		T(ends_where_frame_pointers_do),
		T(leads_from_one_stack_to_another),
		T(builtins_are_generated_code),
	};
	return cmocka_run_group_tests_name("x86_64_generated", tests, NULL, NULL);
}
