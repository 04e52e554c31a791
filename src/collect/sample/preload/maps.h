/* The code that a process has mapped, from /proc, and the part of it that was reported to the sink. */
#ifndef COLLECT_SAMPLE_PRELOAD_MAPS_H
#define COLLECT_SAMPLE_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/backend.h"

struct preload_map {
	uint64_t start, end, file_offset;
	uint64_t file; /* hash of the mapped file's device, inode and path */
};

/* The reported maps of one process; {0}: none. */
struct preload_maps {
	struct preload_map *items; /* sorted; owned */
	size_t count, capacity;
};

void preload_maps_release(struct preload_maps *maps);
/* Copies maps. Returns 0, or ERROR_MEMORY with *maps empty. */
int preload_maps_copy(struct preload_maps *maps, const struct preload_maps *from);

/* Reads the present executable maps of process `pid`, through its thread `tid`, and reports the new ones.
 * Returns the number of new maps, or ERROR_MEMORY. For a process that has ended, *maps stays as it is. */
int64_t preload_maps_update(struct preload_maps *maps, uint32_t pid, uint32_t tid, uint64_t time_ns,
			    const struct backend_sink *sink);

#endif
