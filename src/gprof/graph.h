/*
 * The classic call graph: functions, arcs with counts, cycles, and the times that are passed from callees to callers
 * by these counts. Method: S. Graham, P. Kessler, M. McKusick, "gprof: A Call Graph Execution Profiler", SIGPLAN '82;
 * where the method leaves a choice (ties, bins that overlap two functions), it follows binutils' gprof, so that the
 * figures agree.
 *
 *   graph_init        a node for each symbol of the image
 *   graph_assign      the histogram's samples become the nodes' own time (assign.c)
 *   graph_count       gmon's arcs become calls and arcs between nodes (assign.c)
 *   graph_scan        arcs of no calls from what the code could call: -c (scan.c)
 *   graph_solve       cycles (cycles.c), times passed on, order of the entries (propagate.c)
 *   print_...         print.h
 *
 * Times are in samples, as doubles: a bin of the histogram may lie in two functions. Divide by `rate` for seconds.
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

/* Nodes below `function_count` are the image's symbols, by their numbers; behind them are the cycles. */
struct graph_node {
	uint64_t calls;      /* calls by others; of a cycle: from outside of it */
	uint64_t self_calls; /* calls by itself; of a cycle: among its members */
	double time;         /* its own samples; of a cycle: the sum of its members */
	double below;        /* samples that its callees passed on to it */
	double fraction;     /* the part of both that the call graph is about: -F -E -n -N */
	double shown_time;   /* these parts */
	double shown_below;
	uint32_t cycle;        /* node of the cycle that it is in (a cycle: itself), GRAPH_NONE: in none */
	uint32_t next_member;  /* the next member of its cycle; of a cycle: the first member */
	uint32_t first_parent; /* arcs to it, linked by next_parent */
	uint32_t first_child;  /* arcs from it, linked by next_child */
	uint32_t order;        /* topological: larger than that of all callees outside of its cycle */
	uint32_t index;        /* [n] in the report, from 1 */
	bool is_printed;       /* it has an entry in the call graph */
};

/* Arcs between symbols, each pair once; a call of itself too. */
struct graph_arc {
	uint32_t parent, child;
	uint32_t next_parent, next_child;
	uint64_t count; /* 0: only seen in the code (-c) */
	double time;    /* the part of the child's own time that it passes on */
	double below;   /* ... and of what the child got from its callees */
};

struct graph {
	const struct image *image; /* not owned; NULL: nodes have names of their own */
	const char *const *names;  /* not owned: [function_count], if there is no image */
	struct graph_node *nodes;  /* owned */
	size_t function_count, cycle_count;
	struct graph_arc *arcs; /* owned, in the order in which they were first seen */
	size_t arc_count, arc_capacity;
	struct hash_map arc_by_ends;
	uint32_t *entries; /* owned: nodes as the call graph lists them: [function_count + cycle_count] */

	double rate;                            /* samples a second (or what `dimension` says); 0: no histogram */
	char dimension[16];                     /* "seconds" */
	char abbreviation;                      /* 's' */
	double bin_units;                       /* width of a bin in units of 2 bytes */
	double total_time;                      /* samples that the flat profile is about */
	double shown_time;                      /* ... and the call graph */
	double whole_time;                      /* that are 100 % in the call graph; 0: shown_time */
	uint64_t samples;                       /* all of the histogram, whatever the options choose */
	uint64_t samples_outside, arcs_outside; /* in no symbol */
	uint64_t calls_from_outside;            /* counted at a caller that is in no symbol, callee known */
};

int graph_init(struct graph *graph, const struct image *image);
/* A graph of functions without addresses; the names must outlive it. */
int graph_init_named(struct graph *graph, const char *const *names, size_t count);
int graph_make_nodes(struct graph *graph); /* for these two */
void graph_release(struct graph *graph);

/* Adds `count` to the arc, made if new. ERROR_MEMORY, ERROR_LIMIT (2^32 arcs). */
int graph_add_arc(struct graph *graph, uint32_t parent, uint32_t child, uint64_t count);
/* The arc's number, or GRAPH_NONE. */
uint32_t graph_find_arc(const struct graph *graph, uint32_t parent, uint32_t child);

void graph_assign(struct graph *graph, const struct gmon *gmon, const struct choices *choices);
int graph_count(struct graph *graph, const struct gmon *gmon, const struct choices *choices);
int graph_scan(struct graph *graph, const struct gmon *gmon);

/* Once, after everything was added. ERROR_MEMORY. */
int graph_solve(struct graph *graph, const struct choices *choices);

/* The parts of graph_solve, in their order. cycles.c: finds the strongly connected parts, numbers them in the order of
 * their heads, counts calls into and within them, and orders all topologically. propagate.c: passes times on. */
int graph_find_cycles(struct graph *graph);
int graph_propagate(struct graph *graph, const struct choices *choices);
/* sort.c: the entries, and each one's index. */
int graph_sort(struct graph *graph);
/* Writes the arcs of a node in the order of its entry: callers by increasing
 * cost, callees by decreasing cost. `arcs` has room for all arcs. Returns how
 * many there are. */
size_t graph_parents(const struct graph *graph, uint32_t node, uint32_t *arcs);
size_t graph_children(const struct graph *graph, uint32_t node, uint32_t *arcs);
/* Members of a cycle, the dearest first; `members` has room for all functions. Their number, or ERROR_MEMORY. */
int64_t graph_members(const struct graph *graph, uint32_t cycle, uint32_t *members);
/* The name of a function as its symbol has it. */
const char *graph_name(const struct graph *graph, uint32_t node);

/* Number of a cycle as printed, from 1, of a node that is in one. */
static inline uint32_t graph_cycle_number(const struct graph *graph, uint32_t node)
{
	return graph->nodes[node].cycle - (uint32_t)graph->function_count + 1;
}

static inline bool graph_is_cycle(const struct graph *graph, uint32_t node)
{
	return node >= graph->function_count;
}

/* Both are in one cycle, or the same node. */
static inline bool graph_are_siblings(const struct graph *graph, uint32_t a, uint32_t b)
{
	return a == b || (graph->nodes[a].cycle != GRAPH_NONE && graph->nodes[a].cycle == graph->nodes[b].cycle);
}

#endif
