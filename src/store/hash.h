/*
 * The 64-bit hashes by which a store finds equal modules, functions, locations and stacks: XXH64 of
 * their content, with numbers in little endian and texts with their NUL. Other than identities
 * (profile/identity.h), they depend on the names too, so that a recording comes back as it was
 * added. No hash is 0.
 */
#ifndef STORE_HASH_H
#define STORE_HASH_H

#include "profile/profile.h"

/* A location's marks as a store keeps them, in the place where only `by_frames` was. */
enum { STORE_BY_FRAMES = 1, STORE_TAIL = 2 };
static inline uint8_t store_location_marks(const struct profile_location *location)
{
	return (uint8_t)((location->by_frames ? STORE_BY_FRAMES : 0) | (location->is_tail ? STORE_TAIL : 0));
}

uint64_t store_hash_module(const struct profile *profile, uint32_t id);
uint64_t store_hash_function(const struct profile *profile, uint32_t id);
/* `functions`: the hashes of its frames' functions, by id. */
uint64_t store_hash_location(const struct profile *profile, uint32_t id, uint64_t module, const uint64_t *functions);
/* `parent` 0: the outermost frame. */
uint64_t store_hash_stack(uint64_t parent, uint64_t location);

#endif
