#include "profile_file/load_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum { ROWS_OF_NODE_MOST = 16 }; /* that are searched */

struct load_sum_row {
	uint64_t hits, size; /* size: hits of each sample; 0: not of samples */
	uint32_t node, resource, labels, more_samples;
	uint32_t next; /* of the node, as in `first` */
};

int load_sums_init(struct load_sums *sums, const struct profile *profile)
{
	*sums = (struct load_sums){ .first = calloc(profile->node_count, sizeof(*sums->first)) };
	return sums->first ? 0 : ERROR_MEMORY;
}

void load_sums_release(struct load_sums *sums)
{
	free(sums->rows);
	free(sums->first);
}

static uint64_t size_of(const struct profile *profile, const struct profile_hit *hit)
{
	if (profile->resources[hit->resource].kind != RESOURCE_SAMPLED)
		return 0;
	return hit->more_samples == 0 ? hit->count : hit->count / (UINT64_C(1) + hit->more_samples);
}

/* Adds to the row of such hits. Returns false if there is none with room. */
static bool add_to_row(struct load_sums *sums, const struct profile_hit *hit, uint64_t size, uint32_t labels)
{
	uint32_t at = sums->first[hit->node];
	for (int i = 0; at > 0 && i < ROWS_OF_NODE_MOST; i++) {
		struct load_sum_row *row = &sums->rows[at - 1];
		bool has_room = hit->more_samples < UINT32_MAX - row->more_samples;
		if (row->resource == hit->resource && row->size == size && row->labels == labels && has_room) {
			row->hits += hit->count;
			row->more_samples += size ? 1 + hit->more_samples : 0;
			return true;
		}
		at = row->next;
	}
	return false;
}

/* The node's first row, which is that of most hits, stays in front. */
static int add_row(struct load_sums *sums, const struct profile_hit *hit, uint64_t size, uint32_t labels)
{
	if (sums->count >= UINT32_MAX - 1)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(sums->rows, sums->capacity, sums->count + 1) < 0)
		return ERROR_MEMORY;
	uint32_t *first = &sums->first[hit->node];
	uint32_t *link = *first > 0 ? &sums->rows[*first - 1].next : first;
	sums->rows[sums->count++] = (struct load_sum_row){ .hits = hit->count,
							   .size = size,
							   .node = hit->node,
							   .resource = hit->resource,
							   .labels = labels,
							   .more_samples = size ? hit->more_samples : 0,
							   .next = *link };
	*link = (uint32_t)sums->count;
	return 0;
}

int load_sums_add(struct load_sums *sums, const struct profile *profile, const struct profile_hit *hits, size_t count,
		  uint64_t number)
{
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++) {
		uint64_t size = size_of(profile, &hits[i]);
		uint32_t labels = profile_hit_labels(profile, number + i);
		if (!add_to_row(sums, &hits[i], size, labels))
			status = add_row(sums, &hits[i], size, labels);
	}
	return status;
}

int load_sums_finish(const struct load_sums *sums, size_t count, size_t bytes, struct profile *profile)
{
	size_t rows = 0, at = 0;
	for (size_t i = 0; i < count; i++)
		rows += ((const struct load_sums *)((const char *)sums + i * bytes))->count;
	bool has_labels = profile->hit_label_count > 0;
	uint32_t *labels = has_labels ? malloc((rows + 1) * sizeof(*labels)) : NULL;
	if ((has_labels && !labels) || profile_reserve_hits(profile, rows) < 0) {
		free(labels);
		return ERROR_MEMORY;
	}
	for (size_t i = 0; i < count; i++) {
		const struct load_sums *part = (const struct load_sums *)((const char *)sums + i * bytes);
		for (size_t row = 0; row < part->count; row++, at++) {
			const struct load_sum_row *sum = &part->rows[row];
			profile->hits[at] = (struct profile_hit){ .count = sum->hits,
								  .node = sum->node,
								  .thread = PROFILE_NONE,
								  .resource = sum->resource,
								  .more_samples = sum->more_samples };
			if (labels)
				labels[at] = sum->labels;
		}
	}
	profile->hit_count = rows;
	free(profile->hit_labels);
	profile->hit_labels = labels;
	profile->hit_label_count = profile->hit_label_capacity = has_labels ? rows : 0;
	return 0;
}
