#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

size_t text_distance(const char *a, const char *b)
{
	/* Three rows of the table of distances between prefixes are enough. */
	uint8_t rows[3][TEXT_DISTANCE_MAX + 1];
	size_t a_length = strnlen(a, TEXT_DISTANCE_MAX);
	size_t b_length = strnlen(b, TEXT_DISTANCE_MAX);
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		uint8_t *now = rows[i % 3];
		const uint8_t *above = rows[(i + 2) % 3];
		const uint8_t *two_above = rows[(i + 1) % 3];
		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t exchanged = a[i - 1] == b[j - 1] ? 0 : 1;
			size_t least = min3(above[j] + 1U, now[j - 1] + 1U, above[j - 1] + exchanged);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two_above[j - 2] + 1U < least)
				least = two_above[j - 2] + 1U;
			now[j] = (uint8_t)least;
		}
	}
	return rows[a_length % 3][b_length];
}

int text_resembles(const char *typed, const char *word)
{
	size_t typed_length = strlen(typed);
	size_t word_length = strlen(word);
	if (typed_length == 0)
		return 0;
	size_t shorter = typed_length < word_length ? typed_length : word_length;
	if (shorter >= 2 && strncmp(typed, word, shorter) == 0)
		return 1;
	size_t longer = typed_length > word_length ? typed_length : word_length;
	/* text_distance compares at most this many bytes. */
	longer = longer < TEXT_DISTANCE_MAX ? longer : TEXT_DISTANCE_MAX;
	return text_distance(typed, word) * 3 <= longer;
}
