/* Finds companions by their names. */
#include "profile/companion.h"

#include <string.h>

static const char *const endings[] = { [COMPANION_RAW] = "-raw", [COMPANION_ERROR] = "-error" };
enum { COMPANIONS = sizeof(endings) / sizeof(endings[0]) };

const char *companion_ending(enum companion companion)
{
	return endings[companion];
}

static bool has_name(const struct profile *profile, uint32_t resource, const char *name, size_t length,
		     const char *ending)
{
	const char *own = profile_string(profile, profile->resources[resource].name);
	return strncmp(own, name, length) == 0 && strcmp(own + length, ending) == 0;
}

static bool are_alike(const struct profile *profile, uint32_t a, uint32_t b)
{
	const struct profile_resource *first = &profile->resources[a], *second = &profile->resources[b];
	return !resource_has_samples(first) && first->kind == second->kind && first->unit == second->unit;
}

/* Returns the resource like `like` whose name is that beginning and the ending, or PROFILE_NONE. */
static uint32_t find(const struct profile *profile, uint32_t like, const char *name, size_t length, const char *ending)
{
	for (uint32_t i = 0; i < profile->resource_count; i++)
		if (are_alike(profile, i, like) && has_name(profile, i, name, length, ending))
			return i;
	return PROFILE_NONE;
}

uint32_t companion_of(const struct profile *profile, uint32_t resource, enum companion companion)
{
	const char *name = profile_string(profile, profile->resources[resource].name);
	return find(profile, resource, name, strlen(name), endings[companion]);
}

bool companion_is(const struct profile *profile, uint32_t resource)
{
	const char *name = profile_string(profile, profile->resources[resource].name);
	size_t length = strlen(name);
	for (size_t i = 0; i < COMPANIONS; i++) {
		size_t ending = strlen(endings[i]);
		if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
			return find(profile, resource, name, length - ending, "") != PROFILE_NONE;
	}
	return false;
}
