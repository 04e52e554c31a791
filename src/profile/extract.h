/*
 * The part of a profile that some hits need, as a small profile of its own: their paths, locations, modules, threads and
 * processes, and all resources, notes and findings. The time and memory that a reader of it needs do not grow with the length of
 * the recording. Locations have no frames yet, label sets are left out, and so are touches and causes.
 *
 * Life cycle: profile_extract, any reading, profile_extract_release.
 */
#ifndef PROFILE_EXTRACT_H
#define PROFILE_EXTRACT_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct profile_extract {
	struct profile *profile; /* owned */
	uint32_t *modules;       /* owned: by module of `profile`, its id in the source */
};

/* Extracts what `count` hits of the profile `from` need. Returns 0, ERROR_MEMORY or ERROR_LIMIT, after which `extract` is empty.
 * `from` is not changed. */
int profile_extract(struct profile_extract *extract, const struct profile *from, const struct profile_hit *hits,
		    size_t count);
void profile_extract_release(struct profile_extract *extract); /* accepts {0} */

#endif
