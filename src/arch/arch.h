/*
 * The interface that the folder of each processor (arch/PROCESSOR/, chosen by the build) provides.
 *
 * Required of each, for the libraries that read programs and walk stacks:
 *   processor/registers.h   the registers of a walk, struct arch_frame, and constants
 *   processor/row_step.h    the equations of compact unwind rows
 *   processor/thread_end.h  the code that ends a thread
 *   processor/names.h       the system's names for this processor
 *   arch/instruction.h
 *   processor/system_call.h arguments and results of trapped system calls
 *   the functions below, unless they are marked optional
 * Required of those for which the collectors are built:
 *   processor/perf_registers.h, processor/bpf_registers.h, processor/agent/, the
 *   sources that its meson.build lists for the agent, and `arch_bpf_target`
 *
 * An optional function may return the value that its comment names for "unknown".
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind_row.h"
#include "arch/cfi_state.h"
#include "processor/registers.h"

/* --- memory of the observed program --- */

struct arch_memory {
	/* Reads the 8 bytes at an address. Returns 0, or -1 if they are not readable. */
	int (*read)(void *context, uint64_t address, uint64_t *value);
	void *context;
	uint64_t goroutine; /* the value of ARCH_GOROUTINE_REGISTER in the frame that is stepped from; 0: unknown */
};

/* --- rows --- */

/* Callee-saved registers: bit n is register n. */
extern const uint64_t arch_callee_saved;

/* Returns the compact row that is equivalent to the input's state, or UNWIND_SLOW if there is none. Its pc is 0. */
struct unwind_row arch_row(const struct cfi_row_input *input);

/* Information that arch_follow_row collects over the rows of one function, in the order of their pc. Zeroed before
 * the function's first row. */
struct arch_function {
	int8_t fp; /* row.fp of a slot in the function's own frame that has the saved frame pointer */
};

/* Adapts the function's next row. Optional: leaves it as it is. */
void arch_follow_row(struct arch_function *function, struct unwind_row *row);

/* Finds the next code, from the offset *at on, that Go's runtime executes on a thread's stack
 * for code on another one: its CFI omits the change of stacks. Also Go's return from a signal
 * handler. Returns false if there is none; otherwise the code is from *at to *end, and *row is
 * its row, with pc 0: cfa and fp are 0 where another row has to supply them
 * (unwind/switch_rows.c). Optional: returns false. */
enum { ARCH_SWITCH_BYTES = 128 }; /* such code, with that by which it is found, has at most as many */
bool arch_next_switch(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row);

/* The same for a call of compiled Lisp by SBCL's runtime, which has no CFI there. Optional: returns false. */
bool arch_next_lisp_call(const uint8_t *code, size_t size, size_t *at, size_t *end, struct unwind_row *row);

/* Executes a call frame instruction that only this processor has. Optional: returns false, unknown. */
bool arch_cfi_operation(uint8_t operation);

/* Returns an address of code without bits that the processor adds to it in registers and memory, such as a
 * signature. Optional: returns the value as it is. */
uint64_t arch_code_address(uint64_t value);

/* --- steps --- */

/* Applies a row whose kind has an equation (UNWIND_SP to UNWIND_SIGNAL, and those that leave a
 * stack). Returns false if the memory at *unreadable was not readable; the frame is unchanged
 * then. */
bool arch_step(const struct unwind_row *row, const struct arch_memory *memory, struct arch_frame *frame,
	       uint64_t *unreadable);

/* Sets *row to the row of a kind with an equation by which to step from a frame whose row is
 * UNWIND_LISP, and adapts the frame's fp to it. Returns as arch_step. Optional: returns false. */
bool arch_lisp_row(const struct arch_memory *memory, enum unwind_from from, struct arch_frame *frame,
		   struct unwind_row *row, uint64_t *unreadable);

/* Reads all registers of the interrupted code from the ucontext at an address. Returns as arch_step. */
bool arch_read_ucontext(const struct arch_memory *memory, uint64_t address, struct arch_registers *registers,
			uint64_t *unreadable);

/* Returns whether `pc` is in the code that returns from a signal handler, which may lack unwind information. The
 * ucontext is then at sp + 8 * ARCH_SIGNAL_WORDS. */
bool arch_is_sigreturn(const struct arch_memory *memory, uint64_t pc);

/* Returns whether the registers belong to a new thread that is about to leave the system call
 * that made it, clone or clone3, or has just left it. It has no caller. Optional: returns false. */
bool arch_begins_thread(const struct arch_memory *memory, const struct arch_registers *registers);

/* For code without a rule (assembler, for example) near its entry or exit: its return address may be in one of
 * ARCH_RETURN_GUESSES positions. Sets pc and sp of *caller as if it were in the n-th. Returns false if that is not
 * readable. */
bool arch_guess_return(const struct arch_memory *memory, unsigned n, struct arch_frame *caller);

/* The code by which CPython calls its interpreter once for each function that a perf map lists (Python/asm_trampoline.S): the memory of such
 * code begins with it. It keeps no frame pointer. Size 0: on this architecture it does. */
struct arch_trampoline {
	const char *code;
	size_t size;
};
extern const struct arch_trampoline arch_trampoline;

/* Steps to the caller of generated code that has no frame at this pc, or removes it: decodes the
 * instructions from there on, read by `code`, up to the first one by which the frame is known.
 * Returns false if there is a frame, or the instructions do not decide. Optional: returns false. */
bool arch_generated_step(const struct arch_memory *code, const struct arch_memory *memory, struct arch_frame *frame);

/* Steps to the caller by the frame pointer, which points to the caller's frame pointer and the return address.
 * Returns false if they are not readable or not plausible. */
bool arch_frame_pointer_step(const struct arch_memory *memory, struct arch_frame *frame);

/* --- code --- */

/* Returns whether a call instruction precedes a return address, or ARCH_CALL_UNKNOWN if the code is not readable.
 * `code`: the bytes in front of the address. *target: the target of a direct call, else 0. */
enum arch_call { ARCH_CALL_UNKNOWN, ARCH_NO_CALL, ARCH_CALL };
enum arch_call arch_call_in(const uint8_t code[ARCH_CALL_BYTES], uint64_t return_address, uint64_t *target);

/* The same for the memory of a program. */
enum arch_call arch_call_before(const struct arch_memory *memory, uint64_t return_address, uint64_t *target);

/* Returns whether the code is a stub that jumps through a table, such as a PLT entry. */
bool arch_is_stub(const uint8_t *code, size_t size);

/* Returns whether the bytes before a pc are the instruction that enters the kernel. */
bool arch_ends_in_system_call(const uint8_t code[ARCH_SYSTEM_CALL_BYTES]);

/* Returns the offset of the stub that contains the byte at `offset` of a section of stubs (.plt and similar; `code`
 * is the whole section). *size: the bytes of the stub. */
size_t arch_plt_stub(const char *section, const uint8_t *code, size_t code_size, size_t offset, size_t *size);

/* Returns the target of the stub at `address`: through the word at `slot`, or by relocation number `index`. */
struct arch_plt_jump {
	enum { ARCH_PLT_UNKNOWN, ARCH_PLT_SLOT, ARCH_PLT_INDEX } kind;
	uint64_t slot;
	uint32_t index;
};
struct arch_plt_jump arch_plt_jump(const uint8_t *stub, size_t size, uint64_t address);

/* The types of relocation for which a function of the file itself returns the address (IFUNC), and for an address in the file. */
extern const uint32_t arch_chosen_relocation, arch_relative_relocation;

/* Returns the address of main that a program's entry code at `address` passes to the C library, if it is in [low,
 * high). Optional: returns 0, unknown. */
uint64_t arch_main_of_start(const uint8_t *code, size_t size, uint64_t address, uint64_t low, uint64_t high);

/* Returns whether this code, behind a thread's first call, ends the thread. Optional: returns false. */
enum { ARCH_THREAD_END_BYTES = 10 };
bool arch_ends_thread(const uint8_t code[ARCH_THREAD_END_BYTES]);

/* Returns the length of an instruction that changes vector registers only, and on which Linux
 * cannot set a probe, or 0 if it is another one. Optional: returns 0. */
size_t arch_vector_instruction(const uint8_t *code, size_t left);

/* Returns the length of an instruction that calls a compiler's hook of basic blocks or prepares the call, or 0 if it
 * is another one. Optional: returns 0. */
size_t arch_hook_instruction(const uint8_t *code, size_t left);

#endif
