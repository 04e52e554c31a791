/* The bytes of a file that is being read: from disk, in pieces, or in memory. */
#ifndef PROFILE_FILE_SOURCE_H
#define PROFILE_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum { SOURCE_NAME_BYTES = 300 };

struct source {
	char name[SOURCE_NAME_BYTES]; /* for messages: 'file' in quotes, cut if it is long; or "standard input" */
	const uint8_t *bytes;         /* NULL: read from `fd` */
	uint64_t size;                /* size at the open; the file may grow later */
	int fd;                       /* owned; -1: none */
	uint32_t owner; /* user id of the file's owner, plus 1; 0: not known, or everybody may write the file */
};

/* source_open opens a regular file; "-" is standard input, which must be one at its start. Returns 0 or a negative error, with `error` set.
 * source_open_bytes reads from memory that outlives the source. */
int source_open(struct source *source, const char *path, struct error *error);
void source_open_bytes(struct source *source, const void *bytes, size_t size, const char *name);
void source_release(struct source *source);

/* Returns the `size` bytes at `offset`, which must be inside the source; they may be stored in `buffer`. Returns
 * NULL with *code set: ERROR_MEMORY, ERROR_SYSTEM (errno is set) or ERROR_TRUNCATED (the file shrank). Several
 * threads may call it at the same time with different buffers. */
const uint8_t *source_read(const struct source *source, uint64_t offset, size_t size, struct buffer *buffer, int *code);

#endif
