/*
 * A growable run of bytes, for writing. Life cycle: buffer_init, any number
 * of appends, buffer_release. The first failed append is remembered: all later
 * ones do nothing, so that a writer checks `buffer_error` once at its end.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *bytes; /* owned */
	size_t size;    /* bytes in use */
	size_t capacity;
	int error; /* 0 or ERROR_MEMORY */
};

void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
/* Empties it and forgets its error; the memory is kept. */
void buffer_clear(struct buffer *buffer);
int buffer_error(const struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
/* Appends `size` bytes for the caller to fill in before the next call; NULL: no memory. */
uint8_t *buffer_extend(struct buffer *buffer, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text); /* without its NUL */
void buffer_append_byte(struct buffer *buffer, uint8_t byte);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* LEB128, 1 to 10 bytes. */
void buffer_append_varint(struct buffer *buffer, uint64_t value);
/* The same of a signed value, zigzag-coded (0, -1, 1, -2, ... become 0, 1, 2, 3). */
void buffer_append_varint_signed(struct buffer *buffer, int64_t value);

#endif
