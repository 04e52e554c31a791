/*
 * Builds the merged tree of labels, without recursion and without a hash table.
 *
 * At any time, each profile node that has or is above a hit is a member of one view node under construction. It has a
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
 * Large trees do not fit the cache. All that a step needs of a profile node is therefore in one record, the records of
 * the children of a node are next to each other, and they are prefetched when the node joins.
 *
 * Long loops call a function for each part of the work, because a browser, in which this runs too (ui/page), replaces a
 * function by an optimized one between two calls, and never within a call.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "base/array.h"
#include "base/error.h"
#include "base/huge_pages.h"
#include "base/slices.h"
#include "profile/tail_calls.h"

/* A profile node that has or is above a hit; with zeros, one of any resource. The root has no record. */
struct member {
	uint64_t hits;
	uint32_t first; /* its children are the members first ... first + count - 1 */
	uint32_t count;
	uint32_t next; /* the next member of the same view node */
	uint32_t at;   /* its location; once it has joined a view node: index in frame_labels of its next label */
};

/* A view node that has no number yet. */
struct group {
	uint64_t hits; /* of samples that end here but have no member */
	uint32_t label;
	uint32_t parent;
	uint32_t head; /* first member */
	uint32_t depth;
	bool is_sampled; /* with zeros: samples end here that have no member */
};

struct tree {
	struct view_build *build;
	struct view *view;
	struct member *members;
	uint32_t top_count; /* members 0 ... top_count - 1 are the children of the root */
	/* While members are made: the children of profile node n are the members first[n + 1] ... first[n + 2] - 1. */
	uint32_t *first;
	uint32_t *node;       /* per member: its profile node; NULL: not wanted */
	uint32_t *call_label; /* VIEW_CALLSITE: per profile node, the text id of its first label */
	uint32_t *stamp;      /* per label: the last view node that got a child for it */
	uint32_t *slot;       /* per label: index of that child in `groups` */
	uint32_t *ends;       /* per profile node: the view node where its paths end; NULL: not wanted */
	struct group *groups; /* the stack */
	size_t group_count;
	size_t group_capacity;
	size_t node_limit; /* upper bound of the number of view nodes */
	bool has_tails;    /* functions were inserted for tail calls */
};

static inline const struct location_labels *location_of(const struct tree *tree, uint32_t node)
{
	return &tree->build->locations[tree->build->nodes[node].location];
}

/* --- members --- */

/* Returns whether samples end at a node. */
static inline bool is_sampled(const struct view_build *build, size_t node)
{
	return build->node_hits[node] > 0 || (build->node_sampled && build->node_sampled[node]);
}

/* Counts the children of the nodes first ... end - 1 that have or lead to hits: n's at first[n + 2]. Children have
 * larger numbers than their parents, so the children of a node are counted before the node. */
static void count_children(void *context, size_t begin, size_t end)
{
	struct tree *tree = context;
	const struct profile_node *nodes = tree->build->nodes;
	uint32_t *first = tree->first;
	size_t limit = 0;
	for (size_t i = end; i-- > begin;) {
		if (i == PROFILE_ROOT || (!is_sampled(tree->build, i) && first[i + 2] == 0))
			continue;
		first[nodes[i].parent + 2]++;
		limit += location_of(tree, (uint32_t)i)->count;
	}
	tree->node_limit += limit;
}

/* Returns whether a node has or leads to hits. None of its children may be placed yet. */
static inline bool is_member(const struct tree *tree, uint32_t node)
{
	return is_sampled(tree->build, node) || tree->first[node + 2] > tree->first[node + 1];
}

/* Makes the members of nodes. first[n + 1], the place of n's first child, advances to the place after its last one. */
static void place_members(void *context, size_t begin, size_t end)
{
	struct tree *tree = context;
	const struct profile_node *nodes = tree->build->nodes;
	const uint64_t *hits = tree->build->node_hits;
	uint32_t *first = tree->first;
	for (uint32_t i = begin > 0 ? (uint32_t)begin : 1; i < end; i++) {
		if (!is_member(tree, i))
			continue;
		uint32_t place = first[nodes[i].parent + 1]++;
		tree->members[place] = (struct member){ .hits = hits[i],
							.first = first[i + 1],
							.count = first[i + 2] - first[i + 1],
							.at = nodes[i].location };
		if (tree->node)
			tree->node[place] = i;
	}
}

/* Sets the places of all members. */
static int count_members(struct tree *tree)
{
	size_t count = tree->build->node_count;
	tree->first = calloc(count + 2, sizeof(*tree->first));
	if (!tree->first)
		return ERROR_MEMORY;
	huge_pages_advise(tree->first, (count + 2) * sizeof(*tree->first));
	tree->node_limit = 1;
	slices_run_back(count, count_children, tree);
	for (size_t i = 2; i < count + 2; i++)
		tree->first[i] += tree->first[i - 1];
	tree->top_count = tree->first[PROFILE_ROOT + 2];
	return tree->node_limit < PROFILE_NONE ? 0 : ERROR_LIMIT;
}

static int make_members(struct tree *tree)
{
	size_t count = tree->build->node_count, members = tree->first[count + 1];
	tree->members = malloc((members + 1) * sizeof(*tree->members));
	if (!tree->members)
		return ERROR_MEMORY;
	huge_pages_advise(tree->members, members * sizeof(*tree->members));
	if (tree->call_label || tree->view->options.keep_view_nodes || tree->has_tails || tree->build->node_sampled) {
		tree->node = malloc((members + 1) * sizeof(*tree->node));
		if (!tree->node)
			return ERROR_MEMORY;
	}
	slices_run(count, place_members, tree);
	free(tree->first);
	tree->first = NULL;
	return 0;
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
		if (!is_member(tree, i))
			continue;
		if (start_only[parent]) {
			start_only[i] = is_start_code(location_of(tree, i));
			label = location_of(tree, i)->top;
		} else {
			label = frame_labels_of_call(build, nodes[i].location, nodes[parent].location);
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
	tree->members[member].next = group->head;
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

static int join_children(struct tree *tree, struct member parent, uint32_t node, uint32_t depth)
{
	int result = 0;
	for (uint32_t i = parent.first; i < parent.first + parent.count && result == 0; i++) {
		struct member *child = &tree->members[i];
		const struct location_labels *location = &tree->build->locations[child->at];
		__builtin_prefetch(&tree->members[child->first]);
		child->at = location->first + (location->count > 0);
		result = join(tree, node, depth, i,
			      tree->call_label ? tree->call_label[tree->node[i]] : location->label);
	}
	return result;
}

/* Joins a child of start code, or of the root, without its leading start code. If it is only start code, its own
 * samples are counted at its innermost frame. */
static int join_top(struct tree *tree, uint32_t member, const struct location_labels *location)
{
	struct member *child = &tree->members[member];
	if (!is_start_code(location)) {
		child->at = location->first + location->lead + 1;
		return join(tree, 0, 1, member, location->top);
	}
	bool is_zero = tree->build->node_sampled && tree->build->node_sampled[tree->node[member]];
	if (child->hits == 0 && !is_zero)
		return 0;
	struct group *group = group_of(tree, 0, 1, location->top);
	if (!group)
		return ERROR_MEMORY;
	group->hits += child->hits;
	group->is_sampled = group->is_sampled || is_zero;
	return 0;
}

/* A run of members. */
struct run {
	uint32_t next, end;
};

/* Makes the root's children: the first frames below start code. */
static int join_root(struct tree *tree)
{
	/* members that are not handled yet: the children of the root, and of start code */
	struct run *stack = NULL;
	size_t count = 0, capacity = 0;
	int result = ARRAY_RESERVE(stack, capacity, 1);
	if (result == 0)
		stack[count++] = (struct run){ 0, tree->top_count };
	while (count > 0 && result == 0) {
		struct run *run = &stack[count - 1];
		if (run->next == run->end) {
			count--;
			continue;
		}
		uint32_t member = run->next++;
		const struct location_labels *location = &tree->build->locations[tree->members[member].at];
		struct run below = { tree->members[member].first,
				     tree->members[member].first + tree->members[member].count };
		result = join_top(tree, member, location);
		if (result < 0 || !is_start_code(location))
			continue;
		result = ARRAY_RESERVE(stack, capacity, count + 1);
		if (result == 0)
			stack[count++] = below;
	}
	free(stack);
	return result;
}

static void mark_tail(struct tree *tree, uint32_t node, uint32_t member)
{
	const struct view_build *build = tree->build;
	uint32_t location = location_origin(build, build->nodes[tree->node[member]].location);
	bool is_tail =
		build->profile->locations[location].is_tail && !tail_calls_are_ambiguous(build->profile, location);
	tree->view->tails[node] |= is_tail ? VIEW_TAIL : VIEW_RECORDED;
}

/* Numbers the group on top of the stack and pushes its children. */
static __attribute__((noinline)) int grow_node(struct tree *tree)
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
	if (view->sampled)
		view->sampled[node] = group.is_sampled;
	for (uint32_t i = group.head, next; i != PROFILE_NONE && result == 0; i = next) {
		struct member *member = &tree->members[i];
		uint32_t label = labels[member->at];
		next = member->next;
		if (label != LABEL_END) {
			member->at++;
			result = join(tree, node, group.depth + 1, i, label);
			continue;
		}
		hits += member->hits;
		if (tree->ends)
			tree->ends[tree->node[i]] = node;
		if (view->tails)
			mark_tail(tree, node, i);
		if (view->sampled && tree->build->node_sampled[tree->node[i]])
			view->sampled[node] = true;
		result = join_children(tree, *member, node, group.depth + 1);
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
	size_t limit = tree->node_limit, labels = view->label_count + 1;
	view->parent = malloc(limit * sizeof(*view->parent));
	view->label = malloc(limit * sizeof(*view->label));
	view->hits = malloc(limit * sizeof(*view->hits));
	view->tails = tree->has_tails ? calloc(limit, sizeof(*view->tails)) : NULL;
	view->sampled = view->node_sampled ? calloc(limit, sizeof(*view->sampled)) : NULL;
	tree->stamp = malloc(labels * sizeof(*tree->stamp));
	tree->slot = malloc(labels * sizeof(*tree->slot));
	if (!view->parent || !view->label || !view->hits || !tree->stamp || !tree->slot ||
	    (tree->has_tails && !view->tails) || (view->node_sampled && !view->sampled))
		return ERROR_MEMORY;
	huge_pages_advise(view->parent, limit * sizeof(*view->parent));
	huge_pages_advise(view->label, limit * sizeof(*view->label));
	huge_pages_advise(view->hits, limit * sizeof(*view->hits));
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

static void begin_weights(void *context, size_t begin, size_t end)
{
	struct view *view = context;
	for (size_t i = begin; i < end; i++) {
		view->weight[i] = view->hits[i];
		view->end[i] = (uint32_t)i + 1;
	}
}

static void add_weights(void *context, size_t begin, size_t end)
{
	struct view *view = context;
	for (size_t i = end; i-- > begin;) {
		if (i == 0)
			continue;
		uint32_t parent = view->parent[i];
		if (view->end[parent] < view->end[i])
			view->end[parent] = view->end[i];
		view->weight[parent] += view->weight[i];
	}
}

/* The list of n's children begins behind the children of the nodes before n, whose last one is at child_start[n] - 1. */
static void list_children(void *context, size_t begin, size_t end)
{
	struct view *view = context;
	uint32_t next = view->child_start[begin];
	for (size_t i = begin; i < end; i++) {
		for (uint32_t child = (uint32_t)i + 1; child < view->end[i]; child = view->end[child])
			view->child[next++] = child;
		view->child_start[i + 1] = next;
	}
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
	huge_pages_advise(view->weight, count * sizeof(*view->weight));
	huge_pages_advise(view->end, count * sizeof(*view->end));
	huge_pages_advise(view->child, count * sizeof(*view->child));
	huge_pages_advise(view->child_start, count * sizeof(*view->child_start));
	slices_run(count, begin_weights, view);
	slices_run_back(count, add_weights, view);
	view->child_start[0] = 0;
	slices_run(count, list_children, view);
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

static int map_view_nodes(struct tree *tree)
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
	tree.has_tails = !build->view->options.no_tail_calls && tail_calls_any(build->profile);
	int result = count_members(&tree);
	if (result == 0 && build->view->options.keep_view_nodes)
		result = expect_view_nodes(&tree);
	if (result == 0 && build->view->options.by == VIEW_CALLSITE)
		result = label_calls(&tree);
	if (result == 0)
		result = frame_labels_finish(build);
	if (result == 0)
		result = make_members(&tree);
	if (result == 0)
		result = grow(&tree);
	free(tree.first);
	free(tree.members);
	free(tree.node);
	free(tree.call_label);
	free(tree.stamp);
	free(tree.slot);
	free(tree.groups);
	if (result == 0)
		result = finish(build->view);
	if (result == 0 && tree.ends)
		result = map_view_nodes(&tree);
	free(tree.ends);
	return result;
}
