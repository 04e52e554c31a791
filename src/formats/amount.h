/* Parts that the formats with several resources share: which resources they write, and the amounts of hits. */
#ifndef FORMATS_AMOUNT_H
#define FORMATS_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/call_paths.h"
#include "profile/companion.h"

/* Returns hits times the interval, in gticks. Readers have signed numbers, so the largest amount is 2^63 - 1. */
static inline uint64_t amount_of(const struct profile *profile, uint32_t resource, uint64_t hits)
{
	uint64_t amount;
	if (__builtin_mul_overflow(hits, profile->resources[resource].interval, &amount) || amount > INT64_MAX)
		return INT64_MAX;
	return amount;
}

/* Returns the sum of two amounts, at most 2^63 - 1. */
static inline uint64_t amount_sum(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Returns whether a format writes the resource: companions (profile/companion.h) are written only if -r names them. */
static inline bool is_written(const struct call_paths *paths, uint32_t resource)
{
	return paths->resource_count == 1 || !companion_is(paths->profile, resource);
}

/* Writes the ids of the written resources to `resources`, which has room for
 * paths->resource_count. Returns their number. */
static inline uint32_t written_resources(const struct call_paths *paths, uint32_t *resources)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < paths->resource_count; i++)
		if (is_written(paths, paths->first_resource + i))
			resources[count++] = paths->first_resource + i;
	return count;
}

#endif
