#include "analyze/walk.h"

int fold_walk_init(struct fold_walk *walk, const struct view *view, const struct label_set *roots)
{
	*walk = (struct fold_walk){ .view = view, .roots = roots };
	walk->levels = malloc((view->depth + 1) * sizeof(*walk->levels));
	if (walk->levels && fold_init(&walk->fold, view->depth, view->label_count) == 0)
		return 0;
	free(walk->levels);
	walk->levels = NULL;
	return ERROR_MEMORY;
}

void fold_walk_release(struct fold_walk *walk)
{
	free(walk->levels);
	fold_release(&walk->fold);
}

/* Leaves all levels whose subtree ends at or before `node`. */
static void leave(struct fold_walk *walk, uint32_t node)
{
	while (walk->level_count > 0 && walk->levels[walk->level_count - 1].end <= node) {
		struct walk_level *level = &walk->levels[--walk->level_count];
		if (level->label != FOLD_NONE)
			fold_undo(&walk->fold, level->label, level->length - 1, level->undo);
	}
	walk->fold.length = walk->level_count > 0 ? walk->levels[walk->level_count - 1].length : 0;
}

bool fold_walk_next(struct fold_walk *walk)
{
	const struct view *view = walk->view;
	uint32_t node = walk->node + 1;
	leave(walk, node);
	if (node >= walk->subtree_end) {
		while (node < view->node_count && !label_set_has(walk->roots, view->label[node]))
			node++;
		if (node >= view->node_count)
			return false;
		walk->subtree_end = view->end[node];
	}
	walk->node = node;
	walk->label = view->label[node];
	return true;
}

void fold_walk_enter(struct fold_walk *walk, uint32_t entry)
{
	struct walk_level *level = &walk->levels[walk->level_count++];
	level->end = walk->view->end[walk->node];
	level->mark = 0;
	uint32_t depth = fold_find(&walk->fold, walk->label);
	if (depth == FOLD_NONE) {
		level->undo = fold_append(&walk->fold, walk->label, entry);
		level->label = walk->label;
	} else {
		level->label = FOLD_NONE;
		walk->fold.length = depth + 1;
	}
	level->length = walk->fold.length;
}
