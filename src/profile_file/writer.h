/*
 * Writes a profile to disk while it grows. The file is append-only: each
 * flush adds blocks with whatever the profile gained since the last one, and
 * a reader makes sense of any prefix that ends at a block. See docs/format.md.
 *
 * Life cycle: writer_open -> (writer_flush)* -> writer_finish -> writer_free.
 * After the first failed write nothing more is written, the file is cut back
 * to its last whole block, and every later call returns the same error. The
 * caller ignores SIGPIPE and SIGXFSZ, so that such a write fails and no more.
 */
#ifndef PROFILE_FILE_WRITER_H
#define PROFILE_FILE_WRITER_H

#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

struct writer;

/* Opens the output before the target runs. A regular file is written under a
 * temporary name beside `path` until writer_publish; anything else (a pipe,
 * "/dev/stdout", or "-" for standard output) is written directly.
 * NULL: `error` says why, and nothing was changed on disk. */
struct writer *writer_open(const char *path, struct error *error);

/* Gives the file its real name, keeping an older one as PATH.old: called once
 * the target really runs, so that a failed start loses nothing. */
int writer_publish(struct writer *writer, struct error *error);

/* Appends what the profile gained since the last call: new strings, processes,
 * threads, modules, locations, nodes, all its hits and touches (the caller then calls
 * profile_clear_hits), and the small tables that changed. */
int writer_flush(struct writer *writer, const struct profile *profile, struct error *error);

/* The last flush: also symbols, totals, causes and the end mark. */
int writer_finish(struct writer *writer, const struct profile *profile, struct error *error);

/* Bytes in the file so far. */
uint64_t writer_size(const struct writer *writer);

/* Closes; removes the temporary file if it was never published. NULL is fine. */
void writer_free(struct writer *writer);

#endif
