/* `cpprof contextualize --verify`: builds with and without the copies, and compares the predicted total with the measured one. */
#ifndef CMD_CONTEXTUALIZE_VERIFY_H
#define CMD_CONTEXTUALIZE_VERIFY_H

#include <stdio.h>

#include "cmd/optimize_build.h"
#include "collect/source/contextualize/contextualize.h"

struct verification {
	struct optimize_folder folder;
	char *const *command; /* of the build */
	const char *workload;
	const char *patch;
	const char *path; /* "main;uniquify_db;qsort" */
	size_t turns;
};

/* Builds, runs, and prints the result. Returns 0 or a negative error. */
int verification_run(const struct verification *verification, const struct contextualize_result *result, FILE *out,
		     struct error *error);

#endif
