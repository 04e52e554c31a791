/* The measurement `trace`, for hooks that compare with it first and then call it directly. */
#ifndef COLLECT_AGENT_HOOKS_TRACE_H
#define COLLECT_AGENT_HOOKS_TRACE_H

#include "collect/agent/hooks/paths.h"

/* hook_measurement.enter and .leave of hooks_trace. */
void hooks_trace_enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		       uint64_t code);
void hooks_trace_leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);

/* Writes an event with the present time, when hooks.S could not: the ring is full, or there is none yet. `what` has
 * the event's number and kind. */
void hooks_trace_put_slowly(struct hook_thread *thread, uint64_t what);

/* Puts the thread's events into this ring, which is empty, from its beginning. NULL: it has no ring. */
void hooks_trace_begin_ring(struct hook_thread *thread, struct tally_ring *ring);

#endif
