/*
 * Growth of plain arrays. An array is three fields of its owner: `items`, `count` and `capacity`. These calls only
 * enlarge the memory.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Makes room for `need` items of `item_bytes` each at *items, which is NULL at first. Growth at least doubles
 * *capacity. Returns 0, or ERROR_MEMORY (also if the size would overflow), after which the old memory is still
 * valid. */
int array_reserve(void *items, size_t *capacity, size_t need, size_t item_bytes);

/* ARRAY_RESERVE(owner->nodes, owner->node_capacity, owner->node_count + 1) */
#define ARRAY_RESERVE(items, capacity, need) array_reserve((void *)&(items), &(capacity), (need), sizeof(*(items)))

#endif
