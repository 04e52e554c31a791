/*
 * A table of distinct strings. Each has a number, counted from 0 in the order of first use; string 0 is always "".
 * Strings are valid until strings_release; their addresses do not change.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct strings {
	const char **texts; /* texts[id], each NUL-terminated, in memory of the chunks */
	uint32_t *lengths;  /* without the NUL */
	size_t count;
	size_t text_capacity;
	size_t length_capacity;
	struct strings_chunk *chunk; /* memory of the texts, newest first */
	struct hash_map by_hash;
};

/* Returns 0 or ERROR_MEMORY. */
int strings_init(struct strings *strings);
void strings_release(struct strings *strings);

/* Returns the id of a string, which is added if it is new, ERROR_MEMORY, or ERROR_LIMIT (2^31 strings, or a string
 * of 2^31 bytes). */
int64_t strings_add(struct strings *strings, const char *text, size_t length);

/* Returns the id of a string, or ERROR_NOT_FOUND. */
int64_t strings_find(const struct strings *strings, const char *text, size_t length);

/* Returns the string of an id, or "" if the id does not exist. */
static inline const char *strings_get(const struct strings *strings, uint32_t id)
{
	return id < strings->count ? strings->texts[id] : "";
}

/* Returns its bytes, without the NUL. */
static inline size_t strings_length(const struct strings *strings, uint32_t id)
{
	return id < strings->count ? strings->lengths[id] : 0;
}

#endif
