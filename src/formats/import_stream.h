/*
 * The input of an importer. It is decompressed if it is compressed (packing.c), and its first
 * bytes, by which a format is recognised, can be seen before it is read.
 *
 * Life cycle: import_stream_open, the reading of `in`, import_stream_close.
 */
#ifndef FORMATS_IMPORT_STREAM_H
#define FORMATS_IMPORT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * packing.c: ways in which files are compressed: gzip (RFC 1952) and zstd (RFC 8878), each one row.
 * A file consists of one or more parts, each of which begins with the row's mark.
 *
 * Life cycle of the state: begin, any number of runs, end.
 */

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
	/* Decompresses as many bytes as there are, or as there is room for, at most to the end
	 * of a part. `is_first`: at the beginning of one. Returns 1, 0 at the end of a part,
	 * ERROR_CORRUPT or ERROR_MEMORY. */
	int (*run)(void *state, struct packing_run *run, bool is_first);
	void (*end)(void *state);
};

/* Returns the row of a file by its first bytes, or NULL if it is not compressed. */
const struct packing *packing_of(const unsigned char *start, size_t bytes);

enum { IMPORT_STREAM_START_BYTES = 4096, IMPORT_STREAM_PART_BYTES = 64 * 1024 };

struct import_stream {
	FILE *in; /* what the importer reads: the file itself, if it can be read at any position and is not compressed */
	unsigned char start[IMPORT_STREAM_START_BYTES];
	size_t start_bytes;            /* fewer than IMPORT_STREAM_START_BYTES: the whole input */
	const struct packing *packing; /* NULL: the input is not compressed */

	FILE *file;      /* not owned */
	size_t given;    /* bytes of `start` that `in` has read */
	void *unpacking; /* of `packing` */
	bool is_within;  /* a compressed part has begun, and has not ended */
	bool unpacked;   /* the compressed data have ended */
	uint64_t used;   /* compressed bytes that have been read */
	int code; /* errno of the first failure, or 0; of compressed data EBADMSG: damaged, ENODATA: they end too early */
	unsigned char part[IMPORT_STREAM_PART_BYTES];
	size_t part_bytes, part_used; /* of the compressed input */
};

/* Reads the first bytes of `file`, which must be at its start. A failure of reading is not
 * reported here: `in` meets the same. Returns 0 or ERROR_MEMORY. */
int import_stream_open(struct import_stream *stream, FILE *file);
/* After import_stream_open has succeeded. Does not close the file. */
void import_stream_close(struct import_stream *stream);

#endif
