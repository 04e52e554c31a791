/*
 * The trees of several views as one: a node for each call path that one of them has, with the amounts of two sides, A and B. The views
 * are of the recordings of two programs (which paths became more expensive?), or of two resources of one profile (which paths fault
 * more than they compute?). Labels match by their identities (identity.h), as in a comparison of lists.
 */
#ifndef ANALYZE_TREE_PAIR_H
#define ANALYZE_TREE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/analyses.h"
#include "analyze/view.h"
#include "base/error.h"

/* The weights of the tree, which are the widths of boxes.
 *
 *   first     the hits of the first view, the only one of A
 *   larger    gticks: a node's own weight is the larger of its own amounts, which are means over the recordings of a side, and its
 *             weight is the sum of the own weights from it on. So a function that is new or gone has its full width, and a
 *             function with equal amounts has the width of one side:
 *
 *                 A:      main 20 { f 10, gone 10 }      B:  main 40 { f 10, new 30 }
 *                 larger: main 50 { f 10, gone 10, new 30 } */
enum tree_pair_layout { TREE_PAIR_FIRST, TREE_PAIR_LARGER };

struct tree_pair {
	/* A view for flame.h: it has the labels of all views. It has no node_hits, and cannot be analyzed further. All else that is not
	 * stated here it has from the first view. */
	struct view tree;
	uint64_t scale; /* the tree's weights are in this part of a hit, or of a gtick: 1 if there is one view a side */
	uint64_t *weight;           /* the tree's; owned */
	double *gticks[DIFF_SIDES]; /* per node of the tree: the mean over the recordings of the side; owned */
	double total[DIFF_SIDES];   /* the same of the selections */
	/* per node: whether its amounts differ by more than chance, by the rule of diff_mark over all nodes; NULL unless all
	 * views are of one resource */
	bool *significant;
};

/* `views` [counts[A] + counts[B]], the views of A first, must outlive the pair; both counts are positive. `spread` is as in struct
 * diff_run. Returns NULL with `error` set: ERROR_MEMORY, ERROR_LIMIT for 2^32 nodes. */
struct tree_pair *tree_pair_new(const struct view *const *views, const size_t counts[DIFF_SIDES],
				enum tree_pair_layout layout, double spread, struct error *error);
void tree_pair_free(struct tree_pair *pair); /* accepts NULL */

#endif
