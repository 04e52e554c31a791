/*
 * The result of virtual speed-ups (profile/experiment.h; docs/definitions.md): by how much the program becomes faster if a path does.
 */
#ifndef ANALYZE_CAUSAL_H
#define ANALYZE_CAUSAL_H

#include <stddef.h>

#include "base/error.h"
#include "profile/experiment.h"

/* Errors are half of an interval with 95 % confidence. Gains are fractions: 0.2 is 20 % faster. */
struct causal_point {
	double gain, error;
	size_t experiments; /* 0: the path was not made faster by so much, and the rest is 0 */
};

struct causal_curve {
	const char *path;          /* of the experiments */
	double share;              /* of the hits: what-if's gain if the path took no time */
	double slope, slope_error; /* the program's gain for each 100 % of the path's, fitted to the points */
	struct causal_point points[EXPERIMENT_LEVELS]; /* at EXPERIMENT_STEP * (index + 1) percent */
};

struct causal_result {
	struct causal_curve *curves; /* owned; greatest slope first */
	size_t count;
	size_t experiments, base_experiments; /* all, and those without a speed-up */
	double period_ns;                     /* time for one visit or gtick without a speed-up */
	double visits;                        /* during all experiments */
};

/* Returns 0, ERROR_NOT_FOUND with the reason and the remedy if the experiments permit no result, or ERROR_MEMORY. The texts of the result
 * belong to `experiments`. */
int causal_analyze(const struct experiments *experiments, struct causal_result *result, struct error *error);
void causal_result_release(struct causal_result *result);

#endif
