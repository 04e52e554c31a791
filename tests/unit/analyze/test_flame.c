/* Flame graphs: their boxes are the boxes of the view's tree, or of the same stacks from their inner ends, and a window finds the boxes
 * that overlap it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/flame.h"
#include "analyze/subtree.h"
#include "analyze/tree_pair.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

enum { BOXES = 64 };

static struct paths paths;

static int start(void **state)
{
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;b;c", 1);
	paths_add(&paths, "main;a", 2);
	paths_add(&paths, "main;b;a;a", 4);
	paths_add(&paths, "other", 8);
	return 0;
}

static int end(void **state)
{
	(void)state;
	paths_end(&paths);
	return 0;
}

static const char *box_name(const struct view *view, const struct flame_box *box)
{
	static char joined[32];
	snprintf(joined, sizeof(joined), "(%u)", box->joined);
	return box->joined > 0 ? joined : box->label == PROFILE_NONE ? "all" : view->labels[box->label].text;
}

/* Writes the boxes of a window as "depth:name@start+weight/own", in their order; "(2)" is a box of two. */
static const char *boxes_text(struct flame *flame, const struct view *view, struct flame_window window)
{
	static char text[2048];
	struct flame_box boxes[BOXES];
	int64_t count = flame_visible(flame, &window, boxes, BOXES);
	size_t used = 0;
	text[0] = 0;
	for (int64_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u:%s@%llu+%llu/%llu", i ? " " : "",
					 boxes[i].depth, box_name(view, &boxes[i]), (unsigned long long)boxes[i].start,
					 (unsigned long long)boxes[i].weight, (unsigned long long)boxes[i].own);
	return text;
}

static struct flame_window whole(void)
{
	return (struct flame_window){ .node = FLAME_ROOT, .from = 0, .to = 15 };
}

/* Returns the number of the first box with that text, within the whole graph. */
static uint32_t box_of(struct flame *flame, const struct view *view, const char *name)
{
	struct flame_box boxes[BOXES];
	const struct flame_window window = whole();
	int64_t count = flame_visible(flame, &window, boxes, BOXES);
	for (int64_t i = 0; i < count; i++)
		if (boxes[i].label != PROFILE_NONE && strcmp(view->labels[boxes[i].label].text, name) == 0)
			return boxes[i].node;
	fail_msg("no box %s", name);
	return 0;
}

static void stacks_are_the_tree(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct flame *flame = flame_of_stacks(view, NULL);
	assert_string_equal(
		boxes_text(flame, view, whole()),
		"0:all@0+15/0 1:main@0+7/0 2:a@0+2/2 2:b@2+5/0 3:a@2+4/0 4:a@2+4/4 3:c@6+1/1 1:other@7+8/8");
	flame_free(flame);
	view_free(view);
}

static void a_window_has_what_overlaps_it(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct flame *flame = flame_of_stacks(view, NULL);
	struct flame_window window = whole();
	window.from = 7;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:other@7+8/8");
	window.from = 6;
	window.to = 7;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:main@0+7/0 2:b@2+5/0 3:c@6+1/1");
	window = whole();
	window.smallest = 5;
	assert_string_equal(boxes_text(flame, view, window),
			    "0:all@0+15/0 1:main@0+7/0 2:b@2+5/0 3:(2)@2+5/0 1:other@7+8/8");
	window.smallest = 6;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:main@0+7/0 2:(2)@0+7/0 1:other@7+8/8");
	window.smallest = 8;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:other@7+8/8");
	window.smallest = 9;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:(2)@0+15/0");
	window = whole();
	window.depths = 1;
	assert_string_equal(boxes_text(flame, view, window), "0:all@0+15/0 1:main@0+7/0 1:other@7+8/8");
	window = (struct flame_window){ .node = box_of(flame, view, "b"), .to = 5 };
	assert_string_equal(boxes_text(flame, view, window), "0:b@0+5/0 1:a@0+4/0 2:a@0+4/4 1:c@4+1/1");
	flame_free(flame);
	view_free(view);
}

static void callers_are_the_stacks_from_inside(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct flame *flame = flame_of_callers(view, NULL, NULL);
	/* a: 2 from main, 4 from a, whose caller is b */
	const char *expected = "0:all@0+15/0 1:other@0+8/8 1:a@8+6/0 2:a@8+4/0 3:b@8+4/0 4:main@8+4/4 2:main@12+2/2 "
			       "1:c@14+1/0 2:b@14+1/0 3:main@14+1/1";
	assert_string_equal(boxes_text(flame, view, whole()), expected);
	/* the boxes that were made stay the same */
	assert_string_equal(boxes_text(flame, view, whole()), expected);
	flame_free(flame);
	view_free(view);
}

static void rooted_graphs(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t label = paths_label(view, "a");
	struct label_set roots = { .labels = &label, .count = 1 };
	/* a stack with a twice counts once: from its innermost a outwards ... */
	struct flame *up = flame_of_callers(view, &roots, NULL);
	struct flame_window window = { .node = FLAME_ROOT, .to = 6 };
	assert_string_equal(boxes_text(up, view, window),
			    "0:all@0+6/0 1:a@0+6/0 2:a@0+4/0 3:b@0+4/0 4:main@0+4/4 2:main@4+2/2");
	flame_free(up);
	/* ... and from its outermost a inwards */
	struct view *subtree = subtree_new(view, &roots, NULL);
	struct flame *down = flame_of_stacks(subtree, NULL);
	assert_string_equal(boxes_text(down, view, window), "0:all@0+6/0 1:a@0+6/2 2:a@0+4/4");
	flame_free(down);
	subtree_free(subtree);
	/* an inner frame of a stack that goes on below the root belongs to the root */
	label = paths_label(view, "b");
	up = flame_of_callers(view, &roots, NULL);
	window.to = 5;
	assert_string_equal(boxes_text(up, view, window), "0:all@0+5/0 1:b@0+5/0 2:main@0+5/5");
	flame_free(up);
	view_free(view);
}

static void single_boxes(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	for (int is_callers = 0; is_callers < 2; is_callers++) {
		struct flame *flame = is_callers ? flame_of_callers(view, NULL, NULL) : flame_of_stacks(view, NULL);
		uint32_t node = box_of(flame, view, "c");
		struct flame_box box;
		assert_int_equal(flame_box(flame, node, &box), 0);
		assert_int_equal(box.weight, 1);
		assert_int_equal(box.depth, is_callers ? 1 : 3);
		assert_int_equal(box.node, node);
		assert_string_equal(view->labels[box.label].text, "c");
		uint32_t above = flame_parent(flame, node);
		assert_int_equal(above == FLAME_ROOT, is_callers);
		assert_int_equal(flame_parent(flame, FLAME_ROOT), PROFILE_NONE);
		assert_int_equal(flame_parent(flame, 1000), PROFILE_NONE);
		assert_int_equal(flame_box(flame, 1000, &box), ERROR_NOT_FOUND);
		assert_int_equal(flame_visible(flame, &(struct flame_window){ .node = 1000, .to = 1 }, &box, 1),
				 ERROR_NOT_FOUND);
		flame_free(flame);
	}
	view_free(view);
}

/* The number of boxes does not depend on the room for them. */
static void a_small_room(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct flame *flame = flame_of_stacks(view, NULL);
	struct flame_box boxes[3] = { { .node = 7 }, { .node = 7 }, { .node = 77 } };
	const struct flame_window window = whole();
	assert_int_equal(flame_visible(flame, &window, boxes, 2), 8);
	assert_string_equal(view->labels[boxes[1].label].text, "main");
	assert_int_equal(boxes[2].node, 77);
	flame_free(flame);
	view_free(view);
}

/* A box is marked by its label, a joined one by a label of one of its siblings. */
static void marked_boxes(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct flame *flame = flame_of_stacks(view, NULL);
	struct flame_box boxes[BOXES];
	bool marks[16] = { false };
	struct flame_window window = whole();
	window.smallest = 6;
	window.marks = marks;
	for (int is_marked = 0; is_marked < 2; is_marked++) {
		marks[paths_label(view, "b")] = is_marked;
		assert_int_equal(flame_visible(flame, &window, boxes, BOXES), 4);
		assert_int_equal(boxes[2].joined, 2);
		assert_int_equal(boxes[2].is_marked, is_marked);
		assert_false(boxes[0].is_marked || boxes[1].is_marked || boxes[3].is_marked);
	}
	flame_free(flame);
	view_free(view);
}

static void a_sample_matches_once(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	bool marks[16] = { false };
	assert_true(view->label_count <= 16);
	assert_int_equal(flame_matched(view, marks), 0);
	marks[paths_label(view, "a")] = true;
	assert_int_equal(flame_matched(view, marks), 6);
	marks[paths_label(view, "b")] = true;
	assert_int_equal(flame_matched(view, marks), 7);
	marks[paths_label(view, "other")] = true;
	assert_int_equal(flame_matched(view, marks), 15);
	view_free(view);
}

static void an_empty_selection(void **state)
{
	(void)state;
	struct view_options options = { .thread = VIEW_ANY, .from_ns = 5 };
	struct view *view = view_new(paths.profile, &options, NULL);
	struct flame *stacks = flame_of_stacks(view, NULL), *callers = flame_of_callers(view, NULL, NULL);
	const struct flame_window window = { .to = 1 };
	assert_string_equal(boxes_text(stacks, view, window), "0:all@0+0/0");
	assert_string_equal(boxes_text(callers, view, window), "0:all@0+0/0");
	flame_free(stacks);
	flame_free(callers);
	flame_free(NULL);
	view_free(view);
}

static const size_t one_a_side[DIFF_SIDES] = { 1, 1 };

/* A second profile: b and c have fewer hits, a has none, and there is a new path. */
static void start_second(struct paths *second)
{
	paths_start(second, RESOURCE_SAMPLED);
	paths_add(second, "other", 80);
	paths_add(second, "main;new", 20);
	for (int i = 0; i < 60; i++)
		paths_add(second, "main;b;c", 1);
}

static uint64_t other_weight(const struct tree_pair *pair, struct flame *flame, const char *name)
{
	return (uint64_t)pair->gticks[DIFF_B][box_of(flame, &pair->tree, name)];
}

static void two_trees_as_one(void **state)
{
	(void)state;
	struct paths second;
	start_second(&second);
	const struct view *const views[2] = { paths_view(&paths, VIEW_FUNCTION), paths_view(&second, VIEW_FUNCTION) };
	struct tree_pair *pair = tree_pair_new(views, one_a_side, TREE_PAIR_FIRST, 0, NULL);
	assert_int_equal(pair->tree.node_count, 9);
	assert_int_equal(pair->tree.depth, 4);
	assert_int_equal(pair->tree.end[0], 9);
	struct flame *flame = flame_of_stacks(&pair->tree, NULL);
	assert_string_equal(
		boxes_text(flame, &pair->tree, whole()),
		"0:all@0+15/0 1:main@0+7/0 2:a@0+2/2 2:b@2+5/0 3:a@2+4/0 4:a@2+4/4 3:c@6+1/1 1:other@7+8/8");
	assert_int_equal(other_weight(pair, flame, "main"), 80);
	assert_int_equal(other_weight(pair, flame, "b"), 60);
	assert_int_equal(other_weight(pair, flame, "a"), 0);
	assert_int_equal(other_weight(pair, flame, "other"), 80);
	assert_int_equal(pair->total[0], 15);
	assert_int_equal(pair->total[1], 160);
	flame_free(flame);
	tree_pair_free(pair);
	tree_pair_free(NULL);
	for (int side = 0; side < 2; side++)
		view_free((struct view *)views[side]);
	paths_end(&second);
}

/* A box's own width is the larger of its own amounts: what only one side has has its full width. */
static void two_trees_side_by_side(void **state)
{
	(void)state;
	struct paths second;
	start_second(&second);
	paths_add(&second, "main", 3);
	second.profile->resources[0].interval = 2 * paths.profile->resources[0].interval;
	const struct view *const views[2] = { paths_view(&paths, VIEW_FUNCTION), paths_view(&second, VIEW_FUNCTION) };
	struct tree_pair *pair = tree_pair_new(views, one_a_side, TREE_PAIR_LARGER, 0, NULL);
	struct flame *flame = flame_of_stacks(&pair->tree, NULL);
	const struct flame_window window = { .to = 1000 };
	assert_int_equal(views[0]->resource->interval, 1);
	assert_string_equal(boxes_text(flame, &pair->tree, window),
			    "0:all@0+332/0 1:main@0+172/6 2:a@0+2/2 2:b@2+124/0 3:a@2+4/0 4:a@2+4/4 3:c@6+120/120 "
			    "2:new@126+40/40 1:other@172+160/160");
	assert_int_equal(pair->tree.total, 332);
	flame_free(flame);
	tree_pair_free(pair);
	for (int side = 0; side < 2; side++)
		view_free((struct view *)views[side]);
	paths_end(&second);
}

/* The amounts of a side are means. Two of three recordings are of A: the weights are in halves of a gtick. */
static void trees_of_several_recordings(void **state)
{
	(void)state;
	static const struct {
		const char *stack;
		uint64_t hits;
	} rows[][3] = { { { "main;f", 4 }, { "gone", 3 } },
			{ { "main;f", 5 } },
			{ { "main;f", 4 }, { "main;new", 1 } } };
	struct paths recordings[3];
	const struct view *views[3];
	for (int i = 0; i < 3; i++) {
		paths_start(&recordings[i], RESOURCE_EXACT);
		for (int k = 0; rows[i][k].stack; k++)
			paths_add(&recordings[i], rows[i][k].stack, rows[i][k].hits);
		views[i] = paths_view(&recordings[i], VIEW_FUNCTION);
	}
	struct tree_pair *pair = tree_pair_new(views, (const size_t[]){ 2, 1 }, TREE_PAIR_LARGER, 0, NULL);
	struct flame *flame = flame_of_stacks(&pair->tree, NULL);
	const struct flame_window window = { .to = 1000 };
	assert_int_equal(pair->scale, 2);
	assert_string_equal(boxes_text(flame, &pair->tree, window),
			    "0:all@0+14/0 1:gone@0+3/3 1:main@3+11/0 2:f@3+9/9 2:new@12+2/2");
	assert_float_equal(pair->gticks[DIFF_A][box_of(flame, &pair->tree, "f")], 4.5, 0);
	assert_float_equal(pair->gticks[DIFF_A][box_of(flame, &pair->tree, "gone")], 1.5, 0);
	assert_float_equal(pair->gticks[DIFF_B][box_of(flame, &pair->tree, "f")], 4, 0);
	assert_float_equal(pair->total[DIFF_A], 6, 0);
	assert_float_equal(pair->total[DIFF_B], 5, 0);
	flame_free(flame);
	tree_pair_free(pair);
	for (int i = 0; i < 3; i++) {
		view_free((struct view *)views[i]);
		paths_end(&recordings[i]);
	}
}

/* Only the root is common, so the tree has as many nodes as there is room for. */
static void trees_without_a_common_path(void **state)
{
	(void)state;
	struct paths sides[2];
	const struct view *views[2];
	static const char *const stacks[2][2] = { { "a;b", "c" }, { "d", "e;f" } };
	for (int side = 0; side < 2; side++) {
		paths_start(&sides[side], RESOURCE_SAMPLED);
		for (int i = 0; i < 2; i++)
			paths_add(&sides[side], stacks[side][i], 1);
		views[side] = paths_view(&sides[side], VIEW_FUNCTION);
	}
	struct tree_pair *pair = tree_pair_new(views, one_a_side, TREE_PAIR_FIRST, 0, NULL);
	assert_int_equal(pair->tree.node_count, 7);
	assert_int_equal(pair->tree.end[0], 7);
	assert_int_equal(pair->tree.child_start[7], 6);
	tree_pair_free(pair);
	for (int side = 0; side < 2; side++) {
		view_free((struct view *)views[side]);
		paths_end(&sides[side]);
	}
}

/* An amount that differs by more than chance is marked, one that is equal is not. */
static void check_marks(const char *grows, const char *falls, size_t box_count)
{
	struct paths sides[2];
	const struct view *views[2];
	for (int side = 0; side < 2; side++) {
		paths_start(&sides[side], RESOURCE_SAMPLED);
		for (int i = 0; i < 1000; i++)
			paths_add(&sides[side], i % 10 < (side ? 6 : 2) ? grows : falls, 1);
		views[side] = paths_view(&sides[side], VIEW_FUNCTION);
	}
	struct tree_pair *pair = tree_pair_new(views, one_a_side, TREE_PAIR_FIRST, 0, NULL);
	struct flame *flame = flame_of_stacks(&pair->tree, NULL);
	struct flame_box boxes[BOXES];
	const struct flame_window window = { .to = 1000 };
	assert_int_equal(flame_visible(flame, &window, boxes, BOXES), box_count);
	for (size_t i = 1; i < box_count; i++) {
		const char *name = pair->tree.labels[boxes[i].label].text;
		assert_int_equal(pair->significant[boxes[i].node], strcmp(name, "main") != 0);
	}
	flame_free(flame);
	tree_pair_free(pair);
	for (int side = 0; side < 2; side++) {
		view_free((struct view *)views[side]);
		paths_end(&sides[side]);
	}
}

static void changes_are_marked(void **state)
{
	(void)state;
	check_marks("main;grows", "main;falls", 4);
	check_marks("grows", "falls", 3); /* the first node below the root, too */
}

static void pair_without_memory(void **state)
{
	(void)state;
	struct paths second;
	start_second(&second);
	struct error error = { 0 };
	const struct view *const views[2] = { paths_view(&paths, VIEW_FUNCTION), paths_view(&second, VIEW_FUNCTION) };
	ALLOC_FAIL_EACH(tree_pair_free(tree_pair_new(views, one_a_side, TREE_PAIR_LARGER, 0, &error)));
	assert_int_equal(error.code, ERROR_MEMORY);
	for (int side = 0; side < 2; side++)
		view_free((struct view *)views[side]);
	paths_end(&second);
}

/* Makes a graph and asks it twice: after a failure it answers later. */
static void ask_twice(struct flame *flame)
{
	struct flame_box boxes[BOXES];
	const struct flame_window window = whole();
	if (!flame)
		return;
	int64_t count = flame_visible(flame, &window, boxes, BOXES);
	assert_true(count > 0 || count == ERROR_MEMORY);
	if (count < 0)
		assert_true(flame_visible(flame, &window, boxes, BOXES) > 0);
	flame_free(flame);
}

static void without_memory(void **state)
{
	(void)state;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct error error = { 0 };
	uint32_t label = paths_label(view, "a");
	struct label_set roots = { .labels = &label, .count = 1 };
	ALLOC_FAIL_EACH(ask_twice(flame_of_stacks(view, &error)));
	ALLOC_FAIL_EACH(ask_twice(flame_of_callers(view, NULL, &error)));
	ALLOC_FAIL_EACH(ask_twice(flame_of_callers(view, &roots, &error)));
	assert_int_equal(error.code, ERROR_MEMORY);
	view_free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stacks_are_the_tree, start, end),
		cmocka_unit_test_setup_teardown(a_window_has_what_overlaps_it, start, end),
		cmocka_unit_test_setup_teardown(callers_are_the_stacks_from_inside, start, end),
		cmocka_unit_test_setup_teardown(rooted_graphs, start, end),
		cmocka_unit_test_setup_teardown(single_boxes, start, end),
		cmocka_unit_test_setup_teardown(a_small_room, start, end),
		cmocka_unit_test_setup_teardown(marked_boxes, start, end),
		cmocka_unit_test_setup_teardown(a_sample_matches_once, start, end),
		cmocka_unit_test_setup_teardown(an_empty_selection, start, end),
		cmocka_unit_test_setup_teardown(two_trees_as_one, start, end),
		cmocka_unit_test_setup_teardown(two_trees_side_by_side, start, end),
		cmocka_unit_test_setup_teardown(trees_of_several_recordings, start, end),
		cmocka_unit_test(trees_without_a_common_path),
		cmocka_unit_test(changes_are_marked),
		cmocka_unit_test_setup_teardown(pair_without_memory, start, end),
		cmocka_unit_test_setup_teardown(without_memory, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
