/*
 * The walk of the downward profile and of analyses that follow it: visits the nodes below each outermost node with a
 * root label, in depth-first order, and maintains the folded path P. Internal to analyze/.
 *
 *   struct fold_walk walk;
 *   fold_walk_init(&walk, view, roots);
 *   while (fold_walk_next(&walk)) {
 *           ... walk.node, walk.label; P before it is walk.fold
 *           fold_walk_enter(&walk, entry of P + label);
 *   }
 *   fold_walk_release(&walk);
 */
#ifndef ANALYZE_WALK_H
#define ANALYZE_WALK_H

#include <stdbool.h>

#include "analyze/fold.h"
#include "analyze/view.h"

/* A node above the current one. */
struct walk_level {
	uint32_t end;    /* of its subtree */
	uint32_t length; /* of P after it */
	uint32_t label;  /* the label that it appended to P; FOLD_NONE: it cut P back */
	uint32_t mark;   /* for the caller; 0 when entered */
	struct fold_undo undo;
};

struct fold_walk {
	const struct view *view;
	struct fold fold; /* P at the parent of `node`; empty at an outermost root */
	const struct label_set *roots;
	uint32_t node;
	uint32_t label;
	uint32_t subtree_end; /* of the current outermost root */
	struct walk_level *levels;
	size_t level_count;
};

/* Returns 0 or ERROR_MEMORY. `roots` must outlive the walk. */
int fold_walk_init(struct fold_walk *walk, const struct view *view, const struct label_set *roots);
void fold_walk_release(struct fold_walk *walk);
/* Goes to the next node. Returns false at the end. */
bool fold_walk_next(struct fold_walk *walk);
/* Sets P to fold(P, label). If the label is appended, `entry` is stored with it. */
void fold_walk_enter(struct fold_walk *walk, uint32_t entry);
/* Returns the level of the parent of `node`, or NULL at an outermost root. */
static inline struct walk_level *fold_walk_parent(struct fold_walk *walk)
{
	return walk->level_count ? &walk->levels[walk->level_count - 1] : NULL;
}

#endif
