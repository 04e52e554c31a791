#include "store/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "profile/tail_calls.h"
#include "profile_file/writer.h"
#include "store/batch_rows.h"
#include "store/description.h"
#include "store/hash.h"

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

static int set_times(struct batch *batch, const struct store_recording *recording, int64_t bucket_ns,
		     struct error *error)
{
	const struct profile *profile = recording->profile;
	uint64_t duration_ns = profile_duration_ns(profile);
	batch->start_unix_ns = profile->start_unix_ns ? profile->start_unix_ns : recording->start_unix_ns;
	if (duration_ns > INT64_MAX ||
	    __builtin_add_overflow(batch->start_unix_ns, (int64_t)duration_ns, &batch->end_unix_ns))
		return error_set(error, ERROR_LIMIT, "cannot add '%s': its times are out of range", recording->name);
	batch->first_bucket = batch_rounded_down(batch->start_unix_ns, bucket_ns);
	return 0;
}

/* --- call paths --- */

enum { NEEDED = 1 }; /* in place of a hash */

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

/* Sets *first to the index of the first hash of its value, for each index with a hash. Returns 1 if some are equal, 0 if none are, or ERROR_MEMORY. */
static int find_first(const uint64_t *hashes, size_t count, uint32_t *first)
{
	struct hash_map known;
	bool has_equal = false;
	hash_map_init(&known);
	int status = hash_map_reserve(&known, count);
	for (size_t i = 0; i < count && status == 0; i++) {
		uint32_t index = hashes[i] ? hash_map_get(&known, hashes[i]) : (uint32_t)i;
		has_equal = has_equal || (index != HASH_MAP_NONE && index != i);
		first[i] = index == HASH_MAP_NONE ? (uint32_t)i : index;
		if (index == HASH_MAP_NONE)
			status = hash_map_put(&known, hashes[i], (uint32_t)i);
	}
	hash_map_release(&known);
	return status < 0 ? status : has_equal;
}

/* Gives each node the first one with its hash: imported locations of equal names are one location of the store. */
static int unify_nodes(struct batch *batch)
{
	size_t count = batch->profile->node_count, locations = batch_location_count(batch);
	batch->same = malloc((count > locations ? count : locations) * sizeof(*batch->same));
	batch->has_rows = calloc(count, sizeof(*batch->has_rows));
	if (!batch->same || !batch->has_rows)
		return ERROR_MEMORY;
	/* Nodes are distinct, so that only locations make them equal. */
	int status = find_first(batch->locations, locations, batch->same);
	if (status > 0)
		status = find_first(batch->nodes, count, batch->same);
	else
		for (size_t i = 0; i < count; i++)
			batch->same[i] = (uint32_t)i;
	return status < 0 ? status : 0;
}

/* Marks what the needed nodes need: its hash becomes NEEDED. */
static void mark_names(struct batch *batch, const bool *needed)
{
	const struct profile *profile = batch->profile;
	for (size_t i = 1; i < profile->node_count; i++)
		if (needed[i])
			batch->locations[batch->node_locations[i]] = NEEDED;
	for (uint32_t i = 0; i < batch_location_count(batch); i++) {
		uint8_t marks;
		if (!batch->locations[i])
			continue;
		const struct profile_location *location = batch_location(batch, i, &marks);
		batch->modules[location->module] = NEEDED;
		for (uint32_t f = 0; location->first_frame != PROFILE_NONE && f < location->frame_count; f++) {
			uint32_t function = profile->frames[location->first_frame + f].function;
			batch->functions[function] = NEEDED;
			if (profile->functions[function].module != PROFILE_NONE)
				batch->modules[profile->functions[function].module] = NEEDED;
		}
	}
}

/* Sets the hashes of what is marked, in the order of the tables: their memory is then read from its begin to its end. */
static void hash_names(struct batch *batch)
{
	const struct profile *profile = batch->profile;
	for (uint32_t i = 0; i < profile->module_count; i++)
		if (batch->modules[i])
			batch->modules[i] = store_hash_module(profile, i);
	for (uint32_t i = 0; i < profile->function_count; i++) {
		uint32_t module = profile->functions[i].module;
		if (batch->functions[i])
			batch->functions[i] =
				store_hash_function(profile, i, module == PROFILE_NONE ? 0 : batch->modules[module]);
	}
	for (uint32_t i = 0; i < batch_location_count(batch); i++) {
		uint8_t marks;
		if (!batch->locations[i])
			continue;
		const struct profile_location *location = batch_location(batch, i, &marks);
		batch->locations[i] = store_hash_location(profile, location, marks, batch->modules[location->module],
							  batch->functions);
	}
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
	if (status == 0) {
		mark_needed(profile, needed);
		mark_names(batch, needed);
		hash_names(batch);
	}
	for (size_t i = 1; status == 0 && i < profile->node_count; i++)
		if (needed[i])
			batch->nodes[i] = store_hash_stack(batch->nodes[profile->nodes[i].parent],
							   batch->locations[batch->node_locations[i]]);
	free(needed);
	return status;
}

/* --- all --- */

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
	bool has_rows = has_hits || recording->profile->touch_count > 0;
	status = hash_paths(batch);
	if (status == 0 && has_rows)
		status = unify_nodes(batch);
	if (status == 0 && has_hits)
		status = batch_add_hits(batch, bucket_ns);
	if (status == 0 && has_rows)
		status = batch_add_touches(batch, bucket_ns);
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
