/*
 * Ways in which files are compressed: gzip (RFC 1952) and zstd (RFC 8878), each one row. A file consists of one or more parts, each of
 * which begins with the row's mark.
 *
 * Life cycle of the state: begin, any number of runs, end.
 */
#ifndef FORMATS_PACKING_H
#define FORMATS_PACKING_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that one run reads, and the room for those that it makes. */
struct packing_run {
	const unsigned char *in;
	size_t in_bytes, used;
	unsigned char *out;
	size_t out_bytes, made;
};

struct packing {
	const char *name; /* "gzip" */
	const unsigned char *mark;
	size_t mark_bytes;
	void *(*begin)(void); /* NULL: out of memory */
	/* Decompresses as many bytes as there are, or as there is room for, at most to the end of a part. `is_first`: at the beginning of
	 * one. Returns 1, 0 at the end of a part, ERROR_CORRUPT or ERROR_MEMORY. */
	int (*run)(void *state, struct packing_run *run, bool is_first);
	void (*end)(void *state);
};

/* Returns the row of a file by its first bytes, or NULL if it is not compressed. */
const struct packing *packing_of(const unsigned char *start, size_t bytes);

#endif
