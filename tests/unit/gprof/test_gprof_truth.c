/* The call graph of real call paths, compared with gprof's averages of the same counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gprof/truth.h"
#include "support/alloc_fail.h"
#include "support/paths_profile.h"
#include "support/sample_profile.h"

enum { CPU, CALLS };

static void start(struct paths *paths)
{
	paths_start(paths, RESOURCE_MERGED);
	struct profile *profile = paths->profile;
	int64_t name = profile_add_string(profile, "calls"), unit = profile_add_string(profile, "ns");
	profile->resources[CPU].interval = 1000000;
	profile->resources[CPU].unit = (uint32_t)unit;
	const struct profile_resource calls = { .name = (uint32_t)name, .kind = RESOURCE_EXACT, .interval = 1 };
	assert_int_equal(profile_add_resource(profile, &calls), CALLS);
}

static void add(struct paths *paths, uint32_t resource, const char *stack, uint64_t hits)
{
	paths->resource = resource;
	paths_add(paths, stack, hits);
}

static struct truth truth_of(const struct profile *profile, uint32_t resource)
{
	struct truth truth;
	struct error error = { 0 };
	struct view_options options = { .resource = resource, .thread = VIEW_ANY };
	if (truth_init(&truth, profile, &options, &error) < 0)
		fail_msg("%s", error.message);
	return truth;
}

static const struct truth_function *function(const struct truth *truth, const char *name)
{
	for (size_t i = 0; i < truth->function_count; i++)
		if (strcmp(truth->functions[i].name, name) == 0)
			return &truth->functions[i];
	fail_msg("no function %s", name);
	return NULL;
}

static uint32_t number(const struct truth *truth, const char *name)
{
	return (uint32_t)(function(truth, name) - truth->functions);
}

static const struct truth_arc *arc(const struct truth *truth, const char *parent, const char *child)
{
	uint32_t from = number(truth, parent), to = number(truth, child);
	for (size_t i = 0; i < truth->arc_count; i++)
		if (truth->arcs[i].parent == from && truth->arcs[i].child == to)
			return &truth->arcs[i];
	fail_msg("no arc %s -> %s", parent, child);
	return NULL;
}

static double passed(const struct truth *truth, const struct graph *graph, const char *parent, const char *child)
{
	uint32_t found = graph_find_arc(graph, number(truth, parent), number(truth, child));
	assert_int_not_equal(found, GRAPH_NONE);
	return graph->arcs[found].time + graph->arcs[found].below;
}

/* The example of the paper on gprof: heavy and light call work equally often, but all time is in the calls from
 * heavy. */
static void add_example(struct paths *paths)
{
	add(paths, CALLS, "main", 1);
	add(paths, CALLS, "main;heavy", 1);
	add(paths, CALLS, "main;light", 1);
	add(paths, CALLS, "main;heavy;work", 100);
	add(paths, CALLS, "main;light;work", 100);
	add(paths, CPU, "main;heavy;work", 80);
	add(paths, CPU, "main;heavy;work;memset", 20); /* in a library that is not instrumented */
}

static void test_example(void **state)
{
	(void)state;
	struct paths paths;
	struct truth_worst worst;
	struct graph graph;
	start(&paths);
	add_example(&paths);
	struct truth truth = truth_of(paths.profile, CPU);
	assert_int_equal(truth.all_calls, 203);
	assert_true(truth.total == 100 && truth.rate == 1000 && truth.is_time);
	assert_true(arc(&truth, "heavy", "work")->self == 80 && arc(&truth, "heavy", "work")->below == 20);
	assert_true(arc(&truth, "light", "work")->self == 0 && arc(&truth, "light", "work")->below == 0);
	assert_int_equal(arc(&truth, "light", "work")->calls, 100);
	assert_int_equal(function(&truth, "work")->calls, 200);
	assert_int_equal(function(&truth, "memset")->calls, 0);

	assert_int_equal(truth_graph(&truth, true, &graph), 0);
	assert_true(passed(&truth, &graph, "heavy", "work") == 50 && passed(&truth, &graph, "light", "work") == 50);
	graph_release(&graph);
	assert_int_equal(truth_graph(&truth, false, &graph), 0);
	assert_true(passed(&truth, &graph, "heavy", "work") == 100 && passed(&truth, &graph, "light", "work") == 0);
	assert_true(passed(&truth, &graph, "work", "memset") == 20);
	/* main, heavy and work each have all of the time. */
	assert_in_range(graph.nodes[number(&truth, "main")].index, 1, 3);
	assert_int_equal(graph.nodes[number(&truth, "light")].index, 5);
	graph_release(&graph);

	assert_int_equal(truth_worst(&truth, &worst), 0);
	assert_int_equal(worst.child, number(&truth, "work"));
	assert_true(worst.error == 0.5 && (worst.real == 0 || worst.real == 100) && worst.averaged == 50);
	truth_release(&truth);
	paths_end(&paths);
}

/* On a path with recursion, a sample counts once for each function and once for each arc. */
static void test_recursion(void **state)
{
	(void)state;
	struct paths paths;
	struct graph graph;
	start(&paths);
	add(&paths, CALLS, "main", 1);
	add(&paths, CALLS, "main;a", 2);
	add(&paths, CALLS, "main;a;b", 3);
	add(&paths, CALLS, "main;a;b;a", 4);
	add(&paths, CALLS, "main;a;b;a;a", 5);
	add(&paths, CALLS, "main;a;b;a;a;b", 6);
	add(&paths, CPU, "main;a;b;a;a;b", 7);
	add(&paths, CPU, "main;a;b;a", 11);
	add(&paths, CPU, "main;a", 13);
	struct truth truth = truth_of(paths.profile, CPU);
	assert_true(function(&truth, "a")->self == 24 && function(&truth, "a")->below == 7);
	assert_true(function(&truth, "b")->self == 7 && function(&truth, "b")->below == 11);
	assert_int_equal(function(&truth, "a")->calls, 11);
	assert_true(arc(&truth, "main", "a")->self == 13 && arc(&truth, "main", "a")->below == 18);
	assert_true(arc(&truth, "a", "b")->self == 7 && arc(&truth, "a", "b")->below == 11);
	assert_true(arc(&truth, "b", "a")->self == 11 && arc(&truth, "b", "a")->below == 7);
	assert_int_equal(arc(&truth, "a", "b")->calls, 9);
	assert_int_equal(truth_graph(&truth, false, &graph), 0);
	assert_int_equal(graph.cycle_count, 0);
	assert_int_equal(graph.nodes[number(&truth, "a")].self_calls, 5);
	assert_int_equal(graph.nodes[number(&truth, "a")].calls, 6);
	graph_release(&graph);
	assert_int_equal(truth_graph(&truth, true, &graph), 0);
	assert_int_equal(graph.cycle_count, 1);
	assert_int_equal(graph.nodes[graph.function_count].calls, 2);
	graph_release(&graph);
	truth_release(&truth);
	paths_end(&paths);
}

/* gprof's averages have no error if all calls cost the same, or if no calls were counted. */
static void test_no_error(void **state)
{
	(void)state;
	struct paths paths;
	struct truth_worst worst;
	start(&paths);
	add(&paths, CALLS, "main;f", 2);
	add(&paths, CALLS, "main;f;g", 4);
	add(&paths, CALLS, "main;g", 12);
	add(&paths, CPU, "main;f;g", 10);
	add(&paths, CPU, "main;g", 30);
	struct truth truth = truth_of(paths.profile, CPU);
	assert_int_equal(truth_worst(&truth, &worst), 0);
	assert_true(worst.error == 0);
	assert_int_equal(worst.child, TRUTH_NONE);
	truth_release(&truth);
	paths_end(&paths);

	paths_start(&paths, RESOURCE_SAMPLED);
	paths_add(&paths, "main;f", 3);
	truth = truth_of(paths.profile, CPU);
	assert_null(truth.calls);
	assert_int_equal(truth_worst(&truth, &worst), 0);
	assert_true(worst.error == 0);
	assert_true(arc(&truth, "main", "f")->self == 3);
	truth_release(&truth);
	paths_end(&paths);
}

/* --- against the definition --- */

static bool is_on(const struct view *view, uint32_t node, const struct truth *truth, const struct truth_arc *wanted)
{
	for (; node != 0 && view->parent[node] != 0; node = view->parent[node])
		if (strcmp(view->labels[view->label[node]].text, truth->names[wanted->child]) == 0 &&
		    strcmp(view->labels[view->label[view->parent[node]]].text, truth->names[wanted->parent]) == 0)
			return true;
	return false;
}

static void test_random(void **state)
{
	(void)state;
	struct random random = { 20 };
	for (int round = 0; round < 30; round++) {
		struct paths paths;
		start(&paths);
		for (int i = 0; i < 20; i++) {
			char stack[64] = "r";
			for (uint64_t depth = random_below(&random, 7); depth > 0; depth--) {
				size_t used = strlen(stack);
				snprintf(stack + used, sizeof(stack) - used, ";%c",
					 (char)('a' + random_below(&random, 4)));
			}
			add(&paths, i % 3 ? CPU : CALLS, stack, 1 + random_below(&random, 9));
		}
		struct truth truth = truth_of(paths.profile, CPU);
		struct view *view = paths_view(&paths, VIEW_FUNCTION);
		double folded = 0;
		for (size_t i = 0; i < truth.arc_count; i++) {
			uint64_t inclusive = 0;
			for (uint32_t node = 1; node < view->node_count; node++)
				inclusive += is_on(view, node, &truth, &truth.arcs[i]) ? view->hits[node] : 0;
			assert_true(truth.arcs[i].self + truth.arcs[i].below == (double)inclusive);
		}
		for (size_t i = 0; i < truth.function_count; i++)
			folded += truth.folded[i];
		assert_true(folded == truth.total);
		view_free(view);
		truth_release(&truth);
		paths_end(&paths);
	}
}

static void try_all(const struct profile *profile)
{
	struct truth truth;
	struct truth_worst worst;
	struct error error = { 0 };
	struct view_options options = { .resource = CPU, .thread = VIEW_ANY };
	int code = truth_init(&truth, profile, &options, &error);
	assert_true(code == 0 || (code == error.code && error.message[0]));
	if (code == 0)
		code = truth_worst(&truth, &worst);
	assert_true(code == 0 || code == ERROR_MEMORY);
	if (error.code == 0)
		truth_release(&truth);
}

static void test_no_memory(void **state)
{
	(void)state;
	struct paths paths;
	start(&paths);
	add_example(&paths);
	ALLOC_FAIL_EACH(try_all(paths.profile));
	paths_end(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example), cmocka_unit_test(test_recursion), cmocka_unit_test(test_no_error),
		cmocka_unit_test(test_random),  cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
