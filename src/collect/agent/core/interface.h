/*
 * What the public functions (include/cpprof/runtime.h) share. Unlike what samples, they
 * also work while nothing counts: labels are set and units told before cpprof_start.
 */
#ifndef COLLECT_AGENT_CORE_INTERFACE_H
#define COLLECT_AGENT_CORE_INTERFACE_H

#include "collect/agent/core/runtime.h"

/* The present thread, watched from now on if it can be; NULL: it cannot be, or there is no
 * recorder. Async-signal-safe if the thread is known already. Keeps errno. */
struct runtime_thread *interface_thread(void);

/* As runtime_enter, but also while nothing counts. Then runtime_leave. */
static inline __attribute__((always_inline)) struct runtime_thread *interface_enter(void)
{
	struct runtime_thread *thread = interface_thread();
	return thread && runtime_set_busy(thread, RUNTIME_HERE) ? thread : NULL;
}

/* After runtime.on has changed: which of the program's resources are measured now. */
void own_match(void);

#endif
