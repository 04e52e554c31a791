#include "collect/sample/preload/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/lower_bound.h"
#include "collect/sample/state/proc.h"

void preload_maps_release(struct preload_maps *maps)
{
	free(maps->items);
	*maps = (struct preload_maps){ 0 };
}

int preload_maps_copy(struct preload_maps *maps, const struct preload_maps *from)
{
	maps->count = 0;
	if (ARRAY_RESERVE(maps->items, maps->capacity, from->count) < 0)
		return ERROR_MEMORY;
	if (from->count > 0)
		memcpy(maps->items, from->items, from->count * sizeof(*maps->items));
	maps->count = from->count;
	return 0;
}

/* All maps that were read, and the names of the new ones. */
struct reading {
	struct preload_maps maps;
	struct fresh {
		size_t map;
		uint64_t device, inode;
		char *name; /* owned */
	} * fresh;
	size_t fresh_count, fresh_capacity;
};

static void release_reading(struct reading *reading)
{
	preload_maps_release(&reading->maps);
	for (size_t i = 0; i < reading->fresh_count; i++)
		free(reading->fresh[i].name);
	free(reading->fresh);
}

static uint64_t hash_of(const struct proc_map *map)
{
	return hash_bytes(map->path, strlen(map->path)) ^ hash_u64(map->inode ^ hash_u64(map->device));
}

static bool is_reported(const struct preload_maps *maps, const struct preload_map *map)
{
	size_t at = LOWER_BOUND(i, 0, maps->count, maps->items[i].start < map->start);
	return at < maps->count && memcmp(&maps->items[at], map, sizeof(*map)) == 0;
}

static int add(struct reading *reading, const struct preload_maps *reported, const struct proc_map *line)
{
	const struct preload_map map = {
		.start = line->start, .end = line->end, .file_offset = line->file_offset, .file = hash_of(line)
	};
	if (ARRAY_RESERVE(reading->maps.items, reading->maps.capacity, reading->maps.count + 1) < 0)
		return ERROR_MEMORY;
	reading->maps.items[reading->maps.count++] = map;
	if (is_reported(reported, &map))
		return 0;
	if (ARRAY_RESERVE(reading->fresh, reading->fresh_capacity, reading->fresh_count + 1) < 0)
		return ERROR_MEMORY;
	char *name = strdup(line->path);
	if (!name)
		return ERROR_MEMORY;
	reading->fresh[reading->fresh_count++] =
		(struct fresh){ reading->maps.count - 1, line->device, line->inode, name };
	return 0;
}

static int read_all(struct reading *reading, const struct preload_maps *reported, uint32_t pid, uint32_t tid)
{
	struct proc_maps lines;
	struct proc_map line;
	int result = 0;
	proc_maps_open(&lines, (pid_t)pid, (pid_t)tid);
	while (result == 0 && proc_maps_next(&lines, &line)) {
		if (line.protection[2] != 'x' || strcmp(line.path, "[vsyscall]") == 0)
			continue;
		if (!*line.path)
			line.path = "//anon";
		result = add(reading, reported, &line);
	}
	proc_maps_close(&lines);
	return result;
}

/* Reports the parts of former maps that no present map covers. */
static void report_gone(const struct preload_maps *former, const struct preload_maps *present, uint32_t pid,
			uint64_t time_ns, const struct backend_sink *sink)
{
	size_t next = 0;
	for (size_t i = 0; i < former->count; i++) {
		uint64_t start = former->items[i].start, end = former->items[i].end;
		while (next < present->count && present->items[next].end <= start)
			next++;
		for (size_t at = next; start < end; at++) {
			bool is_last = at == present->count || present->items[at].start >= end;
			uint64_t gap_end = is_last ? end : present->items[at].start;
			if (gap_end > start) {
				const struct backend_map gone = { .is_gone = true,
								  .path = "",
								  .pid = pid,
								  .time_ns = time_ns,
								  .start = start,
								  .size = gap_end - start };
				sink->map(sink->context, &gone);
			}
			start = is_last ? end : present->items[at].end;
		}
	}
}

int64_t preload_maps_update(struct preload_maps *maps, uint32_t pid, uint32_t tid, uint64_t time_ns,
			    const struct backend_sink *sink)
{
	struct reading reading = { 0 };
	int result = read_all(&reading, maps, pid, tid);
	for (size_t i = 0; i < reading.fresh_count && result == 0; i++) {
		const struct preload_map *map = &reading.maps.items[reading.fresh[i].map];
		const struct backend_map reported = { .pid = pid,
						      .time_ns = time_ns,
						      .start = map->start,
						      .size = map->end - map->start,
						      .file_offset = map->file_offset,
						      .path = reading.fresh[i].name,
						      .device = reading.fresh[i].device,
						      .inode = reading.fresh[i].inode };
		sink->map(sink->context, &reported);
	}
	int64_t count = result < 0 ? result : (int64_t)reading.fresh_count;
	if (result == 0 && reading.maps.count > 0) {
		report_gone(maps, &reading.maps, pid, time_ns, sink);
		struct preload_maps old = *maps;
		*maps = reading.maps;
		reading.maps = old;
	}
	release_reading(&reading);
	return count;
}
