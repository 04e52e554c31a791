/* Call paths on which a function works otherwise than on the others: candidates for a copy of the function of their own
 * (docs/definitions.md, "Candidates for contextualization"). */
#ifndef ANALYZE_CANDIDATES_H
#define ANALYZE_CANDIDATES_H

#include "analyze/view.h"

/* The category of a mix that adds most to its divergence: a call, if any call adds to it. */
struct candidate_difference {
	uint32_t line, callee;  /* labels: the line that executes, and what it calls; callee PROFILE_NONE: nothing */
	double here, elsewhere; /* its share of the context, and of the function's other contexts */
};

struct candidate {
	uint32_t *path; /* labels of `view`, one of each function, outermost first; owned */
	size_t length;
	uint64_t hits;     /* below the path */
	double divergence; /* of the path's mix from the function's mix, in bits; above 0 */
	double score; /* share x divergence; of a function further in, if the path ends at library code before it */
	struct candidate_difference difference; /* of the context with the score */
	uint32_t context;                       /* private to the analysis */
	double bound;                           /* total if the path cost nothing, as a fraction: what-if */
};

struct candidate_list {
	struct candidate *items; /* by decreasing score */
	size_t count;
};

/* Writes the name of a function of a path, cut off at `bytes`: "f", or "f@a.c" where the profile has functions of this name in several files.
 * Returns `text`. */
const char *candidate_name(const struct view *view, uint32_t label, char *text, size_t bytes);

/* `view` is by VIEW_LINE. Leaves out paths with a smaller share than `threshold`. Returns a list that the caller frees, or NULL:
 * ERROR_MEMORY or ERROR_LIMIT. */
struct candidate_list *analyze_candidates(const struct view *view, double threshold, struct error *error);
void candidate_list_free(struct candidate_list *list); /* accepts NULL */

#endif
