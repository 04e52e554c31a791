#include "formats/places.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

static bool is_inlined(const struct call_paths *paths, uint32_t path)
{
	return paths->parent[path] != 0 && paths->frames[paths->frame[path]].inlined;
}

static int64_t place_below(struct places *places, uint32_t outer, uint32_t frame)
{
	uint64_t key = (uint64_t)outer << 32 | frame;
	uint32_t known = hash_map_get(&places->by_place, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(places->items, places->capacity, places->count + 1) < 0 ||
	    hash_map_put(&places->by_place, key, (uint32_t)places->count) < 0)
		return ERROR_MEMORY;
	places->items[places->count] = (struct place){ outer, frame };
	return (int64_t)places->count++;
}

int places_init(struct places *places, const struct call_paths *paths)
{
	*places = (struct places){ .paths = paths };
	hash_map_init(&places->by_place);
	places->of_path = malloc((paths->count + 1) * sizeof(*places->of_path));
	if (!places->of_path)
		return ERROR_MEMORY;
	/* Parents have smaller ids. */
	for (uint32_t i = 1; i < paths->count; i++) {
		uint32_t outer = is_inlined(paths, i) ? places->of_path[paths->parent[i]] : PROFILE_NONE;
		int64_t place = place_below(places, outer, paths->frame[i]);
		if (place < 0)
			return (int)place;
		places->of_path[i] = (uint32_t)place;
	}
	return 0;
}

void places_release(struct places *places)
{
	free(places->items);
	free(places->of_path);
	hash_map_release(&places->by_place);
}

uint32_t places_caller(const struct places *places, uint32_t path)
{
	while (is_inlined(places->paths, path))
		path = places->paths->parent[path];
	return places->paths->parent[path];
}
