/* The bytes of a file that is read: from disk, piece by piece, or in memory. */
#ifndef PROFILE_FILE_SOURCE_H
#define PROFILE_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct source {
	const char *name;     /* for messages; not owned */
	const uint8_t *bytes; /* NULL: read from `fd` */
	uint64_t size;        /* when it was opened: a file may grow meanwhile */
	int fd;               /* owned; -1: none */
	struct buffer owned;  /* what came from a pipe */
};

/* "-" is standard input. Returns 0 or a negative error. */
int source_open(struct source *source, const char *path, struct error *error);
void source_open_bytes(struct source *source, const void *bytes, size_t size, const char *name);
void source_release(struct source *source);

/* The `size` bytes at `offset`, which the caller knows to be inside; they may
 * be kept in `buffer`. NULL: *code is ERROR_MEMORY, ERROR_SYSTEM (errno is
 * set) or ERROR_TRUNCATED (the file shrank). Threads may call it at the same
 * time with different buffers. */
const uint8_t *source_read(const struct source *source, uint64_t offset, size_t size, struct buffer *buffer, int *code);

#endif
