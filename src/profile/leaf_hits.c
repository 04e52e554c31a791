#include "profile/leaf_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int grow_rows(struct leaf_hits *leaf_hits, size_t count)
{
	if (count <= leaf_hits->count)
		return 0;
	struct leaf_hits_row *rows = realloc(leaf_hits->rows, count * sizeof(*rows));
	if (!rows)
		return ERROR_MEMORY;
	memset(rows + leaf_hits->count, 0, (count - leaf_hits->count) * sizeof(*rows));
	leaf_hits->rows = rows;
	leaf_hits->count = count;
	return 0;
}

static int grow_row(struct leaf_hits_row *row, size_t count)
{
	if (count <= row->count)
		return 0;
	size_t room = count + count / 2;
	uint64_t *hits = realloc(row->hits, room * sizeof(*hits));
	if (!hits)
		return ERROR_MEMORY;
	memset(hits + row->count, 0, (room - row->count) * sizeof(*hits));
	row->hits = hits;
	row->count = room;
	return 0;
}

/* Returns the location of the innermost frame outside of the kernel, whose functions have names of their own; PROFILE_NONE: a hit without a
 * path. */
static uint32_t leaf_of(const struct profile *profile, uint32_t node)
{
	uint32_t location = profile->nodes[node].location;
	while (location != PROFILE_NONE &&
	       profile->modules[profile->locations[location].module].kind == MODULE_KERNEL) {
		node = profile->nodes[node].parent;
		location = profile->nodes[node].location;
	}
	return location;
}

int leaf_hits_add(struct leaf_hits *leaf_hits, const struct profile *profile)
{
	if (grow_rows(leaf_hits, profile->resource_count) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		struct leaf_hits_row *row = &leaf_hits->rows[hit->resource];
		uint32_t location = leaf_of(profile, hit->node);
		row->all += hit->count;
		if (location == PROFILE_NONE)
			continue;
		if (grow_row(row, (size_t)location + 1) < 0)
			return ERROR_MEMORY;
		row->hits[location] += hit->count;
	}
	return 0;
}

void leaf_hits_release(struct leaf_hits *leaf_hits)
{
	for (size_t i = 0; i < leaf_hits->count; i++)
		free(leaf_hits->rows[i].hits);
	free(leaf_hits->rows);
	*leaf_hits = (struct leaf_hits){ 0 };
}
