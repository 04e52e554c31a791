/*
 * A table of distinct strings, each named by a number that counts up from 0
 * in order of first use. String 0 is always "". Strings live until
 * strings_release; their addresses do not move.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct strings {
	const char **texts; /* texts[id], each NUL-terminated, owned by `chunk`s */
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

/* The id of a string, added if new; negative: ERROR_MEMORY or ERROR_LIMIT
 * (2^31 strings, or one of 2^31 bytes). */
int64_t strings_add(struct strings *strings, const char *text, size_t length);

/* The string of an id; "" for an id that does not exist. */
static inline const char *strings_get(const struct strings *strings, uint32_t id)
{
	return id < strings->count ? strings->texts[id] : "";
}

#endif
