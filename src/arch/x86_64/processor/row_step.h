/*
 * The equations of compact unwind rows, for walks in user space, in the target and in the kernel. The includer
 * provides the functions that are declared below.
 *
 *   UNWIND_SP        CFA = rsp + 8 * cfa
 *   UNWIND_FP        CFA = rbp + 8 * cfa
 *   UNWIND_FRAME     the same
 *   UNWIND_FP_DEREF  CFA = *(rbp + 8 * cfa), caller's rbp = *rbp: gcc's realigned stack (DRAP)
 *   UNWIND_PLT       CFA = rsp + 8 * cfa + ((rip & 15) >= fp ? 8 : 0); rbp unchanged
 *   UNWIND_SIGNAL    all registers are in the ucontext at rsp + 8 * cfa
 *   UNWIND_SWITCH    CFA = 8 + *(rsp + 8 * cfa) or, if fp is not 0 and g = *(rsp + 8 * fp) is not 0, 8 + *(g + 8) -
 *                    *(rsp + 8 * cfa): Go saves the distance from the end of goroutine g's stack, which may be moved
 *   UNWIND_GOROUTINE CFA = 8 + c.sched.sp, where g = *(fs + 8 * fp) is the present goroutine, m = g.m the thread, and c = *(m + 8 * cfa)
 *                    the goroutine that runs on it. rsp must be where the thread's own stack begins: m.g0.sched.sp
 *   UNWIND_GROWING   the same, but CFA = c.sched.sp, rip = c.sched.pc; without c there is no caller
 *   UNWIND_CLOCK     CFA = *(m + 8 * cfa), where Go stores it for its own walks; rsp must be in the thread's own stack
 *   UNWIND_CALLBACK  CFA = s + 8 * cfa, caller's rbp = *(CFA - 16), where s is m.g0.sched.sp, or the word there, and so on: each call of
 *                    Go by C has stored the s of the call around it at its own s. It is the s whose two arguments, from the CFA on, are
 *                    those at rsp
 *
 * The return address is at CFA - 8 and the caller's rsp is the CFA. UNWIND_SP, UNWIND_FP and
 * UNWIND_FRAME: the caller's rbp is at CFA + 8 * fp, or unchanged if fp is 0.
 */
#ifndef ARCH_X86_64_PROCESSOR_ROW_STEP_H
#define ARCH_X86_64_PROCESSOR_ROW_STEP_H

#include "abi/unwind_row.h"
#include "processor/registers.h"

/* Provided by the includer: read a word of the stack, and of other memory; and Go's present
 * goroutine, whose address is `offset` bytes from the thread pointer. They return false if it is
 * not readable or not known. The declarations let this header compile alone. */
// NOLINTBEGIN(readability-redundant-declaration)
static inline bool row_read(void *memory, uint64_t address, uint64_t *value);
static inline bool row_read_beside(void *memory, uint64_t address, uint64_t *value);
static inline bool row_read_goroutine(void *memory, int64_t offset, uint64_t *goroutine);
// NOLINTEND(readability-redundant-declaration)

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

/*
 * Go's struct g since Go 1.5: stack {lo 0, hi 8}, two limits, _panic, _defer, m 48, sched {sp 56,
 * pc 64, ...}; and struct m: g0 0, the goroutine whose stack is the thread's own. A goroutine that
 * leaves its stack stores where it left it in sched.
 */
enum { GOROUTINE_M = 48, GOROUTINE_SP = 56, GOROUTINE_PC = 64 };

/*
 * Steps from runtime.cgocallback, on the goroutine's stack, to the C code that called it, on the thread's own. The second argument is the
 * address of a variable of that C code, which is another one in each call that has not returned. Returns false if the call is not found;
 * the frame is unchanged then.
 */
static inline bool row_callback_step(const struct unwind_row *row, void *memory, uint64_t s, struct arch_frame *frame)
{
	enum { CALLBACKS_MAX = 16 };
	uint64_t cfa, before, pc, fp, word, function, argument;
	if (!row_read_beside(memory, frame->sp, &function) || !row_read_beside(memory, frame->sp + ROW_WORD, &argument))
		return false;
	for (int i = 0; i < CALLBACKS_MAX; i++) {
		cfa = s + (uint64_t)((int64_t)row->cfa * ROW_WORD);
		if (!row_read_beside(memory, cfa + ROW_WORD, &word))
			return false;
		if (word == argument)
			break;
		if (!row_read_beside(memory, s, &before) || before <= s)
			return false;
		s = before;
	}
	if (word != argument || !row_read_beside(memory, cfa, &word) || word != function ||
	    !row_read_beside(memory, cfa - 2 * ROW_WORD, &fp) || !row_read_beside(memory, cfa - ROW_WORD, &pc) ||
	    pc == 0)
		return false;
	*frame = (struct arch_frame){ .pc = pc, .sp = cfa, .fp = fp };
	return true;
}

/* Steps to the goroutine that runs on this thread. Returns false if it is not known; the frame is unchanged then. */
static inline bool row_goroutine_step(const struct unwind_row *row, void *memory, struct arch_frame *frame)
{
	uint64_t present, thread, own, own_thread, own_sp, word, sp, pc = 0;
	if (!row_read_goroutine(memory, (int64_t)row->fp * ROW_WORD, &present) ||
	    !row_read_beside(memory, present + GOROUTINE_M, &thread) || !row_read_beside(memory, thread, &own) ||
	    !row_read_beside(memory, own + GOROUTINE_M, &own_thread) || own_thread != thread ||
	    !row_read_beside(memory, own + GOROUTINE_SP, &own_sp))
		return false;
	if (row->kind == UNWIND_CALLBACK)
		return row_callback_step(row, memory, own_sp, frame);
	if (!row_read_beside(memory, thread + (uint64_t)((int64_t)row->cfa * ROW_WORD), &word))
		return false;
	if (row->kind == UNWIND_CLOCK) {
		if (word < ROW_WORD || frame->sp > own_sp || !row_read_beside(memory, word - ROW_WORD, &pc) || pc == 0)
			return false;
		*frame = (struct arch_frame){ .pc = pc, .sp = word, .fp = frame->fp };
		return true;
	}
	bool grows = row->kind == UNWIND_GROWING;
	if (own_sp != frame->sp)
		return false;
	if (grows && word == 0) { /* the goroutine gave the thread up */
		frame->pc = 0;
		return true;
	}
	if (word == 0 || !row_read_beside(memory, word + GOROUTINE_SP, &sp) || sp == 0 ||
	    !row_read_beside(memory, grows ? word + GOROUTINE_PC : sp, &pc) || pc == 0)
		return false;
	*frame = (struct arch_frame){ .pc = pc, .sp = grows ? sp : sp + ROW_WORD, .fp = frame->fp };
	return true;
}

/* Steps to the caller by a row of the kinds above. Returns false if memory was not readable; the frame is unchanged
 * then. */
static inline bool row_step(const struct unwind_row *row, void *memory, struct arch_frame *frame)
{
	uint64_t offset = (uint64_t)((int64_t)row->cfa * ROW_WORD);
	uint64_t cfa, rip, rbp = frame->fp;
	switch (row->kind) {
	case UNWIND_GOROUTINE:
	case UNWIND_GROWING:
	case UNWIND_CLOCK:
	case UNWIND_CALLBACK:
		return row_goroutine_step(row, memory, frame);
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
