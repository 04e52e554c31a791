/*
 * Passes time from callees to callers. gprof assumes that each of the n calls of a function costs the same: a caller
 * with k of these calls gets k/n of the function's time and of the time that its callees passed on to it. (Call
 * paths show the true cost.) Callees precede callers in the graph's order; a cycle passes its time on as one
 * function.
 *
 * A node that options exclude (-E -F -n -N) has fraction 0; if the options select only some of its callers, it has a
 * fraction between 0 and 1. The call graph shows that fraction of its time.
 */
#include <stdlib.h>
#include <string.h>

#include "gprof/graph.h"

/* Returns the node that pays for a call of `node`: its cycle, or the node itself if it is in none. */
static uint32_t head_of(const struct graph *graph, uint32_t node)
{
	uint32_t cycle = graph->nodes[node].cycle;
	return cycle == GRAPH_NONE ? node : cycle;
}

/* `heir` is printed if a caller of `node` is printed. It gets a share of the fraction of each caller, in proportion
 * to the calls. Callers in its own cycle do not count. */
static void inherit_from_callers(struct graph *graph, uint32_t node, struct graph_node *heir)
{
	for (uint32_t i = graph->nodes[node].first_parent; i != GRAPH_NONE; i = graph->arcs[i].next_parent) {
		const struct graph_arc *arc = &graph->arcs[i];
		const struct graph_node *parent = &graph->nodes[arc->parent];
		if (graph_are_siblings(graph, arc->parent, node))
			continue;
		heir->is_printed |= parent->is_printed;
		if (heir->calls != 0)
			heir->fraction += parent->fraction * ((double)arc->count / (double)heir->calls);
	}
}

static void inherit(struct graph *graph, uint32_t node)
{
	struct graph_node *head = &graph->nodes[head_of(graph, node)];
	head->is_printed = false;
	head->fraction = 0;
	if (graph->nodes[node].cycle == GRAPH_NONE) {
		inherit_from_callers(graph, node, head);
		return;
	}
	for (uint32_t i = head->next_member; i != GRAPH_NONE; i = graph->nodes[i].next_member)
		inherit_from_callers(graph, i, head);
	for (uint32_t i = head->next_member; i != GRAPH_NONE; i = graph->nodes[i].next_member) {
		graph->nodes[i].is_printed = head->is_printed;
		graph->nodes[i].fraction = head->fraction;
	}
}

/* The options for the function itself decide about its entry and its time if it inherited none from its callers; they
 * may also exclude an inherited one. */
static void choose(struct graph *graph, uint32_t i, const struct choices *choices)
{
	struct graph_node *node = &graph->nodes[i];
	if (!node->is_printed)
		node->is_printed = choices_allow(choices, CHOICE_GRAPH, i);
	else if (!choices_include(choices, CHOICE_GRAPH, i) && choices_exclude(choices, CHOICE_GRAPH, i))
		node->is_printed = false;
	if (node->fraction == 0)
		node->fraction = choices_allow(choices, CHOICE_TIME, i) ? 1 : 0;
	else if (!choices_include(choices, CHOICE_TIME, i) && choices_exclude(choices, CHOICE_TIME, i))
		node->fraction = 0;
	node->shown_time = node->time * node->fraction;
	graph->shown_time += node->shown_time;
}

/* Goes from callers to callees. */
static void choose_all(struct graph *graph, const uint32_t *sorted, const struct choices *choices)
{
	uint32_t head = GRAPH_NONE;
	for (size_t i = graph->function_count; i-- > 0;) {
		if (head_of(graph, sorted[i]) != head) {
			head = head_of(graph, sorted[i]);
			inherit(graph, sorted[i]);
		}
		choose(graph, sorted[i], choices);
	}
}

static void sum_cycles(struct graph *graph)
{
	for (size_t i = 0; i < graph->cycle_count; i++) {
		struct graph_node *cycle = &graph->nodes[graph->function_count + i];
		for (uint32_t j = cycle->next_member; j != GRAPH_NONE; j = graph->nodes[j].next_member)
			if (graph->nodes[j].fraction != 0)
				cycle->time += graph->nodes[j].time;
		cycle->shown_time = cycle->fraction * cycle->time;
	}
}

static void pass_on(struct graph *graph, struct graph_arc *arc)
{
	struct graph_node *parent = &graph->nodes[arc->parent];
	const struct graph_node *callee = &graph->nodes[head_of(graph, arc->child)];
	if (arc->count == 0 || graph->nodes[arc->child].fraction == 0 || callee->calls == 0 ||
	    graph_are_siblings(graph, arc->parent, arc->child))
		return;
	double part = (double)arc->count / (double)callee->calls;
	arc->time = callee->time * part;
	arc->below = callee->below * part;
	double share = arc->time + arc->below, shown = parent->fraction * share;
	arc->time *= parent->fraction;
	arc->below *= parent->fraction;
	parent->below += share;
	parent->shown_below += shown;
	if (parent->cycle != GRAPH_NONE) {
		graph->nodes[parent->cycle].below += share;
		graph->nodes[parent->cycle].shown_below += shown;
	}
}

/* Goes from callees to callers. */
static void pass_all(struct graph *graph, const uint32_t *sorted)
{
	for (size_t i = 0; i < graph->function_count; i++) {
		const struct graph_node *node = &graph->nodes[sorted[i]];
		if (node->fraction == 0)
			continue;
		for (uint32_t j = node->first_child; j != GRAPH_NONE; j = graph->arcs[j].next_child)
			pass_on(graph, &graph->arcs[j]);
	}
}

/* Returns the functions sorted by their order, and by address within a cycle: a counting sort, because orders are
 * small numbers. The caller frees the array; NULL: no memory. */
static uint32_t *sort_by_order(const struct graph *graph)
{
	size_t count = graph->function_count;
	uint32_t *sorted = malloc((count + 1) * sizeof(*sorted));
	uint32_t *starts = calloc(count + 2, sizeof(*starts));
	for (size_t i = 0; starts && i < count; i++)
		starts[graph->nodes[i].order + 1]++;
	for (size_t i = 1; starts && i < count + 2; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; sorted && starts && i < count; i++)
		sorted[starts[graph->nodes[i].order]++] = (uint32_t)i;
	if (!starts) {
		free(sorted);
		sorted = NULL;
	}
	free(starts);
	return sorted;
}

int graph_propagate(struct graph *graph, const struct choices *choices)
{
	uint32_t *sorted = sort_by_order(graph);
	if (!sorted)
		return ERROR_MEMORY;
	choose_all(graph, sorted, choices);
	sum_cycles(graph);
	pass_all(graph, sorted);
	free(sorted);
	return 0;
}
