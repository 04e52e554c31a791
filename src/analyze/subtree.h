/* The part of a view below a function, and its stacks from the inside out. */
#ifndef ANALYZE_SUBTREE_H
#define ANALYZE_SUBTREE_H

#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* Makes a view whose paths start at the labels of `roots`: the merged subtrees of all their outermost occurrences.
 * Labels, total, samples and node_hits are the view's, which must outlive the subtree. The subtree can
 * therefore be printed, but not be analyzed further. Returns NULL: ERROR_MEMORY, ERROR_LIMIT. */
struct view *subtree_new(const struct view *view, const struct label_set *roots, struct error *error);
/* Makes the same of all stacks from their innermost frames outwards: the nodes below the root are bodies with their weights, and a child is a
 * caller of its parent. The own hits of a node are those of the stacks that begin at it. */
struct view *subtree_inverted(const struct view *view, struct error *error);
void subtree_free(struct view *subtree); /* accepts NULL; view_free must not be used */

#endif
