#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/profile.h"

/* Marks the functions of all locations' frames, and the functions of tail calls. Returns the number of these frames. */
static size_t mark(const struct profile *profile, uint32_t *functions)
{
	size_t frames = 0;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		for (uint32_t at = 0; location->first_frame != PROFILE_NONE && at < location->frame_count;
		     at++, frames++)
			functions[profile->frames[location->first_frame + at].function] = 1;
	}
	for (size_t i = 0; i < profile->tail_call_count; i++)
		functions[profile->tail_calls[i].callee] = 1;
	return frames;
}

/* Moves the marked functions together, and replaces the marks by their new numbers. */
static void move_functions(struct profile *profile, uint32_t *functions)
{
	uint32_t kept = 0;
	for (size_t i = 0; i < profile->function_count; i++) {
		if (!functions[i])
			continue;
		profile->functions[kept] = profile->functions[i];
		functions[i] = kept++;
	}
	profile->function_count = kept;
	for (size_t i = 0; i < profile->tail_call_count; i++)
		profile->tail_calls[i].callee = functions[profile->tail_calls[i].callee];
}

static void move_frames(struct profile *profile, const uint32_t *functions, struct profile_frame *frames)
{
	uint32_t kept = 0;
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		if (location->first_frame == PROFILE_NONE)
			continue;
		uint32_t first = kept;
		for (uint32_t at = 0; at < location->frame_count; at++) {
			frames[kept] = profile->frames[location->first_frame + at];
			frames[kept].function = functions[frames[kept].function];
			kept++;
		}
		location->first_frame = first;
	}
	profile->frame_count = kept;
}

int profile_compact(struct profile *profile)
{
	uint32_t *functions = calloc(profile->function_count + 1, sizeof(*functions));
	size_t count = functions ? mark(profile, functions) : 0;
	struct profile_frame *frames = functions ? malloc((count + 1) * sizeof(*frames)) : NULL;
	if (frames) {
		move_functions(profile, functions);
		move_frames(profile, functions, frames);
		free(profile->frames);
		profile->frames = frames;
		profile->frame_capacity = count + 1;
	}
	free(functions);
	return frames ? 0 : ERROR_MEMORY;
}
