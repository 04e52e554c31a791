/*
 * The arcs, histogram and blocks of one loaded object, from a profile that hooks have counted.
 *
 *   arcs        resource `calls`: a hit's path ends in the call site and the function called. `from` is the return address.
 *               A function that another object calls (a comparator of qsort, main itself) has a caller outside the
 *               object, and Debian's gprof drops such arcs. Their caller is set to the one function that every object has
 *               and no compiler instruments: `_start` of a program, `_init` of a library; gprof shows it as the caller,
 *               <spontaneous> itself.
 *   histogram   resource `cpu`, or the requested one: the address of each sample in the object. Bins have 2 bytes, as
 *               gprof counts in units of 2 and doubles the counts of finer bins; in objects with more than 16 MB of code
 *               they are wider. The shape depends on the object alone, so that files of several runs can be added.
 *   blocks      resource `blocks`
 *
 * All processes and threads are summed. Figures that gprof averages are exact here.
 */
#ifndef GPROF_FROM_PROFILE_H
#define GPROF_FROM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gprof/gmon.h"
#include "profile/profile.h"

/* Fills in an empty `gmon`, settled. `module`: of kind MODULE_FILE; other
 * modules of the same file (path and build-id) count as it. `resource` has the
 * unit ns; PROFILE_NONE stands for `cpu` if it has hits, else a resource that
 * is sampled in ns, else `real`. Reads the object's file for the range of its
 * code, if the file still has the recorded build-id. Errors: ERROR_UNSUPPORTED
 * (the resource is not a time), ERROR_MEMORY, ERROR_LIMIT. */
int gmon_from_profile(const struct profile *profile, uint32_t module, uint32_t resource, struct gmon *gmon,
		      struct error *error);

/* The resource whose time that is; PROFILE_NONE: the profile has none. */
uint32_t gmon_time(const struct profile *profile);

/* Returns the module of the first process's program, or PROFILE_NONE if it has
 * no file. */
uint32_t gmon_program(const struct profile *profile);

/* Sets marks[m] for the modules (first ones of their file) that have counted calls or blocks; [module_count]. */
void gmon_counted(const struct profile *profile, bool *marks);

/* The first module of the same file, mostly `module` itself. */
uint32_t gmon_same_file(const struct profile *profile, uint32_t module);

#endif
