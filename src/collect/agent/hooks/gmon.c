/*
 * What the C library has for programs that were compiled with -pg: __monstartup is called by their start code
 * (gcrt1.o), which has _mcleanup called at exit; the rest is for programs to call. So these work unmodified, and the C
 * library's own profiler never starts.
 *
 * At exit _mcleanup is called before the destructors, whose calls count as well: it ends nothing then.
 */
#include <cpprof/runtime.h>

#include <stdlib.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"

#define PUBLIC __attribute__((visibility("default")))

void __monstartup(unsigned long low, unsigned long high);
void monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);
int moncontrol(int mode);

static bool was_cleaned;

/* Which code is meant does not matter: all that has hooks is counted. */
PUBLIC void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
	hooks_begin();
	if (was_cleaned)
		cpprof_start();
	was_cleaned = false;
}

PUBLIC void monstartup(unsigned long low, unsigned long high)
{
	__monstartup(low, high);
}

/* 0, as the C library returns it. */
PUBLIC int moncontrol(int mode)
{
	if (mode)
		cpprof_start();
	else
		cpprof_stop();
	return 0;
}

/* Whether code at this address is of who has exit: where all is one file, it is taken for that. */
static bool is_exit(const void *address)
{
	struct dl_find_object of_address, of_exit;
	return real_find_object((uint64_t)(uintptr_t)address, &of_address) &&
	       real_find_object((uint64_t)(uintptr_t)&exit, &of_exit) &&
	       of_address.dlfo_link_map == of_exit.dlfo_link_map;
}

PUBLIC void _mcleanup(void)
{
	hooks_flush();
	if (is_exit(__builtin_return_address(0)))
		return;
	was_cleaned = true;
	cpprof_stop();
}
