/*
 * The folded path P of docs/definitions.md: if a label is in P already, P is cut back to that occurrence instead of
 * getting the label twice. Internal to analyze/.
 *
 *   P = (main read parse)      at:  [0] main  [1] read  [2] parse     length 3
 *   P + read                   cut to (main read), length 2; at[2] stays, unused
 *
 * `depth_of` finds a label's index in P in one step. It holds the index at which the label was last stored, which is
 * valid if it is below P's length and at[index] holds that label. It is never wrong for a label that is in P: P
 * holds a label once, and every index that was cut off is filled again, with an update of `depth_of`, before P has
 * that length again.
 *
 * A depth-first walk calls fold_append on the way down and, on the way up, fold_undo with the result of fold_append.
 */
#ifndef ANALYZE_FOLD_H
#define ANALYZE_FOLD_H

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

#define FOLD_NONE UINT32_MAX

struct fold_step {
	uint32_t label;
	uint32_t entry; /* the walk's handle of P up to this label */
};

struct fold {
	struct fold_step *at;
	uint32_t *depth_of; /* per label: index in `at` */
	uint32_t length;    /* of P */
};

struct fold_undo {
	struct fold_step step; /* previous content of the appended element */
	uint32_t depth_of;     /* previous depth_of of the appended label */
};

static inline void fold_release(struct fold *fold)
{
	free(fold->at);
	free(fold->depth_of);
	*fold = (struct fold){ 0 };
}

/* Makes an empty path with room for `depth` out of `label_count` labels. Returns 0 or ERROR_MEMORY. */
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

/* Returns the index of a label in P, or FOLD_NONE. */
static inline uint32_t fold_find(const struct fold *fold, uint32_t label)
{
	uint32_t depth = fold->depth_of[label];
	return depth < fold->length && fold->at[depth].label == label ? depth : FOLD_NONE;
}

/* Appends a label that is not in P. Returns the state that fold_undo restores. */
static inline struct fold_undo fold_append(struct fold *fold, uint32_t label, uint32_t entry)
{
	struct fold_undo undo = { .step = fold->at[fold->length], .depth_of = fold->depth_of[label] };
	fold->at[fold->length] = (struct fold_step){ .label = label, .entry = entry };
	fold->depth_of[label] = fold->length++;
	return undo;
}

/* Reverts the append that stored `label` at index `depth`. The caller restores the length. */
static inline void fold_undo(struct fold *fold, uint32_t label, uint32_t depth, struct fold_undo undo)
{
	fold->at[depth] = undo.step;
	fold->depth_of[label] = undo.depth_of;
}

#endif
