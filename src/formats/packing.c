#include "formats/import_stream.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* zlib does not change its input */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

static const unsigned char GZIP_MARK[] = { 0x1f, 0x8b };
static const unsigned char ZSTD_MARK[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* --- gzip --- */

static void *gzip_begin(void)
{
	enum { GZIP_ONLY = 16 };
	z_stream *stream = calloc(1, sizeof(*stream));
	if (stream && inflateInit2(stream, GZIP_ONLY + MAX_WBITS) == Z_OK)
		return stream;
	free(stream);
	return NULL;
}

static int gzip_run(void *state, struct packing_run *run, bool is_first)
{
	z_stream *stream = state;
	stream->next_in = run->in;
	stream->avail_in = (uInt)run->in_bytes;
	stream->next_out = run->out;
	stream->avail_out = (uInt)run->out_bytes;
	int result = is_first ? inflateReset(stream) : Z_OK;
	if (result == Z_OK)
		result = inflate(stream, Z_NO_FLUSH);
	run->used = run->in_bytes - stream->avail_in;
	run->made = run->out_bytes - stream->avail_out;
	if (result == Z_STREAM_END)
		return 0;
	if (result == Z_MEM_ERROR)
		return ERROR_MEMORY;
	return result == Z_OK || result == Z_BUF_ERROR ? 1 : ERROR_CORRUPT;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

/* --- zstd --- */

static void *zstd_begin(void)
{
	return ZSTD_createDCtx();
}

/* The decoder itself begins a part behind the end of another. */
static int zstd_run(void *state, struct packing_run *run, bool is_first)
{
	(void)is_first;
	ZSTD_inBuffer in = { .src = run->in, .size = run->in_bytes };
	ZSTD_outBuffer out = { .dst = run->out, .size = run->out_bytes };
	size_t result = ZSTD_decompressStream(state, &out, &in);
	run->used = in.pos;
	run->made = out.pos;
	if (ZSTD_isError(result))
		return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? ERROR_MEMORY : ERROR_CORRUPT;
	return result > 0;
}

static void zstd_end(void *state)
{
	ZSTD_freeDCtx(state);
}

static const struct packing packings[] = {
	{ "gzip", GZIP_MARK, sizeof(GZIP_MARK), gzip_begin, gzip_run, gzip_end },
	{ "zstd", ZSTD_MARK, sizeof(ZSTD_MARK), zstd_begin, zstd_run, zstd_end },
};

const struct packing *packing_of(const unsigned char *start, size_t bytes)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++)
		if (bytes >= packings[i].mark_bytes && memcmp(start, packings[i].mark, packings[i].mark_bytes) == 0)
			return &packings[i];
	return NULL;
}
