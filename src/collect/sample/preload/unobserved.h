/*
 * Measures the transfers that the agent cannot observe: those that the C library makes for its streams,
 * and direct system calls of the program. The kernel's account of a process (/proc/PID/io) includes them,
 * so their share can be reported.
 *
 * That account also includes the accounts of the children that the process has waited for. Once there is
 * such a child, the account of the first thread is used instead, which does not include them.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_UNOBSERVED_H
#define COLLECT_SAMPLE_PRELOAD_UNOBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"

/* Sums over all processes: `seen` is complete, `unobserved` is the part of it that is known. */
struct preload_unobserved {
	struct channel_amounts seen, unobserved;
};

/* The calls of one process that its agent has observed. */
struct preload_seen {
	struct channel_moved all, main; /* of all its threads; of the first thread */
};

/* The kernel's figures for one process. */
struct preload_state {
	struct channel_amounts all, main; /* of the process, with children that it waited for; of its first thread */
	uint64_t child_faults;            /* grows when the process has waited for a child */
};

/* The account of one process, from the time when it is watched. */
struct preload_account {
	bool is_kept;    /* false: it cannot be read, or is closed */
	bool has_looked; /* `looked` is valid */
	struct preload_state begin, looked;
	struct channel_amounts accounted, unobserved; /* up to now */
};

/* Reads the kernel's figures, also for a process that has ended, until it is reaped. Returns false if
 * there are none, or they may not be read. */
bool preload_state_read(struct preload_state *state, uint32_t pid);

/* Begins the account of a program that waits to begin. */
void preload_account_begin(struct preload_account *account, uint32_t pid);
/* Begins the account of a forked process. The kernel's account begins with the process. */
void preload_account_begin_forked(struct preload_account *account);
/* Updates the account of a running process. `seen` was read after `state`. The agent notes a call some
 * time after the kernel has accounted it, so `state` is compared with what the agent has observed by the
 * next look. */
void preload_account_update(struct preload_account *account, const struct preload_state *state,
			    const struct preload_seen *seen);
/* Updates the account for the last time, and closes it. */
void preload_account_close(struct preload_account *account, const struct preload_state *state,
			   const struct preload_seen *seen);

void preload_moved_add(struct channel_moved *sum, const struct channel_moved *more);

/* Adds the observed calls of a thread that has ended; adds the account of a process that has ended. */
void preload_unobserved_add_seen(struct preload_unobserved *sum, const struct channel_moved *seen);
void preload_unobserved_add_account(struct preload_unobserved *sum, const struct preload_account *account);

/* Returns the part of `accounted` that is missing in `seen`, never negative: the target can write anything
 * into `seen`. */
struct channel_amounts preload_unobserved_of(const struct channel_amounts *accounted,
					     const struct channel_amounts *seen);

/* Returns the share of a resource that was not observed, or 0 if it is too small to be reported. */
double preload_unobserved_share(const struct preload_unobserved *unobserved, enum counter counter);

/* Writes "31 % of the bytes read", for example. Returns false if there is nothing to report. */
bool preload_unobserved_text(const struct preload_unobserved *unobserved, enum counter counter, char *text,
			     size_t bytes);

/* Returns whether the counter counts transfers. */
bool preload_unobserved_concerns(enum counter counter);

#endif
