/*
 * Virtual speed-ups, after Coz (Curtsinger and Berger, SOSP 2015), of call paths in place of lines. A path seems to be
 * faster by a percentage if all other threads are paused by that percentage of the time that a thread runs in it.
 *
 *   delays (channel_experiment)   the pauses that each thread of the target owes since the turn began
 *   paid_ns (each thread)         what it has paid: it owes the difference
 *
 *   causal_tick      the thread runs in the path: it raises its own paid_ns, and `delays` to that; so threads that run
 *                    in the path at the same time do not pause each other. Then it pays what it owes
 *   causal_wakes     a thread pays before it may wake another one ...
 *   causal_woken     ... which then owes nothing for the time of its wait: its waker has paid for both
 *   causal_timed_out   a wait that time has ended: the thread owes the pauses, because a faster path does not shorten it
 *
 * All functions keep errno and are async-signal-safe.
 */
#ifndef COLLECT_AGENT_CAUSAL_CAUSAL_H
#define COLLECT_AGENT_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/agent/core/runtime.h"

/* A new thread owes nothing. */
void causal_thread_begins(struct runtime_thread *thread);

/* In a tick of a thread that has run for `ran_ns` since the last one. `asleep`: it waits in a system call. */
void causal_tick(struct runtime_thread *thread, uint64_t ran_ns, bool asleep, const void *context);

/* Pays what the present thread owes. */
void causal_make_pauses(void);

/* Called before the present thread may wake another one. */
static inline void causal_wakes(void)
{
	if (__builtin_expect(runtime.has_experiments, 0))
		causal_make_pauses();
}

/* Called before the present thread waits in the function with that frame, which may also wake another thread. */
void causal_waits(uint64_t frame);
/* Called after that, or after another wait. `thread` may be NULL. */
void causal_woken(struct runtime_thread *thread);
void causal_timed_out(struct runtime_thread *thread);

#endif
