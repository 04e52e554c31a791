/* Writes strings of JSON (RFC 8259). */
#ifndef BASE_JSON_STRING_H
#define BASE_JSON_STRING_H

#include <stdio.h>

#include "base/buffer.h"

/* Writes "text", quoted and escaped: also what could do harm on a terminal (base/safe_text.h).
 * Invalid UTF-8 becomes U+FFFD. */
void json_string_write(FILE *out, const char *text);
/* Appends the same to a buffer. */
void json_string_append(struct buffer *out, const char *text);

#endif
