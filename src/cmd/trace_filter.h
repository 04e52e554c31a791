/* The filter of `trace`: by amount, by name, by the functions of the call path. */
#ifndef CMD_TRACE_FILTER_H
#define CMD_TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "resources/resources.h"

enum { TRACE_PATHS_MAX = 32, TRACE_NAMES_MAX = 32, TRACE_NEAR_MAX = 3, TRACE_NEAR_BYTES = 64 };

/* Names of traced functions that resemble one that was asked for; "": none. */
struct trace_near {
	char names[TRACE_NEAR_MAX][TRACE_NEAR_BYTES];
	size_t distances[TRACE_NEAR_MAX];
};

struct trace_filter {
	uint64_t min[RESOURCE_REQUESTS_MAX]; /* by request, gticks */
	const char *names[TRACE_NAMES_MAX];  /* shell patterns; one must fit */
	size_t name_count;
	const char *functions[TRACE_PATHS_MAX]; /* all must be in the path */
	size_t function_count;
	uint32_t *holds; /* by function of the profile: bit i if it is functions[i]; owned */
	size_t holds_count, holds_capacity;
	uint32_t found; /* bit i: the profile has functions[i] */
	struct trace_near near[TRACE_PATHS_MAX];
};

/* Begins as {0}. Adds "--min WORDS": the least amount of every resource that has
 * such a unit. Errors: ERROR_USAGE if none has. */
int trace_filter_min(struct trace_filter *filter, const char *words, const struct resource_request *requests,
		     size_t count, struct error *error);
/* Adds a pattern, or a function. Errors: ERROR_USAGE if there are too many. */
int trace_filter_name(struct trace_filter *filter, const char *pattern, struct error *error);
int trace_filter_function(struct trace_filter *filter, const char *function, struct error *error);
void trace_filter_release(struct trace_filter *filter);

/* Tests the properties that need no names: `request`'s number and name, the
 * amount, the system call's name (NULL: none). */
bool trace_filter_passes(const struct trace_filter *filter, size_t request, const char *name, const char *syscall,
			 uint64_t amount);

/* Reads the functions that the profile gained; called before
 * trace_filter_passes_path. */
int trace_filter_learn(struct trace_filter *filter, const struct profile *profile);
/* Returns whether a path of functions contains all required ones. */
bool trace_filter_passes_path(const struct trace_filter *filter, const uint32_t *functions, size_t count);
/* Returns the first function that no traced path had, or NULL if all were found.
 * *near, which the filter owns: functions with similar names. */
const char *trace_filter_missing(const struct trace_filter *filter, const struct trace_near **near);

#endif
