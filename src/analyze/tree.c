/*
 * Builds the merged tree of labels, without recursion and without a hash table.
 *
 * At any time, each profile node that is above a hit is a member of one view node under construction. It has a
 * position in its location's run of labels:
 *
 *   profile node at location [main | read inlined | END]
 *                                       ^ position
 *
 * When a view node is popped from the stack, each of its members moves on. A member with labels left joins the child
 * for its next label. A member at its END gives the view node its hits, and the member's own children join the
 * children for their first labels. `stamp` and `slot`, one each per label, find a child in two array accesses. The
 * order of the stack numbers the nodes depth first.
 *
 * Large trees do not fit the cache. Each profile node therefore needs only a few bytes, and the data for the next
 * step of a member is prefetched when it joins. Paths that were recorded together are close in memory anyway.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/error.h"

/* A view node that has no number yet. */
struct group {
	uint64_t hits; /* of samples that end here but have no member */
	uint32_t label;
	uint32_t parent;
	uint32_t head; /* first member */
	uint32_t depth;
};

struct tree {
	struct view_build *build;
	struct view *view;
	/* The children of n that have or lead to hits: child[first[n]] ... child[first[n + 1] - 1]. */
	uint32_t *first;
	uint32_t *child;
	uint32_t *next; /* per profile node: the next member of the same view node */
	/* per profile node: index in frame_labels; only if its location has several labels */
	uint32_t *position;
	uint32_t *call_label; /* VIEW_CALLSITE: per profile node, the text id of its first label */
	uint32_t *stamp;      /* per label: the last view node that got a child for it */
	uint32_t *slot;       /* per label: index of that child in `groups` */
	uint32_t *ends;       /* per profile node: the view node where its paths end; NULL: not wanted */
	struct group *groups; /* the stack */
	size_t group_count;
	size_t group_capacity;
	size_t node_limit; /* upper bound of the number of view nodes */
};

static inline const struct location_labels *location_of(const struct tree *tree, uint32_t node)
{
	return &tree->build->locations[tree->build->nodes[node].location];
}

/* Lists the children that have or lead to hits. Parents have smaller numbers than their children. The number of n's
 * children is counted at first[n + 2]. After adding up, first[n + 1] is the start of n's children; storing them
 * advances it to their end, which is the start of those of n + 1, its final value. */
static int link_children(struct tree *tree)
{
	const struct profile_node *nodes = tree->build->nodes;
	size_t node_count = tree->build->node_count;
	const uint64_t *hits = tree->build->node_hits;
	uint32_t *first = tree->first;
	tree->node_limit = 1;
	for (size_t i = node_count - 1; i > 0; i--) {
		if (hits[i] == 0 && first[i + 2] == 0)
			continue;
		first[nodes[i].parent + 2]++;
		tree->node_limit += location_of(tree, (uint32_t)i)->count;
	}
	for (size_t i = 2; i < node_count + 2; i++)
		first[i] += first[i - 1];
	tree->child = malloc((first[node_count + 1] + 1) * sizeof(*tree->child));
	if (!tree->child)
		return ERROR_MEMORY;
	for (uint32_t i = 1; i < node_count; i++) {
		/* None of i's children is stored yet. */
		if (hits[i] > 0 || first[i + 2] > first[i + 1])
			tree->child[first[nodes[i].parent + 1]++] = i;
	}
	return tree->node_limit < PROFILE_NONE ? 0 : ERROR_LIMIT;
}

static bool is_start_code(const struct location_labels *location)
{
	return location->lead == location->count;
}

/* Makes the labels of call sites, which depend on the caller, before labels are numbered. */
static int label_calls(struct tree *tree)
{
	struct view_build *build = tree->build;
	const struct profile_node *nodes = build->nodes;
	bool *start_only = calloc(build->node_count, sizeof(*start_only));
	tree->call_label = malloc(build->node_count * sizeof(*tree->call_label));
	int64_t label = start_only && tree->call_label ? 0 : ERROR_MEMORY;
	if (label == 0)
		start_only[PROFILE_ROOT] = true;
	for (uint32_t i = 1; i < build->node_count && label >= 0; i++) {
		uint32_t parent = nodes[i].parent;
		if (tree->build->node_hits[i] == 0 && tree->first[i] == tree->first[i + 1])
			continue;
		if (start_only[parent]) {
			start_only[i] = is_start_code(location_of(tree, i));
			label = location_of(tree, i)->top;
		} else {
			label = labels_of_call(build, nodes[i].location, nodes[parent].location);
		}
		if (label < 0)
			break;
		build->drafts[label].used = true;
		tree->call_label[i] = (uint32_t)label;
	}
	free(start_only);
	return label < 0 ? (int)label : 0;
}

/* Returns the child of view node `parent` for a label (text id), or NULL if memory is exhausted. */
static inline struct group *group_of(struct tree *tree, uint32_t parent, uint32_t depth, uint32_t text)
{
	uint32_t label = tree->build->label_of_text[text];
	if (tree->stamp[label] != parent) {
		if (ARRAY_RESERVE(tree->groups, tree->group_capacity, tree->group_count + 1) < 0)
			return NULL;
		tree->stamp[label] = parent;
		tree->slot[label] = (uint32_t)tree->group_count;
		tree->groups[tree->group_count++] =
			(struct group){ .label = label, .parent = parent, .head = PROFILE_NONE, .depth = depth };
	}
	return &tree->groups[tree->slot[label]];
}

/* Makes a member join the child of `parent` for a label. */
static inline int join(struct tree *tree, uint32_t parent, uint32_t depth, uint32_t member, uint32_t text)
{
	struct group *group = group_of(tree, parent, depth, text);
	if (!group)
		return ERROR_MEMORY;
	tree->next[member] = group->head;
	group->head = member;
	return 0;
}

static int compare_groups(const void *left, const void *right)
{
	uint32_t a = ((const struct group *)left)->label, b = ((const struct group *)right)->label;
	return (a < b) - (a > b);
}

/* Sorts the new children of one node: the smallest label last, because the node on top of the stack is numbered
 * first. */
static void sort_groups(struct group *groups, size_t count)
{
	if (count > 16) {
		qsort(groups, count, sizeof(*groups), compare_groups);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct group moving = groups[i];
		size_t at = i;
		for (; at > 0 && groups[at - 1].label < moving.label; at--)
			groups[at] = groups[at - 1];
		groups[at] = moving;
	}
}

static int join_children(struct tree *tree, uint32_t member, uint32_t node, uint32_t depth)
{
	int result = 0;
	for (uint32_t i = tree->first[member]; i < tree->first[member + 1] && result == 0; i++) {
		uint32_t child = tree->child[i];
		const struct location_labels *location = location_of(tree, child);
		__builtin_prefetch(&tree->first[child]);
		__builtin_prefetch(&tree->build->node_hits[child]);
		if (location->count > 1)
			tree->position[child] = location->first + 1;
		result = join(tree, node, depth, child, tree->call_label ? tree->call_label[child] : location->label);
	}
	return result;
}

/* Joins a child of start code, or of the root, without its leading start code. If it is only start code, its own
 * samples are counted at its innermost frame. */
static int join_top(struct tree *tree, uint32_t child)
{
	const struct location_labels *location = location_of(tree, child);
	if (!is_start_code(location)) {
		tree->position[child] = location->first + location->lead + 1;
		return join(tree, 0, 1, child, location->top);
	}
	uint64_t hits = tree->build->node_hits[child];
	struct group *group = hits > 0 ? group_of(tree, 0, 1, location->top) : NULL;
	if (group)
		group->hits += hits;
	return hits > 0 && !group ? ERROR_MEMORY : 0;
}

/* Makes the root's children: the first frames below start code. */
static int join_root(struct tree *tree)
{
	/* nodes whose children are not handled yet: the root, then start code */
	uint32_t *stack = NULL;
	size_t count = 0, capacity = 0;
	int result = ARRAY_RESERVE(stack, capacity, 1);
	if (result == 0)
		stack[count++] = PROFILE_ROOT;
	while (count > 0 && result == 0) {
		uint32_t node = stack[--count];
		for (uint32_t i = tree->first[node]; i < tree->first[node + 1] && result == 0; i++) {
			uint32_t child = tree->child[i];
			result = join_top(tree, child);
			if (result < 0 || !is_start_code(location_of(tree, child)))
				continue;
			result = ARRAY_RESERVE(stack, capacity, count + 1);
			if (result == 0)
				stack[count++] = child;
		}
	}
	free(stack);
	return result;
}

/* Numbers the group on top of the stack and pushes its children. */
static int grow_node(struct tree *tree)
{
	struct view *view = tree->view;
	const uint32_t *labels = tree->build->frame_labels;
	struct group group = tree->groups[--tree->group_count];
	uint32_t node = (uint32_t)view->node_count++;
	uint64_t hits = group.hits;
	size_t base = tree->group_count;
	if (group.depth > view->depth)
		view->depth = group.depth;
	int result = 0;
	for (uint32_t member = group.head, next; member != PROFILE_NONE && result == 0; member = next) {
		next = tree->next[member];
		if (location_of(tree, member)->count > 1 && labels[tree->position[member]] != LABEL_END) {
			result = join(tree, node, group.depth + 1, member, labels[tree->position[member]++]);
			continue;
		}
		hits += tree->build->node_hits[member];
		if (tree->ends)
			tree->ends[member] = node;
		result = join_children(tree, member, node, group.depth + 1);
	}
	view->parent[node] = group.parent;
	view->label[node] = group.label;
	view->hits[node] = hits;
	sort_groups(tree->groups + base, tree->group_count - base);
	return result;
}

static int grow(struct tree *tree)
{
	struct view *view = tree->view;
	size_t limit = tree->node_limit, nodes = tree->build->node_count, labels = view->label_count + 1;
	view->parent = malloc(limit * sizeof(*view->parent));
	view->label = malloc(limit * sizeof(*view->label));
	view->hits = malloc(limit * sizeof(*view->hits));
	tree->next = malloc(nodes * sizeof(*tree->next));
	tree->position = malloc(nodes * sizeof(*tree->position));
	tree->stamp = malloc(labels * sizeof(*tree->stamp));
	tree->slot = malloc(labels * sizeof(*tree->slot));
	if (!view->parent || !view->label || !view->hits || !tree->next || !tree->position || !tree->stamp ||
	    !tree->slot)
		return ERROR_MEMORY;
	memset(tree->stamp, 0xff, labels * sizeof(*tree->stamp));
	view->parent[0] = view->label[0] = PROFILE_NONE;
	view->hits[0] = tree->build->node_hits[PROFILE_ROOT];
	view->node_count = 1;
	int result = join_root(tree);
	sort_groups(tree->groups, tree->group_count);
	while (result == 0 && tree->group_count > 0)
		result = grow_node(tree);
	return result;
}

/* Computes weights, subtree ends and lists of children from the parents. */
static int finish(struct view *view)
{
	size_t count = view->node_count;
	view->weight = malloc(count * sizeof(*view->weight));
	view->end = malloc(count * sizeof(*view->end));
	view->child = malloc(count * sizeof(*view->child));
	view->child_start = malloc((count + 1) * sizeof(*view->child_start));
	if (!view->weight || !view->end || !view->child || !view->child_start)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		view->weight[i] = view->hits[i];
		view->end[i] = (uint32_t)i + 1;
	}
	for (size_t i = count - 1; i > 0; i--) {
		uint32_t parent = view->parent[i];
		if (view->end[parent] < view->end[i])
			view->end[parent] = view->end[i];
		view->weight[parent] += view->weight[i];
	}
	uint32_t next = 0;
	for (uint32_t i = 0; i < count; i++) {
		view->child_start[i] = next;
		for (uint32_t child = i + 1; child < view->end[i]; child = view->end[child])
			view->child[next++] = child;
	}
	view->child_start[count] = next;
	return 0;
}

static int expect_view_nodes(struct tree *tree)
{
	size_t bytes = tree->build->node_count * sizeof(*tree->ends);
	tree->ends = malloc(bytes);
	if (!tree->ends)
		return ERROR_MEMORY;
	memset(tree->ends, 0xff, bytes);
	return 0;
}

/* Returns the child of the root at which join_top counted the hits of start code. */
static uint32_t end_at_top(const struct tree *tree, uint32_t node)
{
	const struct view *view = tree->view;
	uint32_t label = tree->build->label_of_text[location_of(tree, node)->top];
	for (uint32_t i = view->child_start[0]; i < view->child_start[1]; i++)
		if (view->label[view->child[i]] == label)
			return view->child[i];
	return PROFILE_NONE;
}

static int keep_view_nodes(struct tree *tree)
{
	const struct view_build *build = tree->build;
	struct view *view = tree->view;
	view->view_node = malloc(build->profile->node_count * sizeof(*view->view_node));
	if (!view->view_node)
		return ERROR_MEMORY;
	tree->ends[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < build->node_count; i++)
		if (tree->ends[i] == PROFILE_NONE && build->node_hits[i] > 0)
			tree->ends[i] = end_at_top(tree, i);
	for (uint32_t i = 0; i < build->profile->node_count; i++)
		view->view_node[i] = tree->ends[build->shown ? build->shown[i] : i];
	return 0;
}

int tree_build(struct view_build *build)
{
	struct tree tree = { .build = build, .view = build->view };
	tree.first = calloc(build->node_count + 2, sizeof(*tree.first));
	int result = tree.first ? link_children(&tree) : ERROR_MEMORY;
	if (result == 0 && build->view->options.keep_view_nodes)
		result = expect_view_nodes(&tree);
	if (result == 0 && build->view->options.by == VIEW_CALLSITE)
		result = label_calls(&tree);
	if (result == 0)
		result = labels_finish(build);
	if (result == 0)
		result = grow(&tree);
	free(tree.first);
	free(tree.child);
	free(tree.next);
	free(tree.position);
	free(tree.call_label);
	free(tree.stamp);
	free(tree.slot);
	free(tree.groups);
	if (result == 0)
		result = finish(build->view);
	if (result == 0 && tree.ends)
		result = keep_view_nodes(&tree);
	free(tree.ends);
	return result;
}
