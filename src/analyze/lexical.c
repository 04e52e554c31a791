#include "analyze/lexical.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/cxx_name.h"
#include "profile/thread_mark.h"

/* One pair: the function `taker` takes the address of `function`, or contains it. Both are strings of `names`: the last components
 * of names. */
struct taking {
	uint32_t function, taker;
	bool is_nested; /* the function is nested in the taker */
};

struct lexical {
	struct profile *profile;
	struct strings names;
	uint32_t *own; /* per function: string in `names` */
	struct taking *takings;
	size_t count, capacity;
	struct hash_map calls; /* set of pairs of a called function and its caller, by their names */
	uint32_t *moved_to;    /* per node: its number in the new tree */
	struct profile_node *nodes;
	size_t node_count, node_capacity;
	struct hash_map by_edge;
	struct hash_map moved; /* set of the names of functions that were moved */
	struct buffer scratch;
};

static int64_t own_name(struct lexical *lexical, const char *text, size_t length)
{
	size_t start;
	buffer_clear(&lexical->scratch);
	char *plain = (char *)buffer_extend(&lexical->scratch, length + 1);
	if (!plain)
		return ERROR_MEMORY;
	size_t bytes = cxx_name_last(text, length, plain, &start);
	return strings_add(&lexical->names, plain + start, bytes);
}

static uint64_t call_key(uint32_t function, uint32_t caller)
{
	return hash_u64((uint64_t)function << 32 | caller);
}

/* Reads the pairs of functions that are called by their names. */
static int read_calls(struct lexical *lexical)
{
	const struct profile *profile = lexical->profile;
	for (size_t i = 0; i < profile->note_count; i++) {
		const char *text = profile_string(profile, profile->notes[i].value);
		const char *first = strchr(text, '\t');
		if (!first || strcmp(profile_string(profile, profile->notes[i].key), LEXICAL_NOTE_CALLED) != 0)
			continue;
		int64_t function = own_name(lexical, text, (size_t)(first - text));
		int64_t caller = own_name(lexical, first + 1, strlen(first + 1));
		if (function < 0 || caller < 0 ||
		    hash_map_put(&lexical->calls, call_key((uint32_t)function, (uint32_t)caller), 0) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

static int read_takings(struct lexical *lexical)
{
	const struct profile *profile = lexical->profile;
	for (size_t i = 0; i < profile->note_count; i++) {
		const char *text = profile_string(profile, profile->notes[i].value);
		const char *key = profile_string(profile, profile->notes[i].key);
		const char *first = strchr(text, '\t'), *second = first ? strchr(first + 1, '\t') : NULL;
		bool is_nested = strcmp(key, PROFILE_NOTE_NESTED) == 0;
		if (is_nested && first && !second)
			second = first + strlen(first);
		else if (!second || strcmp(key, LEXICAL_NOTE) != 0)
			continue;
		int64_t function = own_name(lexical, text, (size_t)(first - text));
		int64_t taker = own_name(lexical, first + 1, (size_t)(second - first) - 1);
		if (function < 0 || taker < 0 ||
		    ARRAY_RESERVE(lexical->takings, lexical->capacity, lexical->count + 1) < 0)
			return ERROR_MEMORY;
		lexical->takings[lexical->count++] = (struct taking){ (uint32_t)function, (uint32_t)taker, is_nested };
	}
	return 0;
}

static int name_functions(struct lexical *lexical)
{
	const struct profile *profile = lexical->profile;
	lexical->own = calloc(profile->function_count + 1, sizeof(*lexical->own));
	for (size_t i = 0; i < profile->function_count && lexical->own; i++) {
		const char *text = profile_string(profile, profile->functions[i].name);
		int64_t name = own_name(lexical, text, strlen(text));
		if (name < 0)
			return ERROR_MEMORY;
		lexical->own[i] = (uint32_t)name;
	}
	return lexical->own ? 0 : ERROR_MEMORY;
}

/* --- the new parent of a node --- */

static uint32_t outermost(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = &profile->locations[location];
	return at->frame_count == 0 ? PROFILE_NONE : profile->frames[at->first_frame + at->frame_count - 1].function;
}

static bool has_function(const struct lexical *lexical, uint32_t location, uint32_t name)
{
	const struct profile_location *at = &lexical->profile->locations[location];
	for (uint32_t i = 0; i < at->frame_count; i++)
		if (lexical->own[lexical->profile->frames[at->first_frame + i].function] == name)
			return true;
	return false;
}

/* Whether the innermost function of a location calls another one by its name. */
static bool calls(const struct lexical *lexical, uint32_t location, uint32_t name)
{
	const struct profile_location *at = &lexical->profile->locations[location];
	if (at->frame_count == 0)
		return false;
	uint32_t function = lexical->profile->frames[at->first_frame].function;
	return hash_map_get(&lexical->calls, call_key(name, lexical->own[function])) != HASH_MAP_NONE;
}

/* Whether a function is nested in another one, or in one that is. */
static bool is_within(const struct lexical *lexical, uint32_t function, uint32_t host, int depth)
{
	enum { DEPTH_MAX = 16 }; /* notes of a damaged file may lead in a circle */
	for (size_t i = 0; i < lexical->count && depth < DEPTH_MAX; i++)
		if (lexical->takings[i].is_nested && lexical->takings[i].function == function &&
		    (lexical->takings[i].taker == host ||
		     is_within(lexical, lexical->takings[i].taker, host, depth + 1)))
			return true;
	return false;
}

/* Whether the innermost function of a location can call a nested function by its name, because it is nested in the
 * same one. */
static bool is_neighbour(const struct lexical *lexical, uint32_t location, uint32_t name)
{
	const struct profile_location *at = &lexical->profile->locations[location];
	if (at->frame_count == 0)
		return false;
	uint32_t caller = lexical->own[lexical->profile->frames[at->first_frame].function];
	for (size_t i = 0; i < lexical->count; i++)
		if (lexical->takings[i].is_nested && lexical->takings[i].function == name &&
		    is_within(lexical, caller, lexical->takings[i].taker, 0))
			return true;
	return false;
}

static bool takes(const struct lexical *lexical, uint32_t location, uint32_t function)
{
	for (size_t i = 0; i < lexical->count; i++)
		if (lexical->takings[i].function == function &&
		    has_function(lexical, location, lexical->takings[i].taker))
			return true;
	return false;
}

static int64_t add_node(struct lexical *lexical, uint32_t parent, uint32_t location)
{
	uint64_t key = (uint64_t)parent << 32 | location;
	uint32_t known = hash_map_get(&lexical->by_edge, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (lexical->node_count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(lexical->nodes, lexical->node_capacity, lexical->node_count + 1) < 0)
		return ERROR_MEMORY;
	lexical->nodes[lexical->node_count] = (struct profile_node){ .parent = parent, .location = location };
	if (hash_map_put(&lexical->by_edge, key, (uint32_t)lexical->node_count) < 0)
		return ERROR_MEMORY;
	return (int64_t)lexical->node_count++;
}

/* For a function none of whose takers is on its path. If the profile has exactly one taker of it, the path begins
 * with a frame of that taker; if not, the result is `otherwise`. */
static int64_t begin_path(struct lexical *lexical, uint32_t name, uint32_t otherwise)
{
	uint32_t taker = PROFILE_NONE;
	for (size_t i = 0; i < lexical->count; i++) {
		if (lexical->takings[i].function != name)
			continue;
		if (taker != PROFILE_NONE && taker != lexical->takings[i].taker)
			return otherwise;
		taker = lexical->takings[i].taker;
	}
	for (uint32_t i = 0; i < lexical->profile->location_count && taker != PROFILE_NONE; i++) {
		uint32_t function = outermost(lexical->profile, i);
		if (function != PROFILE_NONE && lexical->own[function] == taker)
			return add_node(lexical, PROFILE_ROOT, i);
	}
	return otherwise;
}

/* Returns the node of the new tree that becomes the parent of an old node. */
static int64_t find_parent(struct lexical *lexical, uint32_t node)
{
	const struct profile *profile = lexical->profile;
	uint32_t parent = profile->nodes[node].parent, function = outermost(profile, profile->nodes[node].location);
	uint32_t name = function == PROFILE_NONE ? PROFILE_NONE : lexical->own[function];
	bool is_taken = false;
	for (size_t i = 0; i < lexical->count && !is_taken && name != PROFILE_NONE; i++)
		is_taken = lexical->takings[i].function == name;
	/* Direct calls stay below their caller, and so do recursive calls. */
	if (!is_taken || parent == PROFILE_ROOT || has_function(lexical, profile->nodes[parent].location, name) ||
	    calls(lexical, profile->nodes[parent].location, name) ||
	    is_neighbour(lexical, profile->nodes[parent].location, name))
		return lexical->moved_to[parent];
	for (uint32_t at = parent; at != PROFILE_ROOT; at = profile->nodes[at].parent) {
		if (thread_mark_is(profile, at))
			return lexical->moved_to[parent];
		if (!takes(lexical, profile->nodes[at].location, name))
			continue;
		if (at != parent && hash_map_put(&lexical->moved, name, 0) < 0)
			return ERROR_MEMORY;
		return lexical->moved_to[at];
	}
	int64_t found = begin_path(lexical, name, lexical->moved_to[parent]);
	if (found >= 0 && found != lexical->moved_to[parent] && hash_map_put(&lexical->moved, name, 0) < 0)
		return ERROR_MEMORY;
	return found;
}

static int make_tree(struct lexical *lexical)
{
	const struct profile *profile = lexical->profile;
	lexical->moved_to = calloc(profile->node_count + 1, sizeof(*lexical->moved_to));
	if (!lexical->moved_to || ARRAY_RESERVE(lexical->nodes, lexical->node_capacity, profile->node_count) < 0)
		return ERROR_MEMORY;
	lexical->nodes[lexical->node_count++] = profile->nodes[PROFILE_ROOT];
	for (uint32_t i = 1; i < profile->node_count; i++) {
		int64_t parent = find_parent(lexical, i);
		int64_t node = parent < 0 ? parent : add_node(lexical, (uint32_t)parent, profile->nodes[i].location);
		if (node < 0)
			return (int)node;
		lexical->moved_to[i] = (uint32_t)node;
	}
	return 0;
}

static void take_tree(struct lexical *lexical)
{
	struct profile *profile = lexical->profile;
	for (size_t i = 0; i < profile->hit_count; i++)
		profile->hits[i].node = lexical->moved_to[profile->hits[i].node];
	for (size_t i = 0; i < profile->touch_count; i++)
		profile->touches[i].node = lexical->moved_to[profile->touches[i].node];
	free(profile->nodes);
	profile->nodes = lexical->nodes;
	profile->node_count = lexical->node_count;
	profile->node_capacity = lexical->node_capacity;
	lexical->nodes = NULL;
	hash_map_release(&profile->node_by_edge);
	hash_map_init(&profile->node_by_edge);
	profile->nodes_indexed = 0;
}

bool lexical_has_pairs(const struct profile *profile)
{
	return profile_note(profile, LEXICAL_NOTE) || profile_note(profile, PROFILE_NOTE_NESTED);
}

int64_t lexical_paths(struct profile *profile)
{
	struct lexical lexical = { .profile = profile };
	if (strings_init(&lexical.names) < 0)
		return ERROR_MEMORY;
	hash_map_init(&lexical.by_edge);
	hash_map_init(&lexical.calls);
	hash_map_init(&lexical.moved);
	buffer_init(&lexical.scratch);
	int64_t result = read_takings(&lexical);
	if (result == 0)
		result = read_calls(&lexical);
	if (result == 0)
		result = name_functions(&lexical);
	if (result == 0 && lexical.count > 0)
		result = make_tree(&lexical);
	if (result == 0 && lexical.count > 0) {
		take_tree(&lexical);
		result = (int64_t)lexical.moved.count;
	}
	hash_map_release(&lexical.by_edge);
	hash_map_release(&lexical.calls);
	hash_map_release(&lexical.moved);
	buffer_release(&lexical.scratch);
	strings_release(&lexical.names);
	free(lexical.own);
	free(lexical.takings);
	free(lexical.moved_to);
	free(lexical.nodes);
	return result;
}
