/*
 * Compares the ranks of a parallel job: for each path of a list, its hits on each rank. A rank is a value of the label PROFILE_LABEL_RANK; a path
 * that it does not have has 0 hits there. docs/definitions.md defines the figures.
 */
#ifndef ANALYZE_RANKS_H
#define ANALYZE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "analyze/view.h"
#include "base/error.h"

struct rank_entry {
	uint32_t path; /* index in the entries of the list of all ranks, whose hits are the sum */
	uint32_t most; /* index in `ranks`: the first of those with `max` hits */
	uint64_t min, max;
	double mean;
	double chance; /* max - mean that equal ranks exceed by chance in one of 20 recordings; 0: the data is exact */
};

struct rank_list {
	struct rank_entry *entries; /* by decreasing max - mean, ties in the order of the list of all ranks */
	size_t count;
	uint32_t *ranks; /* string ids: the values of the label, in the order of the numbers in them */
	size_t rank_count;
};

/* Returns a list of paths of a view, which has the view's labels, or NULL: an error. */
typedef struct path_list *rank_lister(void *context, const struct view *view, struct error *error);

/* Returns the label sets that have a rank, of those in `chosen` (NULL: all), in the form of view_options.label_sets. The caller frees the array.
 * Returns NULL: ERROR_MEMORY, or ERROR_NOT_FOUND if none has a rank. */
bool *rank_label_sets(const struct profile *profile, const bool *chosen, struct error *error);

/* Returns whether the profile has hits of the view's resource without a rank. */
bool rank_lacks_hits(const struct view *view);

/* The view selects label sets that have a rank, and has view_node. `all` is the list that `lister` makes of it, perhaps without some
 * entries. The ranks are those of all selected label sets, also of sets without hits. Returns NULL: ERROR_MEMORY, ERROR_LIMIT or the errors
 * of `lister`. */
struct rank_list *analyze_ranks(const struct view *view, const struct path_list *all, rank_lister *lister,
				void *context, struct error *error);
void rank_list_free(struct rank_list *list); /* accepts NULL */

/* Return max / mean - 1, and (max - mean) / max * n / (n - 1) of n ranks: 1 if one rank has all hits. `mean` is positive. */
double rank_imbalance(const struct rank_entry *entry);
double rank_imbalance_share(const struct rank_entry *entry, size_t ranks);

#endif
