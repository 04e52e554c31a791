/*
 * How often each piece of a module's code was executed, from what hooks at basic blocks have counted.
 *
 * Not all code has a hook: a compiler leaves blocks out whose count follows from others', and makes new ones behind
 * the place where it put the hooks in. So the code itself is read: its jumps make a graph, in which as much flows into
 * a block as out of it, and what is counted of some blocks tells of others, and of the jumps between them.
 *
 *     4 [hook]  x < 0          4 [hook]
 *       |    \
 *       |     1 [hook] x = -x  1 [hook]
 *       |    /
 *       ?   jmp                3 over the jump on the left
 *
 * Only functions with a hook are in the graph, all of a module in one: parts of a function may lie apart.
 */
#ifndef COLLECT_COUNT_FLOW_H
#define COLLECT_COUNT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "unwind/unwind.h"

enum { FLOW_NONE = UINT32_MAX, FLOW_HOOKS_MAX = 8 };

/* What was counted: where the hook returns to, an ELF virtual address. */
struct flow_count {
	uint64_t pc;
	uint64_t count;
};

struct flow_block {
	uint64_t start, end;          /* ELF virtual */
	uint64_t function;            /* where it begins */
	uint64_t epilogue;            /* where nothing but what ends the function begins; `end` if it does not return */
	uint64_t count;               /* how often it was executed */
	uint32_t first_in, first_out; /* edges; FLOW_NONE: none */
	bool is_known;
	bool is_hooked;
	bool is_open; /* what is known to lead to it is not all that may */
	bool leaks;   /* what it calls may not return, or it leads to where nothing is seen */
};

struct flow_edge {
	uint64_t flow; /* how often it was taken */
	uint32_t from, to;
	uint32_t next_in, next_out; /* of the same block */
	bool is_known;
};

struct flow_graph {
	struct flow_block *blocks; /* sorted by address */
	struct flow_edge *edges;
	size_t block_count, edge_count;
	bool has_arguments; /* hooks are told something: clang's, not gcc's */
	size_t block_capacity, edge_capacity;
};

/* From the functions of a file and the counts, sorted by pc, each once. Code that cannot be read is left out.
 * Returns 0 or ERROR_MEMORY; call flow_graph_release in any case. */
int flow_graph_read(struct flow_graph *graph, struct elf_file *file, const struct unwind_table *functions,
		    const struct flow_count *counts, size_t count);
void flow_graph_release(struct flow_graph *graph);

/* flow_solve.c: what follows from what is known. Blocks that nothing is known of then are taken for not executed. */
int flow_graph_solve(struct flow_graph *graph);

#endif
