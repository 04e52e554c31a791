/* System calls that hooks make directly, because the C library's functions may be interposed, or have hooks in them. */
#ifndef COLLECT_AGENT_HOOKS_SYSTEM_H
#define COLLECT_AGENT_HOOKS_SYSTEM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "processor/agent/machine.h"

static inline uint32_t system_pid(void)
{
	return (uint32_t)machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t system_tid(void)
{
	return (uint32_t)machine_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* Blocks all signals until system_restore_signals. */
static inline void system_block_signals(uint64_t *old)
{
	const uint64_t every = ~UINT64_C(0);
	machine_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&every, (long)old, sizeof(every), 0, 0);
}

static inline void system_restore_signals(const uint64_t *old)
{
	machine_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof(*old), 0, 0);
}

/* Returns true if a system call that returns an address has failed. */
static inline bool system_is_error(long result)
{
	enum { ERRORS = 4095 };
	return (unsigned long)result >= -(unsigned long)ERRORS;
}

#endif
