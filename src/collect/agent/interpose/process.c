/* Processes that end without destructors (hooks/end.c). In libcpprof-hooks.so only. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

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
