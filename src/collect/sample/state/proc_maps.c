#include "collect/sample/state/proc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

void proc_maps_open(struct proc_maps *maps, pid_t pid, pid_t tid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", (int)pid, (int)tid);
	*maps = (struct proc_maps){ .file = fopen(path, "re") };
}

/* Keeps the last mapping if it is a file's, before the next line takes its buffer. */
static void store_file_mapping(struct proc_maps *maps)
{
	if (maps->last.inode == 0)
		return;
	char *line = maps->line;
	size_t capacity = maps->capacity;
	maps->file_before = maps->last;
	maps->line = maps->file_line;
	maps->capacity = maps->file_capacity;
	maps->file_line = line;
	maps->file_capacity = capacity;
}

/* "start-end rwxp offset device inode path" */
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map)
{
	store_file_mapping(maps);
	maps->last.inode = 0;
	while (maps->file && getline(&maps->line, &maps->capacity, maps->file) > 0) {
		int path_at = 0;
		unsigned major, minor;
		*map = (struct proc_map){ 0 };
		if (sscanf(maps->line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->start,
			   &map->end, map->protection, &map->file_offset, &major, &minor, &map->inode, &path_at) < 7 ||
		    path_at == 0)
			continue;
		maps->line[strcspn(maps->line, "\n")] = 0;
		map->device = makedev(major, minor);
		map->path = maps->line + path_at;
		if (map->start != maps->last.end)
			maps->file_before.end = 0;
		maps->last = *map;
		return true;
	}
	return false;
}

void proc_maps_close(struct proc_maps *maps)
{
	if (maps->file)
		fclose(maps->file);
	free(maps->line);
	free(maps->file_line);
	*maps = (struct proc_maps){ 0 };
}

bool proc_maps_find(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end, char *path, size_t size)
{
	struct proc_maps maps;
	struct proc_map map;
	bool found = false;
	proc_maps_open(&maps, pid, pid);
	while (!found && proc_maps_next(&maps, &map) && map.start <= address) {
		*start = map.start;
		*end = map.end;
		found = address < map.end;
		snprintf(path, size, "%s", map.path);
	}
	proc_maps_close(&maps);
	return found;
}
