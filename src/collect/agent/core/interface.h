/*
 * Shared by the public functions (include/cpprof/runtime.h). Unlike functions that sample, they also work while
 * nothing counts: labels can be set and units declared before cpprof_start.
 */
#ifndef COLLECT_AGENT_CORE_INTERFACE_H
#define COLLECT_AGENT_CORE_INTERFACE_H

#include "collect/agent/core/runtime.h"

/* Returns the present thread and registers it if necessary, or NULL if there is no recorder, if it was refused or if
 * it has ended. Async-signal-safe if the thread is registered. Keeps errno. */
struct runtime_thread *interface_thread(void);

/* As runtime_enter, but also while nothing counts. Call runtime_leave afterwards. */
static inline __attribute__((always_inline)) struct runtime_thread *interface_enter(void)
{
	struct runtime_thread *thread = interface_thread();
	return thread && runtime_set_busy(thread, RUNTIME_HERE) ? thread : NULL;
}

/* Called after runtime.on has changed: updates which of the program's resources are measured. */
void own_match(void);

#endif
