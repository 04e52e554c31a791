/*
 * A profile of the hooks as gprof would have seen it: of one loaded object its arcs, its histogram and its blocks.
 *
 *   arcs        resource `calls`: a hit's path ends in the call site and the function called. `from` is the return address.
 *               What another object calls (a comparator that qsort was given, main itself) has no caller that gprof knows,
 *               and Debian's gprof drops such arcs whole. They are given the one function that is in every object and
 *               that no compiler instruments: `_start` of a program, `_init` of a library; gprof shows it as the caller,
 *               <spontaneous> itself.
 *   histogram   resource `cpu`, or what is asked for: the place of each sample that is in the object. Bins have 2 bytes, as
 *               gprof counts in units of 2 and doubles what has finer bins; in objects with more than 16 MB of code
 *               they are wider. The shape depends on the object alone, so that files of several runs can be added.
 *   blocks      resource `blocks`
 *
 * All processes and threads together. Figures of functions that gprof averages stay as they are counted: exact.
 */
#ifndef GPROF_FROM_PROFILE_H
#define GPROF_FROM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gprof/gmon.h"
#include "profile/profile.h"

/* Fills in an empty `gmon`, settled. `module`: of kind MODULE_FILE; others of the same file (path and build-id) count as
 * it. `resource` is of the unit ns; PROFILE_NONE: `cpu` if it has hits, else what is sampled in ns, else `real`. The
 * object's file is read for its code's range if it is still that of the build-id. ERROR_UNSUPPORTED: the resource is not
 * a time; ERROR_MEMORY; ERROR_LIMIT. */
int gmon_from_profile(const struct profile *profile, uint32_t module, uint32_t resource, struct gmon *gmon,
		      struct error *error);

/* The resource whose time that is; PROFILE_NONE: the profile has none. */
uint32_t gmon_time(const struct profile *profile);

/* The module of the program itself: of its first process, as far as is known. PROFILE_NONE: there is no file. */
uint32_t gmon_program(const struct profile *profile);

/* Sets marks[m] for the modules (first ones of their file) that have counted calls or blocks; [module_count]. */
void gmon_counted(const struct profile *profile, bool *marks);

/* The first module of the same file, mostly `module` itself. */
uint32_t gmon_same_file(const struct profile *profile, uint32_t module);

#endif
