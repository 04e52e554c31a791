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
	const struct machine_filter *before; /* those of all threads */
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

#endif
