#include "formats/json_out.h"

#include <string.h>

#include "base/error.h"
#include "base/json_string.h"

enum { PART_BYTES = 64 * 1024 };

void json_out_init(struct json_out *out, struct sink *sink, struct gzip *gzip)
{
	*out = (struct json_out){ .sink = sink, .gzip = gzip };
	buffer_init(&out->buffer);
}

static void flush(struct json_out *out)
{
	if (buffer_error(&out->buffer) < 0)
		out->status = buffer_error(&out->buffer);
	else if (out->gzip)
		gzip_write(out->gzip, out->buffer.bytes, out->buffer.size);
	else
		sink_write(out->sink, out->buffer.bytes, out->buffer.size);
	buffer_clear(&out->buffer);
}

int json_out_end(struct json_out *out)
{
	flush(out);
	buffer_release(&out->buffer);
	return out->status;
}

static void flush_part(struct json_out *out)
{
	if (out->buffer.size >= PART_BYTES || buffer_error(&out->buffer) < 0)
		flush(out);
}

void json_out_bytes(struct json_out *out, const char *bytes, size_t size)
{
	buffer_append(&out->buffer, bytes, size);
	flush_part(out);
}

void json_out_text(struct json_out *out, const char *text)
{
	json_out_bytes(out, text, strlen(text));
}

void json_out_number(struct json_out *out, uint64_t number)
{
	buffer_append_decimal(&out->buffer, number);
	flush_part(out);
}

void json_out_string(struct json_out *out, const char *text)
{
	json_string_append(&out->buffer, text);
	flush_part(out);
}

void json_out_decimal(struct json_out *out, uint64_t number, uint64_t scale)
{
	uint64_t rest = number % scale;
	buffer_append_decimal(&out->buffer, number / scale);
	if (rest > 0)
		buffer_append_byte(&out->buffer, '.');
	while (rest > 0) {
		scale /= 10;
		buffer_append_byte(&out->buffer, (uint8_t)('0' + rest / scale));
		rest %= scale;
	}
	flush_part(out);
}

const struct json_out_resource json_out_trace = { "Trace", "Trace", "ns" };

void json_out_resource(struct json_out *out, const struct json_out_resource *resource)
{
	json_out_text(out, ",\"resource\":{\"name\":");
	json_out_string(out, resource->name);
	json_out_text(out, ",\"title\":");
	json_out_string(out, resource->title);
	json_out_text(out, ",\"unit\":");
	json_out_string(out, resource->unit);
	json_out_text(out, "}");
}
