/*
 * Whole call paths, ready for another tool's format: trimmed, stitched, with
 * inlined functions and unique names, as the reports show them, since they come
 * from the same view.
 *
 *   frames   each distinct frame once, in the order of its name; its index is an
 *            id that is dense, as tables of strings and of frames want it
 *   paths    a tree: a path is a frame below another path. Path 0 is empty.
 *            Parents have smaller ids than their children, children of one
 *            path have distinct frames
 *   values   hits that end exactly there, one number per resource
 *   hits     the rows behind these values, in the order of threads and time
 */
#ifndef ANALYZE_CALL_PATHS_H
#define ANALYZE_CALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* The texts are the profile's or the call paths'. */
struct path_frame {
	const char *name;     /* told apart from its namesakes: "parse@liba.so" */
	const char *function; /* its bare name: "parse"; "liba.so+0x1a40" if it has none */
	const char *file;     /* executing there, or, in a view by function, defining it; "": not known */
	const char *module;   /* path, "[vdso]", ...; "": not known */
	uint32_t line;        /* in `file`; 0: not known */
	uint8_t kind;         /* enum frame_kind */
	bool inlined;         /* into the frame above it; never in a view by function */
};

struct call_paths {
	const struct profile *profile; /* not owned; must outlive this */
	struct path_frame *frames;     /* [frame_count] */
	size_t frame_count;
	const uint32_t *parent; /* [count]; of path 0: PROFILE_NONE */
	const uint32_t *frame;  /* [count] the path's innermost; of path 0: PROFILE_NONE */
	size_t count;
	size_t depth; /* frames of the longest path */
	/* Resources of the values: one, or all of the profile's. */
	uint32_t first_resource;
	uint32_t resource_count;

	/* Private. */
	struct view *view;
	const uint64_t *values;
	uint64_t *sums; /* owned: the values of several resources; NULL: the view's hits are the values */
};

/* `options`: what to select and how to show it; by VIEW_FUNCTION or VIEW_FRAME;
 * keep_places is set in any case.
 * NULL: `error` says why (ERROR_MEMORY, ERROR_LIMIT, ERROR_NOT_FOUND: no such resource or thread). */
struct call_paths *call_paths_new(const struct profile *profile, const struct view_options *options,
				  struct error *error);
void call_paths_free(struct call_paths *paths); /* NULL is fine */

/* [resource_count]; a path without a hit of its own has zeros. */
static inline const uint64_t *call_paths_values(const struct call_paths *paths, uint32_t path)
{
	return paths->values + (size_t)path * paths->resource_count;
}

/* Fills in the frames of a path, outermost first; `frames` has room for `depth` of them. Returns how many. */
size_t call_paths_frames(const struct call_paths *paths, uint32_t path, uint32_t *frames);

/* --- hit by hit --- */

struct path_hit {
	uint64_t time_ns; /* 0: not known */
	uint32_t path;
	uint32_t resource;  /* index in profile->resources */
	uint32_t count;     /* hits */
	uint32_t thread;    /* index in profile->threads, or PROFILE_NONE */
	uint32_t process;   /* index in profile->processes, or PROFILE_NONE */
	uint32_t label_set; /* index in profile->label_sets */
};

/* The selected hits, sorted by thread (without one: last), then by time, then as they were recorded. `count` of them; the
 * caller frees them. NULL: out of memory. */
struct path_hit *call_paths_hits(const struct call_paths *paths, size_t *count);

#endif
