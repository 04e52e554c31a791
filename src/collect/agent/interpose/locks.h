/*
 * Time that a thread waits in a futex, off the CPU. The agent holds no resource meanwhile, because the thread may be
 * cancelled there.
 */
#ifndef COLLECT_AGENT_INTERPOSE_LOCKS_H
#define COLLECT_AGENT_INTERPOSE_LOCKS_H

#include "collect/agent/core/runtime.h"

struct lock_wait {
	uint64_t start_ns, start_cpu_ns;
};

static inline bool locks_are_watched(void)
{
	return runtime_thread && runtime.on && (runtime.requests_of[COUNTER_LOCK_WAIT] || runtime.has_experiments);
}

/* Call them directly before and after the real call, if locks_are_watched. `is_woken`: another
 * thread has ended the wait. Keep errno. */
struct lock_wait lock_wait_begins(uint64_t frame);
void lock_wait_ended(const struct lock_wait *wait, uint64_t function, bool is_woken);

#endif
