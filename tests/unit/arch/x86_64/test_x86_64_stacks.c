/* Walks from one stack to another, through Lisp, by registers that no rule mentions, and out of new threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cfi_world.h"

enum { RAX = 0, R13 = 13, NOWHERE = 0x1234 };

/* Gives a function a row that no call frame information becomes. */
static void set_row(struct cfi_world *world, unsigned function, enum unwind_kind kind, int16_t cfa)
{
	struct unwind_row *row = (struct unwind_row *)(uintptr_t)unwind_table_row(world->table, FUNCTION(function));
	*row = (struct unwind_row){ .pc = row->pc, .cfa = cfa, .kind = (uint8_t)kind };
}

static void put(struct cfi_world *world, uint64_t address, uint64_t value)
{
	world->stack[(address - STACK) / sizeof(value)] = value;
}

/* Puts a call in front of call_in(caller). */
static void put_call(struct cfi_world *world, unsigned caller, uint64_t target)
{
	int32_t distance = (int32_t)(PC(target) - call_in(caller));
	uint8_t *code = world->code + 0x100 * caller + 0x1b;
	*code = 0xe8;
	memcpy(code + 1, &distance, sizeof(distance));
}

static void assert_walk(struct cfi_world *world, enum unwind_cause cause, size_t count)
{
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, cause);
	assert_int_equal(result.count, count);
}

/* --- Go --- */

/* A goroutine calls C on the thread's stack, which is above its own. Registers that a callee keeps have the goroutine's values. */
static void calls_of_c_switch_stacks(void **state)
{
	struct cfi_world *world = *state;
	enum { LEAF_SP = STACK + 0x400, CFA = STACK + 0x100 };
	set_row(world, FRAMED, UNWIND_SWITCH, 0);
	cfi_world_start(world, PC(FUNCTION(LEAF)), LEAF_SP, 1);
	put(world, LEAF_SP, call_in(FRAMED));
	put(world, LEAF_SP + 8, CFA - 8);
	put(world, CFA - 8, call_in(OUTERMOST));
	assert_walk(world, UNWIND_ROOT, 3);
	assert_int_equal(world->frames[2].pc, call_in(OUTERMOST) - 1);
	assert_int_equal(world->frames[2].sp, CFA);
	put(world, CFA - 8, call_in(BY_R13));
	put(world, CFA + 0x10, call_in(OUTERMOST));
	world->registers.value[R13] = CFA + 0x10;
	assert_walk(world, UNWIND_ROOT, 4);
	assert_int_equal(world->frames[3].sp, CFA + 0x18);
	/* So has the return from a signal handler that has no rule, if the pc is exact. */
	put(world, CFA - 8, PC(FUNCTION(SIGRETURN)));
	cfi_world_put_ucontext(world, (CFA - STACK) / 8, PC(FUNCTION(LEAF)), STACK + 0x300, 1, STACK + 0x350);
	put(world, STACK + 0x300, call_in(BY_R12));
	put(world, STACK + 0x350, call_in(OUTERMOST));
	assert_walk(world, UNWIND_ROOT, 6);
	assert_int_equal(world->frames[5].sp, STACK + 0x358);
	put(world, LEAF_SP + 8, NOWHERE);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, NOWHERE);
}

/* As row_step.h describes them: r14 has the goroutine of the thread's own stack, which leads to the thread, and this to the goroutine that
 * runs on it, with the stack that it has left, or to the CFA of the call that reads a clock. */
enum { PRESENT = STACK + 0x100, THREAD = STACK + 0x200, RUNNING = STACK + 0x300, LEFT_SP = STACK + 0x40 };
enum { OWN_SP = STACK + 0x600, CURRENT = 3, CLOCK = 4 };

static void put_goroutine(struct cfi_world *world)
{
	world->registers.value[ARCH_GOROUTINE_REGISTER] = PRESENT;
	put(world, PRESENT + 48, THREAD);
	put(world, THREAD, PRESENT);
	put(world, PRESENT + 56, OWN_SP);
	put(world, THREAD + 8 * CURRENT, RUNNING);
	put(world, THREAD + 8 * CLOCK, LEFT_SP + 8);
	put(world, RUNNING + 56, LEFT_SP);
	put(world, RUNNING + 64, call_in(OUTERMOST));
	put(world, LEFT_SP, call_in(OUTERMOST));
}

static void own_stacks_lead_to_goroutines(void **state)
{
	struct cfi_world *world = *state;
	static const struct {
		enum unwind_kind kind;
		int16_t cfa;
		uint64_t sp;
	} rows[] = { { UNWIND_GOROUTINE, CURRENT, LEFT_SP + 8 },
		     { UNWIND_GROWING, CURRENT, LEFT_SP },
		     { UNWIND_CLOCK, CLOCK, LEFT_SP + 8 } };
	put_goroutine(world);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_row(world, FRAMED, rows[i].kind, rows[i].cfa);
		cfi_world_start(world, PC(FUNCTION(FRAMED)), OWN_SP, 1);
		assert_walk(world, UNWIND_ROOT, 2);
		assert_int_equal(world->frames[1].pc, call_in(OUTERMOST) - 1);
		assert_int_equal(world->frames[1].sp, rows[i].sp);
		/* r14 is the leaf's, which keeps it. */
		cfi_world_start(world, PC(FUNCTION(LEAF)), OWN_SP - 8, 1);
		put(world, OWN_SP - 8, call_in(FRAMED));
		assert_walk(world, UNWIND_ROOT, 3);
		assert_int_equal(world->frames[2].sp, rows[i].sp);
		world->registers.value[ARCH_GOROUTINE_REGISTER] = 0;
		assert_walk(world, UNWIND_NO_GOROUTINE, 2);
		world->registers.value[ARCH_GOROUTINE_REGISTER] = PRESENT;
		/* The goroutine has other registers than the thread's stack: r13 is lost. */
		world->registers.value[R13] = LEFT_SP + 0x10;
		put(world, LEFT_SP, call_in(BY_R13));
		put(world, RUNNING + 64, call_in(BY_R13));
		put(world, LEFT_SP + 0x10, call_in(OUTERMOST));
		assert_walk(world, UNWIND_BAD_RULE, 3);
		put_goroutine(world);
	}
	/* So is r14. */
	set_row(world, FRAMED, UNWIND_GOROUTINE, CURRENT);
	set_row(world, PUSHED, UNWIND_CLOCK, CLOCK);
	put(world, LEFT_SP, call_in(PUSHED));
	cfi_world_start(world, PC(FUNCTION(FRAMED)), OWN_SP, 1);
	assert_walk(world, UNWIND_NO_GOROUTINE, 2);
}

/* --- Lisp --- */

/* mov %rbp,%rsp; pop %rbp; mov (%rsp),%rax; add $32,%rsp; ret: the end of a wrapper that only C calls */
static const uint8_t end_of_wrapper[] = {
	0x48, 0x8b, 0xe5, 0x5d, 0x48, 0x8b, 0x04, 0x24, 0x48, 0x83, 0xc4, 0x20, 0xc3
};

/* The same place: called by C, a wrapper has its return address at rbp + 40; called by Lisp, or interrupted, it has a usual frame. */
static void lisp_depends_on_the_callee(void **state)
{
	struct cfi_world *world = *state;
	enum { OUTER = STACK + 0x80, LAST = STACK + 0x100 };
	set_row(world, FRAMED, UNWIND_LISP, 0);
	memcpy(world->code + 0x100 * FRAMED + 0x20, end_of_wrapper, sizeof(end_of_wrapper));
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, STACK + 0x40);
	put(world, STACK, call_in(FRAMED));
	put(world, STACK + 0x40, OUTER);
	put(world, STACK + 0x40 + 40, call_in(FRAMED)); /* called by C */
	put(world, OUTER, LAST);
	put(world, OUTER + 8, call_in(LEAF)); /* called by Lisp */
	put(world, OUTER + 16, call_in(FRAMED));
	put(world, LAST + 40, call_in(OUTERMOST)); /* called by C */
	assert_walk(world, UNWIND_ROOT, 6);
	assert_int_equal(world->frames[2].pc, call_in(FRAMED) - 1);
	assert_int_equal(world->frames[2].sp, STACK + 0x40 + 48);
	assert_int_equal(world->frames[3].pc, call_in(LEAF) - 1);
	assert_int_equal(world->frames[3].sp, OUTER + 16);
	assert_int_equal(world->frames[5].pc, call_in(OUTERMOST) - 1);
	assert_int_equal(world->frames[5].sp, LAST + 48);
	cfi_world_start(world, call_in(FRAMED), STACK, OUTER);
	put(world, OUTER + 8, call_in(OUTERMOST));
	assert_walk(world, UNWIND_ROOT, 2);
	assert_int_equal(world->frames[1].sp, OUTER + 16);
	/* Lisp keeps no register. */
	world->registers.value[R13] = STACK + 0x90;
	put(world, OUTER + 8, call_in(BY_R13));
	assert_walk(world, UNWIND_BAD_RULE, 2);
	/* The stack shrinks, or cannot be read. */
	cfi_world_start(world, call_in(FRAMED), OUTER + 16, OUTER);
	assert_walk(world, UNWIND_NO_PROGRESS, 1);
	cfi_world_start(world, call_in(FRAMED), STACK, 0x50);
	struct unwind_result result = cfi_world_walk(world, FRAMES);
	assert_int_equal(result.cause, UNWIND_UNREADABLE);
	assert_int_equal(result.unreadable, 0x50);
}

/* --- registers that no rule mentions --- */

/* rax is as the leaf has it, if a call of this function precedes the return address; behind another call, the step is a guess. */
static void assembler_keeps_registers(void **state)
{
	struct cfi_world *world = *state;
	enum { SLOT = STACK + 0x90 };
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
	world->registers.value[RAX] = SLOT;
	put(world, STACK, call_in(LEAF));
	put(world, STACK + 8, call_in(BY_RAX));
	put(world, SLOT, call_in(OUTERMOST));
	put_call(world, OUTERMOST, FUNCTION(BY_RAX));
	world->end = call_in(OUTERMOST); /* the call is the module's last instruction */
	assert_walk(world, UNWIND_ROOT, 4);
	assert_int_equal(world->frames[3].sp, SLOT + 8);
	put_call(world, OUTERMOST, FUNCTION(BY_RAX) + 1);
	assert_walk(world, UNWIND_ROOT_FRAME_POINTER, 4);
	memset(world->code, 0x90, sizeof(world->code));
	assert_walk(world, UNWIND_BAD_RULE, 3);
	put_call(world, OUTERMOST, FUNCTION(BY_RAX));
	world->end--;
	assert_walk(world, UNWIND_BAD_RULE, 3);
	/* The stack would not grow. */
	world->end = 0;
	put_call(world, BY_RAX, FUNCTION(BY_RAX));
	world->registers.value[RAX] = STACK + 8;
	assert_walk(world, UNWIND_BAD_RULE, 3);
	world->registers.value[RAX] = STACK + 0x200 * 8;
	assert_walk(world, UNWIND_UNREADABLE, 3);
	/* Code without rules, and Lisp, keep no register. */
	put_call(world, OUTERMOST, FUNCTION(BY_RAX));
	set_row(world, FRAMED, UNWIND_LISP, 0);
	for (unsigned i = 0; i < 2; i++) {
		cfi_world_start(world, PC(FUNCTION(i ? FRAMED : NO_RULES)), STACK, STACK + 0x40);
		world->registers.value[RAX] = SLOT;
		put(world, STACK + 0x48, call_in(BY_RAX));
		assert_walk(world, UNWIND_BAD_RULE, 2);
	}
	/* Code that a signal interrupted has other registers: r8 of its ucontext is unreadable, so that none is known. */
	enum { UCONTEXT = STACK - 0x60, INTERRUPTED_SP = STACK + 0x100 };
	cfi_world_start(world, PC(FUNCTION(SIGNAL)), UCONTEXT, 1);
	put(world, UCONTEXT + 160, INTERRUPTED_SP);
	put(world, UCONTEXT + 168, PC(FUNCTION(LEAF)));
	put(world, INTERRUPTED_SP, call_in(BY_RAX));
	put(world, SLOT + 0x100, call_in(OUTERMOST));
	world->registers.value[RAX] = SLOT + 0x100;
	put_call(world, OUTERMOST, FUNCTION(BY_RAX));
	assert_walk(world, UNWIND_BAD_RULE, 3);
}

/* --- calls within a function --- */

/* The row of a function of assembler ignores that it calls a routine within itself: the word that it takes for the return address is 0, or no
 * address of code. The routine returns at once, or after a pop, or the code does not decide. */
static void assembler_calls_within_a_function(void **state)
{
	struct cfi_world *world = *state;
	static const struct {
		uint8_t code[2];
		unsigned slot;
		enum unwind_cause cause;
	} routines[] = { { { 0xc3 }, 0, UNWIND_ROOT },
			 { { 0x58, 0xc3 }, 1, UNWIND_ROOT },
			 { { 0x90, 0x90 }, 0, UNWIND_ROOT_FRAME_POINTER } };
	for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
		const unsigned slot = routines[i].slot;
		memset(world->code, 0x90, sizeof(world->code));
		memcpy(world->code + 0x100 * PUSHED + 2, routines[i].code, 2);
		put_call(world, PUSHED, FUNCTION(PUSHED) + 1);
		cfi_world_start(world, PC(FUNCTION(PUSHED)) + 2, STACK, 1);
		world->stack[0] = 0;
		world->stack[slot] = call_in(PUSHED);
		world->stack[slot + 4] = call_in(OUTERMOST);
		for (unsigned wrong = 0; wrong < 2; wrong++) {
			world->stack[3] = wrong ? NOWHERE : 0;
			assert_walk(world, routines[i].cause, 3);
			assert_int_equal(world->frames[1].pc, call_in(PUSHED) - 1);
			assert_int_equal(world->frames[1].sp, STACK + 8 * (slot + 1));
			assert_int_equal(world->frames[2].pc, call_in(OUTERMOST) - 1);
		}
	}
}

/* Without such a call, the innermost function's return address of 0 is no root. */
static void innermost_functions_are_no_roots(void **state)
{
	struct cfi_world *world = *state;
	cfi_world_start(world, PC(FUNCTION(PUSHED)) + 2, STACK, 1);
	world->stack[3] = 0;
	const struct {
		uint64_t word, target;
	} cases[] = {
		{ 0, FUNCTION(PUSHED) + 1 },                  /* no return address */
		{ call_in(PUSHED), FUNCTION(PUSHED) },        /* the function calls itself: its rule holds */
		{ call_in(PUSHED), FUNCTION(LEAF) },          /* another function */
		{ call_in(OUTERMOST), FUNCTION(PUSHED) + 1 }, /* from another function */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(world->code, 0x90, sizeof(world->code));
		put_call(world, PUSHED, cases[i].target);
		put_call(world, OUTERMOST, cases[i].target);
		world->stack[0] = cases[i].word;
		assert_walk(world, UNWIND_NO_CALLER, 1);
	}
	world->stack[3] = NOWHERE;
	assert_walk(world, UNWIND_NO_MODULE, 2);
}

/* --- new threads --- */

/* mov $CLONE,%eax; syscall, in a function whose rule finds the stack of the thread that made the new one: the return address may be anything. */
static void new_threads_have_no_caller(void **state)
{
	struct cfi_world *world = *state;
	static const uint8_t clone[] = { 0xb8, 56, 0, 0, 0, 0x0f, 0x05 };
	static const uint64_t unreadable = STACK + STACK_WORDS * 8;
	memcpy(world->code + 0x100 * LEAF, clone, sizeof(clone));
	put(world, STACK + 8, NOWHERE);
	const struct {
		uint64_t rax, rsp, word;
		enum unwind_cause cause;
		size_t count;
		bool is_new;
	} cases[] = {
		{ 0, STACK, NOWHERE, UNWIND_ROOT, 1, true },
		{ 7, STACK, NOWHERE, UNWIND_NO_MODULE, 2, false },
		{ 0, STACK, call_in(OUTERMOST), UNWIND_ROOT, 2, false },
		{ 0, STACK, call_in(LEAF), UNWIND_NO_MODULE, 3, false },
		{ 0, unreadable, 0, UNWIND_ROOT, 1, true },
		{ 7, unreadable, 0, UNWIND_UNREADABLE, 1, false },
		{ 0, unreadable - 8, call_in(LEAF), UNWIND_UNREADABLE, 2, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cfi_world_start(world, PC(FUNCTION(LEAF)) + sizeof(clone), cases[i].rsp, 1);
		world->registers.value[RAX] = cases[i].rax;
		if (cases[i].rsp < unreadable)
			put(world, cases[i].rsp, cases[i].word);
		struct unwind_result result = cfi_world_walk(world, FRAMES);
		if (result.is_new_thread != cases[i].is_new || result.cause != cases[i].cause ||
		    result.count != cases[i].count)
			fail_msg("case %zu: cause %d, %zu frames", i, (int)result.cause, result.count);
	}
}

/* --- signals --- */

/* A rule that only its own CFI describes leads to another stack from the innermost frame, and from a signal frame. */
static void slow_rules_switch_stacks(void **state)
{
	struct cfi_world *world = *state;
	world->registers.value[12] = STACK + 0x10;
	put(world, STACK + 0x10, call_in(OUTERMOST));
	cfi_world_start(world, PC(FUNCTION(BY_R12)), STACK + 0x100, 1);
	assert_walk(world, UNWIND_ROOT, 2);
	assert_int_equal(world->frames[1].sp, STACK + 0x18);
	put(world, STACK + 0x100, call_in(BY_R12));
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x100, 1);
	assert_walk(world, UNWIND_NO_PROGRESS, 2);
	set_row(world, SIGNAL, UNWIND_SLOW, 0);
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x400, 1);
	put(world, STACK + 0x400, PC(FUNCTION(SIGNAL)));
	cfi_world_put_ucontext(world, 0x81, PC(FUNCTION(LEAF)), STACK + 0x10, 0x77, 0);
	assert_walk(world, UNWIND_ROOT, 4);
	assert_int_equal(world->frames[2].pc, PC(FUNCTION(LEAF)));
}

/* A signal frame whose ucontext is two words above the stack pointer: r12 is the interrupted code's. */
static void registers_of_signals_are_above_the_stack_pointer(void **state)
{
	struct cfi_world *world = *state;
	set_row(world, SIGNAL, UNWIND_SIGNAL, 2);
	cfi_world_start(world, PC(FUNCTION(LEAF)), STACK + 0x400, 1);
	put(world, STACK + 0x400, PC(FUNCTION(SIGNAL)));
	cfi_world_put_ucontext(world, 0x83, PC(FUNCTION(LEAF)), STACK, 0x77, STACK + 0x50);
	put(world, STACK, call_in(BY_R12));
	put(world, STACK + 0x50, call_in(OUTERMOST));
	assert_walk(world, UNWIND_ROOT, 5);
	assert_int_equal(world->frames[4].sp, STACK + 0x58);
}

/* --- modules --- */

/* A walk searches a module once, as long as its frames are in the module's text. */
static void frames_share_a_module(void **state)
{
	struct cfi_world *world = *state;
	const uint64_t end = PC(TINY_BASE) + TINY_TEXT_BYTES;
	world->end = end + 0x100;
	for (uint64_t beyond = 0; beyond < 2; beyond++) {
		cfi_world_start(world, PC(FUNCTION(LEAF)), STACK, 1);
		for (unsigned i = 0; i < 10; i++)
			world->stack[i] = call_in(LEAF);
		put(world, STACK + 8 * 9, end + beyond);
		world->lookups = 0;
		struct unwind_result result = cfi_world_walk(world, 11);
		assert_int_equal(result.count, 11);
		assert_int_equal(world->frames[10].pc, end + beyond - 1);
		assert_int_equal(world->lookups, 1 + beyond);
	}
}

/* Code without rules of a program by GHC may be Haskell's. */
static void haskell_has_no_rules(void **state)
{
	struct cfi_world *world = *state;
	world->table->is_haskell = true;
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, 1);
	assert_walk(world, UNWIND_HASKELL, 1);
	cfi_world_start(world, NOWHERE, STACK, 1);
	assert_walk(world, UNWIND_NO_MODULE, 1);
	cfi_world_start(world, PC(FUNCTION(NO_RULES)), STACK, 1);
	world->no_table = true;
	assert_walk(world, UNWIND_NO_TABLE, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cfi_world_set_up, cfi_world_tear_down)
	const struct CMUnitTest tests[] = {
		T(calls_of_c_switch_stacks),
		T(own_stacks_lead_to_goroutines),
		T(lisp_depends_on_the_callee),
		T(assembler_keeps_registers),
		T(slow_rules_switch_stacks),
		T(registers_of_signals_are_above_the_stack_pointer),
		T(new_threads_have_no_caller),
		T(frames_share_a_module),
		T(haskell_has_no_rules),
		T(assembler_calls_within_a_function),
		T(innermost_functions_are_no_roots),
	};
	return cmocka_run_group_tests_name("x86_64_stacks", tests, NULL, NULL);
}
