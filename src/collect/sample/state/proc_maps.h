/* What a living process has mapped where, as /proc tells. */
#ifndef COLLECT_SAMPLE_STATE_PROC_MAPS_H
#define COLLECT_SAMPLE_STATE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* One line. */
struct proc_map {
	uint64_t start, end, file_offset;
	uint64_t inode;     /* 0: no file */
	char protection[8]; /* "r-xp" */
	char device[16];
	const char *path; /* as /proc writes it, "" for memory without a name; valid until the next */
};

struct proc_maps {
	FILE *file; /* NULL: the process is gone, or not to be looked at */
	char *line; /* owned */
	size_t capacity;
};

/* Of a process by any of its threads: its own are gone when the first thread has ended. */
void proc_maps_open(struct proc_maps *maps, pid_t pid, pid_t tid);
/* The next one, in order of address; false: there is none. */
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map);
void proc_maps_close(struct proc_maps *maps);

/* The memory at one address: for what nobody told of, as the kernel tells no one of
 * mremap. False: nothing, or the process is gone. `path` gets the name, cut to `size`; ""
 * for memory without one. */
bool proc_maps_find(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end, char *path, size_t size);

#endif
