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
	bool is_new;
	int64_t id = HASH_MAP_ITEM(&places->by_place, (uint64_t)outer << 32 | frame, places->items, places->capacity,
				   places->count, &is_new);
	if (is_new)
		places->items[id] = (struct place){ outer, frame };
	return id;
}

int places_init(struct places *places, const struct call_paths *paths)
{
	*places = (struct places){ .paths = paths };
	hash_map_init(&places->by_place);
	places->of_path = malloc((paths->count + 1) * sizeof(*places->of_path));
	places->caller = malloc((paths->count + 1) * sizeof(*places->caller));
	if (!places->of_path || !places->caller)
		return ERROR_MEMORY;
	/* Parents have smaller ids. */
	for (uint32_t i = 1; i < paths->count; i++) {
		uint32_t parent = paths->parent[i];
		bool has_outer = is_inlined(paths, i);
		int64_t place =
			place_below(places, has_outer ? places->of_path[parent] : PROFILE_NONE, paths->frame[i]);
		places->caller[i] = has_outer ? places->caller[parent] : parent;
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
	free(places->caller);
	hash_map_release(&places->by_place);
}

bool *places_used(const struct places *places, const struct path_hit *hits, size_t count)
{
	size_t path_count = places->paths->count;
	bool *paths = calloc(path_count + 1, sizeof(*paths)), *used = calloc(places->count + 1, sizeof(*used));
	for (size_t i = 0; paths && i < count; i++)
		paths[hits[i].path] = true;
	for (size_t i = path_count; paths && used && i-- > 1;)
		if (paths[i])
			paths[places->caller[i]] = used[places->of_path[i]] = true;
	if (!paths) {
		free(used);
		used = NULL;
	}
	free(paths);
	return used;
}
