/*
 * Finds the probe points for the user's name of a function, a probe or a tracepoint: a position in a file,
 * or the kernel's number. The search covers the files that the target will run: its program and the
 * libraries that it needs or, for a running process, the files that it has mapped.
 */
#ifndef COLLECT_SAMPLE_PROBES_PROBE_POINTS_H
#define COLLECT_SAMPLE_PROBES_PROBE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/probes/points.h"
#include "resources/resources.h"

/* The files to search. */
struct probe_scope {
	const char *command; /* path of the file that will be run; NULL: none */
	const pid_t *pids;   /* each function needs to be in one of these processes only */
	size_t pid_count;    /* 0: none */
};

/* Finds functions, the allocator's functions, and static probes (the files that contain the probe).
 * Returns 0; ERROR_NOT_FOUND with the nearest names and the searched files; ERROR_AMBIGUOUS; ERROR_MEMORY;
 * or another negative error. Functions that are inlined everywhere have no probe point. */
int probe_points_find(const struct resource_request *request, const struct probe_scope *scope,
		      struct probe_points *points, struct error *error);

/* A tracepoint of the kernel. */
struct tracepoint {
	uint64_t id;     /* for perf_event_open */
	uint32_t offset; /* offset of the field in the record; unused without a field */
	uint32_t size;   /* size of the field: 1, 2, 4 or 8; 0: none, 1 each */
	bool is_signed;
};

/* Finds the tracepoint of a request. Returns 0; ERROR_NOT_FOUND with the nearest systems, names or fields;
 * or ERROR_PERMISSION or ERROR_UNSUPPORTED, with the remedy, where tracefs cannot be read. */
int tracepoint_find(const struct resource_request *request, struct tracepoint *found, struct error *error);

#endif
