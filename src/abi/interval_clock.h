/*
 * The generalized interval timer of one thread and one resource. Gticks are laid out
 * in strata of one interval each, with one boundary in each, at a place drawn for it.
 * So hits are the gticks divided by the interval, give or take one, and no boundary
 * is in step with anything.
 */
#ifndef ABI_INTERVAL_CLOCK_H
#define ABI_INTERVAL_CLOCK_H

#include "abi/integers.h"

struct interval_clock {
	uint64_t used;  /* gticks in the present stratum, below the interval */
	uint64_t mark;  /* where its boundary is */
	uint64_t total; /* gticks in all */
};

#endif
