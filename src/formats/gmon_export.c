#include <stdlib.h>
#include <string.h>

#include "formats/gmon.h"
#include "gprof/from_profile.h"
#include "gprof/gmon.h"

/* Whether `end` is the last components of a path, all of them perhaps. */
static bool path_ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), end_length = strlen(end);
	if (end_length > length || strcmp(path + length - end_length, end) != 0)
		return false;
	return end_length == length || path[length - end_length - 1] == '/';
}

/* The module that is asked for: the one of that name, or of several the first that has counted something. */
static int find_module(const struct profile *profile, const char *name, uint32_t *found, struct error *error)
{
	bool *counted = calloc(profile->module_count + 1, sizeof(*counted));
	if (!counted)
		return error_set(error, ERROR_MEMORY, "out of memory");
	gmon_counted(profile, counted);
	*found = PROFILE_NONE;
	for (uint32_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		if (module->kind == MODULE_FILE && path_ends_in(profile_string(profile, module->path), name) &&
		    (*found == PROFILE_NONE || (counted[i] && !counted[*found])))
			*found = i;
	}
	free(counted);
	if (*found == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND, "this profile knows no program or library '%s'", name);
	return 0;
}

int gmon_export(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		struct error *error)
{
	uint32_t module = gmon_program(profile);
	if (selection->object) {
		int code = find_module(profile, selection->object, &module, error);
		if (code < 0)
			return code;
	}
	if (module == PROFILE_NONE)
		return error_set(error, ERROR_NOT_FOUND, "this profile has names alone, and gmon.out holds addresses");
	struct gmon gmon;
	gmon_init(&gmon);
	int code = gmon_from_profile(profile, module, selection->resource, &gmon, error);
	if (code == 0)
		code = gmon_write(&gmon, out, error);
	gmon_release(&gmon);
	return code;
}
