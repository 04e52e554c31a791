#include "collect/sample/state/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/lower_bound.h"

void maps_release(struct maps *maps)
{
	free(maps->items);
	*maps = (struct maps){ 0 };
}

void maps_clear(struct maps *maps)
{
	maps->count = 0;
}

int maps_copy(struct maps *maps, const struct maps *from)
{
	if (ARRAY_RESERVE(maps->items, maps->capacity, from->count) < 0)
		return ERROR_MEMORY;
	if (from->count > 0)
		memcpy(maps->items, from->items, from->count * sizeof(*maps->items));
	maps->count = from->count;
	return 0;
}

size_t maps_first_above(const struct maps *maps, uint64_t address)
{
	return LOWER_BOUND(i, 0, maps->count, maps->items[i].end <= address);
}

struct mapping *maps_at(const struct maps *maps, uint64_t address)
{
	size_t at = maps_first_above(maps, address);
	return at < maps->count && maps->items[at].start <= address ? &maps->items[at] : NULL;
}

static void insert_at(struct maps *maps, size_t at, const struct mapping *mapping)
{
	memmove(&maps->items[at + 1], &maps->items[at], (maps->count - at) * sizeof(*maps->items));
	maps->items[at] = *mapping;
	maps->count++;
}

/* Removes the part before `start`. */
static void cut_front(struct mapping *mapping, uint64_t start)
{
	mapping->file_offset += start - mapping->start;
	mapping->start = start;
}

int maps_remove(struct maps *maps, uint64_t start, uint64_t end)
{
	if (ARRAY_RESERVE(maps->items, maps->capacity, maps->count + 1) < 0)
		return ERROR_MEMORY;
	size_t at = maps_first_above(maps, start);
	if (at < maps->count && maps->items[at].start < start) {
		struct mapping before = maps->items[at];
		before.end = start;
		insert_at(maps, at++, &before);
		cut_front(&maps->items[at], start);
	}
	size_t covered = 0;
	while (at + covered < maps->count && maps->items[at + covered].end <= end)
		covered++;
	memmove(&maps->items[at], &maps->items[at + covered], (maps->count - at - covered) * sizeof(*maps->items));
	maps->count -= covered;
	if (at < maps->count && maps->items[at].start < end)
		cut_front(&maps->items[at], end);
	return 0;
}

int maps_insert(struct maps *maps, const struct mapping *mapping)
{
	if (ARRAY_RESERVE(maps->items, maps->capacity, maps->count + 2) < 0)
		return ERROR_MEMORY;
	maps_remove(maps, mapping->start, mapping->end);
	insert_at(maps, maps_first_above(maps, mapping->start), mapping);
	return 0;
}
