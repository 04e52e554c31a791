/*
 * The starts of threads that are not reported yet. The backend reports the stack that starts a thread, and
 * the thread itself, separately and in either order.
 */
#ifndef COLLECT_SAMPLE_STATE_STARTS_H
#define COLLECT_SAMPLE_STATE_STARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

/* The most thread starts on the way to a node. It bounds the tree of a program in which each
 * thread starts its successor, possibly without end. */
enum { THREAD_MARKERS_MAX = 16 };

struct start {
	uint32_t pid;     /* for the process of the new thread */
	uint32_t node;    /* its paths begin below this node; PROFILE_ROOT: unknown */
	uint32_t markers; /* thread starts on the way to that node */
	uint64_t copied;  /* see struct thread's base_copied */
	uint64_t time_ns;
};

struct starts {
	struct start *items; /* owned; entries of removed ids, for reuse by the same id */
	size_t count, capacity;
	struct hash_map by_tid; /* -> index */
};

void starts_init(struct starts *starts);
void starts_release(struct starts *starts);

/* Sets or replaces the start of a thread id. Returns 0 or ERROR_MEMORY. */
int starts_put(struct starts *starts, uint32_t tid, const struct start *start);

/* Removes and returns the start of a thread id, with node PROFILE_ROOT if there is none. */
struct start starts_take(struct starts *starts, uint32_t tid);

#endif
