/*
 * The call graph of a profile with call paths: the true cost of each call, beside gprof's estimate.
 *
 *   function   self: samples in it. below: samples on whose path it is, but further out.
 *   arc f->g   of the samples on whose path f calls g: self: those in that g; below: all others.
 *
 * A sample counts once for a function and once for an arc, however often a recursion has them on its path; so cycles
 * need no treatment, and what callers of one function add up to may be more than it has, where they are on one path.
 *
 * gprof has arcs and no paths, and assumes that every call of a function costs the same: truth_graph(averaged). There what has
 * no counted calls (a library that is not instrumented) cannot pass its time on; it is taken as its caller's own.
 *
 * Life cycle: truth_init, questions, truth_release.
 */
#ifndef GPROF_TRUTH_H
#define GPROF_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "gprof/graph.h"
#include "profile/profile.h"

#define TRUTH_NONE UINT32_MAX
/* A note beside the call graph of a profile without counted calls. */
#define TRUTH_NO_CALLS "calls were not counted, so 'called' is 0: 'record --instrumented' counts them"

/* By number: labels of the view by function, sorted by name. Those that the selection has nothing of are there too. */
struct truth_function {
	const char *name;  /* as in reports; belongs to the view */
	uint32_t function; /* index in profile->functions, or PROFILE_NONE */
	uint64_t calls;    /* all: by others, by itself, and by callers that are not known */
	double self;
	double below;
};

struct truth_arc {
	uint32_t parent, child;
	uint64_t calls; /* 0: not counted */
	double self;
	double below;
};

struct truth {
	const struct profile *profile; /* not owned */
	struct view *times;            /* owned */
	struct view *calls;            /* owned; NULL: the profile has not counted calls */
	struct truth_function *functions;
	struct truth_arc *arcs; /* in the order of the view of times, then of calls */
	const char **names;     /* [function_count] */
	double *folded;         /* [function_count]: own time, with that of callees whose calls are not counted */
	size_t function_count, arc_count, arc_capacity;
	struct hash_map arc_by_ends;
	double rate;      /* samples a second; for a resource that is not a time: samples a unit */
	bool is_exact;    /* counted, not sampled: times have no error */
	bool is_time;     /* in seconds */
	const char *unit; /* for a resource that is not a time: "byte" */
	double total;     /* samples, all of the selection */
	uint64_t samples; /* independent ones among them; 0: exact */
	uint64_t all_calls;
};

/* The error of gprof's assumption at the arc where it is largest. If several
 * arcs have it, the one with the innermost callee, from which the others
 * inherit it. */
struct truth_worst {
	uint32_t parent; /* TRUTH_NONE, as child: there is no difference */
	uint32_t child;
	double averaged; /* self and below, in samples, as gprof passes them on */
	double real;
	double error; /* their difference, as a part of all time: 0.5 is 50 % */
};

/* `options`: the resource (of time) and the selection; frames are shown by function and paths begin where their thread
 * does, whatever it says. ERROR_MEMORY, ERROR_NOT_FOUND (no such resource), ERROR_LIMIT. */
int truth_init(struct truth *truth, const struct profile *profile, const struct view_options *options,
	       struct error *error);
void truth_release(struct truth *truth);

/* Returns the resource of a profile whose time a call graph shows (`cpu`,
 * `real`, ...), or PROFILE_NONE. */
uint32_t truth_resource(const struct profile *profile);

/* A graph to be printed, solved and sorted; nodes are the functions, `names` those of `truth`, which must outlive it.
 * Averaged: as gprof would, with cycles. Else as it was: no cycles, times of arcs and functions are the real ones.
 * ERROR_MEMORY, ERROR_LIMIT; then there is none. */
int truth_graph(const struct truth *truth, bool averaged, struct graph *graph);

/* Compares arcs whose calls are counted. error 0: gprof would be right throughout. ERROR_MEMORY, ERROR_LIMIT. */
int truth_worst(const struct truth *truth, struct truth_worst *worst);

#endif
