/* System calls that a seccomp filter traps: their arguments and results in the ucontext of SIGSYS. */
#ifndef ARCH_AARCH64_PROCESSOR_SYSTEM_CALL_H
#define ARCH_AARCH64_PROCESSOR_SYSTEM_CALL_H

#include <stdint.h>
#include <ucontext.h>

/* Returns argument 0 to 3. */
static inline uint64_t system_call_argument(const ucontext_t *context, unsigned n)
{
	return context->uc_mcontext.regs[n];
}

/* Sets the result, a value or -errno. */
static inline void system_call_return(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.regs[0] = (uint64_t)result;
}

#endif
