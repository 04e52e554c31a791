/*
 * Reads a profile from disk or a pipe. Everything in the file is checked: a damaged, truncated or foreign file
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

/* Reads the file at `path` ("-": standard input) into a new profile, which the caller frees. Returns NULL with
 * `error` set: ERROR_FORMAT (not a cpprof file), ERROR_VERSION (newer), ERROR_CORRUPT (damaged), ERROR_TRUNCATED (no
 * whole header), ERROR_LIMIT (its headers describe more than `memory` bytes of tables; 0: no limit), ERROR_MEMORY or a
 * system call's error. Skipped bytes and blocks and an early end become findings of
 * the profile. 10 M hits over 1 M nodes take at most 0.3 s (bench/large.c). */
struct profile *reader_load(const char *path, uint64_t memory, struct error *error);

/* The same from memory, as the fuzzer needs it. `name` is for messages. */
struct profile *reader_load_bytes(const void *bytes, size_t size, const char *name, uint64_t memory,
				  struct error *error);

/* Whether these first bytes of a file (8 are enough) are a profile's. */
bool reader_is_profile(const void *start, size_t bytes);

#endif
