#include "store/row_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

static uint64_t hash_of(const struct row_sum *row)
{
	uint64_t hash = hash_u64((uint64_t)row->node << 32 | row->resource);
	return hash_u64(hash ^ row->size ^ (uint64_t)row->labels << 40);
}

static bool are_one_row(const struct row_sum *a, const struct row_sum *b)
{
	return a->node == b->node && a->resource == b->resource && a->labels == b->labels && a->size == b->size;
}

/* Two different rows with one hash are rare. Those like the second one then stay apart. */
int row_sums_add(struct row_sums *sums, const struct row_sum *row)
{
	if (row->hits > PROFILE_HITS_MOST - sums->hits)
		return ERROR_LIMIT;
	uint64_t hash = hash_of(row);
	uint32_t found = hash_map_get(&sums->index, hash);
	if (found != HASH_MAP_NONE && are_one_row(&sums->items[found], row)) {
		sums->items[found].hits += row->hits;
		sums->hits += row->hits;
		return 0;
	}
	if (sums->count >= HASH_MAP_NONE || ARRAY_RESERVE(sums->items, sums->capacity, sums->count + 1) < 0)
		return ERROR_MEMORY;
	if (found == HASH_MAP_NONE && hash_map_put(&sums->index, hash, (uint32_t)sums->count) < 0)
		return ERROR_MEMORY;
	sums->items[sums->count++] = *row;
	sums->hits += row->hits;
	return 0;
}

/* A row of the profile holds at most 2^32 samples. `most`: hits that the profile may have. */
static int put_row(struct profile *profile, const struct row_sum *row, size_t most)
{
	struct profile_hit hit = { .node = row->node, .resource = row->resource, .thread = PROFILE_NONE };
	uint64_t left = row->size ? row->hits / row->size : 1; /* samples; readers check that they have equal sizes */
	int status = 0;
	while (left > 0 && status == 0) {
		uint64_t samples = left < UINT32_MAX ? left : UINT32_MAX;
		hit.count = row->size ? samples * row->size : row->hits;
		hit.more_samples = (uint32_t)(samples - 1);
		left -= samples;
		size_t first = profile->hit_count;
		if (first >= most)
			return ERROR_LIMIT;
		status = profile_add_hit_row(profile, &hit);
		if (status == 0 && row->labels != PROFILE_NO_LABELS)
			status = profile_label_hits(profile, first, row->labels);
	}
	return status;
}

int row_sums_put(struct row_sums *sums, struct profile *profile, uint64_t memory)
{
	size_t most = memory ? memory / sizeof(struct profile_hit) : SIZE_MAX, count = profile->hit_count + sums->count;
	hash_map_release(&sums->index); /* the profile's hits need the memory */
	int status = count > most ? ERROR_LIMIT : 0;
	if (status == 0 && sums->count > 0)
		status = profile_reserve_hits(profile, count);
	for (size_t i = 0; i < sums->count && status == 0; i++)
		status = put_row(profile, &sums->items[i], most);
	sums->count = 0;
	return status;
}

void row_sums_release(struct row_sums *sums)
{
	free(sums->items);
	hash_map_release(&sums->index);
	*sums = (struct row_sums){ 0 };
}
