/*
 * The merged tree of labels, without a hash table and without recursion.
 *
 * Each profile node that lies above a hit becomes a member; the children of one
 * node are neighbours in `members`:
 *
 *   members  | children of node 0 | of node 1 | ...        first[n]: where node n's start
 *
 * A member belongs, at any time, to one view node under construction, with a
 * position in its location's run of labels:
 *
 *   profile node at location [main | read inlined | END]
 *                                       ^ next_label
 *
 * Taking a view node from the stack, all its members step on: one that has
 * labels left joins the child of that label; one that is at its END gives the
 * view node its hits, and its own children join the child of their first label.
 * `stamp` and `slot`, one each per label, find that child in two look-ups. Taking
 * the last pushed first numbers the nodes in depth-first order.
 *
 * Large trees do not fit the cache: members hold all that is needed when their
 * turn comes, and a member's children are fetched when it joins.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/error.h"

struct member {
	uint64_t hits;
	uint32_t label;       /* text id with which it joins its parent */
	uint32_t next_label;  /* index in frame_labels */
	uint32_t first_child; /* index in members */
	uint32_t child_count;
	uint32_t next;   /* next member of the same view node */
	bool start_only; /* nothing but start code from the root to here */
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
	uint32_t *first; /* per profile node, and one: index of its first child in `members` */
	struct member *members;
	bool *start_only;     /* per profile node; see struct member */
	uint32_t *stamp;      /* per label: the view node whose children were last asked for it */
	uint32_t *slot;       /* ... and its place in `groups` */
	struct group *groups; /* the stack */
	size_t group_count;
	size_t group_capacity;
	size_t node_limit; /* view nodes that there can be at most */
};

/* Counts the children that are above a hit: parents have smaller numbers. Node
 * n's count goes to first[n + 2]; the sums then stand in first[n + 1] for where
 * n's children start, and filling in moves each to its end, which is where
 * those of n + 1 start: what first[n + 1] is to say. */
static int count_members(struct tree *tree)
{
	const struct profile *profile = tree->build->profile;
	const uint64_t *hits = tree->view->node_hits;
	uint32_t *first = calloc(profile->node_count + 2, sizeof(*first));
	tree->first = first;
	if (!first)
		return ERROR_MEMORY;
	size_t count = 0;
	for (size_t i = profile->node_count - 1; i > 0; i--) {
		if (hits[i] == 0 && first[i + 2] == 0)
			continue;
		first[profile->nodes[i].parent + 2]++;
		count++;
	}
	for (size_t i = 2; i < profile->node_count + 2; i++)
		first[i] += first[i - 1];
	tree->members = calloc(count + 1, sizeof(*tree->members));
	return tree->members ? 0 : ERROR_MEMORY;
}

/* The member of profile node `node`, but for its children. */
static inline int start_member(struct tree *tree, uint32_t node, struct member *member)
{
	struct view_build *build = tree->build;
	const struct profile_node *nodes = build->profile->nodes;
	uint32_t parent = nodes[node].parent;
	const struct location_labels *location = &build->locations[nodes[node].location];
	uint32_t dropped = 0;
	int64_t label = location->label;
	if (tree->start_only[parent]) {
		dropped = location->lead;
		member->start_only = tree->start_only[node] = dropped == location->count;
		label = location->top;
	} else if (build->view->options.by == VIEW_CALLSITE) {
		label = labels_of_call(build, nodes[node].location, nodes[parent].location);
		if (label < 0)
			return (int)label;
	}
	build->drafts[label].used = true;
	member->label = (uint32_t)label;
	member->next_label = location->first + dropped + !member->start_only;
	tree->node_limit += 1 + location->count - dropped;
	return 0;
}

static int fill_members(struct tree *tree)
{
	const struct profile *profile = tree->build->profile;
	uint32_t *first = tree->first;
	tree->start_only[PROFILE_ROOT] = true;
	tree->node_limit = 1;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		/* None of i's children is filled in yet: first[i + 1] is their start. */
		struct member member = { .hits = tree->view->node_hits[i],
					 .first_child = first[i + 1],
					 .child_count = first[i + 2] - first[i + 1] };
		if (member.hits == 0 && member.child_count == 0)
			continue;
		int result = start_member(tree, i, &member);
		if (result < 0)
			return result;
		tree->members[first[profile->nodes[i].parent + 1]++] = member;
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

static int join_children(struct tree *tree, const struct member *parent, uint32_t node, uint32_t depth)
{
	int result = 0;
	uint32_t end = parent->first_child + parent->child_count;
	for (uint32_t child = parent->first_child; child < end && result == 0; child++) {
		const struct member *member = &tree->members[child];
		__builtin_prefetch(&tree->members[member->first_child]);
		result = join(tree, node, depth, child, member->label);
	}
	return result;
}

/* The root's children: the first frames below start code, and samples of
 * start code alone, which keep their innermost frame. */
static int join_root(struct tree *tree)
{
	/* Start code whose children are still to look at; the root first. */
	struct member *stack = NULL;
	size_t count = 0, capacity = 0;
	int result = ARRAY_RESERVE(stack, capacity, 1);
	if (result == 0)
		stack[count++] = (struct member){ .first_child = tree->first[0], .child_count = tree->first[1] };
	tree->view->hits[0] = tree->view->node_hits[PROFILE_ROOT];
	while (count > 0 && result == 0) {
		struct member parent = stack[--count];
		uint32_t end = parent.first_child + parent.child_count;
		for (uint32_t child = parent.first_child; child < end && result == 0; child++) {
			struct member *member = &tree->members[child];
			if (!member->start_only) {
				result = join(tree, 0, 1, child, member->label);
				continue;
			}
			result = ARRAY_RESERVE(stack, capacity, count + 1);
			if (result == 0)
				stack[count++] = *member;
			member->child_count = 0;
			if (result == 0 && member->hits > 0)
				result = join(tree, 0, 1, child, member->label);
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
		view->hits[node] += at->hits;
		result = join_children(tree, at, node, group.depth + 1);
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

int tree_build(struct view_build *build)
{
	struct tree tree = { .build = build, .view = build->view };
	tree.start_only = calloc(build->profile->node_count, sizeof(*tree.start_only));
	int result = tree.start_only ? count_members(&tree) : ERROR_MEMORY;
	if (result == 0)
		result = fill_members(&tree);
	if (result == 0)
		result = labels_finish(build);
	if (result == 0)
		result = grow(&tree);
	free(tree.first);
	free(tree.members);
	free(tree.start_only);
	free(tree.stamp);
	free(tree.slot);
	free(tree.groups);
	return result < 0 ? result : finish(build->view);
}
