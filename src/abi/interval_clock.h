/*
 * The generalized interval timer of one thread and one resource, by stratified sampling:
 * gticks are divided into intervals, and one boundary lies in each, at a random position.
 * So the number of hits is the gticks divided by the interval, give or take one, and no
 * boundary is in step with the program.
 */
#ifndef ABI_INTERVAL_CLOCK_H
#define ABI_INTERVAL_CLOCK_H

#include "abi/integers.h"

struct interval_clock {
	uint64_t used;  /* gticks in the current interval, below its length */
	uint64_t mark;  /* where the boundary is in it */
	uint64_t total; /* gticks in all */
};

/* Part of the channel: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct interval_clock) == 24, "an interval clock is 24 bytes");

#endif
