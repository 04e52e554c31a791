/*
 * Calls by which a program restricts its own system calls (seccomp). The agent examines a filter before the program
 * installs it. It goes on as far as the filters permit its system calls (core/filter.h), and stops before the call
 * what they forbid.
 */
#ifndef COLLECT_AGENT_INTERPOSE_SANDBOX_H
#define COLLECT_AGENT_INTERPOSE_SANDBOX_H

#include <stdbool.h>

struct machine_filter;

struct sandbox {
	struct machine_filter *filter;       /* NULL: the call installs none */
	const struct machine_filter *before; /* the filters of all threads */
	char *entry;                         /* successor_prepare */
	bool is_for_all;                     /* it applies to all threads of the process */
	bool was_on;                         /* ... in which counting was on */
	bool has_ended;                      /* the agent has left this thread */
	bool has_stopped_ticks, had_fp;      /* ... or only stopped these */
};

/* Called before and after a system call of the program (prctl or seccomp, with its first three arguments). Keep
 * errno. */
void sandbox_begins(struct sandbox *sandbox, long number, const long arguments[3]);
void sandbox_ended(struct sandbox *sandbox, long result);

/* quiet.c: waits until the agent is quiet in the other threads, before a filter forbids its
 * system calls in all of them. */

/* Waits, but not long, until the agent is active in no other thread: work that goes on is then finished, not cut short. */
void quiet_await_work(void);

/* After the filter has become known (machine_filters_of_all): waits until no thread makes a
 * system call of ours that it has begun before. At most a second. */
void quiet_await_calls(void);

/* After the timers were stopped: waits until no other thread has a tick pending, or is in its
 * handler, from which it would return by a forbidden system call. At most a second. */
void quiet_await_ticks(void);

#endif
