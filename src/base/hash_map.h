/*
 * A map from a 64-bit key to a 32-bit value: open addressing, linear probing, never more than half full. Life cycle:
 * hash_map_init (allocates no memory), hash_map_put..., hash_map_release. Single keys cannot be removed.
 */
#ifndef BASE_HASH_MAP_H
#define BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_MAP_NONE UINT32_MAX /* "no such key"; not allowed as a value */

struct hash_map {
	struct hash_map_slot *slots; /* owned; their number is a power of two */
	size_t slot_count;
	size_t count; /* keys in the map */
};

struct hash_map_slot {
	uint64_t key;
	uint32_t value; /* HASH_MAP_NONE: the slot is free */
};

void hash_map_init(struct hash_map *map);
void hash_map_release(struct hash_map *map);
void hash_map_clear(struct hash_map *map); /* removes all keys and keeps the memory */

/* Makes room for `count` keys in total. Returns 0 or ERROR_MEMORY. */
int hash_map_reserve(struct hash_map *map, size_t count);

/* Returns the value of a key, or HASH_MAP_NONE if the map does not have it. */
uint32_t hash_map_get(const struct hash_map *map, uint64_t key);

/* Adds a key or replaces its value. Returns 0, or ERROR_MEMORY with the map unchanged. */
int hash_map_put(struct hash_map *map, uint64_t key, uint32_t value);

/* For a map whose values are numbers from 1 on, in the order of their keys' first use. Stores
 * the number of a key, after giving it the next one if it had none. Returns 1 if the key is new,
 * 0 if not, or ERROR_MEMORY with the map unchanged. */
int hash_map_number(struct hash_map *map, uint64_t key, uint32_t *number);

/* For an array whose items have keys; the map has their indexes. Returns the index of a key's
 * item, which is added if it is new, not initialized and with *is_new set. Returns ERROR_MEMORY,
 * or ERROR_LIMIT if there are too many items; then *is_new is false. */
int64_t hash_map_item(struct hash_map *map, uint64_t key, void *items, size_t *capacity, size_t *count,
		      size_t item_bytes, bool *is_new);

/* HASH_MAP_ITEM(&owner->by_name, key, owner->items, owner->capacity, owner->count, &is_new) */
#define HASH_MAP_ITEM(map, key, items, capacity, count, is_new) \
	hash_map_item(map, key, (void *)&(items), &(capacity), &(count), sizeof(*(items)), is_new)

/* Returns a well-mixed hash (the finalizer of splitmix64; Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t hash_u64(uint64_t key)
{
	key ^= key >> 30;
	key *= UINT64_C(0xbf58476d1ce4e5b9);
	key ^= key >> 27;
	key *= UINT64_C(0x94d049bb133111eb);
	return key ^ (key >> 31);
}

/* Returns the XXH3 hash (Collet) of bytes. It reads many bytes at a time, and names of C++ are long. */
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
