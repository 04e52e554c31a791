/* The filter of `cpprof trace`: by amount, by name, by the functions of the call path. */
#ifndef COLLECT_SAMPLE_EVENT_FILTER_H
#define COLLECT_SAMPLE_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/near_names.h"
#include "profile/profile.h"
#include "resources/resources.h"

enum { EVENT_FUNCTIONS_MAX = 32, EVENT_NAMES_MAX = 32 };

struct event_filter {
	uint64_t min[RESOURCE_REQUESTS_MAX]; /* by request, gticks */
	const char *names[EVENT_NAMES_MAX];  /* shell patterns; one must match */
	size_t name_count;
	const char *functions[EVENT_FUNCTIONS_MAX]; /* all must be in the path */
	size_t function_count;
	uint32_t *holds; /* by function of the profile: bit i if it is functions[i]; owned */
	size_t holds_count, holds_capacity;
	uint32_t found; /* bit i: the profile has functions[i] */
	struct near_names near[EVENT_FUNCTIONS_MAX];
};

/* Adds "--min WORDS": the least amount, for every resource that is counted in such a unit. A filter begins
 * as {0}. Returns 0, or ERROR_USAGE if no resource is counted in such a unit. */
int event_filter_min(struct event_filter *filter, const char *words, const struct resource_request *requests,
		     size_t count, struct error *error);
/* Adds a pattern, or a function. Returns 0, or ERROR_USAGE if there are too many. */
int event_filter_name(struct event_filter *filter, const char *pattern, struct error *error);
int event_filter_function(struct event_filter *filter, const char *function, struct error *error);
void event_filter_release(struct event_filter *filter);

/* Tests the properties that need no symbols: the name of resource `request`, the amount, and the system
 * call's name (NULL: none). */
bool event_filter_passes(const struct event_filter *filter, size_t request, const char *name, const char *syscall,
			 uint64_t amount);

/* Reads the functions that the profile gained since the last call; called before event_filter_passes_path.
 * Returns 0 or ERROR_MEMORY. */
int event_filter_add_functions(struct event_filter *filter, const struct profile *profile);
/* Returns whether a path of functions contains all required functions. */
bool event_filter_passes_path(const struct event_filter *filter, const uint32_t *functions, size_t count);
/* Returns the next required function, from number *next, that no traced path contained, with similar names; NULL if
 * there is none. Advances *next, which begins as 0. The filter owns the result. */
struct near_names *event_filter_missing(struct event_filter *filter, size_t *next);

#endif
