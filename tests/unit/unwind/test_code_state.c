/* The state of a function's frame (unwind/code_follow.h) behind each effect of an instruction, and where two ways meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/code_follow.h"

enum { UNKNOWN = CODE_STATE_UNKNOWN, LARGEST = 1 << 24 };

static bool is(const struct code_state *state, struct code_state expected)
{
	return state->sp == expected.sp && state->frame == expected.frame && state->saved == expected.saved;
}

/* States are sp, frame, saved: distances below the CFA. */
#define STEP(kind, amount, ...)     \
	{                           \
		kind, amount, true, \
		{                   \
			__VA_ARGS__ \
		}                   \
	}
#define REFUSED(kind, amount, ...)       \
	{                                \
		kind, amount, false,     \
		{                        \
			{ __VA_ARGS__ }, \
			{                \
				0        \
			}                \
		}                        \
	}

static const struct {
	uint8_t kind;
	int32_t amount;
	bool is_fine;
	struct code_state states[2]; /* before and behind */
} steps[] = {
	STEP(STACK_MOVES, -8, { 8, 0, 0 }, { 16, 0, 0 }),
	STEP(STACK_MOVES, 8, { 24, 0, 16 }, { 16, 0, 16 }),
	STEP(STACK_MOVES, -8, { UNKNOWN, 16, 16 }, { UNKNOWN, 16, 16 }),
	STEP(STACK_MOVES, 9 - LARGEST, { 8, 0, 0 }, { LARGEST - 1, 0, 0 }),
	REFUSED(STACK_MOVES, 8 - LARGEST, 8, 0, 0),
	REFUSED(STACK_MOVES, 1, 8, 0, 0),
	STEP(STACK_KEEPS, LARGEST, { 8, 0, 0 }, { 8, 0, 0 }),
	STEP(STACK_KEEPS, -LARGEST, { 8, 0, 0 }, { 8, 0, 0 }),
	REFUSED(STACK_KEEPS, LARGEST + 1, 8, 0, 0),
	REFUSED(STACK_KEEPS, -LARGEST - 1, 8, 0, 0),

	STEP(STACK_PUSHES_FP, 0, { 8, 0, 0 }, { 16, 0, 16 }),
	STEP(STACK_PUSHES_FP, 0, { 16, 0, 16 }, { 24, 0, 16 }), /* it is saved already */
	STEP(STACK_PUSHES_FP, 0, { 16, 16, 0 }, { 24, 16, 0 }), /* it is this function's */
	STEP(STACK_PUSHES_FP, 0, { UNKNOWN, 16, 16 }, { UNKNOWN, 16, 16 }),
	STEP(STACK_STORES_FP, 8, { 24, 0, 0 }, { 24, 0, 16 }),
	STEP(STACK_STORES_FP, 8, { 24, 0, 24 }, { 24, 0, 24 }),
	STEP(STACK_STORES_FP, 8, { 24, 16, 0 }, { 24, 16, 0 }),
	STEP(STACK_STORES_FP, -LARGEST, { UNKNOWN, 16, 16 }, { UNKNOWN, 16, 16 }),

	STEP(STACK_POPS_FP, 0, { 16, 0, 16 }, { 8, 0, 0 }),
	STEP(STACK_POPS_FP, 0, { 24, 16, 16 }, { 16, 0, 16 }), /* another word */
	REFUSED(STACK_POPS_FP, 0, 16, 0, 0),
	REFUSED(STACK_POPS_FP, 0, 15, 0, 16),
	REFUSED(STACK_POPS_FP, 0, UNKNOWN, 16, 16),
	STEP(STACK_LOADS_FP, 8, { 24, 16, 16 }, { 24, 0, 0 }),
	STEP(STACK_LOADS_FP, 0, { 24, 16, 16 }, { 24, 0, 16 }),
	REFUSED(STACK_LOADS_FP, 8, 24, 16, 0),
	REFUSED(STACK_LOADS_FP, 8, UNKNOWN, 16, 16),
	STEP(STACK_LEAVES, 0, { 32, 16, 16 }, { 8, 0, 0 }),
	STEP(STACK_LEAVES, 0, { UNKNOWN, 16, 16 }, { 8, 0, 0 }),
	STEP(STACK_LEAVES, 0, { 32, 24, 16 }, { 16, 0, 16 }),
	REFUSED(STACK_LEAVES, 0, 16, 0, 16),
	REFUSED(STACK_LEAVES, 0, 32, 15, 16),
	REFUSED(STACK_LEAVES, 0, 32, 16, 0),

	STEP(STACK_SETS_FP, 0, { 16, 0, 16 }, { 16, 16, 16 }),
	STEP(STACK_SETS_FP, 8, { 24, 0, 16 }, { 24, 16, 16 }),
	REFUSED(STACK_SETS_FP, 0, 16, 0, 0),
	REFUSED(STACK_SETS_FP, 0, UNKNOWN, 16, 16),
	STEP(STACK_SETS_SP, -8, { 40, 16, 16 }, { 24, 16, 16 }),
	STEP(STACK_SETS_SP, 0, { UNKNOWN, 16, 16 }, { 16, 16, 16 }),
	STEP(STACK_SETS_SP, 0, { UNKNOWN, 8, 16 }, { 8, 8, 16 }),
	REFUSED(STACK_SETS_SP, 9, 40, 16, 16),
	REFUSED(STACK_SETS_SP, -16, 16, 0, 16),
	STEP(STACK_LOSES_SP, 0, { 24, 16, 16 }, { UNKNOWN, 16, 16 }),
	REFUSED(STACK_LOSES_SP, 0, 24, 0, 16),
	STEP(STACK_LOSES_FP, 0, { 24, 16, 16 }, { 24, 0, 16 }),
	REFUSED(STACK_LOSES_FP, 0, 24, 0, 0),
	REFUSED(STACK_LOSES_FP, 0, UNKNOWN, 16, 16),
};

static void each_effect(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct code_state frame = steps[i].states[0];
		const struct stack_effect effect = { .kind = steps[i].kind, .amount = steps[i].amount };
		bool is_fine = code_state_apply(&frame, &effect);
		if (is_fine != steps[i].is_fine || (is_fine && !is(&frame, steps[i].states[1])))
			fail_msg("step %zu, kind %d: %d, sp %d, frame %d, saved %d", i, steps[i].kind, is_fine,
				 frame.sp, frame.frame, frame.saved);
	}
}

static void two_ways_meet(void **state)
{
	(void)state;
	static const struct {
		struct code_state a, b, joined; /* sp 0: they do not fit */
	} cases[] = {
		{ { 24, 16, 16 }, { 24, 16, 16 }, { 24, 16, 16 } },
		{ { 24, 16, 16 }, { 24, 0, 16 }, { 24, 0, 16 } },
		{ { 24, 16, 16 }, { 24, 8, 16 }, { 24, 0, 16 } },
		{ { 24, 16, 16 }, { 16, 16, 16 }, { 0 } },
		{ { 24, 16, 16 }, { 24, 16, 24 }, { 0 } },
		{ { UNKNOWN, 16, 16 }, { UNKNOWN, 16, 16 }, { UNKNOWN, 16, 16 } },
		{ { UNKNOWN, 16, 16 }, { UNKNOWN, 24, 16 }, { 0 } },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int is_turned = 0; is_turned < 2; is_turned++) {
			struct code_state joined = is_turned ? cases[i].b : cases[i].a;
			bool fits = code_state_join(&joined, is_turned ? &cases[i].a : &cases[i].b);
			assert_int_equal(fits, cases[i].joined.sp != 0);
			assert_true(!fits || is(&joined, cases[i].joined));
			assert_int_equal(code_state_equal(&cases[i].a, &cases[i].b), i == 0 || i == 5);
		}
	assert_true(is(&code_state_start, (struct code_state){ .sp = 8 }));
	assert_true(code_state_is_outside(&(struct code_state){ 8, 0, 0 }));
	assert_false(code_state_is_outside(&(struct code_state){ 8, 0, 8 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_effect), cmocka_unit_test(two_ways_meet) };
	return cmocka_run_group_tests_name("code_state", tests, NULL, NULL);
}
