#include "profile/quality.h"

#include <inttypes.h>
#include <math.h>

#include "profile/findings.h"

struct quality quality_of(const struct profile *profile)
{
	struct quality quality = { 0 };
	for (size_t i = 0; i < profile->cause_count; i++) {
		const struct profile_cause *cause = &profile->causes[i];
		quality.stacks += cause->count;
		quality.whole += cause->whole && !cause->guessed ? cause->count : 0;
		quality.completed += cause->whole && cause->completed ? cause->count : 0;
		quality.guessed += cause->whole && cause->guessed ? cause->count : 0;
		quality.broken += cause->whole ? 0 : cause->count;
	}
	for (size_t i = 0; i < profile->hit_count; i++)
		quality.samples += profile_hit_samples(profile, &profile->hits[i]);
	return quality;
}

double quality_percent(uint64_t part, uint64_t all)
{
	return all ? floor((double)part / (double)all * 10000) / 100 : 100;
}

struct quality_shares quality_shares_of(const struct quality *quality)
{
	const double percent = 100;
	struct quality_shares shares = { .whole = quality_percent(quality->whole, quality->stacks) };
	shares.broken = percent - quality_percent(quality->whole + quality->guessed, quality->stacks);
	shares.guessed = percent - shares.whole - shares.broken;
	return shares;
}

void quality_add_findings(struct profile *profile)
{
	static const double expected_percent = 99;
	struct quality quality = quality_of(profile);
	double rooted = quality_percent(quality.whole + quality.guessed, quality.stacks);
	if (profile->lost > 0 && !finding_find(profile, FINDING_SAMPLES_LOST))
		finding_add(profile, FINDING_SAMPLES_LOST, profile->lost,
			    "{# sample was|# samples were} lost besides %" PRIu64 " recorded", quality.samples);
	if (quality.stacks > 0 && rooted < expected_percent && !finding_find(profile, FINDING_PATHS_BROKEN))
		finding_add(profile, FINDING_PATHS_BROKEN, quality.broken,
			    "only %.2f %% of the call paths reach their root", rooted);
}

void quality_sum_findings(struct profile *profile)
{
	if (profile->lost > 0)
		findings_remove(profile, FINDING_SAMPLES_LOST, "");
	if (profile->cause_count > 0)
		findings_remove(profile, FINDING_PATHS_BROKEN, "");
	quality_add_findings(profile);
}
