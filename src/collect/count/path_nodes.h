/*
 * Path nodes: the nodes of the profile's tree that belong to the paths of a tally, and to code that executed while a path was current.
 *
 * Life cycle: hits.c fills in `struct path_nodes` and, for each thread, its paths from the root downward. A function below that takes a
 * path may be called when the arrays of `struct thread_nodes` are set for the path and for all paths above it.
 */
#ifndef COLLECT_COUNT_PATH_NODES_H
#define COLLECT_COUNT_PATH_NODES_H

#include "collect/count/parts.h"

/* By path of a thread. */
struct thread_nodes {
	uint32_t *caller_node; /* the node of the path's caller */
	/* The path whose machine code contains the path's code: itself, or a caller into which it was inlined. */
	uint32_t *code_owner;
	/* Only for paths that own their code: the function without hooks into which the compiler inlined the path. The frame of this
	 * function is in caller_node. PROFILE_NONE: not inlined; INLINED_INTO_SEVERAL: the calls name different functions. */
	uint32_t *inlined_into;
	bool *is_inlined_and_called; /* the path, or a path between it and its code's owner, was both inlined and called */
	bool is_complete;            /* the arrays are set for all paths */
};

struct path_nodes {
	struct tally *tally;
	struct profile *profile;
	struct thread_nodes *threads; /* by thread */
	uint32_t thread_mark;         /* location at which threads begin; PROFILE_NONE: not needed so far */
	uint32_t hooks_location;      /* location of all code of the hooks; PROFILE_NONE: not needed so far */
	/* Locations of code in a probe point without a frame of its own: see part_location. */
	struct hash_map part_locations;
	/* Locations with the frames around an inlined function: see inlined_into.c. */
	struct hash_map outer_locations;
	/* Limits that no run reaches. A row of hits holds 32 bits, so that a corrupt file would fill the memory
	 * otherwise. */
	uint64_t count_left;
	uint64_t rows_left; /* rows left for samples, one each; if they are used up, samples share a row */
};

#define INLINED_INTO_SEVERAL (PROFILE_NONE - 1)

/* Returns a thread's tree. */
const struct count_tree *path_nodes_tree(const struct path_nodes *nodes, uint32_t thread);
/* Returns the probe point that a path is, or NULL if it is a function that a compiler's hook reported. */
const struct count_probe *path_nodes_probe(const struct path_nodes *nodes, uint32_t thread, uint32_t path);

/* Returns the location of the entry of a path that is not the root, or a negative error. */
int64_t path_nodes_entry(const struct path_nodes *nodes, uint32_t thread, uint32_t path);
/* Returns the function of a path, or PROFILE_NONE if it has no name. */
uint32_t path_nodes_function(const struct path_nodes *nodes, uint32_t thread, uint32_t path);
/* Returns the outermost function at a location, or PROFILE_NONE if the location has no names. */
uint32_t path_nodes_outermost_function(const struct profile *profile, int64_t location);

/* inlined_into.c: */

/* For a call of a function that is inlined into code without hooks: returns the location of that code, at the line of the call.
 * Otherwise returns PROFILE_NONE, or a negative error. */
int64_t path_nodes_inlining_location(struct path_nodes *nodes, uint32_t thread, const struct count_call *call);
/* Returns inlined_into (struct thread_nodes) of a path that owns its code, or a negative error. */
int64_t path_nodes_inlined_into(struct path_nodes *nodes, uint32_t thread, uint32_t path);
/* Returns a location with the same functions and without lines, or a negative error. */
int64_t path_nodes_without_lines(struct path_nodes *nodes, uint32_t location);
/* Returns whether two locations have names, and the same functions. If so, clears *have_same_lines if the lines differ. */
bool path_nodes_have_same_functions(const struct profile *profile, uint32_t a, uint32_t b, bool *have_same_lines);

/* path_nodes.c: each function returns a node, or a negative error. */

/* Returns the child of `node` at `location`. If `node` or `location` is an error, returns that error. */
int64_t path_nodes_child(const struct path_nodes *nodes, int64_t node, int64_t location);
/* Returns the node of the path itself, at its entry. */
int64_t path_nodes_of_entry(const struct path_nodes *nodes, uint32_t thread, uint32_t path);
/* Returns the node of code at a location while the path was current. `is_foreign`: the code does not, or may not, belong to
 * the path. */
int64_t path_nodes_of_code(struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location, bool is_foreign);
/* Returns the node of the caller, at the call. */
int64_t path_nodes_of_call(struct path_nodes *nodes, uint32_t thread, const struct count_call *call);

#endif
