#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum { CHUNK_BYTES = 64 * 1024 };

struct strings_chunk {
	struct strings_chunk *older;
	size_t used;
	size_t capacity;
	char bytes[];
};

int strings_init(struct strings *strings)
{
	*strings = (struct strings){ 0 };
	hash_map_init(&strings->by_hash);
	int64_t empty = strings_add(strings, "", 0);
	if (empty < 0) {
		strings_release(strings);
		return (int)empty;
	}
	return 0;
}

void strings_release(struct strings *strings)
{
	while (strings->chunk) {
		struct strings_chunk *older = strings->chunk->older;
		free(strings->chunk);
		strings->chunk = older;
	}
	free(strings->texts);
	free(strings->lengths);
	hash_map_release(&strings->by_hash);
	*strings = (struct strings){ 0 };
}

/* Returns a copy of the text with a NUL behind it, in the newest chunk, or NULL if there is no memory. */
static char *copy_text(struct strings *strings, const char *text, size_t length)
{
	struct strings_chunk *chunk = strings->chunk;
	if (!chunk || chunk->capacity - chunk->used < length + 1) {
		size_t capacity = length + 1 > CHUNK_BYTES ? length + 1 : CHUNK_BYTES;
		chunk = malloc(sizeof(*chunk) + capacity);
		if (!chunk)
			return NULL;
		*chunk = (struct strings_chunk){ .older = strings->chunk, .capacity = capacity };
		strings->chunk = chunk;
	}
	char *copy = chunk->bytes + chunk->used;
	memcpy(copy, text, length);
	copy[length] = 0;
	chunk->used += length + 1;
	return copy;
}

/* Returns the id of a string, or HASH_MAP_NONE with *key set to the key that it would get. */
static uint32_t find(const struct strings *strings, const char *text, size_t length, uint64_t *key)
{
	/* If another text has the same 64-bit hash, the next key is tried. */
	*key = hash_bytes(text, length);
	uint32_t id;
	while ((id = hash_map_get(&strings->by_hash, *key)) != HASH_MAP_NONE) {
		if (strings->lengths[id] == length && memcmp(strings->texts[id], text, length) == 0)
			break;
		(*key)++;
	}
	return id;
}

int64_t strings_find(const struct strings *strings, const char *text, size_t length)
{
	uint64_t key;
	uint32_t id = find(strings, text, length, &key);
	return id == HASH_MAP_NONE ? ERROR_NOT_FOUND : (int64_t)id;
}

int64_t strings_add(struct strings *strings, const char *text, size_t length)
{
	if (length > INT32_MAX || strings->count > INT32_MAX)
		return ERROR_LIMIT;
	uint64_t key;
	uint32_t id = find(strings, text, length, &key);
	if (id != HASH_MAP_NONE)
		return id;
	if (ARRAY_RESERVE(strings->texts, strings->text_capacity, strings->count + 1) < 0 ||
	    ARRAY_RESERVE(strings->lengths, strings->length_capacity, strings->count + 1) < 0)
		return ERROR_MEMORY;
	const char *copy = copy_text(strings, text, length);
	if (!copy || hash_map_put(&strings->by_hash, key, (uint32_t)strings->count) < 0)
		return ERROR_MEMORY;
	strings->texts[strings->count] = copy;
	strings->lengths[strings->count] = (uint32_t)length;
	return (int64_t)strings->count++;
}
