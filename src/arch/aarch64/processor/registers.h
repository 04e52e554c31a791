/* The registers of a walk, by their DWARF numbers. */
#ifndef ARCH_AARCH64_PROCESSOR_REGISTERS_H
#define ARCH_AARCH64_PROCESSOR_REGISTERS_H

#include "abi/integers.h"

/* 0 to 30: x0 to x30; 31: sp; 32: pc. x29 is the frame pointer. x30 is the link register, in which a call leaves
 * the return address; it is also the return address's column (DWARF for the Arm 64-bit Architecture, 4.1). */
enum {
	ARCH_FP_REGISTER = 29,
	ARCH_LR_REGISTER = 30,
	ARCH_SP_REGISTER = 31,
	ARCH_PC_REGISTER = 32,
	ARCH_REGISTERS = 33
};

struct arch_registers {
	uint64_t value[ARCH_REGISTERS];
};

/* The registers that compact rows follow. In a caller's frame, lr still contains the address at which the frame
 * continues. */
struct arch_frame {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t lr;
};

enum {
	ARCH_FOLLOWS_CODE = 0,  /* arch_stack_effect knows no instruction */
	ARCH_LEAF_KEEPS_SP = 1, /* a call pushes nothing: a leaf and its caller may have the same sp */
	ARCH_CLONE_STACK = 1,   /* the register in which clone(2) and clone3(2) get the new stack or its size: x1 */
	ARCH_SIGNAL_WORDS = 16, /* from sp in a signal's return code to its ucontext: a siginfo_t */
	ARCH_FRAME_CFA = 2,     /* cfa and fp of the row of a frame with a frame pointer */
	ARCH_FRAME_FP = 0,
	ARCH_RETURN_GUESSES = 1,      /* positions that arch_guess_return tries */
	ARCH_GOROUTINE_REGISTER = 28, /* Go keeps the present goroutine in x28 */
	ARCH_CALL_BYTES = 4,          /* length of the longest call instruction */
	ARCH_SYSTEM_CALL_BYTES = 4    /* length of the instruction that enters the kernel */
};

static inline struct arch_frame arch_frame_of(const struct arch_registers *registers)
{
	return (struct arch_frame){ .pc = registers->value[ARCH_PC_REGISTER],
				    .sp = registers->value[ARCH_SP_REGISTER],
				    .fp = registers->value[ARCH_FP_REGISTER],
				    .lr = registers->value[ARCH_LR_REGISTER] };
}

/* Writes the frame's registers into *registers. Returns their set: bit n is register n. */
static inline uint64_t arch_frame_put(const struct arch_frame *frame, struct arch_registers *registers)
{
	registers->value[ARCH_PC_REGISTER] = frame->pc;
	registers->value[ARCH_SP_REGISTER] = frame->sp;
	registers->value[ARCH_FP_REGISTER] = frame->fp;
	registers->value[ARCH_LR_REGISTER] = frame->lr;
	return UINT64_C(1) << ARCH_PC_REGISTER | UINT64_C(1) << ARCH_SP_REGISTER | UINT64_C(1) << ARCH_FP_REGISTER |
	       UINT64_C(1) << ARCH_LR_REGISTER;
}

#endif
