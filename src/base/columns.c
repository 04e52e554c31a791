#include "base/columns.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Sorted ranges of characters that do not take one column (Unicode's East_Asian_Width W and F,
 * and general category Mn), in whole blocks. */
static const struct {
	uint32_t first, last;
	size_t columns;
} ranges[] = {
	{ 0x300, 0x36f, 0 },     { 0x483, 0x489, 0 },     { 0x591, 0x5bd, 0 },     { 0x610, 0x61a, 0 },
	{ 0x64b, 0x65f, 0 },     { 0x1100, 0x115f, 2 },   { 0x1ab0, 0x1aff, 0 },   { 0x1dc0, 0x1dff, 0 },
	{ 0x20d0, 0x20ff, 0 },   { 0x2e80, 0x303e, 2 },   { 0x3041, 0x4dbf, 2 },   { 0x4e00, 0xa4cf, 2 },
	{ 0xa960, 0xa97f, 2 },   { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },   { 0xfe00, 0xfe0f, 0 },
	{ 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },   { 0xff01, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
	{ 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

static size_t columns_of(uint32_t point)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && point >= ranges[i].first; i++)
		if (point <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}

size_t text_character(const char *text, size_t size, size_t *columns)
{
	enum { SEQUENCE_BYTES = 4 };
	unsigned char copy[SEQUENCE_BYTES + 1] = { 0 };
	*columns = 1;
	if ((unsigned char)*text < 0x80)
		return 1;
	memcpy(copy, text, size < SEQUENCE_BYTES ? size : SEQUENCE_BYTES);
	size_t length = utf8_sequence(copy);
	if (length == 0)
		return 1;
	*columns = columns_of(utf8_point(copy, length));
	return length;
}

size_t text_columns(const char *text, size_t size)
{
	size_t sum = 0, columns;
	for (size_t i = 0; i < size; i += text_character(text + i, size - i, &columns), sum += columns)
		;
	return sum;
}

size_t text_begin(const char *text, size_t size, size_t most)
{
	size_t at = 0, sum = 0, columns;
	while (at < size) {
		size_t length = text_character(text + at, size - at, &columns);
		sum += columns;
		if (sum > most)
			return at;
		at += length;
	}
	return at;
}

size_t text_end(const char *text, size_t size, size_t most)
{
	size_t all = text_columns(text, size), at = 0, columns;
	while (at < size && all > most) {
		at += text_character(text + at, size - at, &columns);
		all -= columns;
	}
	return at;
}
