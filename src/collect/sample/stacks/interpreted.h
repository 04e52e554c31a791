/*
 * The functions of interpreted programs: their descriptions, their locations in the profile, and
 * the places of their frames in a path.
 *
 * A path has the interpreter's native frames and, below each that interprets, the functions that it interprets:
 *
 *   main  Py_RunMain  _PyEval_EvalFrameDefault  <module>  work  list_sort  _PyEval_EvalFrameDefault  key
 *
 * Views leave the interpreter's own frames out (analyze/view.h).
 */
#ifndef COLLECT_SAMPLE_STACKS_INTERPRETED_H
#define COLLECT_SAMPLE_STACKS_INTERPRETED_H

#include <stddef.h>
#include <stdint.h>

#include "abi/interpreter.h"
#include "collect/sample/backend.h"
#include "profile/profile.h"

struct interpreted;

/* Returns NULL if memory ran out. Adds functions to `profile`, and does not own it. */
struct interpreted *interpreted_new(struct profile *profile);
void interpreted_free(struct interpreted *interpreted); /* NULL is fine */

/* Keeps a description: `bytes` of the structure, which the target may have written. Returns 0, or ERROR_MEMORY or
 * ERROR_LIMIT. A description with an error is ignored. */
int interpreted_describe(struct interpreted *interpreted, uint32_t pid, const struct interpreted_code *from,
			 size_t bytes);

/* The frames of one sample's interpreter, for the paths of collect/sample/stacks/. */
struct interpreted_path {
	struct interpreted *interpreted;
	uint32_t pid;
	const struct interpreted_frame *entries;
	/* The runs, innermost first. */
	const struct interpreted_run {
		size_t first, count; /* entries, innermost first */
		size_t native;       /* number of the native frame that interprets them; 0 is the innermost */
	} * runs;
	size_t count;
	size_t left; /* runs that are not added yet */
};

/* Returns whether a walk of the interpreter's frames has failed. A thread that the interpreter does not know has none. */
static inline bool interpreted_has_failed(const struct backend_sample *sample)
{
	return sample->interpreted_end != INTERPRETED_WHOLE && sample->interpreted_end != INTERPRETED_NO_THREAD;
}

/* Prepares the path of a sample: finds the runs of its entries, and the native frame of each,
 * whose part of the stack has the run's place. `sps` are the stack pointers of
 * the `frames` native frames, innermost first. One path at a time. Returns 0, or a negative
 * error and a path without runs: ERROR_CORRUPT if a run has no place, ERROR_NOT_FOUND if a
 * function was not described, ERROR_MEMORY. */
int interpreted_begin(struct interpreted *interpreted, const struct backend_sample *sample, const uint64_t *sps,
		      size_t frames, struct interpreted_path *path);

int64_t interpreted_add_run(struct interpreted_path *path, size_t native, uint32_t node);

/* Adds the run of native frame number `native`, if it has one, below its node. Native frames
 * come outermost first. Returns the innermost node, or a negative error. */
static inline int64_t interpreted_add(struct interpreted_path *path, size_t native, uint32_t node)
{
	return path->left == 0 ? node : interpreted_add_run(path, native, node);
}

#endif
