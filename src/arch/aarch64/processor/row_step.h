/*
 * The equations of compact unwind rows, for a walk in user space, in the target
 * or in the kernel: the includer provides row_read.
 *
 *   UNWIND_SP      base = sp, CFA = sp + 8 * cfa
 *   UNWIND_FP      base = x29, CFA = x29 + 8 * cfa
 *   UNWIND_FRAME   the same
 *     fp >= 0      the caller's x29 is at base + 8 * fp and the return address right
 *                  behind it: a frame record (Procedure Call Standard, 6.4.6)
 *     fp < 0       nothing is saved: the return address is in x30, x29 is unchanged
 *   UNWIND_SIGNAL  all registers are in the ucontext at sp + 8 * cfa
 *
 * The caller's sp is the CFA. Records count from base, not from the CFA: they lie at
 * a frame's lower end, and frames may be large.
 */
#ifndef ARCH_AARCH64_PROCESSOR_ROW_STEP_H
#define ARCH_AARCH64_PROCESSOR_ROW_STEP_H

#include "abi/unwind_row.h"
#include "processor/registers.h"

/* Provided by the includer: reads the word at an address. Returns false if it is not readable. The declaration lets
 * this header compile alone. */
// NOLINTNEXTLINE(readability-redundant-declaration)
static inline bool row_read(void *memory, uint64_t address, uint64_t *value);

enum { ROW_WORD = 8, ROW_IN_REGISTERS = -1 };

/*
 * struct ucontext: uc_flags, uc_link, uc_stack (3 words), uc_sigmask (8 bytes of 128),
 * then, aligned to 16, uc_mcontext: fault_address, x0 to x30, sp, pc, pstate
 */
enum { UCONTEXT_X0 = 184, UCONTEXT_FP = 416, UCONTEXT_LR = 424, UCONTEXT_SP = 432, UCONTEXT_PC = 440 };

/* If the processor signs return addresses, the signature is in their upper bits. */
enum { ROW_ADDRESS_BITS = 48 };

static inline uint64_t row_code_address(uint64_t value)
{
	return value & ((UINT64_C(1) << ROW_ADDRESS_BITS) - 1);
}

static inline bool row_signal_step(uint64_t ucontext, void *memory, struct arch_frame *frame)
{
	struct arch_frame interrupted;
	if (!row_read(memory, ucontext + UCONTEXT_FP, &interrupted.fp) ||
	    !row_read(memory, ucontext + UCONTEXT_LR, &interrupted.lr) ||
	    !row_read(memory, ucontext + UCONTEXT_SP, &interrupted.sp) ||
	    !row_read(memory, ucontext + UCONTEXT_PC, &interrupted.pc))
		return false;
	*frame = interrupted;
	return true;
}

/* Steps to the caller by a row of the kinds above. Returns false if memory was not readable; the frame is then
 * unchanged. */
static inline bool row_step(const struct unwind_row *row, void *memory, struct arch_frame *frame)
{
	uint64_t offset = (uint64_t)((int64_t)row->cfa * ROW_WORD);
	uint64_t base = row->kind == UNWIND_FP || row->kind == UNWIND_FRAME ? frame->fp : frame->sp;
	uint64_t fp = frame->fp, pc = frame->lr;
	if (row->kind == UNWIND_SIGNAL)
		return row_signal_step(base + offset, memory, frame);
	if (row->fp != ROW_IN_REGISTERS) {
		uint64_t record = base + (uint64_t)((int64_t)row->fp * ROW_WORD);
		if (!row_read(memory, record, &fp) || !row_read(memory, record + ROW_WORD, &pc))
			return false;
	}
	pc = row_code_address(pc);
	*frame = (struct arch_frame){ .pc = pc, .sp = base + offset, .fp = fp, .lr = pc };
	return true;
}

/* Returns whether the 8 bytes at a pc begin the return from a signal handler: mov x8, #139; svc #0. */
static inline bool row_is_sigreturn(uint64_t code)
{
	return code == 0xd4000001d2801168;
}

#endif
