/*
 * Executes one instruction of the code that a signal has interrupted, inside the handler. This is cheaper than to
 * return with the trap flag set and to be interrupted again, most of all in virtual machines.
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
