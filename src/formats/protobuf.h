/*
 * Writes messages of Protocol Buffers (protobuf.dev, "Encoding") into buffers. Fields with their default value, 0 or empty, are left
 * out, as proto3 does. A message in a field is made in a buffer of its own first, because its length comes before it.
 */
#ifndef FORMATS_PROTOBUF_H
#define FORMATS_PROTOBUF_H

#include <string.h>

#include "base/buffer.h"

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

static inline void protobuf_key(struct buffer *message, uint32_t field, enum protobuf_type type)
{
	buffer_append_varint(message, (uint64_t)field << 3 | type);
}

/* A field of type uint64, int64 that is not negative, bool or enum. */
static inline void protobuf_number(struct buffer *message, uint32_t field, uint64_t number)
{
	if (number == 0)
		return;
	protobuf_key(message, field, PROTOBUF_VARINT);
	buffer_append_varint(message, number);
}

/* A field of type bytes or string, an element of a repeated one, or a message. It is written also if it is empty. */
static inline void protobuf_bytes(struct buffer *message, uint32_t field, const void *bytes, size_t size)
{
	protobuf_key(message, field, PROTOBUF_BYTES);
	buffer_append_varint(message, size);
	buffer_append(message, bytes, size);
}

static inline void protobuf_text(struct buffer *message, uint32_t field, const char *text)
{
	protobuf_bytes(message, field, text, strlen(text));
}

/* Adds the message in `inner`, which it then clears, and passes its error on. */
static inline void protobuf_message(struct buffer *message, uint32_t field, struct buffer *inner)
{
	protobuf_bytes(message, field, inner->bytes, inner->size);
	if (buffer_error(inner) < 0)
		message->error = buffer_error(inner);
	buffer_clear(inner);
}

#endif
