/* The part of a view that hangs below a function. */
#ifndef ANALYZE_SUBTREE_H
#define ANALYZE_SUBTREE_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* A view whose paths start at the labels of `roots`: the subtrees of all their
 * outermost occurrences, those of one label taken together. Labels, total and samples are
 * those of `view`, which must outlive it; node_hits too, so that it is a tree to
 * print and not one to take other analyses of. NULL: ERROR_MEMORY. */
struct view *subtree_new(const struct view *view, const struct label_set *roots, struct error *error);
void subtree_free(struct view *subtree); /* NULL is fine; never view_free */

#endif
