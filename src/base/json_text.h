/*
 * JSON (RFC 8259) from outside, read by libjansson into its tree, which the caller releases with
 * json_decref. The library refuses text behind the value, bytes that are not UTF-8, halves of
 * surrogate pairs, NULs in keys, whole numbers outside of 64 bits, other numbers outside of double,
 * and more than 2048 levels. The number of values is bounded by the process's memory
 * (base/memory_limit.h): a value takes about 40 bytes, a member about 150.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

enum json_text_flag {
	JSON_TEXT_ONE_KEY = 1 << 0, /* equal keys of an object are an error; otherwise the last one counts */
	JSON_TEXT_REALS = 1 << 1,   /* numbers are doubles, so that whole numbers of more than 64 bits are accepted */
	/* A file that begins with '[' may end behind an element or a ',', as a program leaves it that was killed. */
	JSON_TEXT_OPEN_ARRAY = 1 << 2,
};

/* `flags`: enum json_text_flag. Returns the value, or NULL, and then sets `error`: ERROR_FORMAT
 * with "not JSON at byte N: REASON", or ERROR_MEMORY. */
json_t *json_text_read(const char *text, size_t size, unsigned flags, struct error *error);

/* The same for the rest of a file, which alone may have JSON_TEXT_OPEN_ARRAY. A failure of reading sets the error from errno. */
json_t *json_text_read_file(FILE *in, unsigned flags, struct error *error);

/* Returns a string that contains no NUL, or NULL: also if `value` is NULL or no string. It belongs to the value. */
const char *json_text_string(const json_t *value);

#endif
