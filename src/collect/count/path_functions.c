/* The functions and probe points that a thread's paths are, for placing.c and hosts.c. */
#include "collect/count/placing.h"

const struct count_tree *placing_tree(const struct placing *placing, uint32_t thread)
{
	return &placing->tally->threads[thread].tree;
}

uint32_t placing_outermost(const struct profile *profile, int64_t location)
{
	const struct profile_location *at = &profile->locations[location];
	return at->first_frame == PROFILE_NONE || at->frame_count == 0
		       ? PROFILE_NONE
		       : profile->frames[at->first_frame + at->frame_count - 1].function;
}

const struct count_probe *placing_probe(const struct placing *placing, uint32_t thread, uint32_t path)
{
	return tally_probe_at(placing->tally, placing->tally->threads[thread].process,
			      placing_tree(placing, thread)->paths[path].function);
}

int64_t placing_entry(const struct placing *placing, uint32_t thread, uint32_t path)
{
	return tally_entry_location(placing->tally, placing->profile, placing->tally->threads[thread].process,
				    placing_tree(placing, thread)->paths[path].function);
}

uint32_t placing_function(const struct placing *placing, uint32_t thread, uint32_t path)
{
	int64_t entry = path == COUNT_ROOT ? -1 : placing_entry(placing, thread, path);
	return entry < 0 ? PROFILE_NONE : placing_outermost(placing->profile, entry);
}
