/* The functions through which one module hands out memory. */
#ifndef COLLECT_SAMPLE_PROBES_ALLOCATOR_H
#define COLLECT_SAMPLE_PROBES_ALLOCATOR_H

#include "collect/sample/probes/probe_points.h"
#include "frames/native/module_file.h"

/* Adds a point for each of the module's functions that allocate, `path` being its
 * file. What one of them passes on to another is counted once. `bytes`: the amount is what is
 * asked for; otherwise each call is 1. Returns 0, also without adding any (the
 * module defines no malloc), or ERROR_MEMORY. */
int allocator_add_points(struct module_file *file, const char *path, bool bytes, struct probe_points *points);

/* Whether the module defines malloc. */
int allocator_is_in(struct module_file *file, bool *defines);

#endif
