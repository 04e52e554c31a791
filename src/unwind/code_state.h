/* Where a function's frame is at one of its instructions, in bytes from the CFA downwards, and how instructions change that. */
#ifndef UNWIND_CODE_STATE_H
#define UNWIND_CODE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/stack_effect.h"

enum { CODE_STATE_UNKNOWN = INT32_MAX };

struct code_state {
	int32_t sp;    /* CFA - stack pointer; CODE_STATE_UNKNOWN: only `frame` gives the CFA */
	int32_t frame; /* CFA - frame pointer; 0: the frame pointer does not point into the frame */
	int32_t saved; /* CFA - slot of the caller's frame pointer; 0: the register still has it */
};

/* The state at the start of a function: the return address is at the stack pointer. */
extern const struct code_state code_state_start;

bool code_state_equal(const struct code_state *a, const struct code_state *b);

/* Returns whether the function has no frame: before it makes one, and where it returns. */
bool code_state_is_outside(const struct code_state *state);

/* Joins the state in which an instruction was reached with that of another way to it. Returns false if they do not fit. A frame pointer
 * that is not the same in both does not point into the frame. */
bool code_state_join(struct code_state *state, const struct code_state *other);

/* Applies an instruction. Returns false if the state is then unknown, or not one of a function. */
bool code_state_apply(struct code_state *state, const struct stack_effect *effect);

#endif
