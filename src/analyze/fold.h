/*
 * The folded path P of the definitions: a path that is cut back to the earlier
 * occurrence of a label instead of taking the label twice. Internal to analyze/.
 *
 *   P = (main read parse)      at:  [0] main  [1] read  [2] parse     length 3
 *   P + read                   cut to (main read), length 2; at[2] stays, unused
 *
 * `depth_of` finds a label's place in one step: it holds where the label was last
 * put, and that is true if the place is still within P and holds that label.
 * It cannot point beside a label that is in P: P holds a label once, and every
 * place that was cut off is filled anew, through `depth_of`, before P is that
 * long again.
 *
 * A depth-first walk calls fold_append on the way down and, on the way up,
 * fold_undo with what fold_append gave it.
 */
#ifndef ANALYZE_FOLD_H
#define ANALYZE_FOLD_H

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

#define FOLD_NONE UINT32_MAX

struct fold_place {
	uint32_t label;
	uint32_t entry; /* whatever the walk knows P's first labels, to here, by */
};

struct fold {
	struct fold_place *at;
	uint32_t *depth_of; /* per label */
	uint32_t length;    /* of P */
};

struct fold_undo {
	struct fold_place place; /* what was at the appended place */
	uint32_t depth_of;       /* of the appended label */
};

static inline void fold_release(struct fold *fold)
{
	free(fold->at);
	free(fold->depth_of);
	*fold = (struct fold){ 0 };
}

/* For paths of up to `depth` labels out of `label_count`. 0 or ERROR_MEMORY. */
static inline int fold_init(struct fold *fold, size_t depth, size_t label_count)
{
	fold->length = 0;
	fold->at = calloc(depth + 1, sizeof(*fold->at));
	fold->depth_of = calloc(label_count + 1, sizeof(*fold->depth_of));
	if (fold->at && fold->depth_of)
		return 0;
	fold_release(fold);
	return ERROR_MEMORY;
}

/* The place of a label in P, or FOLD_NONE. */
static inline uint32_t fold_find(const struct fold *fold, uint32_t label)
{
	uint32_t depth = fold->depth_of[label];
	return depth < fold->length && fold->at[depth].label == label ? depth : FOLD_NONE;
}

/* Appends a label that is not in P. */
static inline struct fold_undo fold_append(struct fold *fold, uint32_t label, uint32_t entry)
{
	struct fold_undo undo = { .place = fold->at[fold->length], .depth_of = fold->depth_of[label] };
	fold->at[fold->length] = (struct fold_place){ .label = label, .entry = entry };
	fold->depth_of[label] = fold->length++;
	return undo;
}

/* Takes back the append that put `label` at `depth`. */
static inline void fold_undo(struct fold *fold, uint32_t label, uint32_t depth, struct fold_undo undo)
{
	fold->at[depth] = undo.place;
	fold->depth_of[label] = undo.depth_of;
}

#endif
