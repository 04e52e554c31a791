/*
 * The call paths of a program by function, with their hits, over several runs: the candidates for
 * experiments. A path is a node below the node of its caller. Functions are taken from the unwind tables,
 * so that run-time addresses suffice; inlined functions belong to the function that has their code.
 */
#ifndef COLLECT_SAMPLE_CAUSAL_PATHS_H
#define COLLECT_SAMPLE_CAUSAL_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "collect/sample/backend.h"
#include "collect/sample/sample_sink.h"
#include "profile/profile.h"

struct causal_path {
	uint32_t parent;   /* index of the caller's path, or PROFILE_NONE */
	uint32_t function; /* index in functions */
	uint32_t depth;    /* number of functions */
	uint64_t hits;     /* of it and of the paths below it */
	uint64_t most;     /* hits of the callee that has most */
	uint32_t pid;      /* of the last process that ran it in this run; 0: none yet */
	uint32_t node;     /* in this run's profile, or PROFILE_NONE */
	char *name;        /* owned: of the function; NULL: not known yet; "": the C library's start code */
};

struct causal_function {
	uint32_t module;      /* index in modules */
	uint64_t start, size; /* ELF virtual addresses */
};

/* The code of one process. */
struct causal_code {
	uint32_t pid;
	struct backend_code *items; /* owned */
	size_t count;
};

struct causal_paths {
	struct causal_path *items;
	size_t count, capacity;
	struct causal_function *functions;
	size_t function_count, function_capacity;
	char **modules; /* the paths of their files */
	size_t module_count, module_capacity;
	struct causal_code *codes;
	size_t code_count, code_capacity;
	struct hash_map path_by_edge, function_by_start;
	uint64_t hits;
	uint32_t *module_of; /* by the module's index in this run's profile; PROFILE_NONE: not known yet */
	size_t module_of_count, module_of_capacity;
};

void causal_paths_init(struct causal_paths *paths);
void causal_paths_release(struct causal_paths *paths);

/* Begins another run: processes and the profile are new. */
void causal_paths_begin(struct causal_paths *paths);

/* Replaces the code of a process; no code: it has ended. Returns 0 or ERROR_MEMORY. */
int causal_paths_code(struct causal_paths *paths, uint32_t pid, const struct profile *profile,
		      const struct backend_code *code, size_t count);

/* Adds a sample, as far as its functions are known from the root on. Returns 0 or ERROR_MEMORY. */
int causal_paths_add(struct causal_paths *paths, const struct profile *profile, const struct backend_sample *sample,
		     uint32_t node);

/* Returns a candidate at random, by its hits, or PROFILE_NONE if there is none. Candidates have
 * at least a twentieth of all hits, and no callee that has nearly all of theirs. `random` is
 * uniform. */
uint32_t causal_paths_choose(const struct causal_paths *paths, uint64_t random);

/* Finds the run-time addresses of the path's functions in a process. Returns their number, or 0
 * if the process does not have all of these files. */
size_t causal_paths_locate(const struct causal_paths *paths, uint32_t path, uint32_t pid,
			   struct backend_function functions[BACKEND_EXPERIMENT_FRAMES]);

/* Names the functions of the paths of this run by its profile, whose addresses are named. Returns 0 or ERROR_MEMORY. */
int causal_paths_name(struct causal_paths *paths, const struct profile *profile);

#endif
