/* What the user typed, as shown in a message: in quotes, shortened. */
#ifndef UI_EXPLORE_QUOTE_H
#define UI_EXPLORE_QUOTE_H

#include <stddef.h>

enum { QUOTE_BYTES = 120 };

/* Writes 'text' in single quotes into `shown`; what is too long ends in "...",
 * between characters of UTF-8; control characters become '?', so that a
 * message is one line and no terminal command. Returns `shown`. */
const char *quote_text(char shown[QUOTE_BYTES], const char *text, size_t length);

/* Lives as long as the full expression's block; one use per argument. */
#define QUOTE(text) quote_text((char[QUOTE_BYTES]){ 0 }, (text), strlen(text))

#endif
