#include "analyze/flame.h"

#include <stdlib.h>

#include "analyze/flame_callers.h"
#include "analyze/fold.h"

struct flame {
	const struct view *view;       /* its nodes are the boxes */
	struct flame_callers *callers; /* owned; has the boxes instead; NULL: stacks */
};

struct flame *flame_of_stacks(const struct view *view, struct error *error)
{
	struct flame *flame = malloc(sizeof(*flame));
	if (flame)
		*flame = (struct flame){ .view = view };
	else
		error_set(error, ERROR_MEMORY, "out of memory");
	return flame;
}

struct flame *flame_of_callers(const struct view *view, const struct label_set *roots, struct error *error)
{
	struct flame *flame = calloc(1, sizeof(*flame));
	if (flame) {
		flame->view = view;
		flame->callers = flame_callers_new(view, roots);
	}
	if (flame && flame->callers)
		return flame;
	free(flame);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

void flame_free(struct flame *flame)
{
	if (!flame)
		return;
	flame_callers_free(flame->callers);
	free(flame);
}

/* The children of a box: ids[0] ..., or without ids first, first + 1, ... */
struct children {
	const uint32_t *ids;
	uint32_t first;
	size_t count;
};

static int children_of(struct flame *flame, uint32_t node, struct children *children)
{
	const struct view *view = flame->view;
	*children = (struct children){ 0 };
	if (flame->callers)
		return flame_callers_expand(flame->callers, node, &children->first, &children->count);
	children->ids = view->child + view->child_start[node];
	children->count = view->child_start[node + 1] - view->child_start[node];
	return 0;
}

static uint64_t weight_of(const struct flame *flame, uint32_t node)
{
	return flame->callers ? flame_callers_box(flame->callers, node)->weight : flame->view->weight[node];
}

static uint32_t label_of(const struct flame *flame, uint32_t node)
{
	return flame->callers ? flame_callers_box(flame->callers, node)->label : flame->view->label[node];
}

static size_t box_count(const struct flame *flame)
{
	return flame->callers ? flame_callers_count(flame->callers) : flame->view->node_count;
}

uint32_t flame_parent(const struct flame *flame, uint32_t node)
{
	if (node == FLAME_ROOT || node >= box_count(flame))
		return PROFILE_NONE;
	return flame->callers ? flame_callers_box(flame->callers, node)->parent : flame->view->parent[node];
}

int flame_box(const struct flame *flame, uint32_t node, struct flame_box *box)
{
	if (node >= box_count(flame))
		return ERROR_NOT_FOUND;
	*box = (struct flame_box){ .weight = weight_of(flame, node), .node = node, .label = label_of(flame, node) };
	for (uint32_t above = flame_parent(flame, node); above != PROFILE_NONE; above = flame_parent(flame, above))
		box->depth++;
	return 0;
}

uint32_t *flame_folded_path(const struct flame *flame, uint32_t node, size_t *count)
{
	struct flame_box box;
	struct fold fold;
	if (flame_box(flame, node, &box) < 0 || fold_init(&fold, box.depth, flame->view->label_count) < 0)
		return NULL;
	uint32_t *labels = malloc((box.depth + 1) * sizeof(*labels));
	for (size_t i = box.depth; labels && i > 0; i--, node = flame_parent(flame, node))
		labels[i - 1] = label_of(flame, node);
	for (size_t i = 0; labels && i + 1 < box.depth; i++) {
		uint32_t depth = fold_find(&fold, labels[i]);
		if (depth == FOLD_NONE)
			fold_append(&fold, labels[i], 0);
		else
			fold.length = depth + 1;
	}
	*count = box.depth > 0 ? fold.length + 1 : 0;
	for (size_t i = 0; labels && i < fold.length; i++)
		labels[i] = fold.at[i].label;
	if (labels && box.depth > 0)
		labels[fold.length] = box.label;
	fold_release(&fold);
	return labels;
}

/* The search for visible boxes: a stack of boxes whose children are still to be visited. */
struct visit {
	struct flame *flame;
	const struct flame_window *window;
	uint64_t smallest; /* at least 1 */
	struct flame_box *boxes;
	size_t capacity, found;
	struct level {
		struct children children;
		size_t next;
		uint64_t at; /* left edge of the next child */
	} * levels;
	size_t level_capacity;
};

static int level_reserve(struct visit *visit, size_t count)
{
	if (count <= visit->level_capacity)
		return 0;
	size_t capacity = visit->level_capacity ? 2 * visit->level_capacity : 64;
	struct level *levels = realloc(visit->levels, capacity * sizeof(*levels));
	if (!levels)
		return ERROR_MEMORY;
	visit->levels = levels;
	visit->level_capacity = capacity;
	return 0;
}

static void add_box(struct visit *visit, const struct flame_box *box)
{
	if (visit->found < visit->capacity)
		visit->boxes[visit->found] = *box;
	visit->found++;
}

static bool is_marked(const struct visit *visit, uint32_t node)
{
	const bool *marks = visit->window->marks;
	uint32_t label = label_of(visit->flame, node);
	return marks && label != PROFILE_NONE && marks[label];
}

static uint32_t child_at(const struct children *children, size_t index)
{
	return children->ids ? children->ids[index] : children->first + (uint32_t)index;
}

/* Adds a box, and its children's level. */
static int enter(struct visit *visit, uint32_t node, uint64_t start, size_t depth)
{
	struct level level = { .at = start };
	int status = level_reserve(visit, depth + 1);
	if (status == 0)
		status = children_of(visit->flame, node, &level.children);
	if (status < 0)
		return status;
	uint64_t weight = weight_of(visit->flame, node);
	uint64_t own = weight;
	for (size_t i = 0; i < level.children.count; i++)
		own -= weight_of(visit->flame, child_at(&level.children, i));
	add_box(visit, &(struct flame_box){ .start = start,
					    .weight = weight,
					    .own = own,
					    .node = node,
					    .label = label_of(visit->flame, node),
					    .depth = (uint32_t)depth,
					    .is_marked = is_marked(visit, node) });
	visit->levels[depth] = level;
	return 0;
}

/* Takes the next child of a level, or several narrow children that lie side by side. Returns false if there is none in the window. */
static bool take_group(struct visit *visit, struct level *level, struct flame_box *group)
{
	const struct flame_window *window = visit->window;
	*group = (struct flame_box){ .label = PROFILE_NONE };
	for (; level->next < level->children.count && level->at < window->to; level->next++) {
		uint32_t node = child_at(&level->children, level->next);
		uint64_t weight = weight_of(visit->flame, node);
		bool is_narrow = weight < visit->smallest;
		if (weight == 0 || level->at + weight <= window->from) {
			level->at += weight;
			continue;
		}
		if (group->joined > 0 && !is_narrow)
			break;
		if (group->joined++ == 0) {
			group->node = node;
			group->start = level->at;
		}
		group->weight += weight;
		group->is_marked |= is_marked(visit, node);
		level->at += weight;
		if (!is_narrow) {
			level->next++;
			break;
		}
	}
	return group->joined > 0;
}

int64_t flame_visible(struct flame *flame, const struct flame_window *window, struct flame_box *boxes, size_t capacity)
{
	if (window->node >= box_count(flame))
		return ERROR_NOT_FOUND;
	struct visit visit = { .flame = flame,
			       .window = window,
			       .smallest = window->smallest > 0 ? window->smallest : 1,
			       .boxes = boxes,
			       .capacity = capacity };
	size_t depth = 0; /* of the last level */
	int status = enter(&visit, window->node, 0, 0);
	while (status == 0) {
		struct flame_box group;
		bool is_last = window->depths > 0 && depth >= window->depths;
		if (is_last || !take_group(&visit, &visit.levels[depth], &group)) {
			if (depth == 0)
				break;
			depth--;
			continue;
		}
		if (group.weight < visit.smallest)
			continue;
		group.depth = (uint32_t)depth + 1;
		if (group.joined > 1)
			add_box(&visit, &group);
		else
			status = enter(&visit, group.node, group.start, ++depth);
	}
	free(visit.levels);
	return status < 0 ? status : (int64_t)visit.found;
}

uint64_t flame_matched(const struct view *view, const bool *marks)
{
	uint64_t hits = 0;
	for (uint32_t node = 1; node < view->node_count;) {
		bool is_marked = marks[view->label[node]];
		hits += is_marked ? view->weight[node] : 0;
		node = is_marked ? view->end[node] : node + 1;
	}
	return hits;
}
