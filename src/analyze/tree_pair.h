/*
 * The trees of two views as one: a node for each call path that either has, with the hits of both. The views are of two profiles
 * (which paths became more expensive?), or of two resources of one profile (which paths fault more than they compute?). Labels match
 * by their identities (identity.h), as in a comparison of lists.
 */
#ifndef ANALYZE_TREE_PAIR_H
#define ANALYZE_TREE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* The weights of the tree, which are the widths of boxes.
 *
 *   first     the hits of the first view
 *   larger    gticks: a node's own weight is the larger of its own amounts, and its weight is the sum of the own weights from
 *             it on. So a function that is new or gone has its full width, and a function with equal amounts has the width
 *             of one side:
 *
 *                 first:  main 20 { f 10, gone 10 }      second:  main 40 { f 10, new 30 }
 *                 larger: main 50 { f 10, gone 10, new 30 } */
enum tree_pair_layout { TREE_PAIR_FIRST, TREE_PAIR_LARGER };

struct tree_pair {
	/* A view for flame.h: it has the labels of both views. It has no node_hits, and cannot be analyzed further. All else that is not
	 * stated here it has from the first view. */
	struct view tree;
	uint64_t *weight[2];  /* hits, per node of the tree; owned */
	uint64_t *larger;     /* gticks, per node of the tree; owned; NULL unless it is the layout */
	uint64_t total[2];    /* H of both */
	uint64_t interval[2]; /* gticks of a hit */
	/* per node: whether its amounts differ by more than chance, by the rule of diff_mark over all nodes; NULL unless the two
	 * views are of one resource */
	bool *significant;
};

/* `views` must outlive the pair. `spread` is as in struct diff_run. Returns NULL with `error` set: ERROR_MEMORY, ERROR_LIMIT for
 * 2^32 nodes. */
struct tree_pair *tree_pair_new(const struct view *const views[2], enum tree_pair_layout layout, double spread,
				struct error *error);
void tree_pair_free(struct tree_pair *pair); /* accepts NULL */

#endif
