/*
 * Arbitrary bytes as the answer about two locations of a module, as a process in the jail may send them. Either they are refused and the
 * profile is unchanged, or both locations have frames and the profile is sound. Built for libFuzzer, or with replay.c.
 */
#include <stdint.h>
#include <stdlib.h>

#include "frames/naming_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static const struct frames_cause causes[] = { { .remedy = "first" }, { .remedy = "second" } };
static const struct frames_provider provider = { .causes = causes, .cause_count = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t locations[] = { 0, 1 };
	struct profile *profile = profile_new();
	struct functions functions;
	struct frames_failure failure = { 0 };
	const struct frames_request request = {
		.provider = &provider, .profile = profile, .locations = locations, .count = 2
	};
	require(profile && profile_add_module(profile, &(struct profile_module){ .kind = MODULE_FILE }) == 0);
	const struct profile_function known = { .name = (uint32_t)profile_add_string(profile, "known") };
	require(profile_add_function(profile, &known) == 0);
	for (uint32_t i = 0; i < 2; i++)
		require(profile_add_location(profile, 0, i) == i);
	require(functions_init(&functions, profile) == 0);
	int status = naming_answer_read(data, size, &request, &functions, &failure);
	require(status == 0 || status == ERROR_CORRUPT);
	bool has_frames = status == 0 && !failure.cause;
	require(has_frames || (profile->function_count == 1 && profile->frame_count == 0 && profile->note_count == 0));
	for (size_t i = 0; i < profile->location_count; i++)
		require((profile->locations[i].first_frame != PROFILE_NONE) == has_frames);
	require(profile_check(profile) == 0);
	functions_release(&functions);
	profile_free(profile);
	return 0;
}
