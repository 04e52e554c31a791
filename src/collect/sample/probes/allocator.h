/* The functions by which one module allocates memory. */
#ifndef COLLECT_SAMPLE_PROBES_ALLOCATOR_H
#define COLLECT_SAMPLE_PROBES_ALLOCATOR_H

#include "collect/sample/probes/probe_points.h"
#include "frames/native/module_file.h"

/* Adds a point for each of the module's allocating functions; `path` is its
 * file. A request that one of them passes on to another is counted once.
 * `bytes`: the amount is the requested size; otherwise each call is 1. Returns
 * 0, also if it adds none (the module defines no malloc), or ERROR_MEMORY. */
int allocator_add_points(struct module_file *file, const char *path, bool bytes, struct probe_points *points);

/* Sets *defines to whether the module defines malloc. Returns 0 or ERROR_MEMORY. */
int allocator_is_in(struct module_file *file, bool *defines);

#endif
