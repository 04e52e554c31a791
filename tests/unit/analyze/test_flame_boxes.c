/*
 * Random stacks as flame graphs, and pairs of them as one tree, against their definitions (analyze/flame.h, analyze/tree_pair.h):
 * all boxes, and the boxes of random windows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/flame.h"
#include "analyze/subtree.h"
#include "analyze/tree_pair.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

enum { ROUNDS = 60, WINDOWS = 12, BOXES = 4096, DEPTH = 8 };

/* --- the definition: a tree of labels --- */

struct node {
	uint32_t parent, label;
	uint64_t weight, own;
};

struct tree {
	struct node nodes[BOXES];
	size_t count;
	bool has_heaviest_first; /* siblings are in the order of their weights, not of their labels */
};

static void start_tree(struct tree *tree, bool has_heaviest_first)
{
	tree->count = 1;
	tree->has_heaviest_first = has_heaviest_first;
	tree->nodes[0] = (struct node){ .parent = PROFILE_NONE, .label = PROFILE_NONE };
}

static uint32_t child_of(struct tree *tree, uint32_t parent, uint32_t label)
{
	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].parent == parent && tree->nodes[i].label == label)
			return i;
	assert_true(tree->count < BOXES);
	tree->nodes[tree->count] = (struct node){ .parent = parent, .label = label };
	return (uint32_t)tree->count++;
}

static void add_stack(struct tree *tree, const uint32_t *labels, size_t length, uint64_t hits)
{
	uint32_t at = 0;
	tree->nodes[0].weight += hits;
	for (size_t i = 0; i < length; i++) {
		at = child_of(tree, at, labels[i]);
		tree->nodes[at].weight += hits;
	}
	tree->nodes[at].own += hits;
}

/* Fills in the tree of callers: stacks from their innermost root (NULL: any frame) outwards. */
static void make_callers(struct tree *tree, const struct view *view, const struct label_set *roots)
{
	start_tree(tree, true);
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t labels[DEPTH + 1];
		size_t length = 0;
		for (uint32_t at = node; at != 0; at = view->parent[at])
			if (length > 0 || !roots || label_set_has(roots, view->label[at]))
				labels[length++] = view->label[at];
		if (length > 0 && view->hits[node] > 0)
			add_stack(tree, labels, length, view->hits[node]);
	}
}

/* Fills in the tree of stacks, which begin at their outermost root (NULL: any frame). */
static void make_stacks(struct tree *tree, const struct view *view, const struct label_set *roots)
{
	start_tree(tree, false);
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t labels[DEPTH + 1], first = DEPTH + 1, outermost = PROFILE_NONE;
		for (uint32_t at = node; at != 0; at = view->parent[at]) {
			labels[--first] = view->label[at];
			if (!roots || label_set_has(roots, view->label[at]))
				outermost = first;
		}
		if (outermost != PROFILE_NONE && view->hits[node] > 0)
			add_stack(tree, labels + outermost, DEPTH + 1 - outermost, view->hits[node]);
	}
}

/* --- boxes --- */

struct text {
	char bytes[1 << 18];
	size_t used;
};

static void add_box(struct text *text, const struct flame_box *box)
{
	text->used += (size_t)snprintf(text->bytes + text->used, sizeof(text->bytes) - text->used,
				       "%u:%u*%u@%llu+%llu/%llu\n", box->depth, box->label, box->joined,
				       (unsigned long long)box->start, (unsigned long long)box->weight,
				       (unsigned long long)box->own);
	assert_true(text->used < sizeof(text->bytes));
}

static bool is_before(const struct tree *tree, const struct node *a, const struct node *b)
{
	return tree->has_heaviest_first && a->weight != b->weight ? a->weight > b->weight : a->label < b->label;
}

/* Returns the sibling that follows `before` (0: the first one) below `node`, or 0. */
static uint32_t next_child(const struct tree *tree, uint32_t node, uint32_t before)
{
	uint32_t next = 0;
	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].parent == node &&
		    (before == 0 || is_before(tree, &tree->nodes[before], &tree->nodes[i])) &&
		    (next == 0 || is_before(tree, &tree->nodes[i], &tree->nodes[next])))
			next = i;
	return next;
}

static void add_boxes(struct text *text, const struct tree *tree, uint32_t node, uint64_t start, uint32_t depth,
		      const struct flame_window *window);

/* Adds narrow siblings, which are joined unless there is only one. */
static void add_group(struct text *text, const struct tree *tree, struct flame_box *group,
		      const struct flame_window *window)
{
	if (group->joined == 1 && group->weight >= window->smallest)
		add_boxes(text, tree, group->node, group->start, group->depth, window);
	else if (group->joined > 1 && group->weight >= window->smallest)
		add_box(text, group);
	*group = (struct flame_box){ .label = PROFILE_NONE, .depth = group->depth };
}

/* Adds the boxes of a node and below it that the window shows. */
static void add_boxes(struct text *text, const struct tree *tree, uint32_t node, uint64_t start, uint32_t depth,
		      const struct flame_window *window)
{
	const struct node *at = &tree->nodes[node];
	struct flame_box group = { .label = PROFILE_NONE, .depth = depth + 1 };
	add_box(text, &(struct flame_box){ start, at->weight, at->own, 0, at->label, depth, 0, false });
	if (window->depths > 0 && depth >= window->depths)
		return;
	for (uint32_t i = next_child(tree, node, 0); i != 0; i = next_child(tree, node, i)) {
		uint64_t weight = tree->nodes[i].weight;
		if (start + weight > window->from && start < window->to) {
			bool is_narrow = weight < window->smallest;
			if (!is_narrow)
				add_group(text, tree, &group, window);
			if (group.joined++ == 0) {
				group.node = i;
				group.start = start;
			}
			group.weight += weight;
			if (!is_narrow)
				add_group(text, tree, &group, window);
		}
		start += weight;
	}
	add_group(text, tree, &group, window);
}

static struct text found, expected;
static struct tree tree;
static struct flame_box boxes[BOXES];

static int64_t find_boxes(struct flame *flame, const struct flame_window *window)
{
	int64_t count = flame_visible(flame, window, boxes, BOXES);
	assert_in_range(count, 1, BOXES);
	found.used = 0;
	for (int64_t i = 0; i < count; i++)
		add_box(&found, &boxes[i]);
	return count;
}

/* The box's number in the tree of the definition: it has the same labels above it. */
static uint32_t node_of(const struct flame *flame, uint32_t box)
{
	struct flame_box at;
	assert_int_equal(flame_box(flame, box, &at), 0);
	if (box == FLAME_ROOT)
		return 0;
	uint32_t above = node_of(flame, flame_parent(flame, box));
	return child_of(&tree, above, at.label);
}

/* Fails with the first box that differs. */
static void assert_same_text(void)
{
	size_t at = 0, line = 0;
	for (; found.bytes[at] && found.bytes[at] == expected.bytes[at]; at++)
		if (found.bytes[at] == '\n')
			line = at + 1;
	if (found.bytes[at] != expected.bytes[at])
		fail_msg("%.60s, not %.60s", found.bytes + line, expected.bytes + line);
}

static void check_windows(struct flame *flame, struct random *random)
{
	struct flame_window window = { .to = UINT64_MAX };
	for (unsigned i = 0; i < WINDOWS; i++) {
		uint32_t node = node_of(flame, window.node);
		expected.used = 0;
		add_boxes(&expected, &tree, node, 0, 0, &window);
		int64_t count = find_boxes(flame, &window);
		assert_same_text();
		for (int64_t box = 0; box < count; box++) {
			struct flame_box same;
			assert_int_equal(flame_box(flame, boxes[box].node, &same), 0);
			if (boxes[box].joined > 0)
				continue;
			assert_int_equal(same.weight, boxes[box].weight);
			if (window.node == FLAME_ROOT)
				assert_int_equal(same.depth, boxes[box].depth);
		}
		/* A window of the whole graph, or below one of the boxes that were shown. */
		const struct flame_box *next = &boxes[random_below(random, (uint64_t)count)];
		bool is_whole = i % 2 || next->joined > 0;
		window = (struct flame_window){ .node = is_whole ? FLAME_ROOT : next->node };
		uint64_t width = is_whole ? tree.nodes[0].weight : next->weight;
		window.from = random_below(random, width + 1);
		window.to = window.from + 1 + random_below(random, width + 1);
		window.smallest = random_below(random, 6);
		window.depths = (uint32_t)random_below(random, 4);
	}
}

static void random_stacks(struct paths *paths, struct random *random, const char *names)
{
	paths_start(paths, RESOURCE_MERGED);
	for (uint64_t left = 1 + random_below(random, 30); left > 0; left--) {
		char stack[2 * DEPTH + 2] = "";
		size_t length = 0;
		for (uint64_t depth = 1 + random_below(random, DEPTH); depth > 0; depth--) {
			stack[length++] = names[random_below(random, strlen(names))];
			stack[length++] = depth > 1 ? ';' : '\0';
		}
		paths_add(paths, stack, 1 + random_below(random, 9));
	}
}

static void graphs_are_their_definitions(void **state)
{
	(void)state;
	struct random random = { .state = 77 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths paths;
		random_stacks(&paths, &random, round % 2 ? "abc" : "abcdefghi");
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		uint32_t labels[] = { 0, 1, 2 };
		struct label_set roots = { .labels = labels,
					   .count = 1 + random_below(&random,
								     view->label_count < 3 ? view->label_count : 3) };
		for (unsigned rooted = 0; rooted < 2; rooted++) {
			struct view *stacks = rooted ? subtree_new(view, &roots, NULL) : view;
			struct flame *flame = flame_of_stacks(stacks, NULL);
			make_stacks(&tree, view, rooted ? &roots : NULL);
			check_windows(flame, &random);
			flame_free(flame);
			if (rooted)
				subtree_free(stacks);
			flame = flame_of_callers(view, rooted ? &roots : NULL, NULL);
			make_callers(&tree, view, rooted ? &roots : NULL);
			check_windows(flame, &random);
			flame_free(flame);
		}
		view_free(view);
		paths_end(&paths);
	}
}

/* The hits of a stack with several marked frames count once. */
static void matches_are_their_definition(void **state)
{
	(void)state;
	struct random random = { .state = 78 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths paths;
		random_stacks(&paths, &random, "abcdef");
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		bool marks[6] = { false };
		uint64_t hits = 0;
		for (size_t i = 0; i < 6; i++)
			marks[i] = random_below(&random, 3) == 0;
		for (uint32_t node = 1; node < view->node_count; node++) {
			bool is_marked = false;
			for (uint32_t at = node; at != 0; at = view->parent[at])
				is_marked = is_marked || marks[view->label[at]];
			hits += is_marked ? view->hits[node] : 0;
		}
		assert_int_equal(flame_matched(view, marks), hits);
		view_free(view);
		paths_end(&paths);
	}
}

/* --- pairs --- */

static uint32_t node_of_names(const struct view *view, const struct view *names, uint32_t node)
{
	if (node == 0)
		return 0;
	uint32_t above = node_of_names(view, names, names->parent[node]);
	if (above == PROFILE_NONE)
		return PROFILE_NONE;
	for (uint32_t i = view->child_start[above]; i < view->child_start[above + 1]; i++)
		if (strcmp(view->labels[view->label[view->child[i]]].text, names->labels[names->label[node]].text) == 0)
			return view->child[i];
	return PROFILE_NONE;
}

static void check_tree(const struct view *view)
{
	size_t listed = 0, deepest = 0;
	for (uint32_t node = 0; node < view->node_count; node++) {
		uint32_t end = node + 1;
		size_t depth = 0;
		for (uint32_t at = node; at != 0; at = view->parent[at])
			depth++;
		deepest = depth > deepest ? depth : deepest;
		for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++, listed++) {
			assert_int_equal(view->parent[view->child[i]], node);
			assert_int_equal(view->child[i], end); /* depth first */
			end = view->end[end];
			if (i > view->child_start[node])
				assert_true(view->label[view->child[i]] > view->label[view->child[i - 1]]);
		}
		assert_int_equal(view->end[node], end);
	}
	assert_int_equal(listed, view->node_count - 1);
	assert_int_equal(view->depth, deepest);
}

/* Each path of either view is in the tree, with the hits of both. */
static void pairs_are_their_definition(void **state)
{
	(void)state;
	struct random random = { .state = 79 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct paths sides[2];
		const struct view *views[2];
		for (int side = 0; side < 2; side++) {
			random_stacks(&sides[side], &random, side ? "abcd" : "cdefg");
			views[side] = paths_view(&sides[side], VIEW_FUNCTION);
		}
		enum tree_pair_layout layout = round % 2 ? TREE_PAIR_LARGER : TREE_PAIR_FIRST;
		struct tree_pair *pair = tree_pair_new(views, (const size_t[]){ 1, 1 }, layout, 0, NULL);
		size_t nodes[2] = { 0, 0 };
		assert_non_null(pair);
		check_tree(&pair->tree);
		for (uint32_t node = 0; node < pair->tree.node_count; node++) {
			bool is_known = false;
			for (int side = 0; side < 2; side++) {
				uint32_t own = node_of_names(views[side], &pair->tree, node);
				nodes[side] += own != PROFILE_NONE;
				is_known = is_known || own != PROFILE_NONE;
				double amount = own == PROFILE_NONE ? 0 : (double)views[side]->weight[own];
				assert_float_equal(pair->gticks[side][node], amount, 0);
			}
			assert_true(is_known);
		}
		for (int side = 0; side < 2; side++) {
			assert_int_equal(nodes[side], views[side]->node_count);
			assert_float_equal(pair->total[side], (double)views[side]->total, 0);
		}
		assert_ptr_equal(pair->tree.weight, pair->weight);
		assert_int_equal(pair->scale, 1);
		assert_ptr_equal(pair->tree.profile, views[0]->profile);
		assert_ptr_equal(pair->tree.resource, views[0]->resource);
		assert_int_equal(pair->tree.total, pair->weight[0]);
		if (layout == TREE_PAIR_FIRST)
			assert_int_equal(pair->tree.total, views[0]->total);
		assert_int_equal(pair->tree.samples, views[0]->samples);
		assert_int_equal(pair->tree.independent, views[0]->independent);
		tree_pair_free(pair);
		for (int side = 0; side < 2; side++) {
			view_free((struct view *)views[side]);
			paths_end(&sides[side]);
		}
	}
}

/* Views of two resources have no significant differences. */
static void pairs_of_resources(void **state)
{
	(void)state;
	struct paths sides[2];
	const struct view *views[2];
	for (int side = 0; side < 2; side++) {
		paths_start(&sides[side], RESOURCE_SAMPLED);
		paths_add(&sides[side], "f", 1);
		if (side)
			sides[side].profile->resources[0].name =
				(uint32_t)profile_add_string(sides[side].profile, "faults");
		views[side] = paths_view(&sides[side], VIEW_FUNCTION);
	}
	struct tree_pair *pair = tree_pair_new(views, (const size_t[]){ 1, 1 }, TREE_PAIR_FIRST, 0, NULL);
	assert_null(pair->significant);
	tree_pair_free(pair);
	for (int side = 0; side < 2; side++) {
		view_free((struct view *)views[side]);
		paths_end(&sides[side]);
	}
}

/* A label that is already on the path above folds it back to its first occurrence; the box's own label stays. */
static void paths_are_folded_above_the_box(void **state)
{
	(void)state;
	static const struct {
		const char *stack, *folded;
	} rows[] = {
		{ "main;f;g;f;h", "main f h" }, { "f;g;f;h", "f h" }, { "main;f;f", "main f f" }, { "main", "main" }
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct paths paths;
		paths_start(&paths, RESOURCE_SAMPLED);
		paths_add(&paths, rows[i].stack, 1);
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		struct flame *flame = flame_of_stacks(view, NULL);
		assert_non_null(flame);
		size_t count = 0;
		uint32_t *labels = flame_folded_path(flame, (uint32_t)view->node_count - 1, &count);
		assert_non_null(labels);
		char text[64] = "";
		for (size_t k = 0; k < count; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", k ? " " : "",
				 view->labels[labels[k]].text);
		assert_string_equal(text, rows[i].folded);
		free(labels);
		flame_free(flame);
		view_free(view);
		paths_end(&paths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_are_their_definitions),   cmocka_unit_test(matches_are_their_definition),
		cmocka_unit_test(pairs_are_their_definition),     cmocka_unit_test(pairs_of_resources),
		cmocka_unit_test(paths_are_folded_above_the_box),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
