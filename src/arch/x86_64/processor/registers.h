/* The registers of a walk, by DWARF's numbers. Compiles in user space and in BPF. */
#ifndef ARCH_X86_64_PROCESSOR_REGISTERS_H
#define ARCH_X86_64_PROCESSOR_REGISTERS_H

#include "abi/integers.h"

/* 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to 15 r8 to r15, 16 rip, which is also the column of the
 * return address. */
enum { ARCH_FP_REGISTER = 6, ARCH_SP_REGISTER = 7, ARCH_PC_REGISTER = 16, ARCH_REGISTERS = 17 };

struct arch_registers {
	uint64_t value[ARCH_REGISTERS];
};

/* The registers that compact rows follow. */
struct arch_frame {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
};

enum {
	ARCH_FOLLOWS_CODE = 1,  /* arch_stack_effect knows the instructions */
	ARCH_LEAF_KEEPS_SP = 0, /* a call pushes: a caller's sp is always above its callee's */
	ARCH_CLONE_STACK = 4,   /* the register in which clone(2) and clone3(2) get the new stack or its size: rsi */
	ARCH_SIGNAL_WORDS = 0,  /* words from sp up to the ucontext in a signal's return code */
	ARCH_FRAME_CFA = 2,     /* cfa and fp of the row of a frame with a frame pointer */
	ARCH_FRAME_FP = -2,
	ARCH_RETURN_GUESSES = 2,      /* positions that arch_guess_return tries */
	ARCH_GOROUTINE_REGISTER = 14, /* Go keeps the present goroutine in r14, since Go 1.17 */
	ARCH_CALL_BYTES = 8,          /* the longest call */
	ARCH_SYSTEM_CALL_BYTES = 2    /* the instruction that enters the kernel */
};

static inline struct arch_frame arch_frame_of(const struct arch_registers *registers)
{
	return (struct arch_frame){ .pc = registers->value[ARCH_PC_REGISTER],
				    .sp = registers->value[ARCH_SP_REGISTER],
				    .fp = registers->value[ARCH_FP_REGISTER] };
}

/* Writes the frame's registers into *registers. Returns which registers these are: bit n is register n. */
static inline uint64_t arch_frame_put(const struct arch_frame *frame, struct arch_registers *registers)
{
	registers->value[ARCH_PC_REGISTER] = frame->pc;
	registers->value[ARCH_SP_REGISTER] = frame->sp;
	registers->value[ARCH_FP_REGISTER] = frame->fp;
	return UINT64_C(1) << ARCH_PC_REGISTER | UINT64_C(1) << ARCH_SP_REGISTER | UINT64_C(1) << ARCH_FP_REGISTER;
}

#endif
