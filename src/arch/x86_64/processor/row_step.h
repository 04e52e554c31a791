/*
 * The equations of compact unwind rows, for walks in user space, in the target and in the kernel. The includer
 * provides row_read.
 *
 *   UNWIND_SP        CFA = rsp + 8 * cfa
 *   UNWIND_FP        CFA = rbp + 8 * cfa
 *   UNWIND_FRAME     the same
 *   UNWIND_FP_DEREF  CFA = *(rbp + 8 * cfa), caller's rbp = *rbp: gcc's realigned stack (DRAP)
 *   UNWIND_PLT       CFA = rsp + 8 * cfa + ((rip & 15) >= fp ? 8 : 0); rbp unchanged
 *   UNWIND_SIGNAL    all registers are in the ucontext at rsp + 8 * cfa
 *   UNWIND_SWITCH    CFA = 8 + *(rsp + 8 * cfa) or, if fp is not 0 and g = *(rsp + 8 * fp) is not 0, 8 + *(g + 8) -
 *                    *(rsp + 8 * cfa): Go saves the distance from the end of goroutine g's stack, which may be moved
 *
 * The return address is at CFA - 8 and the caller's rsp is the CFA. UNWIND_SP, UNWIND_FP and UNWIND_FRAME: the caller's rbp is at
 * CFA + 8 * fp, or unchanged if fp is 0.
 */
#ifndef ARCH_X86_64_PROCESSOR_ROW_STEP_H
#define ARCH_X86_64_PROCESSOR_ROW_STEP_H

#include "abi/unwind_row.h"
#include "processor/registers.h"

/* Provided by the includer: reads the word at an address. Returns false if it is not readable. The declaration lets
 * this header compile alone. */
// NOLINTNEXTLINE(readability-redundant-declaration)
static inline bool row_read(void *memory, uint64_t address, uint64_t *value);

/*
 * struct ucontext: uc_flags, uc_link, uc_stack (3 words), then uc_mcontext.gregs:
 *   r8 40, r9 48, ... r15 96, rdi 104, rsi 112, rbp 120, rbx 128, rdx 136,
 *   rax 144, rcx 152, rsp 160, rip 168
 */
enum { ROW_WORD = 8, GOROUTINE_STACK_END = 8, UCONTEXT_RBP = 120, UCONTEXT_RSP = 160, UCONTEXT_RIP = 168 };

/* Finds the CFA of a UNWIND_SWITCH row. Returns false if memory was not readable. */
static inline bool row_switched_cfa(const struct unwind_row *row, void *memory, uint64_t sp, uint64_t *cfa)
{
	uint64_t saved, goroutine = 0, end;
	if (!row_read(memory, sp + (uint64_t)((int64_t)row->cfa * ROW_WORD), &saved) ||
	    (row->fp != 0 && !row_read(memory, sp + (uint64_t)((int64_t)row->fp * ROW_WORD), &goroutine)))
		return false;
	if (goroutine != 0) {
		if (!row_read(memory, goroutine + GOROUTINE_STACK_END, &end))
			return false;
		saved = end - saved;
	}
	*cfa = saved + ROW_WORD;
	return true;
}

/* Steps to the caller by a row of the kinds above. Returns false if memory was not readable; the frame is unchanged
 * then. */
static inline bool row_step(const struct unwind_row *row, void *memory, struct arch_frame *frame)
{
	uint64_t offset = (uint64_t)((int64_t)row->cfa * ROW_WORD);
	uint64_t cfa, rip, rbp = frame->fp;
	switch (row->kind) {
	case UNWIND_SP:
		cfa = frame->sp + offset;
		break;
	case UNWIND_FP:
	case UNWIND_FRAME:
		cfa = frame->fp + offset;
		break;
	case UNWIND_FP_DEREF:
		if (!row_read(memory, frame->fp + offset, &cfa) || !row_read(memory, frame->fp, &rbp))
			return false;
		break;
	case UNWIND_PLT:
		cfa = frame->sp + offset + ((frame->pc & 15) >= (uint8_t)row->fp ? ROW_WORD : 0);
		break;
	case UNWIND_SWITCH:
		if (!row_switched_cfa(row, memory, frame->sp, &cfa))
			return false;
		break;
	default: /* UNWIND_SIGNAL */
		offset += frame->sp;
		if (!row_read(memory, offset + UCONTEXT_RBP, &rbp) || !row_read(memory, offset + UCONTEXT_RSP, &cfa) ||
		    !row_read(memory, offset + UCONTEXT_RIP, &rip))
			return false;
		*frame = (struct arch_frame){ .pc = rip, .sp = cfa, .fp = rbp };
		return true;
	}
	/* Reads the lower one first, so that one copy of a part of the stack contains both. */
	if ((row->kind == UNWIND_SP || row->kind == UNWIND_FP || row->kind == UNWIND_FRAME) && row->fp != 0 &&
	    !row_read(memory, cfa + (uint64_t)((int64_t)row->fp * ROW_WORD), &rbp))
		return false;
	if (!row_read(memory, cfa - ROW_WORD, &rip))
		return false;
	*frame = (struct arch_frame){ .pc = rip, .sp = cfa, .fp = rbp };
	return true;
}

/* Returns whether the 8 bytes at a pc begin a C library's return from a signal handler, which may lack rules (musl's
 * does): mov $15 to rax or eax, then syscall. */
static inline bool row_is_sigreturn(uint64_t code)
{
	return code == 0x0f0000000fc0c748 || (code & 0xffffffffffffff) == 0x50f0000000fb8;
}

#endif
