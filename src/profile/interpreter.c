#include "profile/interpreter.h"

bool interpreter_is_function(const struct profile *profile, uint32_t location)
{
	const struct profile_location *row = &profile->locations[location];
	return row->first_frame != PROFILE_NONE && row->frame_count > 0 &&
	       profile->frames[row->first_frame].kind == FRAME_INTERPRETER;
}

bool interpreter_has_functions(const struct profile *profile)
{
	for (size_t i = 0; i < profile->frame_count; i++)
		if (profile->frames[i].kind == FRAME_INTERPRETER)
			return true;
	return false;
}

uint32_t interpreter_caller(const struct profile *profile, uint32_t node)
{
	uint32_t caller = profile->nodes[node].parent;
	if (caller == PROFILE_ROOT || !interpreter_is_function(profile, profile->nodes[node].location))
		return caller;
	uint32_t file = profile->locations[profile->nodes[caller].location].module;
	if (profile->modules[file].kind != MODULE_FILE)
		return caller;
	while (caller != PROFILE_ROOT && profile->locations[profile->nodes[caller].location].module == file &&
	       !interpreter_is_function(profile, profile->nodes[caller].location))
		caller = profile->nodes[caller].parent;
	return caller;
}
