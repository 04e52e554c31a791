/* The numbers of a table's entries by keys of four numbers. Life cycle: all zero, key_index_add..., key_index_release. */
#ifndef ANALYZE_KEY_INDEX_H
#define ANALYZE_KEY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct key_index_key {
	uint32_t a, b, c, d;
};

struct key_index {
	struct hash_map map;
	struct key_index_key *keys; /* per entry; owned */
	size_t capacity;
};

/* Returns the entry with that key; or `count`, the number of entries, which the key then has: the caller appends that entry.
 * Returns ERROR_MEMORY or ERROR_LIMIT on failure. */
int64_t key_index_add(struct key_index *index, const struct key_index_key *key, size_t count);
void key_index_release(struct key_index *index);

#endif
