/* Advances an interval timer (abi/interval_clock.h), in the kernel and in the target. */
#ifndef COLLECT_SHARED_INTERVAL_TIMER_H
#define COLLECT_SHARED_INTERVAL_TIMER_H

#include "abi/interval_clock.h"

/* The includer provides it: returns a random number below `limit`. */
static uint64_t random_below(uint64_t limit);

/* Advances by `amount` gticks. Returns how many boundaries that crossed. */
static inline uint64_t interval_clock_advance(struct interval_clock *clock, uint64_t interval, uint64_t amount)
{
	clock->total += amount;
	uint64_t before = clock->used;
	uint64_t after = before + amount;
	uint64_t hits;
	if (after < interval) {
		clock->used = after;
		return before <= clock->mark && clock->mark < after;
	}
	hits = (before <= clock->mark) + after / interval - 1;
	clock->used = after % interval;
	clock->mark = random_below(interval);
	return hits + (clock->mark < clock->used);
}

#endif
