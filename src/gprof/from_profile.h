/*
 * Makes the arcs, histogram and blocks of one loaded object from a profile of the hooks.
 *
 *   arcs        resource `calls`: the last two locations of a hit's path are the call site and the called function.
 *               `from` is the return address. Debian's gprof drops arcs whose caller is outside of the object, such as
 *               calls of qsort's comparator or of main. Their caller is set to a function that every object has and no
 *               compiler instruments: `_start` in a program, `_init` in a library. gprof prints it as the caller, and
 *               <spontaneous> as its caller.
 *   histogram   resource `cpu`, or the requested one: the address of each sample in the object. Bins have 2 bytes,
 *               because gprof counts in units of 2 and doubles the counts of narrower bins; in objects with more than
 *               16 MB of code they are wider. The shape depends only on the object, so that files of several runs can
 *               be added.
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
#include "gprof/image.h"
#include "profile/profile.h"

/* Fills in an empty `gmon`, settled. `module` has the kind MODULE_FILE; other modules of the same file (path and
 * build-id) are included. `resource` has the unit ns. PROFILE_NONE selects `cpu` if it has hits, otherwise a
 * resource that is sampled in ns, otherwise `real`. Reads the object's file for the range of its code, if the file
 * still has the recorded build-id. Returns 0, ERROR_UNSUPPORTED (the resource is not a time), ERROR_MEMORY or
 * ERROR_LIMIT, with `error` set. */
int gmon_from_profile(const struct profile *profile, uint32_t module, uint32_t resource, struct gmon *gmon,
		      struct error *error);

/* Returns the module of the first process's program, or PROFILE_NONE if it has no file. */
uint32_t gmon_program(const struct profile *profile);

/* Returns the module that an image is: the module with its build-id, or the first module of its file name. PROFILE_NONE:
 * there is none. Sets *is_other_build if the module has another build-id. */
uint32_t gmon_module(const struct profile *profile, const struct image *image, bool *is_other_build);

/* Sets marks[m], of module_count marks, for the modules with counted calls or blocks; of several modules of one
 * file, for the first. */
void gmon_counted(const struct profile *profile, bool *marks);

#endif
