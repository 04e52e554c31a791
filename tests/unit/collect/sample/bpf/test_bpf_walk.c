/* The kernel's walk (collect/shared/row_walk.h), replayed in user space on stored registers, memory and rows. Its
 * frames must equal the expected frames and the frames of unwind_walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/walk_world.h"

/* --- each kind of row --- */

static void steps_by_the_stack_pointer(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(PUSHED); /* rsp 0x08, CFA 0x28 */
	world->stack[3] = 0x4444;          /* CFA - 16: the caller's rbp */
	world->stack[4] = at(SECOND, LEAF, 0x20);
	world->stack[5] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(PUSHED) - 1, at(SECOND, LEAF, 0x1f), call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 1); /* one window */
	/* A return address of 0 is also the root. */
	world->stack[5] = 0;
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(PUSHED) - 1, at(SECOND, LEAF, 0x1f));
}

static void steps_by_the_frame_pointer(void **state)
{
	struct walk_world *world = *state;
	world->stack[8] = STACK + 0x100; /* rbp of FRAMED's caller */
	world->stack[9] = call_in(PUSHED);
	world->stack[12] = STACK + 0x200; /* PUSHED: rsp 0x50, CFA 0x70, rbp at 0x60 */
	world->stack[13] = call_in(FRAMED);
	world->stack[64] = 0;
	world->stack[65] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(FRAMED), STACK, STACK + 0x40);
	ASSERT_FRAMES(WALK_ROOT, call_in(FRAMED), call_in(PUSHED) - 1, call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
}

static void steps_out_of_realigned_frames(void **state)
{
	struct walk_world *world = *state;
	world->stack[7] = STACK + 0x80; /* rbp - 8: the CFA */
	world->stack[8] = STACK + 0x120;
	world->stack[15] = call_in(FRAMED);
	world->stack[36] = 0;
	world->stack[37] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(REALIGNED), STACK, STACK + 0x40);
	ASSERT_FRAMES(WALK_ROOT, call_in(REALIGNED), call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
	walk_world_walk(world, call_in(REALIGNED), STACK, 0x40);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(REALIGNED));
}

static void steps_out_of_stubs(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(OUTERMOST);
	world->stack[1] = call_in(LEAF);
	world->stack[2] = call_in(OUTERMOST);
	walk_world_walk(world, at(FIRST, STUB, 0x10 + 10), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, at(FIRST, STUB, 0x1a), call_in(OUTERMOST) - 1);
	walk_world_walk(world, at(FIRST, STUB, 0x10 + 11), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, at(FIRST, STUB, 0x1b), call_in(LEAF) - 1, call_in(OUTERMOST) - 1);
}

static void put_ucontext(struct walk_world *world, unsigned word, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	world->stack[word + 120 / WORD] = rbp;
	world->stack[word + 160 / WORD] = rsp;
	world->stack[word + 168 / WORD] = rip;
}

static void steps_out_of_signals(void **state)
{
	struct walk_world *world = *state;
	/* A handler on an alternate stack above the interrupted one. */
	world->stack[0x80] = at(FIRST, SIGNAL, 0);
	put_ucontext(world, 0x81, at(FIRST, FRAMED, 0), STACK, STACK + 0x40);
	world->stack[8] = 0;
	world->stack[9] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0), at(FIRST, FRAMED, 0), call_in(OUTERMOST) - 1);
	/* A signal frame that returns to itself ends at the limit of frames. */
	put_ucontext(world, 0x81, call_in(LEAF), STACK + 0x400, 1);
	walk_world_walk(world, call_in(LEAF), STACK + 0x400, 1);
	assert_int_equal(world->kernel.end, WALK_DEPTH);
	assert_int_equal(world->kernel.count, WALK_FRAMES);
	put_ucontext(world, 0x81, 0, STACK, 1);
	walk_world_walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0));
	/* The stack ends inside the ucontext. */
	world->stack[STACK_WORDS - 20] = at(FIRST, SIGNAL, 0);
	walk_world_walk(world, call_in(LEAF), STACK + (STACK_WORDS - 20) * WORD, 1);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(LEAF), at(FIRST, SIGNAL, 0));
}

static void knows_starts_that_nobody_called(void **state)
{
	struct walk_world *world = *state;
	/* makecontext: the return address is the first byte of a function, after a gap. */
	world->stack[0] = at(FIRST, ENTRY, 0);
	world->stack[1] = 0;
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), at(FIRST, ENTRY, 0));
	/* Directly after another function, the address is taken for a return address in that function. */
	world->stack[0] = at(FIRST, PUSHED, 0);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.pcs[1], at(FIRST, PUSHED, 0) - 1);
}

static void sees_through_return_probes(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(PUSHED); /* rsp 0x08, CFA 0x28 */
	world->stack[4] = call_in(LEAF);
	world->stack[5] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	const struct replayed plain = world->kernel;
	for (int i = 0; i < 2; i++) {
		world->probed[i] = STACK + (4U + (unsigned)i) * WORD;
		world->returned[i] = world->stack[4 + i];
		world->stack[4 + i] = TRAMPOLINE;
	}
	walk_world_walk_as_kernel(world);
	walk_world_assert_frames(world, WALK_ROOT, plain.pcs, plain.count);
	/* The replaced address is in no module, or the slot is not one of a probe. */
	world->returned[1] = NOWHERE;
	walk_world_walk_as_kernel(world);
	walk_world_assert_frames(world, WALK_NO_CODE, plain.pcs, plain.count - 1);
	world->probed[1] = 0;
	walk_world_walk_as_kernel(world);
	walk_world_assert_frames(world, WALK_NO_CODE, plain.pcs, plain.count - 1);
}

/* --- ends --- */

static void leaves_slow_rules_to_the_monitor(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(SLOW);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_SLOW, call_in(LEAF), call_in(SLOW) - 1);
}

static void ends_where_there_is_no_rule(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(GAP);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_NO_RULE, call_in(LEAF), call_in(GAP) - 1);
	walk_world_walk(world, call_in(GAP), STACK, 0);
	ASSERT_FRAMES(WALK_NO_RULE, call_in(GAP));
	/* rbp = 0 marks no outermost frame: a function without rules may use the register for anything. */
	walk_world_walk(world, call_in(LEAF), STACK, 0);
	ASSERT_FRAMES(WALK_NO_RULE, call_in(LEAF), call_in(GAP) - 1);
	/* The code that ends a thread does, in a caller: mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall. */
	memcpy(world->code + GAP * FUNCTION_BYTES + 0x20, "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05", 8);
	walk_world_walk(world, call_in(LEAF), STACK, 0);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(GAP) - 1);
	walk_world_walk(world, call_in(GAP), STACK, 0);
	ASSERT_FRAMES(WALK_NO_RULE, call_in(GAP));
	/* The return code of a signal handler, for which a C library may have no rule, does not. */
	static const char *const returns[] = { "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", "\xb8\x0f\0\0\0\x0f\x05\0\0" };
	for (int i = 0; i < 2; i++) {
		memcpy(world->code + GAP * FUNCTION_BYTES + 0x20, returns[i], 9);
		walk_world_walk(world, call_in(LEAF), STACK, 0);
		ASSERT_FRAMES(WALK_NO_RULE, call_in(LEAF), call_in(GAP) - 1);
	}
	/* After the last rule. */
	world->stack[0] = at(FIRST, FUNCTIONS, 0x40);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_NO_RULE, call_in(LEAF), at(FIRST, FUNCTIONS, 0x3f));
}

static void ends_in_unknown_code(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = at(SECOND, LEAF, 0x20);
	world->stack[1] = NOWHERE;
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_NO_CODE, call_in(LEAF), at(SECOND, LEAF, 0x1f));
	world->no_rows = true;
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_NO_ROWS, call_in(LEAF));
	walk_world_walk(world, NOWHERE, STACK, 1);
	assert_int_equal(world->kernel.end, WALK_NO_CODE);
	assert_int_equal(world->kernel.count, 0);
}

static void ends_where_memory_does(void **state)
{
	struct walk_world *world = *state;
	walk_world_walk(world, call_in(LEAF), STACK - WORD, 1);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(LEAF));
	uint64_t last = STACK + (STACK_WORDS - 1) * WORD;
	world->stack[STACK_WORDS - 1] = call_in(LEAF);
	walk_world_walk(world, call_in(LEAF), last, 1);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(LEAF), call_in(LEAF) - 1);
	/* Only the return address can be read, or only rbp. */
	walk_world_walk(world, call_in(FRAMED), STACK, STACK - WORD);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(FRAMED));
	walk_world_walk(world, call_in(FRAMED), STACK, last);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(FRAMED));
	/* At the end of the address space. */
	walk_world_walk(world, call_in(LEAF), UINT64_MAX - 3, 1);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(LEAF));
	walk_world_walk(world, call_in(FRAMED), STACK, UINT64_MAX - 7);
	ASSERT_FRAMES(WALK_UNREADABLE, call_in(FRAMED));
}

static void ends_where_the_stack_does_not_grow(void **state)
{
	struct walk_world *world = *state;
	world->stack[2] = call_in(LEAF);
	walk_world_walk(world, call_in(FRAMED), STACK + 0x80, STACK + 8);
	ASSERT_FRAMES(WALK_NO_PROGRESS, call_in(FRAMED));
	walk_world_walk(world, call_in(FRAMED), STACK + 24, STACK + 8); /* an unchanged stack pointer */
	ASSERT_FRAMES(WALK_NO_PROGRESS, call_in(FRAMED));
}

static void ends_at_its_limit(void **state)
{
	struct walk_world *world = *state;
	/* The leaf, WALK_FRAMES - 2 callers, and OUTERMOST. */
	for (size_t i = 0; i < WALK_FRAMES; i++)
		world->stack[i] = call_in(LEAF);
	world->stack[WALK_FRAMES - 2] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.end, WALK_ROOT);
	assert_int_equal(world->kernel.count, WALK_FRAMES);
	assert_int_equal(world->kernel.pcs[WALK_FRAMES - 1], call_in(OUTERMOST) - 1);
	assert_in_range(world->copies, WALK_FRAMES / WALK_WINDOW_WORDS, WALK_FRAMES / WALK_WINDOW_WORDS + 1);
	/* One frame more. */
	world->stack[WALK_FRAMES - 2] = call_in(LEAF);
	world->stack[WALK_FRAMES - 1] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	assert_int_equal(world->kernel.end, WALK_DEPTH);
	assert_int_equal(world->kernel.count, WALK_FRAMES);
	for (size_t i = 1; i < WALK_FRAMES; i++)
		assert_int_equal(world->kernel.pcs[i], call_in(LEAF) - 1);
}

/* --- the window --- */

static void reads_up_to_the_windows_end(void **state)
{
	struct walk_world *world = *state;
	world->stack[0] = call_in(LARGE);
	world->stack[WALK_WINDOW_WORDS - 1] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(LARGE) - 1, call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 1);
	world->stack[0] = call_in(LARGER);
	world->stack[WALK_WINDOW_WORDS] = call_in(PUSHED);
	world->stack[WALK_WINDOW_WORDS + 4] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(LARGER) - 1, call_in(PUSHED) - 1, call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 2);
	/* An address below the window, as after leaving an alternate stack. */
	world->stack[0x80] = at(FIRST, SIGNAL, 0);
	put_ucontext(world, 0x81, call_in(LEAF), STACK + 0x300, 1);
	world->stack[0x60] = call_in(OUTERMOST);
	walk_world_walk(world, call_in(LEAF), STACK + 0x400, 1);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), at(FIRST, SIGNAL, 0), call_in(LEAF), call_in(OUTERMOST) - 1);
	assert_int_equal(world->copies, 2);
}

static void reads_near_the_stacks_end(void **state)
{
	struct walk_world *world = *state;
	for (unsigned words = 1; words <= WALK_WINDOW_WORDS + 2; words++) {
		unsigned first = STACK_WORDS - words;
		for (unsigned i = first; i < STACK_WORDS; i++)
			world->stack[i] = call_in(LEAF);
		world->stack[STACK_WORDS - 1] = call_in(OUTERMOST);
		walk_world_walk(world, call_in(LEAF), STACK + first * WORD, 1);
		assert_int_equal(world->kernel.end, WALK_ROOT);
		assert_int_equal(world->kernel.count, words + 1);
	}
	/* A failed copy must not be used as the window. */
	unsigned first = STACK_WORDS - WALK_WINDOW_WORDS - 2;
	world->stack[first] = call_in(LARGER);
	world->stack[first + 4] = STACK + (STACK_WORDS - 1) * WORD; /* rbp - 8 */
	world->stack[first + WALK_WINDOW_WORDS] = call_in(REALIGNED);
	walk_world_walk(world, call_in(LEAF), STACK + first * WORD, STACK + (first + 5) * WORD);
	ASSERT_FRAMES(WALK_NO_PROGRESS, call_in(LEAF), call_in(LARGER) - 1, call_in(REALIGNED) - 1);
	world->stack[first + 4] = STACK + STACK_WORDS * WORD;
	walk_world_walk(world, call_in(LEAF), STACK + first * WORD, STACK + (first + 5) * WORD);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(LARGER) - 1, call_in(REALIGNED) - 1, call_in(OUTERMOST) - 1);
}

static void reads_unaligned_stacks(void **state)
{
	struct walk_world *world = *state;
	for (unsigned shift = 1; shift < WORD; shift++) {
		uint64_t words[] = { call_in(LEAF), call_in(PUSHED), 0, 0, 0, call_in(OUTERMOST) };
		memcpy((uint8_t *)world->stack + shift, words, sizeof(words));
		walk_world_walk(world, call_in(LEAF), STACK + shift, 1);
		ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(LEAF) - 1, call_in(PUSHED) - 1, call_in(OUTERMOST) - 1);
	}
	/* The alignment changes within one window. */
	uint64_t outermost = call_in(OUTERMOST);
	world->stack[0] = call_in(FRAMED);
	world->stack[2] = 0;
	memcpy((uint8_t *)world->stack + 0x2b, &outermost, WORD);
	walk_world_walk(world, call_in(LEAF), STACK, STACK + 0x23);
	ASSERT_FRAMES(WALK_ROOT, call_in(LEAF), call_in(FRAMED) - 1, call_in(OUTERMOST) - 1);
}

/* --- random stacks --- */

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % below;
}

/* Returns mostly an address in code, mostly in LEAF or PUSHED; otherwise an address on the stack, 0, or any
 * number. */
static uint64_t draw_word(void)
{
	uint64_t kind = draw(32);
	if (kind < 26)
		return at(draw(4) ? FIRST : SECOND, (unsigned)draw(kind < 22 ? FRAMED : FUNCTIONS + 1),
			  (unsigned)draw(FUNCTION_BYTES));
	if (kind < 29)
		return STACK + draw(STACK_WORDS) * WORD;
	return kind < 30 ? STACK + draw(STACK_WORDS * WORD) : kind < 31 ? 0 : draw(UINT64_MAX);
}

static void agrees_with_unwind_walk(void **state)
{
	enum { STACKS = 30000, WORDS = 160 };
	struct walk_world *world = *state;
	unsigned ends[WALK_END_COUNT] = { 0 };
	size_t frames = 0;
	for (unsigned i = 1; i <= STACKS; i++) {
		seed = i * UINT64_C(0x9e3779b97f4a7c15);
		for (unsigned word = STACK_WORDS - WORDS; word < STACK_WORDS; word++)
			world->stack[word] = draw_word();
		world->no_rows = draw(8) == 0;
		uint64_t rsp = STACK + (STACK_WORDS - 1 - draw(WORDS)) * WORD;
		walk_world_walk(world, draw_word(), rsp, draw(2) ? draw_word() : rsp + draw(20) * WORD);
		ends[world->kernel.end]++;
		frames += world->kernel.count;
	}
	static const enum walk_end often[] = { WALK_ROOT, WALK_NO_CODE,    WALK_NO_ROWS,    WALK_NO_RULE,
					       WALK_SLOW, WALK_UNREADABLE, WALK_NO_PROGRESS };
	for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++)
		assert_true(ends[often[i]] > STACKS / 1000);
	assert_true(frames > STACKS * 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, walk_world_set_up, walk_world_tear_down)
	const struct CMUnitTest tests[] = {
		T(steps_by_the_stack_pointer),
		T(steps_by_the_frame_pointer),
		T(steps_out_of_realigned_frames),
		T(steps_out_of_stubs),
		T(steps_out_of_signals),
		T(knows_starts_that_nobody_called),
		T(sees_through_return_probes),
		T(leaves_slow_rules_to_the_monitor),
		T(ends_where_there_is_no_rule),
		T(ends_in_unknown_code),
		T(ends_where_memory_does),
		T(ends_where_the_stack_does_not_grow),
		T(ends_at_its_limit),
		T(reads_up_to_the_windows_end),
		T(reads_near_the_stacks_end),
		T(reads_unaligned_stacks),
		T(agrees_with_unwind_walk),
	};
	return cmocka_run_group_tests_name("bpf_walk", tests, NULL, NULL);
}
