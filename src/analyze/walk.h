/*
 * The walk of the downward profile, shared by those that follow it: below each
 * outermost node of a root label, in depth-first order, with the folded path
 * P kept in step. Internal to analyze/.
 *
 *	struct fold_walk walk;
 *	fold_walk_init(&walk, view, roots);
 *	while (fold_walk_next(&walk)) {
 *		... walk.node, walk.label; P before it is walk.fold
 *		fold_walk_enter(&walk, entry of P + label);
 *	}
 *	fold_walk_release(&walk);
 */
#ifndef ANALYZE_WALK_H
#define ANALYZE_WALK_H

#include <stdbool.h>

#include "analyze/fold.h"
#include "analyze/view.h"

/* A node above the one being visited. */
struct walk_level {
	uint32_t end;    /* of its subtree */
	uint32_t length; /* of P after it */
	uint32_t label;  /* appended to P by it; FOLD_NONE: it cut P back */
	uint32_t mark;   /* for the caller; 0 when entered */
	struct fold_undo undo;
};

struct fold_walk {
	const struct view *view;
	struct fold fold; /* P of the parent of `node`; empty at an outermost root */
	const struct label_set *roots;
	uint32_t node;
	uint32_t label;
	uint32_t subtree_end; /* of the outermost root that is being walked */
	struct walk_level *levels;
	size_t level_count;
};

/* 0 or ERROR_MEMORY. `roots` must outlive the walk. */
int fold_walk_init(struct fold_walk *walk, const struct view *view, const struct label_set *roots);
void fold_walk_release(struct fold_walk *walk);
/* Goes to the next node; false: there is none. */
bool fold_walk_next(struct fold_walk *walk);
/* P = fold(P, label). `entry` is kept at the label's place if it is appended. */
void fold_walk_enter(struct fold_walk *walk, uint32_t entry);
/* The level of the parent of `node`; none (NULL) at an outermost root. */
static inline struct walk_level *fold_walk_parent(struct fold_walk *walk)
{
	return walk->level_count ? &walk->levels[walk->level_count - 1] : NULL;
}

#endif
