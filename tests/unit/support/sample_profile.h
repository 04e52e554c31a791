/* Profiles for tests: made from a seed, and compared field by field. */
#ifndef TESTS_SAMPLE_PROFILE_H
#define TESTS_SAMPLE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* A small generator with a state of its own (xorshift64*, Vigna 2016). */
struct random {
	uint64_t state; /* not 0 */
};
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t limit);

/* Adds strings, resources, processes, ... and `hits` hits at random, with every
 * kind of odd value: no thread, no module, time unknown, ids far apart. Gives
 * up (false) when memory is short. Times are whole microseconds. */
bool sample_profile_grow(struct profile *profile, struct random *random, size_t hits);
/* Gives every location frames, and sets `symbolized`. */
bool sample_profile_symbolize(struct profile *profile, struct random *random);

/* What differs first, or NULL: nothing that a file keeps. */
const char *sample_profile_difference(const struct profile *a, const struct profile *b);

#endif
