/*
 * Compact unwind rows: how to find the caller for each pc of a module.
 *
 * A row is 8 bytes and applies from its pc up to the next row's:
 *
 *    byte  0        4        6      7
 *         +--------+--------+------+------+
 *         |   pc   |   cfa  | kind |  fp  |
 *         +--------+--------+------+------+
 *          u32      s16      u8     s8
 *
 *   pc    ELF virtual address minus the table's base
 *   cfa   offset in units of 8 bytes, or an index (see the kinds)
 *   kind  enum unwind_kind: the equation
 *   fp    a number of the equation: where the caller's fp is
 *
 * The caller's sp is the CFA, except behind a signal frame or on another stack. The processor's row_step.h has the equations in full:
 * where the return address and the caller's fp are. The monitor compiles the rows (unwind/); the eBPF programs and
 * the agent walk with them.
 */
#ifndef ABI_UNWIND_ROW_H
#define ABI_UNWIND_ROW_H

#include "abi/integers.h"

/* The version of struct unwind_row and of its kinds. The channel contains it (abi/channel.h). */
enum { UNWIND_ROW_VERSION = 6 };

enum unwind_kind {
	UNWIND_NO_RULE = 0,  /* a gap: no unwind information for these addresses */
	UNWIND_SP = 1,       /* CFA = sp + 8 * cfa */
	UNWIND_FP = 2,       /* CFA = fp + 8 * cfa */
	UNWIND_FP_DEREF = 3, /* CFA = *(fp + 8 * cfa), and fp is saved in the realigned frame */
	UNWIND_PLT = 4,      /* a PLT entry: CFA = sp + 8 * cfa, or more from some offset in the entry on */
	UNWIND_SIGNAL = 5,   /* a signal frame: all registers are in the ucontext at sp + 8 * cfa */
	UNWIND_END = 6,      /* the return address is undefined: the outermost frame */
	UNWIND_SLOW = 7,     /* none of these fits: evaluate the CFI of this pc in full (unwind/cfi.h) */
	UNWIND_SWITCH = 8,   /* a call from another stack, by Go's runtime: the caller's sp is saved at sp + 8 * cfa */
	UNWIND_FRAME =
		9, /* code that a run-time compiler generated: as UNWIND_FP, if the code has a frame at this pc */
	UNWIND_LISP = 10,      /* code that SBCL compiled: the row depends on the instruction (processor/lisp_row.h) */
	UNWIND_GOROUTINE = 11, /* Go's runtime has left the stack of the goroutine that runs on the thread */
	UNWIND_GROWING = 12,   /* the same, where a function's start has done so because the stack is full */
	UNWIND_CLOCK = 13,     /* Go's runtime reads a clock: it may do so on the thread's stack, too */
	UNWIND_CALLBACK = 14,  /* C has called Go back, and Go's runtime has left the stack of that C */
	UNWIND_KINDS = 15,
};

/* How a walk came to a frame: it is the innermost or was interrupted, it called code of a row UNWIND_LISP, or other code. */
enum unwind_from { UNWIND_FROM_NONE, UNWIND_FROM_LISP, UNWIND_FROM_OTHER };

/* Returns whether the caller of a row is on another stack than its callee. */
static inline int unwind_leaves_stack(uint8_t kind)
{
	return kind == UNWIND_SWITCH || kind == UNWIND_GOROUTINE || kind == UNWIND_GROWING || kind == UNWIND_CLOCK ||
	       kind == UNWIND_CALLBACK;
}

struct unwind_row {
	uint32_t pc;
	int16_t cfa;
	uint8_t kind;
	int8_t fp;
};
/* Start code without rules has at most so many words on the stack: musl's takes 48 bytes above main's CFA, and its function that calls the
 * function of a thread 32. */
enum { UNWIND_START_WORDS = 8 };

/* Returns nonzero if a caller with this stack pointer is start code: so close to the address where the kernel began the
 * stack of the first thread (0: unknown) that only start code has room there. */
static inline int unwind_is_start_code(uint64_t sp, uint64_t stack_start)
{
	return sp <= stack_start && stack_start - sp <= UNWIND_START_WORDS * sizeof(uint64_t);
}

_Static_assert(sizeof(struct unwind_row) == 8, "another layout needs another UNWIND_ROW_VERSION");

#endif
