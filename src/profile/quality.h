/* Counts how many of a profile's stacks are complete: for `info`, and for findings of each command that reads it. */
#ifndef PROFILE_QUALITY_H
#define PROFILE_QUALITY_H

#include <stdint.h>

#include "profile/profile.h"

struct quality {
	uint64_t stacks;    /* stacks taken; 0: unknown (imported data) */
	uint64_t whole;     /* stacks that reach their root */
	uint64_t completed; /* whole stacks that needed help from outside the copied stack */
	uint64_t samples;   /* hit rows (merged data: the samples that they represent) */
};

struct quality quality_of(const struct profile *profile);

/* Returns a percentage that is rounded down, so that 100 % means all of them. */
double quality_percent(uint64_t part, uint64_t all);

/* Adds the findings about samples and call paths of which a part is missing, unless the profile has them already. */
void quality_add_findings(struct profile *profile);

#endif
