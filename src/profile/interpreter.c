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

static uint32_t location_of(const struct profile *profile, uint32_t node)
{
	return profile->nodes[node].location;
}

static uint32_t name_of(const struct profile *profile, uint32_t location)
{
	const struct profile_frame *frame = &profile->frames[profile->locations[location].first_frame];
	return profile->functions[frame->function].name;
}

/* Returns whether a location is generated code that stands for an interpreted function: a list has it under the function's name. */
static bool is_trampoline(const struct profile *profile, uint32_t location, uint32_t name)
{
	const struct profile_location *row = &profile->locations[location];
	return profile->modules[row->module].kind == MODULE_ANON && row->first_frame != PROFILE_NONE &&
	       row->frame_count == 1 && profile->frames[row->first_frame].kind == FRAME_JIT &&
	       name_of(profile, location) == name;
}

uint32_t interpreter_caller(const struct profile *profile, uint32_t node)
{
	uint32_t caller = profile->nodes[node].parent;
	if (caller == PROFILE_ROOT || !interpreter_is_function(profile, location_of(profile, node)))
		return caller;
	uint32_t file = profile->locations[location_of(profile, caller)].module;
	if (profile->modules[file].kind != MODULE_FILE)
		return caller;
	uint32_t name = name_of(profile, location_of(profile, node));
	for (; caller != PROFILE_ROOT; caller = profile->nodes[caller].parent) {
		uint32_t location = location_of(profile, caller);
		bool is_of_file = profile->locations[location].module == file;
		if (interpreter_is_function(profile, location) ||
		    (!is_of_file && !is_trampoline(profile, location, name)))
			break;
	}
	return caller;
}
