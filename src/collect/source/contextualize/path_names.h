/*
 * The functions of a program that a name in a call path may mean, as reports print it: "f", "ns::f", "ns::f(int)", "(anonymous namespace)::f".
 * "f@a.c" and "f@lib/a.c" mean only functions in files whose paths end so. A name of all components precedes one of the last components,
 * and the same parameters precede others.
 *
 * Life cycle: { program, name }, path_choice_offer for each function that may be meant, path_choice_take.
 */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_PATH_NAMES_H
#define COLLECT_SOURCE_CONTEXTUALIZE_PATH_NAMES_H

#include "collect/source/contextualize/program.h"

enum { PATH_CHOICES_SHOWN = 5 };

struct path_choice {
	const struct program *program;
	const char *name;
	unsigned rank;                    /* of those found so far */
	size_t count;                     /* of the functions that fit equally well */
	size_t found[PATH_CHOICES_SHOWN]; /* the first ones, in program->functions */
};

void path_choice_offer(struct path_choice *choice, size_t function);

/* Sets the function that the name means. Returns 0; ERROR_NOT_FOUND, without an error's text; or ERROR_AMBIGUOUS, whose text lists the
 * functions with names that mean one each. */
int path_choice_take(const struct path_choice *choice, size_t *found, struct error *error);

/* Returns whether a report may call a library's function so: "qsort", or "qsort_r" if it only jumps there. */
bool path_is_library(const char *function, const char *name);
/* Returns whether a library's function depends on its caller's frame, or on which module calls it: a copy that only calls it would be its
 * caller. So may all functions that the compiler has itself, as __builtin_alloca. */
bool path_depends_on_caller(const char *name);

#endif
