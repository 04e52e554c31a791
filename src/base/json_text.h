/*
 * JSON (RFC 8259) from outside, read by libjansson into its tree, which the caller releases with
 * json_decref. The library refuses text behind the value, bytes that are not UTF-8, halves of
 * surrogate pairs, NULs in keys, whole numbers outside of 64 bits, other numbers outside of double,
 * and more than 2048 levels. The number of values is bounded by the process's memory
 * (base/memory_limit.h): a value takes about 40 bytes, a member about 150. json_document.h
 * has large documents.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum json_text_flag {
	JSON_TEXT_ONE_KEY = 1 << 0, /* equal keys of an object are an error; otherwise the last one counts */
	JSON_TEXT_REALS = 1 << 1,   /* numbers are doubles, so that whole numbers of more than 64 bits are accepted */
};

/* `flags`: enum json_text_flag. Returns the value, or NULL, and then sets `error`: ERROR_FORMAT
 * with "not JSON at byte N: REASON", or ERROR_MEMORY. */
json_t *json_text_read(const char *text, size_t size, unsigned flags, struct error *error);

/* The place of a text in a file: its first byte is byte `offset`. Errors name a byte up to `most`. */
struct json_text_place {
	uint64_t offset, most;
};

/* The same for a part of a file. */
json_t *json_text_read_part(const char *text, size_t size, unsigned flags, const struct json_text_place *place,
			    struct error *error);

/* Returns a string that contains no NUL, or NULL: also if `value` is NULL or no string. It belongs to the value. */
const char *json_text_string(const json_t *value);

#endif
