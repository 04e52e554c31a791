/*
 * The call graph of a profile with call paths: the true cost of each call, beside gprof's estimate.
 *
 *   function   self: samples in it. below: samples of paths that contain it further out.
 *   arc f->g   among the samples of paths in which f calls g: self: samples in that g; below: all others.
 *
 * A sample counts once for a function and once for an arc, even if a recursion has them on its path several times.
 * So cycles need no treatment, and the callers of one function may add up to more than the function, if they are on
 * one path.
 *
 * gprof has arcs and no paths, and assumes that every call of a function costs the same: truth_graph(averaged). A
 * function without counted calls (of a library that is not instrumented) cannot pass its time on there; its time
 * counts as its caller's own.
 *
 * Life cycle: truth_init, any of the other functions, truth_release.
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

/* By number: the view's labels by function, sorted by name. Functions without samples in the selection are included. */
struct truth_function {
	const char *name;  /* as in reports; owned by the view */
	uint32_t function; /* index in profile->functions, or PROFILE_NONE */
	uint64_t calls;    /* all: by others, by the function itself, and by unknown callers */
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
	struct view *calls;            /* owned; NULL: calls were not counted */
	struct truth_function *functions;
	struct truth_arc *arcs; /* in the order of the view of times, then of calls */
	const char **names;     /* [function_count] */
	double *folded;         /* [function_count]: own time, including the time of callees without counted calls */
	size_t function_count, arc_count, arc_capacity;
	struct hash_map arc_by_ends;
	double rate;        /* samples per second; for a resource that is not a time: per unit */
	bool is_exact;      /* counted, not sampled: times have no error */
	bool is_time;       /* in seconds */
	const char *unit;   /* for a resource that is not a time: "byte" */
	double total;       /* samples of the whole selection */
	double independent; /* independent samples among them (view.h); 0: the resource is exact */
	uint64_t all_calls;
};

/* The error of gprof's assumption at the arc where it is largest. If several arcs have that error, it is the arc
 * with the innermost callee, from which the others inherit the error. */
struct truth_worst {
	uint32_t parent; /* TRUTH_NONE, as is `child`: there is no difference */
	uint32_t child;
	double averaged; /* self and below, in samples, according to gprof */
	double real;
	double error; /* their difference, as a fraction of all time: 0.5 is 50 % */
};

/* `options` has the resource (a time) and the selection. Frames are always functions, and paths always begin where
 * their thread does. Returns 0, ERROR_MEMORY, ERROR_NOT_FOUND (no such resource) or ERROR_LIMIT, with `error` set. */
int truth_init(struct truth *truth, const struct profile *profile, const struct view_options *options,
	       struct error *error);
void truth_release(struct truth *truth);

/* Returns whether the resource is a time that a call graph can show. */
bool truth_is_time(const struct profile *profile, uint32_t resource);
/* Returns the resource that a call graph shows as time (`cpu`, `real`, ...), or PROFILE_NONE if the profile has
 * none. */
uint32_t truth_resource(const struct profile *profile);

/* Makes a graph for printing, solved and sorted. Its nodes are the functions; its names belong to `truth`, which
 * must outlive it. Averaged: gprof's estimate, with cycles. Otherwise: the true times of functions and arcs, without
 * cycles. Returns 0, ERROR_MEMORY or ERROR_LIMIT; after an error there is no graph. */
int truth_graph(const struct truth *truth, bool averaged, struct graph *graph);

/* Compares the arcs with counted calls. If worst->error is 0, gprof's estimate is right for all of them. Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT. */
int truth_worst(const struct truth *truth, struct truth_worst *worst);

#endif
