#include "store/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/assemble.h"
#include "store/batch.h"
#include "store/hash.h"

struct merge {
	struct store_selection selection; /* everything */
	struct assemble assemble;
	struct assemble_source source;
	struct error error;    /* of the assembly */
	int64_t duration_ns;   /* of all recordings so far, which stand one behind the other */
	int64_t first_unix_ns; /* the earliest start; 0: none is known */
	bool lacks_duration;   /* one of them has none, so that of the sum is not known */
	bool keeps_apart;      /* merge_keep_apart: assemble.sums then has rows of the present recording alone */
	/* The present recording: its paths, and their ids by hash. */
	const struct batch *batch;
	struct hash_map modules, functions, locations, stacks;
	uint32_t *nodes; /* of the sum, by node of the recording; PROFILE_NONE: not known yet; owned */
	size_t node_capacity;
};

/* --- the paths of the present recording, for the assembly --- */

/* Returns the number of a thing of the recording. */
static bool number_of(const struct hash_map *map, int64_t id, uint32_t *number)
{
	*number = hash_map_get(map, (uint64_t)id);
	return *number != HASH_MAP_NONE;
}

static int read_module(void *context, int64_t id, struct assembled_module *row)
{
	const struct merge *merge = context;
	const struct profile *profile = merge->batch->profile;
	uint32_t number;
	if (!number_of(&merge->modules, id, &number))
		return 0;
	const struct profile_module *module = &profile->modules[number];
	*row = (struct assembled_module){ .path = profile_string(profile, module->path),
					  .kind = module->kind,
					  .build_id = module->build_id,
					  .build_id_bytes = module->build_id_bytes };
	return 1;
}

static int read_function(void *context, int64_t id, struct assembled_function *row)
{
	const struct merge *merge = context;
	const struct profile *profile = merge->batch->profile;
	uint32_t number;
	if (!number_of(&merge->functions, id, &number))
		return 0;
	const struct profile_function *function = &profile->functions[number];
	uint32_t module = function->module;
	*row = (struct assembled_function){ .name = profile_string(profile, function->name),
					    .linkage = profile_string(profile, function->linkage),
					    .file = profile_string(profile, function->file),
					    .group = profile_string(profile, function->group),
					    .module =
						    module == PROFILE_NONE ? 0 : (int64_t)merge->batch->modules[module],
					    .line = function->line,
					    .role = function->role };
	return 1;
}

static int read_location(void *context, int64_t id, struct assembled_location *row)
{
	const struct merge *merge = context;
	uint32_t number;
	if (!number_of(&merge->locations, id, &number))
		return 0;
	uint8_t marks;
	const struct profile_location *location = batch_location(merge->batch, number, &marks);
	*row = (struct assembled_location){ .module = (int64_t)merge->batch->modules[location->module],
					    .address = location->address,
					    .marks = marks };
	return 1;
}

static int read_frame(void *context, int64_t id, size_t depth, struct assembled_frame *row)
{
	const struct merge *merge = context;
	const struct profile *profile = merge->batch->profile;
	uint32_t number;
	if (!number_of(&merge->locations, id, &number))
		return 0;
	uint8_t marks;
	const struct profile_location *location = batch_location(merge->batch, number, &marks);
	if (location->first_frame == PROFILE_NONE || depth >= location->frame_count)
		return 0;
	const struct profile_frame *frame = &profile->frames[location->first_frame + depth];
	*row = (struct assembled_frame){ .function = (int64_t)merge->batch->functions[frame->function],
					 .file = profile_string(profile, frame->file),
					 .line = frame->line,
					 .discriminator = frame->discriminator,
					 .inlined = frame->inlined,
					 .kind = frame->kind };
	return 1;
}

static int read_stack(void *context, int64_t id, struct assembled_stack *row)
{
	const struct merge *merge = context;
	const struct batch *batch = merge->batch;
	uint32_t number;
	if (!number_of(&merge->stacks, id, &number))
		return 0;
	const struct profile_node *node = &batch->profile->nodes[number];
	*row = (struct assembled_stack){ .parent = (int64_t)batch->nodes[node->parent],
					 .location = (int64_t)batch->locations[batch->node_locations[number]] };
	return 1;
}

/* Notes the ids of things whose hashes the assembly does not know yet. A hash of 0 marks what no hit needs. */
static int index_new(struct hash_map *map, const struct hash_map *known, const uint64_t *hashes, size_t count)
{
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		if (hashes[i] && hash_map_get(known, hashes[i]) == HASH_MAP_NONE)
			status = hash_map_put(map, hashes[i], (uint32_t)i);
	return status;
}

/* Notes the nodes of the sum that stacks of the recording have, and the ids of new stacks. */
static int index_stacks(struct merge *merge, const struct batch *batch)
{
	size_t count = batch->profile->node_count;
	int status = ARRAY_RESERVE(merge->nodes, merge->node_capacity, count);
	hash_map_clear(&merge->stacks);
	if (status == 0)
		merge->nodes[PROFILE_ROOT] = PROFILE_ROOT;
	for (size_t i = 1; i < count && status == 0; i++) {
		uint64_t hash = batch->nodes[i];
		merge->nodes[i] = hash ? hash_map_get(&merge->assemble.stacks, hash) : PROFILE_NONE;
		if (hash && merge->nodes[i] == PROFILE_NONE)
			status = hash_map_put(&merge->stacks, hash, (uint32_t)i);
	}
	return status;
}

static int index_recording(struct merge *merge, const struct batch *batch)
{
	const struct profile *profile = batch->profile;
	const struct assemble *assemble = &merge->assemble;
	merge->batch = batch;
	int status = index_stacks(merge, batch);
	hash_map_clear(&merge->modules);
	hash_map_clear(&merge->functions);
	hash_map_clear(&merge->locations);
	if (status < 0 || merge->stacks.count == 0)
		return status;
	status = index_new(&merge->modules, &assemble->modules, batch->modules, profile->module_count);
	if (status == 0)
		status = index_new(&merge->functions, &assemble->functions, batch->functions, profile->function_count);
	return status == 0 ? index_new(&merge->locations, &assemble->locations, batch->locations,
				       batch_location_count(batch))
			   : status;
}

/* Returns the node of the sum, or a negative error. */
static int64_t node_of(struct merge *merge, uint32_t node)
{
	if (merge->nodes[node] != PROFILE_NONE)
		return merge->nodes[node];
	int64_t id = assemble_stack(&merge->assemble, (int64_t)merge->batch->nodes[node]);
	if (id >= 0)
		merge->nodes[node] = (uint32_t)id;
	return id;
}

/* --- life cycle --- */

static const struct assemble_source source_of_merge = { .module = read_module,
							.function = read_function,
							.location = read_location,
							.frame = read_frame,
							.stack = read_stack };

struct merge *merge_new(uint64_t memory, struct error *error)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	if (!merge) {
		error_memory(error);
		return NULL;
	}
	merge->selection = (struct store_selection){ .from_unix_ns = INT64_MIN,
						     .to_unix_ns = INT64_MAX,
						     .memory = memory,
						     .remedy = "merge recordings of equal options" };
	merge->source = source_of_merge;
	merge->source.context = merge;
	if (assemble_init(&merge->assemble, &merge->selection, INT64_MAX, &merge->source, &merge->error) < 0) {
		*error = merge->error;
		merge_free(merge);
		return NULL;
	}
	return merge;
}

void merge_keep_apart(struct merge *merge)
{
	merge->keeps_apart = true;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	if (merge->assemble.source)
		profile_free(assemble_finish(&merge->assemble, ERROR_MEMORY));
	hash_map_release(&merge->modules);
	hash_map_release(&merge->functions);
	hash_map_release(&merge->locations);
	hash_map_release(&merge->stacks);
	free(merge->nodes);
	free(merge);
}

/* Adds the hits of a recording to the sum. Returns 0 or a negative error. */
static int add_hits(struct merge *merge, size_t recording)
{
	struct assemble *assemble = &merge->assemble;
	const struct description_map *map = &assemble->parts[recording].map;
	const struct profile *profile = merge->batch->profile;
	int status = 0;
	for (size_t i = 0; i < profile->hit_count && status == 0; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		int64_t node = node_of(merge, hit->node);
		if (node < 0)
			return (int)node;
		struct row_sum row = { .node = (uint32_t)node,
				       .resource = map->resources[hit->resource],
				       .labels = map->label_sets[profile_hit_labels(profile, i)],
				       .hits = hit->count };
		if (profile->resources[hit->resource].kind == RESOURCE_SAMPLED)
			row.size = row.hits / profile_hit_samples(profile, hit);
		status = row_sums_add(&assemble->sums, &row);
	}
	if (status == 0 && merge->keeps_apart)
		status = row_sums_put(&assemble->sums, assemble->profile, merge->selection.memory);
	return status < 0 ? assemble_fail(assemble, status) : 0;
}

static int add_touches(struct merge *merge, size_t recording)
{
	const struct batch *batch = merge->batch;
	int status = 0;
	for (size_t i = 0; i < batch->touch_count && status == 0; i++) {
		const struct batch_touch *touch = &batch->touches[i];
		int64_t node = node_of(merge, touch->node);
		uint32_t thread = batch->series[touch->series].thread; /* pages are those of a process */
		const struct assembled_row row = { .recording = recording,
						   .resource = batch->series[touch->series].resource,
						   .thread = thread == PROFILE_NONE ? -1 : (int64_t)thread,
						   .bucket = BATCH_NO_TIME,
						   .node = (uint32_t)node,
						   .hits = (int64_t)touch->hits,
						   .address = (int64_t)touch->address,
						   .mapping = profile_string(batch->profile, touch->mapping) };
		status = node < 0 ? (int)node : assemble_touch(&merge->assemble, &row);
	}
	return status;
}

static void add_times(struct merge *merge, const struct profile *profile, int64_t end_ns)
{
	int64_t start = profile->start_unix_ns;
	merge->lacks_duration = merge->lacks_duration || end_ns == merge->duration_ns;
	merge->duration_ns = end_ns;
	if (start != 0 && (merge->first_unix_ns == 0 || start < merge->first_unix_ns))
		merge->first_unix_ns = start;
}

static int add_batch(struct merge *merge, const struct store_recording *recording, const struct batch *batch)
{
	int64_t duration_ns = batch->end_unix_ns - batch->start_unix_ns, end_ns;
	if (__builtin_add_overflow(merge->duration_ns, duration_ns, &end_ns))
		return assemble_fail(&merge->assemble, ERROR_LIMIT);
	const struct assembled_recording described = { .description = batch->description.bytes,
						       .description_bytes = batch->description.size,
						       .start_unix_ns = merge->duration_ns,
						       .end_unix_ns = end_ns,
						       .ended = batch->profile->ended,
						       .labels = recording->labels,
						       .name = recording->name };
	int64_t number = assemble_recording(&merge->assemble, &described);
	if (number < 0)
		return (int)number;
	add_times(merge, batch->profile, end_ns);
	int status = index_recording(merge, batch);
	status = status < 0 ? assemble_fail(&merge->assemble, status) : add_hits(merge, (size_t)number);
	return status == 0 ? add_touches(merge, (size_t)number) : status;
}

int merge_add(struct merge *merge, const struct store_recording *recording, struct error *error)
{
	struct profile profile = *recording->profile;
	struct store_recording shown = *recording;
	struct batch batch;
	shown.profile = &profile;
	if (profile.touch_count == 0) /* nothing else refers to them in the sum */
		profile.process_count = profile.thread_count = 0;
	int status = batch_init_without_hits(&batch, &shown, error);
	if (status == 0 && (status = add_batch(merge, &shown, &batch)) < 0)
		error_set(error, status, "cannot add '%s': %s", recording->name, merge->error.message);
	batch_release(&batch);
	return status;
}

/* Sets the times of the sum. */
static void set_facts(struct merge *merge)
{
	struct profile *profile = merge->assemble.profile;
	profile->start_unix_ns = merge->first_unix_ns;
	if (merge->lacks_duration)
		profile->end_ns = profile->start_ns;
}

struct profile *merge_finish(struct merge *merge, struct error *error)
{
	struct assemble *assemble = &merge->assemble;
	set_facts(merge);
	struct profile *profile = assemble_finish(assemble, 0);
	assemble->source = NULL;
	if (!profile)
		*error = merge->error;
	merge_free(merge);
	return profile;
}
