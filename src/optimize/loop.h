/*
 * The loop of `cpprof optimize`, from a profile to a faster build:
 *
 *     build "before" -> record the workload -> write the profile in each form -> a build with each, and by the command as it is
 *          -> leave out builds with another output -> run the others in turns -> run the fastest one in turns with those without a
 *          profile -> keep it, if it gains again
 */
#ifndef OPTIMIZE_LOOP_H
#define OPTIMIZE_LOOP_H

#include <stdio.h>

#include "optimize/builds.h"

struct optimize_loop {
	struct optimize_folder folder; /* made */
	char *const *command;          /* of the build */
	const char *workload;
	size_t turns;
};

/* Builds, runs, and prints the result. Returns 0 or a negative error. Keeps the folder if there is a result. */
int optimize_loop_run(struct optimize_loop *loop, FILE *out, struct error *error);

#endif
