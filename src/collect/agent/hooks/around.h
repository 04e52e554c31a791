/* A measurement around another one: times calls of probe points for throttling, and tells the user's own implementation. */
#ifndef COLLECT_AGENT_HOOKS_AROUND_H
#define COLLECT_AGENT_HOOKS_AROUND_H

#include <stdbool.h>

#include <cpprof/implementation.h>

#include "collect/agent/hooks/hooks.h"

/* What is measured, whatever is around it. */
const struct hook_measurement *hooks_inner(void);

/* Whether what was chosen at start knows which calls have not returned, so that something may be put around it: not arcs. */
bool hooks_have_frames(void);

/* From now on each call of a probe point is timed, or no more: probes_took is told of it. Async-signal-safe. */
void hooks_time_calls(bool on);
/* From now on it is told of probe points, as long as the process lives; once. */
void hooks_tell(const struct cpprof_implementation *implementation);

#endif
