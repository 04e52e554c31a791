/* How the hits of a selection divide among threads, processes, or programs, which are the processes of one name; or along the tree of
 * processes, in which the processes of one name with one parent are one row. */
#ifndef ANALYZE_SHARES_H
#define ANALYZE_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum share_owner { SHARE_OF_THREAD, SHARE_OF_PROCESS, SHARE_OF_PROGRAM, SHARE_OF_PROCESS_TREE };

struct share {
	/* Index in the profile's threads or processes; of several processes, the first of them. PROFILE_NONE: hits without a thread */
	uint32_t owner;
	uint32_t members; /* the processes of a program that have hits; all processes of a row of the tree; else 1 */
	uint32_t depth;   /* in the tree, the number of rows above it; else 0 */
	uint64_t own;     /* in the tree, the hits without the processes that they started; else `hits` */
	uint64_t hits;    /* > 0 */
};

struct share_list {
	/* By decreasing hits, ties by index; in the tree, the rows below a row follow it in this order. */
	struct share *shares;
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
