/*
 * Reads messages of Protocol Buffers (protobuf.dev, "Encoding") that may be hostile, over a cursor: a damaged message sets `failed`,
 * and the caller checks it at the end of the message.
 */
#ifndef FORMATS_PROTOBUF_IN_H
#define FORMATS_PROTOBUF_IN_H

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "formats/protobuf.h"

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
