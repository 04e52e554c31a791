/* Makes the graphs for printing: the true graph, and the graph of gprof's estimate. */
#include <math.h>
#include <string.h>

#include "gprof/truth.h"

static void describe(const struct truth *truth, struct graph *graph)
{
	graph->rate = truth->rate;
	graph->total_time = graph->whole_time = truth->total;
	graph->samples = (uint64_t)truth->independent;
	graph->abbreviation = truth->is_time ? 's' : truth->unit[0];
	snprintf(graph->dimension, sizeof(graph->dimension), "%s", truth->is_time ? "seconds" : truth->unit);
}

/* --- gprof's estimate --- */

static int fill_averaged(const struct truth *truth, struct graph *graph)
{
	static const struct choices all = { 0 };
	int code = 0;
	for (uint32_t i = 0; i < truth->function_count; i++) {
		graph->nodes[i].calls = truth->functions[i].calls;
		graph->nodes[i].time = truth->folded[i];
	}
	for (size_t i = 0; i < truth->arc_count && code == 0; i++)
		if (truth->arcs[i].calls > 0)
			code = graph_add_arc(graph, truth->arcs[i].parent, truth->arcs[i].child, truth->arcs[i].calls);
	return code == 0 ? graph_solve(graph, &all) : code;
}

/* --- the true graph --- */

static void fill_node(const struct truth_function *function, struct graph_node *node)
{
	node->calls = function->calls;
	node->time = node->shown_time = function->self;
	node->below = node->shown_below = function->below;
	node->fraction = 1;
	node->is_printed = true;
}

static int fill_arc(const struct truth_arc *arc, struct graph *graph)
{
	int code = graph_add_arc(graph, arc->parent, arc->child, arc->calls);
	if (code < 0)
		return code;
	struct graph_arc *added = &graph->arcs[graph_find_arc(graph, arc->parent, arc->child)];
	if (arc->parent == arc->child) {
		graph->nodes[arc->child].self_calls = arc->calls;
		graph->nodes[arc->child].calls -= arc->calls;
		return 0; /* a function's own cost is included in its cost for others */
	}
	added->time = arc->self;
	added->below = arc->below;
	return 0;
}

static int fill_real(const struct truth *truth, struct graph *graph)
{
	int code = 0;
	for (uint32_t i = 0; i < truth->function_count; i++)
		fill_node(&truth->functions[i], &graph->nodes[i]);
	for (size_t i = 0; i < truth->arc_count && code == 0; i++)
		code = fill_arc(&truth->arcs[i], graph);
	graph->shown_time = truth->total;
	return code == 0 ? graph_sort(graph) : code;
}

int truth_graph(const struct truth *truth, bool averaged, struct graph *graph)
{
	int code = graph_init_named(graph, truth->names, truth->function_count);
	if (code == 0) {
		describe(truth, graph);
		code = averaged ? fill_averaged(truth, graph) : fill_real(truth, graph);
	}
	if (code < 0)
		graph_release(graph);
	return code;
}

/* --- the difference --- */

/* Returns whether an error is larger; equal errors are attributed to the innermost callee. */
static bool is_worse(const struct graph *averaged, uint32_t child, double error, const struct truth_worst *worst)
{
	static const double same = 1e-9;
	if (error <= same || worst->child == TRUTH_NONE)
		return error > same;
	return error > worst->error + same ||
	       (error > worst->error - same && averaged->nodes[child].order < averaged->nodes[worst->child].order);
}

static void compare_arc(const struct truth *truth, const struct truth_arc *arc, const struct graph *averaged,
			struct truth_worst *worst)
{
	uint32_t found = graph_find_arc(averaged, arc->parent, arc->child);
	if (found == GRAPH_NONE || arc->calls == 0 || graph_are_siblings(averaged, arc->parent, arc->child))
		return;
	double passed = averaged->arcs[found].time + averaged->arcs[found].below, real = arc->self + arc->below;
	double error = fabs(passed - real) / truth->total;
	if (is_worse(averaged, arc->child, error, worst))
		*worst = (struct truth_worst){
			.parent = arc->parent, .child = arc->child, .averaged = passed, .real = real, .error = error
		};
}

int truth_worst(const struct truth *truth, struct truth_worst *worst)
{
	struct graph averaged;
	*worst = (struct truth_worst){ .parent = TRUTH_NONE, .child = TRUTH_NONE };
	if (truth->all_calls == 0 || truth->total <= 0)
		return 0;
	int code = truth_graph(truth, true, &averaged);
	if (code < 0)
		return code;
	for (size_t i = 0; i < truth->arc_count; i++)
		compare_arc(truth, &truth->arcs[i], &averaged, worst);
	graph_release(&averaged);
	return 0;
}
