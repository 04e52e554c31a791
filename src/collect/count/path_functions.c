/* The functions and probe points that a thread's paths are, for path_nodes.c and inlined_into.c. */
#include "collect/count/path_nodes.h"

const struct count_tree *path_nodes_tree(const struct path_nodes *nodes, uint32_t thread)
{
	return &nodes->tally->threads[thread].tree;
}

uint32_t path_nodes_outermost_function(const struct profile *profile, int64_t location)
{
	const struct profile_location *at = &profile->locations[location];
	return at->first_frame == PROFILE_NONE || at->frame_count == 0
		       ? PROFILE_NONE
		       : profile->frames[at->first_frame + at->frame_count - 1].function;
}

const struct count_probe *path_nodes_probe(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	return tally_probe_at(nodes->tally, nodes->tally->threads[thread].process,
			      path_nodes_tree(nodes, thread)->paths[path].function);
}

int64_t path_nodes_entry(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	return tally_entry_location(nodes->tally, nodes->profile, nodes->tally->threads[thread].process,
				    path_nodes_tree(nodes, thread)->paths[path].function);
}

uint32_t path_nodes_function(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	int64_t entry = path == COUNT_ROOT ? -1 : path_nodes_entry(nodes, thread, path);
	return entry < 0 ? PROFILE_NONE : path_nodes_outermost_function(nodes->profile, entry);
}
