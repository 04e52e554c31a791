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

struct tree_pair {
	/* A view for flame.h: it has the labels of both views, and the weights of `primary`. It has no node_hits, and cannot be
	 * analyzed further. */
	struct view tree;
	uint64_t *weight[2]; /* per node of the tree; owned */
	uint64_t total[2];   /* H of both */
	/* per node: whether its shares differ by more than chance, by the rule of diff_mark over all nodes; NULL unless the two
	 * views are of one resource */
	bool *significant;
};

/* `views` must outlive the pair. `primary` is 0 or 1: whose hits are the tree's weights. Returns NULL with `error` set:
 * ERROR_MEMORY, ERROR_LIMIT for 2^32 nodes. */
struct tree_pair *tree_pair_new(const struct view *const views[2], int primary, struct error *error);
void tree_pair_free(struct tree_pair *pair); /* accepts NULL */

#endif
