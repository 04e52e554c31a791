/*
 * A growable run of bytes, for writing. Life cycle: buffer_init, any number of appends, buffer_release. After the
 * first failed append the buffer keeps the error and ignores later appends, so that a writer checks `buffer_error`
 * once at its end.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
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
/* Removes all bytes and the error, and keeps the memory. */
void buffer_clear(struct buffer *buffer);
int buffer_error(const struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
/* Appends `size` bytes that the caller fills in before the next call. Returns the first one, or NULL if there is no
 * memory. */
uint8_t *buffer_extend(struct buffer *buffer, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text); /* without its NUL */
void buffer_append_byte(struct buffer *buffer, uint8_t byte);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
void buffer_append_decimal(struct buffer *buffer, uint64_t number); /* "4711" */
/* LEB128, 1 to 10 bytes. */
void buffer_append_varint(struct buffer *buffer, uint64_t value);
/* The same for a signed value, zigzag-coded (0, -1, 1, -2, ... become 0, 1, 2, 3). */
void buffer_append_varint_signed(struct buffer *buffer, int64_t value);

#endif
