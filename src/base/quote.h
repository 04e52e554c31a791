/* Quotes put around what the user typed, and taken off it. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stddef.h>

enum { QUOTE_BYTES = 120 };

/* Writes 'text' in single quotes into `shown`; what is too long ends in "...",
 * between characters of UTF-8; control characters become '?', so that a
 * message is one line and no terminal command. Returns `shown`. */
const char *quote_text(char shown[QUOTE_BYTES], const char *text, size_t length);

/* Lives as long as the full expression's block; one use per argument. */
#define QUOTE(text) quote_text((char[QUOTE_BYTES]){ 0 }, (text), strlen(text))

/* Returns the bytes of `text` without the white space and the one pair of
 * quotes around them, a pointer into `text`; their number is in *bare_length.
 * 'lambda'()::'lambda' keeps its own. */
const char *quote_strip(const char *text, size_t length, size_t *bare_length);

#endif
