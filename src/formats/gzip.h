/* Compresses what is written into a sink, as gzip (RFC 1952). Life cycle: gzip_begin, gzip_write..., gzip_end. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include <stddef.h>
#define ZLIB_CONST /* zlib does not change its input */
#include <zlib.h>

#include "base/sink.h"

struct gzip {
	z_stream stream;
	struct sink *out; /* not owned */
};

/* Returns 0 or ERROR_MEMORY. */
int gzip_begin(struct gzip *gzip, struct sink *out);
void gzip_write(struct gzip *gzip, const void *bytes, size_t size);
/* Writes the end. It must be called after gzip_begin has succeeded. */
void gzip_end(struct gzip *gzip);

#endif
