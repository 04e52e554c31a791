/*
 * Code around inlined functions. A hook or Profiler object of a function that is inlined into code without hooks
 * reports the return address and the stack of that code. The hook's own address shows what lies between: it is
 * symbolized to the inlined function and the functions around it.
 *
 *     int main()      { wrapper(); }                 a hook
 *     void wrapper()  { small(); }                   no hook; the call site of `small` is the call in main
 *     void small()    { burn(); }                    a hook; inlined
 *
 *     hook's address  small:3  wrapper:2             path  main > small > burn
 *     nodes           main:1  wrapper:2  small  burn
 *
 * The path's code is inlined into the outermost of these functions. The frames of the path's code end with the frame of this
 * function, which the node of the path's caller has already.
 */
#include "collect/count/path_nodes.h"

/* Returns the index of the innermost frame at a location that has this function, or PROFILE_NONE. */
static uint32_t innermost(const struct profile *profile, const struct profile_location *location, uint32_t function)
{
	for (uint32_t i = 0; i < location->frame_count && location->first_frame != PROFILE_NONE; i++)
		if (profile->frames[location->first_frame + i].function == function)
			return i;
	return PROFILE_NONE;
}

/* Returns a location for the same code with the frames from `first` outward only, with or without their lines. */
static int64_t outer_location(struct path_nodes *nodes, uint32_t location, uint32_t first, bool has_lines)
{
	struct profile *profile = nodes->profile;
	const struct profile_location whole = profile->locations[location];
	uint64_t key = hash_u64((uint64_t)location << 32 | first) + has_lines;
	uint32_t known = hash_map_get(&nodes->outer_locations, key), begin = PROFILE_NONE;
	if (known != HASH_MAP_NONE)
		return known;
	for (uint32_t i = first; i < whole.frame_count; i++) {
		struct profile_frame copy = profile->frames[whole.first_frame + i];
		copy.line = has_lines ? copy.line : 0;
		int64_t added = profile_add_frame(profile, &copy);
		if (added < 0)
			return added;
		begin = i == first ? (uint32_t)added : begin;
	}
	int64_t id = profile_append_location(profile, whole.module, whole.address);
	if (id < 0 || hash_map_put(&nodes->outer_locations, key, (uint32_t)id) < 0)
		return id < 0 ? id : ERROR_MEMORY;
	profile->locations[id].first_frame = begin;
	profile->locations[id].frame_count = whole.frame_count - first;
	return id;
}

int64_t path_nodes_inlining_location(struct path_nodes *nodes, uint32_t thread, const struct count_call *call)
{
	const struct tally *tally = nodes->tally;
	uint32_t process = tally->threads[thread].process;
	uint64_t code = tally_hook_code(tally, process, call);
	const struct count_probe *probe = tally_probe_at(tally, process, call->function);
	if (code == 0 || call->child == TALLY_NONE || (probe && !count_is_function(probe)))
		return PROFILE_NONE;
	int64_t id = tally_call_site_location(tally, nodes->profile, process, code);
	if (id < 0)
		return id;
	const struct profile_location *location = &nodes->profile->locations[id];
	uint32_t function = path_nodes_function(nodes, thread, call->child);
	uint32_t frame = function == PROFILE_NONE ? PROFILE_NONE : innermost(nodes->profile, location, function);
	if (frame == PROFILE_NONE || frame + 1 == location->frame_count)
		return PROFILE_NONE;
	return outer_location(nodes, (uint32_t)id, frame + 1, true);
}

int64_t path_nodes_without_lines(struct path_nodes *nodes, uint32_t location)
{
	return outer_location(nodes, location, 0, false);
}

bool path_nodes_have_same_functions(const struct profile *profile, uint32_t a, uint32_t b, bool *have_same_lines)
{
	const struct profile_location *first = &profile->locations[a], *second = &profile->locations[b];
	if (first->first_frame == PROFILE_NONE || second->first_frame == PROFILE_NONE ||
	    first->frame_count != second->frame_count)
		return false;
	for (uint32_t i = 0; i < first->frame_count; i++) {
		const struct profile_frame *one = &profile->frames[first->first_frame + i];
		const struct profile_frame *other = &profile->frames[second->first_frame + i];
		if (one->function != other->function)
			return false;
		*have_same_lines = *have_same_lines && one->line == other->line && one->file == other->file;
	}
	return true;
}

int64_t path_nodes_inlined_into(struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	uint32_t first = tree->paths[path].call;
	int64_t container = PROFILE_NONE;
	for (uint32_t i = first; i != TALLY_NONE; i = tree->calls[i].next) {
		int64_t around = path_nodes_inlining_location(nodes, thread, &tree->calls[i]);
		if (around < 0)
			return around;
		uint32_t function =
			around == PROFILE_NONE ? PROFILE_NONE : path_nodes_outermost_function(nodes->profile, around);
		if (i != first && container != function)
			return INLINED_INTO_SEVERAL;
		container = function;
	}
	return container;
}
