/* How the hits of a selection divide among threads or processes. */
#ifndef ANALYZE_SHARES_H
#define ANALYZE_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum share_owner { SHARE_OF_THREAD, SHARE_OF_PROCESS };

struct share {
	uint32_t owner; /* index in the profile's threads or processes; PROFILE_NONE: hits without a thread */
	uint64_t hits;  /* > 0 */
};

struct share_list {
	struct share *shares; /* by decreasing hits, ties by index */
	size_t count;
	enum share_owner of;
};

/* Adds up the hits that the options select. Returns a list that the caller frees, or NULL with `error` set: ERROR_MEMORY, or
 * ERROR_NOT_FOUND for a resource that the profile does not have. */
struct share_list *analyze_shares(const struct profile *profile, const struct view_options *options,
				  enum share_owner of, struct error *error);

/* Returns the hits that `errors` has for each row of `rows`, 0 where it has none, like path_errors; or NULL with `error` set:
 * ERROR_MEMORY. The caller frees the array. */
uint64_t *share_errors(const struct share_list *rows, const struct share_list *errors, struct error *error);
void share_list_free(struct share_list *list); /* accepts NULL */

#endif
