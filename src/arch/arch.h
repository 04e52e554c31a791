/*
 * What the folder of a processor (arch/PROCESSOR/, chosen by the build) provides.
 *
 * Required of each, for the libraries that read programs and walk stacks:
 *   processor/registers.h   the registers of a walk, struct arch_frame, and constants
 *   processor/row_step.h    the equations of compact unwind rows
 *   processor/names.h       what the system calls this processor
 *   the functions below, unless they are marked optional
 * Required of those for which the collectors are built:
 *   processor/perf_registers.h, processor/bpf_registers.h, processor/agent/, arch/instruction.h,
 *   the sources that its meson.build lists for the agent, and `arch_bpf_target`
 *
 * An optional function returns what its comment gives as "not known here".
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind_row.h"
#include "arch/cfi_state.h"
#include "processor/registers.h"

/* --- memory of the program that is looked at --- */

struct arch_memory {
	/* The 8 bytes at an address; 0, or -1: not readable. */
	int (*read)(void *context, uint64_t address, uint64_t *value);
	void *context;
};

/* --- rows --- */

/* Bit n: a function must leave register n as it found it. */
extern const uint64_t arch_callee_saved;

/* The compact row that means exactly the input's state, or UNWIND_SLOW; pc is left 0. */
struct unwind_row arch_row(const struct cfi_row_input *input);

/* What the rows of one function, in the order of their pc, say together that
 * none says alone; zeroed before the function's first row. */
struct arch_function {
	int8_t fp; /* where the frame pointer was saved in memory that is the frame's own */
};

/* Adapts the function's next row. Optional: may leave it as it is. */
void arch_follow_row(struct arch_function *function, struct unwind_row *row);

/* A call frame instruction that only this processor has. Optional: false, unknown. */
bool arch_cfi_operation(uint8_t operation);

/* An address of code without what the processor adds to it in registers and memory,
 * such as a signature. Optional: the value as it is. */
uint64_t arch_code_address(uint64_t value);

/* --- steps --- */

/* Applies a row whose kind has an equation (UNWIND_SP to UNWIND_SIGNAL).
 * False: memory was unreadable at *unreadable; the frame is unchanged. */
bool arch_step(const struct unwind_row *row, const struct arch_memory *memory, struct arch_frame *frame,
	       uint64_t *unreadable);

/* All registers of the interrupted code, from the ucontext at an address. */
bool arch_read_ucontext(const struct arch_memory *memory, uint64_t address, struct arch_registers *registers,
			uint64_t *unreadable);

/* Is `pc` in the return from a signal handler? Such code may lack unwind information;
 * the ucontext is then at sp + 8 * ARCH_SIGNAL_WORDS. */
bool arch_is_sigreturn(const struct arch_memory *memory, uint64_t pc);

/* Code without a rule, such as assembler, on its way in or out: its return address may
 * be in one of ARCH_RETURN_GUESSES places. *caller gets pc and sp as if it were in the
 * n-th; false: that is not readable. */
bool arch_guess_return(const struct arch_memory *memory, unsigned n, struct arch_frame *caller);

/* One step by the frame pointer: the caller's and the return address lie where it points to. */
bool arch_frame_pointer_step(const struct arch_memory *memory, struct arch_frame *frame);

/* --- code --- */

/* Is there a call instruction in front of a return address? ARCH_CALL_UNKNOWN: the code is
 * not readable. `code` is what stands in front of it. *target: where a direct call goes to, else 0. */
enum arch_call { ARCH_CALL_UNKNOWN, ARCH_NO_CALL, ARCH_CALL };
enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target);

/* The same, of a program's memory. */
enum arch_call arch_call_before(const struct arch_memory *memory, uint64_t return_address, uint64_t *target);

/* Code that jumps on through a table, such as a PLT entry. */
bool arch_is_stub(const uint8_t *code, size_t size);

/* Is this the instruction that enters the kernel, in the bytes before a pc? */
bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES]);

/* The stub of a section of stubs (.plt and its like; `code` is all of it) that holds the byte at
 * `offset`: where it begins; *size: its bytes. */
size_t arch_plt_stub(const char *section, const uint8_t *code, size_t code_size, size_t offset, size_t *size);

/* Where a stub that lies at `address` jumps to: by the word at `slot`, or by relocation number `index`. */
struct arch_plt_jump {
	enum { ARCH_PLT_UNKNOWN, ARCH_PLT_SLOT, ARCH_PLT_INDEX } kind;
	uint64_t slot;
	uint32_t index;
};
struct arch_plt_jump arch_plt_jump(const uint8_t *stub, size_t size, uint64_t address);

/* The type of a relocation that asks a function of the file itself for the address. */
extern const uint32_t arch_chosen_relocation;

/* The address of main that a program's first code, which lies at `address`, hands to the
 * C library, if it is in [low, high). Optional: 0, not known. */
uint64_t arch_main_of_start(const uint8_t *code, size_t size, uint64_t address, uint64_t low, uint64_t high);

/* Does this code, behind a thread's first call, end the thread? Optional: false. */
enum { ARCH_THREAD_END_BYTES = 10 };
bool arch_ends_thread(const uint8_t code[ARCH_THREAD_END_BYTES]);

/* Length of an instruction that calls a compiler's hook of blocks, or prepares that; 0: it is
 * another. Optional: 0. */
size_t arch_hook_instruction(const uint8_t *code, size_t left);

#endif
