/*
 * Finds the functions that tail calls removed from a stack.
 *
 *   main: call a          a: ... jmp b          b: ... jmp burn          the stack: main, burn
 *
 * The call site in `main` names `a`, and the stack names `burn`. A search of the graph of tail calls finds the functions on all ways
 * from the one to the other. A function that is on every way is certain: the stack had its frame. Where the ways part, one of several
 * functions was there.
 *
 * A node is a function, or the name of a function of other files, which leads to the functions with that name. An edge is a jump out of
 * a function. A way visits a node once: of a recursion by tail calls, one turn is found. The node of unknown functions may lead to any
 * function. So a function that jumps there, and on to other functions, has a way past those:
 *
 *   a: ... jmp b;  jmp *pointer          b: ... jmp burn          the steps to burn: a, "b or unknown functions"
 */
#ifndef FRAMES_TAIL_SEARCH_H
#define FRAMES_TAIL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

#define TAIL_NONE UINT32_MAX

/* Limits of one search: nodes within reach, nodes on ways, steps of its result. */
enum { TAIL_REACH_MOST = 4096, TAIL_NODES_MOST = 128, TAIL_STEPS_MOST = 16 };

struct tail_graph {
	struct tail_node {
		uint32_t first_out, first_in; /* edges; TAIL_NONE: none */
		uint32_t visit;               /* the last search that reached it */
		uint32_t number;              /* in that search: its position on the ways, or TAIL_NONE */
		bool is_name;
		bool is_open; /* it leads to unknown functions: tail_graph_open */
	} * nodes;
	struct tail_edge {
		uint32_t from, to, next_out, next_in;
		uint64_t address; /* last byte of the first jump */
		bool several;     /* there are more jumps */
	} * edges;
	size_t node_count, node_capacity, edge_count, edge_capacity;
	struct hash_map by_ends; /* (from, to) -> edge */
	uint32_t visits;
	uint32_t unknown; /* node of unknown functions; TAIL_NONE: none */
	uint32_t *queue;  /* of searches; [TAIL_REACH_MOST] */
};

/* A function of the result, or a place where one of several functions was. */
struct tail_step {
	uint32_t node;         /* TAIL_NONE: one of the alternatives */
	uint64_t address;      /* of a node: the last byte of the jump out of it */
	bool several;          /* of a node: there are more jumps out of it, and `address` is that of the first */
	bool or_none;          /* of alternatives: or none of them */
	bool or_unknown;       /* of alternatives: or unknown functions */
	uint32_t alternatives; /* of alternatives: their number in chain.alternatives, and the first of them */
	uint32_t first;
};

struct tail_chain {
	size_t count;
	struct tail_step steps[TAIL_STEPS_MOST];
	uint32_t alternatives[TAIL_NODES_MOST];
};

/* Life cycle: init, additions, searches, release. */
int tail_graph_init(struct tail_graph *graph);
void tail_graph_release(struct tail_graph *graph);

/* Each returns an id or 0, or ERROR_MEMORY or ERROR_LIMIT. */
int64_t tail_graph_add_node(struct tail_graph *graph, bool is_name);
int tail_graph_add_jump(struct tail_graph *graph, uint32_t from, uint32_t to, uint64_t address);

/* Takes the graph's jumps as complete, and `unknown` as the node of unknown functions: marks the nodes that lead to it. Returns 0 or
 * ERROR_MEMORY. */
int tail_graph_open(struct tail_graph *graph, uint32_t unknown);

/* Finds the steps from `from`, which is called, to `to`, which runs and is no step. Returns false if no way was found. */
bool tail_search(struct tail_graph *graph, uint32_t from, uint32_t to, struct tail_chain *chain);

#endif
