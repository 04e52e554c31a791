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

/* A kind of compiler that reads profiles. */
struct optimize_kind {
	const char *name, *name_cxx; /* "clang", "clang++"; a version may follow: "clang-14" */
	const char *flags;           /* of both builds: line tables as the profile needs them */
	const char *check;           /* an option that only compilers have that read such profiles */
	const char *use;             /* the option that the profile's name follows */
	const char *more;            /* options that the user's own build does not need */
	const char *format;          /* of the profile: formats/format.h */
	const char *file;            /* name of the profile in the folder */
};

struct optimize_folder {
	char path[PATH_MAX]; /* absolute */
	const struct optimize_kind *kind;
	const char *compiler;
	char compiler_cxx[64];
};

/* The changes of a build. */
struct optimize_change {
	const char *profile; /* that the compiler uses; NULL: none */
	const char *patch;   /* unified diff, with names in the working folder below a/ and b/; NULL: none */
};

/* Makes the folder and the programs in it. Refuses an existing folder, and a compiler that cannot use sample
 * profiles. Returns 0 or a negative error. */
int optimize_folder_make(struct optimize_folder *folder, const char *path, const char *compiler, struct error *error);

/* Copies the working folder to `name` ("before"), applies the change (NULL: none) and runs the command there. Returns 0 or a
 * negative error: also if the patch does not apply, the command fails, or it compiles nothing by our programs. */
int optimize_build(const struct optimize_folder *folder, const char *name, char *const *command,
		   const struct optimize_change *change, struct error *error);

#endif
