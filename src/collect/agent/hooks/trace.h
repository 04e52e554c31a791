/* The measurement `trace`, for who asks for it first. */
#ifndef COLLECT_AGENT_HOOKS_TRACE_H
#define COLLECT_AGENT_HOOKS_TRACE_H

#include "collect/agent/hooks/paths.h"

/* hook_measurement.enter and .leave of hooks_trace. */
void hooks_trace_enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		       uint64_t code);
void hooks_trace_leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);

/* An event of now that hooks.S could not put: the ring is full, or it is not there yet. `what`: its number and kind. */
void hooks_trace_put_slowly(struct hook_thread *thread, uint64_t what);

/* The thread's events are put into this ring, which is empty, from its begin on. NULL: it has none yet. */
void hooks_trace_begin_ring(struct hook_thread *thread, struct tally_ring *ring);

#endif
