/*
 * The merged tree of labels, without a hash table and without recursion.
 *
 * Each profile node that lies above a hit is, at any time, a member of one view
 * node under construction, with a position in its location's run of labels:
 *
 *   profile node at location [main | read inlined | END]
 *                                       ^ next
 *
 * Taking a view node from the stack, all its members step on: one that has
 * labels left joins the child of that label; one that is at its END gives the
 * view node its hits, and its own children join the child of their first label.
 * `stamp` and `slot`, one each per label, find that child in two look-ups. Taking
 * the last pushed first numbers the nodes in depth-first order.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/error.h"

struct member {
	uint32_t first_child; /* profile nodes above a hit, as a list through `next` */
	uint32_t next;        /* next sibling; later: next member of the same view node */
	uint32_t label;       /* text id with which it joins its parent */
	uint32_t next_label;  /* index in frame_labels */
};

/* A view node that is not numbered yet. */
struct group {
	uint32_t label;
	uint32_t parent;
	uint32_t head; /* first member */
	uint32_t depth;
};

struct tree {
	struct view_build *build;
	struct view *view;
	struct member *members; /* per profile node */
	bool *start_only;       /* per profile node: nothing but start code from the root to here */
	uint32_t *stamp;        /* per label: the view node whose children were last asked for it */
	uint32_t *slot;         /* ... and its place in `groups` */
	struct group *groups;   /* the stack */
	size_t group_count;
	size_t group_capacity;
	size_t node_limit; /* view nodes that there can be at most */
};

/* Lists the children that are above a hit; parents have smaller numbers. */
static void link_children(struct tree *tree)
{
	const struct profile *profile = tree->build->profile;
	struct member *members = tree->members;
	for (size_t i = 0; i < profile->node_count; i++)
		members[i].first_child = PROFILE_NONE;
	for (size_t i = profile->node_count - 1; i > 0; i--) {
		if (tree->view->node_hits[i] == 0 && members[i].first_child == PROFILE_NONE)
			continue;
		uint32_t parent = profile->nodes[i].parent;
		members[i].next = members[parent].first_child;
		members[parent].first_child = (uint32_t)i;
	}
}

static uint32_t run_end(const uint32_t *labels, uint32_t at)
{
	while (labels[at] != LABEL_END)
		at++;
	return at;
}

/* The first label of each member and where it goes on. */
static int start_members(struct tree *tree)
{
	struct view_build *build = tree->build;
	const struct profile_node *nodes = build->profile->nodes;
	tree->start_only[PROFILE_ROOT] = true;
	tree->node_limit = 1;
	for (size_t i = 1; i < build->profile->node_count; i++) {
		struct member *member = &tree->members[i];
		if (tree->view->node_hits[i] == 0 && member->first_child == PROFILE_NONE)
			continue;
		uint32_t parent = nodes[i].parent, location = nodes[i].location;
		uint32_t first = build->location_first[location];
		int64_t label;
		if (tree->start_only[parent]) {
			first += build->location_lead[location];
			tree->start_only[i] = build->frame_labels[first] == LABEL_END;
			label = build->location_top[location];
		} else {
			label = labels_of_call(build, location, nodes[parent].location);
		}
		if (label < 0)
			return (int)label;
		member->label = (uint32_t)label;
		member->next_label = tree->start_only[i] ? first : first + 1;
		tree->node_limit += 1 + run_end(build->frame_labels, member->next_label) - member->next_label;
	}
	return tree->node_limit < PROFILE_NONE ? 0 : ERROR_LIMIT;
}

/* Makes a member join the child of view node `parent` for a label. */
static inline int join(struct tree *tree, uint32_t parent, uint32_t depth, uint32_t member, uint32_t text)
{
	uint32_t label = tree->build->label_of_text[text];
	if (tree->stamp[label] != parent) {
		if (ARRAY_RESERVE(tree->groups, tree->group_capacity, tree->group_count + 1) < 0)
			return ERROR_MEMORY;
		tree->stamp[label] = parent;
		tree->slot[label] = (uint32_t)tree->group_count;
		tree->groups[tree->group_count++] =
			(struct group){ .label = label, .parent = parent, .head = PROFILE_NONE, .depth = depth };
	}
	struct group *group = &tree->groups[tree->slot[label]];
	tree->members[member].next = group->head;
	group->head = member;
	return 0;
}

static int compare_groups(const void *left, const void *right)
{
	uint32_t a = ((const struct group *)left)->label, b = ((const struct group *)right)->label;
	return (a < b) - (a > b);
}

/* New children of one node: the last pushed, which is numbered first, shall be
 * the smallest label. */
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
	struct member *members = tree->members;
	int result = 0;
	for (uint32_t child = members[member].first_child, next; child != PROFILE_NONE && result == 0; child = next) {
		next = members[child].next;
		result = join(tree, node, depth, child, members[child].label);
	}
	return result;
}

/* The root's children: the first frames below start code, and samples of
 * start code alone, which keep their innermost frame. */
static int join_root(struct tree *tree)
{
	struct member *members = tree->members;
	uint32_t *stack = NULL;
	size_t count = 0, capacity = 0;
	int result = ARRAY_RESERVE(stack, capacity, 1);
	if (result == 0)
		stack[count++] = PROFILE_ROOT;
	tree->view->hits[0] = tree->view->node_hits[PROFILE_ROOT];
	while (count > 0 && result == 0) {
		uint32_t node = stack[--count];
		uint32_t child = members[node].first_child;
		members[node].first_child = PROFILE_NONE;
		for (uint32_t next; child != PROFILE_NONE && result == 0; child = next) {
			next = members[child].next;
			if (tree->start_only[child]) {
				result = ARRAY_RESERVE(stack, capacity, count + 1);
				if (result == 0)
					stack[count++] = child;
			}
			if (result == 0 && (!tree->start_only[child] || tree->view->node_hits[child] > 0))
				result = join(tree, 0, 1, child, members[child].label);
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
	size_t base = tree->group_count;
	view->parent[node] = group.parent;
	view->label[node] = group.label;
	view->hits[node] = 0;
	if (group.depth > view->depth)
		view->depth = group.depth;
	int result = 0;
	for (uint32_t member = group.head, next; member != PROFILE_NONE && result == 0; member = next) {
		struct member *at = &tree->members[member];
		next = at->next;
		if (labels[at->next_label] != LABEL_END) {
			result = join(tree, node, group.depth + 1, member, labels[at->next_label++]);
			continue;
		}
		view->hits[node] += view->node_hits[member];
		result = join_children(tree, member, node, group.depth + 1);
	}
	sort_groups(tree->groups + base, tree->group_count - base);
	return result;
}

static int grow(struct tree *tree)
{
	struct view *view = tree->view;
	size_t limit = tree->node_limit;
	view->parent = malloc(limit * sizeof(*view->parent));
	view->label = malloc(limit * sizeof(*view->label));
	view->hits = malloc(limit * sizeof(*view->hits));
	size_t labels = view->label_count + 1;
	tree->stamp = malloc(labels * sizeof(*tree->stamp));
	tree->slot = malloc(labels * sizeof(*tree->slot));
	if (!view->parent || !view->label || !view->hits || !tree->stamp || !tree->slot)
		return ERROR_MEMORY;
	memset(tree->stamp, 0xff, labels * sizeof(*tree->stamp));
	view->parent[0] = view->label[0] = PROFILE_NONE;
	view->node_count = 1;
	int result = join_root(tree);
	sort_groups(tree->groups, tree->group_count);
	while (result == 0 && tree->group_count > 0)
		result = grow_node(tree);
	return result;
}

/* Weights, subtree ends and lists of children, from the parents. */
static int finish(struct view *view)
{
	size_t count = view->node_count;
	view->weight = malloc(count * sizeof(*view->weight));
	view->end = malloc(count * sizeof(*view->end));
	view->child = malloc(count * sizeof(*view->child));
	view->child_start = calloc(count + 2, sizeof(*view->child_start));
	if (!view->weight || !view->end || !view->child || !view->child_start)
		return ERROR_MEMORY;
	memcpy(view->weight, view->hits, count * sizeof(*view->weight));
	memset(view->end, 0, count * sizeof(*view->end));
	/* child_start[n + 2] counts; the sums then stand one place early, and
	 * filling in moves each to where it belongs. */
	for (size_t i = count - 1; i > 0; i--) {
		uint32_t parent = view->parent[i];
		if (view->end[i] == 0)
			view->end[i] = (uint32_t)i + 1;
		if (view->end[parent] < view->end[i])
			view->end[parent] = view->end[i];
		view->weight[parent] += view->weight[i];
		view->child_start[parent + 2]++;
	}
	view->end[0] = (uint32_t)count;
	for (size_t i = 2; i < count + 2; i++)
		view->child_start[i] += view->child_start[i - 1];
	for (size_t i = 1; i < count; i++)
		view->child[view->child_start[view->parent[i] + 1]++] = (uint32_t)i;
	return 0;
}

int tree_build(struct view_build *build)
{
	size_t count = build->profile->node_count;
	struct tree tree = { .build = build, .view = build->view };
	tree.members = malloc(count * sizeof(*tree.members));
	tree.start_only = calloc(count, sizeof(*tree.start_only));
	int result = tree.members && tree.start_only ? 0 : ERROR_MEMORY;
	if (result == 0) {
		link_children(&tree);
		result = start_members(&tree);
	}
	if (result == 0)
		result = labels_finish(build);
	if (result == 0)
		result = grow(&tree);
	free(tree.members);
	free(tree.start_only);
	free(tree.stamp);
	free(tree.slot);
	free(tree.groups);
	return result < 0 ? result : finish(build->view);
}
