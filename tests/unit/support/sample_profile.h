/* Makes random profiles from a seed, and compares profiles field by field. */
#ifndef TESTS_SAMPLE_PROFILE_H
#define TESTS_SAMPLE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/findings.h"
#include "profile/profile.h"

/* A small random number generator (xorshift64*, Vigna 2016). */
struct random {
	uint64_t state; /* not 0 */
};
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t limit);

/* Adds random strings, resources, processes, ... and `hits` hits, with unusual values of every kind: no thread, no
 * module, unknown time, distant ids. Times are whole microseconds. Returns false if memory is short. */
bool sample_profile_grow(struct profile *profile, struct random *random, size_t hits);
/* Gives every location frames and sets `symbolized`. Returns false if memory is short. */
bool sample_profile_symbolize(struct profile *profile, struct random *random);

/* Adds rows of tail calls to a symbolized profile. Returns false if memory is short. */
bool sample_profile_add_tail_calls(struct profile *profile, struct random *random);

/* Returns the name of the first difference, or NULL if everything that a file stores is equal. */
const char *sample_profile_difference(const struct profile *a, const struct profile *b);

/* Returns the number that a finding counts, or 0 if the profile does not have it. */
uint64_t finding_amount(const struct profile *profile, enum finding_code code);

#endif
