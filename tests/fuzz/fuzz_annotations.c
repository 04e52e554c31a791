/* Arbitrary bytes as source text: the annotations of a function, and the words. The first two bytes choose where
 * the function and its body begin. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/source/instrument/lexing.h"
#include "collect/source/instrument/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_at_words(const char *text, size_t size)
{
	const char *end = text + size;
	size_t bytes = 0;
	for (struct lexing_token token = lexing_next(text, end); token.size;
	     token = lexing_next(token.start + token.size, end)) {
		bytes += token.size;
		if (token.start < text || token.start + token.size > end || bytes > size)
			abort();
	}
	lexing_find(text, end, "off");
	lexing_has_attribute(text, end, "naked");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	size_t length = size - 2;
	char *text = malloc(length + !length);
	struct instrument_arena *arena = instrument_arena_new();
	if (!text || !arena)
		abort();
	memcpy(text, bytes + 2, length);
	size_t open = length * bytes[0] / 255, start = open * bytes[1] / 255;
	struct annotation annotation = { 0 };
	annotation_parse(&annotation, text, length, arena);
	annotation_find(&annotation, text, start, open, arena);
	if (annotation.level < 0 || annotation.level > 4 || (annotation.group && strchr(annotation.group, '\n')) ||
	    (annotation.hook && strchr(annotation.hook, '\n')))
		abort();
	look_at_words(text, length);
	instrument_arena_free(arena);
	free(text);
	return 0;
}
