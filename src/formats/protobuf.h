/*
 * Writes messages of Protocol Buffers (protobuf.dev, "Encoding") into buffers. Fields with their
 * default value, 0 or empty, are left out, as proto3 does. A message in a field is made in a buffer
 * of its own first, because its length comes before it.
 */
#ifndef FORMATS_PROTOBUF_H
#define FORMATS_PROTOBUF_H

#include <endian.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/sink.h"
#include "base/utf8.h"

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

/* The same for a field of a oneof, which is written also if it is 0. */
static inline void protobuf_chosen_number(struct buffer *message, uint32_t field, uint64_t number)
{
	protobuf_key(message, field, PROTOBUF_VARINT);
	buffer_append_varint(message, number);
}

/* A number of type fixed64 without a key: an element of a packed field. */
static inline void protobuf_append_fixed64(struct buffer *message, uint64_t number)
{
	uint64_t little = htole64(number);
	buffer_append(message, &little, sizeof(little));
}

static inline void protobuf_fixed64(struct buffer *message, uint32_t field, uint64_t number)
{
	if (number == 0)
		return;
	protobuf_key(message, field, PROTOBUF_FIXED64);
	protobuf_append_fixed64(message, number);
}

/* A field of type bytes or string, an element of a repeated one, or a message. It is written also if it is empty. */
static inline void protobuf_bytes(struct buffer *message, uint32_t field, const void *bytes, size_t size)
{
	protobuf_key(message, field, PROTOBUF_BYTES);
	buffer_append_varint(message, size);
	buffer_append(message, bytes, size);
}

/* A field of type string. proto3 demands UTF-8, and decoders refuse a message with other bytes, which the names of threads
 * (the kernel cuts them) and of files may have: each byte that is not part of a valid sequence becomes U+FFFD. */
static inline void protobuf_text(struct buffer *message, uint32_t field, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *bytes = (const unsigned char *)text;
	size_t size = 0;
	for (size_t at = 0, length; bytes[at]; at += length > 0 ? length : 1) {
		length = utf8_sequence(bytes + at);
		size += length > 0 ? length : sizeof(replacement) - 1;
	}
	protobuf_key(message, field, PROTOBUF_BYTES);
	buffer_append_varint(message, size);
	for (size_t at = 0, length; bytes[at]; at += length > 0 ? length : 1) {
		length = utf8_sequence(bytes + at);
		if (length > 0)
			buffer_append(message, bytes + at, length);
		else
			buffer_append_string(message, replacement);
	}
}

/* Adds the message in `inner`, which it then clears, and passes its error on. */
static inline void protobuf_message(struct buffer *message, uint32_t field, struct buffer *inner)
{
	protobuf_bytes(message, field, inner->bytes, inner->size);
	if (buffer_error(inner) < 0)
		message->error = buffer_error(inner);
	buffer_clear(inner);
}

/* Writes the message as a field of the outermost message, which the sink gets. Returns 0, or
 * ERROR_MEMORY, also for the message's. */
static inline int protobuf_write(struct sink *out, uint32_t field, const struct buffer *message)
{
	struct buffer head;
	buffer_init(&head);
	protobuf_key(&head, field, PROTOBUF_BYTES);
	buffer_append_varint(&head, message->size);
	int status = buffer_error(&head) < 0 ? buffer_error(&head) : buffer_error(message);
	if (status == 0) {
		sink_write(out, head.bytes, head.size);
		sink_write(out, message->bytes, message->size);
	}
	buffer_release(&head);
	return status;
}

/*
 * Reads messages of Protocol Buffers (protobuf.dev, "Encoding") that may be hostile, over a cursor:
 * a damaged message sets `failed`, and the caller checks it at the end of the message.
 */

struct protobuf_field {
	uint64_t number; /* of the field; 0 in a damaged message */
	bool is_bytes;
	uint64_t value;      /* of a number */
	struct cursor bytes; /* of a string, a message or packed numbers */
};

/* Reads the next field. Returns false at the end, and after damage. */
static inline bool protobuf_next(struct cursor *message, struct protobuf_field *field)
{
	enum { TYPE_BITS = 3, TYPE_MASK = 7, FIXED32 = 5 };
	if (message->failed || message->next == message->end)
		return false;
	uint64_t key = cursor_varint(message);
	*field = (struct protobuf_field){ .number = key >> TYPE_BITS };
	switch (key & TYPE_MASK) {
	case PROTOBUF_VARINT:
		field->value = cursor_varint(message);
		break;
	case PROTOBUF_FIXED64:
		field->value = cursor_u64(message);
		break;
	case FIXED32:
		field->value = cursor_u32(message);
		break;
	case PROTOBUF_BYTES: {
		uint64_t size = cursor_varint(message);
		const uint8_t *bytes = cursor_bytes(message, size);
		field->is_bytes = true;
		field->bytes = cursor_over(bytes, bytes ? size : 0);
		break;
	}
	default: /* groups, which are not used any more */
		message->failed = true;
	}
	return !message->failed;
}

struct protobuf_numbers {
	uint64_t *items; /* owned */
	size_t count, capacity;
};

/* Appends the values of a repeated field of numbers, packed or single. Returns 0 or a negative error. */
static inline int protobuf_append_numbers(struct protobuf_numbers *numbers, struct protobuf_field *field)
{
	bool more = !field->is_bytes || cursor_left(&field->bytes) > 0;
	while (more) {
		if (ARRAY_RESERVE(numbers->items, numbers->capacity, numbers->count + 1) < 0)
			return ERROR_MEMORY;
		numbers->items[numbers->count++] = field->is_bytes ? cursor_varint(&field->bytes) : field->value;
		if (field->bytes.failed)
			return ERROR_CORRUPT;
		more = field->is_bytes && cursor_left(&field->bytes) > 0;
	}
	return 0;
}

#endif
