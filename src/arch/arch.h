/*
 * What a CPU's folder (x86_64/, chosen by the build) provides. Everything here
 * is required of it.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "unwind/cfi.h"

/* Bit n: a function must leave register n as it found it. */
extern const uint32_t arch_callee_saved;

/* The compact row that means exactly `state`, or UNWIND_SLOW; pc is left 0. */
struct unwind_row arch_row(const struct cfi_section *section, const struct cfi_cie *cie, const struct cfi_state *state);

/* What the rows of one function, in the order of their pc, say together that
 * none says alone; zeroed before the function's first row. */
struct arch_function {
	int8_t fp; /* where rbp was saved in memory that is the frame's own */
};

/* Adapts the function's next row. */
void arch_follow_row(struct arch_function *function, struct unwind_row *row);

/* The three registers that the fast path follows. */
struct arch_registers {
	uint64_t rip;
	uint64_t rsp;
	uint64_t rbp;
};

/* Applies a row whose kind has an equation (UNWIND_RSP to UNWIND_SIGNAL).
 * False: memory was unreadable at *unreadable; the registers are unchanged. */
bool arch_step(const struct unwind_row *row, const struct unwind_source *source, struct arch_registers *registers,
	       uint64_t *unreadable);

/* All registers of the interrupted code, from the ucontext at an address. */
bool arch_read_ucontext(const struct unwind_source *source, uint64_t address, struct unwind_registers *registers,
			uint64_t *unreadable);

/* Is `pc` in a C library's return from a signal handler? Such code may lack
 * unwind information (musl's does); rsp then points to the ucontext. */
bool arch_is_sigreturn(const struct unwind_source *source, uint64_t pc);

/* Is there a call instruction in front of a return address? ARCH_CALL_UNKNOWN:
 * the code is not readable. `code` is what stands in front of it. *target: where a direct call goes to, else 0. */
enum arch_call { ARCH_CALL_UNKNOWN, ARCH_NO_CALL, ARCH_CALL };
enum { ARCH_CALL_BYTES = 8 };
enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target);

/* The same, of the target's memory. */
enum arch_call arch_call_before(const struct unwind_source *source, uint64_t return_address, uint64_t *target);

/* Code that jumps on through a table, such as a PLT entry. */
bool arch_is_stub(const uint8_t *code, size_t size);

/* The instruction that enters the kernel, in the bytes before a pc. */
enum { ARCH_SYSTEM_CALL_BYTES = 2 };
bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES]);

/* One step by the frame pointer: pushed rbp and return address at rbp. */
bool arch_frame_pointer_step(const struct unwind_source *source, struct arch_registers *registers);

#endif
