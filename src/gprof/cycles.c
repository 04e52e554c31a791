/*
 * Finds cycles: functions that call each other in a circle, which share their time. They are the strongly connected
 * components ("parts") of the graph. Method: H. N. Gabow, "Path-based depth-first search for strong and biconnected
 * components", Information Processing Letters 74 (2000): visited functions that do not belong to a finished part form a
 * row, and `heads` has the first function of each part found so far. An arc back to a function of the row joins all
 * parts from that function's part on.
 *
 * Members are linked in the order in which the parts were joined, as gprof does.
 */
#include <stdlib.h>

#include "gprof/graph.h"

enum { NOT_VISITED = 0 };

struct visit {
	uint32_t node;
	uint32_t arc; /* the next arc to a callee that the search follows */
};

struct search {
	struct graph *graph;
	uint32_t *number;   /* per node: position in the order of visits, from 1; UINT32_MAX: its part is finished */
	uint32_t *last;     /* per head: the last member of its part */
	uint32_t *heads;    /* [head_count] */
	struct visit *path; /* [depth]: from the first function of the search */
	size_t head_count, depth;
	uint32_t visited;  /* functions */
	uint32_t finished; /* parts */
};

static void enter(struct search *search, uint32_t node)
{
	search->number[node] = ++search->visited;
	search->last[node] = node;
	search->heads[search->head_count++] = node;
	search->path[search->depth++] = (struct visit){ node, search->graph->nodes[node].first_child };
}

/* Joins the part that `node` is in and all parts behind it. */
static void join(struct search *search, uint32_t node)
{
	while (search->number[search->heads[search->head_count - 1]] > search->number[node]) {
		uint32_t joined = search->heads[--search->head_count];
		uint32_t head = search->heads[search->head_count - 1];
		search->graph->nodes[search->last[head]].next_member = joined;
		search->last[head] = search->last[joined];
	}
}

/* Completes the part that begins with `head`. */
static void finish(struct search *search, uint32_t head)
{
	search->head_count--;
	search->finished++;
	for (uint32_t i = head; i != GRAPH_NONE; i = search->graph->nodes[i].next_member) {
		search->graph->nodes[i].order = search->finished;
		search->number[i] = UINT32_MAX;
	}
}

static void search_from(struct search *search, uint32_t root)
{
	const struct graph *graph = search->graph;
	enter(search, root);
	while (search->depth > 0) {
		struct visit *visit = &search->path[search->depth - 1];
		if (visit->arc == GRAPH_NONE) {
			search->depth--;
			if (search->heads[search->head_count - 1] == visit->node)
				finish(search, visit->node);
			continue;
		}
		const struct graph_arc *arc = &graph->arcs[visit->arc];
		visit->arc = arc->next_child;
		if (search->number[arc->child] == NOT_VISITED)
			enter(search, arc->child);
		else if (search->number[arc->child] != UINT32_MAX)
			join(search, arc->child);
	}
}

static int find_parts(struct graph *graph)
{
	size_t count = graph->function_count + 1;
	struct search search = {
		.graph = graph,
		.number = calloc(count, sizeof(*search.number)),
		.last = calloc(count, sizeof(*search.last)),
		.heads = calloc(count, sizeof(*search.heads)),
		.path = calloc(count, sizeof(*search.path)),
	};
	int code = search.number && search.last && search.heads && search.path ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; code == 0 && i < graph->function_count; i++)
		if (search.number[i] == NOT_VISITED)
			search_from(&search, i);
	free(search.number);
	free(search.last);
	free(search.heads);
	free(search.path);
	return code;
}

/* Returns which nodes are heads of parts with several members: a head has a next member, and no member links to it.
 * The caller frees the array; NULL: no memory. */
static bool *find_heads(const struct graph *graph)
{
	bool *is_head = calloc(graph->function_count + 1, sizeof(*is_head));
	for (size_t i = 0; is_head && i < graph->function_count; i++)
		is_head[i] = graph->nodes[i].next_member != GRAPH_NONE;
	for (size_t i = 0; is_head && i < graph->function_count; i++)
		if (graph->nodes[i].next_member != GRAPH_NONE)
			is_head[graph->nodes[i].next_member] = false;
	return is_head;
}

static void add_cycle(struct graph *graph, uint32_t head)
{
	uint32_t number = (uint32_t)(graph->function_count + graph->cycle_count++);
	graph->nodes[number] = (struct graph_node){ .cycle = number,
						    .next_member = head,
						    .first_parent = GRAPH_NONE,
						    .first_child = GRAPH_NONE,
						    .is_printed = true };
	for (uint32_t i = head; i != GRAPH_NONE; i = graph->nodes[i].next_member)
		graph->nodes[i].cycle = number;
}

static void count_calls(struct graph *graph)
{
	for (size_t i = 0; i < graph->arc_count; i++) {
		const struct graph_arc *arc = &graph->arcs[i];
		uint32_t cycle = graph->nodes[arc->child].cycle;
		if (cycle == GRAPH_NONE || arc->parent == arc->child)
			continue;
		if (graph->nodes[arc->parent].cycle == cycle)
			graph->nodes[cycle].self_calls += arc->count;
		else
			graph->nodes[cycle].calls += arc->count;
	}
}

int graph_find_cycles(struct graph *graph)
{
	int code = find_parts(graph);
	if (code < 0)
		return code;
	bool *is_head = find_heads(graph);
	size_t cycles = 0;
	for (size_t i = 0; is_head && i < graph->function_count; i++)
		cycles += is_head[i];
	struct graph_node *nodes =
		is_head ? realloc(graph->nodes, (graph->function_count + cycles + 1) * sizeof(*nodes)) : NULL;
	if (!nodes) {
		free(is_head);
		return ERROR_MEMORY;
	}
	graph->nodes = nodes;
	for (uint32_t i = 0; i < graph->function_count; i++)
		if (is_head[i])
			add_cycle(graph, i);
	free(is_head);
	count_calls(graph);
	return 0;
}
