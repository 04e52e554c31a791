#include "unwind/code_follow.h"

#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/lower_bound.h"

enum { STATES_MAX = UINT16_MAX };

struct code_gap *code_gap_at(const struct code_analysis *analysis, uint64_t pc)
{
	size_t at = LOWER_BOUND(i, 0, analysis->gap_count, analysis->gaps[i].end <= pc);
	return at < analysis->gap_count && analysis->gaps[at].start <= pc ? &analysis->gaps[at] : NULL;
}

bool code_decode(const struct code_analysis *analysis, const struct code_gap *gap, uint64_t pc,
		 struct instruction *instruction)
{
	return instruction_decode(gap->code + (pc - gap->start), gap->end - pc, analysis->base + pc, instruction);
}

/* --- states --- */

/* Adds the key of the next state, and makes room for it. */
static bool add_key(struct code_analysis *analysis, uint64_t key)
{
	if (ARRAY_RESERVE(analysis->states, analysis->state_capacity, analysis->state_count + 1) < 0 ||
	    hash_map_put(&analysis->by_state, key, (uint32_t)analysis->state_count) < 0) {
		analysis->no_memory = true;
		return false;
	}
	return true;
}

/* Returns the number of a state plus 1, or 0 if there is no room for another one. */
static uint16_t number_of(struct code_analysis *analysis, const struct code_state *state)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)(uint32_t)state->sp << 32 | (uint32_t)state->frame) ^
				(uint32_t)state->saved);
	uint32_t found = hash_map_get(&analysis->by_state, key);
	if (found != HASH_MAP_NONE)
		return code_state_equal(&analysis->states[found], state) ? (uint16_t)(found + 1) : 0;
	if (analysis->state_count == STATES_MAX || !add_key(analysis, key))
		return 0;
	analysis->states[analysis->state_count] = *state;
	return (uint16_t)++analysis->state_count;
}

/* --- one function --- */

void code_add_start(struct code_analysis *analysis, uint64_t pc)
{
	struct code_gap *gap = code_gap_at(analysis, pc);
	if (!gap || gap->marks[pc - gap->start] & IS_START)
		return;
	if (ARRAY_RESERVE(analysis->starts, analysis->start_capacity, analysis->start_count + 1) < 0) {
		analysis->no_memory = true;
		return;
	}
	gap->marks[pc - gap->start] |= IS_START;
	analysis->starts[analysis->start_count++] = (uint32_t)pc;
}

static void add_work(struct code_analysis *analysis, uint32_t pc, const struct code_state *state)
{
	if (ARRAY_RESERVE(analysis->work, analysis->work_capacity, analysis->work_count + 1) < 0)
		analysis->no_memory = true;
	else
		analysis->work[analysis->work_count++] = (struct place){ .pc = pc, .state = *state };
}

static void add_followed(struct code_analysis *analysis, uint32_t pc)
{
	if (ARRAY_RESERVE(analysis->followed, analysis->followed_capacity, analysis->followed_count + 1) < 0)
		analysis->no_memory = true;
	else
		analysis->followed[analysis->followed_count++] = pc;
}

/* Returns whether the code may be the return from a signal handler, which has no caller by a return address. */
static bool is_sigreturn(const struct code_gap *gap, uint32_t pc)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
			     plain[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *code = gap->code + (pc - gap->start);
	size_t left = gap->end - pc;
	return (left >= sizeof(wide) && memcmp(code, wide, sizeof(wide)) == 0) ||
	       (left >= sizeof(plain) && memcmp(code, plain, sizeof(plain)) == 0);
}

static bool is_return(const uint8_t *code, size_t size)
{
	enum { RETURN = 0xc3, WITH_PREFIX = 2 };
	return code[size - 1] == RETURN && size <= WITH_PREFIX;
}

enum next { FOLLOW, STOP, REJECT };

/* A jump to an address: within the function, or to another one, which then returns to our caller. */
static bool jump(struct code_analysis *analysis, uint64_t target, const struct code_state *state)
{
	uint64_t pc = target - analysis->base;
	if (code_gap_at(analysis, pc)) {
		add_work(analysis, (uint32_t)pc, state);
		return true;
	}
	analysis->returns |= code_state_is_outside(state);
	return code_state_is_outside(state);
}

/* Returns whether a called function traps at once, as musl's __stack_chk_fail does. */
static bool never_returns(const struct code_analysis *analysis, uint64_t target)
{
	enum { INSTRUCTIONS_MAX = 4 };
	uint64_t pc = target - analysis->base;
	const struct code_gap *gap = code_gap_at(analysis, pc);
	for (int i = 0; gap && i < INSTRUCTIONS_MAX && pc < gap->end; i++) {
		struct instruction instruction;
		if (!code_decode(analysis, gap, pc, &instruction))
			return false;
		if (instruction.flow != INSTRUCTION_NEXT)
			return instruction.flow == INSTRUCTION_END &&
			       !is_return(gap->code + (pc - gap->start), instruction.bytes);
		pc += instruction.bytes;
	}
	return false;
}

/* A jump to an address in a register or in memory: to another function, or to a case of a table. */
static enum next jump_indirectly(struct code_analysis *analysis, const struct code_state *state, const uint8_t *code,
				 size_t size)
{
	enum { REGISTER_BITS = 0xc0 };
	if (!code_state_is_outside(state)) {
		analysis->jumps_by_table = true;
		analysis->at_table = *state;
	} else if (analysis->is_known_start && (code[size - 1] & REGISTER_BITS) == REGISTER_BITS) {
		analysis->returns =
			true; /* through the other function. Haskell's code jumps by memory, and never returns */
	}
	return STOP;
}

/* Continues behind an instruction. *pc is its own, and then the address of the next instruction. */
static enum next continue_behind(struct code_analysis *analysis, const struct instruction *instruction,
				 const struct code_state *state, const uint8_t *code, uint32_t *pc)
{
	*pc += instruction->bytes;
	if (instruction->takes_address)
		code_add_start(analysis, instruction->memory - analysis->base);
	switch (instruction->flow) {
	case INSTRUCTION_CALL:
		if (instruction->has_target)
			code_add_start(analysis, instruction->target - analysis->base);
		return instruction->has_target && never_returns(analysis, instruction->target) ? STOP : FOLLOW;
	case INSTRUCTION_BRANCH:
		return jump(analysis, instruction->target, state) ? FOLLOW : REJECT;
	case INSTRUCTION_JUMP:
		return jump(analysis, instruction->target, state) ? STOP : REJECT;
	case INSTRUCTION_INDIRECT:
		return jump_indirectly(analysis, state, code, instruction->bytes);
	case INSTRUCTION_END:
		if (!is_return(code, instruction->bytes))
			return STOP; /* a trap */
		analysis->returns = true;
		return code_state_is_outside(state) ? STOP : REJECT;
	default:
		return FOLLOW;
	}
}

/* Follows the code from one place on, up to its end or to code that was followed before. Returns
 * false to reject the function. */
static bool follow(struct code_analysis *analysis, struct place place)
{
	bool was_call = false;
	for (uint32_t pc = place.pc;;) {
		struct code_gap *gap = code_gap_at(analysis, pc);
		if (!gap || (pc != place.pc && gap->marks[pc - gap->start] & IS_START &&
			     (was_call || !code_state_is_outside(&place.state))))
			return was_call; /* a call that does not return */
		uint16_t *known = &gap->states[pc - gap->start];
		if (*known && !code_state_join(&place.state, &analysis->states[*known - 1]))
			return false;
		uint16_t number = number_of(analysis, &place.state);
		if (*known && *known == number)
			return true;
		struct instruction instruction;
		const uint8_t *code = gap->code + (pc - gap->start);
		if (!number || analysis->steps_left == 0 || is_sigreturn(gap, pc) ||
		    !code_decode(analysis, gap, pc, &instruction))
			return false;
		add_followed(analysis, pc);
		analysis->steps_left--;
		*known = number;
		struct stack_effect effect = arch_stack_effect(code, instruction.bytes);
		if (instruction.flow == INSTRUCTION_NEXT && !code_state_apply(&place.state, &effect))
			return false;
		was_call = instruction.flow == INSTRUCTION_CALL || (was_call && instruction.is_padding);
		enum next next = continue_behind(analysis, &instruction, &place.state, code, &pc);
		if (next != FOLLOW)
			return next == STOP;
	}
}

static void undo_from(struct code_analysis *analysis, size_t from)
{
	for (size_t i = from; i < analysis->followed_count; i++) {
		struct code_gap *gap = code_gap_at(analysis, analysis->followed[i]);
		gap->states[analysis->followed[i] - gap->start] = 0;
	}
	analysis->followed_count = from;
	analysis->work_count = 0;
}

static bool follow_all(struct code_analysis *analysis)
{
	while (analysis->work_count > 0)
		if (!follow(analysis, analysis->work[--analysis->work_count]))
			return false;
	return !analysis->no_memory;
}

/* Follows the cases of a jump by a table: code between the function's parts that nothing else
 * leads to. It has the state of the jump if that is consistent with all that follows. */
static void follow_cases(struct code_analysis *analysis)
{
	uint32_t first = UINT32_MAX, last = 0;
	for (size_t i = 0; i < analysis->followed_count; i++) {
		first = analysis->followed[i] < first ? analysis->followed[i] : first;
		last = analysis->followed[i] > last ? analysis->followed[i] : last;
	}
	struct code_gap *gap = code_gap_at(analysis, first);
	for (uint32_t pc = first; gap && pc < last && pc < gap->end;) {
		struct instruction instruction;
		if (!code_decode(analysis, gap, pc, &instruction))
			return;
		uint16_t *known = &gap->states[pc - gap->start];
		if (!*known && !instruction.is_padding) {
			size_t before = analysis->followed_count;
			struct code_state state = analysis->at_table;
			add_work(analysis, pc, &state);
			if (!follow_all(analysis))
				undo_from(analysis, before);
			if (!*known)
				return; /* other data or code */
		}
		pc += instruction.bytes;
	}
}

bool code_follow_function(struct code_analysis *analysis, uint32_t start)
{
	struct code_gap *gap = code_gap_at(analysis, start);
	uint8_t *marks = &gap->marks[start - gap->start];
	if (*marks & WAS_TRIED || gap->states[start - gap->start])
		return true;
	*marks |= WAS_TRIED;
	analysis->followed_count = analysis->work_count = 0;
	analysis->returns = analysis->jumps_by_table = false;
	analysis->is_known_start = *marks & IS_START;
	add_work(analysis, start, &code_state_start);
	bool is_function = follow_all(analysis);
	if (is_function && analysis->jumps_by_table)
		follow_cases(analysis);
	if (is_function && analysis->returns && !analysis->no_memory) {
		analysis->has_functions = true;
		return true;
	}
	undo_from(analysis, 0);
	return false;
}
