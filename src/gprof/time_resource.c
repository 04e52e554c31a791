#include <stdlib.h>
#include <string.h>

#include "gprof/truth.h"

bool truth_is_time(const struct profile *profile, uint32_t resource)
{
	return strcmp(profile_string(profile, profile->resources[resource].unit), "ns") == 0 &&
	       profile->resources[resource].interval > 0;
}

uint32_t truth_resource(const struct profile *profile)
{
	uint32_t best = PROFILE_NONE;
	int best_rank = 0;
	bool *has_hits = calloc(profile->resource_count + 1, sizeof(*has_hits));
	for (size_t i = 0; has_hits && i < profile->hit_count; i++)
		has_hits[profile->hits[i].resource] = true;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		if (!truth_is_time(profile, i))
			continue;
		bool is_cpu = strcmp(profile_string(profile, profile->resources[i].name), "cpu") == 0;
		int rank =
			1 + (profile->resources[i].kind != RESOURCE_EXACT) + is_cpu + (has_hits && has_hits[i] ? 4 : 0);
		if (rank > best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	free(has_hits);
	return best;
}
