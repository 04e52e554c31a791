/* What code a process has mapped, as /proc tells it, and what of that the sink was told. */
#ifndef COLLECT_SAMPLE_PRELOAD_MAPS_H
#define COLLECT_SAMPLE_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "collect/sample/backend.h"

struct preload_map {
	uint64_t start, end, file_offset;
	uint64_t file; /* hash of what is mapped */
};

/* Those of one process that were told; {0}: none. */
struct preload_maps {
	struct preload_map *items; /* sorted; owned */
	size_t count, capacity;
};

/* Build-ids of files that were mapped; {0}: none. */
struct preload_files {
	struct preload_build_id {
		uint8_t bytes[20];
		size_t count; /* 0: it has none, or an odd one */
	} * ids;
	size_t count, capacity;
	struct hash_map by_file; /* hash of device, inode and path -> index in `ids` */
};

void preload_maps_release(struct preload_maps *maps);
/* 0 or ERROR_MEMORY: then there are none. */
int preload_maps_copy(struct preload_maps *maps, const struct preload_maps *from);
void preload_files_release(struct preload_files *files);

/* Reads what process `pid` has mapped now, by its thread `tid`, and tells what is new.
 * *more is true while it does, but not with the last one. Returns how many those
 * were, or ERROR_MEMORY. A process that is gone has what it had. */
int64_t preload_maps_update(struct preload_maps *maps, struct preload_files *files, uint32_t pid, uint32_t tid,
			    uint64_t time_ns, const struct backend_sink *sink, bool *more);

#endif
