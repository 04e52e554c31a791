/*
 * The bytes of a tally's file. They are copied into our memory, never mapped: the program that writes the tally could
 * truncate the file, and reading a mapping would then end this process with SIGBUS. (The file cannot be sealed against that, because the
 * program makes it grow.) The copied bytes do not change, even if the program still counts.
 */
#ifndef COLLECT_COUNT_SOURCE_H
#define COLLECT_COUNT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct count_source {
	const uint8_t *memory; /* NULL: the bytes are in `fd` */
	int fd;                /* owned; -1: none */
	uint64_t size;         /* of the file when it was opened */
	uint32_t owner;        /* user id of the file's owner, plus 1; 0: not known, or everybody may write the file */
};

/* Copies bytes. Returns false if the file does not have all of them (any more). */
bool count_source_copy(const struct count_source *source, uint64_t offset, void *to, size_t bytes);

/* Reads up to *bytes bytes, at least `least`, and sets *bytes to their number: a hole of the
 * file at the end is left out. Returns 0, ERROR_TRUNCATED or ERROR_MEMORY. The caller calls
 * count_source_unload. */
int count_source_load(const struct count_source *source, uint64_t offset, uint64_t least, uint64_t *bytes,
		      const uint8_t **loaded);
void count_source_unload(const struct count_source *source, const uint8_t *loaded); /* NULL is fine */

void count_source_release(struct count_source *source);

#endif
