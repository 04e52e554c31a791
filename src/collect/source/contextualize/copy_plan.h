/*
 * The copies of functions that make a call path a part of the program of its own, and the calls that lead to them.
 *
 * The program is in a state: the longest part of the path, from its first function on, that the
 * folded stack begins with. A folded stack (docs/definitions.md) is cut back where a function on it
 * is called again, so that a recursive call returns to an earlier state. For the path f0 f1 ... fn:
 *
 *     (f0) --f1--> (f0 f1) --f2--> ... --fn--> (f0 ... fn)          a copy of f1 ... fn for each state: f1_1 ... fn_1
 *     (f0 ... fi) --fk, k <= i--> (f0 ... fk)                       recursion: fi_1 calls fk_1
 *     (f0 ... fi) --g--> g, still with (f0 ... fi) below            a copy of g too, if g may call one of f1 ... fi again
 *
 * All other calls stay as they are. This is the renaming that keeps the call graph isomorphic (the
 * 1993 paper, section 4.1). Only calls by name, and through parameters that are known, are
 * followed.
 *
 * A function of the supplied file is not in the program before: each one that is called by another one has a copy.
 */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_COPY_PLAN_H
#define COLLECT_SOURCE_CONTEXTUALIZE_COPY_PLAN_H

#include "collect/source/contextualize/program.h"
#include "collect/source/instrument/edits.h"

enum { COPY_PATH_MAX = 64 };

enum plan_value_kind {
	VALUE_UNSET,    /* no call found so far */
	VALUE_FUNCTION, /* all calls pass this function */
	VALUE_OTHER
};

struct plan_value {
	enum plan_value_kind kind;
	const char *usr;
	CXCursor function;
};

struct plan_clone {
	size_t function;           /* in program->functions */
	size_t level;              /* i of the state (f0 ... fi) */
	bool on_path;              /* it is fi itself; false: a function that may return to the path */
	const char *name;          /* "qsort_1"; of clone 0 the original's */
	struct plan_value *values; /* [parameter_count] */
	bool is_used, is_static;
	size_t first_caller; /* the clone that calls it first */
};

/* clones[0] is f0 itself, which is edited and not copied; clones[i] is fi_1 for i < length; the
 * others are off the path. */
struct copy_plan {
	struct program *program;
	size_t length;
	size_t names[COPY_PATH_MAX]; /* the functions that the names of the path mean */
	struct plan_clone *clones;
	size_t clone_count, clone_capacity;
};

/* Makes the plan for the functions with these names. Returns 0, ERROR_NOT_FOUND,
 * ERROR_AMBIGUOUS, ERROR_UNSUPPORTED (a function cannot be copied, or a call not be redirected),
 * ERROR_LIMIT or ERROR_MEMORY. Call copy_plan_release in any case. */
int copy_plan_make(struct copy_plan *plan, struct program *program, const char *const *names, size_t length,
		   struct error *error);
void copy_plan_release(struct copy_plan *plan);

/* Returns the called function's USR and sets *declaration, or NULL if it is not known. */
const char *copy_plan_callee(const struct copy_plan *plan, const struct plan_clone *clone,
			     const struct program_call *call, CXCursor *declaration);
/* Returns the index of the clone that a call leads to, or PROGRAM_NONE if the call stays. */
size_t copy_plan_target(const struct copy_plan *plan, const struct plan_clone *clone, const struct program_call *call);

static inline const struct program_function *copy_plan_function(const struct copy_plan *plan,
								const struct plan_clone *clone)
{
	return &plan->program->functions[clone->function];
}

/* Returns the clone beside which a clone is put: itself. A library function and the functions of the supplied file are put in front of the
 * clone that calls them. */
static inline size_t copy_plan_host(const struct copy_plan *plan, size_t clone)
{
	for (;; clone = plan->clones[clone].first_caller) {
		const struct program_function *function = copy_plan_function(plan, &plan->clones[clone]);
		if (function->file != PROGRAM_NONE && !program_is_supplied(plan->program, function))
			return clone;
	}
}

/* copy_names.c: names the clones of the path after one free number, and the others after the next free numbers. Returns 0 or
 * ERROR_MEMORY. */
int copy_names_choose(struct copy_plan *plan);
/* Returns whether a unit declares a name at file level or in a namespace. */
bool copy_names_are_declared(const struct program *program, size_t unit, const char *name);

/* copy_text.c: the text of a copy, and of the declaration of one. */

/* Adds the edits for the calls in a clone's function to a list whose offsets begin at `base`: other names, without
 * the arguments that are constant. */
void copy_text_calls(const struct copy_plan *plan, const struct plan_clone *clone, struct edits *edits, uint32_t base);

/* Calls that come from a macro cannot be edited: for the text of a clone, another macro gives the called function the name of its copy.
 * Append its directives, a line each. */
void copy_text_defines(const struct copy_plan *plan, const struct plan_clone *clone, struct buffer *lines);
void copy_text_undefs(const struct copy_plan *plan, const struct plan_clone *clone, struct buffer *lines);

/* Returns the text of the whole copy, in the arena, or NULL (out of memory). Its first and its last line may be directives. */
const char *copy_text(const struct copy_plan *plan, const struct plan_clone *clone);

/* Returns the text of a declaration of the clone, without a `;`, made of a declaration of the
 * original in a unit. NULL: out of memory, or the text is not one declaration. */
const char *copy_text_declaration(const struct copy_plan *plan, const struct plan_clone *clone, size_t unit,
				  CXCursor declaration);

/* copy_supply.c: returns the text of the supplied file, in which the functions that the path uses are their clones, and others are left out.
 * It ends with an #undef of each macro that the file defines. NULL: the file cannot become part of the host's file without another meaning,
 * ERROR_UNSUPPORTED, or ERROR_MEMORY. The text is in the arena. */
const char *copy_supply_text(const struct copy_plan *plan, size_t host, struct error *error);

#endif
