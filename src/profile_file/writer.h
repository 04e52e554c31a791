/*
 * Writes a profile to disk while it grows. The file is append-only: each flush adds blocks with the rows that the
 * profile gained since the last one, and a reader can read any prefix that ends at a block. See docs/format.md.
 *
 * Life cycle: writer_open -> (writer_flush)* -> writer_finish -> writer_free. A flush that
 * fails because the disk is full writes nothing, and may be repeated. After any other failed write the writer stops
 * writing: the file is cut back to its last whole block, and every later call returns the same error.
 * The caller must ignore SIGPIPE and SIGXFSZ, so that such a write fails without ending the process.
 */
#ifndef PROFILE_FILE_WRITER_H
#define PROFILE_FILE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

struct writer;

/* Opens the output before the target runs. A regular file is written under a temporary name beside `path` until
 * writer_publish; any other output (a pipe, "/dev/stdout", or "-" for standard output) is written directly. Returns
 * NULL with `error` set; then no file has changed. */
struct writer *writer_open(const char *path, struct error *error);

/* Writes a profile whose payloads are not compressed, for a reader without zstd: appends it to `memory`, which the caller
 * owns. Returns NULL with `error` set (ERROR_MEMORY). */
struct writer *writer_to_memory(struct buffer *memory, struct error *error);

/* Gives the file its final name, and keeps an older file as PATH.old. Called once the target runs, so that a failed
 * start does not replace the older file. */
int writer_publish(struct writer *writer, struct error *error);

/* Appends the rows that the profile gained since the last call: new strings, processes, threads, modules, locations
 * and nodes, all its hits and touches (the caller then calls profile_clear_hits), and changed rows of the small
 * tables. After ERROR_NO_SPACE, if writer_can_resume, the file is unchanged: the caller may keep the hits and touches for
 * the next flush, or clear them, and they are missing. */
int writer_flush(struct writer *writer, const struct profile *profile, struct error *error);

/* Returns whether the writer can still write: its last flush was successful, or had no room on the disk. */
bool writer_can_resume(const struct writer *writer);

/* The last flush: also writes symbols, totals, causes and the end mark. */
int writer_finish(struct writer *writer, const struct profile *profile, struct error *error);

/* Bytes in the file so far. */
uint64_t writer_size(const struct writer *writer);

/* Closes the output, and removes the temporary file if it was never published. NULL is allowed. */
void writer_free(struct writer *writer);

#endif
