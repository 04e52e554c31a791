/* System calls that a seccomp filter traps: their arguments and results in the ucontext of SIGSYS. */
#ifndef ARCH_X86_64_PROCESSOR_SYSTEM_CALL_H
#define ARCH_X86_64_PROCESSOR_SYSTEM_CALL_H

#include <stdint.h>
#include <ucontext.h>

/* Returns argument 0 to 3. */
static inline uint64_t system_call_argument(const ucontext_t *context, unsigned n)
{
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10 };
	return (uint64_t)context->uc_mcontext.gregs[registers[n]];
}

/* Sets the result, a value or -errno. */
static inline void system_call_return(ucontext_t *context, int64_t result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}

#endif
