#include "store/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/hash_map.h"
#include "profile/tail_calls.h"
#include "profile_file/writer.h"
#include "store/description.h"
#include "store/hash.h"

/* A hit of the recording, to be sorted and added up. */
struct raw {
	uint32_t resource, thread, labels, node;
	int64_t bucket;
	uint64_t hits, size, samples;
	uint64_t address; /* touches only */
	uint32_t mapping;
};

void batch_release(struct batch *batch)
{
	buffer_release(&batch->description);
	free(batch->modules);
	free(batch->functions);
	free(batch->locations);
	free(batch->nodes);
	free(batch->marked);
	free(batch->node_locations);
	free(batch->same);
	free(batch->has_rows);
	free(batch->series);
	free(batch->hits);
	free(batch->touches);
	*batch = (struct batch){ 0 };
}

/* --- description --- */

static int write_description(struct batch *batch, struct profile *description, struct error *error)
{
	struct writer *writer = writer_to_memory(&batch->description, error);
	int status = writer ? writer_finish(writer, description, error) : error->code;
	writer_free(writer);
	return status;
}

static int make_description(struct batch *batch, struct error *error)
{
	const struct profile *profile = batch->profile;
	const struct store_selection all = { 0 };
	struct description_map map = { 0 };
	struct profile *description = profile_new();
	int status = description ? 0 : error_memory(error);
	if (status == 0)
		status = description_sum(&map, description, profile, 0, &(struct store_labels){ 0 }, &all, error);
	if (status == 0) {
		description->start_ns = profile->start_ns;
		description->end_ns = profile->start_ns + profile_duration_ns(profile);
		description->start_unix_ns = profile->start_unix_ns;
		description->symbolized = true;
		status = write_description(batch, description, error);
	}
	description_map_release(&map);
	profile_free(description);
	return status;
}

/* --- times --- */

static int64_t rounded_down(int64_t number, int64_t by)
{
	return number / by - (number % by < 0);
}

static int set_times(struct batch *batch, const struct store_recording *recording, int64_t bucket_ns,
		     struct error *error)
{
	const struct profile *profile = recording->profile;
	uint64_t duration_ns = profile_duration_ns(profile);
	batch->start_unix_ns = profile->start_unix_ns ? profile->start_unix_ns : recording->start_unix_ns;
	if (duration_ns > INT64_MAX ||
	    __builtin_add_overflow(batch->start_unix_ns, (int64_t)duration_ns, &batch->end_unix_ns))
		return error_set(error, ERROR_LIMIT, "cannot add '%s': its times are out of range", recording->name);
	batch->first_bucket = rounded_down(batch->start_unix_ns, bucket_ns);
	return 0;
}

static int64_t bucket_of(const struct batch *batch, uint64_t time_ns, int64_t bucket_ns)
{
	uint64_t start_ns = batch->profile->start_ns;
	if (time_ns == 0)
		return BATCH_NO_TIME;
	int64_t since_ns = time_ns > start_ns ? (int64_t)(time_ns - start_ns) : 0;
	return rounded_down(batch->start_unix_ns + since_ns, bucket_ns) - batch->first_bucket;
}

/* --- call paths --- */

size_t batch_location_count(const struct batch *batch)
{
	return batch->profile->location_count + batch->marked_count;
}

const struct profile_location *batch_location(const struct batch *batch, uint32_t id, uint8_t *marks)
{
	size_t own = batch->profile->location_count;
	const struct profile_location *location = &batch->profile->locations[id < own ? id : batch->marked[id - own]];
	*marks = (uint8_t)((location->by_frames ? STORE_BY_FRAMES : 0) | (location->is_tail ? STORE_TAIL : 0) |
			   (id < own ? 0 : STORE_UNKNOWN_CALL));
	return location;
}

static void hash_location(struct batch *batch, uint32_t id)
{
	const struct profile *profile = batch->profile;
	uint8_t marks;
	const struct profile_location *location = batch_location(batch, id, &marks);
	if (batch->locations[id])
		return;
	batch->modules[location->module] = store_hash_module(profile, location->module);
	for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		uint32_t function = profile->frames[location->first_frame + i].function;
		uint32_t module = profile->functions[function].module;
		if (module != PROFILE_NONE)
			batch->modules[module] = store_hash_module(profile, module);
		if (!batch->functions[function])
			batch->functions[function] = store_hash_function(profile, function);
	}
	batch->locations[id] =
		store_hash_location(profile, location, marks, batch->modules[location->module], batch->functions);
}

/* Sets the locations of the nodes. */
static int place_nodes(struct batch *batch)
{
	const struct profile *profile = batch->profile;
	bool *is_unknown = tail_calls_find_unknown(profile);
	struct hash_map marked; /* location -> number in batch->marked */
	hash_map_init(&marked);
	int status = is_unknown ? 0 : ERROR_MEMORY;
	for (size_t i = 1; i < profile->node_count && status == 0; i++) {
		uint32_t location = profile->nodes[i].location;
		batch->node_locations[i] = location;
		if (!is_unknown[i])
			continue;
		uint32_t number = hash_map_get(&marked, location);
		if (number == HASH_MAP_NONE) {
			number = (uint32_t)batch->marked_count;
			status = hash_map_put(&marked, location, number);
			batch->marked[batch->marked_count++] = location;
		}
		batch->node_locations[i] = (uint32_t)profile->location_count + number;
	}
	free(is_unknown);
	hash_map_release(&marked);
	return status;
}

/* Marks the nodes with hits or touches, and all above them. */
static void mark_needed(const struct profile *profile, bool *needed)
{
	for (size_t i = 0; i < profile->hit_count; i++)
		needed[profile->hits[i].node] = true;
	for (size_t i = 0; i < profile->touch_count; i++)
		needed[profile->touches[i].node] = true;
	for (size_t i = profile->node_count - 1; i > 0; i--)
		if (needed[i])
			needed[profile->nodes[i].parent] = true;
}

/* Gives each node the first one with its hash: imported locations of equal names are one location of the store. */
static int unify_nodes(struct batch *batch)
{
	size_t count = batch->profile->node_count;
	struct hash_map first;
	hash_map_init(&first);
	batch->same = calloc(count, sizeof(*batch->same));
	batch->has_rows = calloc(count, sizeof(*batch->has_rows));
	int status = batch->same && batch->has_rows ? 0 : ERROR_MEMORY;
	for (size_t i = 1; i < count && status == 0; i++) {
		uint32_t known = batch->nodes[i] ? hash_map_get(&first, batch->nodes[i]) : HASH_MAP_NONE;
		batch->same[i] = known == HASH_MAP_NONE ? (uint32_t)i : known;
		if (batch->nodes[i] && known == HASH_MAP_NONE)
			status = hash_map_put(&first, batch->nodes[i], (uint32_t)i);
	}
	hash_map_release(&first);
	return status;
}

static int hash_paths(struct batch *batch)
{
	const struct profile *profile = batch->profile;
	bool *needed = calloc(profile->node_count, sizeof(*needed));
	batch->modules = calloc(profile->module_count + 1, sizeof(*batch->modules));
	batch->functions = calloc(profile->function_count + 1, sizeof(*batch->functions));
	batch->locations = calloc(2 * profile->location_count + 1, sizeof(*batch->locations));
	batch->marked = calloc(profile->location_count + 1, sizeof(*batch->marked));
	batch->node_locations = calloc(profile->node_count, sizeof(*batch->node_locations));
	batch->nodes = calloc(profile->node_count, sizeof(*batch->nodes));
	bool has_all = needed && batch->modules && batch->functions && batch->locations && batch->marked &&
		       batch->node_locations && batch->nodes;
	int status = has_all ? place_nodes(batch) : ERROR_MEMORY;
	if (status == 0)
		mark_needed(profile, needed);
	for (size_t i = 1; status == 0 && i < profile->node_count; i++) {
		if (!needed[i])
			continue;
		hash_location(batch, batch->node_locations[i]);
		batch->nodes[i] = store_hash_stack(batch->nodes[profile->nodes[i].parent],
						   batch->locations[batch->node_locations[i]]);
	}
	free(needed);
	return status == 0 ? unify_nodes(batch) : status;
}

/* --- hits --- */

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

static int add_hits(struct batch *batch, int64_t bucket_ns)
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
	qsort(rows, profile->hit_count, sizeof(*rows), compare);
	int status = sum_hits(batch, rows, profile->hit_count);
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

static int add_touches(struct batch *batch, int64_t bucket_ns)
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
	qsort(rows, profile->touch_count, sizeof(*rows), compare);
	int status = sum_touches(batch, rows, profile->touch_count);
	free(rows);
	return status;
}

static int init(struct batch *batch, const struct store_recording *recording, int64_t bucket_ns, bool has_hits,
		struct error *error)
{
	*batch = (struct batch){ .profile = recording->profile };
	buffer_init(&batch->description);
	int status = set_times(batch, recording, bucket_ns, error);
	if (status == 0)
		status = make_description(batch, error);
	if (status < 0)
		return status;
	status = hash_paths(batch);
	if (status == 0 && has_hits)
		status = add_hits(batch, bucket_ns);
	if (status == 0)
		status = add_touches(batch, bucket_ns);
	return status == 0 ? 0 : error_set(error, status, "cannot add '%s': %s", recording->name, error_text(status));
}

int batch_init(struct batch *batch, const struct store_recording *recording, int64_t bucket_ns, struct error *error)
{
	return init(batch, recording, bucket_ns, true, error);
}

int batch_init_without_hits(struct batch *batch, const struct store_recording *recording, struct error *error)
{
	return init(batch, recording, INT64_MAX, false, error);
}
