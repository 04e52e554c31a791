#include "frames/tail_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

int tail_graph_init(struct tail_graph *graph)
{
	*graph = (struct tail_graph){ .queue = malloc(TAIL_REACH_MOST * sizeof(*graph->queue)), .unknown = TAIL_NONE };
	hash_map_init(&graph->by_ends);
	return graph->queue ? 0 : ERROR_MEMORY;
}

void tail_graph_release(struct tail_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->queue);
	hash_map_release(&graph->by_ends);
	*graph = (struct tail_graph){ 0 };
}

int64_t tail_graph_add_node(struct tail_graph *graph, bool is_name)
{
	if (graph->node_count >= TAIL_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(graph->nodes, graph->node_capacity, graph->node_count + 1) < 0)
		return ERROR_MEMORY;
	graph->nodes[graph->node_count] =
		(struct tail_node){ .first_out = TAIL_NONE, .first_in = TAIL_NONE, .is_name = is_name };
	return (int64_t)graph->node_count++;
}

int tail_graph_add_jump(struct tail_graph *graph, uint32_t from, uint32_t to, uint64_t address)
{
	uint64_t ends = (uint64_t)from << 32 | to;
	uint32_t known = hash_map_get(&graph->by_ends, ends);
	if (known != HASH_MAP_NONE) {
		struct tail_edge *edge = &graph->edges[known];
		edge->several = edge->several || edge->address != address;
		edge->address = address < edge->address ? address : edge->address;
		return 0;
	}
	if (graph->edge_count >= TAIL_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(graph->edges, graph->edge_capacity, graph->edge_count + 1) < 0 ||
	    hash_map_put(&graph->by_ends, ends, (uint32_t)graph->edge_count) < 0)
		return ERROR_MEMORY;
	uint32_t id = (uint32_t)graph->edge_count++;
	graph->edges[id] = (struct tail_edge){ .from = from,
					       .to = to,
					       .next_out = graph->nodes[from].first_out,
					       .next_in = graph->nodes[to].first_in,
					       .address = address };
	graph->nodes[from].first_out = graph->nodes[to].first_in = id;
	return 0;
}

int tail_graph_open(struct tail_graph *graph, uint32_t unknown)
{
	uint32_t *queue = malloc(graph->node_count * sizeof(*queue)), count = 0;
	if (!queue)
		return ERROR_MEMORY;
	graph->unknown = unknown;
	graph->nodes[unknown].is_open = true;
	queue[count++] = unknown;
	for (uint32_t at = 0; at < count; at++) {
		for (uint32_t i = graph->nodes[queue[at]].first_in; i != TAIL_NONE; i = graph->edges[i].next_in) {
			uint32_t next = graph->edges[i].from;
			if (graph->nodes[next].is_open)
				continue;
			graph->nodes[next].is_open = true;
			queue[count++] = next;
		}
	}
	free(queue);
	return 0;
}

/* The nodes on the ways, `from` first. All else is by their numbers. */
struct ways {
	struct tail_graph *graph;
	uint32_t nodes[TAIL_NODES_MOST];
	uint32_t count;
	uint32_t from, to;
	uint32_t certain[TAIL_NODES_MOST]; /* on every way, in the order of the ways */
	uint32_t certain_count;
	bool is_certain[TAIL_NODES_MOST];
	bool is_open
		[TAIL_NODES_MOST]; /* it leads to the end through unknown functions, and past all others on the ways */
};

/* Marks the nodes from which the end is within reach, from the nearest on. Returns false if there are too many. */
static bool reach(struct tail_graph *graph, uint32_t from, uint32_t to)
{
	uint32_t count = 0;
	graph->visits++;
	graph->nodes[to].visit = graph->visits;
	graph->queue[count++] = to;
	for (uint32_t at = 0; at < count; at++) {
		const struct tail_node *node = &graph->nodes[graph->queue[at]];
		for (uint32_t i = node->first_in; graph->queue[at] != from && i != TAIL_NONE;
		     i = graph->edges[i].next_in) {
			struct tail_node *next = &graph->nodes[graph->edges[i].from];
			if (next->visit == graph->visits)
				continue;
			if (count == TAIL_REACH_MOST)
				return false;
			next->visit = graph->visits;
			next->number = TAIL_NONE;
			graph->queue[count++] = graph->edges[i].from;
		}
	}
	return true;
}

static bool add_to_ways(struct ways *ways, uint32_t node)
{
	struct tail_node *row = &ways->graph->nodes[node];
	if (ways->graph->unknown == ways->nodes[ways->to] && row->is_open && row->visit != ways->graph->visits) {
		row->visit = ways->graph->visits;
		row->number = TAIL_NONE;
	}
	if (row->visit != ways->graph->visits || row->number != TAIL_NONE)
		return true;
	if (ways->count == TAIL_NODES_MOST)
		return false;
	row->number = ways->count;
	ways->nodes[ways->count++] = node;
	return true;
}

/* Adds what a node on the ways leads to. A node beside the ways leads to none on them. Returns false if that is too much. */
static bool add_next_to_ways(struct ways *ways, uint32_t at)
{
	const struct tail_graph *graph = ways->graph;
	bool fits = true;
	for (uint32_t i = graph->nodes[ways->nodes[at]].first_out; i != TAIL_NONE && fits;
	     i = graph->edges[i].next_out) {
		uint32_t next = graph->edges[i].to;
		fits = add_to_ways(ways, next);
		ways->is_open[at] |= graph->nodes[next].is_open && graph->nodes[next].visit != graph->visits;
	}
	return fits;
}

/* Finds the nodes on the ways. Returns false if there are too many, or none. */
static bool find_ways(struct ways *ways, uint32_t from, uint32_t to)
{
	struct tail_graph *graph = ways->graph;
	bool is_unknown = to == graph->unknown;
	graph->visits += is_unknown;
	if (is_unknown ? !graph->nodes[from].is_open
		       : !reach(graph, from, to) || graph->nodes[from].visit != graph->visits)
		return false;
	graph->nodes[from].number = graph->nodes[to].number = TAIL_NONE;
	ways->from = 0;
	ways->to = 1;
	ways->nodes[ways->to] = to;
	bool fits = add_to_ways(ways, from) && add_to_ways(ways, to);
	for (uint32_t at = 0; at < ways->count && fits; at++)
		fits = at == ways->to || add_next_to_ways(ways, at);
	return fits;
}

/* Returns the number of an edge's end on the ways, or TAIL_NONE. */
static uint32_t number_of(const struct ways *ways, uint32_t node)
{
	const struct tail_node *row = &ways->graph->nodes[node];
	return row->visit == ways->graph->visits ? row->number : TAIL_NONE;
}

/* Marks what is within reach of a node, forwards or backwards, without passing nodes that are closed; a closed node is marked, too. */
static void spread(const struct ways *ways, uint32_t start, bool forwards, const bool *closed, bool *marks)
{
	const struct tail_graph *graph = ways->graph;
	uint32_t queue[TAIL_NODES_MOST], count = 0;
	memset(marks, 0, TAIL_NODES_MOST * sizeof(*marks));
	marks[start] = true;
	queue[count++] = start;
	for (uint32_t at = 0; at < count; at++) {
		const struct tail_node *node = &graph->nodes[ways->nodes[queue[at]]];
		if (closed[queue[at]] && queue[at] != start)
			continue;
		for (uint32_t i = forwards ? node->first_out : node->first_in; i != TAIL_NONE;
		     i = forwards ? graph->edges[i].next_out : graph->edges[i].next_in) {
			uint32_t next = number_of(ways, forwards ? graph->edges[i].to : graph->edges[i].from);
			if (next == TAIL_NONE || marks[next])
				continue;
			marks[next] = true;
			queue[count++] = next;
		}
		if (forwards && ways->is_open[queue[at]] && !marks[ways->to]) {
			marks[ways->to] = true;
			queue[count++] = ways->to;
		}
		for (uint32_t next = 0; !forwards && queue[at] == ways->to && next < ways->count; next++) {
			if (ways->is_open[next] && !marks[next]) {
				marks[next] = true;
				queue[count++] = next;
			}
		}
	}
}

/* Finds the functions on every way. Each closes the ways to all that follow it, which gives their order. */
static void find_certain(struct ways *ways)
{
	bool closed[TAIL_NODES_MOST] = { false }, marks[TAIL_NODES_MOST];
	uint32_t reached[TAIL_NODES_MOST];
	ways->certain[ways->certain_count++] = ways->from;
	for (uint32_t i = 0; i < ways->count; i++) {
		if (i == ways->from || i == ways->to || ways->graph->nodes[ways->nodes[i]].is_name)
			continue;
		closed[i] = true;
		spread(ways, ways->from, true, closed, marks);
		closed[i] = false;
		if (marks[ways->to])
			continue;
		reached[i] = 0;
		for (uint32_t other = 0; other < ways->count; other++)
			reached[i] += marks[other];
		uint32_t at = ways->certain_count++;
		for (; at > 1 && reached[ways->certain[at - 1]] > reached[i]; at--)
			ways->certain[at] = ways->certain[at - 1];
		ways->certain[at] = i;
	}
	ways->certain[ways->certain_count++] = ways->to;
	for (uint32_t i = 0; i < ways->certain_count; i++)
		ways->is_certain[ways->certain[i]] = true;
}

/* Returns whether a way from a node leads to another one without a function of the ways between them. *is_open: it is one through unknown
 * functions. */
static bool is_next(const struct ways *ways, uint32_t node, uint32_t next, bool *is_open)
{
	bool closed[TAIL_NODES_MOST], marks[TAIL_NODES_MOST];
	for (uint32_t i = 0; i < ways->count; i++)
		closed[i] = !ways->graph->nodes[ways->nodes[i]].is_name;
	spread(ways, node, true, closed, marks);
	for (uint32_t i = 0; i < ways->count; i++)
		*is_open |= next == ways->to && ways->is_open[i] && marks[i] && (i == node || !closed[i]);
	return marks[next];
}

/* Sets the jump out of a certain node, of those that lead to `between`. */
static void set_jump(const struct ways *ways, uint32_t certain, const bool *between, struct tail_step *step)
{
	const struct tail_graph *graph = ways->graph;
	bool found = false;
	for (uint32_t i = graph->nodes[step->node].first_out; i != TAIL_NONE; i = graph->edges[i].next_out) {
		const struct tail_edge *edge = &graph->edges[i];
		uint32_t to = number_of(ways, edge->to);
		if (to == TAIL_NONE || to == certain || !between[to])
			continue;
		step->several = step->several || found || edge->several;
		step->address = found && step->address < edge->address ? step->address : edge->address;
		found = true;
	}
	step->several = step->several || ways->is_open[certain];
}

/* Adds the steps from a certain node to the next one, without that. Returns false if there are too many. */
static bool add_steps(const struct ways *ways, uint32_t certain, uint32_t next, struct tail_chain *chain,
		      uint32_t *alternatives)
{
	bool ahead[TAIL_NODES_MOST], behind[TAIL_NODES_MOST];
	struct tail_step step = { .node = TAIL_NONE, .first = *alternatives };
	spread(ways, certain, true, ways->is_certain, ahead);
	spread(ways, next, false, ways->is_certain, behind);
	for (uint32_t i = 0; i < ways->count; i++)
		ahead[i] = ahead[i] && behind[i];
	ahead[next] = true;
	if (!ways->graph->nodes[ways->nodes[certain]].is_name) {
		struct tail_step own = { .node = ways->nodes[certain] };
		set_jump(ways, certain, ahead, &own);
		if (chain->count == TAIL_STEPS_MOST)
			return false;
		chain->steps[chain->count++] = own;
	}
	for (uint32_t i = 0; i < ways->count; i++)
		if (ahead[i] && !ways->is_certain[i] && !ways->graph->nodes[ways->nodes[i]].is_name)
			chain->alternatives[(*alternatives)++] = ways->nodes[i];
	step.alternatives = *alternatives - step.first;
	if (step.alternatives == 0)
		return true;
	step.or_none = is_next(ways, certain, next, &step.or_unknown);
	if (chain->count == TAIL_STEPS_MOST)
		return false;
	chain->steps[chain->count++] = step;
	return true;
}

bool tail_search(struct tail_graph *graph, uint32_t from, uint32_t to, struct tail_chain *chain)
{
	struct ways ways = { .graph = graph };
	uint32_t alternatives = 0;
	chain->count = 0;
	if (from == to || !find_ways(&ways, from, to))
		return false;
	find_certain(&ways);
	for (uint32_t i = 0; i + 1 < ways.certain_count; i++)
		if (!add_steps(&ways, ways.certain[i], ways.certain[i + 1], chain, &alternatives))
			return false;
	return true;
}
