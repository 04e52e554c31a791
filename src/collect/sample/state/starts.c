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
	bool is_new;
	int64_t index = HASH_MAP_ITEM(&starts->by_tid, tid, starts->items, starts->capacity, starts->count, &is_new);
	if (index < 0)
		return (int)index;
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
