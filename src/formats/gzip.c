#include "formats/gzip.h"

#include <stdint.h>

#include "base/error.h"

int gzip_begin(struct gzip *gzip, struct sink *out)
{
	enum { WINDOW_BITS = 15, AS_GZIP = 16, MEMORY_LEVEL = 8 };
	*gzip = (struct gzip){ .out = out };
	int status = deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS + AS_GZIP, MEMORY_LEVEL,
				  Z_DEFAULT_STRATEGY);
	return status == Z_OK ? 0 : ERROR_MEMORY;
}

static void compress_all(struct gzip *gzip, int flush)
{
	enum { ROOM = 16 * 1024 };
	uint8_t bytes[ROOM];
	do {
		gzip->stream.next_out = bytes;
		gzip->stream.avail_out = ROOM;
		deflate(&gzip->stream, flush);
		sink_write(gzip->out, bytes, ROOM - gzip->stream.avail_out);
	} while (gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const void *bytes, size_t size)
{
	enum { PART = 1 << 30 };
	const uint8_t *at = bytes;
	while (size > 0) {
		size_t part = size < PART ? size : PART;
		gzip->stream.next_in = at;
		gzip->stream.avail_in = (uInt)part;
		compress_all(gzip, Z_NO_FLUSH);
		at += part;
		size -= part;
	}
}

void gzip_end(struct gzip *gzip)
{
	compress_all(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
}
