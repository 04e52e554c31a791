#include "profile/generated_code.h"

#include <string.h>

bool generated_code_is_nameless(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = &profile->locations[location];
	if (profile->modules[at->module].kind != MODULE_ANON)
		return false;
	if (at->first_frame == PROFILE_NONE || at->frame_count == 0)
		return true;
	const struct profile_frame *frame = &profile->frames[at->first_frame];
	return strcmp(profile_string(profile, profile->functions[frame->function].name), GENERATED_CODE_NAMELESS) == 0;
}
