#include "base/safe_text.h"

#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum { SEQUENCE_BYTES = 4 };

/* Sorted ranges of characters beside the control characters of ASCII and Latin-1. */
static const struct {
	uint32_t first, last;
} refused[] = {
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x180e, 0x180e },   /* Mongolian vowel separator */
	{ 0x200b, 0x200f },   /* of no width; marks of direction */
	{ 0x2028, 0x202e },   /* separators of lines and paragraphs; embeddings and overrides of direction */
	{ 0x2060, 0x206f },   /* invisible operators; isolates of direction */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xfff9, 0xfffb },   /* interlinear annotation */
	{ 0xe0000, 0xe007f }, /* tags */
};

bool safe_text_refuses(uint32_t point)
{
	if (point < 0x20 || (point >= 0x7f && point < 0xa0))
		return true;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && point >= refused[i].first; i++)
		if (point <= refused[i].last)
			return true;
	return false;
}

bool is_terminal(FILE *out)
{
	int fd = fileno(out);
	return fd >= 0 && isatty(fd);
}

/* Returns the length of the valid sequence at `text`, or 0. The text need not end in a NUL. */
static size_t sequence_within(const unsigned char *text, size_t size)
{
	unsigned char copy[SEQUENCE_BYTES + 1] = { 0 };
	memcpy(copy, text, size < SEQUENCE_BYTES ? size : SEQUENCE_BYTES);
	return utf8_sequence(copy);
}

const char *safe_word(const char *text, const char *instead)
{
	const unsigned char *next = (const unsigned char *)text;
	for (size_t length; *next; next += length) {
		length = utf8_sequence(next);
		if (length == 0 || safe_text_refuses(utf8_point(next, length)))
			return instead;
	}
	return text;
}

void safe_text_write(FILE *out, const char *text, size_t size, const char *kept)
{
	const unsigned char *next = (const unsigned char *)text;
	for (size_t length; size > 0; next += length, size -= length) {
		length = sequence_within(next, size);
		uint32_t point = length ? utf8_point(next, length) : 0;
		bool is_kept = length == 1 && *next && strchr(kept, *next);
		if (is_kept || (length > 0 && !safe_text_refuses(point))) {
			fwrite(next, 1, length, out);
		} else if (length < 2) {
			fprintf(out, "\\x%02x", *next);
			length = 1;
		} else if (point < 0xa0) {
			fprintf(out, "\\x%02x\\x%02x", next[0], next[1]);
		} else {
			fprintf(out, "\\u%04x", point);
		}
	}
}
