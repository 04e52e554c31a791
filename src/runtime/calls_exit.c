/* Ends without destructors: see hooks_end.c. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/hooks.h"
#include "runtime/real.h"
#include "runtime/x86_64/machine.h"

static _Noreturn void end(int status)
{
	hooks_finish();
	for (;;)
		machine_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

INTERPOSED void _exit(int status)
{
	end(status);
}

INTERPOSED void _Exit(int status)
{
	end(status);
}
