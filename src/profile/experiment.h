/*
 * The experiments of `cpprof causal`, as the recorder makes them and the analysis reads them. An experiment is a time in which a call
 * path was virtually faster: all other threads were paused by `percent` of the time that a thread ran in the path.
 */
#ifndef PROFILE_EXPERIMENT_H
#define PROFILE_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>

struct experiment {
	uint32_t path;    /* index in experiment_paths */
	uint32_t percent; /* 0: nothing was paused */
	double duration_ns;
	double delay_ns; /* the pauses that each thread has made or was spared */
	double progress; /* visits of the progress point, gticks of the resource, or 1 for a whole run */
};

struct experiment_path {
	char *name;    /* owned: functions, outermost first, with '\n' between them */
	uint64_t hits; /* of the path and of all paths below it, of all runs */
};

/* The levels of a virtual speed-up beside 0, in percent: multiples of the first up to 100. */
enum { EXPERIMENT_STEP = 20, EXPERIMENT_MOST = 100, EXPERIMENT_LEVELS = EXPERIMENT_MOST / EXPERIMENT_STEP };

struct experiments {
	struct experiment *items; /* owned */
	size_t count, capacity;
	struct experiment_path *paths; /* owned; [path_count] */
	size_t path_count;
	uint64_t hits; /* of all paths */
};

#endif
