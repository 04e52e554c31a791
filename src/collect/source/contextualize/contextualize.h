/*
 * Contextualizes a call path in the sources of a program (R. J. Hall, 1992): copies the functions
 * along it, so that they can be optimized for this path alone.
 *
 *     program.h: functions and calls ---- copy_plan.h: which copies, which calls lead to them, which parameters are constant
 *          ---- the texts of the copies ---- the changed files, parsed again: an error in them is an error of ours
 */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_CONTEXTUALIZE_H
#define COLLECT_SOURCE_CONTEXTUALIZE_CONTEXTUALIZE_H

#include "collect/source/contextualize/program.h"

/* A changed file. */
struct contextualize_change {
	const char *path; /* without links */
	const char *before, *after;
	size_t before_size, after_size;
};

/* A copy of a function. */
struct contextualize_copy {
	const char *function, *name; /* "qsort", "qsort_1" */
	const char *constants;       /* "f = op_xor": its parameters that are constant now; "": none */
	bool on_path;
	const char *supplied; /* the supplied file that defines the function; NULL: the sources, or a library */
	bool is_unread;       /* as of struct program_function */
};

/* All is in the program's arena. */
struct contextualize_result {
	const size_t *path; /* the functions that the names of the path mean, in program->functions */
	struct contextualize_change *changes;
	size_t change_count;
	struct contextualize_copy *copies; /* those on the path first, outermost first */
	size_t copy_count;
};

/* Fills in the result. `names` are the functions of the path, outermost first, as reports print
 * them. Returns 0 or the error of copy_plan_make or copy_supply_text; ERROR_UNSUPPORTED if the
 * changed files do not parse. */
int contextualize(struct program *program, const char *const *names, size_t length, struct contextualize_result *result,
		  struct error *error);

#endif
