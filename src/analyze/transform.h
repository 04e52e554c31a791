/*
 * Transforms: changes of the call paths that a user requests, "drop=malloc". They make a profile whose nodes and hits are the
 * transformed paths, so that every analysis of a view works on them as on recorded paths. docs/definitions.md defines the kinds.
 *
 * A function is on a path if a view by function shows it there. Locations are split where a part of their frames is left out, so lines
 * and instructions stay exact.
 */
#ifndef ANALYZE_TRANSFORM_H
#define ANALYZE_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

/* F: the function. A path is (f1 ... fn), outermost first. */
enum transform_kind {
	TRANSFORM_FOCUS,    /* only hits with F; their paths begin at the outermost F */
	TRANSFORM_PATH,     /* only hits whose paths begin with these functions; they begin anew at the last of them */
	TRANSFORM_DROP,     /* only hits without F */
	TRANSFORM_MERGE,    /* F is left out; its own hits are its caller's */
	TRANSFORM_ABOVE,    /* paths with F begin at the outermost F; the others stay */
	TRANSFORM_COLLAPSE, /* what is below the innermost F follows the outermost F */
};

/* The words of the kinds, by enum transform_kind, and what they do: one line without a full stop. */
const char *transform_kind_word(size_t kind);
const char *transform_kind_help(size_t kind);

struct transform {
	enum transform_kind kind;
	char *text;       /* owned: "drop=malloc" */
	const char *name; /* in `text`, behind the '=': a function, or a path of TRANSFORM_PATH as of a what-if */
};

/* A profile after transforms, which its holders share. */
struct transformed;

/* A list, in the order in which the transforms are applied. */
struct transforms {
	struct transform *items; /* owned */
	size_t count, capacity;
	/* The profile that the list was applied to last; NULL: to none yet. The list holds it, unless it is part of it. */
	struct transformed *kept;
};

/* Returns an empty list, or NULL: out of memory. */
struct transforms *transforms_new(void);
void transforms_free(struct transforms *list); /* accepts NULL */

/* Appends a transform, "KIND=FUNCTION". Returns 0, ERROR_USAGE or ERROR_MEMORY; then the list is as before. */
int transforms_add(struct transforms *list, const char *text, struct error *error);

/* Lets a list keep no result: before its profile is freed. Accepts NULL. */
void transforms_forget(struct transforms *list);

/* Returns whether two lists, which may be NULL, have the same transforms. */
bool transforms_are_equal(const struct transforms *a, const struct transforms *b);

/* Appends the path of a node of a view by function, call site or line, as TRANSFORM_PATH reads it: "main;parse". */
void transform_path_append(const struct view *view, uint32_t node, struct buffer *text);

/* Appends "focus=parse, drop=malloc". */
void transforms_show(const struct transforms *list, struct buffer *text);

/* Sets *result to the profile after the transforms of `options`, or to NULL if these have none. Frames are as `options` show them, whatever hits
 * these select. `profile` may be the result for the same list; then it is not transformed again. The caller drops the result, which is valid
 * as long as the profile that was transformed first. Returns 0, or ERROR_MEMORY, ERROR_LIMIT, the errors of lookup_functions for a name, or
 * ERROR_NOT_FOUND for a path that no hit has. */
int transformed_get(const struct profile *profile, const struct view_options *options, struct transformed **result,
		    struct error *error);
void transformed_drop(struct transformed *transformed); /* accepts NULL */

/* The profile and the list belong to `transformed`; the list may be in the options of views. */
const struct profile *transformed_profile(const struct transformed *transformed);
struct transforms *transformed_list(struct transformed *transformed);
/* The profile that was transformed. */
const struct profile *transformed_source(const struct transformed *transformed);

/* Lets the list of `options` use this result of an equal list, if it is of the same profile and frames. */
void transforms_share(const struct view_options *options, const struct profile *profile,
		      struct transformed *transformed);

#endif
