/*
 * The functions that the C library has for programs compiled with -pg. Their start code (gcrt1.o) calls __monstartup
 * and registers _mcleanup with atexit; the programs themselves may call the others. With these definitions such
 * programs work unmodified, and the C library's own profiler never starts.
 *
 * A program that was linked without -pg has no such start code. If it calls monstartup itself, it counts from then on
 * (hooks/begin.c).
 *
 * At exit _mcleanup is called before the destructors. Their calls count as well, so it does not end counting then.
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

/* The range of code does not matter: all code that has hooks is counted. */
PUBLIC void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
	hooks_begin();
	if (was_cleaned || (hooks.awaits_start && !hooks.header->starts_paused))
		cpprof_start();
	was_cleaned = hooks.awaits_start = false;
}

PUBLIC void monstartup(unsigned long low, unsigned long high) ALIAS(__monstartup);

/* Returns 0, as in the C library. */
PUBLIC int moncontrol(int mode)
{
	if (mode)
		cpprof_start();
	else
		cpprof_stop();
	return 0;
}

/* Returns true if the address is in the module that defines exit. In a statically linked program all code is in that
 * module. */
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
