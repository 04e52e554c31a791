/* The ends of walks, and walks where rules are missing or slow, on stacks made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cfi_world.h"

/* --- the ends of walks --- */

static void reaches_the_root(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, STACK + 0x58);
	world->stack[0] = call_in(PUSHED); /* rsp 0x08 */
	world->stack[3] = 0x4444;          /* CFA - 16: its caller's rbp */
	world->stack[4] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(world->frames[0].pc, PC(FUNCTION(LEAF)));
	assert_int_equal(world->frames[0].address, FUNCTION(LEAF));
	assert_int_equal(world->frames[0].module, 3);
	assert_int_equal(world->frames[1].pc, call_in(PUSHED) - 1);
	assert_int_equal(world->frames[1].sp, STACK + 8);
	assert_int_equal(world->frames[1].fp, STACK + 0x58);
	assert_int_equal(world->frames[2].sp, STACK + 0x28);
	assert_int_equal(world->frames[2].fp, 0x4444);
	/* Two reads in the frame that saved rbp, one in the other. */
	assert_int_equal(world->reads, 3);
	/* A return address of 0 behind a caller is also the root. */
	world->stack[4] = 0;
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 2);
}

static void says_why_not(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->stack[0] = call_in(LEAF);
	world->stack[1] = call_in(LEAF);
	world->stack[2] = 0x1234;
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_NO_MODULE);
	assert_int_equal(result.count, 4);
	assert_int_equal(world->frames[3].module, UINT32_MAX);
	assert_int_equal(cfi_world_walk(world, 2).cause, UNWIND_DEPTH);
	assert_int_equal(cfi_world_walk(world, 2).count, 2);
	world->stack[2] = call_in(NO_RULES);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	world->no_table = true;
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_TABLE);
	world->no_table = false;
	cfi_world_start(world, PC(FUNCTION(LEAF)), 0x50, 1);
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, 0x50);
	assert_int_equal(result.count, 1);
	/* rbp is below rsp, so that the stack would shrink. */
	cfi_world_start(world, PC(FUNCTION(FRAMED)), STACK + 0x80, STACK + 8);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_PROGRESS);
	/* rbp = 0 marks no outermost frame: a function without rules may use the register for anything. */
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 16, 0);
	world->stack[2] = call_in(NO_RULES);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK + 16, 0);
	world->stack[2] = 0;
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

/* A caller without a rule is start code if it is as close to the start of the stack as only start code can be. */
static void start_code_without_rules(void **state)
{
	struct cfi_world *world = *state;
	enum { CALLER_SP = STACK + 8, MOST = 64 };
	world->stack[0] = call_in(NO_RULES);
	for (uint64_t above = 0; above <= MOST + 8; above += 8) {
		world->stack_start = CALLER_SP + above;
		cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
		assert_int_equal(cfi_world_walk(world, FRAMES).cause,
				 above <= MOST ? UNWIND_ROOT : UNWIND_NO_RULE_AT_PC);
		/* Only a caller is: here it is the function that executes. */
		cfi_world_start(world, PC(FUNCTION(NO_RULES)), CALLER_SP, 1);
		assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	}
	world->stack_start = CALLER_SP - 8;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

/* makecontext makes a function return to the start of another one: no call is before it. */
static void returns_to_the_start_of_a_function(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(PUSHED)), STACK, 1);
	world->stack[3] = PC(FUNCTION(LEAF));   /* before it is a gap */
	world->stack[4] = PC(FUNCTION(PUSHED)); /* before it is LEAF */
	world->stack[1] = world->stack[2] = 0;
	struct unwind_result result = cfi_world_walk(world, 3);
	assert_int_equal(result.count, 3);
	assert_int_equal(world->frames[1].pc, PC(FUNCTION(LEAF)));
	assert_int_equal(world->frames[1].address, FUNCTION(LEAF));
	assert_int_equal(world->frames[1].sp, STACK + 32);
	assert_int_equal(world->frames[2].pc, PC(FUNCTION(PUSHED)) - 1);
	assert_int_equal(world->frames[2].address, FUNCTION(PUSHED) - 1);
}

static void stops_where_it_joins(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->stack[0] = call_in(LEAF);
	world->stack[1] = call_in(OUTERMOST);
	world->join_at = call_in(LEAF) - 1;
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_true(result.joined);
	assert_int_equal(result.count, 2);
	/* A walk never joins at the leaf. */
	world->join_at = PC(FUNCTION(LEAF));
	result = cfi_world_walk(world, FRAMES);
	assert_false(result.joined);
	assert_int_equal(result.cause, UNWIND_ROOT);
}

/* --- no rule --- */

static void follows_frame_pointers(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x40);
	world->stack[8] = STACK + 0x80; /* the caller's rbp */
	world->stack[9] = call_in(FRAMED);
	memcpy(world->code + 0x100 * FRAMED + 0x1b, "\xe8\0\0\0\0", 5);
	world->stack[16] = 0;
	world->stack[17] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
	assert_true(result.used_frame_pointer);
	assert_int_equal(result.count, 3);
	/* Not if there is no call before the saved address, */
	memset(world->code + 0x100 * FRAMED + 0x1b, 0x90, 5);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	/* or if no module contains the address. */
	world->stack[9] = 0x1234;
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x44);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
}

static void recognises_the_call(void **state)
{
	struct cfi_world *world = *state;
	int32_t distance = (int32_t)(FUNCTION(NO_RULES) - (FUNCTION(LEAF) + 0x20));
	world->code[0x1b] = 0xe8;
	memcpy(world->code + 0x1c, &distance, sizeof(distance));
	cfi_world_start(world, PC(FUNCTION(NO_RULES)) + 4, STACK, 1);
	world->stack[0] = call_in(LEAF);
	world->stack[1] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
	assert_int_equal(result.count, 3);
	/* A call to another function does not prove this frame. */
	distance += 0x800;
	memcpy(world->code + 0x1c, &distance, sizeof(distance));
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_NO_RULE_AT_PC);
	/* But for a stub: jmp *x(%rip) at the target. */
	static const uint8_t stub[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 3, 4 };
	memcpy(world->code + (FUNCTION(NO_RULES) + 0x800 - FUNCTION(0)), stub, sizeof(stub));
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
	assert_int_equal(result.count, 3);
	/* The stub may be the first code that can be read. */
	memcpy(world->code, stub, sizeof(stub));
	distance = (int32_t)(FUNCTION(LEAF) - (FUNCTION(LEAF) + 0x20));
	memcpy(world->code + 0x1c, &distance, sizeof(distance));
	cfi_world_start(world, PC(FUNCTION(LEAF) + 4096), STACK, 1);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_ROOT_FRAME_POINTER);
	cfi_world_start(world, PC(FUNCTION(NO_RULES)) + 4, STACK, 1);
	/* The function that the call leads to has fewer than 4096 bytes. */
	for (int32_t more = 0; more <= 1; more++) {
		distance = (int32_t)(FUNCTION(NO_RULES) + 4 - 4096 - (FUNCTION(LEAF) + 0x20)) + more;
		memcpy(world->code + 0x1c, &distance, sizeof(distance));
		assert_int_equal(cfi_world_walk(world, FRAMES).cause,
				 more ? UNWIND_ROOT_FRAME_POINTER : UNWIND_NO_RULE_AT_PC);
	}
}

/* A call of a function by its address, and calls that are the last instruction of the module. */
static void recognises_other_calls(void **state)
{
	struct cfi_world *world = *state;
	memcpy(world->code + 0x1e, "\xff\xd0", 2); /* call *%rax */
	cfi_world_start(world, PC(FUNCTION(NO_RULES)) + 4, STACK, 1);
	world->stack[0] = call_in(LEAF);
	world->stack[1] = call_in(OUTERMOST);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_ROOT_FRAME_POINTER);
	world->end = PC(FUNCTION(SIGRETURN)) + 0x90;
	memcpy(world->code + 0x100 * SIGRETURN + 0x8e, "\xff\xd0", 2);
	world->stack[0] = world->end;
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_NO_RULE_AT_PC);
	assert_int_equal(result.count, 2);
	assert_int_equal(world->frames[1].pc, world->end - 1);
	/* The same by the frame pointer. */
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x40);
	world->stack[0] = 0;
	world->stack[8] = STACK + 0x80;
	world->stack[9] = world->end;
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.count, 2);
	assert_int_equal(world->frames[1].pc, world->end - 1);
	world->stack[9] = world->end + 1; /* outside */
	assert_int_equal(cfi_world_walk(world, FRAMES).count, 1);
}

static void knows_calls(void **state)
{
	struct cfi_world *world = *state;
	const struct arch_memory memory = { .read = cfi_world_read, .context = world };
	static const struct {
		uint8_t code[8];
		enum arch_call call;
	} cases[] = {
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, ARCH_CALL },    /* call *%rax */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4 }, ARCH_CALL },    /* call *%r12 */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x08 }, ARCH_CALL },    /* call *8(%rax) */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc1 }, ARCH_CALL },    /* call *(%rcx,%rax,8) */
		{ { 0x90, 0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x10 }, ARCH_CALL },    /* call *16(%rsp) */
		{ { 0x90, 0x90, 0xff, 0x15, 0x01, 0x02, 0x03, 0x04 }, ARCH_CALL },    /* call *x(%rip) */
		{ { 0x90, 0xff, 0x14, 0xc5, 0x01, 0x02, 0x03, 0x04 }, ARCH_CALL },    /* call *x(,%rax,8) */
		{ { 0x90, 0xff, 0x94, 0x24, 0x01, 0x02, 0x03, 0x04 }, ARCH_CALL },    /* call *x(%rsp) */
		{ { 0x90, 0x90, 0x90, 0xe8, 0x01, 0x02, 0x03, 0x04 }, ARCH_CALL },    /* call x */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 }, ARCH_NO_CALL }, /* jmp *%rax */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50 }, ARCH_NO_CALL }, /* incomplete */
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 }, ARCH_NO_CALL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t target;
		memcpy(world->code + 0x18, cases[i].code, 8);
		int got = (int)arch_call_before(&memory, call_in(LEAF), &target);
		if (got != (int)cases[i].call)
			fail_msg("case %zu: %d", i, got);
	}
}

/* --- signals --- */

static void steps_out_of_signals(void **state)
{
	struct cfi_world *world = *state;
	/* A handler on an alternate stack above the interrupted one. */
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x400, 1);
	world->stack[0x80] = PC(FUNCTION(SIGNAL));
	cfi_world_put_ucontext(world, 0x81, PC(FUNCTION(LEAF)), STACK, 0x77, 0);
	world->stack[0] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 4);
	assert_int_equal(world->frames[1].pc, PC(FUNCTION(SIGNAL)));
	assert_int_equal(world->frames[1].address, FUNCTION(SIGNAL));
	assert_int_equal(world->frames[2].pc, PC(FUNCTION(LEAF))); /* exact: its first instruction */
	assert_int_equal(world->frames[2].sp, STACK);
	assert_int_equal(world->frames[2].fp, 0x77);
	/* Without unwind information, the walk recognises the frame by its instructions. */
	world->stack[0x80] = PC(FUNCTION(SIGRETURN));
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 4);
	assert_int_equal(world->frames[2].pc, PC(FUNCTION(LEAF)));
	assert_int_equal(world->frames[2].sp, STACK);
	assert_int_equal(world->frames[2].fp, 0x77);
	/* Its ucontext is unreadable. */
	cfi_world_start(world, PC(FUNCTION(SIGRETURN)), 0x50, 1);
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_in_range(result.unreadable, 0x50, 0x50 + 1000);
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x400, 1);
	/* A signal frame that returns to itself ends at the limit. */
	world->stack[0x80] = PC(FUNCTION(SIGNAL));
	cfi_world_put_ucontext(world, 0x81, PC(FUNCTION(LEAF)), STACK + 0x400, 0x77, 0);
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_DEPTH);
	assert_int_equal(result.count, FRAMES);
}

/* --- slow rules --- */

static void slow_rules_get_all_registers(void **state)
{
	struct cfi_world *world = *state;
	/* The frames: leaf, SAVES_R12, BY_R12 (with the restored r12), ODD, SAVES_R12, BY_R12, OUTERMOST. */
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->registers.value[12] = 0xbad;
	world->stack[0] = call_in(SAVES_R12); /* rsp 0x08, CFA 0x28 */
	world->stack[2] = STACK + 0x38;       /* r12 */
	world->stack[4] = call_in(BY_R12);    /* CFA 0x40 */
	world->stack[7] = call_in(ODD);       /* CFA 0x54, return address at 0x4c */
	uint64_t next = call_in(SAVES_R12);
	memcpy((uint8_t *)world->stack + 0x4c, &next, 8); /* rsp 0x54, CFA 0x74 */
	next = STACK + 0x90;
	memcpy((uint8_t *)world->stack + 0x5c, &next, 8); /* r12 */
	next = call_in(BY_R12);
	memcpy((uint8_t *)world->stack + 0x6c, &next, 8); /* CFA 0x98 */
	world->stack[0x90 / 8] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 7);
	assert_int_equal(world->frames[3].sp, STACK + 0x40);
	assert_int_equal(world->frames[6].sp, STACK + 0x98);
	/* At the leaf, all registers are known. */
	cfi_world_start(world, PC(FUNCTION(BY_RAX)), STACK + 8, 1);
	world->registers.value[0] = STACK + 0x90;
	result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 2);
}

/* The registers of a slow step are kept for the next step: r13 is the leaf's, and r12 is lost meanwhile. */
static void slow_steps_continue(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->registers.value[12] = 0xbad;
	world->registers.value[13] = STACK + 0x60;
	world->stack[0] = call_in(SAVES_R12); /* rsp 0x08, CFA 0x28 */
	world->stack[2] = STACK + 0x38;       /* r12 */
	world->stack[4] = call_in(BY_R12);    /* CFA 0x40 */
	world->stack[7] = call_in(ODD);       /* CFA 0x54, return address at 0x4c */
	uint64_t next = call_in(BY_R13);
	memcpy((uint8_t *)world->stack + 0x4c, &next, 8); /* CFA 0x68 */
	world->stack[12] = call_in(OUTERMOST);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 6);
	assert_int_equal(world->frames[4].sp, STACK + 0x54);
	assert_int_equal(world->frames[5].sp, STACK + 0x68);
}

/* A step without a rule loses all registers but rip, rsp and rbp, by which the next frame restores r12. */
static void slow_rules_behind_frames_without_rules(void **state)
{
	struct cfi_world *world = *state;
	for (unsigned i = 0; i < 2; i++) {
		world->stack[8] = STACK + 0x80;
		world->stack[9] = call_in(i ? FRAMED : SAVES_R12); /* rsp 0x50, CFA 0x90 or 0x70 */
		world->stack[i ? 15 : 11] = STACK + 0xa0;          /* r12 */
		world->stack[i ? 17 : 13] = call_in(BY_R12);
		world->stack[20] = call_in(OUTERMOST);
		memcpy(world->code + 0x100 * (i ? FRAMED : SAVES_R12) + 0x1b, "\xe8\0\0\0\0", 5);
		cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, STACK + 0x40);
		struct unwind_result result = cfi_world_walk(world, FRAMES);
		assert_int_equal(result.cause, UNWIND_ROOT_FRAME_POINTER);
		assert_int_equal(result.count, 4);
		assert_int_equal(world->frames[3].sp, STACK + 0xa8);
	}
}

/* rip, rsp and rbp give the CFA, but not the caller's rbp. */
static void slow_rules_need_all_registers_for_rbp(void **state)
{
	struct cfi_world *world = *state;
	world->registers.value[12] = 0x4444;
	world->stack[0] = call_in(FP_IN_R12);
	world->stack[1] = call_in(OUTERMOST);
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(world->frames[2].fp, 0x4444);
}

static void slow_rules_may_fail(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->registers.value[0] = STACK + 0x90;
	world->stack[0] = call_in(BY_RAX);
	world->stack[0x12] = call_in(OUTERMOST);
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_BAD_RULE);
	cfi_world_start(world, PC(FUNCTION(BY_R12)), STACK, 1);
	world->registers.value[12] = 0x60;
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, 0x60);
}

static void slow_rules_behind_signals(void **state)
{
	struct cfi_world *world = *state;
	/* The ucontext has the interrupted code's r12. */
	for (unsigned way = SIGNAL; way <= SIGRETURN; way += SIGRETURN - SIGNAL) {
		cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x400, 1);
		world->stack[0x80] = PC(FUNCTION(way));
		cfi_world_put_ucontext(world, 0x81, PC(FUNCTION(LEAF)), STACK, 0x77, STACK + 0x50);
		world->stack[0] = call_in(BY_R12);
		world->stack[10] = call_in(OUTERMOST);
		struct unwind_result result = cfi_world_walk(world, FRAMES);
		assert_int_equal(result.cause, UNWIND_ROOT);
		assert_int_equal(result.count, 5);
		assert_int_equal(world->frames[2].pc, PC(FUNCTION(LEAF)));
		assert_int_equal(world->frames[3].pc, call_in(BY_R12) - 1);
		assert_int_equal(world->frames[4].pc, call_in(OUTERMOST) - 1);
		assert_int_equal(world->frames[4].sp, STACK + 0x58);
	}
}

/* A call from a goroutine: its stack may be below the thread's, and the saved distance counts from its end. */
static void leaves_for_another_stack(void **state)
{
	struct cfi_world *world = *state;
	enum { GOROUTINE = STACK + 0x400, END = STACK + 0x300, DISTANCE = 0x80, SAVED = STACK + 0x200 };
	const struct arch_memory memory = { .read = cfi_world_read, .context = world };
	const struct unwind_row row = { .cfa = 5, .kind = UNWIND_SWITCH, .fp = 6 };
	struct arch_frame frame = { .pc = 1, .sp = STACK + 0x600, .fp = 0x1234 };
	uint64_t unreadable;
	world->stack[(0x600 + 0x28) / 8] = DISTANCE;
	world->stack[(0x600 + 0x30) / 8] = GOROUTINE;
	world->stack[0x408 / 8] = END;
	world->stack[(0x300 - DISTANCE) / 8] = 0x5555;
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, 0x5555);
	assert_int_equal(frame.sp, END - DISTANCE + 8);
	assert_int_equal(frame.fp, 0x1234);
	/* Without a goroutine, and in a row without its slot, the stack pointer itself is saved. */
	for (int8_t slot = 0; slot <= 6; slot += 6) {
		struct unwind_row plain = row;
		plain.fp = slot;
		frame.sp = STACK + 0x600;
		world->stack[(0x600 + 0x28) / 8] = SAVED;
		world->stack[(0x600 + 0x30) / 8] = slot ? 0 : 1;
		world->stack[0x200 / 8] = 0x6666;
		assert_true(arch_step(&plain, &memory, &frame, &unreadable));
		assert_int_equal(frame.pc, 0x6666);
		assert_int_equal(frame.sp, SAVED + 8);
	}
	frame.sp = STACK + 0x600;
	world->stack[(0x600 + 0x30) / 8] = 8;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(unreadable, 16);
	assert_int_equal(frame.sp, STACK + 0x600);
}

/* C that called Go back, on the thread's own stack: the call whose arguments are those on the goroutine's stack. */
static void callback_leads_to_its_call(void **state)
{
	struct cfi_world *world = *state;
	enum {
		PRESENT = 0x100,
		THREAD = 0x200,
		GOROUTINE_SP = 0x300,
		INNER = 0x400,
		MIDDLE = 0x480,
		OUTER = 0x500,
		CFA = 5
	};
	enum { FUNCTION = 0x1111, VARIABLE = 0x2222, WORD = 8 };
	const struct unwind_row row = { .cfa = CFA, .kind = UNWIND_CALLBACK, .fp = -1 };
	const struct arch_memory memory = { .read = cfi_world_read, .context = world, .goroutine = STACK + PRESENT };
	const struct arch_frame start = { .pc = 1, .sp = STACK + GOROUTINE_SP, .fp = 0x1234 };
	static const uint64_t calls[] = { INNER, MIDDLE, OUTER };
	uint64_t unreadable;
	world->stack[(PRESENT + 48) / WORD] = STACK + THREAD; /* g.m; this g is m.g0, too */
	world->stack[THREAD / WORD] = STACK + PRESENT;
	world->stack[(PRESENT + 56) / WORD] = STACK + INNER;
	world->stack[GOROUTINE_SP / WORD] = FUNCTION;
	for (size_t i = 0; i < 3; i++) {
		uint64_t *call = &world->stack[calls[i] / WORD];
		call[0] = STACK + (i < 2 ? calls[i + 1] : OUTER); /* the outermost call is of a thread of C */
		call[CFA - 2] = 0x5550 + i;
		call[CFA - 1] = 0x7770 + i;
		call[CFA] = FUNCTION;
		call[CFA + 1] = VARIABLE + i;
	}
	for (size_t i = 0; i < 3; i++) {
		struct arch_frame frame = start;
		world->stack[GOROUTINE_SP / WORD + 1] = VARIABLE + i;
		assert_true(arch_step(&row, &memory, &frame, &unreadable));
		assert_int_equal(frame.pc, 0x7770 + i);
		assert_int_equal(frame.sp, STACK + calls[i] + CFA * WORD);
		assert_int_equal(frame.fp, 0x5550 + i);
	}
	/* It is none of them; or it is of another function; or the chain is damaged. */
	struct arch_frame frame = start;
	world->stack[GOROUTINE_SP / WORD + 1] = VARIABLE + 3;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	assert_memory_equal(&frame, &start, sizeof(frame));
	world->stack[GOROUTINE_SP / WORD + 1] = VARIABLE + 2;
	world->stack[OUTER / WORD + CFA] = FUNCTION + 1;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	world->stack[OUTER / WORD + CFA] = FUNCTION;
	world->stack[OUTER / WORD + CFA - 1] = 0;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	world->stack[OUTER / WORD + CFA - 1] = 0x7772;
	world->stack[MIDDLE / WORD] = STACK + INNER;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	assert_memory_equal(&frame, &start, sizeof(frame));
}

/* Go's runtime on the thread's own stack, for the goroutine of the thread that r14 leads to. */
static void returns_to_goroutine(void **state)
{
	struct cfi_world *world = *state;
	enum {
		PRESENT = 0x100,
		THREAD = 0x200,
		OWN_SP = STACK + 0x600,
		LEFT_SP = STACK + 0x280,
		CURRENT = 3,
		CLOCK = 4
	};
	struct unwind_row row = { .cfa = CURRENT, .kind = UNWIND_GOROUTINE, .fp = -1 };
	const struct arch_memory memory = { .read = cfi_world_read, .context = world, .goroutine = STACK + PRESENT };
	const struct arch_frame start = { .pc = 1, .sp = OWN_SP, .fp = 0x1234 };
	struct arch_frame frame = start;
	uint64_t unreadable;
	world->stack[(PRESENT + 48) / 8] = STACK + THREAD; /* g.m; this g is m.g0, too */
	world->stack[THREAD / 8] = STACK + PRESENT;
	world->stack[(PRESENT + 56) / 8] = OWN_SP;
	world->stack[THREAD / 8 + CURRENT] = STACK + 0x400;
	world->stack[(0x400 + 56) / 8] = LEFT_SP;
	world->stack[(0x400 + 64) / 8] = 0x7777;
	world->stack[0x280 / 8] = 0x5555;
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, 0x5555);
	assert_int_equal(frame.sp, LEFT_SP + 8);
	assert_int_equal(frame.fp, 0x1234);
	/* A stack that grows continues at the stored pc; without a goroutine it has no caller. */
	row.kind = UNWIND_GROWING;
	frame = start;
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, 0x7777);
	assert_int_equal(frame.sp, LEFT_SP);
	world->stack[THREAD / 8 + CURRENT] = 0;
	frame = start;
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, 0);
	row.kind = UNWIND_GOROUTINE;
	frame = start;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	/* The clock is read on the thread's own stack or below, and the thread has the CFA. */
	row = (struct unwind_row){ .cfa = CLOCK, .kind = UNWIND_CLOCK, .fp = -1 };
	world->stack[THREAD / 8 + CLOCK] = LEFT_SP + 8;
	frame.sp = OWN_SP - 0x20;
	assert_true(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.pc, 0x5555);
	assert_int_equal(frame.sp, LEFT_SP + 8);
	frame.sp = OWN_SP + 8;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	/* Not where the stack is another one, the goroutine has returned, or r14 is something else. */
	world->stack[THREAD / 8 + CURRENT] = STACK + 0x400;
	row = (struct unwind_row){ .cfa = CURRENT, .kind = UNWIND_GOROUTINE, .fp = -1 };
	frame.sp = OWN_SP - 8;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	assert_int_equal(frame.sp, OWN_SP - 8);
	frame = start;
	world->stack[(0x400 + 56) / 8] = 0;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
	world->stack[(0x400 + 56) / 8] = LEFT_SP;
	const struct arch_memory unknown = { .read = cfi_world_read, .context = world };
	assert_false(arch_step(&row, &unknown, &frame, &unreadable));
	world->stack[(PRESENT + 48) / 8] = STACK + THREAD + 8;
	assert_false(arch_step(&row, &memory, &frame, &unreadable));
}

/* A new thread has no caller in the system call that made it, and right behind it; the thread that made it has. */
static void begins_threads(void **state)
{
	struct cfi_world *world = *state;
	static const uint8_t clone3[] = { 0xb8, 0xb3, 0x01, 0,    0,    0x0f, 0x05, 0x48,
					  0x85, 0xc0, 0x7c, 0x10, 0x74, 0x01, 0xc3 };
	const struct arch_memory memory = { .read = cfi_world_read, .context = world };
	uint64_t start = PC(FUNCTION(NO_RULES));
	memcpy(world->code + 0x100 * NO_RULES, clone3, sizeof(clone3));
	for (uint64_t at = 0; at < sizeof(clone3); at++) {
		struct arch_registers registers = { 0 };
		registers.value[ARCH_PC_REGISTER] = start + at;
		bool expected = at == 5 || at == 7 || at == 10 || at == 12;
		assert_int_equal(arch_begins_thread(&memory, &registers), expected);
		registers.value[0] = 1234; /* in the thread that made it: the new thread's number */
		assert_false(arch_begins_thread(&memory, &registers));
	}
	world->registers.value[0] = 0;
	world->registers.value[ARCH_PC_REGISTER] = start + 7;
	world->registers.value[ARCH_SP_REGISTER] = STACK;
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_ROOT);
	assert_int_equal(result.count, 1);
	world->code[0x100 * NO_RULES + 1] = 0x38; /* clone */
	world->code[0x100 * NO_RULES + 2] = 0;
	assert_int_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_ROOT);
	world->code[0x100 * NO_RULES + 1] = 0x39; /* fork, whose child has the parent's stack */
	assert_int_not_equal(cfi_world_walk(world, FRAMES).cause, UNWIND_ROOT);
	/* Where the call has a rule, the stack that the new thread has not touched has a return address of 0. */
	memcpy(world->code + 0x100 * LEAF, clone3, sizeof(clone3));
	world->registers.value[ARCH_PC_REGISTER] = PC(FUNCTION(LEAF)) + 7;
	for (uint64_t number = 0; number < 2; number++) {
		world->registers.value[0] = number;
		result = cfi_world_walk(world, FRAMES);
		assert_int_equal(result.cause, number == 0 ? UNWIND_ROOT : UNWIND_NO_CALLER);
		assert_int_equal(result.count, 1);
		assert_int_equal(result.is_new_thread, number == 0);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cfi_world_set_up, cfi_world_tear_down)
	const struct CMUnitTest tests[] = {
		T(reaches_the_root),
		T(says_why_not),
		T(stops_where_it_joins),
		T(follows_frame_pointers),
		T(recognises_other_calls),
		T(recognises_the_call),
		T(knows_calls),
		T(steps_out_of_signals),
		T(slow_rules_get_all_registers),
		T(slow_steps_continue),
		T(start_code_without_rules),
		T(returns_to_the_start_of_a_function),
		T(slow_rules_need_all_registers_for_rbp),
		T(slow_rules_behind_frames_without_rules),
		T(slow_rules_may_fail),
		T(slow_rules_behind_signals),
		T(leaves_for_another_stack),
		T(callback_leads_to_its_call),
		T(returns_to_goroutine),
		T(begins_threads),
	};
	return cmocka_run_group_tests_name("x86_64_walk", tests, NULL, NULL);
}
