#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/huge_pages.h"
#include "base/time_unit.h"

/* Ids have 32 bits, and PROFILE_NONE is not an id. */
static const size_t TABLE_LIMIT = PROFILE_NONE;

static void free_tables(struct profile *profile)
{
	free(profile->resources);
	free(profile->processes);
	free(profile->threads);
	free(profile->modules);
	free(profile->functions);
	free(profile->frames);
	free(profile->locations);
	free(profile->nodes);
	free(profile->hits);
	free(profile->touches);
	free(profile->tail_calls);
	free(profile->causes);
	free(profile->notes);
	free(profile->findings);
	free(profile->labels);
	free(profile->label_sets);
	free(profile->hit_labels);
}

struct profile *profile_new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	if (!profile)
		return NULL;
	hash_map_init(&profile->node_by_edge);
	hash_map_init(&profile->location_by_address);
	hash_map_init(&profile->set_by_labels);
	if (strings_init(&profile->strings) < 0 || profile_append_node(profile, PROFILE_NONE, PROFILE_NONE) < 0 ||
	    profile_add_label_set(profile, NULL, 0) < 0) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free_tables(profile);
	strings_release(&profile->strings);
	hash_map_release(&profile->node_by_edge);
	hash_map_release(&profile->location_by_address);
	hash_map_release(&profile->set_by_labels);
	free(profile);
}

int64_t profile_add_string(struct profile *profile, const char *text)
{
	return strings_add(&profile->strings, text, strlen(text));
}

/* Appends one item to one of the profile's tables and returns its id. */
#define APPEND(profile, items, count, capacity, item)                                                    \
	({                                                                                               \
		int64_t id_ = (int64_t)(profile)->count;                                                 \
		if ((profile)->count >= TABLE_LIMIT)                                                     \
			id_ = ERROR_LIMIT;                                                               \
		else if (ARRAY_RESERVE((profile)->items, (profile)->capacity, (profile)->count + 1) < 0) \
			id_ = ERROR_MEMORY;                                                              \
		else                                                                                     \
			(profile)->items[(profile)->count++] = (item);                                   \
		id_;                                                                                     \
	})

int64_t profile_add_resource(struct profile *profile, const struct profile_resource *resource)
{
	return APPEND(profile, resources, resource_count, resource_capacity, *resource);
}

void profile_set_users(struct profile *profile, uint32_t user)
{
	for (size_t i = 0; i < profile->process_count; i++)
		profile->processes[i].user = user;
}

int64_t profile_add_process(struct profile *profile, const struct profile_process *process)
{
	return APPEND(profile, processes, process_count, process_capacity, *process);
}

int64_t profile_add_thread(struct profile *profile, const struct profile_thread *thread)
{
	return APPEND(profile, threads, thread_count, thread_capacity, *thread);
}

int64_t profile_add_module(struct profile *profile, const struct profile_module *module)
{
	return APPEND(profile, modules, module_count, module_capacity, *module);
}

int64_t profile_add_function(struct profile *profile, const struct profile_function *function)
{
	return APPEND(profile, functions, function_count, function_capacity, *function);
}

int64_t profile_add_frame(struct profile *profile, const struct profile_frame *frame)
{
	return APPEND(profile, frames, frame_count, frame_capacity, *frame);
}

int64_t profile_add_tail_call(struct profile *profile, const struct profile_tail_call *call)
{
	return APPEND(profile, tail_calls, tail_call_count, tail_call_capacity, *call);
}

int64_t profile_add_note(struct profile *profile, const char *key, const char *value)
{
	int64_t key_id = profile_add_string(profile, key);
	int64_t value_id = key_id < 0 ? key_id : profile_add_string(profile, value);
	if (value_id < 0)
		return value_id;
	struct profile_note note = { .key = (uint32_t)key_id, .value = (uint32_t)value_id };
	return APPEND(profile, notes, note_count, note_capacity, note);
}

const char *profile_note(const struct profile *profile, const char *key)
{
	for (size_t i = 0; i < profile->note_count; i++)
		if (strcmp(profile_string(profile, profile->notes[i].key), key) == 0)
			return profile_string(profile, profile->notes[i].value);
	return NULL;
}

/* Returns the first key for a location. If another location has it, find_location adds LOCATION_KEY_STEP until the
 * key is free. */
static uint64_t location_key(uint32_t module, uint64_t address)
{
	return address ^ hash_u64(module + UINT64_C(1));
}

static const uint64_t LOCATION_KEY_STEP = UINT64_C(0x9e3779b97f4a7c15);

/* Returns the location, or HASH_MAP_NONE with *key set to the key for adding it. */
static uint32_t find_location(const struct profile *profile, uint32_t module, uint64_t address, uint64_t *key)
{
	uint32_t found;
	*key = location_key(module, address);
	while ((found = hash_map_get(&profile->location_by_address, *key)) != HASH_MAP_NONE) {
		const struct profile_location *location = &profile->locations[found];
		if (location->module == module && location->address == address)
			break;
		*key += LOCATION_KEY_STEP;
	}
	return found;
}

/* Indexes the locations that a reader of files appended. */
static int index_locations(struct profile *profile)
{
	if (hash_map_reserve(&profile->location_by_address, profile->location_count) < 0)
		return ERROR_MEMORY;
	for (; profile->locations_indexed < profile->location_count; profile->locations_indexed++) {
		const struct profile_location *location = &profile->locations[profile->locations_indexed];
		uint64_t key;
		if (!location->by_frames &&
		    find_location(profile, location->module, location->address, &key) == HASH_MAP_NONE)
			hash_map_put(&profile->location_by_address, key, (uint32_t)profile->locations_indexed);
	}
	return 0;
}

int64_t profile_add_location(struct profile *profile, uint32_t module, uint64_t address)
{
	if (profile->locations_indexed < profile->location_count && index_locations(profile) < 0)
		return ERROR_MEMORY;
	uint64_t key;
	uint32_t found = find_location(profile, module, address, &key);
	if (found != HASH_MAP_NONE)
		return found;
	struct profile_location location = { .module = module, .address = address, .first_frame = PROFILE_NONE };
	if (hash_map_reserve(&profile->location_by_address, profile->location_by_address.count + 1) < 0)
		return ERROR_MEMORY;
	int64_t id = APPEND(profile, locations, location_count, location_capacity, location);
	if (id >= 0) {
		hash_map_put(&profile->location_by_address, key, (uint32_t)id);
		profile->locations_indexed++;
	}
	return id;
}

int64_t profile_append_location(struct profile *profile, uint32_t module, uint64_t address)
{
	if (profile->locations_indexed < profile->location_count && index_locations(profile) < 0)
		return ERROR_MEMORY;
	struct profile_location location = {
		.module = module, .address = address, .first_frame = PROFILE_NONE, .by_frames = true
	};
	int64_t id = APPEND(profile, locations, location_count, location_capacity, location);
	profile->locations_indexed += id >= 0;
	return id;
}

static uint64_t edge_key(uint32_t parent, uint32_t location)
{
	return (uint64_t)parent << 32 | location;
}

int64_t profile_append_node(struct profile *profile, uint32_t parent, uint32_t location)
{
	struct profile_node node = { .parent = parent, .location = location };
	return APPEND(profile, nodes, node_count, node_capacity, node);
}

int profile_index_nodes(struct profile *profile)
{
	if (hash_map_reserve(&profile->node_by_edge, profile->node_count) < 0)
		return ERROR_MEMORY;
	for (; profile->nodes_indexed < profile->node_count; profile->nodes_indexed++) {
		const struct profile_node *node = &profile->nodes[profile->nodes_indexed];
		uint64_t key = edge_key(node->parent, node->location);
		if (hash_map_get(&profile->node_by_edge, key) == HASH_MAP_NONE)
			hash_map_put(&profile->node_by_edge, key, (uint32_t)profile->nodes_indexed);
	}
	return 0;
}

int64_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t location)
{
	if (profile->nodes_indexed < profile->node_count && profile_index_nodes(profile) < 0)
		return ERROR_MEMORY;
	uint64_t key = edge_key(parent, location);
	uint32_t found = hash_map_get(&profile->node_by_edge, key);
	if (found != HASH_MAP_NONE)
		return found;
	if (hash_map_reserve(&profile->node_by_edge, profile->node_by_edge.count + 1) < 0)
		return ERROR_MEMORY;
	int64_t id = profile_append_node(profile, parent, location);
	if (id >= 0) {
		hash_map_put(&profile->node_by_edge, key, (uint32_t)id);
		profile->nodes_indexed++;
	}
	return id;
}

int profile_add_hit_row(struct profile *profile, const struct profile_hit *row)
{
	struct profile_hit hit = *row;
	uint64_t room = PROFILE_HITS_MOST - profile->hits_added;
	if (hit.count > room) {
		hit.count = room;
		hit.more_samples = 0;
	}
	if (hit.count == 0)
		return 0;
	/* Hit rows have no ids, so only memory limits their number. */
	if (ARRAY_RESERVE(profile->hits, profile->hit_capacity, profile->hit_count + 1) < 0)
		return ERROR_MEMORY;
	profile->hits[profile->hit_count++] = hit;
	profile->hits_added += hit.count;
	return 0;
}

int profile_add_hit(struct profile *profile, uint64_t time_ns, uint32_t thread, uint32_t node, uint32_t resource,
		    uint64_t count)
{
	return profile_add_hit_row(
		profile,
		&(struct profile_hit){
			.time_ns = time_ns, .count = count, .node = node, .thread = thread, .resource = resource });
}

int profile_reserve_hits(struct profile *profile, size_t count)
{
	static const size_t huge_page = 2 * 1024 * 1024;
	size_t bytes = count * sizeof(*profile->hits);
	if (profile->hits || count > PTRDIFF_MAX / sizeof(*profile->hits) || bytes < 2 * huge_page)
		return ARRAY_RESERVE(profile->hits, profile->hit_capacity, count);
	bytes = (bytes + huge_page - 1) / huge_page * huge_page;
	profile->hits = aligned_alloc(huge_page, bytes);
	if (!profile->hits)
		return ERROR_MEMORY;
	huge_pages_advise(profile->hits, bytes);
	profile->hit_capacity = bytes / sizeof(*profile->hits);
	return 0;
}

int64_t profile_add_touch(struct profile *profile, const struct profile_touch *touch)
{
	return APPEND(profile, touches, touch_count, touch_capacity, *touch);
}

int profile_count_cause(struct profile *profile, const char *text, const struct profile_cause *cause)
{
	int64_t id = profile_add_string(profile, text);
	if (id < 0)
		return (int)id;
	for (size_t i = 0; i < profile->cause_count; i++) {
		if (profile->causes[i].text == id) {
			profile->causes[i].count += cause->count;
			return 0;
		}
	}
	struct profile_cause row = *cause;
	row.text = (uint32_t)id;
	int64_t added = APPEND(profile, causes, cause_count, cause_capacity, row);
	return added < 0 ? (int)added : 0;
}

void profile_clear_hits(struct profile *profile)
{
	profile->hit_count = 0;
	profile->hit_label_count = 0;
	profile->touch_count = 0;
}

uint32_t profile_find_resource(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		if (strcmp(profile_string(profile, profile->resources[i].name), name) == 0)
			return (uint32_t)i;
	return PROFILE_NONE;
}

uint64_t profile_hit_ns(const struct profile *profile, uint32_t resource)
{
	static const char own[] = "own:";
	const struct profile_resource *row = &profile->resources[resource];
	const uint64_t unit_ns = time_unit_ns(profile_string(profile, row->unit));
	bool is_own = strncmp(profile_string(profile, row->name), own, strlen(own)) == 0;
	if (row->kind != RESOURCE_SAMPLED || is_own || unit_ns == 0)
		return 0;
	return row->interval < UINT64_MAX / unit_ns ? row->interval * unit_ns : UINT64_MAX;
}

uint64_t profile_duration_ns(const struct profile *profile)
{
	uint64_t last_ns = profile->end_ns;
	for (size_t i = 0; i < profile->hit_count; i++)
		if (profile->hits[i].time_ns > last_ns)
			last_ns = profile->hits[i].time_ns;
	return last_ns > profile->start_ns ? last_ns - profile->start_ns : 0;
}
