/* Parts of a view or a profile: the subtree below a function (subtree.c), and the hits of a selection (narrow.c). */
#include "analyze/subtree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/narrow.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"

/* Checks the invariants of view.h, and returns the nodes in their order, each as "depth label hits/weight". */
static const char *tree_text(const struct view *view)
{
	static char buffer[1024];
	uint32_t depth[64] = { 0 };
	size_t used = 0;
	buffer[0] = 0;
	assert_true(view->node_count <= 64);
	assert_int_equal(view->parent[0], PROFILE_NONE);
	assert_int_equal(view->label[0], PROFILE_NONE);
	for (uint32_t node = 0; node < view->node_count; node++) {
		uint32_t next = node + 1;
		uint64_t weight = view->hits[node];
		for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++) {
			uint32_t child = view->child[i];
			assert_int_equal(view->parent[child], node);
			assert_int_equal(child, next);
			next = view->end[child];
			weight += view->weight[child];
			depth[child] = depth[node] + 1;
		}
		assert_int_equal(view->end[node], next);
		assert_int_equal(view->weight[node], weight);
		if (node > 0)
			used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "%s%u %s %llu/%llu",
						 node > 1 ? ", " : "", depth[node],
						 view->labels[view->label[node]].text,
						 (unsigned long long)view->hits[node], (unsigned long long)weight);
	}
	assert_int_equal(view->child_start[view->node_count], view->node_count - 1);
	return buffer;
}

static void add_paths(struct paths *paths)
{
	paths_start(paths, RESOURCE_SAMPLED);
	paths_add(paths, "main;f;g", 1);
	paths_add(paths, "main;f", 2);
	paths_add(paths, "main;h;f;g;k", 4);
	paths_add(paths, "main;h;f;a", 8);
	paths_add(paths, "main;h", 16);
	paths_add(paths, "x;f;m;f;g", 32);
	paths_add(paths, "f;z", 64);
	paths_add(paths, "x;g;m", 128);
	paths_add(paths, "x;m;f", 256);
}

static void subtrees_are_merged(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	add_paths(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t labels[] = { paths_label(view, "f"), paths_label(view, "g") };
	assert_string_equal(tree_text(view),
			    "1 f 0/64, 2 z 64/64, 1 main 0/31, 2 f 2/3, 3 g 1/1, 2 h 16/28, 3 f 0/12, 4 a 8/8, "
			    "4 g 0/4, 5 k 4/4, 1 x 0/416, 2 f 0/32, 3 m 0/32, 4 f 0/32, 5 g 32/32, 2 g 0/128, "
			    "3 m 128/128, 2 m 0/256, 3 f 256/256");
	struct view *subtree = subtree_new(view, &(struct label_set){ .labels = labels, .count = 1 }, &error);
	assert_non_null(subtree);
	assert_string_equal(tree_text(subtree), "1 f 258/367, 2 a 8/8, 2 g 1/5, 3 k 4/4, 2 m 0/32, "
						"3 f 0/32, 4 g 32/32, 2 z 64/64");
	assert_int_equal(subtree->total, view->total);
	subtree_free(subtree);
	subtree = subtree_new(view, &(struct label_set){ .labels = labels, .count = 2 }, &error);
	assert_non_null(subtree);
	assert_string_equal(tree_text(subtree), "1 f 258/367, 2 a 8/8, 2 g 1/5, 3 k 4/4, 2 m 0/32, "
						"3 f 0/32, 4 g 32/32, 2 z 64/64, 1 g 0/128, 2 m 128/128");
	subtree_free(subtree);
	subtree = subtree_new(view, &(struct label_set){ 0 }, &error);
	assert_non_null(subtree);
	assert_string_equal(tree_text(subtree), "");
	assert_int_equal(subtree->node_count, 1);
	subtree_free(subtree);
	subtree_free(NULL);
	ALLOC_FAIL_EACH({
		subtree = subtree_new(view, &(struct label_set){ .labels = labels, .count = 1 }, &error);
		if (!subtree)
			assert_int_equal(error.code, ERROR_MEMORY);
		subtree_free(subtree);
	});
	view_free(view);
	paths_end(&paths);
}

static void stacks_are_inverted(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	add_paths(&paths);
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	struct view *inverted = subtree_inverted(view, &error);
	assert_non_null(inverted);
	assert_string_equal(
		tree_text(inverted),
		"1 a 0/8, 2 f 0/8, 3 h 0/8, 4 main 8/8, 1 f 0/258, 2 m 0/256, 3 x 256/256, 2 main 2/2, 1 g 0/33, 2 f "
		"0/33, 3 m 0/32, 4 f 0/32, 5 x 32/32, 3 main 1/1, 1 h 0/16, 2 main 16/16, 1 k 0/4, 2 g 0/4, 3 f 0/4, 4 "
		"h 0/4, 5 main 4/4, 1 m 0/128, 2 g 0/128, 3 x 128/128, 1 z 0/64, 2 f 64/64");
	assert_int_equal(inverted->weight[0], view->total);
	subtree_free(inverted);
	ALLOC_FAIL_EACH({
		inverted = subtree_inverted(view, &error);
		if (!inverted)
			assert_int_equal(error.code, ERROR_MEMORY);
		subtree_free(inverted);
	});
	view_free(view);
	paths_end(&paths);
}

/* Returns the functions of the nodes that tail calls removed from stacks, in the order of the nodes. */
static const char *tails_text(const struct view *view)
{
	static char buffer[64];
	size_t used = 0;
	buffer[0] = 0;
	for (uint32_t node = 1; node < view->node_count; node++)
		if (view_is_tail(view, node))
			used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "%s ",
						 view->labels[view->label[node]].text);
	return buffer;
}

static void tail_calls_stay_marked(void **state)
{
	struct paths paths;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "a;b", 1);
	paths_add(&paths, "main;f;tail;g", 2);
	for (size_t i = 0; i < paths.name_count; i++)
		if (strcmp(paths.names[i].name, "tail") == 0)
			paths.profile->locations[paths.names[i].location].is_tail = true;
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t label = paths_label(view, "f");
	struct view *subtree = subtree_new(view, &(struct label_set){ .labels = &label, .count = 1 }, &error);
	struct view *inverted = subtree_inverted(view, &error);
	assert_non_null(subtree);
	assert_non_null(inverted);
	assert_string_equal(tails_text(view), "tail ");
	assert_string_equal(tails_text(subtree), "tail ");
	assert_string_equal(tails_text(inverted), "tail ");
	subtree_free(subtree);
	subtree_free(inverted);
	view_free(view);
	paths_end(&paths);
}

/* Subtrees of many nodes, each with one hit, whose numbers need more than one byte. */
static void large_subtrees_are_whole(void **state)
{
	struct paths paths;
	struct error error;
	char stack[64];
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 15; k++) {
			snprintf(stack, sizeof(stack), "main%d;f;a%d;b%d", i % 3, i, k);
			paths_add(&paths, stack, 1);
		}
	}
	struct view *view = paths_view(&paths, VIEW_FUNCTION);
	uint32_t label = paths_label(view, "f");
	struct view *subtree = subtree_new(view, &(struct label_set){ .labels = &label, .count = 1 }, &error);
	assert_non_null(subtree);
	assert_int_equal(subtree->node_count, 1 + 1 + 20 + 20 * 15);
	for (uint32_t node = 1; node < subtree->node_count; node++) {
		bool is_leaf = subtree->end[node] == node + 1;
		assert_int_equal(subtree->hits[node], is_leaf);
		assert_int_equal(subtree->weight[node], node == 1 ? 300 : is_leaf ? 1 : 15);
		assert_int_equal(subtree->child_start[node + 1] - subtree->child_start[node], node == 1 ? 20
											      : is_leaf ? 0
													: 15);
	}
	subtree_free(subtree);
	view_free(view);
	paths_end(&paths);
}

/* A narrow profile has the hits that the view counts, of one resource or of all, and no labels. */
static void selections_are_narrow_profiles(void **state)
{
	struct paths paths;
	struct profile narrow;
	struct error error;
	(void)state;
	paths_start(&paths, RESOURCE_SAMPLED);
	struct profile *profile = paths.profile;
	profile_add_resource(profile, &(struct profile_resource){ .interval = 1 });
	profile_add_process(profile, &(struct profile_process){ .pid = 1 });
	for (uint32_t i = 0; i < 2; i++)
		profile_add_thread(profile, &(struct profile_thread){ .tid = i });
	struct profile_label label = { .key = (uint32_t)profile_add_string(profile, "key") };
	uint32_t set = (uint32_t)profile_add_label_set(profile, &label, 1);
	for (uint32_t i = 0; i < 8; i++) {
		paths.thread = i & 1;
		paths.resource = i >> 1 & 1;
		paths_add(&paths, "main", UINT64_C(1) << i);
		assert_int_equal(profile_label_hits(profile, i, i & 4 ? set : PROFILE_NO_LABELS), 0);
	}
	static const struct {
		uint32_t resource, thread;
		bool has_label; /* selects the hits with the label */
		uint64_t hits;
	} rows[] = { { PROFILE_NONE, VIEW_ANY, false, 0xff },
		     { 0, VIEW_ANY, false, 0x33 },
		     { 1, VIEW_ANY, false, 0xcc },
		     { PROFILE_NONE, 0, false, 0x55 },
		     { 1, 1, false, 0x88 },
		     { PROFILE_NONE, VIEW_ANY, true, 0xf0 },
		     { 0, 1, true, 0x20 } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool sets[] = { false, true };
		struct view_options options = { .resource = rows[i].resource,
						.thread = rows[i].thread,
						.label_sets = rows[i].has_label ? sets : NULL };
		assert_int_equal(narrow_init(&narrow, profile, &options, &error), 0);
		uint64_t hits = 0;
		for (size_t k = 0; k < narrow.hit_count; k++) {
			hits += narrow.hits[k].count;
			assert_int_equal(profile_hit_labels(&narrow, k), PROFILE_NO_LABELS);
		}
		assert_int_equal(hits, rows[i].hits);
		assert_int_equal(narrow.hit_count, __builtin_popcountll(hits));
		assert_int_equal(narrow.hit_capacity, narrow.hit_count);
		assert_ptr_equal(narrow.nodes, profile->nodes);
		narrow_release(&narrow);
		assert_null(narrow.hits);
		assert_int_equal(narrow.hit_count, 0);
	}
	const struct view_options options = { .resource = 0, .thread = 1 };
	ALLOC_FAIL_EACH({
		int result = narrow_init(&narrow, profile, &options, &error);
		if (result == 0)
			narrow_release(&narrow);
		else
			assert_int_equal(result, ERROR_MEMORY);
	});
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subtrees_are_merged),
		cmocka_unit_test(stacks_are_inverted),
		cmocka_unit_test(tail_calls_stay_marked),
		cmocka_unit_test(large_subtrees_are_whole),
		cmocka_unit_test(selections_are_narrow_profiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
