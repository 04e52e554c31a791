/*
 * Reads a profile from disk or a pipe. Everything in the file is checked: a
 * damaged, truncated or foreign file gives an error that says what and where,
 * never a crash. A file whose recorder was killed reads up to its last whole
 * block; its profile then has `ended` == false and, as names are written last,
 * perhaps `symbolized` == false.
 */
#ifndef PROFILE_FILE_READER_H
#define PROFILE_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* What the reader passed over. */
struct reader_report {
	uint64_t cut_bytes;      /* at the end, of a block that is not whole */
	uint64_t unknown_blocks; /* of types this version does not know */
};

/* Reads the file at `path` ("-": standard input) into a new profile, which the
 * caller frees. NULL: `error` is filled in (ERROR_FORMAT: not a cpprof file;
 * ERROR_VERSION: newer; ERROR_CORRUPT: damaged; ERROR_TRUNCATED: no whole
 * header; or of a system call). `report` may be NULL. 10 M hits over 1 M nodes
 * take at most 0.3 s (bench/large.c). */
struct profile *reader_load(const char *path, struct reader_report *report, struct error *error);

/* The same from memory: what the fuzzer calls. `name` is for messages. */
struct profile *reader_load_bytes(const void *bytes, size_t size, const char *name, struct reader_report *report,
				  struct error *error);

#endif
