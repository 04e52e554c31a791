#include "analyze/flame_callers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

/* Stacks with one frame in common: `node` of the view is that frame, and the frames inside of it are the frames of the box. */
struct stacks {
	uint32_t label; /* of node */
	uint32_t node;
	uint64_t hits;
};

struct flame_callers {
	const struct view *view;
	struct callers_box *boxes;
	size_t box_count, box_capacity;
	struct stacks *stacks; /* of the boxes that are not expanded yet, and of those that are */
	size_t stack_count, stack_capacity;
};

static int by_label_and_node(const void *left, const void *right)
{
	const struct stacks *a = left, *b = right;
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int add_stacks(struct flame_callers *callers, uint32_t node, uint64_t hits)
{
	if (ARRAY_RESERVE(callers->stacks, callers->stack_capacity, callers->stack_count + 1) < 0)
		return ERROR_MEMORY;
	callers->stacks[callers->stack_count++] =
		(struct stacks){ .label = callers->view->label[node], .node = node, .hits = hits };
	return 0;
}

/* Sorts the stacks from number `from` on, and joins the stacks of the same node. */
static void join_stacks(struct flame_callers *callers, size_t from)
{
	struct stacks *stacks = callers->stacks;
	size_t kept = from;
	if (callers->stack_count == from)
		return;
	qsort(stacks + from, callers->stack_count - from, sizeof(*stacks), by_label_and_node);
	for (size_t i = from; i < callers->stack_count; i++) {
		if (kept > from && stacks[kept - 1].node == stacks[i].node)
			stacks[kept - 1].hits += stacks[i].hits;
		else
			stacks[kept++] = stacks[i];
	}
	callers->stack_count = kept;
}

static int by_weight(const void *left, const void *right)
{
	const struct callers_box *a = left, *b = right;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->label > b->label) - (a->label < b->label);
}

/* Makes a child of `parent` for each label of the stacks from number `from` on. */
static int add_children(struct flame_callers *callers, uint32_t parent, size_t from)
{
	uint32_t first = (uint32_t)callers->box_count;
	for (size_t i = from; i < callers->stack_count; i++) {
		const struct stacks *stacks = &callers->stacks[i];
		struct callers_box *last = callers->box_count > first ? &callers->boxes[callers->box_count - 1] : NULL;
		if (!last || last->label != stacks->label) {
			if (callers->box_count == PROFILE_NONE ||
			    ARRAY_RESERVE(callers->boxes, callers->box_capacity, callers->box_count + 1) < 0)
				return ERROR_MEMORY;
			last = &callers->boxes[callers->box_count++];
			*last = (struct callers_box){ .label = stacks->label, .parent = parent, .stack = i };
		}
		last->weight += stacks->hits;
		last->stack_count++;
	}
	if (callers->box_count > first)
		qsort(callers->boxes + first, callers->box_count - first, sizeof(*callers->boxes), by_weight);
	struct callers_box *box = &callers->boxes[parent];
	box->first = first;
	box->count = (uint32_t)callers->box_count - first;
	box->is_expanded = true;
	return 0;
}

/* Adds the stacks of the samples below a root: each is the stack of the innermost frame with a root's label. innermost[n] becomes
 * the innermost root on the path to node n, which may be n. */
static int add_below(struct flame_callers *callers, const struct label_set *roots, uint32_t top, uint32_t *innermost)
{
	const struct view *view = callers->view;
	int status = 0;
	for (uint32_t node = top; status == 0 && node < view->end[top]; node++) {
		bool is_root = label_set_has(roots, view->label[node]);
		innermost[node] = is_root ? node : innermost[view->parent[node]];
		if (view->hits[node] > 0)
			status = add_stacks(callers, innermost[node], view->hits[node]);
	}
	return status;
}

static int add_below_roots(struct flame_callers *callers, const struct label_set *roots)
{
	const struct view *view = callers->view;
	uint32_t *innermost = calloc(view->node_count, sizeof(*innermost));
	int status = innermost ? 0 : ERROR_MEMORY;
	for (uint32_t node = 1; status == 0 && node < view->node_count;) {
		bool is_root = label_set_has(roots, view->label[node]);
		status = is_root ? add_below(callers, roots, node, innermost) : 0;
		node = is_root ? view->end[node] : node + 1;
	}
	free(innermost);
	return status;
}

/* Adds the stacks of all samples, or of those below a root. */
static int add_all(struct flame_callers *callers, const struct label_set *roots)
{
	const struct view *view = callers->view;
	int status = 0;
	if (roots)
		return add_below_roots(callers, roots);
	for (uint32_t node = 1; status == 0 && node < view->node_count; node++)
		if (view->hits[node] > 0)
			status = add_stacks(callers, node, view->hits[node]);
	return status;
}

struct flame_callers *flame_callers_new(const struct view *view, const struct label_set *roots)
{
	struct flame_callers *callers = calloc(1, sizeof(*callers));
	int status = callers ? 0 : ERROR_MEMORY;
	if (status == 0) {
		callers->view = view;
		status = ARRAY_RESERVE(callers->boxes, callers->box_capacity, 1);
	}
	if (status == 0) {
		callers->boxes[0] = (struct callers_box){ .label = PROFILE_NONE, .parent = PROFILE_NONE };
		callers->box_count = 1;
		status = add_all(callers, roots);
	}
	for (size_t i = 0; status == 0 && i < callers->stack_count; i++)
		callers->boxes[0].weight += callers->stacks[i].hits;
	if (status == 0) {
		join_stacks(callers, 0);
		status = add_children(callers, 0, 0);
	}
	if (status == 0)
		return callers;
	flame_callers_free(callers);
	return NULL;
}

void flame_callers_free(struct flame_callers *callers)
{
	if (!callers)
		return;
	free(callers->boxes);
	free(callers->stacks);
	free(callers);
}

size_t flame_callers_count(const struct flame_callers *callers)
{
	return callers->box_count;
}

const struct callers_box *flame_callers_box(const struct flame_callers *callers, uint32_t node)
{
	return &callers->boxes[node];
}

int flame_callers_expand(struct flame_callers *callers, uint32_t node, uint32_t *first, size_t *count)
{
	struct callers_box box = callers->boxes[node];
	if (!box.is_expanded) {
		size_t boxes = callers->box_count, from = callers->stack_count;
		int status = 0;
		for (size_t i = box.stack; i < box.stack + box.stack_count && status == 0; i++) {
			const struct stacks stacks = callers->stacks[i];
			uint32_t caller = callers->view->parent[stacks.node];
			if (caller != 0)
				status = add_stacks(callers, caller, stacks.hits);
		}
		if (status == 0) {
			join_stacks(callers, from);
			status = add_children(callers, node, from);
		}
		if (status < 0) {
			callers->box_count = boxes;
			callers->stack_count = from;
			return status;
		}
		box = callers->boxes[node];
	}
	*first = box.first;
	*count = box.count;
	return 0;
}
