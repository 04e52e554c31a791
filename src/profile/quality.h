/* Counts how many of a profile's stacks are whole, partly guessed or broken: for `info`, and for findings of each command that reads it. */
#ifndef PROFILE_QUALITY_H
#define PROFILE_QUALITY_H

#include <stdint.h>

#include "profile/profile.h"

struct quality {
	uint64_t stacks;    /* stacks taken; 0: unknown (imported data) */
	uint64_t whole;     /* stacks that reach their root by unwind rules alone */
	uint64_t completed; /* whole stacks that needed help from outside the copied stack */
	uint64_t guessed;   /* stacks that reach their root, but a frame may be missing where there was no rule */
	uint64_t broken;    /* stacks that do not reach their root */
	uint64_t samples;   /* hit rows (merged data: the samples that they represent) */
};

struct quality quality_of(const struct profile *profile);

/* Returns a percentage that is rounded down, so that 100 % means all of them. */
double quality_percent(uint64_t part, uint64_t all);

/* The shares of a profile's stacks, in percent. They add up to 100. Whole stacks are rounded down and broken stacks up, so
 * that 100 % whole means all of them, and 0 % broken means none. */
struct quality_shares {
	double whole, guessed, broken;
};
struct quality_shares quality_shares_of(const struct quality *quality);

/* Adds the findings about samples and call paths of which a part is missing, unless the profile has them already. */
void quality_add_findings(struct profile *profile);

/* The same after recordings were added up: the findings of the single ones give way to those of the sum. */
void quality_sum_findings(struct profile *profile);

#endif
