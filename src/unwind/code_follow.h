/*
 * Follows functions without unwind information through their instructions, from their starts on
 * (unwind/parts.h). Private to code_rows.c, which owns the analysis, code_follow.c and
 * code_state.c.
 */
#ifndef UNWIND_CODE_FOLLOW_H
#define UNWIND_CODE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/instruction.h"
#include "arch/stack_effect.h"
#include "base/hash_map.h"

/* code_state.c: where a function's frame is at one of its instructions, in bytes from the CFA
 * downwards, and how instructions change that. */

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

/* Joins the state in which an instruction was reached with the state of another way to it. Returns
 * false if they do not fit. A frame pointer that is not the same in both does not point into the
 * frame. */
bool code_state_join(struct code_state *state, const struct code_state *other);

/* Applies an instruction. Returns false if the state is then unknown, or not one of a function. */
bool code_state_apply(struct code_state *state, const struct stack_effect *effect);

/* --- the analysis --- */

/* Code between functions that have unwind information. */
struct code_gap {
	uint32_t start, end; /* minus the table's base */
	const uint8_t *code;
	uint16_t *states; /* per byte: number of a state plus 1; 0: not an instruction that was followed */
	uint8_t *marks;   /* per byte: enum mark */
};

enum mark { IS_START = 1, WAS_TRIED = 2 };

/* One place to follow from. */
struct place {
	uint32_t pc;
	struct code_state state;
};

struct code_analysis {
	uint64_t base; /* of the addresses in gaps */
	struct code_gap *gaps;
	size_t gap_count, gap_capacity;
	uint64_t steps_left;
	struct code_state *states;
	size_t state_count, state_capacity;
	struct hash_map by_state;
	/* Starts of functions, from symbols and calls, that are not tried yet. */
	uint32_t *starts;
	size_t start_count, start_capacity;
	/* The present function. */
	struct place *work;
	size_t work_count, work_capacity;
	uint32_t *followed; /* its instructions */
	size_t followed_count, followed_capacity;
	bool is_known_start; /* by a symbol, a call or its address */
	bool returns, jumps_by_table;
	struct code_state at_table;
	bool has_functions; /* that got states */
	bool no_memory;
};

/* Returns the gap with an address minus the table's base, or NULL. */
struct code_gap *code_gap_at(const struct code_analysis *analysis, uint64_t pc);

/* Decodes the instruction at an address in a gap. Returns false if the code is not an instruction or is cut off. */
bool code_decode(const struct code_analysis *analysis, const struct code_gap *gap, uint64_t pc,
		 struct instruction *instruction);

/* Adds the start of a function, if it is in a gap. */
void code_add_start(struct code_analysis *analysis, uint64_t pc);

/* Gives states to the instructions of the function that begins at an address in a gap, if they
 * are consistent. Returns whether it has states. */
bool code_follow_function(struct code_analysis *analysis, uint32_t start);

#endif
