/*
 * Builds of `cpprof optimize`: copies of the working folder in a folder of its own, so that sources and earlier builds
 * stay as they are.
 *
 *     cpprof.optimize/bin/        programs cc, gcc, clang, c++, ... that pass their words to the compiler, with our flags
 *                     before/     a copy, built with line tables
 *                     after/      a copy, built with the profile too
 *
 * The programs are found first because their folder is the first one of PATH. Each compilation adds a line to
 * NAME.compiled, which shows whether the build uses them.
 */
#ifndef CMD_OPTIMIZE_BUILD_H
#define CMD_OPTIMIZE_BUILD_H

#include <limits.h>
#include <stddef.h>

#include "base/error.h"

#define OPTIMIZE_FLAGS "-g -fdebug-info-for-profiling"

struct optimize_folder {
	char path[PATH_MAX]; /* absolute */
	const char *compiler;
	char compiler_cxx[64];
};

/* Makes the folder and the programs in it. Refuses an existing folder, and a compiler that cannot use sample
 * profiles. Returns 0 or a negative error. */
int optimize_folder_make(struct optimize_folder *folder, const char *path, const char *compiler, struct error *error);

/* Copies the working folder to `name` ("before") and runs the command there. `profile` (NULL: none) is used. Returns 0
 * or a negative error: also if the command fails, or compiles nothing by our programs. */
int optimize_build(const struct optimize_folder *folder, const char *name, char *const *command, const char *profile,
		   struct error *error);

#endif
