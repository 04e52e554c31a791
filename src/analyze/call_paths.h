/*
 * Complete call paths, ready to be written in another tool's format. They are trimmed and stitched and have inlined
 * functions and the same unique names as in the reports, because both come from a view.
 *
 *   frames   each distinct frame once, in the order of its name. Its index is a
 *            dense id, which tables of strings and of frames need.
 *   paths    a tree: a path is a frame below another path. Path 0 is empty.
 *            Parents have smaller ids than their children. The children of one
 *            path have distinct frames.
 *   values   the hits of samples that end exactly at the path, one number per resource
 *   hits     the rows behind these values, ordered by thread and time
 */
#ifndef ANALYZE_CALL_PATHS_H
#define ANALYZE_CALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"
#include "profile/profile.h"

/* The texts belong to the profile or to the call paths. */
struct path_frame {
	const char *name;     /* unique among its namesakes: "parse@liba.so" */
	const char *function; /* bare name: "parse", or "liba.so+0x1a40" if it has none */
	const char *linkage;  /* the symbol's name, "_Z5parsePKc"; "": unknown */
	/* the file that executes, or in a view by function the file that defines it; "": unknown */
	const char *file;
	const char *module;    /* path, "[vdso]", ...; "": unknown */
	uint32_t line;         /* in `file`; 0: unknown */
	const char *home_file; /* the file that defines the function; "": unknown */
	uint32_t home_line;    /* its first line there; 0: unknown */
	uint8_t kind;          /* enum frame_kind */
	bool inlined;          /* into the frame above it; always false in a view by function */
};

struct call_paths {
	const struct profile *profile; /* not owned; must outlive this */
	struct path_frame *frames;     /* [frame_count] */
	size_t frame_count;
	const uint32_t *parent; /* [count]; PROFILE_NONE for path 0 */
	const uint32_t *frame;  /* [count]: innermost frame of the path; PROFILE_NONE for path 0 */
	size_t count;
	size_t depth; /* frames of the longest path */
	/* The resources that have values: one, or all of the profile. */
	uint32_t first_resource;
	uint32_t resource_count;

	/* Private. */
	struct view *view;
	const uint64_t *values;
	/* owned: the values, if every resource has its own; NULL: the values are the view's hits */
	uint64_t *sums;
};

/* `options` select the hits and how frames are shown: by VIEW_FUNCTION or VIEW_FRAME. `keep_view_nodes` is always set.
 * Returns NULL on error: ERROR_MEMORY, ERROR_LIMIT, or ERROR_NOT_FOUND for a resource or thread that the profile
 * does not have. */
struct call_paths *call_paths_new(const struct profile *profile, const struct view_options *options,
				  struct error *error);
void call_paths_free(struct call_paths *paths); /* accepts NULL */

/* Returns [resource_count] values; all are 0 if no sample ends at the path. */
static inline const uint64_t *call_paths_values(const struct call_paths *paths, uint32_t path)
{
	return paths->values + (size_t)path * paths->resource_count;
}

/* Writes the frames of a path, outermost first, to `frames`, which has room for `depth` of them. Returns their
 * number. */
size_t call_paths_frames(const struct call_paths *paths, uint32_t path, uint32_t *frames);

/* Returns for each frame whether it is of the program's own code (analyze/own_labels.h), [frame_count] or more, which the caller frees; or
 * NULL if memory ran out. */
bool *call_paths_own_frames(const struct call_paths *paths);

/* --- hit by hit --- */

struct path_hit {
	uint64_t time_ns; /* of the last selected hit; 0: unknown */
	uint64_t count;   /* selected hits */
	uint32_t path;
	uint32_t resource;  /* index in profile->resources */
	uint32_t thread;    /* index in profile->threads, or PROFILE_NONE */
	uint32_t process;   /* index in profile->processes, or PROFILE_NONE */
	uint32_t label_set; /* index in profile->label_sets */
	size_t row;         /* index in profile->hits */
};

/* Returns the selected hits, sorted by thread (hits without a thread last), then by time, then by row. Sets *count
 * to their number. The caller frees them. Returns NULL if memory is exhausted. */
struct path_hit *call_paths_hits(const struct call_paths *paths, size_t *count);

#endif
