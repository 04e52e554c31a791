#include "collect/sample/state/starts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "profile/profile.h"

void starts_init(struct starts *starts)
{
	*starts = (struct starts){ 0 };
	hash_map_init(&starts->by_tid);
}

void starts_release(struct starts *starts)
{
	free(starts->items);
	hash_map_release(&starts->by_tid);
}

int starts_put(struct starts *starts, uint32_t tid, const struct start *start)
{
	uint32_t index = hash_map_get(&starts->by_tid, tid);
	if (index == HASH_MAP_NONE) {
		index = (uint32_t)starts->count;
		if (ARRAY_RESERVE(starts->items, starts->capacity, starts->count + 1) < 0 ||
		    hash_map_put(&starts->by_tid, tid, index) < 0)
			return ERROR_MEMORY;
		starts->count++;
	}
	starts->items[index] = *start;
	return 0;
}

struct start starts_take(struct starts *starts, uint32_t tid)
{
	struct start none = { .node = PROFILE_ROOT };
	uint32_t index = hash_map_get(&starts->by_tid, tid);
	if (index == HASH_MAP_NONE)
		return none;
	struct start taken = starts->items[index];
	starts->items[index] = none;
	return taken;
}
