#include "gprof/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int make_nodes(struct graph *graph)
{
	hash_map_init(&graph->arc_by_ends);
	graph->nodes = calloc(graph->function_count + 1, sizeof(*graph->nodes));
	if (!graph->nodes)
		return ERROR_MEMORY;
	for (size_t i = 0; i < graph->function_count; i++) {
		struct graph_node *node = &graph->nodes[i];
		node->cycle = node->next_member = node->first_parent = node->first_child = GRAPH_NONE;
	}
	return 0;
}

int graph_init(struct graph *graph, const struct image *image)
{
	*graph = (struct graph){ .image = image, .function_count = image->symbol_count };
	return make_nodes(graph);
}

int graph_init_named(struct graph *graph, const char *const *names, size_t count)
{
	*graph = (struct graph){ .names = names, .function_count = count };
	return make_nodes(graph);
}

void graph_release(struct graph *graph)
{
	free(graph->nodes);
	free(graph->arcs);
	free(graph->entries);
	hash_map_release(&graph->arc_by_ends);
	*graph = (struct graph){ 0 };
}

static uint64_t ends_of(uint32_t parent, uint32_t child)
{
	return (uint64_t)parent << 32 | child;
}

uint32_t graph_find_arc(const struct graph *graph, uint32_t parent, uint32_t child)
{
	return hash_map_get(&graph->arc_by_ends, ends_of(parent, child));
}

/* Inserts new arcs at the head of both lists: gprof searches cycles in this order, and sorts equal arcs by it. */
int graph_add_arc(struct graph *graph, uint32_t parent, uint32_t child, uint64_t count)
{
	bool is_new;
	int64_t arc = HASH_MAP_ITEM(&graph->arc_by_ends, ends_of(parent, child), graph->arcs, graph->arc_capacity,
				    graph->arc_count, &is_new);
	if (arc < 0)
		return (int)arc;
	if (!is_new) {
		graph->arcs[arc].count += count;
		return 0;
	}
	struct graph_node *from = &graph->nodes[parent], *to = &graph->nodes[child];
	graph->arcs[arc] = (struct graph_arc){ .parent = parent,
					       .child = child,
					       .next_parent = to->first_parent,
					       .next_child = from->first_child,
					       .count = count };
	to->first_parent = from->first_child = (uint32_t)arc;
	return 0;
}

int graph_solve(struct graph *graph, const struct choices *choices)
{
	for (uint32_t i = 0; i < graph->function_count; i++) {
		struct graph_node *node = &graph->nodes[i];
		uint32_t own = graph_find_arc(graph, i, i);
		node->self_calls = own == GRAPH_NONE ? 0 : graph->arcs[own].count;
		node->calls -= node->self_calls;
	}
	int code = graph_find_cycles(graph);
	if (code == 0)
		code = graph_propagate(graph, choices);
	return code == 0 ? graph_sort(graph) : code;
}
