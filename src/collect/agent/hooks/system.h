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

/* Blocks the signals that may come at any instruction. Those that report a fault of the instruction itself, or a
 * debugger's trap, are not blocked: the kernel would end the process. */
static inline void system_block_interruptions(uint64_t *old)
{
	static const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |
				       UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGFPE - 1) |
				       UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSYS - 1);
	const uint64_t others = ~faults;
	machine_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&others, (long)old, sizeof(others), 0, 0);
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
