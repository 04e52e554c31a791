/* The orders of the call graph's entries and lines. They are gprof's orders, also among equals. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "gprof/graph.h"

const char *graph_name(const struct graph *graph, uint32_t node)
{
	return graph->image ? graph->image->symbols[node].name : graph->names[node];
}

/* --- entries --- */

/* Sorts by the time of all calls, decreasing; then cycles first, names without an underscore first, and by the
 * number of calls and the name. */
static int compare_entries(const void *one, const void *other, void *context)
{
	const struct graph *graph = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct graph_node *left = &graph->nodes[a], *right = &graph->nodes[b];
	int order = COMPARE((right->shown_time + right->shown_below) - (left->shown_time + left->shown_below), 0);
	if (order == 0)
		order = graph_is_cycle(graph, b) - graph_is_cycle(graph, a);
	if (order == 0 && !graph_is_cycle(graph, a)) {
		const char *left_name = graph_name(graph, a), *right_name = graph_name(graph, b);
		order = (left_name[0] == '_') - (right_name[0] == '_') ?: COMPARE(right->calls, left->calls) ?:
			strcmp(left_name, right_name);
	}
	return order ?: COMPARE(a, b);
}

int graph_sort(struct graph *graph)
{
	size_t count = graph->function_count + graph->cycle_count;
	graph->entries = malloc((count + 1) * sizeof(*graph->entries));
	if (!graph->entries)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		graph->entries[i] = (uint32_t)i;
	qsort_r(graph->entries, count, sizeof(*graph->entries), compare_entries, graph);
	for (size_t i = 0; i < count; i++)
		graph->nodes[graph->entries[i]].index = (uint32_t)i + 1;
	return 0;
}

/* --- the lines of an entry --- */

/* A function's call of itself is the least, then calls within a cycle by their number, then all others by their
 * time. */
static int rank_of(const struct graph *graph, const struct graph_arc *arc)
{
	if (arc->parent == arc->child)
		return 0;
	return graph_are_siblings(graph, arc->parent, arc->child) ? 1 : 2;
}

static int compare_arcs(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_arc *left = &graph->arcs[a], *right = &graph->arcs[b];
	int rank = rank_of(graph, left), order = rank - rank_of(graph, right);
	if (order == 0 && rank == 2)
		order = COMPARE(left->time + left->below, right->time + right->below);
	return order ? order : COMPARE(left->count, right->count);
}

static int compare_parents(const void *one, const void *other, void *context)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	return compare_arcs(context, a, b) ?: COMPARE(a, b);
}

static int compare_children(const void *one, const void *other, void *context)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	return compare_arcs(context, b, a) ?: COMPARE(a, b);
}

size_t graph_parents(const struct graph *graph, uint32_t node, uint32_t *arcs)
{
	size_t count = 0;
	for (uint32_t i = graph->nodes[node].first_parent; i != GRAPH_NONE; i = graph->arcs[i].next_parent)
		arcs[count++] = i;
	qsort_r(arcs, count, sizeof(*arcs), compare_parents, (void *)graph);
	return count;
}

size_t graph_children(const struct graph *graph, uint32_t node, uint32_t *arcs)
{
	size_t count = 0;
	for (uint32_t i = graph->nodes[node].first_child; i != GRAPH_NONE; i = graph->arcs[i].next_child)
		arcs[count++] = i;
	qsort_r(arcs, count, sizeof(*arcs), compare_children, (void *)graph);
	return count;
}

struct member_order {
	const struct graph *graph;
	uint32_t *position; /* per function: its position in the list of members */
};

static int compare_members(const void *one, const void *other, void *context)
{
	const struct member_order *members = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct graph_node *left = &members->graph->nodes[a], *right = &members->graph->nodes[b];
	return COMPARE(right->shown_time + right->shown_below, left->shown_time + left->shown_below) ?:
	       COMPARE(right->calls + right->self_calls, left->calls + left->self_calls) ?:
	       COMPARE(members->position[a], members->position[b]);
}

int64_t graph_members(const struct graph *graph, uint32_t cycle, uint32_t *members)
{
	struct member_order order = { graph, calloc(graph->function_count + 1, sizeof(uint32_t)) };
	size_t count = 0;
	if (!order.position)
		return ERROR_MEMORY;
	for (uint32_t i = graph->nodes[cycle].next_member; i != GRAPH_NONE; i = graph->nodes[i].next_member) {
		order.position[i] = (uint32_t)count;
		members[count++] = i;
	}
	qsort_r(members, count, sizeof(*members), compare_members, &order);
	free(order.position);
	return (int64_t)count;
}
