/*
 * Functions and allocators in a file that a target may have forged: elfutils and libiberty read it
 * in a jail (frames/jail/once.h). A file at which the jail exceeds its limits or ends is an error
 * with that reason, ERROR_LIMIT or ERROR_CORRUPT. All `error` may be NULL.
 */
#ifndef COLLECT_SAMPLE_PROBES_FILE_SEARCH_H
#define COLLECT_SAMPLE_PROBES_FILE_SEARCH_H

#include "base/near_names.h"
#include "collect/sample/probes/points.h"

enum { FILE_SEARCH_NO_VALUE = -1, FILE_SEARCH_RETURN_VALUE = 0 };

struct found_function {
	uint64_t offset;        /* in the file */
	struct value_type type; /* of the wanted value */
};

struct found_functions {
	struct found_function *items; /* owned */
	size_t count;
	bool is_exported; /* at least one of them is exported */
	bool is_indirect; /* as in struct function_matches */
};

/* Finds all functions of that name, as function_search does, and the types of their argument `value` (from 1 on), or of
 * what they return. Returns 0, also if there are none, or a negative error. */
int file_search_functions(const char *path, const char *name, int value, struct found_functions *found,
			  struct error *error);
void found_functions_release(struct found_functions *found); /* {0} is fine */

/* Offers the names of the file's functions. Sets *is_stripped to whether only exported functions have names. Returns 0
 * or a negative error. */
int file_search_near(const char *path, struct near_names *near, bool *is_stripped, struct error *error);

/* Adds a point for each of the allocating functions of a file, and sets *found, if it defines
 * malloc. A request that one of them passes on to another is counted once. `bytes`: the amount
 * is the requested size; otherwise each call is 1. Returns 0 or a negative error. */
int file_search_allocator(const char *path, bool bytes, struct probe_points *points, bool *found, struct error *error);

#endif
