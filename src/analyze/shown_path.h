/*
 * Makes one call path a list of functions, as the reports show it: outermost first, with inlined functions, without
 * the start code above main and at thread starts, and each thread below its creator. A view does the same for all
 * paths of a profile at once; this is for profiles that still grow.
 */
#ifndef ANALYZE_SHOWN_PATH_H
#define ANALYZE_SHOWN_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct shown_path {
	uint32_t *functions; /* indexes in the profile's functions; owned */
	size_t count, capacity;
	uint32_t *nodes; /* scratch; owned */
	size_t node_capacity;
};

/* Makes `path`, which begins as {0}, the path of `node`. The locations of the node must be symbolized. Returns 0 or
 * ERROR_MEMORY. */
int shown_path_set(struct shown_path *path, const struct profile *profile, uint32_t node);
void shown_path_release(struct shown_path *path);

#endif
