/* Runs of a workload in the builds of `cpprof optimize`, and the measured gain. */
#ifndef CMD_OPTIMIZE_TURNS_H
#define CMD_OPTIMIZE_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Records `runs` runs of a shell command in a folder. `profile` is written. Returns 0 or a negative error: also if the
 * workload fails. */
int optimize_record(const char *folder, const char *workload, size_t runs, const char *profile, struct error *error);

/* Reads the value of --turns. Returns false if it is not a number of runs: then print OPTIMIZE_TURNS_ERROR, with the text. */
bool optimize_read_turns(const char *text, size_t *turns);
#define OPTIMIZE_TURNS_ERROR "'%s' is not a number of runs (--turns 10; from 2 to 1000)"

/* Runs the workload once in both folders. Sets *is_same to whether its outputs are equal. Returns 0 or a negative error. */
int optimize_compare(const char *before, const char *after, const char *workload, bool *is_same, struct error *error);

struct optimize_gain {
	double before_s, after_s; /* mean CPU time of a run */
	double ratio, low, high;  /* before / after, with its 95 % interval */
};

/* Runs the workload in both folders, `turns` (at least 2) times each, the first one alternating. Returns 0 or a
 * negative error. */
int optimize_measure(const char *before, const char *after, const char *workload, size_t turns,
		     struct optimize_gain *gain, struct error *error);

#endif
