/* How many of a profile's stacks are whole: for `info`, and for the warning
 * above a report. */
#ifndef RENDER_QUALITY_H
#define RENDER_QUALITY_H

#include <stdint.h>

#include "profile/profile.h"

struct quality {
	uint64_t stacks;    /* taken; 0: not known (imported data) */
	uint64_t whole;     /* of these, reach their root */
	uint64_t completed; /* of the whole ones, only with help from outside the copied stack */
	uint64_t samples;   /* hit rows (merged data: the samples they stand for) */
};

struct quality quality_of(const struct profile *profile);

/* Percentages are cut, not rounded, so that 100 % means all of them. */
double quality_percent(uint64_t part, uint64_t all);

#endif
