/*
 * Decides where code belongs that executed while a path was current: to the path itself, to a function that was
 * inlined into it, or to code below it that no hook reports.
 *
 * Several paths may share one piece of machine code: inlined functions with Profiler objects or hooks of their own,
 * and regions. An address in it is symbolized to several frames, innermost first, which assign the code to the
 * paths:
 *
 *     path     sort > sort: row > swap        `swap` is inlined, "row" a region
 *     frames   swap:7  sort:31
 *     nodes    sort:30  "sort: row":31  swap:7
 */
#include "collect/count/path_nodes.h"

/* Whether a function has a linkage name. Two functions with different linkage names are certainly two functions. */
static bool is_named(const struct profile *profile, uint32_t function)
{
	return function != PROFILE_NONE && profile->functions[function].linkage != 0;
}

int64_t path_nodes_child(const struct path_nodes *nodes, int64_t node, int64_t location)
{
	if (node < 0 || location < 0)
		return node < 0 ? node : location;
	return profile_add_node(nodes->profile, (uint32_t)node, (uint32_t)location);
}

/* --- one frame --- */

int64_t path_nodes_of_entry(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	uint32_t outer = nodes->threads[thread].caller_node[path];
	return path == COUNT_ROOT ? outer : path_nodes_child(nodes, outer, path_nodes_entry(nodes, thread, path));
}

/* --- code that several paths share --- */

enum { WITHIN_MAX = 64 };

/* Lists the paths from this path up to the owner of its code, without the owner. Returns their number, or 0 if there are too
 * many. */
static size_t paths_within(const struct path_nodes *nodes, uint32_t thread, uint32_t path, uint32_t *paths)
{
	const struct thread_nodes *thread_nodes = &nodes->threads[thread];
	size_t count = 0;
	for (uint32_t at = path; at != thread_nodes->code_owner[path];
	     at = path_nodes_tree(nodes, thread)->paths[at].parent) {
		if (count == WITHIN_MAX)
			return 0;
		paths[count++] = at;
	}
	return count;
}

/* Returns which of a location's frames, innermost first, belongs to a path: the frame of its function or, for a region, the frame
 * of the function around the region. Returns PROFILE_NONE if the location does not have the frames of the paths. Sets
 * *has_own_frames to whether each path has a frame of its own. */
static uint32_t frame_of(const struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location,
			 bool *has_own_frames)
{
	const struct profile *profile = nodes->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t paths[WITHIN_MAX];
	size_t count = paths_within(nodes, thread, path, paths);
	uint32_t frame = count > 0 && at->frame_count > 0 ? at->frame_count - 1 : PROFILE_NONE;
	*has_own_frames = true;
	while (count > 0 && frame != PROFILE_NONE) {
		const struct count_probe *probe = path_nodes_probe(nodes, thread, paths[--count]);
		if (probe && !count_is_function(probe)) {
			*has_own_frames = false;
			continue;
		}
		uint32_t function = path_nodes_function(nodes, thread, paths[count]);
		do
			frame = frame > 0 ? frame - 1 : PROFILE_NONE;
		while (frame != PROFILE_NONE && profile->frames[at->first_frame + frame].function != function);
	}
	return frame;
}

/* Adds a location with the same address; the caller adds its frames. */
static int64_t add_part(struct path_nodes *nodes, uint64_t key, uint32_t location)
{
	const struct profile_location old = nodes->profile->locations[location];
	int64_t id = profile_append_location(nodes->profile, old.module, old.address);
	return id < 0 || hash_map_put(&nodes->part_locations, key, (uint32_t)id) == 0 ? id : ERROR_MEMORY;
}

/* Returns a location for the same code as a part of one path only: its frames end with `frame`, which gets the
 * path's function. */
static int64_t part_location(struct path_nodes *nodes, int64_t location, uint32_t frame, uint32_t function)
{
	struct profile *profile = nodes->profile;
	uint64_t key = hash_u64((uint64_t)location << 32 | function) + frame;
	uint32_t known = hash_map_get(&nodes->part_locations, key), first = PROFILE_NONE;
	if (known != HASH_MAP_NONE)
		return known;
	for (uint32_t i = 0; i <= frame; i++) {
		struct profile_frame copy = profile->frames[profile->locations[location].first_frame + i];
		if (i == frame) {
			copy.function = function;
			copy.inlined = false;
		}
		int64_t added = profile_add_frame(profile, &copy);
		if (added < 0)
			return added;
		first = i == 0 ? (uint32_t)added : first;
	}
	int64_t id = add_part(nodes, key, (uint32_t)location);
	if (id < 0)
		return id;
	profile->locations[id].first_frame = first;
	profile->locations[id].frame_count = frame + 1;
	return id;
}

/* Returns the node of the owner's code while a path within the owner was current. */
static int64_t node_within(struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location)
{
	const struct thread_nodes *thread_nodes = &nodes->threads[thread];
	bool has_own_frames;
	uint32_t frame = frame_of(nodes, thread, path, location, &has_own_frames);
	if (frame == PROFILE_NONE)
		return path_nodes_of_entry(nodes, thread, path);
	if (has_own_frames)
		return path_nodes_child(nodes, thread_nodes->caller_node[thread_nodes->code_owner[path]], location);
	return path_nodes_child(nodes, thread_nodes->caller_node[path],
				part_location(nodes, location, frame, path_nodes_function(nodes, thread, path)));
}

/* Whether a location without a name is in another module than the path's function, and therefore not that function. */
static bool is_unnamed_elsewhere(const struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location)
{
	const struct profile *profile = nodes->profile;
	int64_t entry = path_nodes_entry(nodes, thread, path);
	return entry >= 0 && !is_named(profile, path_nodes_outermost_function(profile, location)) &&
	       profile->locations[entry].module != profile->locations[location].module;
}

/* As path_nodes_of_code, for a path that is not the root and a location without frames of the function into which the path is inlined. */
static int64_t node_of_own_code(struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location,
				bool is_foreign)
{
	const struct profile *profile = nodes->profile;
	const struct thread_nodes *thread_nodes = &nodes->threads[thread];
	if (is_unnamed_elsewhere(nodes, thread, path, location))
		return path_nodes_child(nodes, path_nodes_of_entry(nodes, thread, path), location);
	uint32_t function = path_nodes_function(nodes, thread, path),
		 there = path_nodes_outermost_function(profile, location);
	uint32_t owner = thread_nodes->code_owner[path];
	if (owner != path && there == path_nodes_function(nodes, thread, owner))
		return there != PROFILE_NONE ? node_within(nodes, thread, path, location)
					     : path_nodes_of_entry(nodes, thread, path);
	if (there != PROFILE_NONE && there == function)
		return path_nodes_child(nodes, thread_nodes->caller_node[path], location);
	bool is_probe = path_nodes_probe(nodes, thread, path) != NULL;
	/* Code without symbols: only its Profiler objects identify it. */
	if (!is_foreign && is_probe && !is_named(profile, there))
		return path_nodes_of_entry(nodes, thread, path);
	bool is_known = is_named(profile, function) || is_probe;
	if (!is_foreign && !(is_known && is_named(profile, there)))
		return path_nodes_child(nodes, thread_nodes->caller_node[path], location);
	return path_nodes_child(nodes, path_nodes_of_entry(nodes, thread, path), location);
}

/* Returns the frame of the owner's function at a location in the function into which it is inlined, or PROFILE_NONE if the code is
 * not the owner's. */
static uint32_t frame_in_container(const struct path_nodes *nodes, uint32_t thread, uint32_t owner, int64_t location)
{
	const struct profile *profile = nodes->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t function = path_nodes_function(nodes, thread, owner);
	uint32_t frame = at->first_frame == PROFILE_NONE || at->frame_count == 0 ? 0 : at->frame_count - 1;
	while (frame-- > 0)
		if (profile->frames[at->first_frame + frame].function == function)
			return frame;
	return PROFILE_NONE;
}

/* Returns the path whose machine code contains a location. The location's frames, innermost first, must be the functions of `path`
 * and of the paths above it, with functions without hooks between them; otherwise returns PROFILE_NONE. */
static uint32_t aligned_owner(const struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location)
{
	const struct profile *profile = nodes->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t owner = PROFILE_NONE;
	for (uint32_t i = 0; i < at->frame_count && at->first_frame != PROFILE_NONE; i++) {
		const struct count_probe *probe = path_nodes_probe(nodes, thread, path);
		if (path == COUNT_ROOT || (probe && !count_is_function(probe)))
			return PROFILE_NONE;
		bool is_its = profile->frames[at->first_frame + i].function == path_nodes_function(nodes, thread, path);
		owner = is_its ? path : PROFILE_NONE;
		path = is_its ? path_nodes_tree(nodes, thread)->paths[path].parent : path;
	}
	return owner;
}

int64_t path_nodes_of_code(struct path_nodes *nodes, uint32_t thread, uint32_t path, int64_t location, bool is_foreign)
{
	const struct profile *profile = nodes->profile;
	const struct thread_nodes *thread_nodes = &nodes->threads[thread];
	if (location < 0)
		return location;
	if (path == COUNT_ROOT)
		return path_nodes_child(nodes, thread_nodes->caller_node[path], location);
	uint32_t aligned =
		thread_nodes->is_inlined_and_called[path] ? aligned_owner(nodes, thread, path, location) : PROFILE_NONE;
	if (aligned != PROFILE_NONE)
		return path_nodes_child(nodes, thread_nodes->caller_node[aligned], location);
	uint32_t container = thread_nodes->inlined_into[thread_nodes->code_owner[path]];
	uint32_t in_container = container == PROFILE_NONE
					? container
					: frame_in_container(nodes, thread, thread_nodes->code_owner[path], location);
	if (container == INLINED_INTO_SEVERAL && in_container != PROFILE_NONE)
		return path_nodes_child(nodes, thread_nodes->caller_node[thread_nodes->code_owner[path]], location);
	if (container != PROFILE_NONE && path_nodes_outermost_function(profile, location) == container) {
		if (in_container == PROFILE_NONE)
			return path_nodes_of_entry(nodes, thread, path);
		location = part_location(nodes, location, in_container,
					 path_nodes_function(nodes, thread, thread_nodes->code_owner[path]));
		if (location < 0)
			return location;
	}
	return node_of_own_code(nodes, thread, path, location, is_foreign);
}

/* Returns the node of the code around a probe point; for a region, the line in it is known. */
static int64_t inlining_node(struct path_nodes *nodes, uint32_t thread, const struct count_call *call)
{
	struct profile *profile = nodes->profile;
	const struct count_probe *probe =
		tally_probe_at(nodes->tally, nodes->tally->threads[thread].process, call->function);
	int64_t entry = path_nodes_entry(nodes, thread, call->path);
	if (entry < 0 || !probe || count_is_function(probe) || !path_nodes_probe(nodes, thread, call->path))
		return path_nodes_of_entry(nodes, thread, call->path);
	uint64_t key = hash_u64((uint64_t)entry << 32 | probe->location);
	uint32_t known = hash_map_get(&nodes->part_locations, key);
	if (known != HASH_MAP_NONE)
		return path_nodes_child(nodes, nodes->threads[thread].caller_node[call->path], known);
	struct profile_frame frame = profile->frames[profile->locations[entry].first_frame];
	frame.line = probe->line;
	int64_t id = add_part(nodes, key, (uint32_t)entry);
	int64_t first = id < 0 ? id : profile_add_frame(profile, &frame);
	if (first < 0)
		return first;
	profile->locations[id].first_frame = (uint32_t)first;
	profile->locations[id].frame_count = 1;
	return path_nodes_child(nodes, nodes->threads[thread].caller_node[call->path], id);
}

static bool is_region(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	const struct count_probe *probe = path_nodes_probe(nodes, thread, path);
	return probe && !count_is_function(probe);
}

/* Returns the node of the code at a call site, or of the caller if that is not known. */
static int64_t calling_node(struct path_nodes *nodes, uint32_t thread, const struct count_call *call)
{
	if (call->call_site == 0 || call->flags & TALLY_EDGE_INLINED)
		return path_nodes_of_entry(nodes, thread, call->path);
	int64_t call_site = tally_call_site_location(nodes->tally, nodes->profile,
						     nodes->tally->threads[thread].process, call->call_site);
	return path_nodes_of_code(nodes, thread, call->path, call_site, call->flags & TALLY_EDGE_FOREIGN);
}

int64_t path_nodes_of_call(struct path_nodes *nodes, uint32_t thread, const struct count_call *call)
{
	int64_t around = path_nodes_inlining_location(nodes, thread, call);
	if (around < 0)
		return around;
	if (call->flags & TALLY_EDGE_INLINED && call->path != COUNT_ROOT)
		return around == PROFILE_NONE || is_region(nodes, thread, call->path)
			       ? inlining_node(nodes, thread, call)
			       : path_nodes_of_code(nodes, thread, call->path, around, false);
	int64_t node = calling_node(nodes, thread, call);
	return around == PROFILE_NONE ? node : path_nodes_child(nodes, node, around);
}
