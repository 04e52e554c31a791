/*
 * Counts the hits of a profile by the innermost locations of their paths outside of the kernel. A recorder, which passes its hits on to the file once a second,
 * adds them here first, because only at its end it knows which locations have names.
 *
 * Life cycle: {0}, leaf_hits_add (repeatedly), any reading, leaf_hits_release.
 */
#ifndef PROFILE_LEAF_HITS_H
#define PROFILE_LEAF_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct leaf_hits {
	struct leaf_hits_row {
		uint64_t *hits; /* [count]: by location; owned */
		size_t count;
		uint64_t all;
	} * rows; /* [count]: by resource; owned */
	size_t count;
};

/* Adds all hits that the profile has. Returns 0 or ERROR_MEMORY, after which some may not have been added. */
int leaf_hits_add(struct leaf_hits *leaf_hits, const struct profile *profile);
void leaf_hits_release(struct leaf_hits *leaf_hits);

#endif
