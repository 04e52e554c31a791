/*
 * The row for a pc in code that SBCL compiled (UNWIND_LISP). Each function keeps a frame pointer,
 * but a call takes several instructions, and one sees between them (SBCL's
 * src/compiler/x86-64/call.lisp):
 *
 *   caller   mov %rbp, (%rsp)     stores its frame pointer in the callee's frame, which begins at rsp
 *            mov %rsp, %rbp       or from another register
 *            call callee          here rbp is the callee's already, which has no return address
 *   callee   pop 8(%rbp)          here the return address is still at rsp
 *            ...                  the normal case: caller's rbp at rbp, return address at rbp + 8
 *            pop %rbp
 *            ret                  here the return address is at rsp, and rbp is the caller's
 *
 * The runtime's routines in assembler have no frame: they are called with the rbp of their caller.
 * Those that call others make a usual frame (push %rbp; mov %rsp, %rbp). C functions call Lisp back
 * through wrappers, which keep arguments above their saved rbp.
 */
#ifndef ARCH_X86_64_PROCESSOR_LISP_ROW_H
#define ARCH_X86_64_PROCESSOR_LISP_ROW_H

#include "abi/unwind_row.h"
#include "processor/registers.h"

/* Provided by the includer: read a word of the stack, and of other memory. They return false if these are not readable. */
// NOLINTBEGIN(readability-redundant-declaration)
static inline bool row_read(void *memory, uint64_t address, uint64_t *value);
static inline bool row_read_beside(void *memory, uint64_t address, uint64_t *value);
// NOLINTEND(readability-redundant-declaration)

/* Instructions: a function's first instruction, and the first instruction of the stubs by which a function's name and
 * foreign functions are called. */
enum { POP_RETURN = 0x08458f, JUMP_BY_SLOT = 0x25ff };

static const struct unwind_row lisp_normal = { .cfa = 2, .kind = UNWIND_FP, .fp = -2 };
static const struct unwind_row lisp_frameless = { .cfa = 1, .kind = UNWIND_SP };
static const struct unwind_row lisp_pushed = { .cfa = 2, .kind = UNWIND_SP, .fp = -2 };

/* mov %rsp, %rbp, in both encodings. */
static inline bool lisp_sets_fp(uint64_t code)
{
	return (code & 0xffffff) == 0xec8b48 || (code & 0xffffff) == 0xe58948;
}

/* mov REGISTER, %rbp, as SBCL encodes it: 48 or 49, 8b, e8 to ef. */
static inline bool lisp_takes_fp(uint64_t code)
{
	return (code & 0xf8fffe) == 0xe88b48;
}

/* Returns whether rbp is the frame pointer of a callee that is about to be called. `before`: the 8 bytes before the pc. */
static inline bool lisp_is_prepared(uint64_t before)
{
	enum { PUSH_RBP = 0x55, MOV_TO_EAX = 0xb8 };
	if (lisp_takes_fp(before >> 40))
		return (before >> 32 & 0xff) != PUSH_RBP;
	return lisp_takes_fp(before) && (before >> 24 & 0xff) == MOV_TO_EAX; /* its operand is the function to call */
}

/* Returns whether the word at rsp is the return address of a call that has just been made, or of
 * a routine that has no frame. */
enum lisp_call { LISP_NO_CALL, LISP_ENTERED, LISP_IN_ROUTINE };
static inline enum lisp_call lisp_call_at(void *memory, uint64_t pc, uint64_t return_address)
{
	enum { ROUTINE_BYTES = 1024 };
	uint64_t call, target, code;
	if (!row_read_beside(memory, return_address - 8, &call))
		return LISP_NO_CALL;
	if ((call >> 8 & 0xffffff) == 0x2514ff) { /* call *address: of a routine, by the runtime's table */
		if (!row_read_beside(memory, call >> 32, &target))
			return LISP_NO_CALL;
	} else if ((call >> 24 & 0xff) == 0xe8) { /* call address */
		target = return_address + (uint64_t)(int64_t)(int32_t)(call >> 32);
		if (target == pc)
			return lisp_takes_fp(call) ? LISP_ENTERED : LISP_IN_ROUTINE;
	} else if ((call >> 8 & 0xff) == 0xb8 && call >> 48 == 0xd0ff) { /* mov $address, %eax; call *%rax */
		target = call >> 16 & 0xffffffff;
		return target == pc ? LISP_ENTERED : LISP_NO_CALL;
	} else {
		return LISP_NO_CALL;
	}
	if (pc - target >= ROUTINE_BYTES || !row_read_beside(memory, target, &code))
		return LISP_NO_CALL;
	return (code & 0xffffff) == POP_RETURN || (code & 0xffff) == JUMP_BY_SLOT ? LISP_NO_CALL : LISP_IN_ROUTINE;
}

/* Where rbp is the callee's, which has no return address yet or has it at rsp: takes the caller's. */
static inline bool lisp_use_outer_fp(void *memory, struct arch_frame *frame)
{
	return row_read(memory, frame->fp, &frame->fp);
}

static inline bool lisp_leaf_row(void *memory, struct arch_frame *frame, struct unwind_row *row)
{
	enum { RET = 0xc3, CLC_RET = 0xc3f8, PUSH_RBP = 0x55 };
	uint64_t before, code, word;
	if (!row_read_beside(memory, frame->pc - 8, &before) || !row_read_beside(memory, frame->pc, &code))
		return false;
	*row = lisp_frameless;
	if ((code & 0xff) == RET || (code & 0xffff) == CLC_RET ||
	    ((code & 0xff) == PUSH_RBP && lisp_sets_fp(code >> 8)))
		return true;
	if ((code & 0xffffff) == POP_RETURN)
		return lisp_use_outer_fp(memory, frame);
	if (lisp_sets_fp(code) && before >> 56 == PUSH_RBP) {
		*row = lisp_pushed;
		return true;
	}
	enum lisp_call call = LISP_NO_CALL;
	if (!lisp_is_prepared(before) && row_read(memory, frame->sp, &word))
		call = lisp_call_at(memory, frame->pc, word);
	if (call == LISP_IN_ROUTINE)
		return true;
	if (call == LISP_ENTERED)
		return lisp_use_outer_fp(memory, frame);
	if ((code & 0xffff) == JUMP_BY_SLOT)
		return true;
	*row = lisp_normal;
	return lisp_is_prepared(before) ? lisp_use_outer_fp(memory, frame) : true;
}

/* A wrapper returns by: mov %rbp, %rsp; pop %rbp; mov (%rsp), %rax or movq (%rsp), %xmm0; add $bytes, %rsp; ret. */
static inline bool lisp_caller_row(void *memory, const struct arch_frame *frame, struct unwind_row *row)
{
	enum { LEAVE = 0x5de58b48, WORD = 8 };
	uint64_t code, rest;
	if (!row_read_beside(memory, frame->pc, &code) || !row_read_beside(memory, frame->pc + 8, &rest))
		return false;
	if ((code & 0xffffffff) == LEAVE && (rest & 0xffffff) == 0xc48348 && (rest >> 32 & 0xff) == 0xc3) {
		uint8_t words = (uint8_t)((rest >> 24 & 0xff) / WORD + 2);
		*row = (struct unwind_row){ .cfa = words, .kind = UNWIND_FP, .fp = (int8_t)-words };
	}
	return true;
}

/* Sets the row of a kind with an equation that steps from this frame, whose fp is adapted to it.
 * Returns false if memory was not readable. */
static inline bool lisp_row(void *memory, enum unwind_from from, struct arch_frame *frame, struct unwind_row *row)
{
	*row = lisp_normal;
	if (from == UNWIND_FROM_NONE)
		return lisp_leaf_row(memory, frame, row);
	return from == UNWIND_FROM_LISP || lisp_caller_row(memory, frame, row);
}

#endif
