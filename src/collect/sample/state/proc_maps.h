/* Reads the mappings of a running process from /proc. */
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
	uint64_t device, inode; /* as stat(2) reports them; inode 0: no file */
	char protection[8];     /* "r-xp" */
	const char *path;       /* as /proc writes it, "" for memory without a name; valid until the next call */
};

struct proc_maps {
	FILE *file; /* NULL: the process has ended, or may not be read */
	char *line; /* owned */
	size_t capacity;
	struct proc_map last;
	/* The last file that was mapped before `last`; end is 0 if there was none, or if a gap is between them. */
	struct proc_map file_before;
	char *file_line; /* owned: has its path */
	size_t file_capacity;
};

/* Opens the mappings of a process through any of its threads: the first thread's file is empty when that
 * thread has ended. */
void proc_maps_open(struct proc_maps *maps, pid_t pid, pid_t tid);
/* Reads the next mapping, in order of address. Returns false if there is none. */
bool proc_maps_next(struct proc_maps *maps, struct proc_map *map);
void proc_maps_close(struct proc_maps *maps);

/* Finds the memory at one address, for mappings without an event: the kernel
 * does not report mremap. Returns false if nothing is mapped, or the process
 * has ended. `path` gets the name, cut to `size`; "" for memory without one. */
bool proc_maps_find(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end, char *path, size_t size);

#endif
