/*
 * Reads a profile from disk or memory. Everything in the file is checked: a damaged, truncated or foreign file
 * causes an error that reports what is wrong and where, never a crash. If the recorder was killed, the file is read
 * up to its last whole block; the profile then has `ended` == false and, because names are written last, perhaps
 * `symbolized` == false.
 */
#ifndef PROFILE_FILE_READER_H
#define PROFILE_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* Reads the regular file at `path` ("-": standard input) into a new profile, which the caller frees. Returns NULL with
 * `error` set: ERROR_FORMAT (not a cpprof file), ERROR_VERSION (newer), ERROR_CORRUPT (damaged), ERROR_TRUNCATED (no
 * whole header), ERROR_LIMIT (its headers describe more than `memory` bytes of tables; 0: no limit), ERROR_MEMORY or a
 * system call's error. Skipped bytes and blocks and an early end become findings of
 * the profile. 10 M hits over 1 M nodes take at most 0.3 s (bench/large.c). */
struct profile *reader_load(const char *path, uint64_t memory, struct error *error);

/* The same, but hits of one call path, resource, label set and size of a sample are one row, or a few, without their times and threads: in less time,
 * and in the memory of the call paths. A file without names has all hits, with their times. */
struct profile *reader_load_sums(const char *path, uint64_t memory, struct error *error);

/* The same as reader_load from memory. `name` is for messages: a file's, or "standard input". */
struct profile *reader_load_bytes(const void *bytes, size_t size, const char *name, uint64_t memory,
				  struct error *error);

/* Completes a profile that was not read from a file as the functions above complete theirs: inserts the functions that tail calls removed,
 * and makes findings of notes. `name` is for messages: 'file', in quotes. Returns 0, ERROR_MEMORY or ERROR_LIMIT, with `error` set. */
int reader_complete(struct profile *profile, const char *name, uint64_t memory, struct error *error);

enum { READER_MARK_BYTES = 8 };
/* Whether these first bytes of a file (READER_MARK_BYTES are enough) are a profile's. */
bool reader_is_profile(const void *start, size_t bytes);
/* The same for a profile that may be cut within its mark, or damaged as by a transfer as text. */
bool reader_begins_profile(const void *start, size_t bytes);

#endif
