#include "base/hash_map.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/error.h"

enum { FIRST_SLOTS = 32 };

void hash_map_init(struct hash_map *map)
{
	*map = (struct hash_map){ 0 };
}

void hash_map_release(struct hash_map *map)
{
	free(map->slots);
	hash_map_init(map);
}

void hash_map_clear(struct hash_map *map)
{
	for (size_t i = 0; i < map->slot_count; i++)
		map->slots[i].value = HASH_MAP_NONE;
	map->count = 0;
}

/* Returns the slot that holds `key`, or the free slot for it. The map has slots. */
static struct hash_map_slot *slot_of(const struct hash_map *map, uint64_t key)
{
	size_t mask = map->slot_count - 1;
	size_t at = (size_t)hash_u64(key) & mask;
	while (map->slots[at].value != HASH_MAP_NONE && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static int resize(struct hash_map *map, size_t slot_count)
{
	if (slot_count > SIZE_MAX / sizeof(*map->slots))
		return ERROR_MEMORY;
	struct hash_map grown = { .slots = malloc(slot_count * sizeof(*map->slots)), .slot_count = slot_count };
	if (!grown.slots)
		return ERROR_MEMORY;
	hash_map_clear(&grown);
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].value != HASH_MAP_NONE)
			*slot_of(&grown, map->slots[i].key) = map->slots[i];
	grown.count = map->count;
	free(map->slots);
	*map = grown;
	return 0;
}

int hash_map_reserve(struct hash_map *map, size_t count)
{
	size_t slot_count = map->slot_count ? map->slot_count : FIRST_SLOTS;
	while (slot_count / 2 < count) {
		if (slot_count > SIZE_MAX / 2)
			return ERROR_MEMORY;
		slot_count *= 2;
	}
	return slot_count == map->slot_count ? 0 : resize(map, slot_count);
}

uint32_t hash_map_get(const struct hash_map *map, uint64_t key)
{
	return map->slot_count ? slot_of(map, key)->value : HASH_MAP_NONE;
}

int hash_map_put(struct hash_map *map, uint64_t key, uint32_t value)
{
	int result = hash_map_reserve(map, map->count + 1);
	if (result < 0)
		return result;
	struct hash_map_slot *slot = slot_of(map, key);
	if (slot->value == HASH_MAP_NONE)
		map->count++;
	*slot = (struct hash_map_slot){ .key = key, .value = value };
	return 0;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}

int hash_map_number(struct hash_map *map, uint64_t key, uint32_t *number)
{
	*number = hash_map_get(map, key);
	if (*number != HASH_MAP_NONE)
		return 0;
	*number = (uint32_t)map->count + 1;
	int status = hash_map_put(map, key, *number);
	return status < 0 ? status : 1;
}

int64_t hash_map_item(struct hash_map *map, uint64_t key, void *items, size_t *capacity, size_t *count,
		      size_t item_bytes, bool *is_new)
{
	uint32_t known = hash_map_get(map, key);
	*is_new = false;
	if (known != HASH_MAP_NONE)
		return known;
	if (*count >= HASH_MAP_NONE)
		return ERROR_LIMIT;
	if (array_reserve(items, capacity, *count + 1, item_bytes) < 0 || hash_map_put(map, key, (uint32_t)*count) < 0)
		return ERROR_MEMORY;
	*is_new = true;
	return (int64_t)(*count)++;
}
