/* Call paths and their names, from the rows of a store. */
#include <string.h>

#include "base/array.h"
#include "profile/tail_calls.h"
#include "store/assemble.h"
#include "store/hash.h"

enum { DEPTH_MOST = 1 << 22 }; /* frames of a path */

/* --- rows --- */

/* Returns the status of a row that must exist: 0 or a negative error. */
static int required(const struct assemble *assemble, int got)
{
	return got == 0 ? assemble_corrupt(assemble, "a row is missing") : got < 0 ? got : 0;
}

static int64_t add_text(const struct assemble *assemble, const char *text)
{
	int64_t id = profile_add_string(assemble->profile, text);
	return id < 0 ? assemble_fail(assemble, (int)id) : id;
}

/* Returns a number that has to fit into 32 bits, or a negative error. */
static int64_t checked(const struct assemble *assemble, int64_t number)
{
	return number < 0 || number >= UINT32_MAX ? assemble_corrupt(assemble, "a number is out of range") : number;
}

/* Keeps the id in the profile under that of the store. `added` is what the profile returned. */
static int64_t store_row(const struct assemble *assemble, struct hash_map *map, int64_t id, int64_t added)
{
	if (added >= 0 && hash_map_put(map, (uint64_t)id, (uint32_t)added) < 0)
		added = ERROR_MEMORY;
	return added < 0 ? assemble_fail(assemble, (int)added) : added;
}

/* --- names --- */

static int64_t module_of(struct assemble *assemble, int64_t id)
{
	uint32_t found = hash_map_get(&assemble->modules, (uint64_t)id);
	if (found != HASH_MAP_NONE)
		return found;
	struct assembled_module row = { 0 };
	int status = required(assemble, assemble->source->module(assemble->source->context, id, &row));
	if (status < 0)
		return status;
	if (row.kind < 0 || row.kind > MODULE_THREAD || row.build_id_bytes > PROFILE_BUILD_ID_MAX)
		return assemble_corrupt(assemble, "a module is out of range");
	struct profile_module module = { .kind = (uint8_t)row.kind, .build_id_bytes = (uint8_t)row.build_id_bytes };
	if (row.build_id_bytes > 0)
		memcpy(module.build_id, row.build_id, row.build_id_bytes);
	int64_t path = add_text(assemble, row.path);
	if (path < 0)
		return path;
	module.path = (uint32_t)path;
	return store_row(assemble, &assemble->modules, id, profile_add_module(assemble->profile, &module));
}

static int64_t function_of(struct assemble *assemble, int64_t id)
{
	uint32_t found = hash_map_get(&assemble->functions, (uint64_t)id);
	if (found != HASH_MAP_NONE)
		return found;
	struct assembled_function row = { 0 };
	int status = required(assemble, assemble->source->function(assemble->source->context, id, &row));
	if (status < 0)
		return status;
	int64_t name = add_text(assemble, row.name), linkage = add_text(assemble, row.linkage);
	int64_t file = add_text(assemble, row.file), group = add_text(assemble, row.group);
	int64_t line = checked(assemble, row.line), role = checked(assemble, row.role);
	if (name < 0 || linkage < 0 || file < 0 || group < 0 || line < 0 || role < 0)
		return assemble->error->code;
	int64_t module = row.module == 0 ? PROFILE_NONE : module_of(assemble, row.module);
	if (module < 0)
		return module;
	const struct profile_function function = { .name = (uint32_t)name,
						   .linkage = (uint32_t)linkage,
						   .module = (uint32_t)module,
						   .file = (uint32_t)file,
						   .line = (uint32_t)line,
						   .role = (uint8_t)(role > ROLE_CREATE ? ROLE_CREATE + 1 : role),
						   .group = (uint32_t)group };
	return store_row(assemble, &assemble->functions, id, profile_add_function(assemble->profile, &function));
}

static int make_frame(struct assemble *assemble, const struct assembled_frame *row, struct profile_frame *frame)
{
	int64_t own_file = row->file ? add_text(assemble, row->file) : 0;
	int64_t function = own_file < 0 ? own_file : function_of(assemble, row->function);
	int64_t line = checked(assemble, row->line), discriminator = checked(assemble, row->discriminator);
	int64_t kind = checked(assemble, row->kind);
	if (function < 0 || line < 0 || discriminator < 0 || kind < 0)
		return assemble->error->code;
	uint32_t file = row->file ? (uint32_t)own_file : assemble->profile->functions[function].file;
	*frame = (struct profile_frame){ .function = (uint32_t)function,
					 .file = file,
					 .line = (uint32_t)line,
					 .discriminator = (uint32_t)discriminator,
					 .inlined = row->inlined,
					 .kind = (uint8_t)(kind > FRAME_INTERPRETER ? FRAME_INTERPRETER + 1 : kind) };
	return 0;
}

/* Reads the frames of a location into assemble->frames. Returns their number or a negative error. */
static int64_t read_frames(struct assemble *assemble, int64_t id)
{
	size_t count = 0;
	for (;; count++) {
		struct assembled_frame row = { 0 };
		int got = assemble->source->frame(assemble->source->context, id, count, &row);
		if (got <= 0)
			return got < 0 ? got : (int64_t)count;
		if (ARRAY_RESERVE(assemble->frames, assemble->frame_capacity, count + 1) < 0)
			return assemble_fail(assemble, ERROR_MEMORY);
		int status = make_frame(assemble, &row, &assemble->frames[count]);
		if (status < 0)
			return status;
	}
}

/* Adds a location. Recordings may have given one address different names: these are locations of their own. */
static int64_t add_location(struct profile *profile, uint32_t module, uint64_t address, int64_t marks)
{
	size_t count = profile->location_count;
	if (profile->modules[module].kind == MODULE_NAMES)
		address = count; /* a number, which distinguishes it */
	int64_t id = marks & STORE_BY_FRAMES ? profile_append_location(profile, module, address)
					     : profile_add_location(profile, module, address);
	if (id >= 0 && profile->location_count == count)
		id = profile_append_location(profile, module, address);
	if (id >= 0)
		profile->locations[id].is_tail = (marks & STORE_TAIL) != 0;
	return id;
}

static int64_t location_of(struct assemble *assemble, int64_t id)
{
	struct profile *profile = assemble->profile;
	uint32_t found = hash_map_get(&assemble->locations, (uint64_t)id);
	if (found != HASH_MAP_NONE)
		return found;
	struct assembled_location row = { 0 };
	int status = required(assemble, assemble->source->location(assemble->source->context, id, &row));
	int64_t module = status < 0 ? status : module_of(assemble, row.module);
	int64_t count = module < 0 ? module : read_frames(assemble, id);
	if (count < 0)
		return count;
	size_t first = profile->frame_count;
	for (int64_t i = 0; i < count; i++) {
		int64_t frame = profile_add_frame(profile, &assemble->frames[i]);
		if (frame < 0)
			return assemble_fail(assemble, (int)frame);
	}
	int64_t location = add_location(profile, (uint32_t)module, row.address, row.marks);
	if (location >= 0 && count > 0) {
		profile->locations[location].first_frame = (uint32_t)first;
		profile->locations[location].frame_count = (uint32_t)count;
	}
	if (location >= 0 && count > 0 && row.marks & STORE_UNKNOWN_CALL &&
	    hash_map_put(&assemble->marked, (uint64_t)location, 0) < 0)
		location = ERROR_MEMORY;
	return store_row(assemble, &assemble->locations, id, location);
}

/* --- call paths --- */

/* Writes the stacks from `id` up to the first known one, each with its location, to the chain.
 * Sets *above to that one's node. */
static int read_chain(struct assemble *assemble, int64_t id, uint32_t *above)
{
	assemble->chain_count = 0;
	*above = PROFILE_ROOT;
	while (id != 0) {
		uint32_t found = hash_map_get(&assemble->stacks, (uint64_t)id);
		if (found != HASH_MAP_NONE) {
			*above = found;
			return 0;
		}
		struct assembled_stack row = { 0 };
		int status = required(assemble, assemble->source->stack(assemble->source->context, id, &row));
		if (status < 0)
			return status;
		if (row.parent == id || assemble->chain_count / 2 == DEPTH_MOST)
			return assemble_corrupt(assemble, "a call path is circular");
		if (ARRAY_RESERVE(assemble->chain, assemble->chain_capacity, assemble->chain_count + 2) < 0)
			return assemble_fail(assemble, ERROR_MEMORY);
		assemble->chain[assemble->chain_count++] = id;
		assemble->chain[assemble->chain_count++] = row.location;
		id = row.parent;
	}
	return 0;
}

/* Adds a row of tail calls for the call that leads to a location below a node, if it is an unknown one. */
static int add_unknown_call(struct assemble *assemble, uint32_t node, uint32_t location)
{
	struct profile *profile = assemble->profile;
	if (node == PROFILE_ROOT || hash_map_get(&assemble->marked, location) == HASH_MAP_NONE)
		return 0;
	uint32_t caller = profile->nodes[node].location;
	uint64_t pair = (uint64_t)caller << 32 | location;
	if (hash_map_get(&assemble->unknown, pair) != HASH_MAP_NONE)
		return 0;
	int status = hash_map_put(&assemble->unknown, pair, 0);
	if (status == 0)
		status = tail_calls_add_unknown(profile, caller, location);
	return status < 0 ? assemble_fail(assemble, status) : 0;
}

int64_t assemble_stack(struct assemble *assemble, int64_t id)
{
	uint32_t node;
	int status = read_chain(assemble, id, &node);
	if (status < 0)
		return status;
	while (assemble->chain_count > 0) {
		int64_t location = location_of(assemble, assemble->chain[--assemble->chain_count]);
		status = location < 0 ? (int)location : add_unknown_call(assemble, node, (uint32_t)location);
		if (status < 0)
			return status;
		int64_t stack = assemble->chain[--assemble->chain_count];
		int64_t child = store_row(assemble, &assemble->stacks, stack,
					  profile_add_node(assemble->profile, node, (uint32_t)location));
		if (child < 0)
			return child;
		node = (uint32_t)child;
	}
	return node;
}
