/* One call path as a list of functions, as the reports show it: outermost
 * first, with inlined functions, without the frames above main and above thread
 * starts. */
#ifndef CMD_TRACE_PATH_H
#define CMD_TRACE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct trace_path {
	uint32_t *functions; /* functions of the profile; owned */
	size_t count, capacity;
	uint32_t *nodes; /* while it is made; owned */
	size_t node_capacity;
};

/* Begins as {0}. Makes it the path of `node`, whose locations have been named.
 * Returns 0 or ERROR_MEMORY. */
int trace_path_set(struct trace_path *path, const struct profile *profile, uint32_t node);
void trace_path_release(struct trace_path *path);

#endif
