/*
 * From what the user calls a function, a probe or a tracepoint to what the
 * kernel is told: a place in a file, or a number. Looked for where the target
 * will run: in its program and the libraries that it needs, or, of a running
 * process, in what it has mapped.
 */
#ifndef COLLECT_SAMPLE_PROBES_PROBE_POINTS_H
#define COLLECT_SAMPLE_PROBES_PROBE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "resources/resources.h"

/* The files to search. */
struct probe_scope {
	const char *command; /* path of the file that will be run; NULL: none */
	pid_t pid;           /* 0: none */
};

/* One function to be watched. Its amount is arguments[argument] * arguments[factor]. */
struct probe_point {
	char *path;       /* path of its file, as we see it; owned */
	uint64_t offset;  /* in the file, of its first instruction; USDT: 0 */
	uint8_t argument; /* 1 to 6: the integer argument that is the amount; 0: 1 each */
	uint8_t factor;   /* 1 to 6: one that it is multiplied by; 0: none */
	bool at_return;   /* the amount is the return value; 1 each if `argument` is 0 */
	/* 1 to 6: a call counts only if arguments[guard] > guard_above (unsigned); 0: each
	 * counts. glibc's realloc(NULL, n) is counted by the malloc that it jumps to. */
	uint8_t guard;
	uint32_t guard_above;
};

struct probe_points {
	struct probe_point *items; /* owned */
	size_t count;
};

/* Functions, the allocator's functions and static probes (the files that have the probe).
 * Errors: ERROR_NOT_FOUND with the nearest names and where was looked;
 * ERROR_AMBIGUOUS; ERROR_MEMORY. Functions inlined everywhere have no place. */
int probe_points_find(const struct resource_request *request, const struct probe_scope *scope,
		      struct probe_points *points, struct error *error);
void probe_points_release(struct probe_points *points); /* {0} is fine */

/* A tracepoint of the kernel. */
struct tracepoint {
	uint64_t id;     /* for perf_event_open */
	uint32_t offset; /* offset of the field in the record; unused without a field */
	uint32_t size;   /* size of the field: 1, 2, 4 or 8; 0: none, 1 each */
	bool is_signed;
};

/* Errors: ERROR_NOT_FOUND with the nearest systems, names or fields; ERROR_PERMISSION
 * or ERROR_UNSUPPORTED where tracefs cannot be read, with the remedy. */
int tracepoint_find(const struct resource_request *request, struct tracepoint *found, struct error *error);

#endif
