/* A measurement that wraps another one: it times calls of probe points for throttling, and calls the user's own
 * implementation. */
#ifndef COLLECT_AGENT_HOOKS_AROUND_H
#define COLLECT_AGENT_HOOKS_AROUND_H

#include <stdbool.h>

#include <cpprof/implementation.h>

#include "collect/agent/hooks/hooks.h"

/* Returns the measurement that counts, whether it is wrapped or not. */
const struct hook_measurement *hooks_inner(void);

/* Returns true if the measurement that was chosen at start keeps a frame for each active call, so that it can be
 * wrapped. False for `off`, `arcs` and `blocks`. */
bool hooks_have_frames(void);

/* Starts or stops the timing of each call of a probe point; probes_took gets the times. Async-signal-safe. */
void hooks_time_calls(bool on);
/* Calls the implementation at probe points from now on, until the process exits. Called at most once. */
void hooks_set_implementation(const struct cpprof_implementation *implementation);

#endif
