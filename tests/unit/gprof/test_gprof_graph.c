/* gprof's graph: cycles compared with reachability, times passed on without loss, and options that choose
 * functions and arcs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gprof/graph.h"
#include "support/alloc_fail.h"

enum { MAIN, WORK, CHEAP, DEAR };

static const struct choices everything = { 0 };
static const char *const letters[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9 * (1 + fabs(a) + fabs(b));
}

/* Adds an arc with `count` calls. */
static void call(struct graph *graph, uint32_t parent, uint32_t child, uint64_t count)
{
	graph->nodes[child].calls += count;
	assert_int_equal(graph_add_arc(graph, parent, child, count), 0);
}

static const struct graph_arc *arc_of(const struct graph *graph, uint32_t parent, uint32_t child)
{
	uint32_t arc = graph_find_arc(graph, parent, child);
	assert_int_not_equal(arc, GRAPH_NONE);
	return &graph->arcs[arc];
}

/* main calls cheap and dear once each. cheap calls work once and dear calls it three times: they get 1/4 and 3/4
 * of work's time. */
static void test_time_goes_by_counts(void **state)
{
	static const char *const names[] = { "main", "work", "cheap", "dear" };
	struct graph graph;
	(void)state;
	assert_int_equal(graph_init_named(&graph, names, 4), 0);
	call(&graph, MAIN, CHEAP, 1);
	call(&graph, MAIN, DEAR, 1);
	call(&graph, CHEAP, WORK, 1);
	call(&graph, DEAR, WORK, 3);
	graph.nodes[WORK].time = 100;
	graph.nodes[DEAR].time = 8;
	assert_int_equal(graph_solve(&graph, &everything), 0);
	assert_true(is_near(arc_of(&graph, CHEAP, WORK)->time, 25));
	assert_true(is_near(arc_of(&graph, DEAR, WORK)->time, 75));
	assert_true(is_near(arc_of(&graph, MAIN, DEAR)->time, 8));
	assert_true(is_near(arc_of(&graph, MAIN, DEAR)->below, 75));
	assert_true(is_near(graph.nodes[MAIN].below, 108));
	assert_true(is_near(graph.shown_time, 108));
	assert_int_equal(graph.entries[0], MAIN);
	assert_int_equal(graph.nodes[MAIN].index, 1);
	assert_int_equal(graph.cycle_count, 0);
	graph_release(&graph);
}

/* a -> b <-> c -> d, and c calls itself: the cycle has the time of its members, and a call of itself makes no
 * cycle. */
static void test_cycle(void **state)
{
	struct graph graph;
	uint32_t members[4];
	(void)state;
	assert_int_equal(graph_init_named(&graph, letters, 4), 0);
	call(&graph, 0, 1, 2);
	call(&graph, 1, 2, 10);
	call(&graph, 2, 1, 9);
	call(&graph, 2, 2, 5);
	call(&graph, 2, 3, 4);
	graph.nodes[1].time = 6;
	graph.nodes[2].time = 4;
	graph.nodes[3].time = 20;
	assert_int_equal(graph_solve(&graph, &everything), 0);
	assert_int_equal(graph.cycle_count, 1);
	const struct graph_node *cycle = &graph.nodes[4];
	assert_int_equal(graph_cycle_number(&graph, 2), 1);
	assert_int_equal(graph.nodes[0].cycle, GRAPH_NONE);
	assert_int_equal(cycle->calls, 2);
	assert_int_equal(cycle->self_calls, 19);
	assert_int_equal(graph.nodes[2].self_calls, 5);
	assert_int_equal(graph.nodes[2].calls, 10);
	assert_true(is_near(cycle->time, 10));
	assert_true(is_near(cycle->below, 20));
	assert_true(is_near(arc_of(&graph, 0, 1)->time, 10));
	assert_true(is_near(arc_of(&graph, 0, 1)->below, 20));
	assert_true(is_near(arc_of(&graph, 1, 2)->time, 0));
	assert_true(is_near(graph.nodes[0].below, 30));
	assert_int_equal(graph_members(&graph, 4, members), 2);
	assert_int_equal(members[0], 2);
	graph_release(&graph);
}

/* --- random graphs --- */

struct made_up {
	struct graph graph;
	size_t count;
	bool reaches[12][12];
};

static void make_up(struct made_up *made, unsigned *seed)
{
	made->count = 2 + (size_t)rand_r(seed) % 11;
	memset(made->reaches, 0, sizeof(made->reaches));
	assert_int_equal(graph_init_named(&made->graph, letters, made->count), 0);
	size_t arcs = (size_t)rand_r(seed) % (2 * made->count + 1);
	for (size_t i = 0; i < arcs; i++) {
		uint32_t from = (uint32_t)rand_r(seed) % (uint32_t)made->count;
		uint32_t to = (uint32_t)rand_r(seed) % (uint32_t)made->count;
		call(&made->graph, from, to, 1 + (uint64_t)rand_r(seed) % 9);
		made->reaches[from][to] = true;
	}
	for (size_t i = 0; i < made->count; i++)
		made->graph.nodes[i].time = rand_r(seed) % 100;
	for (size_t via = 0; via < made->count; via++)
		for (size_t i = 0; i < made->count; i++)
			for (size_t j = 0; j < made->count; j++)
				made->reaches[i][j] |= made->reaches[i][via] && made->reaches[via][j];
}

static void check_cycles(const struct made_up *made)
{
	const struct graph_node *nodes = made->graph.nodes;
	for (uint32_t i = 0; i < made->count; i++) {
		bool is_member = false;
		for (uint32_t j = 0; j < made->count; j++) {
			bool together = i != j && made->reaches[i][j] && made->reaches[j][i];
			is_member |= together;
			if (i != j)
				assert_int_equal(together, graph_are_siblings(&made->graph, i, j));
			if (made->reaches[i][j] && !together && i != j)
				assert_true(nodes[i].order > nodes[j].order);
		}
		assert_int_equal(is_member, nodes[i].cycle != GRAPH_NONE);
	}
}

/* No time is lost: a function with callers passes all of its time to them, and the functions without callers have
 * all time in the end. */
static void check_times(const struct made_up *made)
{
	const struct graph *graph = &made->graph;
	double all = 0, arrived = 0;
	for (uint32_t i = 0; i < made->count; i++)
		all += graph->nodes[i].time;
	for (uint32_t i = 0; i < made->count + graph->cycle_count; i++) {
		const struct graph_node *node = &graph->nodes[i];
		if (i < made->count && node->cycle != GRAPH_NONE)
			continue;
		double passed = 0, has = node->time + node->below;
		for (size_t j = 0; j < graph->arc_count; j++) {
			const struct graph_arc *arc = &graph->arcs[j];
			bool leads_here =
				graph_is_cycle(graph, i) ? graph->nodes[arc->child].cycle == i : arc->child == i;
			if (leads_here)
				passed += arc->time + arc->below;
		}
		if (node->calls == 0)
			arrived += has;
		else
			assert_true(is_near(passed, has));
	}
	assert_true(is_near(arrived, all));
	assert_true(is_near(graph->shown_time, all));
}

static void test_any_graph(void **state)
{
	unsigned seed = 1;
	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct made_up made;
		make_up(&made, &seed);
		assert_int_equal(graph_solve(&made.graph, &everything), 0);
		check_cycles(&made);
		check_times(&made);
		graph_release(&made.graph);
	}
}

/* One cycle of so many calls that a recursive algorithm would overflow its stack. */
static void test_long_cycle(void **state)
{
	enum { LENGTH = 300000 };
	const char **names = calloc(LENGTH, sizeof(*names));
	struct graph graph;
	(void)state;
	for (size_t i = 0; i < LENGTH; i++)
		names[i] = "f";
	assert_int_equal(graph_init_named(&graph, names, LENGTH), 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		call(&graph, i, (i + 1) % LENGTH, 1);
	assert_int_equal(graph_solve(&graph, &everything), 0);
	assert_int_equal(graph.cycle_count, 1);
	assert_int_equal(graph.nodes[LENGTH].self_calls, LENGTH);
	graph_release(&graph);
	free(names);
}

/* --- options that choose functions and arcs --- */

static struct image_symbol symbols[] = {
	{ .start = 0x10, .end = 0x20, .name = "main", .readable = "main", .file = "/src/a.c", .line = 3 },
	{ .start = 0x20, .end = 0x30, .name = "_ZN2ns1fEi", .readable = "ns::f(int)", .file = "/src/b.cc", .line = 3 },
	{ .start = 0x30, .end = 0x40, .name = "g.cold", .readable = "g.cold" },
	{ .start = 0x40, .end = 0x50, .name = "mcount", .readable = "mcount" },
};
static const struct image image = { .symbols = symbols, .symbol_count = 4 };

static void test_specs(void **state)
{
	static const struct {
		const char *spec;
		unsigned matched; /* one bit for each symbol */
	} cases[] = {
		{ "main", 1 },       { "nosuch", 0 },    { "a.c", 1 },        { "b.cc", 2 },   { "elsewhere/b.cc", 2 },
		{ "a.c:main", 1 },   { "b.cc:main", 0 }, { "a.c:3", 1 },      { "b.cc:4", 0 }, { "3", 3 },
		{ "_ZN2ns1fEi", 2 }, { "ns::f", 2 },     { "ns::f(int)", 2 }, { "g.cold", 4 }, { "x.c", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct choices choices = { 0 };
		assert_int_equal(choices_add(&choices, CHOICE_FLAT, false, cases[i].spec), 0);
		assert_int_equal(choices_resolve(&choices, &image), 0);
		assert_int_equal(choices.items[0].matched, __builtin_popcount(cases[i].matched));
		for (uint32_t j = 0; j < image.symbol_count; j++) {
			assert_int_equal(choices_include(&choices, CHOICE_FLAT, j), cases[i].matched >> j & 1);
			/* A name that matches nothing excludes only mcount. */
			assert_int_equal(choices_allow(&choices, CHOICE_FLAT, j),
					 cases[i].matched ? cases[i].matched >> j & 1 : j != 3);
		}
		choices_release(&choices);
	}
}

static void test_arc_specs(void **state)
{
	struct choices choices = { 0 };
	(void)state;
	assert_int_equal(choices_add(&choices, CHOICE_ARCS, true, "main/ns::f"), 0);
	assert_int_equal(choices_add(&choices, CHOICE_ARCS, true, "/g.cold"), 0);
	assert_int_equal(choices_resolve(&choices, &image), 0);
	assert_false(choices_allow_arc(&choices, 0, 1));
	assert_true(choices_allow_arc(&choices, 1, 0));
	assert_false(choices_allow_arc(&choices, 1, 2));
	/* mcount, which counts the calls, is in neither the graph nor the times. */
	assert_false(choices_allow(&choices, CHOICE_GRAPH, 3));
	assert_false(choices_allow(&choices, CHOICE_TIME, 3));
	assert_true(choices_allow(&choices, CHOICE_COUNTS, 3));
	choices_release(&choices);
}

static int solve_all(void)
{
	struct graph graph;
	struct choices choices = { 0 };
	int code = choices_add(&choices, CHOICE_ARCS, true, "main/g.cold");
	if (code == 0)
		code = choices_resolve(&choices, &image);
	if (code == 0) {
		code = graph_init(&graph, &image);
		for (uint32_t i = 0; code == 0 && i < 3; i++)
			code = graph_add_arc(&graph, i, (i + 1) % 3, 1);
		if (code == 0)
			code = graph_solve(&graph, &choices);
		graph_release(&graph);
	}
	choices_release(&choices);
	return code;
}

static void test_no_memory(void **state)
{
	(void)state;
	int failures = 0, successes = 0;
	ALLOC_FAIL_EACH({
		int code = solve_all();
		assert_true(code == 0 || code == ERROR_MEMORY);
		failures += code < 0;
		successes += code == 0;
	});
	assert_true(failures > 10);
	assert_int_equal(successes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_goes_by_counts),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_any_graph),
		cmocka_unit_test(test_long_cycle),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_arc_specs),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
