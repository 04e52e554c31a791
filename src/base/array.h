/*
 * Growth of plain arrays. An array is three fields of its owner, `items`,
 * `count`, `capacity`; these calls only enlarge the memory.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Makes room for `need` items of `item_bytes` each at *items (NULL at first),
 * at least doubling *capacity. The old memory stays valid on failure.
 * Returns 0 or ERROR_MEMORY (also when the size would overflow). */
int array_reserve(void *items, size_t *capacity, size_t need, size_t item_bytes);

/* ARRAY_RESERVE(owner->nodes, owner->node_capacity, owner->node_count + 1) */
#define ARRAY_RESERVE(items, capacity, need) array_reserve((void *)&(items), &(capacity), (need), sizeof(*(items)))

#endif
