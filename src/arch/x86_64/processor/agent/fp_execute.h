/*
 * Counting floating point exceptions: an instruction that raises one traps, and must then be executed once with its traps off. This
 * file does that inside the handler of SIGFPE: it copies the instruction between code that loads and stores all registers, and runs it
 * there. The alternative, to return with the trap flag set and to come back by a second signal after the instruction, costs more, most
 * of all in virtual machines. It remains for instructions that cannot be copied.
 */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_FP_EXECUTE_H
#define ARCH_X86_64_PROCESSOR_AGENT_FP_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Returns working memory for one thread, or NULL if the system does not permit memory that is both writable and
 * executable. Async-signal-safe. */
void *fp_execute_new(void);
void fp_execute_free(void *area);

/* Executes the SSE, AVX or x87 instruction at the context's rip; the context is then that behind it. All exceptions
 * must be masked in the context, and all signals blocked. Returns false if it does not support the instruction;
 * nothing has changed then. */
bool fp_execute(void *area, ucontext_t *context);

#endif
