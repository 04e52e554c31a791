/*
 * One call path as a list of functions, as the reports show it: outermost
 * first, inlined functions among them, without the start code above main and
 * at thread starts, each thread below its creator. A view does the same for all
 * paths of a profile at once; this is for profiles that still grow.
 */
#ifndef ANALYZE_SHOWN_PATH_H
#define ANALYZE_SHOWN_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct shown_path {
	uint32_t *functions; /* of the profile; owned */
	size_t count, capacity;
	uint32_t *nodes; /* scratch; owned */
	size_t node_capacity;
};

/* `path` begins as {0}. Makes it the path of `node`, whose locations have names.
 * Returns 0 or ERROR_MEMORY. */
int shown_path_set(struct shown_path *path, const struct profile *profile, uint32_t node);
void shown_path_release(struct shown_path *path);

#endif
