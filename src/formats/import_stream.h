/*
 * The input of an importer. It is decompressed if it is compressed (formats/packing.h), and its first bytes, by which a format is
 * recognised, can be seen before it is read.
 *
 * Life cycle: import_stream_open, the reading of `in`, import_stream_close.
 */
#ifndef FORMATS_IMPORT_STREAM_H
#define FORMATS_IMPORT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "formats/packing.h"

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
	int code;        /* errno of the first failure, or 0 */
	unsigned char part[IMPORT_STREAM_PART_BYTES];
	size_t part_bytes, part_used; /* of the compressed input */
};

/* Reads the first bytes of `file`, which must be at its start. A failure of reading is not reported here: `in` meets the same. Returns
 * 0 or ERROR_MEMORY. */
int import_stream_open(struct import_stream *stream, FILE *file);
/* After import_stream_open has succeeded. Does not close the file. */
void import_stream_close(struct import_stream *stream);

#endif
