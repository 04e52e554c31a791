/*
 * The classic call graph: functions, arcs with counts, cycles, and the times that callees pass on to callers in
 * proportion to these counts. Method: S. Graham, P. Kessler, M. McKusick, "gprof: A Call Graph Execution Profiler",
 * SIGPLAN '82. If the method leaves a choice (ties, bins that overlap two functions), the code follows binutils'
 * gprof, so that the figures agree.
 *
 *   graph_init        makes a node for each symbol of the image
 *   graph_assign      converts the histogram's samples to the nodes' own time (assign.c)
 *   graph_count       converts gmon's arcs to calls, and to arcs between nodes (assign.c)
 *   graph_scan        adds arcs without calls for the calls in the code: -c (scan.c)
 *   graph_solve       finds cycles (cycles.c), passes times on (propagate.c), sorts the entries (sort.c)
 *   print_...         print.h
 *
 * Times are in samples, as doubles: a bin of the histogram may overlap two functions. Divide by `rate` for seconds.
 */
#ifndef GPROF_GRAPH_H
#define GPROF_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "gprof/choices.h"
#include "gprof/gmon.h"
#include "gprof/image.h"

#define GRAPH_NONE UINT32_MAX

/* Nodes below `function_count` are the image's symbols, by their numbers; the cycles follow. */
struct graph_node {
	uint64_t calls;      /* calls by others; for a cycle: from outside of it */
	uint64_t self_calls; /* a function's calls of itself; for a cycle: calls among its members */
	double time;         /* its own samples; for a cycle: the sum over its members */
	double below;        /* samples that its callees passed on to it */
	double fraction;     /* the part of both that the call graph shows: -F -E -n -N */
	double shown_time;   /* these parts */
	double shown_below;
	uint32_t cycle;        /* node of its cycle (a cycle: itself); GRAPH_NONE: it is in none */
	uint32_t next_member;  /* the next member of its cycle; for a cycle: the first member */
	uint32_t first_parent; /* arcs to it, linked by next_parent */
	uint32_t first_child;  /* arcs from it, linked by next_child */
	uint32_t order;        /* topological: larger than the order of all callees outside of its cycle */
	uint32_t index;        /* [n] in the report, from 1 */
	bool is_printed;       /* it has an entry in the call graph */
};

/* Arcs between symbols, each pair once; includes a function's calls of itself. */
struct graph_arc {
	uint32_t parent, child;
	uint32_t next_parent, next_child;
	uint64_t count; /* 0: only found in the code (-c) */
	double time;    /* the part of the child's own time that is passed to the parent */
	double below;   /* ... and the part of the child's `below` */
};

struct graph {
	const struct image *image; /* not owned; NULL: nodes are named by `names` */
	const char *const *names;  /* not owned; [function_count] if there is no image */
	struct graph_node *nodes;  /* owned */
	size_t function_count, cycle_count;
	struct graph_arc *arcs; /* owned, in the order in which they were added */
	size_t arc_count, arc_capacity;
	struct hash_map arc_by_ends;
	uint32_t *entries; /* owned: nodes in the order of the call graph: [function_count + cycle_count] */

	double rate;                            /* samples per second (or per `dimension`); 0: there is no histogram */
	char dimension[16];                     /* "seconds" */
	char abbreviation;                      /* 's' */
	double bin_units;                       /* width of a bin in units of 2 bytes */
	double total_time;                      /* samples that the flat profile shows */
	double shown_time;                      /* ... and the call graph */
	double whole_time;                      /* samples that are 100 % in the call graph; 0: shown_time */
	uint64_t samples;                       /* samples of the whole histogram, regardless of options */
	uint64_t samples_outside, arcs_outside; /* in no symbol */
	uint64_t calls_from_outside;            /* calls of known functions from outside of all symbols */
};

/* All of it: settles the choices, makes a zeroed graph of the image and of what was counted in it, with the calls in
 * the code if `scans`, and solves it if it has arcs (graph_make.c). Returns 0 or a negative error; call graph_release
 * in any case. */
int graph_make(struct graph *graph, const struct image *image, const struct gmon *gmon, struct choices *choices,
	       bool scans);

/* Makes a graph of an image's symbols. Returns 0 or ERROR_MEMORY; call graph_release in any case. */
int graph_init(struct graph *graph, const struct image *image);
/* The same for functions without addresses. The names must outlive the graph. */
int graph_init_named(struct graph *graph, const char *const *names, size_t count);
void graph_release(struct graph *graph);

/* Adds `count` to the arc, which is added if it is new. Returns 0, ERROR_MEMORY or ERROR_LIMIT (2^32 arcs). */
int graph_add_arc(struct graph *graph, uint32_t parent, uint32_t child, uint64_t count);
/* Returns the arc's number, or GRAPH_NONE if there is none. */
uint32_t graph_find_arc(const struct graph *graph, uint32_t parent, uint32_t child);

void graph_assign(struct graph *graph, const struct gmon *gmon, const struct choices *choices);
int graph_count(struct graph *graph, const struct gmon *gmon, const struct choices *choices);
int graph_scan(struct graph *graph, const struct gmon *gmon);

/* Call it once, after everything was added. Returns 0 or ERROR_MEMORY. */
int graph_solve(struct graph *graph, const struct choices *choices);

/* The parts of graph_solve, in their order. cycles.c: finds the strongly connected components, numbers them in the
 * order of their heads, counts calls into and within them, and sets the topological order. propagate.c: passes times
 * on. */
int graph_find_cycles(struct graph *graph);
int graph_propagate(struct graph *graph, const struct choices *choices);
/* sort.c: sorts the entries and sets each one's index. */
int graph_sort(struct graph *graph);
/* Write the arcs of a node in the order of its entry: callers by increasing cost, callees by decreasing cost. `arcs`
 * has room for all arcs. Return their number. */
size_t graph_parents(const struct graph *graph, uint32_t node, uint32_t *arcs);
size_t graph_children(const struct graph *graph, uint32_t node, uint32_t *arcs);
/* Writes the members of a cycle, the most expensive first; `members` has room for all functions. Returns their
 * number, or ERROR_MEMORY. */
int64_t graph_members(const struct graph *graph, uint32_t cycle, uint32_t *members);
/* Returns the name of a function in the symbol table. */
const char *graph_name(const struct graph *graph, uint32_t node);

/* Returns the printed number, from 1, of the cycle that a node is in. */
static inline uint32_t graph_cycle_number(const struct graph *graph, uint32_t node)
{
	return graph->nodes[node].cycle - (uint32_t)graph->function_count + 1;
}

static inline bool graph_is_cycle(const struct graph *graph, uint32_t node)
{
	return node >= graph->function_count;
}

/* Whether both are in one cycle, or are the same node. */
static inline bool graph_are_siblings(const struct graph *graph, uint32_t a, uint32_t b)
{
	return a == b || (graph->nodes[a].cycle != GRAPH_NONE && graph->nodes[a].cycle == graph->nodes[b].cycle);
}

#endif
