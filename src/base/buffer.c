#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

void buffer_init(struct buffer *buffer)
{
	*buffer = (struct buffer){ 0 };
}

void buffer_release(struct buffer *buffer)
{
	free(buffer->bytes);
	buffer_init(buffer);
}

void buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->error = 0;
}

int buffer_error(const struct buffer *buffer)
{
	return buffer->error;
}

/* Returns whether there is room for `size` more bytes; if not, the buffer keeps the error. */
static int has_room(struct buffer *buffer, size_t size)
{
	if (buffer->error)
		return 0;
	if (size > SIZE_MAX - buffer->size || ARRAY_RESERVE(buffer->bytes, buffer->capacity, buffer->size + size) < 0) {
		buffer->error = ERROR_MEMORY;
		return 0;
	}
	return 1;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	if (size == 0 || !has_room(buffer, size))
		return;
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t size)
{
	if (!has_room(buffer, size))
		return NULL;
	uint8_t *bytes = buffer->bytes + buffer->size;
	buffer->size += size;
	return bytes;
}

void buffer_append_string(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_append_byte(struct buffer *buffer, uint8_t byte)
{
	buffer_append(buffer, &byte, 1);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	if (length >= 0 && has_room(buffer, (size_t)length + 1)) {
		vsnprintf((char *)buffer->bytes + buffer->size, (size_t)length + 1, format, again);
		buffer->size += (size_t)length;
	}
	va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
}

void buffer_append_decimal(struct buffer *buffer, uint64_t number)
{
	char digits[20]; /* 2^64 - 1 has 20 */
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	buffer_append(buffer, digits + at, sizeof(digits) - at);
}

void buffer_append_varint(struct buffer *buffer, uint64_t value)
{
	uint8_t bytes[10];
	size_t size = 0;
	while (value >= 0x80) {
		bytes[size++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[size++] = (uint8_t)value;
	buffer_append(buffer, bytes, size);
}

void buffer_append_varint_signed(struct buffer *buffer, int64_t value)
{
	buffer_append_varint(buffer, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}
