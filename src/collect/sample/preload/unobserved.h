/*
 * What the library in the target cannot see of its transfers: those that the C library
 * makes itself, for its streams, and those of system calls that the program makes
 * directly. The kernel's own account of a process (/proc/PID/io) has them, so that it can
 * be said how much it was.
 *
 * That account also has the accounts of children whose end the process has waited for;
 * once there is such a child, its first thread's account, which has not, stands for it.
 */
#ifndef COLLECT_SAMPLE_PRELOAD_UNOBSERVED_H
#define COLLECT_SAMPLE_PRELOAD_UNOBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/channel.h"

/* Of all processes: `seen` is complete, `unobserved` is what is known of it. */
struct preload_unobserved {
	struct channel_amounts seen, unobserved;
};

/* Of a process's calls that were seen. */
struct preload_seen {
	struct channel_moved all, main; /* of all its threads; of the first */
};

/* What the kernel says of one process. */
struct preload_state {
	struct channel_amounts all, main; /* all it did, and its children; its first thread */
	uint64_t child_faults;            /* more than before if a child's end was waited for */
};

/* One process's account, from when it began to be watched. */
struct preload_account {
	bool is_kept;    /* false: it cannot be read; then nothing is known */
	bool has_looked; /* there is a: */
	struct preload_state begin, looked;
	struct channel_amounts accounted, unobserved; /* as far as it is known by now */
};

/* Of who has died too, until its end was waited for. False: there is nothing, or not for us. */
bool preload_state_read(struct preload_state *state, uint32_t pid);

/* A program waits to begin. */
void preload_account_begin(struct preload_account *account, uint32_t pid);
/* The process was forked: its account begins with it. */
void preload_account_begin_forked(struct preload_account *account);
/* The process lives on, and had moved `seen` after `state` was read. A call that is seen is
 * noted some time after it was accounted; so that is compared with what was seen by the next look. */
void preload_account_look(struct preload_account *account, const struct preload_state *state,
			  const struct preload_seen *seen);
/* There is nothing more to come. */
void preload_account_close(struct preload_account *account, const struct preload_state *state,
			   const struct preload_seen *seen);

void preload_moved_add(struct channel_moved *sum, const struct channel_moved *more);

/* A thread has ended, or a process. */
void preload_unobserved_add_seen(struct preload_unobserved *sum, const struct channel_moved *seen);
void preload_unobserved_add_account(struct preload_unobserved *sum, const struct preload_account *account);

/* What of `accounted` is missing in `seen`. Who writes that may write anything. */
struct channel_amounts preload_unobserved_of(const struct channel_amounts *accounted,
					     const struct channel_amounts *seen);

/* The share of what a resource counts that was not seen; 0: none, or too little to speak of. */
double preload_unobserved_share(const struct preload_unobserved *unobserved, enum counter counter);

/* "31 % of the bytes read"; false: there is nothing to be said. */
bool preload_unobserved_text(const struct preload_unobserved *unobserved, enum counter counter, char *text,
			     size_t bytes);

/* Whether it is one of the resources that this is about. */
bool preload_unobserved_concerns(enum counter counter);

#endif
