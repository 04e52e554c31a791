/* Adds quotes to a text, for a message or for a shell, and removes a user's quotes. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stddef.h>
#include <string.h>

#include "base/buffer.h"

enum { QUOTE_BYTES = 120 };

/* Writes 'text' in single quotes into `shown`, and returns `shown`. A text that is too long is cut between UTF-8
 * characters and ends in "...". Control characters become '?', so that a message is one line without terminal
 * commands. */
const char *quote_text(char shown[QUOTE_BYTES], const char *text, size_t length);

/* The result is valid until the end of the enclosing block. Each use has its own memory. */
#define QUOTE(text) quote_text((char[QUOTE_BYTES]){ 0 }, (text), strlen(text))

/* Returns the quotation mark for the name of a file in a message: none for "standard input", which is no file. */
static inline const char *quote_mark(const char *name)
{
	return strcmp(name, "standard input") == 0 ? "" : "'";
}

/* Appends a word as a shell reads it: in single quotes, unless all of its characters are plain. */
void quote_for_shell(struct buffer *line, const char *word);

/* Removes the white space and one pair of quotes around `text`. Returns a pointer into `text`, and sets *bare_length
 * to the number of bytes that remain. The quotes of 'lambda'()::'lambda' are not a pair, and remain. */
const char *quote_strip(const char *text, size_t length, size_t *bare_length);

#endif
