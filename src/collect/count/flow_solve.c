/*
 * Computes unknown counts and flows. Each block has two sums: its count equals the flow in, and it equals the flow
 * out. If one number of a sum is unknown, the others determine it; if the known flows reach the count, all unknown
 * flows are 0. Each result is used in its other sum, until no sum gives a new one.
 *
 * Sums that may not hold are left out: the flow into a block that control may enter without an edge (a function's
 * start, a landing pad), and the flow out of a block with a call, which may not return. The latter sums are used at
 * the end, for what is still unknown then.
 */
#include <stdlib.h>

#include "collect/count/flow.h"

struct solver {
	struct flow_graph *graph;
	uint32_t *queue; /* blocks whose two sums are to be checked; a ring */
	size_t first, count;
	bool *is_queued;
	bool assumes_returns;
};

static void queue(struct solver *solver, uint32_t block)
{
	if (solver->is_queued[block])
		return;
	solver->is_queued[block] = true;
	solver->queue[(solver->first + solver->count++) % solver->graph->block_count] = block;
}

static void set_flow(struct solver *solver, struct flow_edge *edge, uint64_t flow)
{
	edge->flow = flow;
	edge->is_known = true;
	queue(solver, edge->from);
	queue(solver, edge->to);
}

static uint32_t next_edge(const struct flow_edge *edge, bool is_in)
{
	return is_in ? edge->next_in : edge->next_out;
}

static void solve_block(struct solver *solver, uint32_t number, bool is_in)
{
	struct flow_graph *graph = solver->graph;
	struct flow_block *block = &graph->blocks[number];
	uint32_t first = is_in ? block->first_in : block->first_out, unknown = FLOW_NONE;
	uint64_t sum = 0;
	size_t unknown_count = 0;
	for (uint32_t i = first; i != FLOW_NONE; i = next_edge(&graph->edges[i], is_in)) {
		sum += graph->edges[i].is_known ? graph->edges[i].flow : 0;
		if (!graph->edges[i].is_known) {
			unknown = i;
			unknown_count++;
		}
	}
	if (first == FLOW_NONE)
		return;
	if (!block->is_known && unknown_count == 0) {
		block->count = sum;
		block->is_known = true;
		queue(solver, number);
	} else if (block->is_known && unknown_count == 1) {
		set_flow(solver, &graph->edges[unknown], block->count > sum ? block->count - sum : 0);
	} else if (block->is_known && unknown_count > 1 && sum >= block->count) {
		for (uint32_t i = first; i != FLOW_NONE; i = next_edge(&graph->edges[i], is_in))
			if (!graph->edges[i].is_known)
				set_flow(solver, &graph->edges[i], 0);
	}
}

static void solve(struct solver *solver)
{
	while (solver->count > 0) {
		uint32_t number = solver->queue[solver->first];
		const struct flow_block *block = &solver->graph->blocks[number];
		solver->first = (solver->first + 1) % solver->graph->block_count;
		solver->count--;
		solver->is_queued[number] = false;
		if (!block->is_open)
			solve_block(solver, number, true);
		if (!block->leaks || solver->assumes_returns)
			solve_block(solver, number, false);
	}
}

static void solve_all(struct solver *solver)
{
	for (int assumes = 0; assumes < 2; assumes++) {
		solver->assumes_returns = assumes;
		for (size_t i = 0; i < solver->graph->block_count; i++)
			queue(solver, (uint32_t)i);
		solve(solver);
	}
}

int flow_graph_solve(struct flow_graph *graph)
{
	struct solver solver = { .graph = graph,
				 .queue = calloc(graph->block_count + 1, sizeof(*solver.queue)),
				 .is_queued = calloc(graph->block_count + 1, sizeof(*solver.is_queued)) };
	int status = solver.queue && solver.is_queued ? 0 : ERROR_MEMORY;
	if (status == 0)
		solve_all(&solver);
	free(solver.queue);
	free(solver.is_queued);
	return status;
}
