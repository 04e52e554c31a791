/*
 * Bounded reading of bytes that may be hostile. A cursor never reads outside [next, end): a read that would do so
 * returns 0 and sets `failed`, as do all later reads. The caller checks `failed` once, at the end of a record.
 * Integers are little-endian, as in every file that cpprof reads.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *next;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	const uint8_t *start = bytes;
	return (struct cursor){ .next = start, .end = start ? start + size : start };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->next);
}

/* Returns the next `size` bytes, as a pointer into the cursor's memory, or NULL if there are fewer. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, size_t size)
{
	if (cursor->failed || size > cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	const uint8_t *bytes = cursor->next;
	cursor->next += size;
	return bytes;
}

#define CURSOR_READER(name, type)                                          \
	static inline type name(struct cursor *cursor)                     \
	{                                                                  \
		type value = 0;                                            \
		const uint8_t *bytes = cursor_bytes(cursor, sizeof(type)); \
		if (bytes)                                                 \
			memcpy(&value, bytes, sizeof(type));               \
		return value;                                              \
	}
CURSOR_READER(cursor_u8, uint8_t)
CURSOR_READER(cursor_u16, uint16_t)
CURSOR_READER(cursor_u32, uint32_t)
CURSOR_READER(cursor_u64, uint64_t)
#undef CURSOR_READER

/* Reads LEB128. Drops bits above the 64th; a run of more than 10 bytes fails. */
static inline uint64_t cursor_varint(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (cursor->next >= cursor->end)
			break;
		uint8_t byte = *cursor->next++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return cursor->failed ? 0 : value;
	}
	cursor->failed = true;
	return 0;
}

/* Reads a zigzag-coded number, the inverse of buffer_append_varint_signed. */
static inline int64_t cursor_varint_signed(struct cursor *cursor)
{
	uint64_t coded = cursor_varint(cursor);
	return (int64_t)(coded >> 1) ^ -(int64_t)(coded & 1);
}

/* Reads DWARF's signed LEB128. */
static inline int64_t cursor_sleb128(struct cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (cursor->next >= cursor->end)
			break;
		uint8_t byte = *cursor->next++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift + 7 < 64)
				value |= ~UINT64_C(0) << (shift + 7);
			return cursor->failed ? 0 : (int64_t)value;
		}
	}
	cursor->failed = true;
	return 0;
}

/* Returns a NUL-terminated string inside the cursor's memory, or NULL if no NUL follows. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *nul =
		cursor->failed || cursor->next == cursor->end ? NULL : memchr(cursor->next, 0, cursor_left(cursor));
	if (!nul) {
		cursor->failed = true;
		return NULL;
	}
	const char *text = (const char *)cursor->next;
	cursor->next = nul + 1;
	return text;
}

#endif
