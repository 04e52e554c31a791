#include "store/batch_rows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/hash_map.h"

/* A hit of the recording, to be sorted and added up. */
struct raw {
	uint32_t resource, thread, labels, node;
	int64_t bucket;
	uint64_t hits, size, samples;
	uint64_t address; /* touches only */
	uint32_t mapping;
	uint32_t group; /* in sort_raw */
};

static int64_t bucket_of(const struct batch *batch, uint64_t time_ns, int64_t bucket_ns)
{
	uint64_t start_ns = batch->profile->start_ns;
	if (time_ns == 0)
		return BATCH_NO_TIME;
	int64_t since_ns = time_ns > start_ns ? (int64_t)(time_ns - start_ns) : 0;
	return batch_rounded_down(batch->start_unix_ns + since_ns, bucket_ns) - batch->first_bucket;
}

static int compare_series(const struct raw *a, const struct raw *b)
{
	return COMPARE(a->resource, b->resource) ?: COMPARE(a->thread, b->thread) ?: COMPARE(a->labels, b->labels);
}

static int compare(const void *left, const void *right)
{
	const struct raw *a = left, *b = right;
	return compare_series(a, b) ?: COMPARE(a->bucket, b->bucket) ?: COMPARE(a->node, b->node) ?:
	       COMPARE(a->size, b->size) ?: COMPARE(a->mapping, b->mapping) ?: COMPARE(a->address, b->address);
}

/* --- order --- */

/* Rows of one resource, thread, label set and bucket: there are far fewer of them than hits. */
struct group {
	struct raw first; /* one of its rows; `group` is its number */
	size_t count, at; /* its rows, and the place of its next one in the sorted array */
};

struct groups {
	struct group *items; /* owned */
	size_t count, capacity;
	struct hash_map threads, label_sets, buckets; /* each key has the number of the one before and 32 bits */
};

/* Gives a row the number of its group. Returns 0, ERROR_MEMORY, or ERROR_LIMIT if its bucket does not fit into 32 bits. */
static int number_group(struct groups *groups, struct raw *row)
{
	uint32_t thread, labels, bucket;
	uint64_t after = (uint64_t)row->bucket + 1;
	if (after > UINT32_MAX)
		return ERROR_LIMIT;
	int status = hash_map_number(&groups->threads, (uint64_t)row->resource << 32 | row->thread, &thread);
	if (status >= 0)
		status = hash_map_number(&groups->label_sets, (uint64_t)thread << 32 | row->labels, &labels);
	if (status >= 0)
		status = hash_map_number(&groups->buckets, (uint64_t)labels << 32 | after, &bucket);
	if (status > 0 && ARRAY_RESERVE(groups->items, groups->capacity, groups->count + 1) < 0)
		return ERROR_MEMORY;
	if (status < 0)
		return status;
	row->group = bucket - 1;
	if (status > 0)
		groups->items[groups->count++] = (struct group){ .first = *row };
	groups->items[row->group].count++;
	return 0;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	return compare(&a->first, &b->first);
}

/* Sets the places at which the rows of each group begin. `places` [groups->count], by number. */
static void place_groups(struct groups *groups, size_t *places)
{
	size_t place = 0;
	if (groups->count > 1)
		qsort(groups->items, groups->count, sizeof(*groups->items), compare_groups);
	for (size_t i = 0; i < groups->count; i++) {
		places[groups->items[i].first.group] = place;
		place += groups->items[i].count;
	}
}

/* Copies the rows in the order of their nodes. `places` [nodes], all 0. */
static void place_by_node(const struct raw *rows, size_t count, struct raw *sorted, size_t *places, size_t nodes)
{
	size_t place = 0;
	for (size_t i = 0; i < count; i++)
		places[rows[i].node]++;
	for (size_t i = 0; i < nodes; i++) {
		size_t own = places[i];
		places[i] = place;
		place += own;
	}
	for (size_t i = 0; i < count; i++)
		sorted[places[rows[i].node]++] = rows[i];
}

/* Sorts rows of one group and node, which come together, by the rest. */
static void sort_runs(struct raw *rows, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		bool is_sorted = true;
		for (end = first + 1;
		     end < count && rows[end].group == rows[first].group && rows[end].node == rows[first].node; end++)
			is_sorted = is_sorted && compare(&rows[end - 1], &rows[end]) <= 0;
		if (!is_sorted)
			qsort(rows + first, end - first, sizeof(*rows), compare);
	}
}

/* Sorts by counting: first by node, then by group. `other` and `places`: scratch memory. */
static void sort_by_counting(struct raw *rows, size_t count, struct groups *groups, struct raw *other, size_t *places,
			     size_t nodes)
{
	place_by_node(rows, count, other, places, nodes);
	place_groups(groups, places);
	for (size_t i = 0; i < count; i++)
		rows[places[other[i].group]++] = other[i];
	sort_runs(rows, count);
}

/* Sorts as `compare` orders, in a time that grows with the number of rows alone. */
static int sort_raw(const struct batch *batch, struct raw *rows, size_t count)
{
	size_t nodes = batch->profile->node_count;
	struct groups groups = { 0 };
	hash_map_init(&groups.threads);
	hash_map_init(&groups.label_sets);
	hash_map_init(&groups.buckets);
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = number_group(&groups, &rows[i]);
	struct raw *other = malloc((count + 1) * sizeof(*other));
	size_t *places = calloc(nodes > groups.count ? nodes : groups.count, sizeof(*places));
	if (status == ERROR_LIMIT)
		qsort(rows, count, sizeof(*rows), compare);
	else if (status == 0 && other && places)
		sort_by_counting(rows, count, &groups, other, places, nodes);
	status = status == ERROR_LIMIT ? 0 : status < 0 || (other && places) ? status : ERROR_MEMORY;
	free(groups.items);
	hash_map_release(&groups.threads);
	hash_map_release(&groups.label_sets);
	hash_map_release(&groups.buckets);
	free(other);
	free(places);
	return status;
}

/* Returns the number of the series of a sorted row, or a negative error. */
static int64_t series_of(struct batch *batch, const struct raw *rows, size_t at, size_t first_series)
{
	bool is_new = batch->series_count == first_series || compare_series(&rows[at], &rows[at - 1]) != 0;
	if (is_new && ARRAY_RESERVE(batch->series, batch->series_capacity, batch->series_count + 1) < 0)
		return ERROR_MEMORY;
	if (is_new)
		batch->series[batch->series_count++] = (struct batch_series){ .resource = rows[at].resource,
									      .thread = rows[at].thread,
									      .labels = rows[at].labels };
	return (int64_t)batch->series_count - 1;
}

/* --- sums --- */

static int sum_hits(struct batch *batch, struct raw *rows, size_t count)
{
	size_t kept = 0;
	batch->hits = malloc((count + 1) * sizeof(*batch->hits));
	if (!batch->hits)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		const struct raw *row = &rows[i];
		int64_t series = series_of(batch, rows, i, 0);
		if (series < 0)
			return (int)series;
		if (i == 0 || compare(row, row - 1) != 0)
			batch->hits[kept++] = (struct batch_hit){
				.series = (uint32_t)series, .node = row->node, .bucket = row->bucket, .size = row->size
			};
		struct batch_hit *hit = &batch->hits[kept - 1];
		batch->has_rows[row->node] = true;
		hit->hits += row->hits;
		hit->samples += row->samples;
	}
	batch->hit_count = kept;
	for (size_t i = 0; i < kept; i++)
		batch->samples += batch->hits[i].samples;
	return 0;
}

int batch_add_hits(struct batch *batch, int64_t bucket_ns)
{
	const struct profile *profile = batch->profile;
	struct raw *rows = malloc((profile->hit_count + 1) * sizeof(*rows));
	if (!rows)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool is_sampled = profile->resources[hit->resource].kind == RESOURCE_SAMPLED;
		uint64_t samples = profile_hit_samples(profile, hit);
		rows[i] = (struct raw){ .resource = hit->resource,
					.thread = hit->thread,
					.labels = profile_hit_labels(profile, i),
					.node = batch->same[hit->node],
					.bucket = bucket_of(batch, hit->time_ns, bucket_ns),
					.hits = hit->count,
					.samples = samples,
					.size = is_sampled ? hit->count / samples : 0 };
	}
	int status = sort_raw(batch, rows, profile->hit_count);
	if (status == 0)
		status = sum_hits(batch, rows, profile->hit_count);
	free(rows);
	return status;
}

static int sum_touches(struct batch *batch, struct raw *rows, size_t count)
{
	size_t kept = 0, first_series = batch->series_count;
	batch->touches = malloc((count + 1) * sizeof(*batch->touches));
	if (!batch->touches)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		int64_t series = series_of(batch, rows, i, first_series);
		if (series < 0)
			return (int)series;
		if (i == 0 || compare(&rows[i], &rows[i - 1]) != 0)
			batch->touches[kept++] = (struct batch_touch){ .series = (uint32_t)series,
								       .node = rows[i].node,
								       .bucket = rows[i].bucket,
								       .address = rows[i].address,
								       .mapping = rows[i].mapping };
		batch->touches[kept - 1].hits += rows[i].hits;
		batch->has_rows[rows[i].node] = true;
	}
	batch->touch_count = kept;
	return 0;
}

int batch_add_touches(struct batch *batch, int64_t bucket_ns)
{
	const struct profile *profile = batch->profile;
	struct raw *rows = malloc((profile->touch_count + 1) * sizeof(*rows));
	if (!rows)
		return ERROR_MEMORY;
	for (size_t i = 0; i < profile->touch_count; i++) {
		const struct profile_touch *touch = &profile->touches[i];
		rows[i] = (struct raw){ .resource = touch->resource,
					.thread = touch->thread,
					.node = batch->same[touch->node],
					.bucket = bucket_of(batch, touch->time_ns, bucket_ns),
					.hits = touch->count,
					.address = touch->address,
					.mapping = touch->mapping };
	}
	int status = sort_raw(batch, rows, profile->touch_count);
	if (status == 0)
		status = sum_touches(batch, rows, profile->touch_count);
	free(rows);
	return status;
}
