/*
 * The functions by which one module allocates memory, as they pass from the process in the jail:
 *
 *   u8 is_glibc | each: u8 row of the table of allocating functions | u64 offset in the file
 */
#ifndef COLLECT_SAMPLE_PROBES_ALLOCATOR_H
#define COLLECT_SAMPLE_PROBES_ALLOCATOR_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "collect/sample/probes/points.h"
#include "frames/native/module_file.h"

/* Appends the module's allocating functions: nothing if it defines no malloc. Runs in a jail.
 * Returns 0 or ERROR_MEMORY. */
int allocator_write(struct module_file *file, struct buffer *answer);

/* Adds a point for each of these functions; `path` is their file. Sets *found to whether there are some. `bytes`: the
 * amount is the requested size; otherwise each call is 1. Returns 0, ERROR_CORRUPT (then it has added none) or
 * ERROR_MEMORY. */
int allocator_read(struct cursor *answer, const char *path, bool bytes, struct probe_points *points, bool *found);

#endif
