#include "profile/tail_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash_map.h"

/* Rows that follow each other. NODE_BYTES: an inserted node takes fewer, with its entry in a map. */
enum { STEPS_MOST = 64, NODE_BYTES = 48 };

static uint64_t pair_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}

/* Returns the function that runs at a node's location and was called, or PROFILE_NONE. */
static uint32_t callee_at(const struct profile *profile, uint32_t location)
{
	const struct profile_location *row = &profile->locations[location];
	return row->first_frame == PROFILE_NONE ? PROFILE_NONE
						: profile->frames[row->first_frame + row->frame_count - 1].function;
}

/* Makes a map from (caller, callee) to the row. */
static int index_rows(const struct profile *profile, struct hash_map *rows)
{
	hash_map_init(rows);
	for (size_t i = 0; i < profile->tail_call_count; i++) {
		const struct profile_tail_call *row = &profile->tail_calls[i];
		if (hash_map_put(rows, pair_key(row->caller, row->callee), (uint32_t)i) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

/* Returns the row for a call from `caller`, a location, or NULL. */
static const struct profile_tail_call *row_of(const struct profile *profile, const struct hash_map *rows,
					      uint32_t caller, uint32_t callee)
{
	uint32_t found = hash_map_get(rows, pair_key(caller, callee));
	return found == HASH_MAP_NONE ? NULL : &profile->tail_calls[found];
}

struct insertion {
	struct profile *profile;
	struct hash_map rows;
	struct hash_map by_edge; /* (parent, location) -> inserted node */
	struct profile_node *nodes;
	uint32_t *numbers; /* of the old nodes */
	size_t count, capacity, most;
};

static int64_t add_node(struct insertion *insertion, uint32_t parent, uint32_t location)
{
	if (insertion->count == insertion->most)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(insertion->nodes, insertion->capacity, insertion->count + 1) < 0)
		return ERROR_MEMORY;
	insertion->nodes[insertion->count] = (struct profile_node){ .parent = parent, .location = location };
	return (int64_t)insertion->count++;
}

static int64_t inserted_node(struct insertion *insertion, uint32_t parent, uint32_t location)
{
	uint64_t key = pair_key(parent, location);
	uint32_t known = hash_map_get(&insertion->by_edge, key);
	if (known != HASH_MAP_NONE)
		return known;
	int64_t node = add_node(insertion, parent, location);
	return node >= 0 && hash_map_put(&insertion->by_edge, key, (uint32_t)node) < 0 ? ERROR_MEMORY : node;
}

/* Returns the new parent of a node: below its old one, what its tail calls removed. */
static int64_t parent_of(struct insertion *insertion, const struct profile_node *node)
{
	const struct profile *profile = insertion->profile;
	int64_t parent = insertion->numbers[node->parent];
	uint32_t caller = profile->nodes[node->parent].location, callee = callee_at(profile, node->location);
	if (node->parent == PROFILE_ROOT || callee == PROFILE_NONE)
		return parent;
	for (int i = 0; i < STEPS_MOST && parent >= 0; i++) {
		const struct profile_tail_call *row = row_of(profile, &insertion->rows, caller, callee);
		if (!row || row->location == PROFILE_NONE)
			break;
		caller = row->location;
		parent = inserted_node(insertion, (uint32_t)parent, caller);
	}
	return parent;
}

static int copy_nodes(struct insertion *insertion)
{
	const struct profile *profile = insertion->profile;
	int64_t id = add_node(insertion, PROFILE_NONE, PROFILE_NONE);
	for (uint32_t i = 1; i < profile->node_count && id >= 0; i++) {
		id = parent_of(insertion, &profile->nodes[i]);
		if (id >= 0)
			id = add_node(insertion, (uint32_t)id, profile->nodes[i].location);
		insertion->numbers[i] = (uint32_t)id;
	}
	return id < 0 ? (int)id : 0;
}

/* Takes over the new nodes. */
static void adopt(struct insertion *insertion)
{
	struct profile *profile = insertion->profile;
	free(profile->nodes);
	profile->nodes = insertion->nodes;
	profile->node_count = insertion->count;
	profile->node_capacity = insertion->capacity;
	insertion->nodes = NULL;
	hash_map_clear(&profile->node_by_edge);
	profile->nodes_indexed = 0;
	for (size_t i = 0; i < profile->hit_count; i++)
		profile->hits[i].node = insertion->numbers[profile->hits[i].node];
	for (size_t i = 0; i < profile->touch_count; i++)
		profile->touches[i].node = insertion->numbers[profile->touches[i].node];
}

int tail_calls_insert(struct profile *profile, uint64_t memory)
{
	if (profile->tail_call_count == 0)
		return 0;
	struct insertion insertion = { .profile = profile,
				       .numbers = calloc(profile->node_count, sizeof(*insertion.numbers)),
				       .most = PROFILE_NONE };
	hash_map_init(&insertion.by_edge);
	if (memory > 0 && memory / NODE_BYTES < insertion.most - profile->node_count)
		insertion.most = profile->node_count + memory / NODE_BYTES;
	int status = index_rows(profile, &insertion.rows);
	if (!insertion.numbers)
		status = ERROR_MEMORY;
	if (status == 0)
		status = ARRAY_RESERVE(insertion.nodes, insertion.capacity, profile->node_count);
	if (status == 0)
		status = copy_nodes(&insertion);
	if (status == 0 && insertion.count > profile->node_count)
		adopt(&insertion);
	free(insertion.nodes);
	free(insertion.numbers);
	hash_map_release(&insertion.rows);
	hash_map_release(&insertion.by_edge);
	return status;
}

bool tail_calls_any(const struct profile *profile)
{
	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].is_tail)
			return true;
	return false;
}

bool tail_calls_are_ambiguous(const struct profile *profile, uint32_t location)
{
	uint32_t function = callee_at(profile, location);
	return profile->locations[location].is_tail && function != PROFILE_NONE &&
	       strncmp(profile_string(profile, profile->functions[function].name), TAIL_CALLS_AMBIGUOUS,
		       strlen(TAIL_CALLS_AMBIGUOUS)) == 0;
}

bool *tail_calls_find_unknown(const struct profile *profile)
{
	struct hash_map rows;
	bool *is_unknown = calloc(profile->node_count, sizeof(*is_unknown));
	int status = index_rows(profile, &rows);
	for (uint32_t i = 1; i < profile->node_count && is_unknown && rows.count > 0; i++) {
		const struct profile_node *node = &profile->nodes[i];
		uint32_t callee = callee_at(profile, node->location);
		if (node->parent == PROFILE_ROOT || callee == PROFILE_NONE ||
		    profile->locations[node->location].is_tail)
			continue;
		const struct profile_tail_call *row =
			row_of(profile, &rows, profile->nodes[node->parent].location, callee);
		is_unknown[i] = row && row->location == PROFILE_NONE;
	}
	hash_map_release(&rows);
	if (status == 0)
		return is_unknown;
	free(is_unknown);
	return NULL;
}

int tail_calls_add_unknown(struct profile *profile, uint32_t caller, uint32_t location)
{
	const struct profile_tail_call row = { .caller = caller,
					       .callee = callee_at(profile, location),
					       .location = PROFILE_NONE };
	int64_t id = profile_add_tail_call(profile, &row);
	return id < 0 ? (int)id : 0;
}

enum mark { RESTORED = 1, AMBIGUOUS = 2, UNKNOWN = 4 };

static uint8_t mark_of(const struct profile *profile, uint32_t node)
{
	uint32_t location = profile->nodes[node].location;
	if (!profile->locations[location].is_tail || callee_at(profile, location) == PROFILE_NONE)
		return 0;
	return tail_calls_are_ambiguous(profile, location) ? AMBIGUOUS : RESTORED;
}

int tail_calls_count(const struct profile *profile, struct tail_calls_count *count)
{
	bool *is_unknown = tail_calls_find_unknown(profile);
	uint8_t *marks = calloc(profile->node_count, 1);
	int status = is_unknown && marks ? 0 : ERROR_MEMORY;
	*count = (struct tail_calls_count){ 0 };
	for (uint32_t i = 1; i < profile->node_count && status == 0; i++)
		marks[i] = marks[profile->nodes[i].parent] | (is_unknown[i] ? UNKNOWN : mark_of(profile, i));
	for (size_t i = 0; i < profile->hit_count && status == 0; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		uint64_t samples = profile_hit_samples(profile, hit);
		if (marks[hit->node] & UNKNOWN)
			count->unknown += samples;
		else if (marks[hit->node] & AMBIGUOUS)
			count->ambiguous += samples;
		else if (marks[hit->node] & RESTORED)
			count->restored += samples;
	}
	free(is_unknown);
	free(marks);
	return status;
}
