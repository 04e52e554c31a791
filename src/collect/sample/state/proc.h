/* Reads what /proc has about a process. */
#ifndef COLLECT_SAMPLE_STATE_PROC_H
#define COLLECT_SAMPLE_STATE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* --- the mappings of a running process (proc_maps.c) --- */

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

/* --- numbers from /proc/PID/stat --- */

/* Numbers of fields, from 1 on, as in proc(5). */
enum proc_stat_field {
	PROC_STAT_PARENT = 4,
	PROC_STAT_FLAGS = 9,
	PROC_STAT_CHILD_FAULTS = 11, /* minor faults of the children that the process has waited for */
	PROC_STAT_START = 22,        /* when the process began, in ticks of _SC_CLK_TCK after the boot */
	PROC_STAT_RESIDENT = 24,     /* pages */
	PROC_STAT_STACK = 28,        /* address where its first thread's stack began; 1: not permitted */
};

/* Reads a field. Returns false if there is no such process. */
bool proc_stat_read(uint32_t pid, enum proc_stat_field field, uint64_t *value);

/* The same from the file's text. */
bool proc_stat_parse(const char *text, enum proc_stat_field field, uint64_t *value);

/* --- memory --- */

enum { PROCESS_BYTES_MOST = 4096 };

/* Returns whether a process has these bytes, at most PROCESS_BYTES_MOST, at an address of its memory. */
bool process_has_bytes(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* --- the user whose files a process may read --- */

/* Returns the real user id of a process, plus 1. Returns 0 if it is not known, or if the process
 * has another root or other mounts than we, so that its paths and its privileges are not ours:
 * root in a container is not root here. */
uint32_t process_user_read(pid_t pid);

/* --- the control group of a process: the unit, container or session that it belongs to --- */

/* Reads the path of a process's control group, such as "/system.slice/cron.service"; "" if it cannot be
 * read. Cuts it to `size`. */
void cgroup_read(pid_t pid, char *path, size_t size);

/* The same from the text of a /proc/PID/cgroup. Prefers cgroup v2, then the hierarchy of systemd, then the
 * first one. */
void cgroup_parse(const char *text, char *path, size_t size);

#endif
