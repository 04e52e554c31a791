/* Writes a profile as gmon.out files, one per loaded object with counted calls or blocks: `gmon.out` for the
 * program, `gmon.out.NAME` for the library NAME ("libfoo.so.1"; the second library with that name is
 * "libfoo.so.1.2"). The figures of all processes and threads are summed; separate figures need separate recordings. */
#ifndef GPROF_GMON_FILES_H
#define GPROF_GMON_FILES_H

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

/* Writes the files into a directory, and replaces files with these names. The profile is one of the hooks, and
 * symbolized. Appends the written paths to `names`, "DIR/gmon.out, DIR/gmon.out.libfoo.so", unless that is NULL.
 * Returns the number of files, 0 if there were no counts, or ERROR_MEMORY, ERROR_LIMIT or the error of writing. */
int gmon_files_write(const struct profile *profile, const char *directory, struct buffer *names, struct error *error);

#endif
