#include "made.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { INTERVAL_NS = 52631579 }; /* of 19 Hz */

void made_give_up(const char *message)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, message);
	exit(1);
}

uint32_t made_need(int64_t id)
{
	if (id < 0)
		made_give_up(error_text((int)id));
	return (uint32_t)id;
}

/* Marsaglia's xorshift (Journal of Statistical Software 8, 2003). */
uint64_t made_random(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

double made_uniform(void)
{
	return ((double)(made_random() >> 12) + 0.5) / (double)(UINT64_C(1) << 52);
}

double made_normal(void)
{
	return sqrt(-2 * log(made_uniform())) * cos(2 * M_PI * made_uniform());
}

uint64_t made_poisson(double mean)
{
	const double many = 100;
	uint64_t count = 0;
	if (mean > many)
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * made_normal()));
	for (double left = exp(-mean), product = made_uniform(); product > left; product *= made_uniform())
		count++;
	return count;
}

uint32_t made_node(struct profile *profile, uint32_t above, const char *name)
{
	uint32_t text = made_need(profile_add_string(profile, name));
	const struct profile_function function = { .name = text,
						   .linkage = text,
						   .module = PROFILE_NONE,
						   .role = strcmp(name, "main") == 0 ? ROLE_MAIN : ROLE_NONE };
	const struct profile_frame frame = { .function = made_need(profile_add_function(profile, &function)) };
	uint32_t first = made_need(profile_add_frame(profile, &frame));
	uint32_t location = made_need(profile_add_location(profile, 0, profile->location_count));
	profile->locations[location].first_frame = first;
	profile->locations[location].frame_count = 1;
	return made_need(profile_add_node(profile, above, location));
}

struct profile *made_profile(const char *path)
{
	struct profile *profile = profile_new();
	if (!profile)
		made_give_up("out of memory");
	const struct profile_module module = { .path = made_need(profile_add_string(profile, path)),
					       .kind = MODULE_NAMES };
	const struct profile_resource cpu = { .name = made_need(profile_add_string(profile, "cpu")),
					      .title = made_need(profile_add_string(profile, "CPU Time")),
					      .unit = made_need(profile_add_string(profile, "ns")),
					      .kind = RESOURCE_SAMPLED,
					      .interval = INTERVAL_NS };
	made_need(profile_add_module(profile, &module));
	made_need(profile_add_resource(profile, &cpu));
	profile->symbolized = profile->ended = true;
	return profile;
}
