/* A profile as gmon.out files, one per loaded object that has counted calls or
 * blocks: `gmon.out` for the program, `gmon.out.NAME` for the library NAME
 * ("libfoo.so.1"; of two libraries with one name the later is "libfoo.so.1.2").
 * Processes and threads are summed, whichever object they ran. Separate figures
 * need separate recordings. */
#ifndef GPROF_GMON_FILES_H
#define GPROF_GMON_FILES_H

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

/* Writes them into a directory; files of these names are replaced. The profile comes from the hooks and is symbolized.
 * `names` (may be NULL) gets the paths written, "DIR/gmon.out, DIR/gmon.out.libfoo.so". Returns how many files;
 * 0: nothing was counted and none was written. ERROR_MEMORY, ERROR_LIMIT, or what hinders writing. */
int gmon_files_write(const struct profile *profile, const char *directory, struct buffer *names, struct error *error);

#endif
