/*
 * Builds of `cpprof optimize`: copies of the working folder in a folder of its own, so that sources and earlier builds
 * stay as they are.
 *
 *     cpprof.optimize/bin/        programs cc, gcc, clang, c++, ... that pass their words to the compiler, with our flags
 *                     before/     a copy, built with line tables
 *                     NAME/       a copy for each other build: with a profile, a patch, or by the command as it is
 *
 * The programs are found first because their folder is the first one of PATH. Each compilation adds a line to
 * NAME.compiled, which shows whether the build uses them.
 */
#ifndef OPTIMIZE_BUILDS_H
#define OPTIMIZE_BUILDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* A kind of compiler that reads profiles; or the compilers that the build command names, which read none. */
struct optimize_kind {
	const char *name, *name_cxx; /* "clang", "clang++"; a version may follow: "clang-14" */
	const char *flags;           /* of all builds: line tables as the profile needs them */
	const char *check;           /* an option that only compilers have that read such profiles */
	const char *use;             /* the option that the profile's name follows */
	const char *more;            /* options that the user's own build does not need */
	const char *forms[4];        /* of the profile that it reads (formats/format.h), up to a NULL */
};

struct optimize_folder {
	char path[PATH_MAX]; /* absolute */
	const struct optimize_kind *kind;
	const char *compiler;
	char compiler_cxx[64];
	bool is_kept; /* it contains a result */
};

/* The changes of a build. */
struct optimize_change {
	const char *profile; /* that the compiler uses; NULL: none */
	const char *patch;   /* unified diff, with names in the working folder below a/ and b/; NULL: none */
	bool is_plain;       /* the command runs as it is, without our programs */
};

/* Makes the folder and the programs in it. `compiler` NULL: the programs run the compilers of their own names. Refuses an
 * existing folder, and a compiler that cannot use sample profiles. Returns 0 or a negative error. A signal that ends the process removes
 * the folder, until it is kept. */
int optimize_folder_make(struct optimize_folder *folder, const char *path, const char *compiler, struct error *error);

/* Keeps the folder: it contains a result. */
void optimize_folder_keep(struct optimize_folder *folder);
/* Removes the folder, unless it is kept. */
void optimize_folder_release(struct optimize_folder *folder);

/* Copies the working folder without results of earlier runs to `name` ("before"), applies the change (NULL: none) and runs the
 * command there. Returns 0 or a negative error: also if the patch does not apply, the command
 * fails, or it compiles nothing by our programs. */
int optimize_build(const struct optimize_folder *folder, const char *name, char *const *command,
		   const struct optimize_change *change, struct error *error);

/* --- recordings of a workload that have enough samples (samples.c) --- */

struct optimize_samples {
	struct profile *profile; /* owned by the caller */
	size_t runs;             /* of the workload */
	bool any_code;           /* set it: all hits are used, not only those in lines */
	uint64_t hits, used;     /* all, and those in lines of the build */
};

/* Records the workload in a folder: `runs` times or, if that is 0, as often as it takes to get
 * enough samples. `data` is written. Returns 0 or a negative error: ERROR_LIMIT if even many
 * runs are too few. */
int optimize_samples_take(struct optimize_samples *samples, const char *folder, const char *workload, const char *data,
			  struct error *error);

/* --- runs of a workload in the builds, and the measured gain (turns.c) --- */

/* Records `runs` runs of a shell command in a folder. `profile` is written. Returns 0 or a negative error: also if the
 * workload fails. */
int optimize_record(const char *folder, const char *workload, size_t runs, const char *profile, struct error *error);

/* A build whose processes take this many times the CPU time of the first build is ended. */
enum { OPTIMIZE_LONGEST = 10 };

/* The standard output and the exit status of a workload in a build, compared with those in the first build. */
enum optimize_output {
	OUTPUT_SAME,
	OUTPUT_DIFFERENT,
	OUTPUT_VARIES, /* the first build's output differs from run to run, and nothing can be compared with it but the exit status */
	OUTPUT_ENDLESS /* the build was ended */
};

/* Runs the workload in each folder [count], in the first one twice, and fills in outputs [count]. Writes FOLDER.output.
 * Returns 0 or a negative error. */
int optimize_compare(const char *const *folders, size_t count, const char *workload, enum optimize_output *outputs,
		     struct error *error);

enum { OPTIMIZE_TURNS_MIN = 2, OPTIMIZE_TURNS_MAX = 1000 };

/* CPU times of runs. */
struct optimize_times {
	double *seconds; /* [turns][builds]; owned by the caller */
	size_t turns, builds;
};

struct optimize_gain {
	double before_s, after_s; /* mean CPU time of a run */
	double ratio, low, high;  /* before / after, with its 95 % interval */
};

/* Runs the workload once in each folder [builds], `turns` times; each turn begins with another folder. Returns 0 or a
 * negative error. */
int optimize_measure(const char *const *folders, const char *workload, struct optimize_times *times,
		     struct error *error);

/* Compares two builds by the ratios of their turns. */
struct optimize_gain optimize_gain_of(const struct optimize_times *times, size_t before, size_t after);

/* Returns the build to keep: the first one, or a later one that is faster than the build kept so far, by more than the error. */
size_t optimize_choose(const struct optimize_times *times);

/* --- the contexts whose hits differ between the recordings of two builds (contexts.c) --- */

/* Prints the contexts of which the second profile has fewer hits than the first, by more than chance explains, the
 * largest difference first. Both have the same number of runs. Returns 0 or a negative error. */
int optimize_print_contexts(FILE *out, const struct profile *before, const struct profile *after, struct error *error);

#endif
