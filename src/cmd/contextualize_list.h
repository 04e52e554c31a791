/* The ranked call paths of `cpprof contextualize`. */
#ifndef CMD_CONTEXTUALIZE_LIST_H
#define CMD_CONTEXTUALIZE_LIST_H

#include "analyze/candidates.h"
#include "profile/profile.h"

struct candidates {
	struct view *view;
	struct candidate_list *list;
};

/* Ranks the paths of the first resource. Returns 0 or a negative error. Call candidates_release in any case. */
int candidates_find(struct candidates *candidates, const struct profile *profile, double threshold,
		    struct error *error);
void candidates_release(struct candidates *candidates);

/* Returns "main;uniquify_db;qsort", which the caller frees, or NULL if there is no memory. */
char *candidates_path(const struct candidates *candidates, size_t index);

#endif
