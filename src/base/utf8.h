/* Distinguishes valid UTF-8 sequences (RFC 3629) from other bytes. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the sequence that starts at `text` (NUL-terminated), or 0 if it is not valid: an overlong
 * form, a surrogate, a stray byte. */
static inline size_t utf8_sequence(const unsigned char *text)
{
	unsigned char first = text[0];
	if (first < 0x80)
		return 1;
	size_t length = first >= 0xc2 && first <= 0xdf   ? 2
			: (first & 0xf0) == 0xe0         ? 3
			: first >= 0xf0 && first <= 0xf4 ? 4
							 : 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if (length >= 3) {
		/* The second byte's range depends on the first (RFC 3629, section 4). */
		if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
		    (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
			return 0;
	}
	return length;
}

/* Returns the code point of a valid sequence of `length` bytes. */
static inline uint32_t utf8_point(const unsigned char *text, size_t length)
{
	uint32_t point = length == 1 ? text[0] : text[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++)
		point = point << 6 | (text[i] & 0x3f);
	return point;
}

#endif
