#include "analyze/key_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

int64_t key_index_add(struct key_index *index, const struct key_index_key *key, size_t count)
{
	uint64_t hash = hash_bytes(key, sizeof(*key));
	uint32_t found;
	for (; (found = hash_map_get(&index->map, hash)) != HASH_MAP_NONE; hash++)
		if (memcmp(&index->keys[found], key, sizeof(*key)) == 0)
			return found;
	if (count >= HASH_MAP_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(index->keys, index->capacity, count + 1) < 0 ||
	    hash_map_put(&index->map, hash, (uint32_t)count) < 0)
		return ERROR_MEMORY;
	index->keys[count] = *key;
	return (int64_t)count;
}

void key_index_release(struct key_index *index)
{
	hash_map_release(&index->map);
	free(index->keys);
}
