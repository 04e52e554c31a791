/*
 * The walk of a user stack by unwind rows (abi/unwind_row.h), where a sample is taken: in the kernel
 * (collect/sample/bpf/), or in the target (collect/agent/). The includer provides the functions that
 * are declared below.
 *
 * Invariants:
 *   1. `now` holds the registers of the frame that is stepped from; frames[0 .. count) are
 *      written, callers as return address - 1.
 *   2. Each step increases the stack pointer, or crosses a signal frame or leads to another stack; only a step out of a
 *      leaf may keep it (ARCH_LEAF_KEEPS_SP). Together with WALK_FRAMES, this bounds the walk.
 *   3. A walk never guesses. Where the rows give no answer it ends with the reason, and the
 *      monitor unwinds that stack by all its means.
 */
#ifndef COLLECT_SHARED_ROW_WALK_H
#define COLLECT_SHARED_ROW_WALK_H

#include "abi/code_table.h"
#include "abi/sample_record.h"
#include "abi/unwind_row.h"
#include "processor/lisp_row.h"
#include "processor/row_step.h"
#include "processor/thread_end.h"

struct walk {
	struct arch_frame now;
	uint64_t window_at; /* address of window[0] */
	uint32_t window_words;
	uint32_t is_caller;
	uint32_t from_lisp;  /* a row UNWIND_LISP led to `now` */
	uint32_t from_frame; /* a row UNWIND_FRAME did */
	uint32_t left_stack; /* enum walk_left */
	uint32_t count;
	uint32_t end;          /* enum walk_end; WALK_END_COUNT: not ended */
	uint32_t is_generated; /* it went through generated code */
	uint32_t notes_sp;     /* the stack pointer in each frame is wanted */
	uint32_t spare;
	struct walk_process process;
	struct walk_code code; /* of the last frame; start == end: none */
	uint64_t window[WALK_WINDOW_WORDS];
	uint64_t sps[WALK_FRAMES];    /* if notes_sp is not 0 */
	struct sample_record record;  /* the record that is written; it is followed by: */
	uint64_t frames[WALK_FRAMES]; /* ... its frames, or registers and stack */
};

/* Where a stack was deeper than WALK_FRAMES, the thread's next stacks are not walked for this time, but handed over. */
#define WALK_DEEP_LASTS_NS UINT64_C(200000000)

/* The functions that an includer may compile as functions of their own: the eBPF programs do,
 * because the verifier then checks each once, for any arguments, and so wants their pointers
 * tested. */
#ifndef WALK_FUNCTION
#define WALK_FUNCTION static inline
#endif

/* Whether a frame pointer has led from generated code to another stack, as where Erlang's code
 * calls C: only once in a walk, and only to generated code. */
enum walk_left { WALK_LEFT_NONE, WALK_LEFT_NOW, WALK_LEFT_BEFORE };

/* The includer provides: */

/* Copies `bytes` from the walked process. Returns 0 if they are readable. */
static inline int walk_copy(void *to, uint32_t bytes, uint64_t address);
/* Sets walk->code to the code at pc. Returns false if no code is known there. */
WALK_FUNCTION bool walk_find_code(struct walk *walk, uint64_t pc);
/* Finds the row in force at `pc`, relative to code.base. Returns false if `pc` is outside of all rows. */
WALK_FUNCTION bool walk_find_row(const struct walk *walk, uint32_t pc, struct unwind_row *row);
/* Returns whether a probe at a function's return has put its own address into the return slot `slot`. If
 * so, sets *pc to the original return address. */
WALK_FUNCTION bool walk_real_return(uint64_t slot, uint64_t *pc);
/* Returns the address at which the kernel began the stack of the process's first thread, or 0 if it is unknown. */
static inline uint64_t walk_stack_start(void);
/* Returns the thread pointer of the walked thread. */
static inline uint64_t walk_thread_pointer(void);

enum { WALK_WORD = 8 };

/* Reads one word of the stack and moves the window there. Returns false if it is not readable. */
WALK_FUNCTION bool walk_read_beyond(struct walk *walk, uint64_t address, uint64_t *value)
{
	if (!walk || !value)
		return false;
	if (walk_copy(walk->window, sizeof(walk->window), address) == 0) {
		walk->window_at = address;
		walk->window_words = WALK_WINDOW_WORDS;
		*value = walk->window[0];
		return true;
	}
	/* The window reaches beyond the stack's end. */
	walk->window_words = 0;
	return walk_copy(value, sizeof(*value), address) == 0;
}

/* Reads one word of the stack, in most cases from the window. Returns false if it is not readable. */
static inline bool walk_read(struct walk *walk, uint64_t address, uint64_t *value)
{
	uint64_t at = address - walk->window_at;
	if (at % WALK_WORD != 0 || at / WALK_WORD >= walk->window_words)
		return walk_read_beyond(walk, address, value);
	*value = walk->window[at / WALK_WORD % WALK_WINDOW_WORDS];
	return true;
}

static inline bool row_read(void *memory, uint64_t address, uint64_t *value)
{
	return walk_read(memory, address, value);
}

static inline bool walk_is_in_code(struct walk *walk, uint64_t pc);

/* Returns whether the leaf, in generated code, may not have made its frame yet or have none any
 * more: the word at sp is an address of code, or the caller's frame pointer, which has just been
 * pushed. */
static inline bool walk_may_lack_frame(struct walk *walk)
{
	uint64_t word;
	if (walk->is_caller || !walk_read(walk, walk->now.sp, &word))
		return false;
	const struct walk_code own = walk->code;
	bool may = word == walk->now.fp || walk_is_in_code(walk, word - 1);
	walk->code = own;
	return may;
}

/* The window of the stack stays. */
static inline bool row_read_beside(void *memory, uint64_t address, uint64_t *value)
{
	(void)memory;
	return walk_copy(value, sizeof(*value), address) == 0;
}

static inline bool row_read_goroutine(void *memory, int64_t offset, uint64_t *goroutine)
{
	return row_read_beside(memory, walk_thread_pointer() + (uint64_t)offset, goroutine) && *goroutine != 0;
}

/* Replaces a row UNWIND_LISP by that for the instruction. Returns false if memory was not readable. */
WALK_FUNCTION bool walk_lisp_row(struct walk *walk, struct arch_frame *frame, struct unwind_row *row)
{
	if (!walk || !frame || !row)
		return false;
	enum unwind_from from = !walk->is_caller  ? UNWIND_FROM_NONE
				: walk->from_lisp ? UNWIND_FROM_LISP
						  : UNWIND_FROM_OTHER;
	return lisp_row(walk, from, frame, row);
}

/* Applies a row. Returns how the walk ends, or WALK_END_COUNT. */
WALK_FUNCTION uint32_t walk_apply(struct walk *walk, struct unwind_row *row)
{
	if (!walk || !row)
		return WALK_NO_RULE;
	struct arch_frame caller = walk->now;
	bool is_lisp = row->kind == UNWIND_LISP;
	if (is_lisp && !walk_lisp_row(walk, &caller, row))
		return WALK_UNREADABLE;
	walk->from_lisp = is_lisp;
	if (row->kind == UNWIND_END)
		return WALK_ROOT;
	if (row->kind == UNWIND_SLOW)
		return WALK_SLOW;
	if (row->kind >= UNWIND_KINDS)
		return WALK_NO_RULE;
	if (row->kind == UNWIND_FRAME) {
		/* A runtime that keeps frame pointers marks its outermost frame by 0, as the ABI does. */
		if (walk->is_caller && walk->from_frame && walk->now.fp == 0)
			return WALK_ROOT;
		walk->is_generated = 1;
		if (walk_may_lack_frame(walk))
			return WALK_NO_FRAME;
	}
	if (!row_step(row, walk, &caller))
		return WALK_UNREADABLE;
	bool is_signal = row->kind == UNWIND_SIGNAL;
	bool keeps = ARCH_LEAF_KEEPS_SP && !walk->is_caller && caller.sp == walk->now.sp;
	bool switches = is_signal || unwind_leaves_stack(row->kind);
	if (!switches && !keeps && caller.sp <= walk->now.sp) {
		if (row->kind != UNWIND_FRAME || !walk->is_caller || walk->left_stack != WALK_LEFT_NONE)
			return WALK_NO_PROGRESS;
		walk->left_stack = WALK_LEFT_NOW;
	}
	/* Behind the innermost function it may as well be a wrong rule: LuaJIT's interpreter calls itself. */
	if (caller.pc == 0 && !walk->is_caller && !switches)
		return WALK_NO_CALLER;
	walk->from_frame = row->kind == UNWIND_FRAME;
	walk->now = caller;
	walk->is_caller = !is_signal;
	return caller.pc == 0 ? WALK_ROOT : WALK_END_COUNT;
}

/* Returns whether pc is in known code. The last frame's code is tested first, because most calls stay in
 * their module. */
static inline bool walk_is_in_code(struct walk *walk, uint64_t pc)
{
	return (pc >= walk->code.start && pc < walk->code.end) || walk_find_code(walk, pc);
}

static inline bool walk_ends_thread(uint64_t pc)
{
	uint64_t code[2] = { 0 };
	return walk_copy(code, sizeof(code), pc) == 0 && code_ends_thread(code[0], (uint16_t)code[1]);
}

/* Returns whether a caller without a rule is the first frame of a thread: its code ends the thread, or so does the code that it returns to. In musl, a
 * function without a return lies between the function of a thread and that code. */
WALK_FUNCTION bool walk_begins_thread(struct walk *walk)
{
	if (!walk)
		return false;
	if (walk_ends_thread(walk->now.pc))
		return true;
	for (uint32_t i = 0; i < UNWIND_START_WORDS; i++) {
		uint64_t word;
		if (!walk_read(walk, walk->now.sp + i * sizeof(word), &word))
			return false;
		if (walk_ends_thread(word))
			return true;
	}
	return false;
}

/* Returns whether a caller without a rule is the outermost frame: it begins a thread, or it is start code and not the return from a signal
 * handler. */
static inline bool walk_is_outermost(struct walk *walk)
{
	uint64_t code = 0;
	if (walk_copy(&code, sizeof(code), walk->now.pc) != 0 || row_is_sigreturn(code))
		return false;
	return unwind_is_start_code(walk->now.sp, walk_stack_start()) || walk_begins_thread(walk);
}

/* Writes frame number `index` and steps to its caller. Returns how the walk ends, or WALK_END_COUNT. */
WALK_FUNCTION uint32_t walk_step(struct walk *walk, uint32_t index)
{
	if (!walk)
		return WALK_NO_CODE;
	uint64_t pc = walk->now.pc - walk->is_caller;
	struct unwind_row row = {};
	if (!walk_is_in_code(walk, pc)) {
		if (!walk->is_caller || !walk_real_return(walk->now.sp - WALK_WORD, &walk->now.pc))
			return WALK_NO_CODE;
		pc = walk->now.pc - 1;
		if (!walk_is_in_code(walk, pc))
			return WALK_NO_CODE;
	}
	if (walk->code.row_count == 0)
		return WALK_NO_ROWS;
	uint32_t at = (uint32_t)(pc - walk->code.base);
	bool found = walk_find_row(walk, at, &row);
	if (walk->left_stack == WALK_LEFT_NOW) {
		if (!found || row.kind != UNWIND_FRAME)
			return WALK_NO_PROGRESS;
		walk->left_stack = WALK_LEFT_BEFORE;
	}
	if (walk->is_caller && (!found || row.kind == UNWIND_NO_RULE)) {
		/* A return address that was not pushed by a call may be the start of a function:
		 * makecontext writes such addresses. */
		found = walk_find_row(walk, at + 1, &row) && row.pc == at + 1 && row.kind != UNWIND_NO_RULE;
		pc += found;
	} else if (walk->is_caller && row.kind == UNWIND_SIGNAL) {
		pc++; /* the kernel returns to the start of that code; no call precedes it */
	}
	walk->frames[index % WALK_FRAMES] = pc;
	if (walk->notes_sp)
		walk->sps[index % WALK_FRAMES] = walk->now.sp;
	walk->count = index + 1;
	if (!found || row.kind == UNWIND_NO_RULE)
		return walk->is_caller && walk_is_outermost(walk) ? WALK_ROOT : WALK_NO_RULE;
	return walk_apply(walk, &row);
}

#endif
