/*
 * The 64-bit hashes by which a store finds equal modules, functions, locations and stacks: XXH64 of
 * their content, with numbers in little endian and texts with their NUL. Other than identities
 * (profile/identity.h), they depend on the names too, so that a recording comes back as it was
 * added. No hash is 0.
 */
#ifndef STORE_HASH_H
#define STORE_HASH_H

#include "profile/profile.h"

/* The marks of a store's locations, in the column `by_frames`, which older stores use for that one only. A location to which unknown tail calls
 * lead is a location of its own there. */
enum { STORE_BY_FRAMES = 1, STORE_TAIL = 2, STORE_UNKNOWN_CALL = 4 };

uint64_t store_hash_module(const struct profile *profile, uint32_t id);
/* `module`: the hash of its module; 0: it has none. */
uint64_t store_hash_function(const struct profile *profile, uint32_t id, uint64_t module);
/* `functions`: the hashes of its frames' functions, by id. */
uint64_t store_hash_location(const struct profile *profile, const struct profile_location *location, uint8_t marks,
			     uint64_t module, const uint64_t *functions);
/* `parent` 0: the outermost frame. */
uint64_t store_hash_stack(uint64_t parent, uint64_t location);

/* `bytes`: the hashes of the stacks of a list. */
uint64_t store_hash_list(const void *bytes, size_t size);

#endif
