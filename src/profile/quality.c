#include "render/quality.h"

#include <math.h>

struct quality quality_of(const struct profile *profile)
{
	struct quality quality = { 0 };
	for (size_t i = 0; i < profile->cause_count; i++) {
		const struct profile_cause *cause = &profile->causes[i];
		quality.stacks += cause->count;
		quality.whole += cause->whole ? cause->count : 0;
		quality.completed += cause->whole && cause->completed ? cause->count : 0;
	}
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		uint8_t kind = profile->resources[hit->resource].kind;
		quality.samples += kind == RESOURCE_MERGED ? hit->count : kind == RESOURCE_SAMPLED;
	}
	return quality;
}

double quality_percent(uint64_t part, uint64_t all)
{
	return all ? floor((double)part / (double)all * 10000) / 100 : 100;
}
