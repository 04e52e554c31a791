/* The part of a view that hangs below one label. */
#ifndef EXPLORE_SUBTREE_H
#define EXPLORE_SUBTREE_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* A view whose only path below the root starts at `label`: the subtrees of all
 * its outermost occurrences, taken together. Labels, total and samples are
 * those of `view`, which must outlive it; node_hits too, so that it is a tree to
 * print and not one to take other analyses of. NULL: ERROR_MEMORY. */
struct view *subtree_new(const struct view *view, uint32_t label, struct error *error);
void subtree_free(struct view *subtree); /* NULL is fine; never view_free */

#endif
