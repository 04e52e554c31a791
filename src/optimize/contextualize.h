/* The steps of `cpprof contextualize`: it ranks call paths, reads sources, writes a patch, and measures its effect. */
#ifndef OPTIMIZE_CONTEXTUALIZE_H
#define OPTIMIZE_CONTEXTUALIZE_H

#include <stdio.h>

#include "analyze/candidates.h"
#include "collect/source/compile/database.h"
#include "collect/source/contextualize/contextualize.h"
#include "collect/source/contextualize/copy_plan.h"
#include "optimize/builds.h"
#include "profile/profile.h"

/* --- the sources that it reads, and the patch that it writes (sources.c) --- */

struct sources {
	struct database database;
	struct program program;
	const char **paths; /* owned by the caller */
	size_t path_count;
	char **flags; /* an optional compiler and its options, for `paths`; not owned */
	size_t flag_count;
	const char *supplied; /* a file with definitions of library functions; NULL: none */
};

/* Parses `paths` [path_count], or all sources of the database (NULL: none). Set the other
 * members first. Returns 0 or a negative error; ERROR_USAGE if there is no source. Call
 * sources_release in any case. */
int sources_read(struct sources *sources, const char *database, struct error *error);
void sources_release(struct sources *sources);

/* Returns the path without blanks around its names, which the caller frees, or NULL if there is no memory. */
char *sources_trim_path(const char *path);

/* Splits "main;uniquify_db;qsort" in place. Returns the number of names, or 0 if there are more than `max`. */
size_t sources_split_path(char *path, const char **names, size_t max);

/* Writes a unified diff of the changed files, whose names are below the working folder, to
 * `path` (NULL: standard output). Where a file is formatted by the .clang-format that applies to
 * it, and clang-format is installed, the changed file is formatted too. Returns 0 or a negative
 * error. */
int sources_write_patch(const struct contextualize_result *result, const char *title, const char *path,
			struct error *error);

/* --- the ranked call paths (candidates.c) --- */

struct candidates {
	struct view *view;
	struct candidate_list *list;
};

/* Ranks the paths of the first resource. Returns 0 or a negative error. Call candidates_release in any case. */
int candidates_find(struct candidates *candidates, const struct profile *profile, double threshold,
		    struct error *error);
void candidates_release(struct candidates *candidates);

/* Returns "main;uniquify_db;qsort", which the caller frees, or NULL if there is no memory. */
char *candidates_path(const struct candidates *candidates, size_t index);

/* --- a call path in a profile (recorded.c) --- */

/* Returns a view by function of the first resource, with the kernel's functions; NULL sets the error. */
struct view *recorded_view(const struct profile *profile, struct error *error);

/* The functions of a path, "main;f;g@a.c", in a profile. Life cycle: recorded_path_init, recorded_path_release. */
struct recorded_path {
	char *text;                                              /* owned */
	const char *names[COPY_PATH_MAX], *files[COPY_PATH_MAX]; /* files: NULL: any */
	const struct program_function *functions[COPY_PATH_MAX]; /* in the sources; NULL: not known */
	const struct program_function
		*unread; /* the last function, if its source was not read; NULL: it was, or it is a library's */
	size_t length;   /* 0: the text has too many functions */
};

/* `result` (NULL: none) has the functions that the names mean in the program. Returns 0 or ERROR_MEMORY. */
int recorded_path_init(struct recorded_path *path, const char *text, const struct program *program,
		       const struct contextualize_result *result, struct error *error);
void recorded_path_release(struct recorded_path *path); /* accepts {0} */

/* Counts the hits of the first `length` functions of a path. A path or a function that no sample has met has none. Where a profile has
 * functions of one name in several files, the path's file decides; without one, all of them count. Returns 0 or a negative error. */
int recorded_hits(const struct view *view, const struct recorded_path *path, size_t length, double *hits,
		  struct error *error);

/* Refuses a path without hits, and a profile in which a function of the path begins in another line of its file than in the program's
 * sources: it is a profile of another build. Refuses a last function without a source that is in the module of the first one, and has lines: it is the program's. `file` is the profile's name, and `text` the path, for messages. Returns 0 or a negative error. */
int recorded_check(const struct profile *profile, const char *file, const char *text, const struct recorded_path *path,
		   struct error *error);

/* --- the effect of the copies: builds with and without them, the predicted total and the measured one (verify.c) --- */

struct verification {
	struct optimize_folder folder;
	char *const *command; /* of the build */
	const char *workload;
	const char *patch;
	const char *path; /* "main;uniquify_db;qsort" */
	const struct program *program;
	size_t turns;
};

/* Builds, runs, and prints the result. Returns 0 or a negative error. Keeps the folder if there is a result. */
int verification_run(struct verification *verification, const struct contextualize_result *result, FILE *out,
		     struct error *error);

#endif
