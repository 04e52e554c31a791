/*
 * How often each piece of a module's code was executed, computed from the counts of hooks at basic blocks.
 *
 * Not all code has a hook: a compiler omits it from blocks whose counts follow from others, and makes new blocks
 * after it inserted the hooks. So the code itself is decoded: its jumps make a graph, in which the flow into a block
 * equals the flow out of it. The counts of some blocks thus determine the counts of others, and of the jumps between
 * them.
 *
 *     4 [hook]  x < 0          4 [hook]
 *       |    \
 *       |     1 [hook] x = -x  1 [hook]
 *       |    /
 *       ?   jmp                3 over the jump on the left
 *
 * The graph has only functions with a hook. All of a module are in one graph, because parts of a function may lie
 * apart.
 */
#ifndef COLLECT_COUNT_FLOW_H
#define COLLECT_COUNT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "unwind/unwind.h"

enum { FLOW_NONE = UINT32_MAX, FLOW_HOOKS_MAX = 8 };

/* How often a hook was called; `pc` is its return address, as an ELF virtual address. */
struct flow_count {
	uint64_t pc;
	uint64_t count;
};

struct flow_block {
	uint64_t start, end;          /* ELF virtual */
	uint64_t function;            /* address at which its function begins */
	uint64_t epilogue;            /* from here on it only ends the function; `end` if it does not return */
	uint64_t body;                /* address behind its hook; `start` if it has none */
	uint64_t jump;                /* address of the jump that ends it; `end` if none does */
	uint64_t count;               /* executions */
	uint32_t first_in, first_out; /* edges; FLOW_NONE: none */
	bool is_known;
	bool is_hooked;
	bool is_open; /* control may also enter it in ways that are not edges of the graph */
	bool leaks;   /* it calls a function, which may not return, or leads out of the graph */
	bool resumes; /* it begins behind a call */
};

struct flow_edge {
	uint64_t flow; /* how often it was taken */
	uint32_t from, to;
	uint32_t next_in, next_out; /* next edge into `to`, and out of `from` */
	bool is_known;
};

struct flow_graph {
	struct flow_block *blocks; /* sorted by address */
	struct flow_edge *edges;
	size_t block_count, edge_count;
	bool has_arguments; /* hooks have an argument: clang's have, gcc's have not */
	size_t block_capacity, edge_capacity;
};

/* Makes a graph of a file's functions and the counts, which are sorted by pc, each pc once. Code that cannot be
 * decoded is left out. Returns 0, ERROR_MEMORY or ERROR_LIMIT; call flow_graph_release in any case. */
int flow_graph_read(struct flow_graph *graph, struct elf_file *file, const struct unwind_table *functions,
		    const struct flow_count *counts, size_t count);
void flow_graph_release(struct flow_graph *graph);

/* flow_solve.c: computes the counts and flows that follow from the known counts. A block whose count does not follow
 * has count 0. Returns 0 or ERROR_MEMORY. */
int flow_graph_solve(struct flow_graph *graph);

#endif
