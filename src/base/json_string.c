#include "base/json_string.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/safe_text.h"
#include "base/utf8.h"

typedef void put_bytes(void *out, const char *bytes, size_t size);

/* Writes a character as JSON escapes it: two surrogates above U+FFFF. */
static void put_escape(put_bytes *put, void *out, uint32_t point)
{
	char text[16];
	if (point >= 0x10000)
		snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
			 0xdc00 + (point & 0x3ff));
	else
		snprintf(text, sizeof(text), "\\u%04x", point);
	put(out, text, strlen(text));
}

/* Returns the bytes at the start of the text that JSON does not escape. */
static size_t plain_bytes(const unsigned char *text)
{
	const unsigned char *next = text;
	while (*next && *next != '"' && *next != '\\') {
		bool is_printable = *next >= 0x20 && *next < 0x7f;
		size_t length = is_printable ? 1 : utf8_sequence(next);
		if (length == 0 || (!is_printable && safe_text_refuses(utf8_point(next, length))))
			break;
		next += length;
	}
	return (size_t)(next - text);
}

static void put_string(put_bytes *put, void *out, const char *text)
{
	const unsigned char *next = (const unsigned char *)text;
	put(out, "\"", 1);
	while (*next) {
		size_t plain = plain_bytes(next);
		put(out, (const char *)next, plain);
		next += plain;
		if (!*next)
			break;
		size_t length = utf8_sequence(next);
		if (length == 0) {
			put(out, "\\ufffd", 6);
			next++;
		} else if (*next == '"' || *next == '\\') {
			put(out, *next == '"' ? "\\\"" : "\\\\", 2);
			next++;
		} else {
			put_escape(put, out, utf8_point(next, length));
			next += length;
		}
	}
	put(out, "\"", 1);
}

static void put_to_file(void *out, const char *bytes, size_t size)
{
	fwrite(bytes, 1, size, out);
}

static void put_to_buffer(void *out, const char *bytes, size_t size)
{
	buffer_append(out, bytes, size);
}

void json_string_write(FILE *out, const char *text)
{
	put_string(put_to_file, out, text);
}

void json_string_append(struct buffer *out, const char *text)
{
	put_string(put_to_buffer, out, text);
}
