/*
 * Flame graphs (B. Gregg, "The Flame Graph", CACM 59(6), 2016): a tree as boxes. A box is as wide as its weight, and its children
 * lie side by side below it, from its left edge on. The rest of its width is its own.
 *
 *   stacks    the view's tree: a box is a call path, its weight the hits of the samples whose stacks begin with it. The tree of a
 *             subtree (subtree.h) shows what a function calls. Siblings are in the order of their labels
 *   callers   the same stacks from their innermost frames outwards: a box at depth 1 is a function's body, its children are its
 *             callers. A box's own width is the width of the stacks that begin there. With roots, the stacks end at their innermost
 *             frame with a root's label, which is the box at depth 1, and stacks without such a frame are left out.
 *             Siblings are in the order of their weights, the heaviest first
 *
 * Paths are not folded: folded paths (the downward and the upward profile) share samples, and their boxes would not fit side by side.
 *
 * A picture has no room for all boxes. Narrow siblings that lie side by side become one box, which has their number and their weight:
 *
 *   |--- f ---|-- g --|others: 3 functions|
 *
 * flame_visible finds the boxes that a picture shows, in time in proportion to these boxes and their children, not to the tree.
 * The tree of callers can be several times as large as the view, so its boxes are made when their parent is first visible.
 */
#ifndef ANALYZE_FLAME_H
#define ANALYZE_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum { FLAME_ROOT = 0 }; /* the box that holds all others; it has no label */

struct flame;

/* Each returns a flame graph that the caller frees before the view, or NULL with `error` set: ERROR_MEMORY. `roots` may be NULL. */
struct flame *flame_of_stacks(const struct view *view, struct error *error);
struct flame *flame_of_callers(const struct view *view, const struct label_set *roots, struct error *error);
void flame_free(struct flame *flame); /* accepts NULL */

/* One box, or several that were joined. */
struct flame_box {
	uint64_t start;  /* its left edge, in hits from the left edge of the window's box */
	uint64_t weight; /* its width in hits */
	uint64_t own;    /* the part of it without children, in hits; 0 for joined boxes */
	uint32_t node;   /* its number, for a later window; of joined boxes, the number of the first */
	uint32_t label;  /* index in view->labels; PROFILE_NONE for the root and for joined boxes */
	uint32_t depth;  /* below the window's box, which is at 0 */
	uint32_t joined; /* the number of joined siblings; 0: it is one box */
	bool is_marked;  /* its label is marked, or the label of a joined box */
};

/* The contents of a picture: a box and all below it, between two positions. */
struct flame_window {
	uint32_t node;
	uint64_t from, to; /* hits from the left edge of `node`: from < to */
	uint64_t smallest; /* siblings of less weight are joined; if they still have less, left out; 0 is like 1 */
	uint32_t depths;   /* how many levels below `node` are included; 0: all */
	const bool *marks; /* [view->label_count]: labels that are marked; NULL: none */
};

/* Writes the boxes of the window that overlap [from, to), parents before children, siblings from left to right; at most
 * `capacity` of them. Returns the number of all such boxes, or ERROR_NOT_FOUND (no such node), ERROR_MEMORY. */
int64_t flame_visible(struct flame *flame, const struct flame_window *window, struct flame_box *boxes, size_t capacity);

/* Sets *box to a box that is known, with its depth below the root; its start is not known and is 0. Returns 0 or
 * ERROR_NOT_FOUND. */
int flame_box(const struct flame *flame, uint32_t node, struct flame_box *box);

/* Returns the box above a box, or PROFILE_NONE: it is the root, or no such box is known. */
uint32_t flame_parent(const struct flame *flame, uint32_t node);

/* Returns the path of a box, from the root down, as the downward profile credits its hits: the labels above the box folded, then its own.
 * Sets *count to the number of labels. The caller frees it. Returns NULL if memory is exhausted or no such box is known. */
uint32_t *flame_folded_path(const struct flame *flame, uint32_t node, size_t *count);

/* Returns the hits of the samples whose stacks have a label with marks[label], each sample once. `marks` is
 * [view->label_count]. */
uint64_t flame_matched(const struct view *view, const bool *marks);

#endif
