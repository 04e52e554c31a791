#include "unwind/code_follow.h"

enum { WORD = 8 };

const struct code_state code_state_start = { .sp = WORD };

bool code_state_equal(const struct code_state *a, const struct code_state *b)
{
	return a->sp == b->sp && a->frame == b->frame && a->saved == b->saved;
}

bool code_state_is_outside(const struct code_state *state)
{
	return code_state_equal(state, &code_state_start);
}

bool code_state_join(struct code_state *state, const struct code_state *other)
{
	if (state->sp != other->sp || state->saved != other->saved)
		return false;
	if (state->frame != other->frame)
		state->frame = 0;
	return state->frame != 0 || state->sp != CODE_STATE_UNKNOWN;
}

/* Takes the frame pointer from a slot. Returns false if the caller's would be lost. */
static bool load_fp(struct code_state *state, int32_t slot)
{
	if (state->saved == 0)
		return false;
	if (slot == state->saved)
		state->saved = 0;
	state->frame = 0;
	return true;
}

static bool pop_fp(struct code_state *state)
{
	if (state->sp == CODE_STATE_UNKNOWN || !load_fp(state, state->sp))
		return false;
	state->sp -= WORD;
	return true;
}

/* Stores the frame pointer at sp + amount. Without a frame, sp is known. */
static void save_fp(struct code_state *state, int32_t amount)
{
	if (state->saved == 0 && state->frame == 0)
		state->saved = state->sp - amount;
}

bool code_state_apply(struct code_state *state, const struct stack_effect *effect)
{
	enum { LARGEST = 1 << 24 };
	if (effect->amount > LARGEST || effect->amount < -LARGEST)
		return false;
	switch (effect->kind) {
	case STACK_MOVES:
		state->sp -= state->sp == CODE_STATE_UNKNOWN ? 0 : effect->amount;
		break;
	case STACK_PUSHES_FP:
		state->sp += state->sp == CODE_STATE_UNKNOWN ? 0 : WORD;
		save_fp(state, 0);
		break;
	case STACK_POPS_FP:
		return pop_fp(state) && state->sp >= WORD;
	case STACK_LEAVES:
		state->sp = state->frame;
		return pop_fp(state) && state->sp >= WORD; /* not without a frame, which is 0 */
	case STACK_STORES_FP:
		save_fp(state, effect->amount);
		break;
	case STACK_LOADS_FP:
		return state->sp != CODE_STATE_UNKNOWN && load_fp(state, state->sp - effect->amount);
	case STACK_SETS_FP:
		if (state->saved == 0)
			return false;
		state->frame = state->sp == CODE_STATE_UNKNOWN ? 0 : state->sp - effect->amount;
		break;
	case STACK_SETS_SP:
		state->sp = state->frame == 0 ? CODE_STATE_UNKNOWN : state->frame - effect->amount;
		break;
	case STACK_LOSES_SP:
		state->sp = CODE_STATE_UNKNOWN;
		break;
	case STACK_LOSES_FP:
		if (state->saved == 0)
			return false;
		state->frame = 0;
		break;
	default:
		break;
	}
	return state->sp == CODE_STATE_UNKNOWN ? state->frame != 0 : state->sp >= WORD && state->sp < LARGEST;
}
