/*
 * Functions that tail calls removed from stacks: `main` calls `a`, which ends with a jump to `burn`, so the stack is main, burn. The
 * recorder finds them in the code when it names the addresses (frames/tail_frames.h), after the paths were written. A row of
 * profile->tail_calls states what belongs between two frames:
 *
 *   (main's call site, burn) -> a's jump        (a's jump, burn) -> nothing: there is no such row
 *
 * A reader inserts the nodes. Their locations have `is_tail` set; without these nodes, the paths are as they were recorded.
 */
#ifndef PROFILE_TAIL_CALLS_H
#define PROFILE_TAIL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The names of functions that stand for one of several begin with this text: "[tail calls: a or b]". */
#define TAIL_CALLS_AMBIGUOUS "[tail calls: "

/* Inserts the nodes that the rows of profile->tail_calls describe, for paths that lack them, and gives new numbers to the nodes of hits
 * and touches. Returns 0, ERROR_MEMORY, or ERROR_LIMIT if the new nodes take more than `memory` bytes, 0: no limit; then the profile
 * is unchanged. */
int tail_calls_insert(struct profile *profile, uint64_t memory);

/* Returns whether a location stands for one of several functions that tail calls removed. */
bool tail_calls_are_ambiguous(const struct profile *profile, uint32_t location);

/* Returns an array by node, which the caller frees: whether the call that leads to it is one of another function, for an unknown reason. NULL:
 * no memory. */
bool *tail_calls_find_unknown(const struct profile *profile);

/* Adds a row for such a call, from a location to the outermost function of another one, which must have one. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int tail_calls_add_unknown(struct profile *profile, uint32_t caller, uint32_t location);

/* Returns whether a profile has paths with inserted nodes. */
bool tail_calls_any(const struct profile *profile);

/* The samples of a profile by what is known about tail calls on their paths. */
struct tail_calls_count {
	uint64_t restored;  /* every function is known */
	uint64_t ambiguous; /* somewhere, one of several functions was called */
	uint64_t unknown;   /* ... or a call leads to another function than the function that runs */
};

/* Returns 0 or ERROR_MEMORY. */
int tail_calls_count(const struct profile *profile, struct tail_calls_count *count);

#endif
