#include "ui/page/write.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

enum {
	LEVEL = 6,                /* level 9 takes twice the time, for files that are 1 % smaller */
	PACKED_BYTES = 48 * 1024, /* a multiple of 3, so that base64 needs no padding before the end */
};

/* Deflated bytes that are not written yet. */
struct embed {
	struct sink *sink;
	uint8_t packed[PACKED_BYTES];
	size_t used;
};

/* Writes the bytes as one part, in base64 (RFC 4648, section 4). */
static void write_part(struct embed *embed)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static char text[PACKED_BYTES / 3 * 4 + 4];
	size_t size = 0;
	for (size_t i = 0; i < embed->used; i += 3) {
		size_t count = embed->used - i < 3 ? embed->used - i : 3;
		uint32_t bits = (uint32_t)embed->packed[i] << 16;
		if (count > 1)
			bits |= (uint32_t)embed->packed[i + 1] << 8;
		if (count > 2)
			bits |= embed->packed[i + 2];
		text[size++] = digits[bits >> 18];
		text[size++] = digits[bits >> 12 & 63];
		text[size++] = count > 1 ? digits[bits >> 6 & 63] : '=';
		text[size++] = count > 2 ? digits[bits & 63] : '=';
	}
	sink_text(embed->sink, "<script type=\"text/plain\">");
	sink_write(embed->sink, text, size);
	sink_text(embed->sink, "</script>\n");
	embed->used = 0;
}

/* Deflates all input that the stream has. */
static void deflate_all(struct embed *embed, z_stream *stream, int flush)
{
	int status;
	do {
		stream->next_out = embed->packed + embed->used;
		stream->avail_out = (uInt)(PACKED_BYTES - embed->used);
		status = deflate(stream, flush);
		embed->used = PACKED_BYTES - stream->avail_out;
		if (embed->used == PACKED_BYTES)
			write_part(embed);
	} while (stream->avail_in > 0 || (flush == Z_FINISH && status != Z_STREAM_END));
}

int page_embed(struct sink *sink, const char *id, uint64_t period_ns, const void *bytes, size_t size,
	       struct error *error)
{
	static struct embed embed;
	static const size_t most = 1 << 30; /* a stream counts its input in 32 bits */
	z_stream stream = { 0 };
	embed = (struct embed){ .sink = sink };
	if (deflateInit(&stream, LEVEL) != Z_OK)
		return error_set(error, ERROR_MEMORY, "cannot compress the page: out of memory");
	sink_printf(sink, "<div hidden id=\"%s\"", id);
	sink_printf(sink, " data-bytes=\"%zu\"", size);
	if (period_ns > 0)
		sink_printf(sink, " data-period=\"%" PRIu64 "\"", period_ns);
	sink_text(sink, ">");
	const uint8_t *next = bytes;
	do {
		size_t part = size < most ? size : most;
		stream.next_in = (Bytef *)next;
		stream.avail_in = (uInt)part;
		next += part;
		size -= part;
		deflate_all(&embed, &stream, size == 0 ? Z_FINISH : Z_NO_FLUSH);
	} while (size > 0);
	deflateEnd(&stream);
	if (embed.used > 0)
		write_part(&embed);
	sink_text(sink, "</div>\n");
	return 0;
}
