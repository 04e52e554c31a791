/*
 * Executes one instruction of what a signal has interrupted, inside the handler: cheaper than to
 * return with the trap flag set and be interrupted again, most of all in virtual machines.
 */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_FP_EXECUTE_H
#define ARCH_X86_64_PROCESSOR_AGENT_FP_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Memory that it works in, for one thread; NULL: none may be had (none that is both writable
 * and executable). Async-signal-safe. */
void *fp_execute_new(void);
void fp_execute_free(void *area);

/* An SSE, AVX or x87 instruction at the context's rip; the context is then as behind it. All
 * exceptions must be masked in the context, and all signals blocked. False: not an instruction
 * that is known; nothing has changed. */
bool fp_execute(void *area, ucontext_t *context);

#endif
