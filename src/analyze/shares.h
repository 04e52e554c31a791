/* How the hits of a selection divide among threads, processes, or programs: the processes of one name. */
#ifndef ANALYZE_SHARES_H
#define ANALYZE_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum share_owner { SHARE_OF_THREAD, SHARE_OF_PROCESS, SHARE_OF_PROGRAM };

struct share {
	/* Index in the profile's threads or processes; of a program, the first of its processes. PROFILE_NONE: hits without a thread */
	uint32_t owner;
	uint32_t members; /* the processes of a program that have hits; else 1 */
	uint64_t hits;    /* > 0 */
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
