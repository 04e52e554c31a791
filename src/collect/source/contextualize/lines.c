#include "collect/source/contextualize/lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Returns the start of the lines of comments that directly precede a line. */
static uint32_t before_comment(const char *text, uint32_t line)
{
	while (line > 0) {
		uint32_t end = line - 1, start = end;
		while (start > 0 && text[start - 1] != '\n')
			start--;
		const char *first = text + start;
		while (first < text + end && (*first == ' ' || *first == '\t'))
			first++;
		size_t left = (size_t)(text + end - first);
		if (left >= 2 && memcmp(first, "//", 2) == 0) {
			line = start;
			continue;
		}
		if (left < 2 || memcmp(text + end - 2, "*/", 2) != 0)
			break;
		while (start > 0 && (start + 1 >= end || memcmp(text + start, "/*", 2) != 0)) {
			if (text[start] == '\n' && memmem(text + start, end - start, "/*", 2))
				break;
			start--;
		}
		line = text[start] == '\n' ? start + 1 : start;
		while (line > 0 && text[line - 1] != '\n')
			line--;
	}
	return line;
}

uint32_t lines_start(const char *text, uint32_t offset)
{
	while (offset > 0 && text[offset - 1] != '\n')
		offset--;
	return offset;
}

static bool ends_with(const char *text, uint32_t end, const char *word)
{
	size_t size = strlen(word);
	return end >= size && memcmp(text + end - size, word, size) == 0;
}

uint32_t lines_first(const char *text, uint32_t start)
{
	for (uint32_t at = start;;) {
		while (at > 0 && isspace((unsigned char)text[at - 1]))
			at--;
		if (ends_with(text, at, "]]")) {
			while (at > 0 && !ends_with(text, at, "[["))
				at--;
			at -= at > 0 ? 2 : 0;
		} else if (ends_with(text, at, "extern \"C\"")) {
			at -= (uint32_t)strlen("extern \"C\"");
		} else {
			break;
		}
		start = at;
	}
	return before_comment(text, lines_start(text, start));
}
