/*
 * The interval timer of one thread and one resource, by stratified sampling: gticks are divided into intervals, and
 * each interval has one boundary at a random position. The number of hits therefore is the gticks divided by the
 * interval, with an error of at most one, and boundaries are never in step with the program.
 */
#ifndef ABI_INTERVAL_CLOCK_H
#define ABI_INTERVAL_CLOCK_H

#include "abi/integers.h"

struct interval_clock {
	uint64_t used;  /* gticks in the current interval, below its length */
	uint64_t mark;  /* position of the boundary in the interval */
	uint64_t total; /* gticks counted so far */
};

/* Part of the channel: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct interval_clock) == 24, "an interval clock is 24 bytes");

#endif
