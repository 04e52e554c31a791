/* Processes that end without destructors (hooks/end.c), and processes that begin without a fork that the C library
 * reports. In libcpprof-hooks.so only. */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

/* --- ends --- */

static _Noreturn void end(int status)
{
	hooks_finish();
	for (;;)
		machine_call_of_program(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

INTERPOSED void _exit(int status)
{
	end(status);
}

INTERPOSED void _Exit(int status)
{
	end(status);
}

/* --- forks --- */

INTERPOSED pid_t _Fork(void)
{
	pid_t pid = REAL(_Fork)();
	if (pid == 0)
		runtime_forked();
	return pid;
}

struct cloned {
	int (*run)(void *argument);
	void *argument;
};

/* Runs in the child, which has a copy of its parent's memory, and so of `context`. */
static int begin_cloned(void *context)
{
	const struct cloned *cloned = context;
	runtime_forked();
	return cloned->run(cloned->argument);
}

INTERPOSED int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	struct cloned cloned = { .run = run, .argument = argument };
	va_list more;
	va_start(more, argument);
	pid_t *parent_tid = va_arg(more, pid_t *);
	void *tls = va_arg(more, void *);
	pid_t *child_tid = va_arg(more, pid_t *);
	va_end(more);
	if (flags & CLONE_VM || !run)
		return REAL(clone)(run, stack, flags, argument, parent_tid, tls, child_tid);
	return REAL(clone)(begin_cloned, stack, flags, &cloned, parent_tid, tls, child_tid);
}
