#include "base/json_string.h"

#include <stdint.h>

#include "base/safe_text.h"
#include "base/utf8.h"

/* Writes a character as JSON escapes it: two surrogates above U+FFFF. */
static void json_escape(FILE *out, uint32_t point)
{
	if (point >= 0x10000)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
	else
		fprintf(out, "\\u%04x", point);
}

void json_string_write(FILE *out, const char *text)
{
	const unsigned char *next = (const unsigned char *)text;
	fputc('"', out);
	while (*next) {
		size_t length = utf8_sequence(next);
		if (length == 0) {
			fputs("\\ufffd", out);
			next++;
		} else if (*next == '"' || *next == '\\') {
			fprintf(out, "\\%c", *next++);
		} else if (safe_text_refuses(utf8_point(next, length))) {
			json_escape(out, utf8_point(next, length));
			next += length;
		} else {
			fwrite(next, 1, length, out);
			next += length;
		}
	}
	fputc('"', out);
}
