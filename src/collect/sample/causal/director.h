/*
 * Chooses experiments and makes them, while a backend records (collect/agent/causal/causal.h has
 * the part in the target). The director outlives the runs of the command.
 *
 *   new -> (begins -> starts -> (code | event | turn)... -> name)... -> take -> free        ^ one pair of brackets for each run
 *
 * With a progress point or a resource, experiments follow each other in a run:
 *
 *   resting --rest_ns, a path--> running --length_ns--> resting
 *
 * Without one, a whole run is one experiment, and its end is the progress; the first run only finds the paths.
 */
#ifndef COLLECT_SAMPLE_CAUSAL_DIRECTOR_H
#define COLLECT_SAMPLE_CAUSAL_DIRECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/sample_sink.h"
#include "profile/experiment.h"
#include "profile/profile.h"

struct causal_director;

struct causal_options {
	bool by_run;        /* each run is one experiment */
	uint32_t request;   /* otherwise the request whose gticks are the progress */
	uint64_t length_ns; /* ... and the length of an experiment, at first: doubled until each has some progress */
	uint64_t random;    /* not 0: the seed */
	uint32_t percent;   /* the only speed-up that is tried; 0: all levels */
};

/* Returns NULL if memory ran out. */
struct causal_director *causal_director_new(const struct causal_options *options);
void causal_director_free(struct causal_director *director); /* NULL is fine */

/* Called by the monitor: a run was prepared ... */
void causal_director_begins(struct causal_director *director, const struct profile *profile,
			    const struct backend_vtable *vtable, struct backend *backend);
/* ... and its command was started. */
void causal_director_starts(struct causal_director *director, uint64_t now_ns);
/* The code of a process, before the backend has it. */
void causal_director_code(struct causal_director *director, uint32_t pid, const struct backend_code *code,
			  size_t count);
/* For struct destination: `context` is the director. */
sample_sink_on_event causal_director_event;
/* Called after each drain. `is_done`: the command has ended. Returns when the next turn is due. */
uint64_t causal_director_turn(struct causal_director *director, uint64_t now_ns, bool is_done);

/* Called after each run with its profile, which has names. Returns 0, or ERROR_MEMORY if memory
 * ran out now or during the run. */
int causal_director_name(struct causal_director *director, const struct profile *profile, struct error *error);

/* Moves the experiments of all runs to the caller. Returns 0 or ERROR_MEMORY. */
int causal_director_take(struct causal_director *director, struct experiments *experiments, struct error *error);
void experiments_release(struct experiments *experiments);

#endif
